//! The list of debates, and finding one by the beginning of its id.

use agon_engine::StoreError;
use serde::Serialize;

use crate::DebateStore;
use crate::log_table::raw_log;
use crate::sql::{SqlDatabase, SqlResult, SqlRow, TransactionKind, sql_limit, sql_values};
use crate::store_fault::{StoreFault, unknown_debate};
use crate::store_place::{LivingOwners, StorePlace};

/// A debate as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedDebate {
    pub id: String,
    pub protocol: String,
    /// The question, topic or task.
    pub question: String,
    /// `complete`, `incomplete` or `failed` once it is over. Before that, `running` while a living process runs it, and
    /// `interrupted` otherwise.
    pub status: String,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// For a branch, the id of the debate that it came from.
    pub parent: Option<String>,
}

/// How far a debate is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DebateProgress {
    /// It is not over, and nobody has it.
    Unowned,
    /// It is not over, and a process has it, alive or not.
    Owned,
    /// `complete`, `incomplete` or `failed`.
    Over(String),
}

impl DebateStore {
    /// The debates, newest first.
    pub fn list_debates(&self, limit: Option<usize>) -> Result<Vec<ListedDebate>, StoreError> {
        self.read(|db| list(db, self.place(), limit))
    }

    /// How many debates there are.
    pub fn debate_count(&self) -> Result<u64, StoreError> {
        let count: Option<i64> =
            self.read(|db| Ok(db.read_first("SELECT count(*) FROM debates", &[], |row| row.get(0))?))?;
        Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or_default())
    }

    /// The debates whose ids begin with `prefix`, newest first. It takes the same time however many debates there are.
    pub fn debates_with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<ListedDebate>, StoreError> {
        if prefix.is_empty() {
            return self.list_debates(Some(limit));
        }
        self.read(|db| {
            let mut statuses = StatusReader::new(db, self.place())?;
            // Ids sort by time.
            let sql = format!(
                "SELECT {LISTED_COLUMNS} FROM debates WHERE id >= ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3"
            );
            let (end, limit) = (end_of_prefix(prefix), sql_limit(limit));
            Ok(db.read_all(&sql, sql_values![prefix, end, limit], |row| statuses.listed(row))?)
        })
    }

    /// A debate as a list shows it.
    pub fn listed_debate(&self, id: &str) -> Result<ListedDebate, StoreError> {
        self.read(|db| {
            let sql = format!("SELECT {LISTED_COLUMNS} FROM debates WHERE id = ?1");
            let mut statuses = StatusReader::new(db, self.place())?;
            let debate = db.read_first(&sql, sql_values![id], |row| statuses.listed(row))?;
            debate.ok_or_else(|| unknown_debate(id))
        })
    }

    /// One page of the debates that `wanted` accepts, newest first. `before` is where the page before ended. Returns where this one
    /// ended, if there may be more.
    pub fn page_of_debates(
        &self,
        before: Option<i64>,
        limit: usize,
        mut wanted: impl FnMut(&ListedDebate) -> bool + Send,
    ) -> Result<(Vec<ListedDebate>, Option<i64>), StoreError> {
        self.read(|db| {
            let sql =
                format!("SELECT {LISTED_COLUMNS}, n FROM debates WHERE n < ?1 ORDER BY n DESC LIMIT ?2");
            let mut statuses = StatusReader::new(db, self.place())?;
            let (mut page, mut last) = (Vec::new(), None);
            let mut from = before.unwrap_or(i64::MAX);
            loop {
                // Few are wanted of many at times, so they are read in parts.
                let values = sql_values![from, READ_AT_ONCE];
                let part = db.read_all(&sql, values, |row| Ok((row.get(7)?, statuses.listed(row)?)))?;
                let Some((lowest, _)) = part.last() else { return Ok((page, None)) };
                from = *lowest;
                for (n, debate) in part {
                    if page.len() == limit {
                        return Ok((page, last));
                    }
                    if wanted(&debate) {
                        last = Some(n);
                        page.push(debate);
                    }
                }
            }
        })
    }

    /// The full id of the debate whose id begins with `prefix`, or of the newest debate for `last`.
    pub fn find_debate(&self, prefix: &str) -> Result<String, StoreError> {
        self.read(|db| find(db, prefix))
    }

    /// Whether a living process runs this debate.
    pub fn is_running(&self, id: &str) -> Result<bool, StoreError> {
        self.read(|db| {
            let sql = "SELECT CAST(owner AS TEXT) FROM debates WHERE id = ?1 AND status IS NULL";
            let owner: Option<Option<String>> = db.read_first(sql, sql_values![id], |row| row.get(0))?;
            let Some(owner) = owner.flatten() else { return Ok(false) };
            Ok(LivingOwners::read(db, self.place())?.has(owner))
        })
    }

    /// How far these debates are, as far as they exist. One query, however many they are.
    pub fn progress_of(&self, ids: &[String]) -> Result<Vec<(String, DebateProgress)>, StoreError> {
        let ids = serde_json::Value::from(ids).to_string();
        self.read(|db| {
            let sql = match db {
                SqlDatabase::Sqlite(_) => {
                    "SELECT id, status, owner IS NOT NULL FROM debates WHERE id IN (SELECT value FROM json_each(?1))"
                }
                SqlDatabase::Postgres(_) => {
                    "SELECT id, status, owner IS NOT NULL FROM debates
                     WHERE id IN (SELECT json_array_elements_text(?1::text::json))"
                }
            };
            Ok(db.read_all(sql, sql_values![ids], |row| {
                let progress = match (row.get(1)?, row.get(2)?) {
                    (Some(status), _) => DebateProgress::Over(status),
                    (None, true) => DebateProgress::Owned,
                    (None, false) => DebateProgress::Unowned,
                };
                Ok((row.get(0)?, progress))
            })?)
        })
    }

    /// A debate and its [`raw_log`](Self::raw_log). Both are read in one transaction, so a debate that closes meanwhile
    /// is seen either before or after.
    pub fn debate_with_raw_log(&self, id: &str) -> Result<(ListedDebate, Vec<(String, String)>), StoreError> {
        self.read(|db| {
            db.in_transaction(TransactionKind::Snapshot, |db| {
                let sql = format!("SELECT {LISTED_COLUMNS} FROM debates WHERE id = ?1");
                let mut statuses = StatusReader::new(db, self.place())?;
                let debate = db.read_first(&sql, sql_values![id], |row| statuses.listed(row))?;
                let debate = debate.ok_or_else(|| unknown_debate(id))?;
                Ok((debate, raw_log(db, id)?))
            })
        })
    }
}

