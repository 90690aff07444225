//! Full-text search over what was asked, said and decided in debates.
//!
//! A debate never waits for the index: the index catches up when somebody searches. Event rows are numbered in commit
//! order, so one number says how far the index has come.

use agon_core::event::LogEntry;
use agon_core::{Event, Outcome, Reply};
use agon_engine::StoreError;
use rusqlite::{Connection, ErrorCode, TransactionBehavior, params};
use serde::Serialize;
use serde_json::Value;

use crate::SqliteStore;
use crate::debate_list::{LISTED_COLUMNS, ListedDebate, StatusReader};
use crate::sql::{CachedSql, sql_limit};
use crate::store_fault::{GIVE_ACCESS, StoreFault};

/// Marks the start of a match in a [`SearchHit`]'s snippet. It never occurs in the text itself.
pub const HIT_START: char = '\u{2}';

/// Marks the end of a match in a [`SearchHit`]'s snippet. It never occurs in the text itself.
pub const HIT_END: char = '\u{3}';

/// A debate that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SearchHit {
    pub id: String,
    pub protocol: String,
    /// The question, topic or task.
    pub question: String,
    /// As in [`ListedDebate`].
    pub status: String,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// The text around a match. What matched is between [`HIT_START`] and [`HIT_END`].
    pub snippet: String,
}

/// How many debates are indexed in one transaction. Between two transactions, a running debate can commit.
const BATCH: usize = 64;

impl SqliteStore {
    /// The debates whose question, replies or verdict have all the words, best first. The last word may be the
    /// beginning of a word. Case and accents do not matter.
    pub fn search_debates(&self, words: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        let Some(terms) = fts_query(words) else { return Ok(Vec::new()) };
        self.read(|db| {
            update_index(db)?;
            // A match in the question weighs more than one in the verdict, and that more than one in a reply.
            let sql = format!(
                "SELECT {LISTED_COLUMNS}, snippet FROM debates JOIN (
                     SELECT rowid AS n, rank, snippet(search, -1, char(2), char(3), '…', 20) AS snippet
                     FROM search WHERE search MATCH ?1 AND rank MATCH 'bm25(4.0, 2.0, 1.0)' ORDER BY rank LIMIT ?2
                 ) USING (n) ORDER BY rank, n DESC"
            );
            let mut statuses = StatusReader::new(self.path());
            Ok(db.read_all(&sql, params![terms, sql_limit(limit)], |row| {
                let ListedDebate { id, protocol, question, status, created_at, .. } = statuses.listed(row)?;
                Ok(SearchHit { id, protocol, question, status, created_at, snippet: row.get(7)? })
            })?)
        })
    }
}

/// The words as an FTS5 query, each quoted so that none is read as syntax. `None` if there are no words.
fn fts_query(words: &str) -> Option<String> {
    let quoted: Vec<String> = words
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect();
    (!quoted.is_empty()).then(|| format!("{}*", quoted.join(" ")))
}

fn update_index(db: &mut Connection) -> Result<(), StoreFault> {
    match index_new_events(db) {
        // An error is better than results that silently miss debates.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => Err(StoreFault::Failed(
            format!("its index is not up to date, and it can only be read: {GIVE_ACCESS}"),
        )),
        indexed => Ok(indexed?),
    }
}

fn index_new_events(db: &mut Connection) -> rusqlite::Result<()> {
    let done: i64 = db.query_row("SELECT last_event FROM search_progress", [], |row| row.get(0))?;
    let last: Option<i64> = db.query_row("SELECT max(n) FROM events", [], |row| row.get(0))?;
    let Some(last) = last.filter(|last| *last > done) else { return Ok(()) };
    let sql = "SELECT DISTINCT debate FROM events WHERE n > ?1 AND n <= ?2";
    let behind: Vec<i64> = db.read_all(sql, [done, last], |row| row.get(0))?;
    for debates in behind.chunks(BATCH) {
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for debate in debates {
            index_debate(&transaction, *debate)?;
        }
        transaction.commit()?;
    }
    // Last, so that the next search completes one that was interrupted.
    db.run("UPDATE search_progress SET last_event = max(last_event, ?1)", [last])?;
    Ok(())
}

/// Indexes all of a debate again: all its words are one document, whenever they were said.
fn index_debate(db: &Connection, debate: i64) -> rusqlite::Result<()> {
    let mut query = db.prepare_cached("SELECT body FROM events WHERE debate = ?1 ORDER BY seq")?;
    let mut rows = query.query([debate])?;
    let mut text = SearchableText::default();
    while let Some(row) = rows.next()? {
        // `agon verify` reports events that cannot be read. The rest can still be found.
        if let Ok(entry) = serde_json::from_slice::<LogEntry>(row.get_ref(0)?.as_bytes()?) {
            text.add_event(&entry.event);
        }
    }
    db.run(
        "INSERT OR REPLACE INTO search (rowid, question, verdict, replies) VALUES (?1, ?2, ?3, ?4)",
        params![debate, text.question, text.verdict, text.replies],
    )?;
    Ok(())
}

/// The text of a debate as the index stores it.
#[derive(Default)]
struct SearchableText {
    question: String,
    verdict: String,
    replies: String,
}

impl SearchableText {
    fn add_event(&mut self, event: &Event) {
        match event {
            Event::Opened { brief } => {
                add_text(&mut self.question, &brief.question);
                brief.files.iter().for_each(|file| add_text(&mut self.question, &file.path));
            }
            Event::Replied { reply: Reply::Said { value: Some(value), .. }, .. } => {
                add_strings(&mut self.replies, value)
            }
            Event::Replied { reply: Reply::Said { text, .. }, .. } | Event::Interjected { text, .. } => {
                add_text(&mut self.replies, text);
            }
            Event::Closed { outcome } => self.add_outcome(outcome),
            _ => {}
        }
    }

    /// Adds only the verdict's top-level strings: what is nested in it repeats the replies.
    fn add_outcome(&mut self, outcome: &Outcome) {
        let fields = outcome.verdict.as_object().into_iter().flat_map(|verdict| verdict.values());
        fields.filter_map(Value::as_str).for_each(|text| add_text(&mut self.verdict, text));
        outcome.dissent.iter().for_each(|dissent| add_strings(&mut self.verdict, dissent));
    }
}

/// Adds a text without control characters, since two of them mark a match.
fn add_text(to: &mut String, text: &str) {
    if !to.is_empty() {
        to.push('\n');
    }
    to.extend(text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }));
}

fn add_strings(to: &mut String, value: &Value) {
    match value {
        Value::String(text) => add_text(to, text),
        Value::Array(items) => items.iter().for_each(|item| add_strings(to, item)),
        Value::Object(fields) => fields.values().for_each(|field| add_strings(to, field)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
