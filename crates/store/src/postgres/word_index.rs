//! Full-text search: words without case and accents in a `tsvector`, as SQLite's `unicode61` makes them.
//!
//! The words are folded here and not by the server, so that both stores find the same. Entries are ranked by BM25, as in SQLite.
//! The server's `ts_rank` of one word stands for how often the word occurs.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::ops::Range;

use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use crate::debate_list::{LISTED_COLUMNS, StatusReader};
use crate::knowledge_search::{SCORED_MAX, affordable_words};
use crate::search::{HIT_END, HIT_START, SearchHit, SearchableText, WordQuery};
use crate::sql::{SqlDatabase, SqlResult, sql_limit, sql_values};

/// What a word weighs in the text, in the verdict, and in the question or title. D, C, B and A to the server.
const WEIGHTS: &str = "'{0.25, 0.25, 0.5, 1.0}'";

/// The server's `ts_rank` of a word that occurs once with weight D.
const RANK_OF_ONE: f64 = 0.25 * 0.607_927_1;

/// The constants of BM25, as FTS5 has them.
const SATURATION: f64 = 1.2;
const LENGTH_SHARE: f64 = 0.75;

/// Limits of a `tsvector`: 1 MB in all, positions up to 16383, 256 of them for a word. Longer words are not indexed.
const WORD_BYTES_MAX: usize = 500;
const ALL_BYTES_MAX: usize = 700_000;
const POSITION_MAX: usize = 16_383;
const POSITIONS_MAX: usize = 255;

/// How many words a snippet has.
const SNIPPET_WORDS: usize = 20;

/// The words as a `tsquery`. What holds together without spaces, such as `well-known`, is a phrase.
pub(crate) fn word_query<'a>(words: impl Iterator<Item = &'a str>) -> Option<WordQuery> {
    let phrase = |word: &str| {
        let quoted: Vec<String> = folded_words(word).map(|(_, word)| format!("'{word}'")).collect();
        (!quoted.is_empty()).then(|| quoted.join(" <-> "))
    };
    let phrases: Vec<String> = words.filter_map(phrase).collect();
    let whole = phrases.join(" & ");
    (!phrases.is_empty()).then(|| WordQuery { begun: format!("{whole}:*"), whole })
}

