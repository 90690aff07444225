//! The store of the tests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::{Event, LogRecord};
use agon_engine::{Store, StoreError};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// A store in memory that can be slow and can fail.
#[derive(Default)]
pub(crate) struct MemoryStore {
    logs: Mutex<BTreeMap<String, Vec<LogRecord>>>,
    leased: Mutex<BTreeSet<String>>,
    /// How many records each append had.
    pub(crate) appends: Mutex<Vec<usize>>,
    /// The append with this number, counted from 0, and all later ones fail.
    pub(crate) fail_at: Mutex<Option<usize>>,
    pub(crate) latency: Mutex<Duration>,
}

impl MemoryStore {
    pub(crate) fn log(&self) -> Vec<LogRecord> {
        self.log_of("d1")
    }

    pub(crate) fn log_of(&self, id: &str) -> Vec<LogRecord> {
        self.logs.lock().unwrap().get(id).cloned().unwrap_or_default()
    }

    pub(crate) fn is_leased(&self) -> bool {
        self.leased.lock().unwrap().contains("d1")
    }

    /// Does what a crash and a new process do: leases end, and the store works again.
    pub(crate) fn restart(&self) {
        self.leased.lock().unwrap().clear();
        *self.fail_at.lock().unwrap() = None;
    }

    /// A store that already contains this log.
    pub(crate) fn with(log: Vec<LogRecord>) -> Arc<Self> {
        let store = Self::default();
        store.logs.lock().unwrap().insert("d1".into(), log);
        Arc::new(store)
    }

    async fn write(&self, id: &str, records: Vec<LogRecord>) -> Result<(), StoreError> {
        let number = {
            let mut appends = self.appends.lock().unwrap();
            appends.push(records.len());
            appends.len() - 1
        };
        let latency = *self.latency.lock().unwrap();
        tokio::time::sleep(latency).await;
        if self.fail_at.lock().unwrap().is_some_and(|at| number >= at) {
            return Err(StoreError::Failed { file: "memory".into(), why: "the disk is full".into() });
        }
        let mut logs = self.logs.lock().unwrap();
        let log = logs.entry(id.to_owned()).or_default();
        let mut leased = self.leased.lock().unwrap();
        if records[0].entry.seq == 0 {
            leased.insert(id.to_owned());
        }
        assert!(leased.contains(id), "append without the lease");
        for record in records {
            assert_eq!(record.entry.seq, log.len() as u64, "records out of order");
            if matches!(record.entry.event, Event::Closed { .. }) {
                leased.remove(id);
            }
            log.push(record);
        }
        Ok(())
    }
}

impl Store for MemoryStore {
    fn append<'a>(&'a self, id: &'a str, records: Vec<LogRecord>) -> BoxFuture<'a, Result<(), StoreError>> {
        self.write(id, records).boxed()
    }

    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Vec<LogRecord>, StoreError>> {
        let log =
            self.logs.lock().unwrap().get(id).cloned().ok_or_else(|| StoreError::Unknown(id.to_owned()));
        async move { log }.boxed()
    }

    fn lease<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        let free = self.leased.lock().unwrap().insert(id.to_owned());
        async move { if free { Ok(()) } else { Err(StoreError::Leased(id.to_owned())) } }.boxed()
    }

    fn release<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        self.leased.lock().unwrap().remove(id);
        async { Ok(()) }.boxed()
    }
}
