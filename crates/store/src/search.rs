//! Full-text search over what was asked, said and decided in debates.
//!
//! A debate is indexed in the transaction that closes it, so a search finds a current index however many debates there
//! are. `search_backlog` lists the debates of which the index does not have everything: those that are not over, and those that
//! an older agon left. A search catches up with them first.

use std::borrow::Cow;

use agon_engine::StoreError;
use rusqlite::{Connection, ErrorCode, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
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

/// How much text is indexed in one transaction. Between two transactions, a running debate can commit.
const BATCH_BYTES: usize = 4 << 20;

/// How many debates that match are ranked. If more match, the newest are.
const RANKED_MAX: usize = 500;

impl SqliteStore {
    /// The debates whose question, replies or verdict have all the words, best first. If there are fewer than `limit`, those follow, the
    /// newest first, in which the last word is the beginning of a word. Case and accents do not matter.
    pub fn search_debates(&self, words: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        let Some(terms) = fts_query(words) else { return Ok(Vec::new()) };
        self.read(|db| {
            update_index(db)?;
            let mut statuses = StatusReader::new(self.path());
            let mut hits = Vec::new();
            for debate in ranked_debates(db, &terms, limit)? {
                hits.extend(read_hits(db, &terms, Some(debate), 1, &mut statuses)?);
            }
            // Finding the beginnings of words reads all that begin so, so it comes last and only where it is needed.
            if hits.len() < limit {
                let begun = read_hits(db, &format!("{terms}*"), None, limit, &mut statuses)?;
                let is_new = |hit: &SearchHit| hits.iter().all(|known| known.id != hit.id);
                let new: Vec<SearchHit> = begun.into_iter().filter(is_new).collect();
                hits.extend(new);
                hits.truncate(limit);
            }
            Ok(hits)
        })
    }
}

/// The rows of the debates that match, best first.
fn ranked_debates(db: &Connection, terms: &str, limit: usize) -> rusqlite::Result<Vec<i64>> {
    // A match in the question weighs more than one in the verdict, and that more than one in a reply.
    let sql = "SELECT rowid, bm25(search, 4.0, 2.0, 1.0) FROM search WHERE search MATCH ?1
               ORDER BY rowid DESC LIMIT ?2";
    let most = sql_limit(limit.max(RANKED_MAX));
    let mut found: Vec<(i64, f64)> =
        db.read_all(sql, params![terms, most], |row| Ok((row.get(0)?, row.get(1)?)))?;
    // The sort is stable, so of equal debates the newest stays first.
    found.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    Ok(found.into_iter().take(limit).map(|(debate, _)| debate).collect())
}

/// The debates that match, the newest first, or only the one in this row.
fn read_hits(
    db: &Connection,
    terms: &str,
    debate: Option<i64>,
    limit: usize,
    statuses: &mut StatusReader<'_>,
) -> rusqlite::Result<Vec<SearchHit>> {
    let row = if debate.is_some() { "AND rowid = ?3" } else { "AND ?3 IS NULL" };
    let sql = format!(
        "SELECT {LISTED_COLUMNS}, snippet FROM debates JOIN (
             SELECT rowid AS n, snippet(search, -1, char(2), char(3), '…', 20) AS snippet
             FROM search WHERE search MATCH ?1 {row} ORDER BY rowid DESC LIMIT ?2
         ) USING (n) ORDER BY n DESC"
    );
    db.read_all(&sql, params![terms, sql_limit(limit), debate], |row| {
        let ListedDebate { id, protocol, question, status, created_at, .. } = statuses.listed(row)?;
        Ok(SearchHit { id, protocol, question, status, created_at, snippet: row.get(7)? })
    })
}

/// The words as an FTS5 query, each quoted so that none is read as syntax. `None` if there are no words.
fn fts_query(words: &str) -> Option<String> {
    let quoted: Vec<String> = words
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect();
    (!quoted.is_empty()).then(|| quoted.join(" "))
}

fn update_index(db: &mut Connection) -> Result<(), StoreFault> {
    match index_backlog(db) {
        // An error is better than results that silently miss debates.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => Err(StoreFault::Failed(
            format!("its index is not up to date, and it can only be read: {GIVE_ACCESS}"),
        )),
        indexed => Ok(indexed?),
    }
}

