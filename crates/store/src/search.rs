//! Full-text search over what was asked, said and decided.
//!
//! A debate never waits for the index: it catches up when somebody searches. The events' own numbers grow with every
//! commit, so one number says how far the index has seen.

use agon_core::event::Entry;
use agon_core::{Event, Outcome, Reply};
use rusqlite::{Connection, ErrorCode, TransactionBehavior, params};
use serde::Serialize;
use serde_json::Value;

use crate::catalog::{LISTED, Statuses};
use crate::place::{Fault, GIVE_ACCESS, Place};

/// In a [`Hit`]'s snippet, stands before words that matched. Never part of the text itself.
pub const HIT_START: char = '\u{2}';

/// In a [`Hit`]'s snippet, stands after words that matched. Never part of the text itself.
pub const HIT_END: char = '\u{3}';

/// A debate that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// Its id.
    pub id: String,
    /// Its protocol.
    pub protocol: String,
    /// The question, topic or task.
    pub question: String,
    /// As in [`Listed`](crate::Listed).
    pub status: String,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// The words around a match; what matched is between [`HIT_START`] and [`HIT_END`].
    pub snippet: String,
}

/// How many debates are indexed in one transaction: between two of them, a debate that runs can commit.
const BATCH: usize = 64;

/// The debates that have all the words, the best first. The last word may be the beginning of one.
pub(crate) fn search(
    store: &mut Connection,
    place: &Place,
    words: &str,
    limit: usize,
) -> Result<Vec<Hit>, Fault> {
    let Some(terms) = terms(words) else { return Ok(Vec::new()) };
    match catch_up(store) {
        Err(Fault::Sql(error)) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {
            // Not to find what is there would be worse than to say so.
            return Err(Fault::Odd(format!(
                "its index is not up to date, and it can only be read: {GIVE_ACCESS}"
            )));
        }
        caught_up => caught_up?,
    }
    let mut statuses = Statuses::new(place);
    // A match in the question weighs more than one in the verdict, and that more than one in a reply.
    let mut query = store.prepare_cached(&format!(
        "SELECT {LISTED}, snippet FROM debates JOIN (
             SELECT rowid AS n, rank, snippet(search, -1, char(2), char(3), '…', 20) AS snippet
             FROM search WHERE search MATCH ?1 AND rank MATCH 'bm25(4.0, 2.0, 1.0)' ORDER BY rank LIMIT ?2
         ) USING (n) ORDER BY rank, n DESC"
    ))?;
    let hits = query.query_map(params![terms, i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
        let listed = statuses.listed(row)?;
        Ok(Hit {
            id: listed.id,
            protocol: listed.protocol,
            question: listed.question,
            status: listed.status,
            created_at: listed.created_at,
            snippet: row.get(7)?,
        })
    })?;
    Ok(hits.collect::<Result<_, _>>()?)
}

/// The words as FTS5 wants them, each quoted so that none is taken for syntax; `None` without any.
fn terms(words: &str) -> Option<String> {
    let quoted: Vec<String> = words
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect();
    (!quoted.is_empty()).then(|| format!("{}*", quoted.join(" ")))
}

fn catch_up(store: &mut Connection) -> Result<(), Fault> {
    let seen: i64 = store.query_row("SELECT upto FROM indexed", [], |row| row.get(0))?;
    let last: Option<i64> = store.query_row("SELECT max(n) FROM events", [], |row| row.get(0))?;
    let Some(last) = last.filter(|last| *last > seen) else { return Ok(()) };
    let behind: Vec<i64> = store
        .prepare("SELECT DISTINCT debate FROM events WHERE n > ?1 AND n <= ?2")?
        .query_map([seen, last], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for debates in behind.chunks(BATCH) {
        let transaction = store.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for debate in debates {
            index(&transaction, *debate)?;
        }
        transaction.commit()?;
    }
    // Last, so that a search that is cut short is caught up on by the next.
    store.execute("UPDATE indexed SET upto = max(upto, ?1)", [last])?;
    Ok(())
}

/// Indexes a debate afresh: its words are one document, whenever they were said.
fn index(store: &Connection, debate: i64) -> Result<(), rusqlite::Error> {
    let mut query = store.prepare_cached("SELECT body FROM events WHERE debate = ?1 ORDER BY seq")?;
    let mut rows = query.query([debate])?;
    let mut document = Document::default();
    while let Some(row) = rows.next()? {
        // An event that somebody broke is `verify`'s business; the rest can still be found.
        if let Ok(entry) = serde_json::from_slice::<Entry>(row.get_ref(0)?.as_bytes()?) {
            document.read(&entry.event);
        }
    }
    store
        .prepare_cached(
            "INSERT OR REPLACE INTO search (rowid, question, verdict, replies) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![debate, document.question, document.verdict, document.replies])?;
    Ok(())
}

/// What a debate can be found by.
#[derive(Default)]
struct Document {
    question: String,
    verdict: String,
    replies: String,
}

impl Document {
    fn read(&mut self, event: &Event) {
        match event {
            Event::Opened { brief } => {
                add(&mut self.question, &brief.question);
                brief.files.iter().for_each(|file| add(&mut self.question, &file.path));
            }
            Event::Replied { reply: Reply::Said { value: Some(value), .. }, .. } => {
                leaves(&mut self.replies, value)
            }
            Event::Replied { reply: Reply::Said { text, .. }, .. } | Event::Interjected { text, .. } => {
                add(&mut self.replies, text);
            }
            Event::Closed { outcome } => self.read_outcome(outcome),
            _ => {}
        }
    }

    /// Of the verdict only its own sentences: what is deeper in it are the replies again.
    fn read_outcome(&mut self, outcome: &Outcome) {
        let sentences = outcome.verdict.as_object().into_iter().flat_map(|verdict| verdict.values());
        sentences.filter_map(Value::as_str).for_each(|sentence| add(&mut self.verdict, sentence));
        outcome.dissent.iter().for_each(|dissent| leaves(&mut self.verdict, dissent));
    }
}

/// Adds a text, without the characters that mark a match.
fn add(to: &mut String, text: &str) {
    if !to.is_empty() {
        to.push('\n');
    }
    to.extend(text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }));
}

fn leaves(to: &mut String, value: &Value) {
    match value {
        Value::String(text) => add(to, text),
        Value::Array(items) => items.iter().for_each(|item| leaves(to, item)),
        Value::Object(fields) => fields.values().for_each(|field| leaves(to, field)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
