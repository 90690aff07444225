//! What the phase under way may use of the debate's limits: all, or what is not kept for the closing phases.

use agon_core::{Debate, Protocol};

/// The limits of a phase. `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Allowance {
    pub(crate) usd: Option<f64>,
    pub(crate) tokens: Option<u64>,
    pub(crate) calls: Option<u32>,
    pub(crate) deadline_ms: Option<u64>,
    /// Whether a part of the debate's limits is kept from this phase.
    pub(crate) keeps: bool,
}

impl Allowance {
    /// What the last phase of `debate` may use.
    pub(crate) fn of(protocol: &dyn Protocol, debate: &Debate) -> Self {
        let limits = &debate.brief.limits;
        let closing =
            debate.last_phase().is_some_and(|phase| protocol.closing().contains(&phase.name.as_str()));
        let kept = protocol.kept_for_closing().clamp(0.0, 1.0);
        if closing || kept == 0.0 {
            let (usd, tokens, calls) = (limits.usd, limits.tokens, limits.calls);
            return Self { usd, tokens, calls, deadline_ms: limits.deadline_ms, keeps: false };
        }
        let part = |whole: u64| (whole as f64 * (1.0 - kept)) as u64;
        Self {
            usd: limits.usd.map(|usd| usd * (1.0 - kept)),
            tokens: limits.tokens.map(part),
            calls: limits.calls.map(|calls| calls.saturating_sub(1)),
            deadline_ms: limits.deadline_ms.map(part),
            keeps: true,
        }
    }

    /// What an absence says whose ask came to the deadline.
    pub(crate) fn late(&self) -> &'static str {
        match self.keeps {
            true => "the debate's deadline, of which the rest is kept for the closing phases",
            false => "the debate's deadline",
        }
    }
}
