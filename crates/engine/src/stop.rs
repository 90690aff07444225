//! How a person ends a debate in order.

use std::sync::Arc;

use tokio::sync::watch;

/// A request to end in order, which any number of debates may listen to. No call or phase starts after it; answers under
/// way are waited for, for as long as [`Settings::drain_ms`](crate::Settings) says.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    /// Nobody has asked yet.
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Asks every debate that listens to end in order.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Whether somebody has asked.
    pub fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    pub(crate) async fn asked(&self) {
        // The sender lives as long as `self`, so the wait can only end by somebody asking.
        let _ = self.0.subscribe().wait_for(|asked| *asked).await;
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}
