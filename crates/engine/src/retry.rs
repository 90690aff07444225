//! What follows an attempt. The decision is a pure function of the attempts in the log, so a resumed debate continues as
//! it would have without the interruption.

use std::collections::BTreeSet;
use std::time::Duration;

use agon_core::debate::CallAttempt;
use agon_core::seed::SeededDraw;
use agon_core::{AbsenceReason, DebateLimits};
use backon::{BackoffBuilder, ExponentialBuilder};

use crate::EngineSettings;

/// The longest wait that a provider can ask for. If it asks for more, the call is not retried.
pub(crate) const PROVIDER_WAIT_MAX: Duration = Duration::from_secs(120);

/// What to do next for an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NextAttempt {
    /// Call a model.
    Call {
        /// The index of the model in the chain.
        model: usize,
        repair: Option<RepairRequest>,
        /// How many attempts at this model failed in a way that calls for a pause.
        failures: u32,
    },
    /// Make no further attempt.
    GiveUp { why: AbsenceReason, detail: String },
}

/// An answer that could not be used, and the reason. The seat is asked to correct it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RepairRequest {
    pub(crate) answer: String,
    pub(crate) error: String,
    /// Whether the answer counts without the part that the error is about.
    pub(crate) is_unverified: bool,
}

impl RepairRequest {
    /// Whether the answer can be sent back. Providers reject a message without text.
    pub(crate) fn has_text(&self) -> bool {
        !self.answer.trim().is_empty()
    }
}

/// Decides what follows these attempts at the models of `chain`.
///
/// Models in `down` are skipped, except the last of the chain, and except if all of the chain are down.
/// `is_permanent`: the same call would fail like the last attempt did.
pub(crate) fn next_attempt(
    chain: &[&str],
    down: &BTreeSet<&str>,
    attempts: &[CallAttempt],
    limits: &DebateLimits,
    is_permanent: bool,
) -> NextAttempt {
    let all_down = chain.iter().all(|name| down.contains(name));
    let is_skipped = |index: usize, name: &str| !all_down && index + 1 < chain.len() && down.contains(name);
    let first_usable_from = |start: usize| {
        let skipped =
            chain.iter().enumerate().skip(start).take_while(|(index, name)| is_skipped(*index, name));
        start + skipped.count()
    };
    let (mut model, mut failures, mut repairs, mut repair) = (first_usable_from(0), 0, 0, None);
    for (index, attempt) in attempts.iter().enumerate() {
        match chain.iter().position(|name| *name == attempt.model) {
            Some(called) if called > model => (model, failures, repair) = (called, 0, None),
            // The log has an attempt at a model that is skipped by now.
            Some(called) if called < model => continue,
            _ => {}
        }
        // An attempt without a fault was lost in a crash.
        let Some(fault) = &attempt.fault else { continue };
        let is_last = index + 1 == attempts.len();
        let model_is_exhausted = match fault.why {
            // These say nothing about the model.
            AbsenceReason::Cancelled | AbsenceReason::OverBudget => false,
            AbsenceReason::TimedOut | AbsenceReason::Refused => true,
            AbsenceReason::Unreachable => {
                failures += 1;
                failures > limits.retries || (is_last && is_permanent)
            }
            // An errand reads its last message as the request, so it cannot be asked to correct its answer.
            AbsenceReason::Malformed if repairs < limits.repairs && !attempt.errand => {
                repairs += 1;
                let answer = fault.text.clone().unwrap_or_default();
                let (error, is_unverified) = (fault.detail.clone(), fault.unverified);
                repair = Some(RepairRequest { answer, error, is_unverified });
                false
            }
            AbsenceReason::Malformed => {
                return NextAttempt::GiveUp { why: fault.why, detail: fault.detail.clone() };
            }
        };
        if model_is_exhausted {
            (model, failures, repair) = (first_usable_from(model + 1), 0, None);
            // An answer that counts is not worth the call of another model.
            if model >= chain.len() || attempts.iter().take(index + 1).any(is_unverified) {
                return NextAttempt::GiveUp { why: fault.why, detail: fault.detail.clone() };
            }
        }
    }
    NextAttempt::Call { model, repair, failures }
}

/// Whether the answer was sent back only because a declaration in it does not verify.
pub(crate) fn is_unverified(attempt: &CallAttempt) -> bool {
    attempt.fault.as_ref().is_some_and(|fault| fault.unverified)
}

