//! From the bytes of a source to its entries.

use encoding_rs::{Encoding, UTF_8};
use jiff::civil::DateTime;
use jiff::fmt::rfc2822;
use jiff::{Timestamp, tz::TimeZone};

use super::config::{PulseConfig, PulseFormat};
use super::feeds::feed_entries;
use super::html_text::html_to_text;
use super::json::json_entries;
use super::markdown::markdown_entries;

/// The most entries that are read from one document.
pub(super) const ENTRIES_MAX: usize = 1_000;
pub(super) const TEXT_CHARS_MAX: usize = 600;
const TITLE_CHARS_MAX: usize = 200;
const LINK_CHARS_MAX: usize = 300;
/// The most bytes of one field before HTML is removed, which may be most of them.
const RAW_FIELD_BYTES_MAX: usize = 64 * 1024;
const DATE_BYTES_MAX: usize = 64;
/// How far into a document its XML declaration may reach.
const XML_DECLARATION_BYTES_MAX: usize = 256;

const NOT_TEXT: &str = "is neither a feed nor JSON nor any other text: check what its address returns";
const HTML_PAGE: &str = "is an HTML page, not a feed or JSON: set url to the address of its feed";

/// What a source returned.
#[derive(Debug)]
pub(super) struct PulseDocument {
    pub(super) bytes: Vec<u8>,
    pub(super) content_type: Option<String>,
}

/// An entry as plain text.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PulseEntry {
    pub(super) title: String,
    /// The last line is the entry's link, if it has one.
    pub(super) text: String,
    /// Seconds since 1970.
    pub(super) published_s: Option<u64>,
}

/// An entry as its document has it: title and text may be HTML.
#[derive(Debug, Default)]
pub(super) struct RawEntry {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) link: String,
    pub(super) published_s: Option<u64>,
}

impl PulseDocument {
    /// The entries that have a title, in the document's order.
    pub(super) fn entries(&self, config: &PulseConfig) -> Result<Vec<PulseEntry>, String> {
        let text = match decode(&self.bytes, self.content_type.as_deref()) {
            Ok(text) if is_binary(text.as_bytes()) => return Err(NOT_TEXT.into()),
            Err(_) if is_binary(&self.bytes) => return Err(NOT_TEXT.into()),
            text => text?,
        };
        let text = text.trim_start();
        let mut entries = match config.format {
            _ if text.is_empty() => return Err("is empty".into()),
            Some(PulseFormat::Json) => json_entries(text, config)?,
            Some(PulseFormat::Rss | PulseFormat::Atom) => feed_entries(text, config.format)?,
            Some(PulseFormat::Text) | None if is_html_page(text) => return Err(HTML_PAGE.into()),
            Some(PulseFormat::Text) => markdown_entries(text),
            None => self.entries_by_content(text, config)?,
        };
        entries.retain(|entry| !entry.title.is_empty());
        if entries.is_empty() { Err("has no entries with text".into()) } else { Ok(entries) }
    }

    /// Guesses the format from the first character.
    fn entries_by_content(&self, text: &str, config: &PulseConfig) -> Result<Vec<PulseEntry>, String> {
        let entries = match text.chars().next() {
            Some('{' | '[') => json_entries(text, config),
            Some('<') => feed_entries(text, None),
            _ if self.has_type("text/html") => return Err(HTML_PAGE.into()),
            _ => return Ok(markdown_entries(text)),
        };
        // Markdown may begin with a link or a tag.
        entries.or_else(
            |why| {
                if self.has_type("text/markdown") { Ok(markdown_entries(text)) } else { Err(why) }
            },
        )
    }

    fn has_type(&self, media_type: &str) -> bool {
        let declared = self.content_type.as_deref().unwrap_or_default().split(';').next();
        declared.is_some_and(|declared| declared.trim().eq_ignore_ascii_case(media_type))
    }
}

