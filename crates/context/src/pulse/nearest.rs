//! Which entries are about the question.

use std::collections::BTreeSet;

use agon_core::calendar;

use super::entry::Entry;
use crate::errand::Item;

/// Words that say nothing about what a text is about.
const COMMON: &[&str] = &[
    "about", "after", "all", "and", "any", "are", "been", "but", "can", "could", "does", "for", "from",
    "had", "has", "have", "how", "into", "its", "may", "more", "most", "new", "not", "now", "one", "our",
    "out", "over", "should", "than", "that", "the", "their", "them", "then", "there", "they", "this", "use",
    "was", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
];
const WORD_CHARS_MIN: usize = 3;

/// The entries that have words of the query, those with the most of them first; when none has any, the newest.
pub(super) fn items(entries: Vec<Entry>, query: &str, limit: usize, source: &str) -> Vec<Item> {
    let wanted = words(query);
    let mut scored: Vec<(f64, Entry)> =
        entries.into_iter().map(|entry| (overlap(&wanted, &entry), entry)).collect();
    let near = scored.iter().any(|(score, _)| *score > 0.0);
    if near {
        scored.retain(|(score, _)| *score > 0.0);
    }
    // A stable sort: what is alike in both stays in the order of its source.
    scored.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(other.at_s.cmp(&one.at_s)));
    let item = |(score, Entry { title, text, at_s }): (f64, Entry)| Item {
        title,
        text,
        source: source.to_owned(),
        at: at_s.map(calendar::rfc3339),
        score: near.then_some(score),
        ..Item::default()
    };
    // What a source has twice says nothing more, and would keep out what does.
    let mut seen = BTreeSet::new();
    scored.retain(|(_, entry)| seen.insert((entry.title.clone(), entry.text.clone())));
    scored.into_iter().take(limit).map(item).collect()
}

/// The share of the wanted words that an entry has, to four places.
fn overlap(wanted: &BTreeSet<String>, entry: &Entry) -> f64 {
    let has = words(&format!("{} {}", entry.title, entry.text));
    let common = wanted.intersection(&has).count();
    (common as f64 / wanted.len().max(1) as f64 * 1e4).round() / 1e4
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| says_something(word)).map(|word| singular(&word)).collect()
}

fn says_something(word: &str) -> bool {
    // In some scripts a word is a character or two.
    let long = word.chars().count() >= WORD_CHARS_MIN || !word.is_ascii();
    long && !COMMON.contains(&word)
}

/// One and many are the same topic.
fn singular(word: &str) -> String {
    match word.strip_suffix('s') {
        Some(one) if one.chars().count() >= WORD_CHARS_MIN && !one.ends_with('s') => one.to_owned(),
        _ => word.to_owned(),
    }
}