/// How long to wait after so many failures. The delay doubles each time and has jitter, so that debates which failed
/// together do not retry together.
pub(crate) fn retry_delay(settings: &EngineSettings, failures: u32, mut jitter: SeededDraw) -> Duration {
    // The jitter adds up to 100%, so each bound is half of the longest delay.
    let backoff = ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(settings.backoff_first_ms.min(settings.backoff_max_ms)) / 2)
        .with_max_delay(Duration::from_millis(settings.backoff_max_ms) / 2)
        .without_max_times()
        .with_jitter()
        .with_jitter_seed(jitter.next_u64());
    let index = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX);
    backoff.build().nth(index).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use agon_core::CallUsage;
    use agon_core::debate::AttemptFault;

    use super::*;

    fn attempt(model: &str, why: Option<AbsenceReason>) -> CallAttempt {
        let fault = why.map(|why| AttemptFault {
            why,
            detail: "d".into(),
            text: Some("t".into()),
            unverified: false,
            usage: CallUsage::default(),
        });
        CallAttempt { number: 1, model: model.into(), worst_usd: None, worst_tokens: 0, errand: false, fault }
    }

    fn call(model: usize, repair: Option<RepairRequest>, failures: u32) -> NextAttempt {
        NextAttempt::Call { model, repair, failures }
    }

    fn give_up(why: AbsenceReason) -> NextAttempt {
        NextAttempt::GiveUp { why, detail: "d".into() }
    }

    #[test]
    fn retries_repairs_and_fallbacks_continue_from_the_log() {
        use AbsenceReason::{Cancelled, Malformed, Refused, TimedOut, Unreachable};
        let limits = DebateLimits { retries: 1, repairs: 1, ..DebateLimits::default() };
        let repair = || Some(RepairRequest { answer: "t".into(), error: "d".into(), is_unverified: false });
        for (log, expected) in [
            (vec![], call(0, None, 0)),
            (vec![("a", None)], call(0, None, 0)),
            (vec![("a", Some(Cancelled))], call(0, None, 0)),
            (vec![("a", Some(Unreachable))], call(0, None, 1)),
            (vec![("a", Some(Unreachable)), ("a", Some(Unreachable))], call(1, None, 0)),
            (vec![("a", Some(Unreachable)), ("b", Some(Unreachable))], call(1, None, 1)),
            (vec![("a", Some(TimedOut))], call(1, None, 0)),
            (vec![("a", Some(TimedOut)), ("b", Some(Refused))], give_up(Refused)),
            (vec![("a", Some(Malformed))], call(0, repair(), 0)),
            (vec![("a", Some(Malformed)), ("a", Some(Unreachable))], call(0, repair(), 1)),
            (vec![("a", Some(Malformed)), ("a", Some(TimedOut))], call(1, None, 0)),
            (vec![("a", Some(Malformed)), ("a", Some(Malformed))], give_up(Malformed)),
        ] {
            let attempts: Vec<CallAttempt> = log.iter().map(|(model, why)| attempt(model, *why)).collect();
            let next = next_attempt(&["a", "b"], &BTreeSet::new(), &attempts, &limits, false);
            assert_eq!(next, expected, "{log:?}");
        }
        let errand = CallAttempt { errand: true, ..attempt("a", Some(Malformed)) };
        let next = next_attempt(&["a"], &BTreeSet::new(), &[errand], &limits, false);
        assert_eq!(next, give_up(Malformed), "an errand is not asked to correct its answer");
    }

    #[test]
    fn models_that_are_down_are_skipped() {
        use AbsenceReason::{TimedOut, Unreachable};
        let limits = DebateLimits { retries: 0, ..DebateLimits::default() };
        for (down, log, expected) in [
            (&[][..], vec![], call(0, None, 0)),
            (&["a"], vec![], call(1, None, 0)),
            (&["a", "b"], vec![], call(2, None, 0)),
            (&["b"], vec![], call(0, None, 0)),
            (&["b"], vec![("a", TimedOut)], call(2, None, 0)),
            (&["c"], vec![("a", TimedOut), ("b", Unreachable)], call(2, None, 0)),
            (&["a", "b"], vec![("c", TimedOut)], give_up(TimedOut)),
            (&["a", "b", "c"], vec![], call(0, None, 0)),
            (&["a", "b", "c"], vec![("a", TimedOut)], call(1, None, 0)),
            (&["a"], vec![("a", TimedOut)], call(1, None, 0)),
        ] {
            let attempts: Vec<CallAttempt> =
                log.iter().map(|(model, why)| attempt(model, Some(*why))).collect();
            let skipped = down.iter().copied().collect();
            let next = next_attempt(&["a", "b", "c"], &skipped, &attempts, &limits, false);
            assert_eq!(next, expected, "{down:?} {log:?}");
        }
        let next = next_attempt(&["a"], &BTreeSet::from(["a"]), &[], &limits, false);
        assert_eq!(next, call(0, None, 0), "the only model of a chain is never skipped");
    }

    #[test]
    fn a_permanent_fault_moves_to_the_next_model_without_retries() {
        let attempts = [attempt("a", Some(AbsenceReason::Unreachable))];
        let next =
            |chain: &[&str]| next_attempt(chain, &BTreeSet::new(), &attempts, &DebateLimits::default(), true);
        assert_eq!(next(&["a", "b"]), call(1, None, 0));
        assert_eq!(next(&["a"]), give_up(AbsenceReason::Unreachable));
    }

    #[test]
    fn delays_double_with_jitter_up_to_the_maximum() {
        let settings = EngineSettings { backoff_first_ms: 100, backoff_max_ms: 1_000, ..Default::default() };
        for seed in 0..50 {
            for (failures, most_ms) in [(1, 100), (2, 200), (3, 400), (4, 800), (5, 1_000), (60, 1_000)] {
                let delay_ms = retry_delay(&settings, failures, SeededDraw::new(seed, "pause")).as_millis();
                assert!(
                    (most_ms / 2..=most_ms).contains(&delay_ms),
                    "{delay_ms} ms after {failures} failures, seed {seed}"
                );
            }
        }
        let delay = |seed| retry_delay(&settings, 1, SeededDraw::new(seed, "pause"));
        assert!((1..50).any(|seed| delay(seed) != delay(0)), "no jitter");
    }
}
