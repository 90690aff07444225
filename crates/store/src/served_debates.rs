//! The debates that a server opened: which request opened each, and whether somebody stopped it on purpose.

use agon_engine::StoreError;

use crate::sql::{SqlRow, sql_values};
use crate::{DebateStore, StoreFuture};

/// A request that opened a debate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedRequest {
    /// The id of the debate.
    pub debate: String,
    /// The hash of the request's body.
    pub hash: String,
}

impl DebateStore {
    /// Remembers which request opens a debate. If a request with the same key opened one before, nothing changes and that request is
    /// returned. A key whose debate was never opened, because the process was killed, can be used again.
    pub fn serve_debate(
        &self,
        request: ServedRequest,
        key: Option<String>,
    ) -> StoreFuture<'_, Option<ServedRequest>> {
        self.write(move |db| {
            let earlier = "SELECT debate, request_hash FROM served_debates
                 WHERE request_key = ?1 AND debate IN (SELECT id FROM debates)";
            let read = |row: &SqlRow<'_>| Ok(ServedRequest { debate: row.get(0)?, hash: row.get(1)? });
            if let Some(earlier) = db.read_first(earlier, sql_values![&key], read)? {
                return Ok(Some(earlier));
            }
            let sql = "DELETE FROM served_debates WHERE debate = ?1 OR request_key = ?2";
            db.run(sql, sql_values![request.debate, key])?;
            let sql = "INSERT INTO served_debates (debate, request_key, request_hash) VALUES (?1, ?2, ?3)";
            db.run(sql, sql_values![request.debate, key, request.hash])?;
            Ok(None)
        })
    }

    /// The request with this key, if it opened a debate.
    pub fn served_request(&self, key: &str) -> Result<Option<ServedRequest>, StoreError> {
        self.read(|db| {
            let sql = "SELECT debate, request_hash FROM served_debates
                 WHERE request_key = ?1 AND debate IN (SELECT id FROM debates)";
            Ok(db.read_first(sql, sql_values![key], |row| {
                Ok(ServedRequest { debate: row.get(0)?, hash: row.get(1)? })
            })?)
        })
    }

    /// Says whether a debate was stopped on purpose, so that a restart must not continue it. A debate that no server opened is left alone.
    pub fn mark_stopped(&self, debate: &str, stopped: bool) -> StoreFuture<'_, ()> {
        let debate = debate.to_owned();
        self.write(move |db| {
            db.run("UPDATE served_debates SET stopped = ?2 WHERE debate = ?1", sql_values![debate, stopped])?;
            Ok(())
        })
    }

    /// The debates that a server opened and that are neither over nor stopped, oldest first.
    pub fn debates_to_continue(&self) -> Result<Vec<String>, StoreError> {
        self.read(|db| {
            let sql = "SELECT id FROM debates JOIN served_debates ON debate = id
                 WHERE status IS NULL AND stopped = 0 ORDER BY n";
            Ok(db.read_all(sql, &[], |row| row.get(0))?)
        })
    }
}
