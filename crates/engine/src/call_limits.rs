//! Limits on how many calls run at once: in total, and for each provider. Several processes can share them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::{EngineSettings, StoreError};

/// How often a process says how many places it needs, even if nobody waits for one.
const SHARE_EVERY: Duration = Duration::from_secs(1);
/// How long a process gathers calls that wait before it asks for places. If it got none, it waits twice as long the next time.
const SHARE_GATHERING: Duration = Duration::from_millis(10);
const SHARE_GATHERING_MAX: Duration = Duration::from_millis(160);
/// The name of the limit on all calls.
const ALL_CALLS: &str = "calls";

/// The places for calls that several processes share.
pub trait CallShares: Send + Sync {
    /// Says what this process has and wants of each limit, and learns what it gets of each, in the same order.
    fn claim(&self, claims: Vec<PlaceClaim>) -> BoxFuture<'_, Result<Vec<PlaceGrant>, StoreError>>;
}

/// What a process has and wants of a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceClaim {
    /// The name of the limit.
    pub name: String,
    /// How many places there are for all processes together.
    pub limit: usize,
    /// How many places the process has. It keeps them.
    pub have: usize,
    /// How many it could use.
    pub wanted: usize,
}

/// What a process gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceGrant {
    /// How many places it has from now on.
    pub places: usize,
    /// How many it may keep in the long run, because others want some too.
    pub fair: usize,
}

impl PlaceClaim {
    /// What this process gets, if others have and want this much. Together they never have more than the limit.
    pub fn grant(&self, others: impl IntoIterator<Item = (usize, usize)>) -> PlaceGrant {
        let (mut taken, mut processes, mut is_short) = (0_usize, 1_usize, false);
        for (have, wanted) in others {
            taken = taken.saturating_add(have);
            processes += usize::from(have > 0 || wanted > 0);
            is_short |= wanted > have;
        }
        let free = self.limit.saturating_sub(taken).saturating_sub(self.have);
        let places = self.have + free.min(self.wanted.saturating_sub(self.have));
        let fair = if is_short { (self.limit / processes).max(1) } else { self.limit };
        PlaceGrant { places, fair }
    }
}

/// The limits that all debates of an engine share.
#[derive(Debug)]
pub(crate) struct CallLimiter {
    total: Arc<PlacePool>,
    by_provider: Mutex<BTreeMap<String, Arc<PlacePool>>>,
    default_limit: usize,
    user_limits: BTreeMap<String, usize>,
    is_shared: bool,
    /// Somebody waits for a place.
    wanting: Arc<Notify>,
}

impl CallLimiter {
    /// The limits of one process, or its part of limits that are shared: it then has no place until it claims some.
    pub(crate) fn new(settings: &EngineSettings, is_shared: bool) -> Self {
        let wanting = Arc::new(Notify::new());
        Self {
            total: PlacePool::new(ALL_CALLS.to_owned(), settings.concurrent_calls, is_shared, &wanting),
            by_provider: Mutex::default(),
            default_limit: settings.provider_calls,
            user_limits: settings.provider_limits.clone(),
            is_shared,
            wanting,
        }
    }

    /// The limit of one provider. A limit set by the user wins over `own_limit`, the one that the provider knows.
    pub(crate) fn provider(&self, provider: &str, own_limit: Option<usize>) -> ProviderLimit {
        let limit = self.user_limits.get(provider).copied().or(own_limit).unwrap_or(self.default_limit);
        let mut by_provider = self.by_provider.lock().unwrap_or_else(PoisonError::into_inner);
        let own = by_provider.entry(provider.to_owned()).or_insert_with(|| {
            // What a model can do at once on this machine is no matter of other processes.
            let is_shared = self.is_shared && own_limit.is_none();
            PlacePool::new(format!("{ALL_CALLS}/{provider}"), limit, is_shared, &self.wanting)
        });
        let own = own.clone();
        // People who think must not keep others from being asked.
        let total = if limit == usize::MAX { own.clone() } else { self.total.clone() };
        ProviderLimit { total, own }
    }

