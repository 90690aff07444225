//! What to do after an attempt: a pure function of the attempts in the log, so that a resumed debate goes on as it would have.

use std::collections::BTreeSet;
use std::time::Duration;

use agon_core::debate::Attempt;
use agon_core::seed::Draw;
use agon_core::{Absence, Limits};
use backon::{BackoffBuilder, ExponentialBuilder};

use crate::Settings;

/// What to do next for an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next<'a> {
    /// Call the link at this place of the chain.
    Try {
        link: usize,
        /// The answer that could not be used and why, where the seat is asked to repair it.
        repair: Option<(&'a str, &'a str)>,
        /// How often this link failed in a way that makes waiting worth while.
        failures: u32,
    },
    /// Nothing more will be tried.
    GiveUp { why: Absence, detail: &'a str },
}

/// What comes after these attempts over a chain with these names. `down` are models that are passed over, unless they stand
/// last or all of the chain are down. `hopeless`: the last fault would be the same again.
pub(crate) fn next<'a>(
    links: &[&str],
    down: &BTreeSet<&str>,
    attempts: &'a [Attempt],
    limits: &Limits,
    hopeless: bool,
) -> Next<'a> {
    let all_down = links.iter().all(|name| down.contains(name));
    let passed_over =
        |(place, name): (usize, &&str)| !all_down && place + 1 < links.len() && down.contains(name);
    let from = |place: usize| {
        let passed = links.iter().enumerate().skip(place).take_while(|link| passed_over(*link));
        place + passed.count()
    };
    let (mut link, mut failures, mut repairs, mut repair) = (from(0), 0, 0, None);
    for (place, attempt) in attempts.iter().enumerate() {
        match links.iter().position(|name| *name == attempt.model) {
            Some(called) if called > link => (link, failures, repair) = (called, 0, None),
            // Of a model that is passed over by now.
            Some(called) if called < link => continue,
            _ => {}
        }
        // An attempt without a fault was lost in a crash, and a cancelled one says nothing about the model.
        let Some(fault) = &attempt.fault else { continue };
        let last = place + 1 == attempts.len();
        let exhausted = match fault.why {
            Absence::Cancelled | Absence::OverBudget => false,
            Absence::TimedOut | Absence::Refused => true,
            Absence::Unreachable => {
                failures += 1;
                failures > limits.retries || (last && hopeless)
            }
            Absence::Malformed if repairs < limits.repairs => {
                repairs += 1;
                repair = Some((fault.text.as_deref().unwrap_or_default(), fault.detail.as_str()));
                false
            }
            Absence::Malformed => return Next::GiveUp { why: fault.why, detail: &fault.detail },
        };
        if exhausted {
            (link, failures, repair) = (from(link + 1), 0, None);
            if link >= links.len() {
                return Next::GiveUp { why: fault.why, detail: &fault.detail };
            }
        }
    }
    Next::Try { link, repair, failures }
}

