//! Work that blocks, on a thread of its own.
//!
//! Whoever waits for it hears its progress. When nobody waits any more, the next thing that it tells ends it.

use std::cell::Cell;

use tokio::sync::mpsc::{self, UnboundedSender};

use crate::error::Trouble;
use crate::progress::{Progress, Report};

/// How work on another thread tells of its progress.
pub(crate) struct Tell {
    send: UnboundedSender<Progress>,
    done_bytes: Cell<u64>,
    /// Where there is none, bytes are not told: they were counted when they came.
    total_bytes: Option<u64>,
}

impl Tell {
    pub(crate) fn say(&self, progress: Progress) -> Result<(), Trouble> {
        // Nobody reads this reason: whoever would have is gone.
        self.send.send(progress).map_err(|_| Trouble::Source("it was stopped".into()))
    }

    pub(crate) fn more_bytes(&self, bytes: usize) -> Result<(), Trouble> {
        let done_bytes = self.done_bytes.get() + bytes as u64;
        self.done_bytes.set(done_bytes);
        match self.total_bytes {
            Some(total_bytes) => self.say(Progress::Bytes { done_bytes, total_bytes }),
            None if self.send.is_closed() => Err(Trouble::Source("it was stopped".into())),
            None => Ok(()),
        }
    }
}

/// Runs `work` on a thread of its own and reports what it tells.
pub(crate) async fn aside<T: Send + 'static>(
    report: Report<'_>,
    total_bytes: Option<u64>,
    work: impl FnOnce(&Tell) -> Result<T, Trouble> + Send + 'static,
) -> Result<T, Trouble> {
    let (send, mut told) = mpsc::unbounded_channel();
    let job = tokio::task::spawn_blocking(move || {
        work(&Tell { send, done_bytes: Cell::new(0), total_bytes })
        // The sender ends here, and with it the loop below.
    });
    while let Some(progress) = told.recv().await {
        report(progress);
    }
    job.await.unwrap_or_else(|broken| Err(Trouble::Source(format!("the work broke off ({broken})"))))
}
