//! What a debate may still use: the limits of each phase, and the budget that keeps to them.
//!
//! The worst case of a call is reserved before it starts and settled when it ends. So the sum of what is spent and what
//! is reserved never exceeds a limit, however many calls run at once.
//!
//! What a failed call counts for:
//!
//! | the call | counts for |
//! |---|---|
//! | says what it used, in whatever answer | that |
//! | made no connection, or was answered with a status other than success (4xx, 5xx) | nothing: no words were made |
//! | was accepted (status 200) and then failed, was cut off, or cannot be read | its worst case |
//! | timed out, was given up, or was lost in a crash | its worst case |

use std::collections::BTreeMap;

use agon_core::debate::CallAttempt;
use agon_core::{AbsenceReason, CallUsage, Debate, DebateLimits, Phase, Protocol, Reply};

use crate::ModelPrice;
use crate::shared_budget::{BudgetUse, SharedAnswer, SharedBudget};

/// No tokenizer makes more tokens than there are bytes. This is what a chat template adds to each message.
const TEMPLATE_TOKENS_PER_MESSAGE: u64 = 16;

/// A call whose answer would be limited to fewer tokens than this is not worth making.
const OUTPUT_TOKENS_MIN: u32 = 256;

/// How much of a debate's limits is used up.
#[derive(Debug)]
pub(crate) struct DebateBudget {
    /// The limit on the length of any answer.
    output_tokens_max: u32,
    spent_usd: f64,
    spent_tokens: u64,
    /// Calls made or reserved.
    calls: u32,
    /// By the number of the ask.
    reserved: BTreeMap<u32, WorstCase>,
    /// The budget that this debate shares with others.
    shared: Option<SharedBudget>,
}

/// What is still reserved when a run breaks off may have been sent, so it counts as spent.
impl Drop for DebateBudget {
    fn drop(&mut self) {
        for worst_case in std::mem::take(&mut self.reserved).into_values() {
            self.spend(None, worst_case);
        }
    }
}

/// Whether a call may start.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BudgetAnswer {
    Now(CallGrant),
    /// Running calls may still free what they do not use.
    Later,
    /// It will never fit. The sentence names the limit.
    Never(String),
}

/// The permission for a call: the maximum length of its answer, and its worst case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CallGrant {
    pub(crate) output_tokens: u32,
    pub(crate) worst_case: WorstCase,
}

impl CallGrant {
    /// The grant of an errand, which no limit counts.
    pub(crate) fn for_errand(limits: &DebateLimits) -> Self {
        Self { output_tokens: limits.output_tokens, worst_case: WorstCase { tokens: 0, usd: Some(0.0) } }
    }
}

/// The most that one call can use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WorstCase {
    pub(crate) tokens: u64,
    /// `None` if the price is unknown.
    pub(crate) usd: Option<f64>,
}

/// What is known about the cost of a call before the length of its answer is decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CallEstimate {
    input_tokens: u64,
    price: ModelPrice,
}

impl CallEstimate {
    /// From the bytes of each message, and of the schema that is sent along.
    pub(crate) fn new(
        message_bytes: impl Iterator<Item = usize>,
        schema_bytes: u64,
        price: ModelPrice,
    ) -> Self {
        let input_tokens = message_bytes.fold(schema_bytes, |sum, bytes| {
            sum.saturating_add(bytes as u64).saturating_add(TEMPLATE_TOKENS_PER_MESSAGE)
        });
        Self { input_tokens, price }
    }

    /// The worst case if the answer may have `output_tokens` tokens.
    pub(crate) fn worst_case(&self, output_tokens: u32) -> WorstCase {
        let usd = match self.price {
            ModelPrice::Free => Some(0.0),
            ModelPrice::Unknown => None,
            ModelPrice::PerMillion { output, .. } => {
                let input = self.input_tokens as f64 * self.price.highest_input_price();
                Some((input + f64::from(output_tokens) * output) / 1e6)
            }
        };
        WorstCase { tokens: self.input_tokens.saturating_add(u64::from(output_tokens)), usd }
    }

    /// How many output tokens `usd` dollars pay for.
    fn output_tokens_for(&self, usd: f64) -> u32 {
        let ModelPrice::PerMillion { output, .. } = self.price else { return u32::MAX };
        let left = usd * 1e6 - self.input_tokens as f64 * self.price.highest_input_price();
        // The cast saturates: negative numbers become 0.
        if output > 0.0 || left < 0.0 { (left / output) as u32 } else { u32::MAX }
    }
}

