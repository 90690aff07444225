//! How a caller follows a running debate, speaks to it and stops it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agon_core::LogRecord;
use tokio::sync::{Notify, broadcast, mpsc, watch};

/// The channels on which a caller follows a debate.
///
/// A slow or dropped receiver never slows the debate. The queue of records holds at most the whole log. A receiver
/// of deltas that lags loses the oldest ones.
#[derive(Debug, Clone, Default)]
pub struct DebateWatch {
    /// Receives every record, in order, once it is durable.
    pub records: Option<mpsc::UnboundedSender<Arc<LogRecord>>>,
    /// Receives answers piece by piece. A call streams only if somebody listens when it starts, or if other calls wait for a
    /// first token.
    pub deltas: Option<broadcast::Sender<TextDelta>>,
    /// What the caller says to the debate while it runs.
    pub inbox: DebateInbox,
    /// How long the debate has waited since its last event although no process ran it. It counts against the deadline.
    pub waited_ms: u64,
}

/// What a person says to a running debate. Clones share one inbox.
#[derive(Debug, Clone, Default)]
pub struct DebateInbox(Arc<InboxState>);

#[derive(Debug, Default)]
struct InboxState {
    /// Who said it, and the words.
    interjections: Mutex<Vec<(String, String)>>,
    concluding: AtomicBool,
    changed: Notify,
}

impl DebateInbox {
    /// Says something to all seats. It is in the log at once, and the seats read it in the next phase.
    pub fn interject(&self, by: impl Into<String>, text: impl Into<String>) {
        let interjection = (by.into(), text.into());
        self.0.interjections.lock().unwrap_or_else(PoisonError::into_inner).push(interjection);
        self.0.changed.notify_one();
    }

    /// Ends the rounds now: nobody is waited for any more, and only the closing phases are still asked.
    pub fn conclude(&self) {
        self.0.concluding.store(true, Ordering::Release);
        self.0.changed.notify_one();
    }

    /// Whether the debate is to end now.
    pub fn is_concluding(&self) -> bool {
        self.0.concluding.load(Ordering::Acquire)
    }

    /// What was said since the last time: who said it, and the words.
    pub fn take_interjections(&self) -> Vec<(String, String)> {
        std::mem::take(&mut *self.0.interjections.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until something is said. Safe to drop and call again.
    pub async fn changed(&self) {
        self.0.changed.notified().await;
    }
}

/// A piece of an answer that is still being written. Deltas are never logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextDelta {
    /// The id of the debate.
    pub debate: Arc<str>,
    /// The number of the ask.
    pub ask: u32,
    /// The number of the attempt, counted from 1 for each ask.
    pub attempt: u32,
    /// The next piece of text.
    pub text: String,
}

/// A request to stop in order, shared by any number of debates.
///
/// After it, no call and no phase starts. Calls under way may finish for as long as
/// [`EngineSettings::drain_ms`](crate::EngineSettings) allows.
#[derive(Debug, Clone, Default)]
pub struct StopSignal(Arc<watch::Sender<bool>>);

impl StopSignal {
    /// A signal that has not been given yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops every debate that was started with this signal.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Whether [`stop`](Self::stop) was called.
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until [`stop`](Self::stop) is called.
    pub async fn stopped(&self) {
        // The sender lives as long as `self`, so the wait cannot fail.
        let _ = self.0.subscribe().wait_for(|stopped| *stopped).await;
    }
}
