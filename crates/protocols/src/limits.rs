//! When a limit on time, money or calls ends a debate, and which one it was.

use agon_core::{Absence, Debate, Reply, Turn};

/// Comparisons with limits allow for rounding.
const TOLERANCE: f64 = 1e-9;
/// The share of the deadline by which the debate should be over, going by how slow it has been so far.
const IN_TIME: f64 = 0.95;

/// A debate's limits as a protocol sees them.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    /// The debate.
    pub debate: &'a Debate,
    /// The share of time and money that is kept for the closing phases, as [`agon_core::Protocol::kept_for_closing`] says.
    pub kept: f64,
    /// The calls of the closing phases.
    pub closing_calls: usize,
}

impl Limits<'_> {
    /// Whether there is too little time or money left for a phase of `calls` calls with what closes the debate after it.
    pub fn spent(&self, calls: usize) -> bool {
        let short = |left: u32| usize::try_from(left).unwrap_or(usize::MAX) < calls + self.closing_calls;
        self.debate.calls_left().is_some_and(short)
            || self.too_slow()
            || self.debate.spent_share() >= 1.0 - self.kept - TOLERANCE
            || self.debate.turns.last().is_some_and(|turn| self.was_cut(turn))
    }

    /// Whether another phase and the closing one, each as slow as the slowest answer so far, would not end in time.
    fn too_slow(&self) -> bool {
        let replies = self.debate.turns.iter().filter(|turn| !turn.inherited).flat_map(Turn::settled);
        let slowest = replies.filter_map(|(_, reply)| match reply {
            Reply::Said { usage, .. } => Some(usage.latency_ms),
            Reply::Absent { .. } => None,
        });
        let phases = if self.closing_calls > 0 { 2 } else { 1 };
        let needed = self.debate.at_ms + phases * slowest.max().unwrap_or_default();
        let limit = self.debate.brief.limits.deadline_ms.filter(|_| !self.debate.inherits());
        limit.is_some_and(|limit| needed as f64 > limit as f64 * IN_TIME)
    }

    /// Whether a limit left somebody out of a phase.
    pub fn was_cut(&self, turn: &Turn) -> bool {
        let deadline = self.debate.brief.limits.deadline_ms;
        let late = deadline
            .is_some_and(|limit| turn.ended_at_ms as f64 >= limit as f64 * (1.0 - self.kept) - TOLERANCE);
        turn.absences().any(|(_, why, _)| why == Absence::OverBudget || (late && why == Absence::TimedOut))
    }

    /// Whether the deadline has passed.
    pub fn past_deadline(&self) -> bool {
        self.debate.brief.limits.deadline_ms.is_some_and(|limit| self.debate.at_ms >= limit)
    }

    /// Which limit the debate ran into before a phase of `calls` calls, in the user's own figures.
    pub fn met(&self, calls: usize) -> Option<String> {
        let (limits, spent) = (&self.debate.brief.limits, self.debate.spent());
        let usd = spent.usd + spent.lost_usd + spent.doubtful_usd;
        let over = |part: f64, limit: f64| part >= limit * (1.0 - self.kept) - TOLERANCE;
        let time = limits
            .deadline_ms
            .filter(|limit| over(self.debate.at_ms as f64, *limit as f64) || self.too_slow());
        if let Some(limit) = time {
            return Some(format!("the deadline of {} s", limit as f64 / 1000.0));
        }
        let needed = u32::try_from(calls + self.closing_calls).unwrap_or(u32::MAX);
        if let Some(limit) = limits.calls.filter(|limit| spent.calls.saturating_add(needed) > *limit) {
            let s = if limit == 1 { "" } else { "s" };
            return Some(format!("the limit of {limit} call{s}"));
        }
        if let Some(limit) = limits.usd.filter(|limit| over(usd, *limit)) {
            return Some(format!("the budget of ${limit}"));
        }
        let refused = self.debate.absences().find(|(_, _, why, _)| *why == Absence::OverBudget);
        refused.map(|(.., detail)| detail.to_owned())
    }
}
