//! Picks the entries that match the question.

use std::collections::BTreeSet;

use agon_core::timestamps;

use super::documents::PulseEntry;
use crate::errands::ContextItem;

/// Words that say nothing about a topic.
const STOP_WORDS: &[&str] = &[
    "about", "after", "all", "and", "any", "are", "been", "but", "can", "could", "does", "for", "from",
    "had", "has", "have", "how", "into", "its", "may", "more", "most", "new", "not", "now", "one", "our",
    "out", "over", "should", "than", "that", "the", "their", "them", "then", "there", "they", "this", "use",
    "was", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
];
const WORD_CHARS_MIN: usize = 3;

/// The entries that share words with the query, best match first. If none does, the newest entries, without a score.
pub(super) fn nearest_items(
    entries: Vec<PulseEntry>,
    query: &str,
    limit: usize,
    source: &str,
) -> Vec<ContextItem> {
    let wanted = topic_words(query);
    let mut scored: Vec<(f64, PulseEntry)> =
        entries.into_iter().map(|entry| (overlap(&wanted, &entry), entry)).collect();
    let any_match = scored.iter().any(|(score, _)| *score > 0.0);
    if any_match {
        scored.retain(|(score, _)| *score > 0.0);
    }
    // Newer entries first among equal scores. The sort is stable: other ties keep the source's order.
    scored.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(other.published_s.cmp(&one.published_s)));
    // A duplicate would take the place of another entry.
    let mut seen = BTreeSet::new();
    scored.retain(|(_, entry)| seen.insert((entry.title.clone(), entry.text.clone())));
    let item = |(score, entry): (f64, PulseEntry)| ContextItem {
        title: entry.title,
        text: entry.text,
        source: source.to_owned(),
        at: entry.published_s.map(timestamps::rfc3339),
        score: any_match.then_some(score),
        ..ContextItem::default()
    };
    scored.into_iter().take(limit).map(item).collect()
}

/// The share of the wanted words that an entry contains, to four decimal places.
fn overlap(wanted: &BTreeSet<String>, entry: &PulseEntry) -> f64 {
    let words = topic_words(&format!("{} {}", entry.title, entry.text));
    let shared = wanted.intersection(&words).count();
    (shared as f64 / wanted.len().max(1) as f64 * 1e4).round() / 1e4
}

fn topic_words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| is_topic_word(word)).map(|word| singular(&word)).collect()
}

fn is_topic_word(word: &str) -> bool {
    // In some scripts a word is only one or two characters long.
    let long_enough = word.chars().count() >= WORD_CHARS_MIN || !word.is_ascii();
    long_enough && !STOP_WORDS.contains(&word)
}

/// Removes a plural "s", so that "database" matches "databases".
fn singular(word: &str) -> String {
    match word.strip_suffix('s') {
        Some(stem) if stem.chars().count() >= WORD_CHARS_MIN && !stem.ends_with('s') => stem.to_owned(),
        _ => word.to_owned(),
    }
}