impl DebateBudget {
    /// The budget as the log leaves it. A call whose result was lost, or whose usage is not known, counts for its worst case. `shared`
    /// counts what the log has already.
    pub(crate) fn from_log(debate: &Debate, shared: Option<SharedBudget>) -> Self {
        let mut budget = Self {
            output_tokens_max: debate.brief.limits.output_tokens,
            spent_usd: 0.0,
            spent_tokens: 0,
            calls: 0,
            reserved: BTreeMap::new(),
            shared: None,
        };
        for turn in debate.turns.iter().filter(|turn| !turn.inherited) {
            for (attempts, reply) in turn.attempts.iter().zip(&turn.replies) {
                budget.count(attempts, reply.as_ref());
            }
        }
        budget.shared = shared;
        budget
    }

    /// What is spent.
    pub(crate) fn spent(&self) -> BudgetUse {
        BudgetUse { usd: self.spent_usd, calls: u64::from(self.calls), tokens: self.spent_tokens }
    }

    fn count(&mut self, attempts: &[CallAttempt], reply: Option<&Reply>) {
        let answered = match reply {
            Some(Reply::Said { usage, .. }) => Some(usage),
            _ => None,
        };
        for (index, attempt) in attempts.iter().enumerate().filter(|(_, attempt)| !attempt.errand) {
            let is_last = index + 1 == attempts.len();
            let usage = attempt.fault.as_ref().map(|fault| &fault.usage).or(answered.filter(|_| is_last));
            let timed_out = attempt.fault.as_ref().is_some_and(|fault| fault.why == AbsenceReason::TimedOut);
            let worst_case = WorstCase { tokens: attempt.worst_tokens, usd: attempt.worst_usd };
            self.calls = self.calls.saturating_add(1);
            self.spend(usage.filter(|_| !timed_out), worst_case);
        }
    }

    /// Whether a call may start now, and how long its answer may be. `waiting` calls, this one included, share evenly what
    /// is left. If a share is too small for an answer, the calls run one after the other instead.
    pub(crate) fn check(
        &self,
        estimate: &CallEstimate,
        waiting: usize,
        limits: &PhaseLimits,
    ) -> BudgetAnswer {
        let least = OUTPUT_TOKENS_MIN.min(self.output_tokens_max);
        let share = self.even_share(estimate, waiting, limits);
        if share > least
            && let now @ BudgetAnswer::Now(_) = self.fit(estimate, share, limits)
        {
            return now;
        }
        self.fit(estimate, least, limits)
    }

    /// The output tokens of each waiting call if all get the same share of what is left.
    fn even_share(&self, estimate: &CallEstimate, waiting: usize, limits: &PhaseLimits) -> u32 {
        let waiting = waiting.max(1) as u64;
        let mut output = self.output_tokens_max;
        if let Some(limit) = limits.tokens {
            let left = limit.saturating_sub(self.spent_tokens).saturating_sub(self.reserved_tokens());
            let most = (left / waiting).saturating_sub(estimate.input_tokens);
            output = output.min(u32::try_from(most).unwrap_or(u32::MAX));
        }
        if let Some(limit) = limits.usd {
            let left = limit - self.spent_usd - self.reserved_usd();
            output = output.min(estimate.output_tokens_for(left / waiting as f64));
        }
        output
    }

    fn fit(&self, estimate: &CallEstimate, output_tokens: u32, limits: &PhaseLimits) -> BudgetAnswer {
        let worst_case = estimate.worst_case(output_tokens);
        let mut must_wait = false;
        if limits.calls.is_some_and(|limit| self.calls >= limit) {
            return BudgetAnswer::Never(limits.no_call_left());
        }
        if let Some(limit) = limits.tokens {
            let needed = self.spent_tokens.saturating_add(worst_case.tokens);
            if needed > limit {
                let left = limit.saturating_sub(self.spent_tokens);
                return BudgetAnswer::Never(limits.too_many_tokens(worst_case.tokens, left));
            }
            must_wait |= needed.saturating_add(self.reserved_tokens()) > limit;
        }
        if let (Some(limit), Some(most)) = (limits.usd, worst_case.usd) {
            if self.spent_usd + most > limit {
                return BudgetAnswer::Never(limits.too_expensive(most, (limit - self.spent_usd).max(0.0)));
            }
            must_wait |= self.spent_usd + self.reserved_usd() + most > limit;
        }
        if must_wait {
            BudgetAnswer::Later
        } else {
            BudgetAnswer::Now(CallGrant { output_tokens, worst_case })
        }
    }

