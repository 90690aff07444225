//! Sends the records of a debate to the store: in order, in few appends, and visible to watchers only once they are
//! durable. It also holds the lease of the debate.

use std::sync::Arc;
use std::time::Duration;

use agon_core::{Event, LogRecord};
use futures_util::future::BoxFuture;
use tokio::time::Instant;

use crate::{DebateWatch, Store, StoreError};

/// How long a record may wait for more records if nothing depends on it yet. The last replies of a phase often arrive
/// together; then they and the next phase's calls share one append.
const LINGER: Duration = Duration::from_millis(2);

/// The queue of records between a debate and the store.
pub(crate) struct LogWriter<'a> {
    store: &'a dyn Store,
    id: &'a str,
    watch: &'a DebateWatch,
    lease: DebateLease,
    durable_count: u64,
    queue: Vec<LogRecord>,
    /// When the oldest record entered the queue.
    queued_since: Option<Instant>,
    /// Whether a call or a phase waits for the queue.
    urgent: bool,
    append: Option<RunningAppend<'a>>,
}

struct RunningAppend<'a> {
    future: BoxFuture<'a, Result<(), StoreError>>,
    count: u64,
    /// Whether it ends the debate, and with it the lease.
    is_last: bool,
    /// The same records again, if somebody watches.
    for_watcher: Vec<Arc<LogRecord>>,
}

impl<'a> LogWriter<'a> {
    /// A writer for a debate of which the store already has `durable_count` records.
    pub(crate) fn new(
        store: &'a dyn Store,
        id: &'a str,
        watch: &'a DebateWatch,
        durable_count: u64,
        lease: DebateLease,
    ) -> Self {
        let (queue, queued_since, urgent, append) = (Vec::new(), None, false, None);
        Self { store, id, watch, lease, durable_count, queue, queued_since, urgent, append }
    }

    pub(crate) fn add(&mut self, record: LogRecord) {
        self.queued_since.get_or_insert_with(Instant::now);
        self.queue.push(record);
    }

    /// Makes the next [`send_if_due`](Self::send_if_due) send the queue without lingering.
    pub(crate) fn mark_urgent(&mut self) {
        self.urgent = true;
    }

    pub(crate) fn durable_count(&self) -> u64 {
        self.durable_count
    }

    pub(crate) fn watch(&self) -> &'a DebateWatch {
        self.watch
    }

    /// When the queue has lingered long enough.
    pub(crate) fn due_at(&self) -> Option<Instant> {
        self.queued_since.filter(|_| self.append.is_none()).map(|since| since + LINGER)
    }

    /// Starts an append if the queue is urgent or has lingered long enough.
    pub(crate) fn send_if_due(&mut self) {
        if self.urgent || self.due_at().is_some_and(|due| due <= Instant::now()) {
            self.send_now();
        }
    }

    fn send_now(&mut self) {
        if self.append.is_some() || self.queue.is_empty() {
            return;
        }
        let records = std::mem::take(&mut self.queue);
        (self.queued_since, self.urgent) = (None, false);
        let for_watcher = match &self.watch.records {
            Some(_) => records.iter().cloned().map(Arc::new).collect(),
            None => Vec::new(),
        };
        // The first append of a new debate leases it, and may have done so even if nobody waits for the result.
        self.lease.is_held = true;
        let count = records.len() as u64;
        let is_last = records.last().is_some_and(|last| matches!(last.entry.event, Event::Closed { .. }));
        let future = self.store.append(self.id, records);
        self.append = Some(RunningAppend { future, count, is_last, for_watcher });
    }

    /// Completes when the running append does; never if there is none. Safe to drop and call again.
    pub(crate) async fn append_done(&mut self) -> Result<(), StoreError> {
        let Some(append) = &mut self.append else { return std::future::pending().await };
        let result = append.future.as_mut().await;
        let Some(RunningAppend { count, is_last, for_watcher, .. }) = self.append.take() else {
            return result;
        };
        if let Err(why) = result {
            // The record that creates a debate also leases it. If it was not stored, there is no lease to release.
            if self.durable_count == 0 {
                self.lease.is_held = false;
            }
            return Err(why);
        }
        self.durable_count += count;
        self.lease.is_held &= !is_last;
        if let Some(watcher) = &self.watch.records {
            for record in for_watcher {
                // The receiver may be gone; the debate does not depend on it.
                let _ = watcher.send(record);
            }
        }
        Ok(())
    }

    /// Makes all records durable.
    pub(crate) async fn flush(&mut self) -> Result<(), StoreError> {
        loop {
            self.send_now();
            if self.append.is_none() {
                return Ok(());
            }
            self.append_done().await?;
        }
    }

    /// Drops a running append and releases the lease.
    pub(crate) async fn release(self) {
        drop(self.append);
        self.lease.release().await;
    }
}

/// The exclusive right of this process to a debate. It is released when the run ends, also if the run is dropped halfway.
pub(crate) struct DebateLease {
    store: Arc<dyn Store>,
    id: Arc<str>,
    is_held: bool,
}

impl DebateLease {
    /// The lease of a debate that does not exist yet. The first append acquires it.
    pub(crate) fn of_new_debate(store: Arc<dyn Store>, id: Arc<str>) -> Self {
        Self { store, id, is_held: false }
    }

    /// Acquires the lease of a stored debate.
    pub(crate) async fn acquire(store: Arc<dyn Store>, id: Arc<str>) -> Result<Self, StoreError> {
        store.lease(&id).await?;
        Ok(Self { store, id, is_held: true })
    }

    /// Releases the lease. A failure does no harm: the lease ends with the process.
    pub(crate) async fn release(mut self) {
        if std::mem::take(&mut self.is_held) {
            let _ = self.store.release(&self.id).await;
        }
    }
}

impl Drop for DebateLease {
    fn drop(&mut self) {
        if let (true, Ok(runtime)) = (self.is_held, tokio::runtime::Handle::try_current()) {
            let (store, id) = (self.store.clone(), self.id.clone());
            runtime.spawn(async move { store.release(&id).await });
        }
    }
}