    /// Claims places for as long as it is polled. If the other processes cannot be reached, this one keeps what it has.
    pub(crate) async fn share(&self, shares: &dyn CallShares) {
        let mut gathering = SHARE_GATHERING;
        loop {
            let pools = self.shared_pools();
            let claims: Vec<PlaceClaim> = pools.iter().map(|pool| pool.give_back_and_claim()).collect();
            let mut has_more = false;
            if let Ok(grants) = shares.claim(claims).await {
                pools.iter().zip(grants).for_each(|(pool, grant)| has_more |= pool.take(grant));
            }
            // While others have all places, asking more often does not help.
            gathering = if has_more { SHARE_GATHERING } else { (2 * gathering).min(SHARE_GATHERING_MAX) };
            tokio::select! {
                () = tokio::time::sleep(SHARE_EVERY) => gathering = SHARE_GATHERING,
                () = self.wanting.notified() => tokio::time::sleep(gathering).await,
            }
        }
    }

    /// The limits that this process shares with others.
    fn shared_pools(&self) -> Vec<Arc<PlacePool>> {
        let by_provider = self.by_provider.lock().unwrap_or_else(PoisonError::into_inner);
        by_provider.values().chain([&self.total]).filter(|pool| pool.is_shared).cloned().collect()
    }
}

/// The places of one limit.
#[derive(Debug)]
struct PlacePool {
    name: String,
    limit: usize,
    is_shared: bool,
    places: Arc<Semaphore>,
    /// How many places this process has, used or not.
    have: AtomicUsize,
    /// How many it may keep.
    fair: AtomicUsize,
    waiting: AtomicUsize,
    wanting: Arc<Notify>,
}

impl PlacePool {
    /// Zero places would block every call, so the limit is at least 1.
    fn new(name: String, limit: usize, is_shared: bool, wanting: &Arc<Notify>) -> Arc<Self> {
        let limit = limit.clamp(1, Semaphore::MAX_PERMITS);
        let have = if is_shared { 0 } else { limit };
        Arc::new(Self {
            name,
            limit,
            is_shared,
            places: Arc::new(Semaphore::new(have)),
            have: AtomicUsize::new(have),
            fair: AtomicUsize::new(limit),
            waiting: AtomicUsize::new(0),
            wanting: wanting.clone(),
        })
    }

    /// Gives back places that are not needed or that others want, and says how many are left and how many are wanted.
    fn give_back_and_claim(&self) -> PlaceClaim {
        let have = self.have.load(Ordering::Acquire);
        let used = have.saturating_sub(self.places.available_permits());
        let busy = used + self.waiting.load(Ordering::Acquire);
        // A few more than are used now, so that the next call need not wait.
        let wanted = (busy + busy.div_ceil(4)).min(self.limit);
        let surplus = have.saturating_sub(wanted.min(self.fair.load(Ordering::Acquire)));
        // Places in use are given back later.
        let have = have - self.places.forget_permits(surplus);
        self.have.store(have, Ordering::Release);
        PlaceClaim { name: self.name.clone(), limit: self.limit, have, wanted }
    }

    /// Takes what was granted. Returns whether there are more places now.
    fn take(&self, grant: PlaceGrant) -> bool {
        let have = self.have.load(Ordering::Acquire);
        let added = grant.places.saturating_sub(have);
        self.have.store(have + added, Ordering::Release);
        self.fair.store(grant.fair, Ordering::Release);
        self.places.add_permits(added);
        added > 0
    }

    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = self.places.clone().try_acquire_owned() {
            return Some(place);
        }
        let _waiting = WaitingCall::new(self);
        self.places.clone().acquire_owned().await.ok()
    }
}

/// Counts a call that waits, until it has its place or is given up.
struct WaitingCall<'a>(&'a PlacePool);

impl<'a> WaitingCall<'a> {
    fn new(pool: &'a PlacePool) -> Self {
        pool.waiting.fetch_add(1, Ordering::AcqRel);
        if pool.is_shared {
            pool.wanting.notify_one();
        }
        Self(pool)
    }
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The limit of one provider, together with the total limit.
#[derive(Debug, Clone)]
pub(crate) struct ProviderLimit {
    total: Arc<PlacePool>,
    own: Arc<PlacePool>,
}

impl ProviderLimit {
    /// Acquires a permit if one is free.
    pub(crate) fn try_permit(&self) -> Option<CallPermit> {
        let own = self.own.places.clone().try_acquire_owned().ok()?;
        let total = self.total.places.clone().try_acquire_owned().ok()?;
        Some(CallPermit { _own: own, _total: total })
    }