/// The newest debates that match, each with its score.
pub(crate) fn ranked_debates(db: &SqlDatabase, terms: &str, most: usize) -> SqlResult<Vec<(i64, f64)>> {
    let sql = format!(
        "SELECT debate, ts_rank({WEIGHTS}, words, ?1::text::tsquery, 1) FROM search
         WHERE words @@ ?1::text::tsquery ORDER BY debate DESC LIMIT ?2"
    );
    db.read_all(&sql, sql_values![terms, sql_limit(most)], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// The debates that match, the newest first, or only the one in this row.
pub(crate) fn read_hits(
    db: &SqlDatabase,
    terms: &str,
    debate: Option<i64>,
    limit: usize,
    statuses: &mut StatusReader<'_>,
) -> SqlResult<Vec<SearchHit>> {
    let columns = LISTED_COLUMNS.replace("question", "d.question");
    let sql = format!(
        "SELECT {columns}, s.question, s.verdict, s.replies FROM search AS s JOIN debates AS d ON d.n = s.debate
         WHERE s.words @@ ?1::text::tsquery AND (?3::bigint IS NULL OR s.debate = ?3)
         ORDER BY d.n DESC LIMIT ?2"
    );
    let words: Vec<&str> = terms.split('\'').skip(1).step_by(2).collect();
    let is_begun = terms.ends_with(":*");
    db.read_all(&sql, sql_values![terms, sql_limit(limit), debate], |row| {
        let snippet = snippet([row.text(7)?, row.text(8)?, row.text(9)?], &words, is_begun);
        Ok(SearchHit::new(statuses.listed(row)?, snippet))
    })
}

/// Puts a debate into the index in place of what was there of it.
pub(crate) fn index_debate(db: &SqlDatabase, debate: i64, text: &SearchableText) -> SqlResult<()> {
    let SearchableText { question, verdict, replies, .. } = text;
    let (words, length) = word_vector(&[(question, 'A'), (verdict, 'B'), (replies, 'D')]);
    db.run(
        "INSERT INTO search (debate, question, verdict, replies, words, length)
         VALUES (?1, ?2, ?3, ?4, ?5::text::tsvector, ?6)
         ON CONFLICT (debate) DO UPDATE SET question = excluded.question, verdict = excluded.verdict,
             replies = excluded.replies, words = excluded.words, length = excluded.length",
        sql_values![debate, question, verdict, replies, words, length],
    )?;
    Ok(())
}

/// Puts an entry of the knowledge store into the index.
pub(crate) fn index_entry(db: &SqlDatabase, n: i64, title: &str, text: &str) -> SqlResult<()> {
    let (words, length) = word_vector(&[(title, 'A'), (text, 'D')]);
    db.run(
        "INSERT INTO knowledge_words (n, words, length) VALUES (?1, ?2::text::tsvector, ?3)
         ON CONFLICT (n) DO UPDATE SET words = excluded.words, length = excluded.length",
        sql_values![n, words, length],
    )?;
    Ok(())
}

/// The entries that have any of the words, the newest first, each with its score.
pub(crate) fn rank_entries(db: &SqlDatabase, words: &[String]) -> SqlResult<Vec<(i64, f64)>> {
    let folded: Vec<String> =
        words.iter().flat_map(|word| folded_words(word).map(|(_, word)| word).collect::<Vec<_>>()).collect();
    let mut counted = Vec::with_capacity(folded.len());
    for word in &folded {
        let sql = "SELECT count(*) FROM (
                 SELECT 1 FROM knowledge_words WHERE words @@ ?1::text::tsquery LIMIT ?2) AS found";
        let (term, most) = (format!("'{word}'"), sql_limit(SCORED_MAX + 1));
        let entries: Option<i64> = db.read_first(sql, sql_values![term, most], |row| row.get(0))?;
        counted.push((usize::try_from(entries.unwrap_or_default()).unwrap_or(usize::MAX), word));
    }
    let searched = affordable_words(counted);
    if searched.is_empty() {
        return Ok(Vec::new());
    }
    let all: Option<i64> = db.read_first("SELECT count(*) FROM knowledge_words", &[], |row| row.get(0))?;
    let all = all.unwrap_or_default() as f64;
    let rarities: HashMap<&str, f64> = searched
        .iter()
        .map(|(entries, word)| {
            let entries = *entries as f64;
            (word.as_str(), (1.0 + (all - entries + 0.5) / (entries + 0.5)).ln())
        })
        .collect();
    let words: Vec<&str> = searched.iter().map(|(_, word)| word.as_str()).collect();
    Ok(score_entries(&read_occurrences(db, &words)?, &rarities))
}

/// How often an entry has a word.
struct WordOccurrence {
    n: i64,
    length: f64,
    word: String,
    frequency: f64,
}

/// How often the newest entries that have any of the words have each of them, the newest first.
fn read_occurrences(db: &SqlDatabase, words: &[&str]) -> SqlResult<Vec<WordOccurrence>> {
    let any: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let sql = format!(
        "SELECT k.n, k.length, given.word, ts_rank({WEIGHTS}, k.words, given.term)
         FROM (SELECT n, length, words FROM knowledge_words WHERE words @@ ?1::text::tsquery ORDER BY n DESC LIMIT ?2) AS k
             JOIN (SELECT word, ('''' || word || '''')::tsquery AS term FROM unnest(string_to_array(?3, ' ')) AS word)
                 AS given ON k.words @@ given.term
         ORDER BY k.n DESC"
    );
    db.read_all(&sql, sql_values![any.join(" | "), sql_limit(SCORED_MAX), words.join(" ")], |row| {
        let rank: f64 = row.get(3)?;
        Ok(WordOccurrence {
            n: row.get(0)?,
            length: row.get(1)?,
            word: row.get(2)?,
            frequency: rank / RANK_OF_ONE,
        })
    })
}

/// BM25 over the words that each entry has. The order of the entries stays.
fn score_entries(occurrences: &[WordOccurrence], rarities: &HashMap<&str, f64>) -> Vec<(i64, f64)> {
    let total: f64 = occurrences.iter().map(|found| found.length).sum();
    let mean_length = (total / occurrences.len().max(1) as f64).max(1.0);
    let mut scored: Vec<(i64, f64)> = Vec::new();
    for WordOccurrence { n, length, word, frequency } in occurrences {
        let rarity = rarities.get(word.as_str()).copied().unwrap_or_default();
        let slowness = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * length / mean_length);
        let score = rarity * frequency * (SATURATION + 1.0) / (frequency + slowness);
        match scored.last_mut() {
            Some((last, sum)) if last == n => *sum += score,
            _ => scored.push((*n, score)),
        }
    }
    scored
}

/// The text of a `tsvector` of these texts with their weights, and how many words they have.
fn word_vector(texts: &[(&str, char)]) -> (String, i64) {
    let mut places: BTreeMap<String, Vec<(usize, char)>> = BTreeMap::new();
    let (mut position, mut bytes, mut length) = (0, 0, 0);
    for (text, weight) in texts {
        for (_, word) in folded_words(text) {
            position += 1;
            length += 1;
            let is_new = !places.contains_key(&word);
            if word.len() > WORD_BYTES_MAX || (is_new && bytes > ALL_BYTES_MAX) {
                continue;
            }
            let known = places.entry(word).or_insert_with_key(|word| {
                bytes += word.len() + 8;
                Vec::new()
            });
            if known.len() < POSITIONS_MAX && bytes <= ALL_BYTES_MAX {
                bytes += 2;
                known.push((position.min(POSITION_MAX), *weight));
            }
        }
        // No phrase goes over the end of a text.
        position += 2;
    }
    let mut vector = String::new();
    for (word, places) in &places {
        let places: Vec<String> = places.iter().map(|(place, weight)| format!("{place}{weight}")).collect();
        let colon = if places.is_empty() { "" } else { ":" };
        // Writing to a string does not fail.
        let _ = write!(vector, "'{word}'{colon}{} ", places.join(","));
    }
    (vector, length)
}

/// The words of a text in lower case and without accents, each with its place.
fn folded_words(text: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        loop {
            let (start, first) = chars.next()?;
            if !first.is_alphanumeric() {
                continue;
            }
            let (mut end, mut word) = (start + first.len_utf8(), String::new());
            fold_into(first, &mut word);
            while let Some((place, c)) = chars.next_if(|(_, c)| c.is_alphanumeric() || is_combining_mark(*c))
            {
                end = place + c.len_utf8();
                fold_into(c, &mut word);
            }
            if !word.is_empty() {
                return Some((start..end, word));
            }
        }
    })
}

