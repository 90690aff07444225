//! How a face follows a debate while it runs.
//!
//! A slow or failed watcher never slows a debate: records go to a queue that is as long as the log at most, and
//! deltas to a ring in which a watcher that lags loses the oldest.

use std::sync::Arc;

use agon_core::Record;
use tokio::sync::{broadcast, mpsc};

/// A piece of an answer as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// The debate.
    pub debate: Arc<str>,
    /// The ask that is being answered.
    pub ask: u32,
    /// Which attempt at it.
    pub attempt: u32,
    /// The next piece of text.
    pub text: String,
}

/// Who watches a debate.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    /// Gets every record, in order, once it is durable.
    pub records: Option<mpsc::UnboundedSender<Arc<Record>>>,
    /// Gets the pieces of answers. Models stream only when somebody is here, or when others wait for a first token.
    pub deltas: Option<broadcast::Sender<Delta>>,
}
