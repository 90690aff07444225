//! The vote table, in full.

use super::super::reply::{Confidence, Vote};
use super::super::votes::{confidence, decide};
use super::*;

/// All votes of `n` councillors, whoever sits where.
fn all(n: usize) -> Vec<Vec<Vote>> {
    (0..4_usize.pow(n as u32))
        .map(|code| (0..n).map(|at| Vote::ALL[code / 4_usize.pow(at as u32) % 4]).collect())
        .collect()
}

/// "Unanimity first: all PROCEED is PROCEED, all DO NOT PROCEED is that; then a majority of the first two is PROCEED WITH
/// CONDITIONS, a majority of the last two is RECONSIDER; an even split is RECONSIDER, `divided`", for all votes of 2 to 6.
#[test]
fn the_vote_table_holds_for_all_votes_of_two_to_six() {
    let mut seen = 0;
    for n in 2..=6 {
        for votes in all(n) {
            let count = |vote: Vote| votes.iter().filter(|other| **other == vote).count();
            let (first_two, last_two) = (
                count(Vote::Proceed) + count(Vote::WithConditions),
                count(Vote::Reconsider) + count(Vote::DoNotProceed),
            );
            let (want, divided) = if count(Vote::Proceed) == n {
                ("PROCEED", false)
            } else if count(Vote::DoNotProceed) == n {
                ("DO NOT PROCEED", false)
            } else if 2 * first_two > n {
                ("PROCEED WITH CONDITIONS", false)
            } else if 2 * last_two > n {
                ("RECONSIDER", false)
            } else {
                ("RECONSIDER", true)
            };
            let decided = decide(&votes).unwrap();
            assert_eq!((decided.vote.as_str(), decided.divided), (want, divided), "{votes:?}");
            let sure = |settled| confidence(&votes, settled).unwrap();
            let over = 4 * first_two.max(last_two) > 3 * n;
            let want = match (divided, over) {
                (true, _) => Confidence::Low,
                (false, true) => Confidence::High,
                (false, false) => Confidence::Medium,
            };
            assert_eq!(sure(true), want, "{votes:?}");
            assert_eq!(sure(false), want.min(Confidence::Medium), "{votes:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, 16 + 64 + 256 + 1024 + 4096);
    assert_eq!(decide(&[]), None, "without a vote there is no decision");
    for vote in Vote::ALL {
        assert_eq!((decide(&[vote]), confidence(&[vote], true)), (None, None), "one vote is no quorum");
    }
}

fn voted(votes: [&'static str; 4], change: &'static str) -> Outcome {
    outcome(&[], &move |ask, phase, round| {
        with(ask, phase, round, &|said| {
            let place = SEATS.iter().position(|seat| *seat == ask.seat);
            match (phase, place) {
                ("verdict", Some(place)) => said["vote"] = json!(votes[place]),
                ("challenge", Some(0)) if change == round.to_string() => {
                    said["changed"] = json!(true);
                    said["because"] = json!("the figures");
                    said["position"] = json!("Not before the figures are in.");
                }
                _ => {}
            }
        })
    })
}

/// "HIGH over 75% on one side and no change in the last round, MEDIUM any other majority, LOW divided": 75% is not over 75%.
#[test]
fn confidence_is_high_only_over_75_percent_and_when_nobody_moved_at_the_end() {
    let (yes, but, no) = ("PROCEED", "PROCEED WITH CONDITIONS", "DO NOT PROCEED");
    for (votes, change, decision, confidence) in [
        ([yes, yes, yes, yes], "", "PROCEED", "HIGH"),
        ([yes, yes, yes, but], "", "PROCEED WITH CONDITIONS", "HIGH"),
        ([yes, yes, but, no], "", "PROCEED WITH CONDITIONS", "MEDIUM"),
        ([yes, yes, no, no], "", "RECONSIDER", "LOW"),
        ([yes, yes, yes, yes], "2", "PROCEED", "MEDIUM"),
        ([yes, yes, yes, yes], "1", "PROCEED", "HIGH"),
        ([no, no, no, no], "", "DO NOT PROCEED", "HIGH"),
        ([no, no, "RECONSIDER", yes], "", "RECONSIDER", "MEDIUM"),
    ] {
        let outcome = voted(votes, change);
        let verdict = &outcome.verdict;
        assert_eq!(
            (&verdict["decision"], &verdict["confidence"]),
            (&json!(decision), &json!(confidence)),
            "{votes:?}"
        );
        assert_eq!(verdict["divided"], json!(confidence == "LOW"));
    }
}

/// A decision for conditions that nobody names says so.
#[test]
fn conditions_that_nobody_named_are_warned_of() {
    let words = "nobody named a condition";
    assert!(warned(&voted(["PROCEED", "PROCEED", "PROCEED WITH CONDITIONS", "PROCEED"], ""), words));
    assert!(!warned(&voted(["PROCEED"; 4], ""), words));
    let named = outcome(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            if (phase, ask.seat.as_str()) == ("verdict", "critic") {
                said["vote"] = json!("PROCEED WITH CONDITIONS");
                said["conditions"] = json!(["A way back"]);
            }
        })
    });
    assert_eq!(named.verdict["decision"], "PROCEED WITH CONDITIONS");
    assert!(!warned(&named, words));
}

#[test]
fn the_tally_counts_every_kind_and_the_minority_is_told() {
    let outcome = voted(["PROCEED", "RECONSIDER", "PROCEED WITH CONDITIONS", "PROCEED"], "");
    let tally = json!({"PROCEED": 2, "PROCEED WITH CONDITIONS": 1, "RECONSIDER": 1, "DO NOT PROCEED": 0});
    assert_eq!(outcome.verdict["tally"], tally);
    let minority = outcome.verdict["minority_opinion"].as_array().unwrap();
    assert_eq!(minority.len(), 1);
    assert_eq!((&minority[0]["councillor"], &minority[0]["vote"]), (&json!("critic"), &json!("RECONSIDER")));
    assert_eq!(voted(["PROCEED"; 4], "").verdict["minority_opinion"], Value::Null);
}