/// Indexes what the index does not have yet.
fn index_backlog(db: &mut Connection) -> rusqlite::Result<()> {
    let sql = "SELECT b.debate FROM search_backlog AS b
               WHERE b.events < (SELECT coalesce(max(seq) + 1, 0) FROM events WHERE debate = b.debate)";
    let behind: Vec<i64> = db.read_all(sql, [], |row| row.get(0))?;
    let mut waiting = behind.into_iter().peekable();
    while waiting.peek().is_some() {
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut bytes = 0;
        while bytes < BATCH_BYTES
            && let Some(debate) = waiting.next()
        {
            bytes += index_debate(&transaction, debate)?;
        }
        transaction.commit()?;
    }
    Ok(())
}

/// Notes that a debate has begun.
pub(crate) fn add_to_backlog(db: &Connection, debate: i64) -> rusqlite::Result<()> {
    db.run("INSERT INTO search_backlog (debate, events) VALUES (?1, 0)", [debate])?;
    Ok(())
}

/// Indexes all of a debate: all its words are one document, whenever they were said. Returns how many bytes they have.
pub(crate) fn index_debate(db: &Connection, debate: i64) -> rusqlite::Result<usize> {
    let mut query = db.prepare_cached("SELECT body FROM events WHERE debate = ?1 ORDER BY seq")?;
    let mut rows = query.query([debate])?;
    let (mut text, mut events) = (SearchableText::default(), 0_i64);
    while let Some(row) = rows.next()? {
        // `agon verify` reports events that cannot be read. The rest can still be found.
        if let Ok(event) = serde_json::from_slice(row.get_ref(0)?.as_bytes()?) {
            text.add_event(event);
        }
        events += 1;
    }
    let SearchableText { question, verdict, replies, is_over } = &text;
    db.run(
        "INSERT OR REPLACE INTO search (rowid, question, verdict, replies) VALUES (?1, ?2, ?3, ?4)",
        params![debate, question, verdict, replies],
    )?;
    match is_over {
        true => db.run("DELETE FROM search_backlog WHERE debate = ?1", [debate])?,
        false => db.run("UPDATE search_backlog SET events = ?2 WHERE debate = ?1", [debate, events])?,
    };
    Ok(question.len() + verdict.len() + replies.len())
}

/// The text of a debate as the index stores it.
#[derive(Default)]
struct SearchableText {
    question: String,
    verdict: String,
    replies: String,
    is_over: bool,
}

/// The parts of a stored event that can be found. Reading only these takes a fraction of the time that reading all would.
#[derive(Deserialize)]
struct SearchableEvent<'a> {
    event: SearchableKind,
    brief: Option<SearchableBrief>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    value: Option<Value>,
    outcome: Option<SearchableOutcome>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum SearchableKind {
    Opened,
    Replied,
    Interjected,
    Closed,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct SearchableBrief {
    question: String,
    #[serde(default)]
    files: Vec<SearchableFile>,
}

#[derive(Deserialize)]
struct SearchableFile {
    path: String,
}

#[derive(Deserialize)]
struct SearchableOutcome {
    verdict: Value,
    #[serde(default)]
    dissent: Vec<Value>,
}

impl SearchableText {
    fn add_event(&mut self, said: SearchableEvent<'_>) {
        let SearchableEvent { event, brief, text, value, outcome } = said;
        match event {
            SearchableKind::Opened => {
                if let Some(brief) = brief {
                    add_text(&mut self.question, &brief.question);
                    brief.files.iter().for_each(|file| add_text(&mut self.question, &file.path));
                }
            }
            SearchableKind::Replied | SearchableKind::Interjected => match (value, text) {
                (Some(value), _) => add_strings(&mut self.replies, &value),
                (None, Some(text)) => add_text(&mut self.replies, &text),
                (None, None) => {}
            },
            SearchableKind::Closed => {
                self.is_over = true;
                outcome.iter().for_each(|outcome| self.add_outcome(outcome));
            }
            SearchableKind::Other => {}
        }
    }

    /// Adds only the verdict's top-level strings: what is nested in it repeats the replies.
    fn add_outcome(&mut self, outcome: &SearchableOutcome) {
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
