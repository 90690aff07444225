//! Dates as feeds write them: RFC 3339, RFC 822, or a day.

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/// What RFC 822 calls the hours between a place and Greenwich.
const ZONES: [(&str, i64); 12] = [
    ("gmt", 0),
    ("ut", 0),
    ("utc", 0),
    ("z", 0),
    ("est", -5),
    ("edt", -4),
    ("cst", -6),
    ("cdt", -5),
    ("mst", -7),
    ("mdt", -6),
    ("pst", -8),
    ("pdt", -7),
];

/// Seconds since 1970 of a date; `None` for what is none, or is before.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let short = text.get(..text.floor_char_boundary(64)).unwrap_or(text);
    iso(short).or_else(|| rfc822(short)).and_then(|seconds| u64::try_from(seconds).ok())
}

/// `2026-01-31`, `2026-01-31T09:30:00Z`, `2026-01-31 09:30:00.25+01:00`.
fn iso(text: &str) -> Option<i64> {
    let (day, time) = match text.split_once(['T', 't', ' ']) {
        Some((day, time)) => (day, time.trim()),
        None => (text, "00:00:00Z"),
    };
    let mut parts = day.split('-').map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let days = days(year, month, day).filter(|_| parts.next().is_none())?;
    let (clock, zone) = match time.find(['Z', 'z', '+', '-', ' ']) {
        Some(at) => time.split_at_checked(at)?,
        None => (time, "Z"),
    };
    Some(days * 86_400 + of_day(clock)? - offset(zone.trim())?)
}

/// `Sat, 31 Jan 2026 09:30:00 GMT`, `31 Jan 26 09:30 +0100`.
fn rfc822(text: &str) -> Option<i64> {
    let text = text.split_once(',').map_or(text, |(_, date)| date);
    let mut words = text.split_whitespace();
    let day = number(words.next()?)?;
    let month = words.next()?.get(..3)?.to_ascii_lowercase();
    let month = 1 + i64::try_from(MONTHS.iter().position(|name| *name == month)?).ok()?;
    let year = match number(words.next()?)? {
        year @ 0..=49 => year + 2000,
        year @ 50..=99 => year + 1900,
        year => year,
    };
    let clock = of_day(words.next().unwrap_or("00:00"))?;
    Some(days(year, month, day)? * 86_400 + clock - offset(words.next().unwrap_or("GMT"))?)
}

/// Seconds of the day.
fn of_day(clock: &str) -> Option<i64> {
    let mut parts = clock.split(':');
    let (hour, minute) = (number(parts.next()?)?, number(parts.next()?)?);
    let second = parts.next().map_or(Some(0), |second| number(second.split(['.', ',']).next()?))?;
    let sane = hour < 25 && minute < 60 && second < 61 && parts.next().is_none();
    sane.then_some(hour * 3600 + minute * 60 + second)
}

/// Seconds that a zone is ahead of Greenwich.
fn offset(zone: &str) -> Option<i64> {
    let lower = zone.to_ascii_lowercase();
    if let Some((_, hours)) = ZONES.iter().find(|(name, _)| *name == lower) {
        return Some(hours * 3600);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits: String = zone.strip_prefix(['+', '-'])?.chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { number(minutes)? };
    let hours = number(hours)?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn number(text: &str) -> Option<i64> {
    let digits = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

/// Days since 1970.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let most = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=most).contains(&day) {
        return None;
    }
    // Years that begin in March have their odd day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(before + (153 * month + 2) / 5 + day - 1 - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_feeds_are_read_in_utc() {
        let noon = Some(1_769_848_200);
        for (text, want) in [
            ("2026-01-31T08:30:00Z", noon),
            ("2026-01-31T09:30:00+01:00", noon),
            ("2026-01-31t08:30:00.123z", noon),
            ("2026-01-31 03:30:00 -0500", noon),
            ("2026-01-31T08:30", noon),
            ("Sat, 31 Jan 2026 08:30:00 GMT", noon),
            ("Sat, 31 Jan 2026 09:30:00 +0100", noon),
            ("31 January 26 08:30 UT", noon),
            ("Sat, 31 Jan 2026 03:30:00 EST", noon),
            (" Sat,31 Jan 2026 00:30:00 PST\n", noon),
            ("2026-01-31", Some(1_769_817_600)),
            ("2024-02-29", Some(1_709_164_800)),
            ("1970-01-01T00:00:00Z", Some(0)),
            ("01 Jan 70 00:00 GMT", Some(0)),
        ] {
            assert_eq!(seconds(text), want, "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        let long = "1".repeat(1_000);
        for text in [
            "",
            "yesterday",
            "2026",
            "2026-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-01-31T25:61:00Z",
            "1969-12-31",
            "2026-01-31T08:30:00+99:00",
            "2026-01-31-01",
            "Sat, 31 Foo 2026 08:30:00 GMT",
            "31 Jan 2026 08:30 CEST?",
            "-2026-01-01",
            "2026-01-31T::Z",
            "\u{e9}\u{e9}-\u{e9}",
            &long,
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
