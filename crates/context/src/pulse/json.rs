//! Entries from a JSON document: a JSON Feed, or any list that `[pulse.NAME]` describes.

use serde_json::Value;

use super::config::PulseConfig;
use super::documents::{ENTRIES_MAX, PulseEntry, RawEntry, parse_date, push_bounded};

/// The usual names of each field, best first.
const TITLE_FIELDS: &[&str] = &["title", "headline", "name"];
const TEXT_FIELDS: &[&str] =
    &["text", "summary", "content_text", "description", "content_html", "content", "body"];
const LINK_FIELDS: &[&str] = &["url", "link", "external_url", "href"];
const DATE_FIELDS: &[&str] =
    &["date_published", "published_at", "published", "at", "date", "date_modified", "updated"];

pub(super) fn json_entries(text: &str, config: &PulseConfig) -> Result<Vec<PulseEntry>, String> {
    let document: Value = serde_json::from_str(text)
        .map_err(|why| format!("is not valid JSON (line {}, column {})", why.line(), why.column()))?;
    let list = match &config.items {
        Some(pointer) => document.pointer(pointer).and_then(Value::as_array).ok_or_else(|| {
            format!("has no list at {pointer:?}: set items to the JSON pointer of its list of entries")
        })?,
        None => document.as_array().or_else(|| document.get("items").and_then(Value::as_array)).ok_or(
            "is JSON without a list of entries at the top or in \"items\": set items to the JSON pointer of the list",
        )?,
    };
    Ok(list.iter().take(ENTRIES_MAX).map(|value| json_entry(value, config)).collect())
}

fn json_entry(value: &Value, config: &PulseConfig) -> PulseEntry {
    if let Some(title) = value.as_str() {
        return PulseEntry::new(&RawEntry { title: title.to_owned(), ..RawEntry::default() });
    }
    let field = |configured: &Option<String>, usual: &[&str]| match configured {
        Some(name) => field_text(value, name).unwrap_or_default(),
        None => usual.iter().find_map(|name| field_text(value, name)).unwrap_or_default(),
    };
    PulseEntry::new(&RawEntry {
        title: field(&config.title, TITLE_FIELDS),
        text: field(&config.text, TEXT_FIELDS),
        link: field(&config.link, LINK_FIELDS),
        published_s: parse_json_date(&field(&config.at, DATE_FIELDS)),
    })
}

/// The text of a field, or `None` if it is missing or blank.
fn field_text(value: &Value, name: &str) -> Option<String> {
    let field = if name.starts_with('/') { value.pointer(name) } else { value.get(name) };
    let mut text = String::new();
    match field? {
        Value::String(string) => push_bounded(&mut text, string),
        Value::Number(number) => push_bounded(&mut text, &number.to_string()),
        _ => {}
    }
    (!text.trim().is_empty()).then_some(text)
}

/// A date, or a number of seconds or milliseconds since 1970.
fn parse_json_date(text: &str) -> Option<u64> {
    /// Smaller numbers are not timestamps: they may be a year alone.
    const SECONDS_MIN: f64 = 1e8;
    const MILLISECONDS_MIN: f64 = 1e11;
    match text.parse::<f64>() {
        Ok(number) if number >= MILLISECONDS_MIN => Some((number / 1000.0) as u64),
        Ok(number) if number >= SECONDS_MIN => Some(number as u64),
        _ => parse_date(text),
    }
}