/// The columns of `debates` that [`StatusReader::listed`] reads, in its order.
pub(crate) const LISTED_COLUMNS: &str =
    "id, protocol, question, created_at, parent, status, CAST(owner AS TEXT)";

/// How many debates are read at once while a page is filled.
const READ_AT_ONCE: i64 = 200;

/// Reads debates with their status.
pub(crate) struct StatusReader<'a> {
    living: LivingOwners<'a>,
}

impl<'a> StatusReader<'a> {
    pub(crate) fn new(db: &SqlDatabase, place: &'a StorePlace) -> SqlResult<Self> {
        Ok(Self { living: LivingOwners::read(db, place)? })
    }

    /// Reads the columns [`LISTED_COLUMNS`].
    pub(crate) fn listed(&mut self, row: &SqlRow<'_>) -> SqlResult<ListedDebate> {
        let owner: Option<String> = row.get(6)?;
        let status = match row.get(5)? {
            Some(status) => status,
            None if owner.is_some_and(|name| self.living.has(name)) => "running".to_owned(),
            None => "interrupted".to_owned(),
        };
        let (id, protocol, question) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(ListedDebate { id, protocol, question, status, created_at: row.get(3)?, parent: row.get(4)? })
    }
}

pub(crate) fn list(
    db: &SqlDatabase,
    place: &StorePlace,
    limit: Option<usize>,
) -> Result<Vec<ListedDebate>, StoreFault> {
    let limit = limit.map_or(i64::MAX, sql_limit);
    let mut statuses = StatusReader::new(db, place)?;
    let sql = format!("SELECT {LISTED_COLUMNS} FROM debates ORDER BY n DESC LIMIT ?1");
    Ok(db.read_all(&sql, sql_values![limit], |row| statuses.listed(row))?)
}

/// What is behind all ids that begin with `prefix`.
fn end_of_prefix(prefix: &str) -> String {
    format!("{prefix}\u{10ffff}")
}

fn find(db: &SqlDatabase, prefix: &str) -> Result<String, StoreFault> {
    if prefix.is_empty() {
        return Err(unknown_debate(prefix));
    }
    if prefix == "last" {
        let newest =
            db.read_first("SELECT id FROM debates ORDER BY n DESC LIMIT 1", &[], |row| row.get(0))?;
        return newest.ok_or_else(|| unknown_debate(prefix));
    }
    // A range of the index, so that the time does not depend on how many debates there are.
    let sql = "SELECT id FROM debates WHERE id >= ?1 AND id < ?2 ORDER BY length(id), id LIMIT 2";
    let end = end_of_prefix(prefix);
    let ids: Vec<String> = db.read_all(sql, sql_values![prefix, end], |row| row.get(0))?;
    let ambiguous = ids.len() > 1;
    match ids.into_iter().next() {
        None => Err(unknown_debate(prefix)),
        Some(id) if ambiguous && id != prefix => Err(StoreError::Ambiguous(prefix.to_owned()).into()),
        Some(id) => Ok(id),
    }
}
