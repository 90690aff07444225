//! The store: opening it, reading it, and queuing writes.

use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use agon_core::event::open_all;
use agon_core::{Event, LogRecord};
use agon_engine::{Store, StoreError};
use tokio::sync::{Semaphore, oneshot};

use crate::log_table;
use crate::postgres::{PostgresServer, PostgresWriter, ReaderPool};
use crate::served_debates::{ServedOpening, ServedRequest};
use crate::sql::SqlDatabase;
use crate::sqlite::{SqliteWriter, StorePath, schema};
use crate::store_address::StoreAddress;
use crate::store_fault::{GIVE_ACCESS, StoreFault};
use crate::store_place::{StorePlace, explain};
use crate::writer::{WriteRequest, WriterHandle};

/// A store in one SQLite file or in a PostgreSQL database. Clones share one writer. A second value opened on the same
/// file or database is to this one what another process would be.
#[derive(Debug, Clone)]
pub struct DebateStore {
    inner: Arc<StoreInner>,
}

#[derive(Debug)]
struct StoreInner {
    place: StorePlace,
    readers: StoreReaders,
    /// How many logs are loaded at once: more threads would only wait for the readers.
    loads: Semaphore,
    /// `None` if the file can only be read.
    writer: Option<WriterHandle>,
}

/// Connections for reading and for the search index. They are opened when they are needed, since a debate needs none.
#[derive(Debug)]
enum StoreReaders {
    Sqlite(Mutex<Option<SqlDatabase>>),
    Postgres(ReaderPool),
}

/// A future that completes when a change is on the disk.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Held while a file opens: a new file must be created and closed before SQLite locks it in this process, since
/// closing it later would drop the lock.
static OPENING: Mutex<()> = Mutex::new(());

/// How many logs are loaded at once.
const LOADS_AT_ONCE: usize = 4;

const WRITER_STOPPED: &str = "its writer has stopped: start agon again";

impl DebateStore {
    /// Opens the store. A file and its folder are created on first use, readable by their owner alone. In a database, the
    /// tables are.
    pub fn open(address: impl Into<StoreAddress>) -> Result<Self, StoreError> {
        match address.into() {
            StoreAddress::File(file) => Self::open_file(&file),
            StoreAddress::Postgres(address) => {
                let shown = address.shown().to_owned();
                let failed = |fault| explain(&shown, fault);
                let server = PostgresServer::new(*address).map_err(failed)?;
                off_runtime(|| Self::open_server(server.clone())).map_err(failed)
            }
        }
    }

    fn open_file(file: &Path) -> Result<Self, StoreError> {
        let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        let path = StorePath::prepare(file)?;
        let place = StorePlace::File(path.clone());
        let start = || WriterHandle::start(Box::new(SqliteWriter::open(&path)?), place.clone());
        let writer = Some(start().map_err(|fault| place.explain(fault))?);
        let readers = StoreReaders::Sqlite(Mutex::new(None));
        Ok(Self {
            inner: Arc::new(StoreInner { place, readers, loads: Semaphore::new(LOADS_AT_ONCE), writer }),
        })
    }

    fn open_server(server: PostgresServer) -> Result<Self, StoreFault> {
        let place = StorePlace::Server(server.clone());
        let writer = PostgresWriter::open(server.clone())?;
        let writer = Some(WriterHandle::start(Box::new(writer), place.clone())?);
        let readers = StoreReaders::Postgres(ReaderPool::new(server));
        Ok(Self {
            inner: Arc::new(StoreInner { place, readers, loads: Semaphore::new(LOADS_AT_ONCE), writer }),
        })
    }

    /// Opens an existing file for reading, on a disk that is full or write-protected, where [`open`](Self::open)
    /// fails. Nothing can be appended, and a search needs an index that is up to date.
    pub fn open_to_read(file: &Path) -> Result<Self, StoreError> {
        let path = StorePath::prepare(file)?;
        let place = StorePlace::File(path.clone());
        let mut error = None;
        for connection in path.connect_read_only() {
            let checked = connection.map_err(StoreFault::from).and_then(|connection| {
                schema::check_readable(&connection)?;
                Ok(connection)
            });
            match checked {
                Ok(connection) => {
                    let readers = StoreReaders::Sqlite(Mutex::new(Some(SqlDatabase::Sqlite(connection))));
                    return Ok(Self {
                        inner: Arc::new(StoreInner {
                            place,
                            readers,
                            loads: Semaphore::new(LOADS_AT_ONCE),
                            writer: None,
                        }),
                    });
                }
                Err(fault) => error = Some(place.explain(fault)),
            }
        }
        Err(error.unwrap_or_else(|| place.failed(GIVE_ACCESS)))
    }

    /// How many commits this store's writer has made. Many appends share one.
    pub fn commits(&self) -> u64 {
        self.inner.writer.as_ref().map_or(0, WriterHandle::commits)
    }

