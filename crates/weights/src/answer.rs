//! What a server's answer means for a download that may have begun before.

use reqwest::StatusCode;
use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap};

/// What to do with the body that follows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is the rest: append it.
    Rest,
    /// It is the whole file: begin again with it.
    Whole {
        /// What the server calls this version, if it can be relied on.
        etag: Option<String>,
    },
    /// What was there is of no use: throw it away and ask for the whole file.
    Unusable,
}

/// Reads the answer to a request for what comes after the first `have_bytes` of a file of `bytes`.
pub(crate) fn read(
    status: StatusCode,
    headers: &HeaderMap,
    have_bytes: u64,
    bytes: u64,
) -> Result<Answer, String> {
    match status {
        StatusCode::PARTIAL_CONTENT => match range(headers) {
            Some((_, Some(total))) if total != bytes => Err(other_size(total, bytes)),
            Some((start, _)) if start == have_bytes => Ok(Answer::Rest),
            _ => Ok(Answer::Unusable),
        },
        StatusCode::RANGE_NOT_SATISFIABLE => Ok(Answer::Unusable),
        StatusCode::OK => match text(headers, CONTENT_LENGTH).and_then(|length| length.parse().ok()) {
            Some(length) if length != bytes => Err(other_size(length, bytes)),
            _ => Ok(Answer::Whole { etag: strong_etag(headers) }),
        },
        status => Err(refusal(status)),
    }
}

fn refusal(status: StatusCode) -> String {
    let code = status.as_u16();
    match code {
        404 | 410 => format!("it does not have the file (HTTP {code})"),
        401 | 403 => format!("it does not let the file be read (HTTP {code})"),
        407 => format!("the proxy wants a password (HTTP {code})"),
        429 => format!("it takes no more requests for now (HTTP {code}): try again later"),
        500..=599 => format!("it failed (HTTP {code}): try again later"),
        _ => format!("it answers with HTTP {code} instead of the file"),
    }
}

fn other_size(has: u64, wants: u64) -> String {
    format!("it sends a file of {has} bytes instead of {wants}")
}

/// The start and the whole length, from `bytes 10-99/100` or `bytes 10-99/*`.
fn range(headers: &HeaderMap) -> Option<(u64, Option<u64>)> {
    let (range, total) = text(headers, CONTENT_RANGE)?.strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.split_once('-')?;
    Some((start.trim().parse().ok()?, total.trim().parse().ok()))
}

/// A weak one says only that two versions mean the same, not that they have the same bytes.
fn strong_etag(headers: &HeaderMap) -> Option<String> {
    text(headers, ETAG).filter(|etag| etag.starts_with('"')).map(str::to_owned)
}

fn text(headers: &HeaderMap, name: reqwest::header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Headers = &'static [(&'static str, &'static str)];

    fn answer(status: u16, headers: Headers) -> Result<Answer, String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(reqwest::header::HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
        }
        read(StatusCode::from_u16(status).unwrap(), &map, 40, 100)
    }

    /// "resumable": every kind of answer to a request for the rest of a file.
    #[test]
    fn what_each_answer_means() {
        let whole = |etag: Option<&str>| Ok(Answer::Whole { etag: etag.map(str::to_owned) });
        assert_eq!(answer(206, &[("content-range", "bytes 40-99/100")]), Ok(Answer::Rest));
        assert_eq!(answer(206, &[("content-range", "bytes 40-99/*")]), Ok(Answer::Rest));
        assert_eq!(answer(206, &[("content-range", "bytes 0-99/100")]), Ok(Answer::Unusable));
        assert_eq!(answer(206, &[]), Ok(Answer::Unusable));
        assert_eq!(answer(416, &[]), Ok(Answer::Unusable));
        assert_eq!(answer(200, &[("content-length", "100"), ("etag", "\"a\"")]), whole(Some("\"a\"")));
        assert_eq!(answer(200, &[("etag", "W/\"a\"")]), whole(None));
    }

    #[test]
    fn what_cannot_be_the_file_is_refused_before_its_body_is_read() {
        let cases: [(u16, Headers, &str); 8] = [
            (200, &[("content-length", "7")], "7 bytes instead of 100"),
            (206, &[("content-range", "bytes 40-89/90")], "90 bytes instead of 100"),
            (404, &[], "does not have the file"),
            (403, &[], "does not let the file be read"),
            (407, &[], "proxy"),
            (429, &[], "no more requests"),
            (503, &[], "try again later"),
            (304, &[], "HTTP 304"),
        ];
        for (status, headers, part) in cases {
            let why = answer(status, headers).unwrap_err();
            assert!(why.contains(part), "{status}: {why}");
        }
    }
}
