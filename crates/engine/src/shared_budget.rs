//! A budget that many debates share, whatever limits each of them has of its own.
//!
//! Every call reserves its worst case here before it starts, as it does in its debate's own budget. A call that does not fit now waits
//! until others have ended. If it would not fit even then, the budget is used up: its debate ends in order with its log kept, and a
//! later run with a higher budget continues it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agon_core::Debate;
use agon_core::wording::{counted, dollars};
use tokio::sync::watch;

use crate::budget::{DebateBudget, WorstCase};

/// The most that all debates together may use. `None` is "no such limit".
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SharedLimits {
    pub usd: Option<f64>,
    /// Counting every attempt.
    pub calls: Option<u64>,
    /// Input and output together.
    pub tokens: Option<u64>,
}

impl SharedLimits {
    /// What is left of them.
    #[must_use]
    pub fn less(self, used: BudgetUse) -> Self {
        Self {
            usd: self.usd.map(|usd| (usd - used.usd).max(0.0)),
            calls: self.calls.map(|calls| calls.saturating_sub(used.calls)),
            tokens: self.tokens.map(|tokens| tokens.saturating_sub(used.tokens)),
        }
    }
}

/// What debates have used. A call whose usage is not known counts for its worst case.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BudgetUse {
    pub usd: f64,
    pub calls: u64,
    pub tokens: u64,
}

impl BudgetUse {
    /// What a debate has used by its log.
    pub fn of_debate(debate: &Debate) -> Self {
        DebateBudget::from_log(debate, None).spent()
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            usd: self.usd + other.usd,
            calls: self.calls.saturating_add(other.calls),
            tokens: self.tokens.saturating_add(other.tokens),
        }
    }
}

/// A budget that debates share. Its clones are the same budget.
#[derive(Debug, Clone)]
pub struct SharedBudget(Arc<SharedState>);

#[derive(Debug)]
struct SharedState {
    limits: SharedLimits,
    amounts: Mutex<SharedAmounts>,
    /// Tells waiting debates that something was freed.
    freed: watch::Sender<()>,
}

/// Dollars are counted in whole billionths, rounded up, so that sums are exact.
#[derive(Debug, Clone, Copy, Default)]
struct SharedAmounts {
    calls: u64,
    spent_tokens: u64,
    spent_nanos: u64,
    reserved_tokens: u64,
    reserved_nanos: u64,
}

/// Whether a call fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SharedAnswer {
    Reserved,
    /// Running calls may still free what they do not use.
    Later,
    /// It will never fit. The sentence names the limit.
    UsedUp(String),
}

impl SharedBudget {
    /// A budget of which `used` is spent already.
    pub fn new(limits: SharedLimits, used: BudgetUse) -> Self {
        let amounts = SharedAmounts {
            calls: used.calls,
            spent_tokens: used.tokens,
            spent_nanos: nanos_up(used.usd),
            ..SharedAmounts::default()
        };
        Self(Arc::new(SharedState { limits, amounts: Mutex::new(amounts), freed: watch::Sender::new(()) }))
    }

    /// What is spent by now.
    pub fn used(&self) -> BudgetUse {
        let amounts = *self.amounts();
        BudgetUse {
            usd: amounts.spent_nanos as f64 / 1e9,
            calls: amounts.calls,
            tokens: amounts.spent_tokens,
        }
    }

    /// Begins anew, as a budget of another day does. Calls that are under way keep what they have reserved.
    pub fn forget_spent(&self) {
        let mut amounts = self.amounts();
        *amounts = SharedAmounts {
            reserved_tokens: amounts.reserved_tokens,
            reserved_nanos: amounts.reserved_nanos,
            ..SharedAmounts::default()
        };
        drop(amounts);
        self.0.freed.send_replace(());
    }

    fn amounts(&self) -> MutexGuard<'_, SharedAmounts> {
        self.0.amounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves the worst case of a call if it fits.
    pub(crate) fn reserve(&self, worst_case: WorstCase) -> SharedAnswer {
        let limits = &self.0.limits;
        let mut amounts = self.amounts();
        let (tokens, nanos) = (worst_case.tokens, nanos_up(worst_case.usd.unwrap_or_default()));
        if let Some(limit) = limits.calls.filter(|limit| amounts.calls >= *limit) {
            return SharedAnswer::UsedUp(format!(
                "the limit of {} for all debates is reached",
                counted(limit, "call")
            ));
        }
        let spent_tokens = amounts.spent_tokens.saturating_add(tokens);
        let spent_nanos = amounts.spent_nanos.saturating_add(nanos);
        if let Some(limit) = limits.tokens.filter(|limit| spent_tokens > *limit) {
            let left = limit.saturating_sub(amounts.spent_tokens);
            return SharedAnswer::UsedUp(format!(
                "of {limit} tokens for all debates {left} are left, and the next call could use {tokens}"
            ));
        }
        if let Some(limit) = limits.usd.filter(|limit| spent_nanos > nanos_down(*limit)) {
            let left = nanos_down(limit).saturating_sub(amounts.spent_nanos) as f64 / 1e9;
            return SharedAnswer::UsedUp(format!(
                "of {} for all debates {} is left, and the next call could cost {}",
                dollars(limit),
                dollars(left),
                dollars(nanos as f64 / 1e9)
            ));
        }
        let must_wait =
            limits.tokens.is_some_and(|limit| spent_tokens.saturating_add(amounts.reserved_tokens) > limit)
                || limits.usd.is_some_and(|limit| {
                    spent_nanos.saturating_add(amounts.reserved_nanos) > nanos_down(limit)
                });
        if must_wait {
            return SharedAnswer::Later;
        }
        amounts.calls = amounts.calls.saturating_add(1);
        amounts.reserved_tokens = amounts.reserved_tokens.saturating_add(tokens);
        amounts.reserved_nanos = amounts.reserved_nanos.saturating_add(nanos);
        SharedAnswer::Reserved
    }

    /// Frees a reservation whose call never started.
    pub(crate) fn cancel(&self, worst_case: WorstCase) {
        self.free(worst_case, 0, 0.0, true);
    }

    /// Replaces a reservation by what the call used.
    pub(crate) fn settle(&self, worst_case: WorstCase, tokens: u64, usd: f64) {
        self.free(worst_case, tokens, usd, false);
    }

    fn free(&self, worst_case: WorstCase, tokens: u64, usd: f64, never_started: bool) {
        let mut amounts = self.amounts();
        amounts.calls = amounts.calls.saturating_sub(u64::from(never_started));
        amounts.reserved_tokens = amounts.reserved_tokens.saturating_sub(worst_case.tokens);
        amounts.reserved_nanos =
            amounts.reserved_nanos.saturating_sub(nanos_up(worst_case.usd.unwrap_or_default()));
        amounts.spent_tokens = amounts.spent_tokens.saturating_add(tokens);
        amounts.spent_nanos = amounts.spent_nanos.saturating_add(nanos_up(usd));
        drop(amounts);
        self.0.freed.send_replace(());
    }

    /// A receiver that learns whenever something is freed from now on.
    pub(crate) fn subscribe(&self) -> watch::Receiver<()> {
        self.0.freed.subscribe()
    }
}

/// Dollars in billionths, rounded up. The cast saturates.
fn nanos_up(usd: f64) -> u64 {
    (usd * 1e9).ceil() as u64
}

/// Dollars in billionths, rounded down. The cast saturates.
fn nanos_down(usd: f64) -> u64 {
    (usd * 1e9).floor() as u64
}
