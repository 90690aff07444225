//! What the phase under way may use of the debate's limits: all, or what is not kept for the closing phases.

use agon_core::{Debate, Limits, Phase, Protocol};

/// The limits of a phase. `None` is no limit. Its sentences name the debate's own limits, for those a person has set.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Allowance {
    pub(crate) usd: Option<f64>,
    pub(crate) tokens: Option<u64>,
    pub(crate) calls: Option<u32>,
    pub(crate) deadline_ms: Option<u64>,
    /// The debate's limits, of which those above are a part.
    whole: Limits,
    /// The share of them that is kept from this phase.
    kept: f64,
}

impl Allowance {
    /// What the last phase of `debate` may use.
    pub(crate) fn of(protocol: &dyn Protocol, debate: &Debate) -> Self {
        Self::of_phase(protocol, &debate.brief.limits, debate.last_phase())
    }

    /// What a phase may use of these limits.
    pub(crate) fn of_phase(protocol: &dyn Protocol, limits: &Limits, phase: Option<&Phase>) -> Self {
        let closing = phase.is_some_and(|phase| protocol.closing().contains(&phase.name.as_str()));
        let kept = if closing { 0.0 } else { protocol.kept_for_closing().clamp(0.0, 1.0) };
        Self::keeping(kept, limits)
    }

    fn keeping(kept: f64, limits: &Limits) -> Self {
        let whole = limits.clone();
        let (usd, tokens, calls, deadline_ms) = (whole.usd, whole.tokens, whole.calls, whole.deadline_ms);
        if kept == 0.0 {
            return Self { usd, tokens, calls, deadline_ms, whole, kept };
        }
        let part = |whole: u64| (whole as f64 * (1.0 - kept)) as u64;
        Self {
            usd: usd.map(|usd| usd * (1.0 - kept)),
            tokens: tokens.map(part),
            calls: calls.map(|calls| calls.saturating_sub(1)),
            deadline_ms: deadline_ms.map(part),
            whole,
            kept,
        }
    }

    /// What an absence says for which no call was left.
    pub(crate) fn no_call_left(&self) -> String {
        let kept = self.kept > 0.0;
        match self.whole.calls.unwrap_or_default() {
            1 if kept => "the limit of 1 call is reached, which is kept for the closing phases".into(),
            1 => "the limit of 1 call is reached".into(),
            0 => "the limit of 0 calls is reached".into(),
            calls if kept => {
                format!("the limit of {calls} calls is reached, one of which is kept for the closing phases")
            }
            calls => format!("the limit of {calls} calls is reached"),
        }
    }

    /// What an absence says whose call could use more tokens than are left for this phase.
    pub(crate) fn too_long(&self, most: u64, left: u64) -> String {
        let (limit, kept) = (self.whole.tokens.unwrap_or_default(), self.of_which_kept());
        format!(
            "the call does not fit the limit of {limit} tokens{kept}: it could use {most}, and {left} are left"
        )
    }

    /// What an absence says whose call could cost more than is left for this phase.
    pub(crate) fn too_dear(&self, most: f64, left: f64) -> String {
        let (limit, kept) = (self.whole.usd.unwrap_or_default(), self.of_which_kept());
        format!(
            "the call does not fit the budget of ${limit}{kept}: it could cost ${most:.6}, and ${left:.6} is left"
        )
    }

    /// What an absence says whose ask came to the deadline.
    pub(crate) fn late(&self) -> String {
        let deadline_s = self.whole.deadline_ms.unwrap_or_default() as f64 / 1e3;
        if self.kept == 0.0 {
            return format!("the deadline of {deadline_s} s has passed");
        }
        let share = share(self.kept);
        format!("the deadline of {deadline_s} s, {share} of which is kept for the closing phases, has passed")
    }

    fn of_which_kept(&self) -> String {
        if self.kept == 0.0 {
            return String::new();
        }
        format!(", of which {} is kept for the closing phases", share(self.kept))
    }
}

fn share(kept: f64) -> String {
    const NAMES: [(f64, &str); 5] =
        [(2.0, "half"), (3.0, "a third"), (4.0, "a quarter"), (5.0, "a fifth"), (10.0, "a tenth")];
    let named = NAMES.iter().find(|(parts, _)| (kept * parts - 1.0).abs() < 1e-9);
    named.map_or_else(|| format!("{:.0}%", kept * 100.0), |(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A limit is named as the person set it, with what of it is kept.
    #[test]
    fn sentences_name_the_limit_that_was_set() {
        let limits = |calls| Limits {
            usd: Some(0.05),
            tokens: Some(1000),
            calls: Some(calls),
            deadline_ms: Some(10_000),
            ..Limits::default()
        };
        let (all, most) = (Allowance::keeping(0.0, &limits(2)), Allowance::keeping(0.2, &limits(2)));
        for (said, want) in [
            (all.no_call_left(), "the limit of 2 calls is reached"),
            (
                most.no_call_left(),
                "the limit of 2 calls is reached, one of which is kept for the closing phases",
            ),
            (Allowance::keeping(0.0, &limits(1)).no_call_left(), "the limit of 1 call is reached"),
            (
                Allowance::keeping(0.2, &limits(1)).no_call_left(),
                "the limit of 1 call is reached, which is kept for the closing phases",
            ),
            (Allowance::keeping(0.2, &limits(0)).no_call_left(), "the limit of 0 calls is reached"),
            (
                all.too_dear(0.06, 0.04),
                "the call does not fit the budget of $0.05: it could cost $0.060000, and $0.040000 is left",
            ),
            (
                most.too_dear(0.06, 0.03),
                "the call does not fit the budget of $0.05, of which a fifth is kept for the closing phases: \
                 it could cost $0.060000, and $0.030000 is left",
            ),
            (
                most.too_long(900, 800),
                "the call does not fit the limit of 1000 tokens, of which a fifth is kept for the closing phases: \
                 it could use 900, and 800 are left",
            ),
            (all.late(), "the deadline of 10 s has passed"),
            (
                most.late(),
                "the deadline of 10 s, a fifth of which is kept for the closing phases, has passed",
            ),
        ] {
            assert_eq!(said, want);
        }
        assert_eq!([share(0.25), share(1.0 / 3.0), share(0.15)], ["a quarter", "a third", "15%"]);
    }
}
