//! How long a server asks to wait: `Retry-After` in seconds or as a date.

use std::time::Duration;

/// The wait that the header asks for, as seen at `now_s`.
pub(super) fn parse(value: &str, now_s: u64) -> Option<Duration> {
    match value.trim().parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => date(value).map(|then_s| Duration::from_secs(then_s.saturating_sub(now_s))),
    }
}

/// Seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`, the one form of HTTP's three that is still sent.
fn date(text: &str) -> Option<u64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let words: Vec<&str> = text.split([' ', ',', ':']).filter(|word| !word.is_empty()).collect();
    let [_, day, month, year, hour, minute, second, "GMT"] = words.as_slice() else { return None };
    let below = |word: &str, bound: u64| word.parse::<u64>().ok().filter(|number| *number < bound);
    let month = MONTHS.find(month).filter(|at| at % 3 == 0 && month.len() == 3)? as u64 / 3 + 1;
    let (day, year) = (below(day, 32)?, below(year, 10_000)?);
    // Years that begin in March have their odd day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    let clock = below(hour, 25)? * 3600 + below(minute, 60)? * 60 + below(second, 61)?;
    Some(days.checked_sub(719_469)? * 86_400 + clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_read() {
        for (value, now_s, want) in [
            ("7", 0, Some(7_000)),
            (" 0.5 ", 0, Some(500)),
            ("0", 0, Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_770, Some(7_000)),
            ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_790, Some(10_000)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 900_000_000, Some(0)),
            ("soon", 0, None),
            ("-1", 0, None),
            ("inf", 0, None),
            ("nan", 0, None),
            ("", 0, None),
            ("Sun, 99 Nov 1994 08:49:37 GMT", 0, None),
            ("Sun, 06 anF 1994 08:49:37 GMT", 0, None),
            ("Sun, 06 Nov 1994 88:49:37 GMT", 0, None),
            ("Sun, 06 Nov 1994 08:49:37 CET", 0, None),
        ] {
            assert_eq!(parse(value, now_s), want.map(Duration::from_millis), "{value}");
        }
    }
}
