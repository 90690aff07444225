//! Full-text search over what was asked, said and decided in debates.
//!
//! A debate is indexed in the transaction that closes it, so a search finds a current index however many debates there
//! are. `search_backlog` lists the debates of which the index does not have everything: those that are not over, and those that
//! an older agon left. A search catches up with them first.

use std::borrow::Cow;

use agon_engine::StoreError;
use rusqlite::ErrorCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::debate_list::{ListedDebate, StatusReader};
use crate::sql::{SqlDatabase, SqlFault, SqlResult, TransactionKind, sql_values};
use crate::store_fault::{GIVE_ACCESS, StoreFault};
use crate::{DebateStore, postgres, sqlite};

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

/// The longest search, in bytes. Each word is looked up in the index, and one that is joined by signs counts as several.
const SEARCH_BYTES_MAX: usize = 200;

/// How many debates that match are ranked. If more match, the newest are.
const RANKED_MAX: usize = 500;

/// The words of a search as a database takes them.
pub(crate) struct WordQuery {
    /// All of them.
    pub(crate) whole: String,
    /// The same, and the last one is the beginning of a word.
    pub(crate) begun: String,
}

impl DebateStore {
    /// The debates whose question, replies or verdict have all the words, best first. If there are fewer than `limit`, those follow, the
    /// newest first, in which the last word is the beginning of a word. Case and accents do not matter.
    pub fn search_debates(&self, words: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        if words.len() > SEARCH_BYTES_MAX {
            let why =
                format!("a search has at most {SEARCH_BYTES_MAX} bytes, and this one has {}", words.len());
            return Err(StoreError::Refused(format!("{why}: search for fewer words")));
        }
        self.read(|db| {
            let Some(query) = word_query(db, words) else { return Ok(Vec::new()) };
            update_index(db)?;
            let mut statuses = StatusReader::new(db, self.place())?;
            let mut hits = Vec::new();
            for debate in ranked_debates(db, &query.whole, limit)? {
                hits.extend(read_hits(db, &query.whole, Some(debate), 1, &mut statuses)?);
            }
            // Finding the beginnings of words reads all that begin so, so it comes last and only where it is needed.
            if hits.len() < limit {
                let begun = read_hits(db, &query.begun, None, limit, &mut statuses)?;
                let is_new = |hit: &SearchHit| hits.iter().all(|known| known.id != hit.id);
                let new: Vec<SearchHit> = begun.into_iter().filter(is_new).collect();
                hits.extend(new);
                hits.truncate(limit);
            }
            Ok(hits)
        })
    }
}

/// The words as a query, none of which is read as syntax. `None` if there are no words.
fn word_query(db: &SqlDatabase, words: &str) -> Option<WordQuery> {
    let words = words
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| word.chars().any(char::is_alphanumeric));
    match db {
        SqlDatabase::Sqlite(_) => sqlite::word_query(words),
        SqlDatabase::Postgres(_) => postgres::word_query(words),
    }
}

/// The rows of the debates that match, best first.
fn ranked_debates(db: &SqlDatabase, terms: &str, limit: usize) -> SqlResult<Vec<i64>> {
    let most = limit.max(RANKED_MAX);
    let mut found = match db {
        SqlDatabase::Sqlite(_) => sqlite::ranked_debates(db, terms, most)?,
        SqlDatabase::Postgres(_) => postgres::ranked_debates(db, terms, most)?,
    };
    // The sort is stable, so of equal debates the newest stays first.
    found.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    Ok(found.into_iter().take(limit).map(|(debate, _)| debate).collect())
}

/// The debates that match, the newest first, or only the one in this row.
fn read_hits(
    db: &SqlDatabase,
    terms: &str,
    debate: Option<i64>,
    limit: usize,
    statuses: &mut StatusReader<'_>,
) -> SqlResult<Vec<SearchHit>> {
    match db {
        SqlDatabase::Sqlite(_) => sqlite::read_hits(db, terms, debate, limit, statuses),
        SqlDatabase::Postgres(_) => postgres::read_hits(db, terms, debate, limit, statuses),
    }
}

impl SearchHit {
    pub(crate) fn new(debate: ListedDebate, snippet: String) -> Self {
        let ListedDebate { id, protocol, question, status, created_at, .. } = debate;
        Self { id, protocol, question, status, created_at, snippet }
    }
}

fn update_index(db: &SqlDatabase) -> Result<(), StoreFault> {
    match index_backlog(db) {
        // An error is better than results that silently miss debates.
        Err(StoreFault::Sql(SqlFault::Sqlite(error)))
            if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) =>
        {
            Err(StoreFault::Failed(format!(
                "its index is not up to date, and it can only be read: {GIVE_ACCESS}"
            )))
        }
        indexed => indexed,
    }
}

/// Indexes what the index does not have yet.
fn index_backlog(db: &SqlDatabase) -> Result<(), StoreFault> {
    let sql = "SELECT b.debate FROM search_backlog AS b
               WHERE b.events < (SELECT coalesce(max(seq) + 1, 0) FROM events WHERE debate = b.debate)";
    let behind: Vec<i64> = db.read_all(sql, &[], |row| row.get(0))?;
    let mut waiting = behind.into_iter().peekable();
    while waiting.peek().is_some() {
        db.in_transaction(TransactionKind::Write, |db| {
            let mut bytes = 0;
            while bytes < BATCH_BYTES
                && let Some(debate) = waiting.next()
            {
                bytes += index_debate(db, debate)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Notes that a debate has begun.
pub(crate) fn add_to_backlog(db: &SqlDatabase, debate: i64) -> SqlResult<()> {
    db.run("INSERT INTO search_backlog (debate, events) VALUES (?1, 0)", sql_values![debate])?;
    Ok(())
}

/// Indexes all of a debate: all its words are one document, whenever they were said. Returns how many bytes they have.
pub(crate) fn index_debate(db: &SqlDatabase, debate: i64) -> SqlResult<usize> {
    let (mut text, mut events) = (SearchableText::default(), 0_i64);
    let sql = "SELECT body FROM events WHERE debate = ?1 ORDER BY seq";
    db.for_each(sql, sql_values![debate], |row| {
        // `agon verify` reports events that cannot be read. The rest can still be found.
        if let Ok(event) = serde_json::from_slice(row.bytes(0)?) {
            text.add_event(event);
        }
        events += 1;
        Ok(())
    })?;
    match db {
        SqlDatabase::Sqlite(_) => sqlite::index_debate(db, debate, &text)?,
        SqlDatabase::Postgres(_) => postgres::index_debate(db, debate, &text)?,
    }
    match text.is_over {
        true => db.run("DELETE FROM search_backlog WHERE debate = ?1", sql_values![debate])?,
        false => {
            let sql = "UPDATE search_backlog SET events = ?2 WHERE debate = ?1";
            db.run(sql, sql_values![debate, events])?
        }
    };
    Ok(text.question.len() + text.verdict.len() + text.replies.len())
}

/// Removes a debate from the index.
pub(crate) fn unindex_debate(db: &SqlDatabase, debate: i64) -> SqlResult<()> {
    match db {
        SqlDatabase::Sqlite(_) => db.run("DELETE FROM search WHERE rowid = ?1", sql_values![debate]),
        SqlDatabase::Postgres(_) => db.run("DELETE FROM search WHERE debate = ?1", sql_values![debate]),
    }
    .map(drop)
}

/// The text of a debate as the index stores it.
#[derive(Default)]
pub(crate) struct SearchableText {
    pub(crate) question: String,
    pub(crate) verdict: String,
    pub(crate) replies: String,
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
