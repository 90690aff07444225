//! How long a server asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

/// The wait that these headers ask for, as seen at `now`.
pub(crate) fn parse(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let ms = text("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()).map(|ms| ms / 1000.0);
    let seconds = || text("retry-after").and_then(|seconds| seconds.parse::<f64>().ok());
    match ms.or_else(seconds) {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => text("retry-after").and_then(date).map(|then| then.duration_since(now).unwrap_or_default()),
    }
}

/// A date such as `Sun, 06 Nov 1994 08:49:37 GMT`, the one form of HTTP's three that is still sent.
fn date(text: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split([' ', ',', ':']).filter(|word| !word.is_empty()).collect();
    let [_, day, month, year, hour, minute, second, "GMT"] = words.as_slice() else { return None };
    let number = |word: &str| word.parse::<u64>().ok();
    let month = 1 + MONTHS.iter().position(|name| name == month)? as u64;
    let (day, year) =
        (number(day).filter(|day| (1..=31).contains(day))?, number(year).filter(|year| *year < 10_000)?);
    // Years that begin in March have their odd day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    let since_1970 = days.checked_sub(719_468)?;
    let clock = number(hour)?.checked_mul(3600)? + number(minute)?.checked_mul(60)? + number(second)?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(since_1970 * 86_400 + clock))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(name: &'static str, value: &str, now_s: u64) -> Option<Duration> {
        let headers = HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
        parse(&headers, SystemTime::UNIX_EPOCH + Duration::from_secs(now_s))
    }

    #[test]
    fn seconds_milliseconds_and_dates_are_read() {
        assert_eq!(wait("retry-after", "7", 0), Some(Duration::from_secs(7)));
        assert_eq!(wait("retry-after", "0.5", 0), Some(Duration::from_millis(500)));
        assert_eq!(wait("retry-after-ms", "250", 0), Some(Duration::from_millis(250)));
        assert_eq!(
            wait("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", 784_111_770),
            Some(Duration::from_secs(7))
        );
        assert_eq!(
            wait("retry-after", "Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_790),
            Some(Duration::from_secs(10))
        );
        assert_eq!(
            wait("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", 800_000_000),
            Some(Duration::ZERO),
            "past"
        );
    }

    #[test]
    fn nonsense_is_no_wait() {
        for value in
            ["soon", "-1", "inf", "nan", "", "99999999999999999999999", "Sun, 99 Nov 1994 08:49:37 GMT"]
        {
            assert_eq!(wait("retry-after", value, 0), None, "{value}");
        }
    }
}