fn fold_into(c: char, word: &mut String) {
    if c.is_ascii() {
        return word.push(c.to_ascii_lowercase());
    }
    decompose_canonical(c, |part| {
        if !is_combining_mark(part) {
            word.extend(part.to_lowercase().filter(|c| c.is_alphanumeric()));
        }
    });
}

/// The part of the first text that has most of the words, with marks around each.
fn snippet(texts: [&str; 3], words: &[&str], is_begun: bool) -> String {
    let (last, others) = words.split_last().map_or((None, words), |(last, others)| (Some(*last), others));
    let matches = |word: &str| {
        others.contains(&word)
            || last.is_some_and(|last| if is_begun { word.starts_with(last) } else { word == last })
    };
    let mut best: Option<(usize, String)> = None;
    for text in texts {
        let found: Vec<(Range<usize>, bool)> =
            folded_words(text).map(|(range, word)| (range, matches(&word))).collect();
        let count =
            |start: usize| found.iter().skip(start).take(SNIPPET_WORDS).filter(|(_, hit)| *hit).count();
        // It begins a few words before a match, so that its context can be read.
        let starts =
            found.iter().enumerate().filter(|(_, (_, hit))| *hit).map(|(place, _)| place.saturating_sub(4));
        let Some((hits, start)) =
            starts.map(|start| (count(start), start)).max_by_key(|(hits, start)| (*hits, usize::MAX - start))
        else {
            continue;
        };
        if best.as_ref().is_none_or(|(most, _)| hits > *most) {
            best = Some((hits, marked(text, &found, start)));
        }
    }
    best.map(|(_, text)| text).unwrap_or_default()
}

/// A few words of a text from one on, with marks around those that match.
fn marked(text: &str, words: &[(Range<usize>, bool)], start: usize) -> String {
    let shown: Vec<&(Range<usize>, bool)> = words.iter().skip(start).take(SNIPPET_WORDS).collect();
    let mut from = match shown.first() {
        Some((range, _)) if start > 0 => range.start,
        _ => 0,
    };
    let mut snippet = if start > 0 { "…".to_owned() } else { String::new() };
    for (range, is_hit) in &shown {
        snippet.push_str(text.get(from..range.start).unwrap_or_default());
        let word = text.get(range.clone()).unwrap_or_default();
        match is_hit {
            true => snippet.extend([HIT_START.to_string(), word.to_owned(), HIT_END.to_string()]),
            false => snippet.push_str(word),
        }
        from = range.end;
    }
    match words.get(start + SNIPPET_WORDS) {
        Some(_) => snippet.push('…'),
        None => snippet.push_str(text.get(from..).unwrap_or_default()),
    }
    snippet
}
