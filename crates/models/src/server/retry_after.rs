//! How long a server asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

pub(crate) fn parse(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let ms = text("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()).map(|ms| ms / 1000.0);
    let seconds = || text("retry-after").and_then(|seconds| seconds.parse::<f64>().ok());
    match ms.or_else(seconds) {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => {
            let then = httpdate::parse_http_date(text("retry-after")?).ok()?;
            Some(then.duration_since(now).unwrap_or_default())
        }
    }
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
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(wait("retry-after", date, 784_111_770), Some(Duration::from_secs(7)));
        assert_eq!(wait("retry-after", date, 800_000_000), Some(Duration::ZERO), "in the past");
    }

    #[test]
    fn nonsense_is_ignored() {
        for value in
            ["soon", "-1", "inf", "nan", "", "99999999999999999999999", "Sun, 99 Nov 1994 08:49:37 GMT"]
        {
            assert_eq!(wait("retry-after", value, 0), None, "{value}");
        }
    }
}