impl PulseEntry {
    pub(super) fn new(raw: &RawEntry) -> Self {
        let link = displayable_link(&raw.link);
        let room = TEXT_CHARS_MAX.saturating_sub(link.map_or(0, |link| link.chars().count() + 1));
        let mut text = html_to_text(&raw.text, room);
        let mut title = html_to_text(&raw.title, TITLE_CHARS_MAX);
        if title.is_empty() {
            // Short messages often have no title.
            title = html_to_text(&raw.text, TITLE_CHARS_MAX);
        }
        if let Some(link) = link.filter(|_| !title.is_empty()) {
            text = if text.is_empty() { link.to_owned() } else { format!("{text}\n{link}") };
        }
        Self { title, text, published_s: raw.published_s }
    }
}

/// Appends to a field, up to the most bytes that are kept of one.
pub(super) fn push_bounded(field: &mut String, more: &str) {
    let room = RAW_FIELD_BYTES_MAX.saturating_sub(field.len());
    field.push_str(more.get(..more.floor_char_boundary(room)).unwrap_or_default());
}

/// The link, if it is a short web address in visible ASCII, so that it cannot pass for something else.
fn displayable_link(link: &str) -> Option<&str> {
    let link = link.trim();
    let is_web = link.starts_with("https://") || link.starts_with("http://");
    let is_plain = link.len() <= LINK_CHARS_MAX && link.bytes().all(|byte| byte.is_ascii_graphic());
    (is_web && is_plain).then_some(link)
}

/// Seconds since 1970 of a date in RFC 3339 or RFC 822, or of a day. A date without a zone is in UTC. `None` if it is
/// no date or before 1970.
pub(super) fn parse_date(text: &str) -> Option<u64> {
    let text = text.trim();
    let text = text.get(..text.floor_char_boundary(DATE_BYTES_MAX)).unwrap_or(text);
    let timestamp = parse_rfc3339(text).or_else(|| parse_rfc822(text))?;
    u64::try_from(timestamp.as_second()).ok()
}

/// `2026-01-31T09:30:00Z`, `2026-01-31 09:30 +0100`, `2026-01-31`.
fn parse_rfc3339(text: &str) -> Option<Timestamp> {
    let text = text.replace(" +", "+").replace(" -", "-").replace(" Z", "Z");
    let in_utc = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
    text.parse().ok().or_else(|| in_utc().map(|date| date.timestamp()))
}

/// `Sat, 31 Jan 2026 09:30:00 GMT`, `Saturday, 31 January 26 09:30 +0100`. The time and the zone may be missing.
fn parse_rfc822(text: &str) -> Option<Timestamp> {
    static PARSER: rfc2822::DateTimeParser = rfc2822::DateTimeParser::new();
    let date = text.split_once(',').map_or(text, |(_weekday, date)| date);
    let mut words = date.split_whitespace();
    let (day, month) = (words.next()?, words.next()?.get(..3)?);
    let date = format!("{day} {month} {}", words.collect::<Vec<_>>().join(" "));
    ["", " GMT", " 00:00 GMT"].iter().find_map(|end| PARSER.parse_timestamp(format!("{date}{end}")).ok())
}

/// Decodes a text by its byte order mark, or else by the first of these encodings in which it is valid: the server's,
/// the document's own, UTF-8. Servers are often wrong about the encoding.
pub(crate) fn decode(bytes: &[u8], content_type: Option<&str>) -> Result<String, String> {
    let invalid =
        |encoding: &'static Encoding| format!("is not valid {}: tell its publisher", encoding.name());
    if let Some((marked, mark_bytes)) = Encoding::for_bom(bytes) {
        let text = decode_as(marked, bytes.get(mark_bytes..).unwrap_or_default());
        return text.ok_or_else(|| invalid(marked));
    }
    let labels: Vec<String> =
        content_type.and_then(charset_label).into_iter().chain(xml_encoding_label(bytes)).collect();
    let known: Vec<&'static Encoding> =
        labels.iter().filter_map(|label| Encoding::for_label(label.as_bytes())).collect();
    let text = known.iter().copied().chain([UTF_8]).find_map(|encoding| decode_as(encoding, bytes));
    text.ok_or_else(|| match (known.first(), labels.first()) {
        (Some(encoding), _) => invalid(encoding),
        (None, Some(label)) => format!("has the unknown encoding {}", html_to_text(label, 40)),
        (None, None) => invalid(UTF_8),
    })
}

