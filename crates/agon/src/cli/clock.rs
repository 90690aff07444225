//! The time of day, as the log writes it.

use std::time::{SystemTime, UNIX_EPOCH};

const DAY_S: u64 = 86_400;

/// Seconds since 1970, by the system's clock.
pub fn now_s() -> u64 {
    // A clock before 1970 is broken; a debate can be held all the same.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

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
        }
    }
}