    /// Closes the store if this is the last clone: waits until everything that is queued is written, and gives up all
    /// leases. Dropping the store does the same.
    pub fn close(self) {}

    pub(crate) fn place(&self) -> &StorePlace {
        &self.inner.place
    }

    /// Reads, and waits for it on the calling thread. A server may be asked again if the connection is lost.
    pub(crate) fn read<T: Send>(
        &self,
        query: impl FnMut(&SqlDatabase) -> Result<T, StoreFault> + Send,
    ) -> Result<T, StoreError> {
        let StoreInner { place, readers, .. } = &*self.inner;
        let found = match readers {
            StoreReaders::Sqlite(reader) => read_file(reader, place, query),
            StoreReaders::Postgres(pool) => off_runtime(|| pool.read(query)),
        };
        found.map_err(|fault| place.explain(fault))
    }

    /// Queues a change at once, whether or not the future is polled. No lease is needed.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        change: impl FnMut(&SqlDatabase) -> Result<T, StoreFault> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        let answer = self.inner.writer.as_ref().map(|writer| writer.queue_change(change));
        self.written(answer)
    }

    /// The same for what takes, needs or gives back a lease.
    fn write_leased(&self, request: WriteRequest) -> StoreFuture<'_, ()> {
        let answer = self.inner.writer.as_ref().map(|writer| writer.queue(request));
        self.written(answer)
    }

    /// The same for a debate that a request opens.
    pub(crate) fn queue_opening(
        &self,
        opening: ServedOpening,
        answer: oneshot::Receiver<Result<Option<ServedRequest>, StoreError>>,
    ) -> StoreFuture<'_, Option<ServedRequest>> {
        let queued = self.inner.writer.as_ref().map(|writer| {
            drop(writer.queue(WriteRequest::Open(Box::new(opening))));
            answer
        });
        self.written(queued)
    }

    fn written<T: Send + 'static>(
        &self,
        answer: Option<oneshot::Receiver<Result<T, StoreError>>>,
    ) -> StoreFuture<'_, T> {
        Box::pin(async move {
            let read_only = || self.place().failed(format!("it can only be read: {GIVE_ACCESS}"));
            let stopped = |_| self.place().failed(WRITER_STOPPED);
            answer.ok_or_else(read_only)?.await.map_err(stopped)?
        })
    }
}

impl Store for DebateStore {
    fn append<'a>(&'a self, id: &'a str, records: Vec<LogRecord>) -> StoreFuture<'a, ()> {
        self.write_leased(WriteRequest::Append { id: id.to_owned(), records })
    }

    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Vec<LogRecord>> {
        let (store, id) = (self.clone(), id.to_owned());
        let load = move || {
            let (stored, is_listed_as_closed) = store.read(|db| log_table::log_and_state(db, &id))?;
            let records =
                open_all(stored).map_err(|broken| StoreError::BrokenChain { id: id.clone(), broken })?;
            // The hashes say nothing about events that are missing at the end.
            let is_closed =
                records.last().is_some_and(|last| matches!(last.entry.event, Event::Closed { .. }));
            match is_listed_as_closed && !is_closed {
                true => Err(store.place().failed(format!(
                    "the end of the log of debate {id} is missing: restore the file from a copy"
                ))),
                false => Ok(records),
            }
        };
        Box::pin(async move {
            match tokio::runtime::Handle::try_current() {
                Ok(runtime) => {
                    let stopped = |_| self.place().failed("reading was interrupted: start agon again");
                    // Nobody closes it, so there is always a place in the end.
                    let _place = self.inner.loads.acquire().await.ok();
                    runtime.spawn_blocking(load).await.map_err(stopped)?
                }
                Err(_) => load(),
            }
        })
    }

    fn lease<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        self.write_leased(WriteRequest::Lease(id.to_owned()))
    }

    fn release<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        self.write_leased(WriteRequest::Release(id.to_owned()))
    }
}

fn read_file<T>(
    reader: &Mutex<Option<SqlDatabase>>,
    place: &StorePlace,
    mut query: impl FnMut(&SqlDatabase) -> Result<T, StoreFault>,
) -> Result<T, StoreFault> {
    let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
    let db = match (reader.take(), place) {
        (Some(db), _) => db,
        (None, StorePlace::File(path)) => connect_reader(path)?,
        (None, StorePlace::Server(_)) => return Err(StoreFault::Failed(WRITER_STOPPED.into())),
    };
    query(reader.insert(db))
}

/// The reader writes only the search index, which can be rebuilt from the log, so it need not wait for the disk.
fn connect_reader(path: &StorePath) -> Result<SqlDatabase, StoreFault> {
    let connection = path.connect()?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(SqlDatabase::Sqlite(connection))
}

/// Waits for a server. The client has a runtime of its own, which must not be entered from another one's futures.
pub(crate) fn off_runtime<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Err(_) => work(),
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        // There is no other thread that could go on with the futures of this one, so they wait.
        Ok(_) => std::thread::scope(|scope| match scope.spawn(work).join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }),
    }
}
