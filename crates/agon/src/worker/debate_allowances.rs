//! A budget that many debates on workers share. Before a debate is submitted, its own limit is set aside; when it has ended, what it did not
//! use is free again. The sums are in the store, so they hold for every process that submits debates to the same pool.

use agon_core::DebateLimits;
use agon_core::wording::dollars;
use agon_engine::{BudgetUse, SharedLimits};
use agon_store::{AllowanceAnswer, AllowanceClaim, DebateStore};

use crate::cli::errors::CliError;

/// A budget over many debates.
#[derive(Debug, Clone)]
pub struct DebateAllowances {
    store: DebateStore,
    limits: SharedLimits,
}

/// Whether a debate may begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowanceVerdict {
    SetAside(HeldAllowance),
    /// Debates that are under way may leave enough.
    Later,
    /// The sentence says of what too little is left.
    UsedUp(String),
}

/// What is set aside for a debate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldAllowance {
    debate: String,
    pool: String,
}

/// What is counted. Each has its own rows in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountedUnit {
    /// Billionths of a dollar, because sums must be exact.
    NanoDollars,
    Calls,
    Tokens,
}

impl CountedUnit {
    const ALL: [Self; 3] = [Self::NanoDollars, Self::Calls, Self::Tokens];

    fn pool_name(self, pool: &str) -> String {
        let unit = match self {
            Self::NanoDollars => "nanodollars",
            Self::Calls => "calls",
            Self::Tokens => "tokens",
        };
        format!("{pool} {unit}")
    }

    fn most(self, limits: &SharedLimits) -> Option<u64> {
        match self {
            // The cast saturates. What a debate may use is rounded the other way.
            Self::NanoDollars => limits.usd.map(|usd| (usd * 1e9).floor() as u64),
            Self::Calls => limits.calls,
            Self::Tokens => limits.tokens,
        }
    }

    fn of_debate(self, limits: &DebateLimits) -> Option<u64> {
        match self {
            Self::NanoDollars => limits.usd.map(nanos_up),
            Self::Calls => limits.calls.map(u64::from),
            Self::Tokens => limits.tokens,
        }
    }

    fn used(self, used: &BudgetUse) -> u64 {
        match self {
            Self::NanoDollars => nanos_up(used.usd),
            Self::Calls => used.calls,
            Self::Tokens => used.tokens,
        }
    }

    fn missing_limit(self) -> CliError {
        let (what, option) = match self {
            Self::NanoDollars => ("dollars", "--budget-usd (in a request, limits.budget_usd)"),
            Self::Calls => ("calls", "--max-calls"),
            Self::Tokens => ("tokens", "--max-tokens"),
        };
        CliError::input(format!(
            "all debates together have a limit on {what}, so on workers each of them needs one too: add {option}"
        ))
    }

    fn in_words(self, amount: u64) -> String {
        match self {
            Self::NanoDollars => dollars(amount as f64 / 1e9),
            Self::Calls => format!("{amount} calls"),
            Self::Tokens => format!("{amount} tokens"),
        }
    }
}

impl DebateAllowances {
    pub fn new(store: DebateStore, limits: SharedLimits) -> Self {
        Self { store, limits }
    }

    /// Refuses a debate that has no limit of its own where all together have one.
    pub fn check(&self, limits: &DebateLimits) -> Result<(), CliError> {
        let unlimited =
            |unit: &CountedUnit| unit.most(&self.limits).is_some() && unit.of_debate(limits).is_none();
        CountedUnit::ALL.into_iter().find(unlimited).map_or(Ok(()), |unit| Err(unit.missing_limit()))
    }

    /// Sets aside what a debate may still use. `used` is what it has used before.
    pub async fn claim(
        &self,
        pool: &str,
        debate: &str,
        limits: &DebateLimits,
        used: BudgetUse,
    ) -> Result<AllowanceVerdict, CliError> {
        self.check(limits)?;
        let claims = CountedUnit::ALL.into_iter().filter_map(|unit| {
            let (most, limit) = unit.most(&self.limits).zip(unit.of_debate(limits))?;
            Some(AllowanceClaim { pool: unit.pool_name(pool), most, limit, used: unit.used(&used) })
        });
        Ok(match self.store.set_aside(debate, claims.collect()).await? {
            AllowanceAnswer::SetAside => {
                AllowanceVerdict::SetAside(HeldAllowance { debate: debate.to_owned(), pool: pool.to_owned() })
            }
            AllowanceAnswer::Later => AllowanceVerdict::Later,
            AllowanceAnswer::UsedUp { pool: name, left } => {
                let of_pool = |unit: &CountedUnit| unit.pool_name(pool) == name;
                let unit = CountedUnit::ALL.into_iter().find(of_pool).unwrap_or(CountedUnit::NanoDollars);
                let most = unit.most(&self.limits).unwrap_or_default();
                let needed = unit.of_debate(limits).unwrap_or_default().saturating_sub(unit.used(&used));
                AllowanceVerdict::UsedUp(format!(
                    "of {} for all debates {} are left, and the next debate may use {}",
                    unit.in_words(most),
                    unit.in_words(left),
                    unit.in_words(needed)
                ))
            }
        })
    }

    /// Gives back what a debate did not use. `used` is what the whole debate has used.
    pub async fn settle(&self, held: &HeldAllowance, used: BudgetUse) -> Result<(), CliError> {
        for unit in CountedUnit::ALL.into_iter().filter(|unit| unit.most(&self.limits).is_some()) {
            let pool = unit.pool_name(&held.pool);
            self.store.settle_allowance(&pool, &held.debate, unit.used(&used)).await?;
        }
        Ok(())
    }

    /// What is set aside in a pool for debates that are perhaps over: whoever submitted them may have ended before they did.
    pub fn unsettled(&self, pool: &str) -> Result<Vec<HeldAllowance>, CliError> {
        let mut held = Vec::new();
        for unit in CountedUnit::ALL.into_iter().filter(|unit| unit.most(&self.limits).is_some()) {
            for debate in self.store.unsettled_allowances(&unit.pool_name(pool))? {
                held.push(HeldAllowance { debate, pool: pool.to_owned() });
            }
        }
        held.dedup();
        Ok(held)
    }
}

impl HeldAllowance {
    pub fn debate(&self) -> &str {
        &self.debate
    }
}

/// Dollars in billionths, rounded up. The cast saturates.
fn nanos_up(usd: f64) -> u64 {
    (usd * 1e9).ceil() as u64
}