/// The longest that a provider may ask to be left alone.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// How long to wait after so many failures: doubling, and spread so that debates which failed together do not come back
/// together.
pub(crate) fn pause(settings: &Settings, failures: u32, mut spread: Draw) -> Duration {
    // The jitter adds up to as much again, so half of each bound makes the whole the longest wait.
    let backoff = ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(settings.backoff_first_ms.min(settings.backoff_max_ms)) / 2)
        .with_max_delay(Duration::from_millis(settings.backoff_max_ms) / 2)
        .without_max_times()
        .with_jitter()
        .with_jitter_seed(spread.next_u64());
    let place = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX);
    backoff.build().nth(place).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use agon_core::Usage;
    use agon_core::debate::Fault;

    use super::*;

    fn attempt(model: &str, why: Option<Absence>) -> Attempt {
        let fault =
            why.map(|why| Fault { why, detail: "d".into(), text: Some("t".into()), usage: Usage::default() });
        Attempt { number: 1, model: model.into(), worst_usd: None, errand: false, fault }
    }

    #[test]
    fn retries_repairs_and_the_chain_continue_from_the_log() {
        use Absence::{Cancelled, Malformed, Refused, TimedOut, Unreachable};
        let limits = Limits { retries: 1, repairs: 1, ..Limits::default() };
        let go = |link, repair, failures| Next::Try { link, repair, failures };
        let give_up = |why| Next::GiveUp { why, detail: "d" };
        let repair = Some(("t", "d"));
        for (log, want) in [
            (vec![], go(0, None, 0)),
            (vec![("a", None)], go(0, None, 0)),
            (vec![("a", Some(Cancelled))], go(0, None, 0)),
            (vec![("a", Some(Unreachable))], go(0, None, 1)),
            (vec![("a", Some(Unreachable)), ("a", Some(Unreachable))], go(1, None, 0)),
            (vec![("a", Some(Unreachable)), ("b", Some(Unreachable))], go(1, None, 1)),
            (vec![("a", Some(TimedOut))], go(1, None, 0)),
            (vec![("a", Some(TimedOut)), ("b", Some(Refused))], give_up(Refused)),
            (vec![("a", Some(Malformed))], go(0, repair, 0)),
            (vec![("a", Some(Malformed)), ("a", Some(Unreachable))], go(0, repair, 1)),
            (vec![("a", Some(Malformed)), ("a", Some(TimedOut))], go(1, None, 0)),
            (vec![("a", Some(Malformed)), ("a", Some(Malformed))], give_up(Malformed)),
        ] {
            let attempts: Vec<Attempt> = log.iter().map(|(model, why)| attempt(model, *why)).collect();
            assert_eq!(next(&["a", "b"], &BTreeSet::new(), &attempts, &limits, false), want, "{log:?}");
        }
    }

    /// "The second takes the seat when the first is down", from the start; the last has nobody to take its seat.
    #[test]
    fn models_that_are_down_are_passed_over() {
        use Absence::{TimedOut, Unreachable};
        let limits = Limits { retries: 0, ..Limits::default() };
        let go = |link| Next::Try { link, repair: None, failures: 0 };
        for (down, log, want) in [
            (&[][..], vec![], go(0)),
            (&["a"], vec![], go(1)),
            (&["a", "b"], vec![], go(2)),
            (&["b"], vec![], go(0)),
            (&["b"], vec![("a", TimedOut)], go(2)),
            (&["c"], vec![("a", TimedOut), ("b", Unreachable)], go(2)),
            (&["a", "b"], vec![("c", TimedOut)], Next::GiveUp { why: TimedOut, detail: "d" }),
            (&["a", "b", "c"], vec![], go(0)),
            (&["a", "b", "c"], vec![("a", TimedOut)], go(1)),
            (&["a"], vec![("a", TimedOut)], go(1)),
        ] {
            let attempts: Vec<Attempt> = log.iter().map(|(model, why)| attempt(model, Some(*why))).collect();
            let passed = down.iter().copied().collect();
            assert_eq!(next(&["a", "b", "c"], &passed, &attempts, &limits, false), want, "{down:?} {log:?}");
        }
        let only = BTreeSet::from(["a"]);
        assert_eq!(next(&["a"], &only, &[], &limits, false), go(0), "an only model is never passed over");
    }

    #[test]
    fn a_hopeless_fault_goes_straight_to_the_next_link() {
        let attempts = [attempt("a", Some(Absence::Unreachable))];
        let limits = Limits::default();
        assert_eq!(
            next(&["a", "b"], &BTreeSet::new(), &attempts, &limits, true),
            Next::Try { link: 1, repair: None, failures: 0 }
        );
        let why = Absence::Unreachable;
        assert_eq!(
            next(&["a"], &BTreeSet::new(), &attempts, &limits, true),
            Next::GiveUp { why, detail: "d" }
        );
    }

    #[test]
    fn pauses_double_with_jitter_up_to_the_longest() {
        let settings = Settings { backoff_first_ms: 100, backoff_max_ms: 1_000, ..Settings::default() };
        for seed in 0..50 {
            for (failures, most_ms) in [(1, 100), (2, 200), (3, 400), (4, 800), (5, 1_000), (60, 1_000)] {
                let got = pause(&settings, failures, Draw::new(seed, "pause")).as_millis();
                assert!(
                    (most_ms / 2..=most_ms).contains(&got),
                    "{got} ms after {failures} failures, seed {seed}"
                );
            }
        }
        let of = |seed| pause(&settings, 1, Draw::new(seed, "pause"));
        assert!((1..50).any(|seed| of(seed) != of(0)), "no jitter");
    }
}
