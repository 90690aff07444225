//! The debates that a server opened: which request opened each, and whether somebody stopped it on purpose.

use agon_core::LogRecord;
use agon_engine::StoreError;
use rusqlite::params;

use crate::sql::CachedSql;
use crate::{SqliteStore, StoreFuture, log_table};

/// A request that opened a debate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedRequest {
    /// The id of the debate.
    pub debate: String,
    /// The hash of the request's body.
    pub hash: String,
}

impl SqliteStore {
    /// Opens a debate with its first records, and remembers which request opened it. If a request with the same key opened one before,
    /// nothing changes and that request is returned: of two that come at once, one opens a debate.
    pub fn serve_debate(
        &self,
        request: ServedRequest,
        key: Option<String>,
        records: Vec<LogRecord>,
    ) -> StoreFuture<'_, Option<ServedRequest>> {
        self.write_leased(move |db, holder| {
            let earlier = "SELECT debate, request_hash FROM served_debates
                 WHERE request_key = ?1 AND debate IN (SELECT id FROM debates)";
            let read = |row: &rusqlite::Row<'_>| Ok(ServedRequest { debate: row.get(0)?, hash: row.get(1)? });
            if let Some(earlier) = db.read_first(earlier, [&key], read)? {
                return Ok(Some(earlier));
            }
            let sql = "INSERT OR REPLACE INTO served_debates (debate, request_key, request_hash) VALUES (?1, ?2, ?3)";
            db.run(sql, params![request.debate, key, request.hash])?;
            log_table::append(db, holder, &request.debate, &records)?;
            Ok(None)
        })
    }

    /// The request with this key, if it opened a debate.
    pub fn served_request(&self, key: &str) -> Result<Option<ServedRequest>, StoreError> {
        self.read(|db| {
            let sql = "SELECT debate, request_hash FROM served_debates
                 WHERE request_key = ?1 AND debate IN (SELECT id FROM debates)";
            Ok(db
                .read_first(sql, [key], |row| Ok(ServedRequest { debate: row.get(0)?, hash: row.get(1)? }))?)
        })
    }

    /// Says whether a debate was stopped on purpose, so that a restart must not continue it. A debate that no server opened is left alone.
    pub fn mark_stopped(&self, debate: &str, stopped: bool) -> StoreFuture<'_, ()> {
        let debate = debate.to_owned();
        self.write(move |db| {
            db.run("UPDATE served_debates SET stopped = ?2 WHERE debate = ?1", params![debate, stopped])?;
            Ok(())
        })
    }

    /// The debates that a server opened and that are neither over nor stopped, oldest first.
    pub fn debates_to_continue(&self) -> Result<Vec<String>, StoreError> {
        self.read(|db| {
            let sql = "SELECT id FROM debates JOIN served_debates ON debate = id
                 WHERE status IS NULL AND stopped = 0 ORDER BY n";
            Ok(db.read_all(sql, [], |row| row.get(0))?)
        })
    }
}
