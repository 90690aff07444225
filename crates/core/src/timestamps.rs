//! Dates, by arithmetic alone. The caller reads the clock, and this crate depends on nothing that could, so it uses no date
//! library (`tests/purity.rs`).

const DAY_S: u64 = 86_400;

/// RFC 3339 in UTC.
pub fn rfc3339(unix_s: u64) -> String {
    let (year, month, day) = date(unix_s / DAY_S);
    let second = unix_s % DAY_S;
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

fn date(mut days: u64) -> (u64, u64, u64) {
    // Whole cycles of 400 years first, so that the loops below stay short for any number.
    const CYCLE: u64 = 146_097;
    let mut year = 1970 + 400 * (days / CYCLE);
    days %= CYCLE;
    while days >= year_days(year) {
        days -= year_days(year);
        year += 1;
    }
    let mut month = 1;
    while days >= month_days(year, month) {
        days -= month_days(year, month);
        month += 1;
    }
    (year, month, days + 1)
}

fn leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn year_days(year: u64) -> u64 {
    if leap(year) { 366 } else { 365 }
}

fn month_days(year: u64, month: u64) -> u64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

/// The time that is `ms` after another, both RFC 3339 in UTC. What is not such a time stays as it is.
pub fn later(than: &str, ms: u64) -> String {
    seconds(than).map_or_else(|| than.to_owned(), |start| rfc3339(start.saturating_add(ms / 1000)))
}

/// The day of an RFC 3339 time: `2026-01-31`.
pub fn day(of: &str) -> &str {
    of.split_once('T').map_or(of, |(day, _)| day)
}

/// Seconds since 1970 of a time as [`rfc3339`] writes it.
pub fn seconds(text: &str) -> Option<u64> {
    let (day, time) = text.strip_suffix('Z')?.split_once('T')?;
    let parts = |text: &str, by: char| -> Option<[u64; 3]> {
        let parts: Option<Vec<u64>> = text.split(by).map(|part| part.parse().ok()).collect();
        parts?.try_into().ok()
    };
    let ([year, month, day], [hour, minute, second]) = (parts(day, '-')?, parts(time, ':')?);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    let years: u64 = (1970..year).map(year_days).sum();
    let months: u64 = (1..month).map(|month| month_days(year, month)).sum();
    Some((years + months + day - 1) * DAY_S + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        for (unix_s, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_735_689_600, "2025-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (12_622_780_800, "2370-01-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(unix_s), text);
            assert_eq!(later(text, 0), text, "and back");
        }
    }

    #[test]
    fn a_time_goes_on_and_what_is_none_stays_as_it_is() {
        assert_eq!(later("2024-12-31T23:59:59Z", 1_999), "2025-01-01T00:00:00Z");
        assert_eq!(later("2024-12-31T23:59:59Z", 999), "2024-12-31T23:59:59Z");
        for text in ["", "yesterday", "2024-13-01T00:00:00Z", "2024-01-00T00:00:00Z"] {
            assert_eq!(later(text, 5_000), text);
        }
        assert_eq!((day("2024-12-31T23:59:59Z"), day("")), ("2024-12-31", ""));
    }
}
