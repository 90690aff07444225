//! The thread that writes, with group commit.
//!
//! It takes everything that is queued, applies it in one transaction and answers everybody after the one commit. A write
//! that fails its own check is undone alone. If the commit fails, nothing of the group is written and every caller is
//! told.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use agon_core::LogRecord;
use agon_engine::StoreError;
use tokio::sync::oneshot;

use crate::sql::SqlDatabase;
use crate::store_fault::StoreFault;
use crate::store_place::StorePlace;

/// The most writes in one commit. It bounds how long the first of a group waits for the last.
const GROUP_MAX: usize = 4096;

/// How long a writer waits that has nothing to do between two writes.
const UNTIL_NEXT_WRITE: Duration = Duration::from_secs(3_600);

/// What a database does with a group of writes.
pub(crate) trait GroupCommit: Send {
    /// Applies a group in one transaction and answers for each write. If this fails, nothing of the group was written.
    fn commit(&mut self, group: &mut [QueuedWrite]) -> Result<Vec<Result<(), StoreError>>, StoreFault>;

    /// Does what is due from time to time, and returns when it is to be called again.
    fn tend(&mut self) -> Duration {
        UNTIL_NEXT_WRITE
    }
}

/// One write in the queue.
pub(crate) struct QueuedWrite {
    pub(crate) request: WriteRequest,
    done: Option<oneshot::Sender<Result<(), StoreError>>>,
}

/// What is to be written.
pub(crate) enum WriteRequest {
    Append { id: String, records: Vec<LogRecord> },
    Lease(String),
    Release(String),
    Change(Box<dyn TableChange>),
}

impl QueuedWrite {
    #[cfg(test)]
    pub(crate) fn new(request: WriteRequest) -> Self {
        Self { request, done: None }
    }

    /// Tells the caller what happened, after the commit.
    fn answer(self, committed: Result<(), StoreError>) {
        // Sending fails if the caller no longer waits.
        match (self.request, self.done) {
            (WriteRequest::Change(change), _) => change.answer(committed),
            (_, Some(done)) => drop(done.send(committed)),
            (_, None) => {}
        }
    }
}

/// A change of any table but the logs. No lease is needed.
pub(crate) trait TableChange: Send {
    /// Applies the change inside the group's transaction. It may be called again if that is undone.
    fn apply(&mut self, db: &SqlDatabase) -> Result<(), StoreFault>;

    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

struct TypedChange<T, F> {
    change: F,
    /// What the change returned. The caller gets it only after the commit.
    value: Option<T>,
    done: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> TableChange for TypedChange<T, F>
where
    T: Send,
    F: FnMut(&SqlDatabase) -> Result<T, StoreFault> + Send,
{
    fn apply(&mut self, db: &SqlDatabase) -> Result<(), StoreFault> {
        self.value = Some((self.change)(db)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let Self { value, done, .. } = *self;
        let answer = committed.map(|()| value).transpose();
        let _ = answer.map(|answer| done.send(answer));
    }
}

/// The queue to the writer thread. Dropping it waits until everything queued is written.
pub(crate) struct WriterHandle {
    queue: Option<Sender<QueuedWrite>>,
    thread: Option<JoinHandle<()>>,
    commits: Arc<AtomicU64>,
}

impl WriterHandle {
    /// Starts the thread.
    pub(crate) fn start(database: Box<dyn GroupCommit>, place: StorePlace) -> Result<Self, StoreFault> {
        let (queue, writes) = mpsc::channel();
        let commits = Arc::new(AtomicU64::new(0));
        let writer = WriterThread { database, place, commits: Arc::clone(&commits) };
        let thread = thread::Builder::new().name("agon-store".into()).spawn(move || writer.run(&writes))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), commits })
    }

    /// Queues an append or a lease. The answer comes after the commit that includes it. The channel closes without an
    /// answer if the thread has died.
    pub(crate) fn queue(&self, request: WriteRequest) -> oneshot::Receiver<Result<(), StoreError>> {
        let (done, answer) = oneshot::channel();
        self.send(QueuedWrite { request, done: Some(done) });
        answer
    }

    /// Queues a change.
    pub(crate) fn queue_change<T: Send + 'static>(
        &self,
        change: impl FnMut(&SqlDatabase) -> Result<T, StoreFault> + Send + 'static,
    ) -> oneshot::Receiver<Result<T, StoreError>> {
        let (done, answer) = oneshot::channel();
        let change = Box::new(TypedChange { change, value: None, done });
        self.send(QueuedWrite { request: WriteRequest::Change(change), done: None });
        answer
    }

    fn send(&self, write: QueuedWrite) {
        if let Some(queue) = &self.queue {
            // If the thread is gone, the write is dropped and its caller sees that.
            let _ = queue.send(write);
        }
    }

    pub(crate) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for WriterHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriterHandle").field("commits", &self.commits).finish_non_exhaustive()
    }
}

impl Drop for WriterHandle {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread works with.
struct WriterThread {
    database: Box<dyn GroupCommit>,
    place: StorePlace,
    commits: Arc<AtomicU64>,
}

impl WriterThread {
    fn run(mut self, writes: &Receiver<QueuedWrite>) {
        loop {
            let first = match writes.recv_timeout(self.database.tend()) {
                Ok(first) => first,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let mut group: Vec<_> =
                std::iter::once(first).chain(writes.try_iter().take(GROUP_MAX - 1)).collect();
            let answers = match self.database.commit(&mut group) {
                Ok(answers) => {
                    self.commits.fetch_add(1, Ordering::Relaxed);
                    answers
                }
                Err(fault) => {
                    let error = self.place.explain(fault);
                    group.iter().map(|_| Err(error.clone())).collect()
                }
            };
            group.into_iter().zip(answers).for_each(|(write, answer)| write.answer(answer));
        }
    }
}
