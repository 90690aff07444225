//! Whether a limit on time, money or calls ends a debate, and which one.

use agon_core::{AbsenceReason, Debate, DebateLimits, PhaseTurn, Reply};

/// Comparisons with limits allow for rounding.
const TOLERANCE: f64 = 1e-9;
/// The debate should be over by this share of the deadline, judging by how slow it has been.
const DEADLINE_SHARE: f64 = 0.95;

/// Checks a debate against its limits, for a protocol that decides what to ask next.
#[derive(Debug, Clone, Copy)]
pub struct LimitCheck<'a> {
    /// The debate.
    pub debate: &'a Debate,
    /// The share of time and money that is kept for the closing phases.
    pub closing_share: f64,
    /// The calls of the closing phases.
    pub closing_calls: usize,
}

/// Whether a seat was not heard because a limit was reached, or because a person asked for the verdict.
fn is_cut(why: AbsenceReason) -> bool {
    matches!(why, AbsenceReason::OverBudget | AbsenceReason::Cancelled)
}

impl LimitCheck<'_> {
    /// Whether too little time, money or calls are left for a phase of `calls` calls and the closing phases after it.
    pub fn is_exhausted(&self, calls: usize) -> bool {
        let short = |left: u32| usize::try_from(left).unwrap_or(usize::MAX) < calls + self.closing_calls;
        self.debate.calls_left().is_some_and(short)
            || self.too_slow()
            || self.debate.spent_share() >= 1.0 - self.closing_share - TOLERANCE
            || self.debate.turns.last().is_some_and(|turn| self.cut_short(turn))
    }

    /// Whether another phase and the closing one, each as slow as the slowest answer so far, would miss the deadline.
    fn too_slow(&self) -> bool {
        let replies = self.debate.turns.iter().filter(|turn| !turn.inherited).flat_map(PhaseTurn::settled);
        let slowest = replies.filter_map(|(_, reply)| match reply {
            Reply::Said { usage, .. } => Some(usage.latency_ms),
            Reply::Absent { .. } => None,
        });
        let phases = if self.closing_calls > 0 { 2 } else { 1 };
        let needed = self.debate.at_ms + phases * slowest.max().unwrap_or_default();
        let limit = self.debate.brief.limits.deadline_ms.filter(|_| !self.debate.inherits());
        limit.is_some_and(|limit| needed as f64 > limit as f64 * DEADLINE_SHARE)
    }

    /// Whether a limit kept a seat from answering in this phase.
    pub fn cut_short(&self, turn: &PhaseTurn) -> bool {
        let deadline = self.debate.brief.limits.deadline_ms;
        let late = deadline.is_some_and(|limit| {
            turn.ended_at_ms as f64 >= limit as f64 * (1.0 - self.closing_share) - TOLERANCE
        });
        turn.absences().any(|(_, why, _)| is_cut(why) || (late && why == AbsenceReason::TimedOut))
    }

    /// Whether the deadline has passed.
    pub fn past_deadline(&self) -> bool {
        self.debate.brief.limits.deadline_ms.is_some_and(|limit| self.debate.at_ms >= limit)
    }

    /// Why there was no phase of `calls` calls any more: a limit, in the user's own figures, or the word of a person.
    pub fn reached(&self, calls: usize) -> Option<String> {
        let limit = self.reached_limit(calls).map(|limit| format!("a limit was reached: {limit}"));
        limit.or_else(|| {
            let refused = self.debate.absences().find(|(_, _, why, _)| is_cut(*why));
            refused.map(|(_, _, why, detail)| match why {
                AbsenceReason::Cancelled => detail.to_owned(),
                _ => format!("a limit was reached: {detail}"),
            })
        })
    }

    fn reached_limit(&self, calls: usize) -> Option<String> {
        let (limits, spent) = (&self.debate.brief.limits, self.debate.spent());
        let usd = spent.usd + spent.lost_usd + spent.doubtful_usd;
        let over = |part: f64, limit: f64| part >= limit * (1.0 - self.closing_share) - TOLERANCE;
        let late = |limit: u64| over(self.debate.at_ms as f64, limit as f64) || self.too_slow();
        let needed = u32::try_from(calls + self.closing_calls).unwrap_or(u32::MAX);
        let is_reached = [
            limits.deadline_ms.is_some_and(late),
            limits.calls.is_some_and(|limit| spent.calls.saturating_add(needed) > limit),
            limits.usd.is_some_and(|limit| over(usd, limit)),
        ];
        let limits = limit_words(limits).into_iter().zip(is_reached);
        limits.filter(|(_, is_reached)| *is_reached).find_map(|(limit, _)| limit)
    }
}

/// The limits on time, calls and money, as warnings name them.
pub fn limit_words(limits: &DebateLimits) -> [Option<String>; 3] {
    [
        limits.deadline_ms.map(|ms| format!("the deadline of {} s", ms as f64 / 1000.0)),
        limits.calls.map(|calls| format!("the limit of {calls} call{}", if calls == 1 { "" } else { "s" })),
        limits.usd.map(|usd| format!("the budget of ${usd}")),
    ]
}
