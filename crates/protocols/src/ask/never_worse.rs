//! "`--never-worse` keeps the plain first-round vote unless the debate's change is backed by evidenced flips."

use std::collections::BTreeMap;

use agon_core::{Flip, Held, Stands};
use serde_json::{Value, json};

use super::positions::vote;

/// What comes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NeverWorse {
    /// Whether the vote is kept against the debate.
    pub(super) kept: bool,
    pub(super) why: String,
    vote: Option<String>,
    debate: Option<String>,
}

impl NeverWorse {
    /// Weighs what the debate came to, by its position where it has one, against the vote on the first answers.
    pub(super) fn weigh(stands: &Stands, decided: Option<&str>) -> Self {
        let vote = stands.rounds.first().and_then(vote);
        let (kept, why) = match vote {
            None => (false, "the vote on the first answers has no winner that could be kept".to_owned()),
            Some(vote) if Some(vote) == decided => {
                (false, "the debate came to what the vote says".to_owned())
            }
            Some(_) => backing(stands, decided),
        };
        Self { kept, why, vote: vote.map(str::to_owned), debate: decided.map(str::to_owned) }
    }

    pub(super) fn record(&self) -> Value {
        json!({"kept": self.kept, "why": self.why, "vote": self.vote, "debate": self.debate})
    }
}

/// Whether the flips toward what was decided leave the vote to be kept: at least one names evidence, and no fewer do than do not.
fn backing(stands: &Stands, decided: Option<&str>) -> (bool, String) {
    let Some(decided) = decided else {
        return (
            true,
            "the debate came to an answer that nobody held, so that no change of mind backs it".to_owned(),
        );
    };
    let (evidenced, bare): (Vec<_>, Vec<_>) =
        changed_over(stands, decided).into_iter().partition(|flip| flip.evidenced);
    let (e, b) = (evidenced.len(), bare.len());
    let count =
        |n: usize| if n == 1 { "1 change of mind".to_owned() } else { format!("{n} changes of mind") };
    match (e, b) {
        (0, 0) => (true, "nobody changed over to what the debate came to".to_owned()),
        (0, _) => (true, format!("{} led to what the debate came to, none with evidence", count(b))),
        _ if b > e => {
            (true, format!("{} led to what the debate came to, only {e} with evidence", count(e + b)))
        }
        _ => (false, format!("{} led to what the debate came to, {e} with evidence", count(e + b))),
    }
}

/// The last flip of each seat that held something else at first and holds what was decided in the end: who went there and back,
/// or left and came back, has changed nothing.
fn changed_over(stands: &Stands, decided: &str) -> Vec<Flip> {
    let holds = |held: Option<&Held>, seat: &str| {
        held.is_some_and(|held| {
            held.stands.iter().any(|stand| stand.seat == seat && stand.position == decided)
        })
    };
    let mut last: BTreeMap<String, Flip> = BTreeMap::new();
    for flip in stands.flips() {
        last.insert(flip.seat.clone(), flip);
    }
    let over = |flip: &Flip| {
        let changed = flip.to == decided && flip.from != decided;
        changed && holds(stands.rounds.last(), &flip.seat) && !holds(stands.rounds.first(), &flip.seat)
    };
    last.into_values().filter(over).collect()
}

#[cfg(test)]
mod tests {
    use agon_core::{Change, Stand};

    use super::*;

    /// A round: what each seat holds, and how much it names where it changed.
    type Then<'a> = &'a [(&'a str, Option<usize>)];

    fn stands(first: &[&str], then: Then<'_>) -> Stands {
        rounds(first, &[then])
    }

    fn rounds(first: &[&str], then: &[Then<'_>]) -> Stands {
        let stand = |place: usize, position: &str, cited: Option<usize>| Stand {
            seat: format!("debater-{place}"),
            position: position.to_owned(),
            change: cited.map(|n| Change { cited: vec!["Debater B".to_owned(); n] }),
            ..Stand::default()
        };
        let held = |round, stands| Held { round, stands, ..Held::default() };
        let before = first.iter().enumerate().map(|(place, p)| stand(place, p, None)).collect();
        let after =
            |then: Then<'_>| then.iter().enumerate().map(|(n, (p, cited))| stand(n, p, *cited)).collect();
        let rounds = (1..).zip(then).map(|(round, then)| held(round, after(then)));
        Stands { rounds: [held(0, before)].into_iter().chain(rounds).collect(), ..Stands::default() }
    }

    /// "keeps the plain first-round vote unless [...] backed by evidenced flips": both sides of the rule.
    #[test]
    fn only_evidenced_flips_beat_the_vote() {
        let first = ["x", "x", "x", "y"];
        for (then, kept) in [
            ([("y", Some(1)), ("x", None), ("x", None), ("y", None)], false),
            ([("y", Some(0)), ("x", None), ("x", None), ("y", None)], true),
            ([("y", Some(1)), ("y", Some(0)), ("x", None), ("y", None)], false),
            ([("y", Some(1)), ("y", Some(0)), ("y", Some(0)), ("y", None)], true),
            ([("x", None), ("x", None), ("x", None), ("y", None)], true),
            // Evidence that leads elsewhere backs nothing.
            ([("z", Some(3)), ("y", Some(0)), ("x", None), ("y", None)], true),
        ] {
            let weighed = NeverWorse::weigh(&stands(&first, &then), Some("y"));
            assert_eq!(weighed.kept, kept, "{then:?}: {}", weighed.why);
        }
    }

    /// "unless the debate's change is backed by evidenced flips": a flip that was taken back backs nothing.
    #[test]
    fn there_and_back_is_no_change() {
        let first = ["x", "x", "x", "y"];
        let there = [("y", Some(2)), ("x", None), ("x", None), ("y", None)];
        let back = [("x", Some(0)), ("x", None), ("x", None), ("y", None)];
        let weigh = |then: &[Then<'_>]| NeverWorse::weigh(&rounds(&first, then), Some("y"));
        assert!(!weigh(&[&there]).kept);
        let taken_back = weigh(&[&there, &back]);
        assert!(taken_back.kept && taken_back.why.contains("nobody changed over"), "{}", taken_back.why);
        let again = [("y", Some(0)), ("x", None), ("x", None), ("y", None)];
        let last = weigh(&[&there, &back, &again]);
        assert!(last.kept && last.why.contains("none with evidence"), "the last flip counts: {}", last.why);
        let left = [("x", None), ("x", None), ("x", None), ("x", Some(0))];
        let returned = [("x", None), ("x", None), ("x", None), ("y", Some(1))];
        assert!(weigh(&[&left, &returned]).kept, "who held it at first was counted in the vote");
    }

    /// "A tied vote (no plurality) cannot be kept: say so."
    #[test]
    fn a_tied_vote_cannot_be_kept() {
        let weighed = NeverWorse::weigh(&stands(&["x", "y"], &[("y", Some(0)), ("y", None)]), Some("y"));
        assert!(!weighed.kept && weighed.why.contains("no winner"), "{}", weighed.why);
        let weighed = NeverWorse::weigh(&stands(&["x", "x"], &[("x", None), ("x", None)]), Some("x"));
        assert!(!weighed.kept && weighed.why.contains("what the vote says"), "{}", weighed.why);
        let weighed = NeverWorse::weigh(&stands(&["x", "x"], &[("x", None), ("x", None)]), None);
        assert!(weighed.kept && weighed.why.contains("nobody held"), "{}", weighed.why);
    }
}
