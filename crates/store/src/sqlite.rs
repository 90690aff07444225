//! The store.

use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use agon_core::Record;
use agon_core::event::open_all;
use agon_engine::{Store, StoreError};
use rusqlite::Connection;

use crate::catalog::{self, Health, Listed};
use crate::place::{Fault, GIVE_ACCESS, Place};
use crate::schema;
use crate::search::{self, Hit};
use crate::writer::{Change, Task, Writer};

/// A store in one SQLite file. Clones share one writer; a second value opened on the same file is to this one as
/// another process would be.
#[derive(Debug, Clone)]
pub struct Sqlite {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    place: Place,
    /// For reading and for the search's index. Made at the first use: a debate does not need it.
    reader: Mutex<Option<Connection>>,
    /// None where the file can only be read.
    writer: Option<Writer>,
}

/// One at a time in a process: a new file must be made and closed before anybody's SQLite locks it, since closing it
/// would drop the lock.
static OPENING: Mutex<()> = Mutex::new(());

impl Sqlite {
    /// Opens the store. The file and its folder are created on first use, readable by their owner alone; a file of an
    /// earlier version is brought up to date.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let _one = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        let place = Place::prepare(path)?;
        let writer = start(&place).map_err(|fault| place.tell(fault))?;
        Ok(Self { inner: Arc::new(Inner { place, reader: Mutex::new(None), writer: Some(writer) }) })
    }

    /// Opens a store that is there, to read it: on a disk that is full or write-protected, where [`open`](Self::open)
    /// fails. Nothing can be appended, and a search needs an index that is up to date.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let place = Place::prepare(path)?;
        let mut reason = None;
        for connection in place.readers() {
            let checked = connection.map_err(Fault::from).and_then(|connection| {
                schema::readable(&connection)?;
                Ok(connection)
            });
            match checked {
                Ok(connection) => {
                    let reader = Mutex::new(Some(connection));
                    return Ok(Self { inner: Arc::new(Inner { place, reader, writer: None }) });
                }
                Err(fault) => reason = Some(place.tell(fault)),
            }
        }
        Err(reason.unwrap_or_else(|| place.failed(GIVE_ACCESS)))
    }

    /// The full id of the debate whose id begins with `prefix`, or of the newest for `last`.
    pub fn find(&self, prefix: &str) -> Result<String, StoreError> {
        self.inner.read(|store, _| catalog::find(store, prefix))
    }

    /// The debates, newest first.
    pub fn list(&self, limit: Option<usize>) -> Result<Vec<Listed>, StoreError> {
        self.inner.read(|store, place| catalog::list(store, place, limit))
    }

    /// The debates whose question, replies or verdict have all the words, the best first. The last word may be the
    /// beginning of one; case and accents do not matter.
    pub fn search(&self, words: &str, limit: usize) -> Result<Vec<Hit>, StoreError> {
        self.inner.read(|store, place| search::search(store, place, words, limit))
    }

    /// The stored body and hash of each event, unchecked: for whoever checks the chain and says where it breaks.
    pub fn raw(&self, id: &str) -> Result<Vec<(String, String)>, StoreError> {
        self.inner.read(|store, _| catalog::raw(store, id))
    }

    /// A debate as a listing shows it and its [`raw`](Self::raw) log, both of the same moment.
    pub fn stored(&self, id: &str) -> Result<(Listed, Vec<(String, String)>), StoreError> {
        self.inner.read(|store, place| catalog::stored(store, place, id))
    }

    /// How the store is. Reads the whole file to check it.
    pub fn health(&self) -> Result<Health, StoreError> {
        self.inner.read(|store, place| catalog::health(store, place))
    }

    /// How many commits this store's writer has made: many appends share one.
    pub fn commits(&self) -> u64 {
        self.inner.writer.as_ref().map_or(0, Writer::commits)
    }

    /// Closes the store, if this is the last clone: waits until all that is queued is written, and gives up all
    /// leases. Dropping it does the same.
    pub fn close(self) {}

    /// Reads what is kept beside the logs.
    pub(crate) fn kept<T>(
        &self,
        question: impl FnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.inner.read(|store, _| {
            if !schema::keeps(store)? {
                return Err(Fault::Odd(format!(
                    "an earlier agon wrote it, and it can only be read: {GIVE_ACCESS}"
                )));
            }
            question(store)
        })
    }

    /// Changes what is kept beside the logs. Queued at once, whether or not anybody waits for the answer.
    pub(crate) fn change<T: Send + 'static>(
        &self,
        change: impl Fn(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Answer<'_, T> {
        let made = Arc::new(Mutex::new(None));
        let make = Arc::clone(&made);
        let task = Change(Box::new(move |store| {
            let value = change(store)?;
            *make.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            Ok(())
        }));
        let written = self.write("", Task::Change(task));
        Box::pin(async move {
            written.await?;
            let value = made.lock().unwrap_or_else(PoisonError::into_inner).take();
            value.ok_or_else(|| self.inner.place.failed("its writer has stopped: start agon again"))
        })
    }

    /// Queued at once, whether or not anybody waits for the answer.
    fn write<'a>(&'a self, id: &'a str, task: Task) -> Answer<'a, ()> {
        let answer = self.inner.writer.as_ref().map(|writer| writer.queue(id, task));
        Box::pin(async move {
            let only_read = || self.inner.place.failed(format!("it can only be read: {GIVE_ACCESS}"));
            let gone = |_| self.inner.place.failed("its writer has stopped: start agon again");
            answer.ok_or_else(only_read)?.await.map_err(gone)?
        })
    }
}

/// What comes when a change is on the disk.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

impl Store for Sqlite {
    fn append<'a>(&'a self, id: &'a str, records: Vec<Record>) -> Answer<'a, ()> {
        self.write(id, Task::Append(records))
    }

    fn load<'a>(&'a self, id: &'a str) -> Answer<'a, Vec<Record>> {
        let (inner, id) = (Arc::clone(&self.inner), id.to_owned());
        let load = move || {
            let stored = inner.read(|store, _| catalog::raw(store, &id))?;
            open_all(stored).map_err(|broken| StoreError::Broken { id, broken })
        };
        Box::pin(async move {
            match tokio::runtime::Handle::try_current() {
                Ok(runtime) => {
                    let gone = |_| self.inner.place.failed("reading was cut short: start agon again");
                    runtime.spawn_blocking(load).await.map_err(gone)?
                }
                Err(_) => load(),
            }
        })
    }

    fn lease<'a>(&'a self, id: &'a str) -> Answer<'a, ()> {
        self.write(id, Task::Lease)
    }

    fn release<'a>(&'a self, id: &'a str) -> Answer<'a, ()> {
        self.write(id, Task::Release)
    }
}

impl Inner {
    fn read<T>(
        &self,
        question: impl FnOnce(&mut Connection, &Place) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match reader.take() {
            Some(connection) => Ok(connection),
            None => connect(&self.place),
        };
        let answer = connection.and_then(|connection| question(reader.insert(connection), &self.place));
        answer.map_err(|fault| self.place.tell(fault))
    }
}

fn start(place: &Place) -> Result<Writer, Fault> {
    let mut connection = place.connect()?;
    schema::prepare(&mut connection)?;
    Writer::start(connection, place.clone())
}

/// What this connection writes can be made again from the log, so it need not wait for the disk.
fn connect(place: &Place) -> Result<Connection, Fault> {
    let connection = place.connect()?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(connection)
}