    fn reserved_tokens(&self) -> u64 {
        self.reserved.values().fold(0, |sum, reserved| sum.saturating_add(reserved.tokens))
    }

    fn reserved_usd(&self) -> f64 {
        self.reserved.values().filter_map(|reserved| reserved.usd).sum()
    }

    /// Reserves the worst case of a call for this ask, unless the shared budget has no room for it.
    pub(crate) fn reserve(&mut self, ask: u32, worst_case: WorstCase) -> SharedAnswer {
        let answer = self.shared.as_ref().map_or(SharedAnswer::Reserved, |shared| shared.reserve(worst_case));
        if answer == SharedAnswer::Reserved {
            self.calls = self.calls.saturating_add(1);
            self.reserved.insert(ask, worst_case);
        }
        answer
    }

    /// Frees a reservation whose call never started.
    pub(crate) fn cancel(&mut self, ask: u32) {
        if let Some(worst_case) = self.reserved.remove(&ask) {
            self.calls = self.calls.saturating_sub(1);
            self.shared.iter().for_each(|shared| shared.cancel(worst_case));
        }
    }

    /// Replaces a reservation by what the call used, even if that is more. `usage` is `None` if the call was abandoned.
    pub(crate) fn settle(&mut self, ask: u32, usage: Option<&CallUsage>) {
        if let Some(worst_case) = self.reserved.remove(&ask) {
            self.spend(usage, worst_case);
        }
    }

    /// Counts what a call used. If that is unknown, counts its worst case.
    fn spend(&mut self, usage: Option<&CallUsage>, worst_case: WorstCase) {
        let reported = usage.filter(|usage| !is_unreported(usage));
        let tokens = reported
            .map_or(worst_case.tokens, |usage| usage.input_tokens.saturating_add(usage.output_tokens));
        let usd = reported.and_then(|usage| usage.usd).or(worst_case.usd);
        self.spent_tokens = self.spent_tokens.saturating_add(tokens);
        self.spent_usd += usd.unwrap_or_default();
        self.shared.iter().for_each(|shared| shared.settle(worst_case, tokens, usd.unwrap_or_default()));
    }
}

/// Whether the usage of a call is unknown. A free call has a known cost of 0.
fn is_unreported(usage: &CallUsage) -> bool {
    usage.unreported || (usage.input_tokens == 0 && usage.output_tokens == 0 && usage.usd.is_none())
}

/// The part of the debate's limits that a phase may use: everything in a closing phase, otherwise what is not reserved for
/// the closing phases. `None` means no limit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PhaseLimits {
    pub(crate) usd: Option<f64>,
    pub(crate) tokens: Option<u64>,
    pub(crate) calls: Option<u32>,
    pub(crate) deadline_ms: Option<u64>,
    /// The limits as the user set them. Messages name these.
    of_debate: DebateLimits,
    reserved_share: f64,
}

impl PhaseLimits {
    /// The limits of the last phase of `debate`.
    pub(crate) fn of_last_phase(protocol: &dyn Protocol, debate: &Debate) -> Self {
        Self::of_phase(protocol, &debate.brief.limits, debate.last_phase())
    }

    pub(crate) fn of_phase(protocol: &dyn Protocol, limits: &DebateLimits, phase: Option<&Phase>) -> Self {
        let is_closing = phase.is_some_and(|phase| protocol.info().is_closing(&phase.name));
        let reserved_share = if is_closing { 0.0 } else { protocol.info().closing_share.clamp(0.0, 1.0) };
        Self::with_reserved_share(reserved_share, limits)
    }

    fn with_reserved_share(reserved_share: f64, limits: &DebateLimits) -> Self {
        let DebateLimits { usd, tokens, calls, deadline_ms, .. } = *limits;
        let of_debate = limits.clone();
        if reserved_share == 0.0 {
            return Self { usd, tokens, calls, deadline_ms, of_debate, reserved_share };
        }
        let usable = |limit: u64| (limit as f64 * (1.0 - reserved_share)) as u64;
        Self {
            usd: usd.map(|usd| usd * (1.0 - reserved_share)),
            tokens: tokens.map(usable),
            calls: calls.map(|calls| calls.saturating_sub(1)),
            deadline_ms: deadline_ms.map(usable),
            of_debate,
            reserved_share,
        }
    }

