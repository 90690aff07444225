//! The store of a simulated process: SQLite on a disk that can be slow or full, or PostgreSQL on a server that ends connections, in a
//! process that can die.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::LogRecord;
use agon_engine::{Store, StoreError};
use agon_mock::PostgresInstance;
use agon_store::{DebateStore, StoreAddress, StoreFuture};
use postgres::{Client, NoTls};
use tokio::sync::Notify;

/// What the database has committed, as the simulation knows it. It survives every process.
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

/// Where the stores of the processes are.
#[derive(Debug, Clone)]
pub(crate) enum SimulatedPlace {
    /// A SQLite file in this folder.
    Folder(PathBuf),
    /// A schema on a server, with its address.
    Server(&'static PostgresInstance, String),
}

impl SimulatedPlace {
    pub(crate) fn open(&self) -> DebateStore {
        match self {
            Self::Folder(folder) => DebateStore::open(&folder.join("agon.db")).unwrap(),
            Self::Server(_, address) => {
                DebateStore::open(StoreAddress::parse(address.as_ref()).unwrap()).unwrap()
            }
        }
    }

    /// A new schema on the server.
    pub(crate) fn on_server(server: &'static PostgresInstance, schema: &str) -> Self {
        let address = format!("{}?options=-csearch_path%3D{schema}", server.address("postgres"));
        plain(&address).batch_execute(&format!("CREATE SCHEMA {schema}")).unwrap();
        Self::Server(server, address)
    }

    /// What a process leaves behind that is killed now. A server notices by itself that a process is gone.
    pub(crate) fn after_death(&self, next_folder: &Path) -> Self {
        match self {
            Self::Folder(folder) => {
                copy_files_of_dead_process(folder, next_folder);
                Self::Folder(next_folder.to_owned())
            }
            server => server.clone(),
        }
    }

    /// Ends the connections of every writer before some appends, and lets the server crash before a few.
    fn disturb(&self, number: usize) {
        let Self::Server(server, address) = self else { return };
        match number % 16 {
            7 => server.crash_and_restart().unwrap(),
            3 | 11 => {
                let end = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()";
                plain(address).batch_execute(end).unwrap();
            }
            _ => {}
        }
    }
}

fn plain(address: &str) -> Client {
    Client::connect(address, NoTls).unwrap()
}

/// The store of one process.
pub(crate) struct ProcessStore {
    store: DebateStore,
    place: SimulatedPlace,
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
        place: &SimulatedPlace,
        durable: DurableLog,
        latency: (Duration, Duration),
        fault: Option<(usize, AppendFault)>,
    ) -> Self {
        let (store, place) = (place.open(), place.clone());
        Self { store, place, durable, latency, fault, appends: AtomicUsize::new(0), death: Notify::new() }
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
        let (store, place) = (self.store.clone(), self.place.clone());
        let (owned_id, written) = (id.to_owned(), records.clone());
        let append = async move {
            tokio::task::spawn_blocking(move || place.disturb(number)).await.unwrap();
            store.append(&owned_id, written).await
        };
        off_the_clock(move || append).await?;
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
        self.store.load(id)
    }

    fn lease<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        let (store, id) = (self.store.clone(), id.to_owned());
        Box::pin(off_the_clock(move || async move { store.lease(&id).await }))
    }

    fn release<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        let (store, id) = (self.store.clone(), id.to_owned());
        Box::pin(off_the_clock(move || async move { store.release(&id).await }))
    }
}

/// Waits for the database on a thread for blocking work. The paused clock stands still meanwhile, so that the time that the real disk
/// takes changes nothing.
async fn off_the_clock<F: Future<Output = Result<(), StoreError>>>(
    work: impl FnOnce() -> F + Send + 'static,
) -> Result<(), StoreError> {
    let runtime = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || runtime.block_on(work())).await.unwrap()
}

/// The files of a process as they are, without the lock that ends with it.
fn copy_files_of_dead_process(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let name = entry.file_name();
        if entry.file_type().unwrap().is_file() && !name.to_string_lossy().ends_with("-shm") {
            fs::copy(entry.path(), to.join(name)).unwrap();
        }
    }
}
