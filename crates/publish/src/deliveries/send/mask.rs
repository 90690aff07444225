//! What a server says of an address without what comes after the host, which may be a secret.
//!
//! A server that complains often repeats what it was asked for: as it was, in the escapes of an address, of JSON or of HTML, or
//! one part of it alone. So both are compared with their escapes and without.

use std::collections::BTreeSet;

use crate::deliveries::destination::Address;

/// What is shown in the place of a secret.
const MASK: char = '\u{2026}';
/// Shorter parts are no secret, and without them no message could be read.
const PART_CHARS_MIN: usize = 4;
/// A segment of a path in so few small letters is a word, such as `webhooks`.
const WORD_CHARS_MAX: usize = 16;
/// An escape may itself be escaped, but nobody does so for ever.
const ESCAPES_MAX: usize = 3;

/// The text with everything masked that comes after the host of the address.
pub(super) fn masked(text: &str, address: &Address) -> String {
    let mut hidden = vec![false; text.len()];
    let secrets: BTreeSet<Vec<u8>> = secrets(address)
        .iter()
        .flat_map(|secret| readings(secret))
        .map(|units| units.iter().map(|unit| unit.byte).collect())
        .collect();
    for read in readings(text) {
        for secret in &secrets {
            for found in read.windows(secret.len().max(1)) {
                let same = found.iter().map(|unit| unit.byte).eq(secret.iter().copied());
                if let (true, Some(first), Some(last)) = (same, found.first(), found.last()) {
                    hidden.get_mut(first.start..last.end).unwrap_or_default().fill(true);
                }
            }
        }
    }
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let hide = hidden.get(at..at + c.len_utf8()).is_some_and(|bytes| bytes.contains(&true));
        match hide {
            true if out.ends_with(MASK) => {}
            true => out.push(MASK),
            false => out.push(c),
        }
    }
    out
}

/// What is not to be shown of an address.
fn secrets(address: &Address) -> Vec<String> {
    let url = address.url();
    let long = |part: &&str| part.chars().count() >= PART_CHARS_MIN;
    let is_word =
        |part: &str| part.len() <= WORD_CHARS_MAX && part.bytes().all(|byte| byte.is_ascii_lowercase());
    let path = Some(url.path()).filter(|path| *path != "/");
    let (query, fragment) = (url.query().unwrap_or_default(), url.fragment().unwrap_or_default());
    let segments = url.path().split('/').filter(|segment| !is_word(segment));
    // One without a name is all value.
    let values = query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
    let parts = segments.chain(values).chain([query, fragment]).filter(long);
    let mut secrets: Vec<String> = path.into_iter().chain(parts).map(str::to_owned).collect();
    if !query.is_empty() {
        secrets.push(format!("{}?{query}", url.path()));
    }
    secrets
}

/// A byte of a text, and where in the text it stands with its escape.
#[derive(Debug, Clone, Copy)]
struct Unit {
    byte: u8,
    start: usize,
    end: usize,
}

/// A text in small letters: as it is, and with its escapes read once and more often. What looks like an escape may be none, so
/// that no reading stands for the others.
fn readings(text: &str) -> Vec<Vec<Unit>> {
    let unit = |(start, byte): (usize, u8)| Unit { byte: byte.to_ascii_lowercase(), start, end: start + 1 };
    let first: Vec<Unit> = text.bytes().enumerate().map(unit).collect();
    let again = |units: &Vec<Unit>| {
        let read = unescaped(units);
        (read.len() < units.len() || read.iter().zip(units).any(|(a, b)| a.byte != b.byte)).then_some(read)
    };
    std::iter::successors(Some(first), again).take(1 + ESCAPES_MAX).collect()
}

