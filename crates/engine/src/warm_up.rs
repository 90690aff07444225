//! The cache warm-up: the first call of a phase to a model starts alone. The others start when its first token arrives,
//! because by then the provider has cached the part of the prompt that they share.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::EngineSettings;

/// The lead calls of the current phase, and who waits for them.
pub(crate) struct CacheWarmUp {
    /// How long other calls wait for a lead call; `None` if all calls start at once.
    longest_wait: Option<Duration>,
    /// By the name of the model.
    lead_calls: BTreeMap<String, LeadCall>,
    first_token_seen: Arc<Notify>,
}

/// The first call of the phase to a model.
struct LeadCall {
    ask: u32,
    wait_until: Instant,
    /// Set when its first token arrives or the call ends.
    started: Arc<AtomicBool>,
}

/// How a lead call reports its first token.
pub(crate) struct FirstTokenSignal {
    started: Arc<AtomicBool>,
    first_token_seen: Arc<Notify>,
}

impl CacheWarmUp {
    pub(crate) fn new(settings: &EngineSettings) -> Self {
        let longest_wait = settings.warm_up.then(|| Duration::from_millis(settings.warm_up_ms));
        Self { longest_wait, lead_calls: BTreeMap::new(), first_token_seen: Arc::default() }
    }

    /// Forgets the lead calls: the prompts of a new phase are not in any cache yet.
    pub(crate) fn begin_phase(&mut self) {
        self.lead_calls.clear();
    }

    /// Whether a call to this model has to wait for the lead call.
    pub(crate) fn must_wait(&self, model: &str) -> bool {
        self.lead_calls.get(model).is_some_and(LeadCall::is_awaited)
    }

    /// Notes that a call starts. If it is the first of the phase to its model, it becomes the lead call.
    pub(crate) fn call_starts(&mut self, model: &str, ask: u32) {
        let Some(longest_wait) = self.longest_wait else { return };
        if !self.lead_calls.contains_key(model) {
            let now = Instant::now();
            let wait_until = now.checked_add(longest_wait).unwrap_or(now);
            self.lead_calls.insert(model.to_owned(), LeadCall { ask, wait_until, started: Arc::default() });
        }
    }

    /// Notes that the call of this ask has ended, with whatever result. Waiting longer would not warm the cache.
    pub(crate) fn call_ended(&self, ask: u32) {
        for lead in self.lead_calls.values().filter(|lead| lead.ask == ask) {
            lead.started.store(true, Ordering::Relaxed);
        }
    }

    /// The signal for this ask's call, if it is a lead call that others may wait for.
    pub(crate) fn first_token_signal(&self, model: &str, ask: u32) -> Option<FirstTokenSignal> {
        let lead = self.lead_calls.get(model).filter(|lead| lead.ask == ask && lead.is_awaited())?;
        let (started, first_token_seen) = (lead.started.clone(), self.first_token_seen.clone());
        Some(FirstTokenSignal { started, first_token_seen })
    }

    /// When the next wait for a lead call ends at the latest.
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        self.lead_calls.values().filter(|lead| lead.is_awaited()).map(|lead| lead.wait_until).min()
    }

    /// Completes when a lead call has reported its first token. Safe to drop and call again.
    pub(crate) async fn first_token(&self) {
        self.first_token_seen.notified().await;
    }
}

impl LeadCall {
    fn is_awaited(&self) -> bool {
        !self.started.load(Ordering::Relaxed) && Instant::now() < self.wait_until
    }
}

impl FirstTokenSignal {
    pub(crate) fn send(&self) {
        if !self.started.swap(true, Ordering::Relaxed) {
            self.first_token_seen.notify_one();
        }
    }
}
