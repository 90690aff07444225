//! What all debates of a server may cost in a day.

use std::sync::{Mutex, PoisonError};

use agon_core::DebateLimits;
use agon_engine::{BudgetUse, SharedBudget, SharedLimits};
use agon_store::DebateStore;

use super::host_error::{HostError, HostErrorKind};
use crate::cli::app::DebateHandle;
use crate::cli::clock;
use crate::worker::debate_allowances::{AllowanceVerdict, DebateAllowances, HeldAllowance};

const DAY_S: u64 = 86_400;
/// How long a caller should wait while the rest of the budget is set aside for other debates.
const SET_ASIDE_RETRY_S: u64 = 10;

/// A budget that begins anew every day (UTC).
pub(super) enum DayBudget {
    /// The calls are made here, and each reserves what it may cost.
    OfCalls { usd: f64, shared: SharedBudget, day: Mutex<u64> },
    /// Workers make the calls, so what each debate may cost is set aside, in the store: other servers may use the same workers.
    OfDebates { usd: f64, store: DebateStore, allowances: DebateAllowances },
}

impl DayBudget {
    /// A budget for debates that workers hold.
    pub(super) fn of_debates(usd: f64, store: &DebateStore) -> Self {
        let limits = SharedLimits { usd: Some(usd), ..SharedLimits::default() };
        let allowances = DebateAllowances::new(store.clone(), limits);
        Self::OfDebates { usd, store: store.clone(), allowances }
    }

    /// The budget of today for debates that run here, less what the debates of today have used.
    pub(super) fn of_calls(usd: f64, store: &DebateStore) -> Result<Self, HostError> {
        let day = this_day();
        let today = clock::rfc3339(day * DAY_S);
        let mut used = BudgetUse::default();
        for debate in store.list_debates(None)?.into_iter().take_while(|debate| debate.created_at >= today) {
            let handle = DebateHandle { store: store.clone(), id: debate.id };
            used = used.plus(BudgetUse::of_debate(&handle.read()?.debate));
        }
        let limits = SharedLimits { usd: Some(usd), ..SharedLimits::default() };
        Ok(Self::OfCalls { usd, shared: SharedBudget::new(limits, used), day: Mutex::new(day) })
    }

    /// The budget in which calls of this process reserve what they may cost.
    pub(super) fn shared(&self) -> Option<SharedBudget> {
        match self {
            Self::OfCalls { shared, .. } => Some(shared.clone()),
            Self::OfDebates { .. } => None,
        }
    }

    /// Forgets what was used yesterday.
    pub(super) fn begin_day(&self) {
        let Self::OfCalls { shared, day, .. } = self else { return };
        let today = this_day();
        let mut day = day.lock().unwrap_or_else(PoisonError::into_inner);
        if *day != today {
            *day = today;
            shared.forget_spent();
        }
    }

    /// Refuses a debate if there is no money left for it. What is set aside for it, if anything, must be settled when it has ended.
    pub(super) async fn admit(
        &self,
        debate: &str,
        limits: &DebateLimits,
        used: BudgetUse,
    ) -> Result<Option<HeldAllowance>, HostError> {
        match self {
            Self::OfCalls { usd, shared, .. } => {
                self.begin_day();
                match shared.used().usd < *usd {
                    true => Ok(None),
                    false => Err(used_up(*usd)),
                }
            }
            Self::OfDebates { usd, allowances, .. } => {
                let pool = pool_of_today();
                let mut verdict = allowances.claim(&pool, debate, limits, used).await?;
                if verdict == AllowanceVerdict::Later {
                    self.settle_ended(&pool).await?;
                    verdict = allowances.claim(&pool, debate, limits, used).await?;
                }
                match verdict {
                    AllowanceVerdict::SetAside(held) => Ok(Some(held)),
                    AllowanceVerdict::UsedUp(_) => Err(used_up(*usd)),
                    AllowanceVerdict::Later => Err(HostError {
                        kind: HostErrorKind::Busy { retry_after_s: SET_ASIDE_RETRY_S },
                        sentence: format!(
                            "what is left of ${usd} for today is set aside for debates that run: try again later, or with a lower limit"
                        ),
                    }),
                }
            }
        }
    }

    /// Frees what a debate did not use.
    pub(super) async fn settle(&self, held: &HeldAllowance, used: BudgetUse) -> Result<(), HostError> {
        if let Self::OfDebates { allowances, .. } = self {
            allowances.settle(held, used).await?;
        }
        Ok(())
    }

    /// Frees what was set aside for debates that are over. A server that ended before they did could not do so.
    async fn settle_ended(&self, pool: &str) -> Result<(), HostError> {
        let Self::OfDebates { store, allowances, .. } = self else { return Ok(()) };
        let (store, unsettled, pool) = (store.clone(), allowances.clone(), pool.to_owned());
        let over = super::blocking(move || {
            let mut over = Vec::new();
            for held in unsettled.unsettled(&pool)? {
                let handle = DebateHandle { store: store.clone(), id: held.debate().to_owned() };
                // A debate that is not in the store any more cannot be asked.
                let Ok(stored) = handle.read() else { continue };
                if stored.debate.outcome.is_some() {
                    over.push((held, BudgetUse::of_debate(&stored.debate)));
                }
            }
            Ok(over)
        });
        for (held, used) in over.await? {
            allowances.settle(&held, used).await?;
        }
        Ok(())
    }
}

fn this_day() -> u64 {
    clock::unix_seconds() / DAY_S
}

fn pool_of_today() -> String {
    format!("day {}", this_day())
}

fn used_up(usd: f64) -> HostError {
    HostError {
        kind: HostErrorKind::UsedUp { retry_after_s: DAY_S - clock::unix_seconds() % DAY_S },
        sentence: format!(
            "the budget of ${usd} for today is used up: try again tomorrow, or raise usd_per_day"
        ),
    }
}