fn decode_as(encoding: &'static Encoding, bytes: &[u8]) -> Option<String> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    // UTF-16 is valid in every eight-bit encoding, but then contains zeros.
    (!text.contains('\0')).then(|| text.into_owned())
}

/// `gbk` from `text/xml; charset="gbk"`.
fn charset_label(content_type: &str) -> Option<String> {
    let lower = content_type.to_ascii_lowercase();
    let (_, value) = lower.split_once("charset=")?;
    let value = value.split(';').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}

/// `ISO-8859-1` from `<?xml version="1.0" encoding="ISO-8859-1"?>`.
fn xml_encoding_label(bytes: &[u8]) -> Option<String> {
    let start = bytes.get(..XML_DECLARATION_BYTES_MAX.min(bytes.len()))?;
    let ascii: String = start.iter().map(|byte| char::from(*byte)).collect();
    let (declaration, _) = ascii.trim_start().strip_prefix("<?xml")?.split_once("?>")?;
    let value = declaration.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value.split(quote).nth(1).map(str::to_owned)
}

/// Whether the bytes are not text. A few control characters are tolerated, but no zero.
fn is_binary(bytes: &[u8]) -> bool {
    const BYTES_PER_CONTROL_MIN: usize = 20;
    // Backspace, vertical tab and escape occur in coloured text.
    let is_layout = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, 0x08 | 0x0b | 0x1b);
    let controls = bytes.iter().filter(|byte| byte.is_ascii_control() && !is_layout(**byte)).count();
    controls * BYTES_PER_CONTROL_MIN > bytes.len() || bytes.contains(&0)
}

fn is_html_page(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let after = match rest {
            comment if comment.starts_with("<!--") => comment.split_once("-->"),
            declaration if declaration.starts_with("<?") => declaration.split_once("?>"),
            _ => None,
        };
        let Some((_, after)) = after else { break };
        rest = after.trim_start();
    }
    let begins = |with: &str| rest.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    ["<!doctype html", "<html", "<head>", "<body"].into_iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_date_reads_the_dates_that_feeds_write() {
        let expected = Some(1_769_848_200);
        for (text, want) in [
            ("2026-01-31T08:30:00Z", expected),
            ("2026-01-31T09:30:00+01:00", expected),
            ("2026-01-31t08:30:00.123z", expected),
            ("2026-01-31 03:30:00 -0500", expected),
            ("2026-01-31T08:30", expected),
            ("Sat, 31 Jan 2026 08:30:00 GMT", expected),
            ("Sat, 31 Jan 2026 09:30:00 +0100", expected),
            ("Mon, 31 Jan 2026 08:30:00 GMT", expected),
            ("Saturday, 31 January 26 08:30 UT", expected),
            ("31 January 26 08:30", expected),
            ("Sat, 31 Jan 2026 03:30:00 EST", expected),
            (" Sat,31 Jan 2026 00:30:00 PST\n", expected),
            ("2026-01-31", Some(1_769_817_600)),
            ("Sat, 31 Jan 2026", Some(1_769_817_600)),
            ("2024-02-29", Some(1_709_164_800)),
            ("1970-01-01T00:00:00Z", Some(0)),
            ("01 Jan 70 00:00 GMT", Some(0)),
        ] {
            assert_eq!(parse_date(text), want, "{text}");
        }
    }

    #[test]
    fn parse_date_returns_none_for_anything_else() {
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
            "1 \u{e9}\u{e9} 2",
            &long,
        ] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }
}
