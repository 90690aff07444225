//! Blocking work on its own thread.
//!
//! The caller receives its progress. When the caller is dropped, the next progress message ends the work.

use std::cell::Cell;

use tokio::sync::mpsc::{self, UnboundedSender};

use super::pull_error::SourceFailure;
use super::pull_progress::{ProgressReport, PullProgress};

/// Sends progress from the working thread.
pub(super) struct WorkProgress {
    send: UnboundedSender<PullProgress>,
    done_bytes: Cell<u64>,
    /// Without a total, bytes are not reported: the download has already reported them.
    total_bytes: Option<u64>,
}

impl WorkProgress {
    pub(super) fn send(&self, progress: PullProgress) -> Result<(), SourceFailure> {
        self.send.send(progress).map_err(|_| stopped())
    }

    pub(super) fn add_bytes(&self, bytes: usize) -> Result<(), SourceFailure> {
        let done_bytes = self.done_bytes.get() + bytes as u64;
        self.done_bytes.set(done_bytes);
        match self.total_bytes {
            Some(total_bytes) => self.send(PullProgress::Bytes { done_bytes, total_bytes }),
            None if self.send.is_closed() => Err(stopped()),
            None => Ok(()),
        }
    }
}

/// Nobody reads this reason, because the caller is gone.
fn stopped() -> SourceFailure {
    SourceFailure::Source("it was stopped".into())
}

/// Runs `work` on a blocking thread and reports its progress.
pub(super) async fn run_in_background<T: Send + 'static>(
    report: ProgressReport<'_>,
    total_bytes: Option<u64>,
    work: impl FnOnce(&WorkProgress) -> Result<T, SourceFailure> + Send + 'static,
) -> Result<T, SourceFailure> {
    let (send, mut received) = mpsc::unbounded_channel();
    // The sender is dropped when the work ends, which ends the loop below.
    let job = tokio::task::spawn_blocking(move || {
        work(&WorkProgress { send, done_bytes: Cell::new(0), total_bytes })
    });
    while let Some(progress) = received.recv().await {
        report(progress);
    }
    job.await.unwrap_or_else(|broken| Err(SourceFailure::Source(format!("the work broke off ({broken})"))))
}
