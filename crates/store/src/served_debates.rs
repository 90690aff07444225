//! The debates that a server opened: which request opened each, and whether somebody stopped it on purpose.

use agon_core::LogRecord;
use agon_engine::StoreError;
use tokio::sync::oneshot;

use crate::sql::{SqlDatabase, sql_values};
use crate::store_fault::StoreFault;
use crate::{DebateStore, StoreFuture};

/// A request that opened a debate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedRequest {
    /// The id of the debate.
    pub debate: String,
    /// The hash of the request's body.
    pub hash: String,
}

/// A debate that a request opens. Of two requests with the same key that come at once, one opens a debate.
pub(crate) struct ServedOpening {
    request: ServedRequest,
    key: Option<String>,
    pub(crate) records: Vec<LogRecord>,
    /// The request that opened a debate before.
    earlier: Option<ServedRequest>,
    done: oneshot::Sender<Result<Option<ServedRequest>, StoreError>>,
}

impl ServedOpening {
    /// The id of the debate.
    pub(crate) fn id(&self) -> &str {
        &self.request.debate
    }

    /// Remembers the request. Returns whether its debate is to be opened: not if a request with the same key opened one before.
    pub(crate) fn claim(&mut self, db: &SqlDatabase) -> Result<bool, StoreFault> {
        self.earlier = find_request(db, self.key.as_deref())?;
        if self.earlier.is_some() {
            return Ok(false);
        }
        let Self { request, key, .. } = &*self;
        let sql = "DELETE FROM served_debates WHERE debate = ?1 OR request_key = ?2";
        db.run(sql, sql_values![request.debate, key])?;
        let sql = "INSERT INTO served_debates (debate, request_key, request_hash) VALUES (?1, ?2, ?3)";
        db.run(sql, sql_values![request.debate, key, request.hash])?;
        Ok(true)
    }

    pub(crate) fn answer(self, committed: Result<(), StoreError>) {
        // Sending fails if the caller no longer waits.
        let _ = self.done.send(committed.map(|()| self.earlier));
    }
}

fn find_request(db: &SqlDatabase, key: Option<&str>) -> Result<Option<ServedRequest>, StoreFault> {
    let sql = "SELECT debate, request_hash FROM served_debates
         WHERE request_key = ?1 AND debate IN (SELECT id FROM debates)";
    Ok(db.read_first(sql, sql_values![key], |row| {
        Ok(ServedRequest { debate: row.get(0)?, hash: row.get(1)? })
    })?)
}

impl DebateStore {
    /// Opens a debate with its first records, and remembers which request opened it. If a request with the same key opened one before,
    /// nothing changes and that request is returned: of two that come at once, one opens a debate.
    pub fn serve_debate(
        &self,
        request: ServedRequest,
        key: Option<String>,
        records: Vec<LogRecord>,
    ) -> StoreFuture<'_, Option<ServedRequest>> {
        let (done, answer) = oneshot::channel();
        let opening = ServedOpening { request, key, records, earlier: None, done };
        self.queue_opening(opening, answer)
    }

    /// The request with this key, if it opened a debate.
    pub fn served_request(&self, key: &str) -> Result<Option<ServedRequest>, StoreError> {
        self.read(|db| find_request(db, Some(key)))
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
