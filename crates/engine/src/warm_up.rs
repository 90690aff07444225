//! The warm-up: of a phase's calls to one model the first goes ahead, and the others follow when the provider's cache has what
//! they all read.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::Settings;

/// Who goes ahead in the phase under way, and who has to wait for that.
pub(crate) struct WarmUp {
    /// How long a call is waited for; `None` where all leave at once.
    longest: Option<Duration>,
    /// By model.
    ahead: BTreeMap<String, Ahead>,
    heard: Arc<Notify>,
}

/// A call that went ahead.
struct Ahead {
    ask: u32,
    until: Instant,
    /// Whether its first token has come, or nobody waits for it any more.
    begun: Arc<AtomicBool>,
}

/// What a call that goes ahead rings at its first token.
pub(crate) struct Bell {
    begun: Arc<AtomicBool>,
    heard: Arc<Notify>,
}

impl WarmUp {
    pub(crate) fn new(settings: &Settings) -> Self {
        let longest = settings.warm_up.then(|| Duration::from_millis(settings.warm_up_ms));
        Self { longest, ahead: BTreeMap::new(), heard: Arc::default() }
    }

    /// A phase begins: its prompts have what no cache has seen.
    pub(crate) fn restart(&mut self) {
        self.ahead.clear();
    }

    /// Whether a call to this model has to wait for the one ahead of it.
    pub(crate) fn holds(&self, model: &str) -> bool {
        self.ahead.get(model).is_some_and(Ahead::is_awaited)
    }

    /// A call of this ask is let go. The first to its model in this phase is the one that goes ahead.
    pub(crate) fn let_go(&mut self, model: &str, ask: u32) {
        let Some(longest) = self.longest else { return };
        if !self.ahead.contains_key(model) {
            let now = Instant::now();
            let until = now.checked_add(longest).unwrap_or(now);
            self.ahead.insert(model.to_owned(), Ahead { ask, until, begun: Arc::default() });
        }
    }

    /// What the call of this ask has to ring, if it goes ahead.
    pub(crate) fn bell(&self, model: &str, ask: u32) -> Option<Bell> {
        let ahead = self.ahead.get(model).filter(|ahead| ahead.ask == ask && ahead.is_awaited())?;
        Some(Bell { begun: ahead.begun.clone(), heard: self.heard.clone() })
    }

    /// The call of this ask is over, whatever came of it: a cache that is not warm now will not be.
    pub(crate) fn ended(&self, ask: u32) {
        for ahead in self.ahead.values().filter(|ahead| ahead.ask == ask) {
            ahead.begun.store(true, Ordering::Relaxed);
        }
    }

    /// When the next call has been waited for long enough.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.ahead.values().filter(|ahead| ahead.is_awaited()).map(|ahead| ahead.until).min()
    }

    /// Ready when a bell has been rung. May be dropped and called again.
    pub(crate) async fn heard(&self) {
        self.heard.notified().await;
    }
}

impl Ahead {
    fn is_awaited(&self) -> bool {
        !self.begun.load(Ordering::Relaxed) && Instant::now() < self.until
    }
}

impl Bell {
    pub(crate) fn ring(&self) {
        if !self.begun.swap(true, Ordering::Relaxed) {
            self.heard.notify_one();
        }
    }
}
