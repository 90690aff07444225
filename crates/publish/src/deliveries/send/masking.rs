//! Hides the secret parts of an address in what a server says.
//!
//! What follows the host may be a secret, and an error message often repeats it: unchanged, with the escapes of URLs, JSON
//! or HTML, or only a part of it. So the text and the secrets are compared with and without escapes.

use std::collections::BTreeSet;

use crate::deliveries::destination::WebAddress;

/// Shown in place of a secret.
const MASK: char = '\u{2026}';
/// Shorter parts are not secrets, and hiding them would make messages unreadable.
const PART_CHARS_MIN: usize = 4;
/// A path segment of at most so many lower-case letters is a word, such as `webhooks`.
const WORD_CHARS_MAX: usize = 16;
/// How often a text may be escaped.
const ESCAPE_LEVELS_MAX: usize = 3;

/// Hides in `text` everything that follows the host of the address.
pub(super) fn mask_address(text: &str, address: &WebAddress) -> String {
    let mut hidden = vec![false; text.len()];
    let secrets: BTreeSet<Vec<u8>> = secret_parts(address)
        .iter()
        .flat_map(|secret| unescaped_versions(secret))
        .map(|version| version.iter().map(|read| read.byte).collect())
        .collect();
    for version in unescaped_versions(text) {
        for secret in &secrets {
            for window in version.windows(secret.len().max(1)) {
                let same = window.iter().map(|read| read.byte).eq(secret.iter().copied());
                if let (true, Some(first), Some(last)) = (same, window.first(), window.last()) {
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

/// The parts of an address that must not be shown.
fn secret_parts(address: &WebAddress) -> Vec<String> {
    let url = address.url();
    let long = |part: &&str| part.chars().count() >= PART_CHARS_MIN;
    let is_word =
        |part: &str| part.len() <= WORD_CHARS_MAX && part.bytes().all(|byte| byte.is_ascii_lowercase());
    let path = Some(url.path()).filter(|path| *path != "/");
    let (query, fragment) = (url.query().unwrap_or_default(), url.fragment().unwrap_or_default());
    let segments = url.path().split('/').filter(|segment| !is_word(segment));
    // A pair without a name is only a value.
    let values = query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
    let parts = segments.chain(values).chain([query, fragment]).filter(long);
    let mut secrets: Vec<String> = path.into_iter().chain(parts).map(str::to_owned).collect();
    if !query.is_empty() {
        secrets.push(format!("{}?{query}", url.path()));
    }
    secrets
}

/// A byte after unescaping, and the range of the original text that it comes from.
#[derive(Debug, Clone, Copy)]
struct UnescapedByte {
    byte: u8,
    start: usize,
    end: usize,
}

/// A text in lower case: as it is, unescaped once, unescaped twice, and so on. What looks like an escape may not be one,
/// so every version is needed.
fn unescaped_versions(text: &str) -> Vec<Vec<UnescapedByte>> {
    let plain =
        |(start, byte): (usize, u8)| UnescapedByte { byte: byte.to_ascii_lowercase(), start, end: start + 1 };
    let first: Vec<UnescapedByte> = text.bytes().enumerate().map(plain).collect();
    let unescape_again = |bytes: &Vec<UnescapedByte>| {
        let unescaped = unescape(bytes);
        let changed =
            unescaped.len() < bytes.len() || unescaped.iter().zip(bytes).any(|(a, b)| a.byte != b.byte);
        changed.then_some(unescaped)
    };
    std::iter::successors(Some(first), unescape_again).take(1 + ESCAPE_LEVELS_MAX).collect()
}

fn unescape(bytes: &[UnescapedByte]) -> Vec<UnescapedByte> {
    let mut rest = bytes;
    let mut unescaped = Vec::with_capacity(bytes.len());
    while let Some(first) = rest.first() {
        let (byte, length) = read_escape(rest).unwrap_or((first.byte, 1));
        let (taken, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        let end = taken.last().map_or(first.end, |last| last.end);
        unescaped.push(UnescapedByte { byte: byte.to_ascii_lowercase(), start: first.start, end });
        rest = after;
    }
    unescaped
}

/// The byte that an escape stands for, and the length of the escape.
fn read_escape(bytes: &[UnescapedByte]) -> Option<(u8, usize)> {
    // The longest escape is `\u002f`.
    let start: Vec<u8> = bytes.iter().take(6).map(|read| read.byte).collect();
    match start.as_slice() {
        [b'+', ..] => Some((b' ', 1)),
        [b'%', high, low, ..] => Some((parse_byte(&[*high, *low], 16)?, 3)),
        [b'\\', escaped @ (b'/' | b'\\' | b'"'), ..] => Some((*escaped, 2)),
        [b'\\', b'u', b'0', b'0', high, low] => {
            Some((parse_byte(&[*high, *low], 16).filter(u8::is_ascii)?, 6))
        }
        [b'&', b'#', b'x', high, low, b';'] => Some((parse_byte(&[*high, *low], 16)?, 6)),
        [b'&', b'#', high, low, b';', ..] => Some((parse_byte(&[*high, *low], 10)?, 5)),
        [b'&', name @ .., b';'] | [b'&', name @ .., b';', _] | [b'&', name @ .., b';', _, _] => {
            let named = [("amp", b'&'), ("lt", b'<'), ("gt", b'>'), ("quot", b'"')];
            let entity = named.iter().find(|(known, _)| known.as_bytes() == name)?;
            Some((entity.1, name.len() + 2))
        }
        _ => None,
    }
}

fn parse_byte(digits: &[u8], radix: u32) -> Option<u8> {
    std::str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, radix).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mask(address: &str, text: &str) -> String {
        mask_address(text, &WebAddress::parse(address).unwrap())
    }

    #[test]
    fn everything_after_the_host_is_hidden_in_every_form() {
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

    #[test]
    fn short_parts_are_not_hidden() {
        let text = "a/b: no such thing as 1 or abc in/out";
        assert_eq!(mask("https://a.example/", text), text);
        assert_eq!(mask("https://a.example/?a=1&b=abc", text), text);
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
            let masked = mask(url.as_str(), &said);
            let own = format!("{before}{after}");
            for secret in [token.as_str(), value.as_str(), escaped] {
                prop_assert!(!masked.contains(secret) || own.contains(secret), "{masked}");
            }
        }

        #[test]
        fn any_text_can_be_masked(text in ".{0,60}", path in "[a-z%0-9/é]{0,10}") {
            mask(&format!("https://a.example/{path}"), &text);
        }
    }
}
