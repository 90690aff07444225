//! Connections for reading, opened when they are needed and kept.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{PostgresServer, is_lost};
use crate::sql::{SqlDatabase, SqlFault};
use crate::store_fault::StoreFault;

/// The most connections for reading that a process opens.
const CONNECTIONS_MAX: usize = 8;

/// Readers wait for a connection if all are in use, and for a server that restarts.
#[derive(Debug)]
pub(crate) struct ReaderPool {
    server: PostgresServer,
    state: Mutex<PoolState>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct PoolState {
    idle: Vec<SqlDatabase>,
    in_use: usize,
}

impl ReaderPool {
    pub(crate) fn new(server: PostgresServer) -> Self {
        Self { server, state: Mutex::default(), returned: Condvar::new() }
    }

    /// Reads, and reads again if the connection is lost.
    pub(crate) fn read<T>(
        &self,
        mut query: impl FnMut(&SqlDatabase) -> Result<T, StoreFault>,
    ) -> Result<T, StoreFault> {
        let mut patience = ReconnectPatience::new();
        let mut db = self.take();
        let found = loop {
            let connected = match db.take() {
                Some(db) => Ok(db),
                None => self.server.connect().map(SqlDatabase::Postgres),
            };
            let found = match connected {
                Ok(connected) => {
                    let found = query(&connected);
                    db = Some(connected);
                    found
                }
                Err(error) => Err(error.into()),
            };
            match found {
                Err(fault) if connection_is_lost(&fault) && patience.wait() => {
                    // The others were opened before this one, so they are lost, too.
                    db = None;
                    let stale = std::mem::take(&mut self.lock().idle);
                    drop(stale);
                }
                found => break found,
            }
        };
        self.give_back(db);
        found
    }

    fn take(&self) -> Option<SqlDatabase> {
        let full = |state: &mut PoolState| state.in_use >= CONNECTIONS_MAX;
        let waited = self.returned.wait_while(self.lock(), full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.in_use += 1;
        state.idle.pop()
    }

    fn give_back(&self, db: Option<SqlDatabase>) {
        let mut state = self.lock();
        state.in_use = state.in_use.saturating_sub(1);
        state.idle.extend(db);
        self.returned.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ReaderPool {
    fn drop(&mut self) {
        let idle = std::mem::take(&mut self.lock().idle);
        if !idle.is_empty() {
            // A connection must not be closed where a runtime runs futures.
            let _ = thread::spawn(move || drop(idle)).join();
        }
    }
}

pub(crate) fn connection_is_lost(fault: &StoreFault) -> bool {
    matches!(fault, StoreFault::Sql(SqlFault::Postgres(error)) if is_lost(error))
}

/// How long to wait for a server that restarts.
pub(crate) struct ReconnectPatience {
    since: Instant,
    next: Duration,
}

const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

impl ReconnectPatience {
    pub(crate) fn new() -> Self {
        Self { since: Instant::now(), next: FIRST_WAIT }
    }

    /// Waits before the next attempt, longer every time. `false` if it has been enough.
    pub(crate) fn wait(&mut self) -> bool {
        if self.since.elapsed() >= GIVE_UP_AFTER {
            return false;
        }
        thread::sleep(self.next);
        self.next = (2 * self.next).min(LONGEST_WAIT);
        true
    }
}
