//! The store: opening it, reading it, and queuing writes.

use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use agon_core::event::open_all;
use agon_core::{Event, LogRecord};
use agon_engine::{Store, StoreError};
use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::leases::{self, LeaseHolder};
use crate::log_table::DebateRow;
use crate::store_fault::{GIVE_ACCESS, StoreFault};
use crate::store_path::StorePath;
use crate::writer::WriterHandle;
use crate::{log_table, schema};

/// A store in one SQLite file. Clones share one writer. A second value opened on the same file is to this one what
/// another process would be.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    inner: Arc<StoreInner>,
}

#[derive(Debug)]
struct StoreInner {
    path: StorePath,
    /// For reading and for the search index. It is opened at its first use, since a debate does not need it.
    reader: Mutex<Option<Connection>>,
    /// How many logs are loaded at once: more threads would only wait for the reader.
    loads: Semaphore,
    /// `None` if the file can only be read.
    writer: Option<WriterHandle>,
}

/// A future that completes when a change is on the disk.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Held while a store opens: a new file must be created and closed before SQLite locks it in this process, since
/// closing it later would drop the lock.
static OPENING: Mutex<()> = Mutex::new(());

/// How many logs are loaded at once.
const LOADS_AT_ONCE: usize = 4;

const WRITER_STOPPED: &str = "its writer has stopped: start agon again";

impl SqliteStore {
    /// Opens the store. The file and its folder are created on first use, readable by their owner alone.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        let path = StorePath::prepare(path)?;
        let start = || {
            let mut connection = path.connect()?;
            schema::prepare(&mut connection)?;
            WriterHandle::start(connection, path.clone())
        };
        let writer = start().map_err(|fault| path.explain(fault))?;
        Ok(Self::new(path, None, Some(writer)))
    }

    /// Opens an existing store for reading, on a disk that is full or write-protected, where [`open`](Self::open)
    /// fails. Nothing can be appended, and a search needs an index that is up to date.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let path = StorePath::prepare(path)?;
        let mut error = None;
        for connection in path.connect_read_only() {
            let checked = connection.map_err(StoreFault::from).and_then(|connection| {
                schema::check_readable(&connection)?;
                Ok(connection)
            });
            match checked {
                Ok(connection) => return Ok(Self::new(path, Some(connection), None)),
                Err(fault) => error = Some(path.explain(fault)),
            }
        }
        Err(error.unwrap_or_else(|| path.failed(GIVE_ACCESS)))
    }

    fn new(path: StorePath, reader: Option<Connection>, writer: Option<WriterHandle>) -> Self {
        let (reader, loads) = (Mutex::new(reader), Semaphore::new(LOADS_AT_ONCE));
        Self { inner: Arc::new(StoreInner { path, reader, loads, writer }) }
    }

    /// How many commits this store's writer has made. Many appends share one.
    pub fn commits(&self) -> u64 {
        self.inner.writer.as_ref().map_or(0, WriterHandle::commits)
    }

    /// Closes the store if this is the last clone: waits until everything that is queued is written, and gives up all
    /// leases. Dropping the store does the same.
    pub fn close(self) {}

    pub(crate) fn path(&self) -> &StorePath {
        &self.inner.path
    }

    /// Reads on the calling thread.
    pub(crate) fn read<T>(
        &self,
        query: impl FnOnce(&mut Connection) -> Result<T, StoreFault>,
    ) -> Result<T, StoreError> {
        let StoreInner { path, reader, .. } = &*self.inner;
        let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match reader.take() {
            Some(connection) => Ok(connection),
            None => connect_reader(path),
        };
        connection
            .and_then(|connection| query(reader.insert(connection)))
            .map_err(|fault| path.explain(fault))
    }

    /// Queues a change at once, whether or not the future is polled. No lease is needed.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        mut change: impl FnMut(&Connection) -> Result<T, StoreFault> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        self.write_leased(move |connection, _| change(connection))
    }

    /// The same for a change that takes, needs or gives back a lease.
    pub(crate) fn write_leased<T: Send + 'static>(
        &self,
        change: impl FnMut(&Connection, &mut LeaseHolder) -> Result<T, StoreFault> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        let answer = self.inner.writer.as_ref().map(|writer| writer.queue(change));
        Box::pin(async move {
            let read_only = || self.path().failed(format!("it can only be read: {GIVE_ACCESS}"));
            let stopped = |_| self.path().failed(WRITER_STOPPED);
            answer.ok_or_else(read_only)?.await.map_err(stopped)?
        })
    }
}

impl Store for SqliteStore {
    fn append<'a>(&'a self, id: &'a str, records: Vec<LogRecord>) -> StoreFuture<'a, ()> {
        let id = id.to_owned();
        self.write_leased(move |connection, holder| log_table::append(connection, holder, &id, &records))
    }

    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Vec<LogRecord>> {
        let (store, id) = (self.clone(), id.to_owned());
        let load = move || {
            let (stored, is_listed_as_closed) = store.read(|db| {
                let row = DebateRow::find(db, &id)?;
                Ok((log_table::raw_log(db, &id)?, row.is_some_and(|row| row.closed)))
            })?;
            let records =
                open_all(stored).map_err(|broken| StoreError::BrokenChain { id: id.clone(), broken })?;
            // The hashes say nothing about events that are missing at the end.
            let is_closed =
                records.last().is_some_and(|last| matches!(last.entry.event, Event::Closed { .. }));
            match is_listed_as_closed && !is_closed {
                true => Err(store.path().failed(format!(
                    "the end of the log of debate {id} is missing: restore the file from a copy"
                ))),
                false => Ok(records),
            }
        };
        Box::pin(async move {
            match tokio::runtime::Handle::try_current() {
                Ok(runtime) => {
                    let stopped = |_| self.path().failed("reading was interrupted: start agon again");
                    // Nobody closes it, so there is always a place in the end.
                    let _place = self.inner.loads.acquire().await.ok();
                    runtime.spawn_blocking(load).await.map_err(stopped)?
                }
                Err(_) => load(),
            }
        })
    }

    fn lease<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        let id = id.to_owned();
        self.write_leased(move |connection, holder| leases::lease(connection, holder, &id))
    }

    fn release<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        let id = id.to_owned();
        self.write_leased(move |connection, holder| leases::release(connection, holder, &id))
    }
}

/// The reader writes only the search index, which can be rebuilt from the log, so it need not wait for the disk.
fn connect_reader(path: &StorePath) -> Result<Connection, StoreFault> {
    let connection = path.connect()?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(connection)
}