fn unescaped(units: &[Unit]) -> Vec<Unit> {
    let mut rest = units;
    let mut read = Vec::with_capacity(units.len());
    while let Some(first) = rest.first() {
        let (byte, length) = escape(rest).unwrap_or((first.byte, 1));
        let (taken, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        let end = taken.last().map_or(first.end, |last| last.end);
        read.push(Unit { byte: byte.to_ascii_lowercase(), start: first.start, end });
        rest = after;
    }
    read
}

/// The byte that an escape stands for, and the escape's length.
fn escape(units: &[Unit]) -> Option<(u8, usize)> {
    // The longest is `\u002f`.
    let near: Vec<u8> = units.iter().take(6).map(|unit| unit.byte).collect();
    match near.as_slice() {
        [b'+', ..] => Some((b' ', 1)),
        [b'%', high, low, ..] => Some((number(&[*high, *low], 16)?, 3)),
        [b'\\', sign @ (b'/' | b'\\' | b'"'), ..] => Some((*sign, 2)),
        [b'\\', b'u', b'0', b'0', high, low] => Some((number(&[*high, *low], 16).filter(u8::is_ascii)?, 6)),
        [b'&', b'#', b'x', high, low, b';'] => Some((number(&[*high, *low], 16)?, 6)),
        [b'&', b'#', high, low, b';', ..] => Some((number(&[*high, *low], 10)?, 5)),
        [b'&', name @ .., b';'] | [b'&', name @ .., b';', _] | [b'&', name @ .., b';', _, _] => {
            let named = [("amp", b'&'), ("lt", b'<'), ("gt", b'>'), ("quot", b'"')];
            let found = named.iter().find(|(known, _)| known.as_bytes() == name)?;
            Some((found.1, name.len() + 2))
        }
        _ => None,
    }
}

fn number(digits: &[u8], radix: u32) -> Option<u8> {
    std::str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, radix).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mask(address: &str, text: &str) -> String {
        masked(text, &Address::parse(address).unwrap())
    }

    /// "mask the path, the query, and each query value, also url-encoded forms, wherever the server echoes them"
    #[test]
    fn what_comes_after_the_host_is_masked_in_every_form() {
        let address = "https://a.example/services/T0/Se%20same?key=o/p&n+q&b=ab%C3%A9c#frag";
        for (text, want) in [
            ("no hook /services/T0/Se%20same here", "no hook \u{2026} here"),
            ("no hook /services/T0/Se same?", "no hook \u{2026}?"),
            ("/services/T0/Se%20same?key=o/p&n+q&b=ab%C3%A9c", "\u{2026}"),
            (r#"{"path":"\/services\/T0\/Se%20same"}"#, r#"{"path":"…"}"#),
            ("%2Fservices%2fT0%2FSe%2520same", "\u{2026}"),
            ("/SERVICES/t0/se+same", "\u{2026}"),
            ("query key=o/p&amp;n+q&amp;b=abéc!", "query \u{2026}!"),
            (r"query key=o\u002fp\u0026n q\u0026b=ab%c3%a9c!", "query \u{2026}!"),
            ("the hook Se same is gone", "the hook \u{2026} is gone"),
            ("abéc and ABÉC", "\u{2026} and AB\u{c9}C"),
            ("ab&#xc3;&#xa9;c", "\u{2026}"),
            ("%AAbéc %ababéc", "%A\u{2026} %ab\u{2026}"),
            ("#frag", "#\u{2026}"),
            ("services in a town", "services in a town"),
            ("100% sure & safe; caf\u{e9} %zz \\u00 &am", "100% sure & safe; caf\u{e9} %zz \\u00 &am"),
            ("", ""),
        ] {
            assert_eq!(mask(address, text), want, "{text}");
        }
    }

    /// "a path of `/` or a value shorter than 4 characters is not masked (it garbles the message)"
    #[test]
    fn what_is_too_short_for_a_secret_is_left() {
        let said = "a/b: no such thing as 1 or abc in/out";
        assert_eq!(mask("https://a.example/", said), said);
        assert_eq!(mask("https://a.example/?a=1&b=abc", said), said);
        assert_eq!(mask("https://a.example/?a=1&b=abcd", "1 abcd"), "1 \u{2026}");
        assert_eq!(mask("https://a.example/?abcd&x=1", "abcd"), "\u{2026}");
    }

    proptest! {
        #[test]
        fn no_part_of_an_address_gets_through(
            token in "[A-Z]{2}[A-Za-z0-9]{4,20}", value in "[a-zA-Z0-9 /&+é]{4,20}", before in ".{0,10}", after in ".{0,10}",
        ) {
            let mut url = reqwest::Url::parse(&format!("https://a.example/hooks/{token}")).unwrap();
            url.query_pairs_mut().append_pair("key", &value);
            let escaped = url.query().unwrap().strip_prefix("key=").unwrap();
            let json = serde_json::json!([url.path(), url.query(), value]).to_string();
            let said = format!("{before}{token}{after}{value} {escaped} {json} {url}");
            let told = mask(url.as_str(), &said);
            let own = format!("{before}{after}");
            for secret in [token.as_str(), value.as_str(), escaped] {
                prop_assert!(!told.contains(secret) || own.contains(secret), "{told}");
            }
        }

        #[test]
        fn any_text_is_masked_without_harm(text in ".{0,60}", path in "[a-z%0-9/é]{0,10}") {
            mask(&format!("https://a.example/{path}"), &text);
        }
    }
}