    fn no_call_left(&self) -> String {
        let calls = self.of_debate.calls.unwrap_or_default();
        let plural = if calls == 1 { "" } else { "s" };
        let reserved = if self.reserved_share > 0.0 && calls > 0 {
            " (1 is reserved for the closing phases)"
        } else {
            ""
        };
        format!("the limit of {calls} call{plural} is reached{reserved}")
    }

    fn too_many_tokens(&self, most: u64, left: u64) -> String {
        let (limit, reserved) = (self.of_debate.tokens.unwrap_or_default(), self.reserved_note());
        format!(
            "the call does not fit the limit of {limit} tokens{reserved}: it could use {most}, and {left} are left"
        )
    }

    fn too_expensive(&self, most: f64, left: f64) -> String {
        let (limit, reserved) = (self.of_debate.usd.unwrap_or_default(), self.reserved_note());
        format!(
            "the call does not fit the budget of ${limit}{reserved}: it could cost ${most:.6}, and ${left:.6} is left"
        )
    }

    /// Says that the deadline has passed.
    pub(crate) fn deadline_passed(&self) -> String {
        let deadline_s = self.of_debate.deadline_ms.unwrap_or_default() as f64 / 1e3;
        format!("the deadline of {deadline_s} s{} has passed", self.reserved_note())
    }

    fn reserved_note(&self) -> String {
        match self.reserved_share {
            0.0 => String::new(),
            share => format!(" ({} is reserved for the closing phases)", share_in_words(share)),
        }
    }
}

/// How long after its last event a debate meets its deadline, if it has one.
pub fn deadline_left_ms(protocol: &dyn Protocol, debate: &Debate) -> Option<u64> {
    let deadline_ms = PhaseLimits::of_last_phase(protocol, debate).deadline_ms?;
    Some(deadline_ms.saturating_sub(debate.at_ms))
}

fn share_in_words(share: f64) -> String {
    const NAMES: [(f64, &str); 5] =
        [(2.0, "half"), (3.0, "a third"), (4.0, "a quarter"), (5.0, "a fifth"), (10.0, "a tenth")];
    let named = NAMES.iter().find(|(parts, _)| (share * parts - 1.0).abs() < 1e-9);
    named.map_or_else(|| format!("{:.0}%", share * 100.0), |(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_limit_that_the_user_set() {
        let limits = |share, calls| {
            let limits = DebateLimits {
                usd: Some(0.05),
                tokens: Some(1000),
                calls: Some(calls),
                deadline_ms: Some(10_000),
                ..DebateLimits::default()
            };
            PhaseLimits::with_reserved_share(share, &limits)
        };
        let (whole, part) = (limits(0.0, 2), limits(0.2, 2));
        for (message, expected) in [
            (whole.no_call_left(), "the limit of 2 calls is reached"),
            (part.no_call_left(), "the limit of 2 calls is reached (1 is reserved for the closing phases)"),
            (limits(0.0, 1).no_call_left(), "the limit of 1 call is reached"),
            (
                limits(0.2, 1).no_call_left(),
                "the limit of 1 call is reached (1 is reserved for the closing phases)",
            ),
            (limits(0.2, 0).no_call_left(), "the limit of 0 calls is reached"),
            (
                whole.too_expensive(0.06, 0.04),
                "the call does not fit the budget of $0.05: it could cost $0.060000, and $0.040000 is left",
            ),
            (
                part.too_expensive(0.06, 0.03),
                "the call does not fit the budget of $0.05 (a fifth is reserved for the closing phases): \
                 it could cost $0.060000, and $0.030000 is left",
            ),
            (
                part.too_many_tokens(900, 800),
                "the call does not fit the limit of 1000 tokens (a fifth is reserved for the closing phases): \
                 it could use 900, and 800 are left",
            ),
            (whole.deadline_passed(), "the deadline of 10 s has passed"),
            (
                part.deadline_passed(),
                "the deadline of 10 s (a fifth is reserved for the closing phases) has passed",
            ),
        ] {
            assert_eq!(message, expected);
        }
        assert_eq!([0.25, 1.0 / 3.0, 0.15].map(share_in_words), ["a quarter", "a third", "15%"]);
    }
}
