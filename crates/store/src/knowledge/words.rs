//! Search by words.
//!
//! Any of the words may match; the more and the rarer, the better. What a word costs is the entries that have it, so the
//! rare ones go first and those that would take too long are left out: they would tell little.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, params};

use crate::place::Fault;

/// How many entries are weighed against each other. With more that match, only the newest of them are.
const WEIGHED_MAX: usize = 3_000;

/// How many words of a question are looked at.
const WORDS_MAX: usize = 64;

/// How many of them are searched for, the rarest.
const SOUGHT_MAX: usize = 12;

/// Words that are in nearly every English text and so tell nothing about one.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "both", "but", "by", "can", "could", "did", "do", "does", "each", "for", "from",
    "had", "has", "have", "having", "he", "her", "here", "his", "how", "i", "if", "in", "into", "is", "it",
    "its", "just", "may", "me", "might", "more", "most", "must", "my", "no", "nor", "not", "of", "on", "or",
    "our", "over", "shall", "she", "should", "so", "some", "such", "than", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "those", "to", "under", "up", "us", "very", "was", "we",
    "were", "what", "when", "where", "which", "while", "who", "whom", "why", "will", "with", "would", "you",
    "your",
];

/// The entries that have any of the words that tell something, the best first.
pub(crate) fn ranked(store: &Connection, query: &str, limit: usize) -> Result<Vec<i64>, Fault> {
    let sought = sought(store, &significant(query))?;
    if sought.is_empty() {
        return Ok(Vec::new());
    }
    // A match in the title weighs more than one in the text.
    let mut search = store.prepare_cached(
        "SELECT rowid, bm25(knowledge_words, 4.0, 1.0) FROM knowledge_words WHERE knowledge_words MATCH ?1
         ORDER BY rowid DESC LIMIT ?2",
    )?;
    let rows = search.query_map(params![sought, WEIGHED_MAX as i64], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut found: Vec<(i64, f64)> = rows.collect::<Result<_, _>>()?;
    // Stable, so that of equals the newest stays first.
    found.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    Ok(found.into_iter().take(limit).map(|(n, _)| n).collect())
}

/// The words of a text that tell something about it, each once and in order; all of them where none does.
pub(crate) fn significant(text: &str) -> Vec<String> {
    let all = words(text);
    let telling: Vec<String> =
        all.iter().filter(|word| !STOP_WORDS.contains(&word.as_str())).take(WORDS_MAX).cloned().collect();
    if telling.is_empty() { all.into_iter().take(WORDS_MAX).collect() } else { telling }
}

/// The words of a text in lower case, each once and in order.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let words =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase);
    words.filter(|word| seen.insert(word.clone())).collect()
}

/// The words as FTS5 wants them, each quoted so that none is taken for syntax: the rarest, as far as they can be weighed.
fn sought(store: &Connection, words: &[String]) -> Result<String, Fault> {
    let mut count = store.prepare_cached("SELECT doc FROM knowledge_counts WHERE term = ?1")?;
    let mut counted = Vec::with_capacity(words.len());
    for word in words {
        // A word that is not counted may still be there, with its accents taken off.
        let entries: Option<i64> = count.query_row([word], |row| row.get(0)).optional()?;
        counted.push((usize::try_from(entries.unwrap_or(1)).unwrap_or(usize::MAX), word));
    }
    counted.sort();
    let mut weighed = 0_usize;
    let affordable = counted.iter().enumerate().take_while(|(place, (entries, _))| {
        weighed = weighed.saturating_add(*entries);
        *place == 0 || weighed <= WEIGHED_MAX
    });
    let quoted: Vec<String> =
        affordable.take(SOUGHT_MAX).map(|(_, (_, word))| format!("\"{word}\"")).collect();
    Ok(quoted.join(" OR "))
}