    /// Waits for a permit. The provider's limit comes first, so that calls which wait for a busy provider do not take
    /// permits that other providers could use.
    pub(crate) async fn permit(self) -> Option<CallPermit> {
        let own = self.own.place().await?;
        let total = self.total.place().await?;
        Some(CallPermit { _own: own, _total: total })
    }
}

/// The right to make one call, until it is dropped.
#[derive(Debug)]
pub(crate) struct CallPermit {
    _own: OwnedSemaphorePermit,
    _total: OwnedSemaphorePermit,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A table of places as a store keeps it.
    #[derive(Default)]
    struct PlaceTable(Mutex<BTreeMap<usize, (usize, usize)>>);

    /// One process and the table that all share.
    struct ProcessShares {
        process: usize,
        table: Arc<PlaceTable>,
    }

    impl CallShares for ProcessShares {
        fn claim(&self, claims: Vec<PlaceClaim>) -> BoxFuture<'_, Result<Vec<PlaceGrant>, StoreError>> {
            let mut table = self.table.0.lock().unwrap();
            let others = table.iter().filter(|(process, _)| **process != self.process).map(|(_, row)| *row);
            let grant = claims[0].grant(others.collect::<Vec<_>>());
            table.insert(self.process, (grant.places, claims[0].wanted));
            Box::pin(async move { Ok(vec![grant]) })
        }
    }

    proptest! {
        /// Whatever calls start and end in whatever process: all together never have more places than the limit, none has more calls
        /// than places, and whoever waits gets a place in the end.
        #[test]
        fn processes_together_never_exceed_a_limit(
            limit in 1_usize..12,
            steps in proptest::collection::vec((0_usize..4, 0_usize..3), 1..120),
        ) {
            let table = Arc::new(PlaceTable::default());
            let wanting = Arc::new(Notify::new());
            let pools: Vec<_> =
                (0..4).map(|_| PlacePool::new("calls".into(), limit, true, &wanting)).collect();
            let mut held: Vec<Vec<OwnedSemaphorePermit>> = (0..4).map(|_| Vec::new()).collect();
            let share = |process: usize| {
                let shares = ProcessShares { process, table: table.clone() };
                let claim = pools[process].give_back_and_claim();
                let grants = futures_util::FutureExt::now_or_never(shares.claim(vec![claim])).unwrap().unwrap();
                pools[process].take(grants[0]);
            };
            for (process, step) in steps {
                match step {
                    0 => match pools[process].places.clone().try_acquire_owned() {
                        Ok(place) => held[process].push(place),
                        Err(_) => {
                            let _waiting = WaitingCall::new(&pools[process]);
                            share(process);
                        }
                    },
                    1 => drop(held[process].pop()),
                    _ => share(process),
                }
                let all: usize = table.0.lock().unwrap().values().map(|(have, _)| have).sum();
                prop_assert!(all <= limit, "{all} places of {limit}");
                let used: usize = held.iter().map(Vec::len).sum();
                prop_assert!(used <= limit, "{used} calls at {limit} places");
            }
            held.iter_mut().for_each(Vec::clear);
            let _waiting = WaitingCall::new(&pools[0]);
            for _ in 0..2 {
                (0..4).for_each(share);
            }
            share(0);
            prop_assert!(pools[0].places.available_permits() > 0, "a call waits without end");
        }
    }

    #[test]
    fn who_has_more_than_its_share_keeps_less_when_others_are_short() {
        let claim = |have, wanted| PlaceClaim { name: "calls".into(), limit: 10, have, wanted };
        for (claim, others, places, fair) in [
            (claim(0, 4), vec![], 4, 10),
            (claim(0, 40), vec![], 10, 10),
            (claim(10, 10), vec![(0, 3)], 10, 5),
            (claim(0, 3), vec![(10, 10)], 0, 10),
            (claim(2, 8), vec![(5, 5), (0, 0)], 5, 10),
        ] {
            assert_eq!(
                claim.grant(others.clone()),
                PlaceGrant { places, fair },
                "{claim:?} beside {others:?}"
            );
        }
    }
}
