//! Where the logs of simulated debates are kept: in memory, until they are read.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agon_core::Record;
use agon_engine::{Store, StoreError};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// Logs by debate.
#[derive(Default)]
pub(crate) struct Shelf {
    logs: Mutex<BTreeMap<String, Vec<Record>>>,
}

impl Shelf {
    /// Takes the log of a debate down.
    pub(crate) fn take(&self, id: &str) -> Vec<Record> {
        self.logs().remove(id).unwrap_or_default()
    }

    fn logs(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Record>>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Shelf {
    fn append<'a>(&'a self, id: &'a str, records: Vec<Record>) -> BoxFuture<'a, Result<(), StoreError>> {
        self.logs().entry(id.to_owned()).or_default().extend(records);
        async { Ok(()) }.boxed()
    }

    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Vec<Record>, StoreError>> {
        let log = self.logs().get(id).cloned().ok_or_else(|| StoreError::Unknown(id.to_owned()));
        async move { log }.boxed()
    }

    fn lease<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        async { Ok(()) }.boxed()
    }

    fn release<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        async { Ok(()) }.boxed()
    }
}
