//! How many calls are under way at once: over all providers, and for each.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Settings;

/// The limits that all debates of an engine share.
#[derive(Debug)]
pub(crate) struct Gate {
    all: Arc<Semaphore>,
    lanes: Mutex<BTreeMap<String, Arc<Semaphore>>>,
    lane_width: usize,
    widths: BTreeMap<String, usize>,
}

/// The way through the gate to one provider.
#[derive(Debug, Clone)]
pub(crate) struct Lane {
    all: Arc<Semaphore>,
    own: Arc<Semaphore>,
}

/// Leave to make one call; given back when dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    _own: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl Gate {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            all: semaphore(settings.concurrent_calls),
            lanes: Mutex::default(),
            lane_width: settings.provider_calls,
            widths: settings.provider_limits.clone(),
        }
    }

    /// The way to this provider. What the user has set beats what the provider knows of itself.
    pub(crate) fn lane(&self, provider: &str, at_once: Option<usize>) -> Lane {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let width = self.widths.get(provider).copied().or(at_once).unwrap_or(self.lane_width);
        let own = match lanes.get(provider) {
            Some(own) => own.clone(),
            None => lanes.entry(provider.to_owned()).or_insert_with(|| semaphore(width)).clone(),
        };
        Lane { all: self.all.clone(), own }
    }
}

impl Lane {
    /// Leave, if there is room right now.
    pub(crate) fn try_enter(&self) -> Option<Permit> {
        let own = self.own.clone().try_acquire_owned().ok()?;
        let all = self.all.clone().try_acquire_owned().ok()?;
        Some(Permit { _own: own, _all: all })
    }

    /// Leave, once there is room. The provider's own limit comes first, so that a crowd before one provider holds no
    /// place that another could use.
    pub(crate) async fn enter(self) -> Option<Permit> {
        let own = self.own.acquire_owned().await.ok()?;
        let all = self.all.acquire_owned().await.ok()?;
        Some(Permit { _own: own, _all: all })
    }
}

// A limit of nought would hold every debate for ever.
fn semaphore(width: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(width.clamp(1, Semaphore::MAX_PERMITS)))
}
