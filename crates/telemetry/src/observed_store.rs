//! A store that tells the exporter what the engine writes. Everything passes through unchanged.

use std::sync::Arc;
use std::time::Instant;

use agon_core::LogRecord;
use agon_engine::{Store, StoreError};
use futures_util::future::BoxFuture;

use crate::exporter::ExporterState;
use crate::live_metrics::AppendedEvents;

/// The store of an engine whose debates are exported.
pub(crate) struct ObservedStore {
    pub(crate) inner: Arc<dyn Store>,
    pub(crate) exporter: Arc<ExporterState>,
}

impl Store for ObservedStore {
    fn append<'a>(&'a self, id: &'a str, records: Vec<LogRecord>) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let events = AppendedEvents::of(&records);
            let is_over = events.closes();
            let began = Instant::now();
            self.inner.append(id, records).await?;
            self.exporter.metrics.appended(id, events, began.elapsed());
            if is_over {
                self.exporter.queue_debate(id, &self.inner);
            }
            Ok(())
        })
    }

    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Vec<LogRecord>, StoreError>> {
        Box::pin(async move {
            let records = self.inner.load(id).await?;
            self.exporter.metrics.loaded(id, &records);
            Ok(records)
        })
    }

    fn lease<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.inner.lease(id).await?;
            self.exporter.metrics.begin(id);
            Ok(())
        })
    }

    fn release<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            // A debate that is over was queued when it closed, and its lease is not released.
            if self.exporter.metrics.interrupted(id) {
                self.exporter.queue_debate(id, &self.inner);
            }
            self.inner.release(id).await
        })
    }
}
