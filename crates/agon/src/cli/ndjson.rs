//! The log as lines of JSON: each is an event's exact bytes, with its hash as one more field at the end.

/// What stands between an event's bytes and its hash.
const HASH: &str = ",\"hash\":\"";
const HASH_CHARS: usize = 64;

/// An event as a line, without the line's end.
pub fn line(body: &str, hash: &str) -> String {
    let open = body.strip_suffix('}').unwrap_or(body);
    format!("{open}{HASH}{hash}\"}}")
}

/// The event's bytes and its hash; `None` if the line does not end in one.
pub fn split(line: &str) -> Option<(String, String)> {
    let rest = line.strip_suffix("\"}")?;
    let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(HASH_CHARS)?)?;
    let open = rest.strip_suffix(HASH)?;
    let is_hash = hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| (format!("{open}}}"), hash.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart_into_the_very_bytes_that_were_hashed() {
        let hash = "0123456789abcdef".repeat(4);
        for body in ["{\"seq\":0}", "{\"text\":\"ends in ,\\\"hash\\\":\\\"\"}", "{\"é\":{}}"] {
            let line = line(body, &hash);
            assert_eq!(split(&line), Some((body.to_owned(), hash.clone())));
            assert!(
                serde_json::from_str::<serde_json::Value>(&line).is_ok_and(|value| value["hash"] == hash)
            );
        }
        for bad in ["", "{}", "{\"seq\":0}", "{\"seq\":0,\"hash\":\"abc\"}", "é\"}"] {
            assert_eq!(split(bad), None, "{bad}");
        }
    }
}
