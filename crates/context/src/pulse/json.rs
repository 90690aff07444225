//! Entries out of a JSON document: a JSON Feed, or whatever the section of the source describes.

use serde_json::Value;

use super::config::PulseConfig;
use super::entry::{Entry, Raw, push};

/// As many as a person could ever want to choose from.
const ENTRIES_MAX: usize = 1_000;
/// Where entries usually have what, the best first.
const TITLES: &[&str] = &["title", "headline", "name"];
const TEXTS: &[&str] = &["text", "summary", "content_text", "description", "content_html", "content", "body"];
const LINKS: &[&str] = &["url", "link", "external_url", "href"];
const DATES: &[&str] =
    &["date_published", "published_at", "published", "at", "date", "date_modified", "updated"];

/// The entries of a document.
pub(super) fn entries(text: &str, config: &PulseConfig) -> Result<Vec<Entry>, String> {
    let document: Value = serde_json::from_str(text)
        .map_err(|why| format!("is no JSON (line {}, column {})", why.line(), why.column()))?;
    let list = match &config.items {
        Some(pointer) => document.pointer(pointer).and_then(Value::as_array).ok_or_else(|| {
            format!("has no list at {pointer:?}: set items to the JSON pointer of its list of entries")
        })?,
        None => document.as_array().or_else(|| document.get("items").and_then(Value::as_array)).ok_or(
            "is JSON without a list of entries at its top or in \"items\": set items to the JSON pointer of the list",
        )?,
    };
    Ok(list.iter().take(ENTRIES_MAX).map(|value| entry(value, config)).collect())
}

fn entry(value: &Value, config: &PulseConfig) -> Entry {
    if let Some(title) = value.as_str() {
        return Entry::of(&Raw { title: title.to_owned(), ..Raw::default() });
    }
    let field = |named: &Option<String>, usual: &[&str]| match named {
        Some(name) => words(value, name).unwrap_or_default(),
        None => usual.iter().find_map(|name| words(value, name)).unwrap_or_default(),
    };
    Entry::of(&Raw {
        title: field(&config.title, TITLES),
        text: field(&config.text, TEXTS),
        link: field(&config.link, LINKS),
        at: date(field(&config.at, DATES)),
    })
}

/// What a field says; `None` for one that says nothing.
fn words(value: &Value, name: &str) -> Option<String> {
    let field = if name.starts_with('/') { value.pointer(name) } else { value.get(name) };
    let mut words = String::new();
    match field? {
        Value::String(text) => push(&mut words, text),
        Value::Number(number) => push(&mut words, &number.to_string()),
        _ => {}
    }
    (!words.trim().is_empty()).then_some(words)
}

/// Seconds or milliseconds since 1970 are dates too.
fn date(text: String) -> String {
    const MILLISECONDS_FROM: f64 = 1e11;
    match text.parse::<f64>() {
        Ok(number) if number >= MILLISECONDS_FROM => agon_core::calendar::rfc3339((number / 1000.0) as u64),
        // A year alone is a small number too, and no moment.
        Ok(number) if number >= 1e8 => agon_core::calendar::rfc3339(number as u64),
        _ => text,
    }
}
