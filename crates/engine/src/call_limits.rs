//! Limits on how many calls run at once: in total, and for each provider.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::EngineSettings;

/// The limits that all debates of an engine share.
#[derive(Debug)]
pub(crate) struct CallLimiter {
    total: Arc<Semaphore>,
    by_provider: Mutex<BTreeMap<String, Arc<Semaphore>>>,
    default_limit: usize,
    user_limits: BTreeMap<String, usize>,
}

impl CallLimiter {
    pub(crate) fn new(settings: &EngineSettings) -> Self {
        Self {
            total: semaphore(settings.concurrent_calls),
            by_provider: Mutex::default(),
            default_limit: settings.provider_calls,
            user_limits: settings.provider_limits.clone(),
        }
    }

    /// The limit of one provider. A limit set by the user wins over `own_limit`, the one that the provider knows.
    pub(crate) fn provider(&self, provider: &str, own_limit: Option<usize>) -> ProviderLimit {
        let limit = self.user_limits.get(provider).copied().or(own_limit).unwrap_or(self.default_limit);
        let mut by_provider = self.by_provider.lock().unwrap_or_else(PoisonError::into_inner);
        let own = by_provider.entry(provider.to_owned()).or_insert_with(|| semaphore(limit)).clone();
        // People who think must not keep others from being asked.
        let total = if limit == usize::MAX { own.clone() } else { self.total.clone() };
        ProviderLimit { total, own }
    }
}

/// The limit of one provider, together with the total limit.
#[derive(Debug, Clone)]
pub(crate) struct ProviderLimit {
    total: Arc<Semaphore>,
    own: Arc<Semaphore>,
}

impl ProviderLimit {
    /// Acquires a permit if one is free.
    pub(crate) fn try_permit(&self) -> Option<CallPermit> {
        let own = self.own.clone().try_acquire_owned().ok()?;
        let total = self.total.clone().try_acquire_owned().ok()?;
        Some(CallPermit { _own: own, _total: total })
    }

    /// Waits for a permit. The provider's limit comes first, so that calls which wait for a busy provider do not take
    /// permits that other providers could use.
    pub(crate) async fn permit(self) -> Option<CallPermit> {
        let own = self.own.acquire_owned().await.ok()?;
        let total = self.total.acquire_owned().await.ok()?;
        Some(CallPermit { _own: own, _total: total })
    }
}

/// The right to make one call, until it is dropped.
#[derive(Debug)]
pub(crate) struct CallPermit {
    _own: OwnedSemaphorePermit,
    _total: OwnedSemaphorePermit,
}

/// Zero permits would block every call, so the limit is at least 1.
fn semaphore(limit: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(limit.clamp(1, Semaphore::MAX_PERMITS)))
}
