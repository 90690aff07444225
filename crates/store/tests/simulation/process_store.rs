//! The store of a simulated process: SQLite on a disk that can be slow or full, in a process that can die.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::LogRecord;
use agon_engine::{Store, StoreError};
use agon_store::{DebateStore, StoreFuture};
use tokio::sync::Notify;

/// What SQLite has committed, as the simulation knows it. It survives every process.
pub(crate) type DurableLog = Arc<Mutex<Vec<LogRecord>>>;

/// What happens at an append.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum AppendFault {
    /// It fails, and so do all later ones.
    DiskFull,
    /// The process dies before the commit.
    DeathBefore,
    /// The process dies after the commit, before anybody hears of it.
    DeathAfter,
}

/// The store of one process.
pub(crate) struct ProcessStore {
    sqlite: DebateStore,
    pub(crate) durable: DurableLog,
    /// How long an append takes before and after its commit.
    pub(crate) latency: (Duration, Duration),
    /// The append at which something happens, counted from 0.
    pub(crate) fault: Option<(usize, AppendFault)>,
    appends: AtomicUsize,
    /// Notified when the process dies.
    pub(crate) death: Notify,
}

impl ProcessStore {
    pub(crate) fn open(
        folder: &Path,
        durable: DurableLog,
        latency: (Duration, Duration),
        fault: Option<(usize, AppendFault)>,
    ) -> Self {
        let sqlite = DebateStore::open(&store_file(folder)).unwrap();
        Self { sqlite, durable, latency, fault, appends: AtomicUsize::new(0), death: Notify::new() }
    }

    async fn write(&self, id: &str, records: Vec<LogRecord>) -> Result<(), StoreError> {
        let number = self.appends.fetch_add(1, Ordering::Relaxed);
        let fault = self.fault.filter(|(at, fault)| match fault {
            AppendFault::DiskFull => number >= *at,
            _ => number == *at,
        });
        let fault = fault.map(|(_, fault)| fault);
        tokio::time::sleep(self.latency.0).await;
        if fault == Some(AppendFault::DiskFull) {
            return Err(StoreError::Failed { file: "agon.db".into(), why: "the disk is full".into() });
        }
        if fault == Some(AppendFault::DeathBefore) {
            self.die().await;
        }
        let (sqlite, owned_id, written) = (self.sqlite.clone(), id.to_owned(), records.clone());
        off_the_clock(move || async move { sqlite.append(&owned_id, written).await }).await?;
        self.durable.lock().unwrap().extend(records);
        if fault == Some(AppendFault::DeathAfter) {
            self.die().await;
        }
        tokio::time::sleep(self.latency.1).await;
        Ok(())
    }

    async fn die(&self) {
        self.death.notify_one();
        std::future::pending::<()>().await;
    }
}

impl Store for ProcessStore {
    fn append<'a>(&'a self, id: &'a str, records: Vec<LogRecord>) -> StoreFuture<'a, ()> {
        Box::pin(self.write(id, records))
    }

    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Vec<LogRecord>> {
        self.sqlite.load(id)
    }

    fn lease<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        let (sqlite, id) = (self.sqlite.clone(), id.to_owned());
        Box::pin(off_the_clock(move || async move { sqlite.lease(&id).await }))
    }

    fn release<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        let (sqlite, id) = (self.sqlite.clone(), id.to_owned());
        Box::pin(off_the_clock(move || async move { sqlite.release(&id).await }))
    }
}

/// Waits for SQLite on a thread for blocking work. The paused clock stands still meanwhile, so that the time that the real disk
/// takes changes nothing.
async fn off_the_clock<F: Future<Output = Result<(), StoreError>>>(
    work: impl FnOnce() -> F + Send + 'static,
) -> Result<(), StoreError> {
    let runtime = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || runtime.block_on(work())).await.unwrap()
}

pub(crate) fn store_file(folder: &Path) -> PathBuf {
    folder.join("agon.db")
}

/// What a process leaves behind that is killed now: its files as they are, without the lock that ends with it.
pub(crate) fn copy_files_of_dead_process(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let name = entry.file_name();
        if entry.file_type().unwrap().is_file() && !name.to_string_lossy().ends_with("-shm") {
            fs::copy(entry.path(), to.join(name)).unwrap();
        }
    }
}
