//! The way of a debate's records to the store: in order, few appends, and nothing seen by a watcher before it is durable.

use std::sync::Arc;
use std::time::Duration;

use agon_core::Record;
use futures_util::future::BoxFuture;
use tokio::time::Instant;

use crate::lease::Lease;
use crate::{Store, StoreError, Watch};

/// How long a record that nothing waits for may wait for company. The last reply of a phase often comes right after the
/// others, and then all of them and the next phase's calls are one append.
const LINGER: Duration = Duration::from_millis(2);

/// The records of a debate on their way to the store.
pub(crate) struct Journal<'a> {
    store: &'a dyn Store,
    id: &'a str,
    watch: &'a Watch,
    lease: Lease,
    /// How many records the store has for certain.
    durable: u64,
    queue: Vec<Record>,
    /// When the oldest record of the queue came.
    since: Option<Instant>,
    /// Whether a call or a phase waits for the queue.
    urgent: bool,
    under_way: Option<UnderWay<'a>>,
}

struct UnderWay<'a> {
    append: BoxFuture<'a, Result<(), StoreError>>,
    records: u64,
    shown: Vec<Arc<Record>>,
}

impl<'a> Journal<'a> {
    /// The journal of a debate of which the store has `durable` records.
    pub(crate) fn new(
        store: &'a dyn Store,
        id: &'a str,
        watch: &'a Watch,
        durable: u64,
        lease: Lease,
    ) -> Self {
        let (queue, since, urgent, under_way) = (Vec::new(), None, false, None);
        Self { store, id, watch, lease, durable, queue, since, urgent, under_way }
    }

    /// Takes the next record.
    pub(crate) fn add(&mut self, record: Record) {
        self.since.get_or_insert_with(Instant::now);
        self.queue.push(record);
    }

    /// Something waits for what is in the queue.
    pub(crate) fn hurry(&mut self) {
        self.urgent = true;
    }

    /// How many records are durable.
    pub(crate) fn durable(&self) -> u64 {
        self.durable
    }

    /// Who watches.
    pub(crate) fn watch(&self) -> &'a Watch {
        self.watch
    }

    /// When a queue that is only lingering must be on its way.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.since.filter(|_| self.under_way.is_none()).map(|since| since + LINGER)
    }

    /// Sends the queue on its way if it is time.
    pub(crate) fn send(&mut self) {
        if self.urgent || self.due().is_some_and(|due| due <= Instant::now()) {
            self.send_now();
        }
    }

    fn send_now(&mut self) {
        if self.under_way.is_some() || self.queue.is_empty() {
            return;
        }
        let queue = std::mem::take(&mut self.queue);
        (self.since, self.urgent) = (None, false);
        let shown = match &self.watch.records {
            Some(_) => queue.iter().cloned().map(Arc::new).collect(),
            None => Vec::new(),
        };
        self.lease.take();
        let records = queue.len() as u64;
        self.under_way = Some(UnderWay { append: self.store.append(self.id, queue), records, shown });
    }

    /// Ready when the append under way is; never without one. May be dropped and called again.
    pub(crate) async fn done(&mut self) -> Result<(), StoreError> {
        let Some(under_way) = &mut self.under_way else { return std::future::pending().await };
        let result = under_way.append.as_mut().await;
        let Some(UnderWay { records, shown, .. }) = self.under_way.take() else { return result };
        if let Err(why) = result {
            // The record that creates a debate also leases it: without it there is no lease to give back.
            if self.durable == 0 {
                self.lease.refused();
            }
            return Err(why);
        }
        self.durable += records;
        if let Some(watcher) = &self.watch.records {
            for record in shown {
                // A watcher that has gone away is its own business.
                let _ = watcher.send(record);
            }
        }
        Ok(())
    }

    /// Makes everything durable that is not yet.
    pub(crate) async fn finish(&mut self) -> Result<(), StoreError> {
        loop {
            self.send_now();
            if self.under_way.is_none() {
                return Ok(());
            }
            self.done().await?;
        }
    }

    /// Gives the debate back to whoever wants it next.
    pub(crate) async fn release(self) {
        drop(self.under_way);
        self.lease.release().await;
    }
}
