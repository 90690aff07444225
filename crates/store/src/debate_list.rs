//! The list of debates, and finding one by the beginning of its id.

use std::collections::HashMap;

use agon_engine::StoreError;
use rusqlite::{Connection, Row};
use serde::Serialize;

use crate::SqliteStore;
use crate::leases::is_alive;
use crate::log_table::raw_log;
use crate::sql::{CachedSql, sql_limit};
use crate::store_fault::{StoreFault, unknown_debate};
use crate::store_path::StorePath;

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

impl SqliteStore {
    /// The debates, newest first.
    pub fn list_debates(&self, limit: Option<usize>) -> Result<Vec<ListedDebate>, StoreError> {
        self.read(|db| list(db, self.path(), limit))
    }

    /// A debate as a list shows it.
    pub fn listed_debate(&self, id: &str) -> Result<ListedDebate, StoreError> {
        self.read(|db| {
            let sql = format!("SELECT {LISTED_COLUMNS} FROM debates WHERE id = ?1");
            let debate = db.read_first(&sql, [id], |row| StatusReader::new(self.path()).listed(row))?;
            debate.ok_or_else(|| unknown_debate(id))
        })
    }

    /// One page of the debates that `wanted` accepts, newest first. `before` is where the page before ended. Returns where this one
    /// ended, if there may be more.
    pub fn page_of_debates(
        &self,
        before: Option<i64>,
        limit: usize,
        mut wanted: impl FnMut(&ListedDebate) -> bool,
    ) -> Result<(Vec<ListedDebate>, Option<i64>), StoreError> {
        self.read(|db| {
            let sql = format!("SELECT {LISTED_COLUMNS}, n FROM debates WHERE n < ?1 ORDER BY n DESC");
            let mut statement = db.prepare_cached(&sql)?;
            let mut rows = statement.query([before.unwrap_or(i64::MAX)])?;
            let mut statuses = StatusReader::new(self.path());
            let (mut page, mut last) = (Vec::new(), None);
            while let Some(row) = rows.next()? {
                if page.len() == limit {
                    return Ok((page, last));
                }
                let debate = statuses.listed(row)?;
                if wanted(&debate) {
                    last = Some(row.get(7)?);
                    page.push(debate);
                }
            }
            Ok((page, None))
        })
    }

    /// The full id of the debate whose id begins with `prefix`, or of the newest debate for `last`.
    pub fn find_debate(&self, prefix: &str) -> Result<String, StoreError> {
        self.read(|db| find(db, prefix))
    }

    /// Whether a living process runs this debate.
    pub fn is_running(&self, id: &str) -> Result<bool, StoreError> {
        self.read(|db| {
            let sql = "SELECT owner FROM debates WHERE id = ?1 AND status IS NULL";
            let owner: Option<Option<String>> = db.read_first(sql, [id], |row| row.get(0))?;
            Ok(owner.flatten().is_some_and(|owner| is_alive(&self.path().locks, &owner)))
        })
    }

    /// A debate and its [`raw_log`](Self::raw_log). Both are read in one transaction, so a debate that closes meanwhile
    /// is seen either before or after.
    pub fn debate_with_raw_log(&self, id: &str) -> Result<(ListedDebate, Vec<(String, String)>), StoreError> {
        self.read(|db| {
            let snapshot = db.transaction()?;
            let sql = format!("SELECT {LISTED_COLUMNS} FROM debates WHERE id = ?1");
            let debate = snapshot.read_first(&sql, [id], |row| StatusReader::new(self.path()).listed(row))?;
            let debate = debate.ok_or_else(|| unknown_debate(id))?;
            Ok((debate, raw_log(&snapshot, id)?))
        })
    }
}

/// The columns of `debates` that [`StatusReader::listed`] reads, in its order.
pub(crate) const LISTED_COLUMNS: &str = "id, protocol, question, created_at, parent, status, owner";

/// Reads debates with their status. It checks each lock file once.
pub(crate) struct StatusReader<'a> {
    path: &'a StorePath,
    alive: HashMap<String, bool>,
}

impl<'a> StatusReader<'a> {
    pub(crate) fn new(path: &'a StorePath) -> Self {
        Self { path, alive: HashMap::new() }
    }

    /// Reads the columns [`LISTED_COLUMNS`].
    pub(crate) fn listed(&mut self, row: &Row<'_>) -> rusqlite::Result<ListedDebate> {
        let owner: Option<String> = row.get(6)?;
        let status = match row.get(5)? {
            Some(status) => status,
            None if owner.is_some_and(|name| self.is_alive(name)) => "running".to_owned(),
            None => "interrupted".to_owned(),
        };
        let (id, protocol, question) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(ListedDebate { id, protocol, question, status, created_at: row.get(3)?, parent: row.get(4)? })
    }

    fn is_alive(&mut self, owner: String) -> bool {
        let folder = &self.path.locks;
        *self.alive.entry(owner).or_insert_with_key(|name| is_alive(folder, name))
    }
}

pub(crate) fn list(
    db: &Connection,
    path: &StorePath,
    limit: Option<usize>,
) -> Result<Vec<ListedDebate>, StoreFault> {
    // To SQLite, a negative limit means no limit.
    let limit = limit.map_or(-1, sql_limit);
    let mut statuses = StatusReader::new(path);
    let sql = format!("SELECT {LISTED_COLUMNS} FROM debates ORDER BY n DESC LIMIT ?1");
    Ok(db.read_all(&sql, [limit], |row| statuses.listed(row))?)
}

fn find(db: &Connection, prefix: &str) -> Result<String, StoreFault> {
    if prefix.is_empty() {
        return Err(unknown_debate(prefix));
    }
    if prefix == "last" {
        let newest = db.read_first("SELECT id FROM debates ORDER BY n DESC LIMIT 1", [], |row| row.get(0))?;
        return newest.ok_or_else(|| unknown_debate(prefix));
    }
    // A range of the index, so that the time does not depend on how many debates there are.
    let sql =
        "SELECT id FROM debates WHERE id >= ?1 AND id < ?1 || char(0x10FFFF) ORDER BY length(id), id LIMIT 2";
    let ids: Vec<String> = db.read_all(sql, [prefix], |row| row.get(0))?;
    let ambiguous = ids.len() > 1;
    match ids.into_iter().next() {
        None => Err(unknown_debate(prefix)),
        Some(id) if ambiguous && id != prefix => Err(StoreError::Ambiguous(prefix.to_owned()).into()),
        Some(id) => Ok(id),
    }
}
