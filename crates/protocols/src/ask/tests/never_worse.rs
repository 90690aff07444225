//! "`--never-worse` keeps the plain first-round vote unless the debate's change is backed by evidenced flips."

use super::*;

const SET: &[(&str, &str)] = &[("never_worse", "true")];
/// One of three who said 8 goes over, and the chair follows the two who then say 2.
const BARE: &[(usize, &str, &str)] = &[(2, "2 workers", "I was persuaded.")];
const EVIDENCED: &[(usize, &str, &str)] =
    &[(2, "2 workers", "Debater A is right: the load test at https://example.org/load shows two suffice.")];

fn script<'a>(moves: &'a [(usize, &'a str, &'a str)]) -> Script<'a> {
    Script { firsts: &["2", "8", "8", "8"], moves, agreement: 0.9, ..TWO_AND_EIGHT }
}

#[test]
fn bare_flips_leave_the_vote_and_evidenced_ones_beat_it() {
    for (moves, set, by, kept) in [
        (BARE, SET, "first_round_vote", json!(true)),
        (EVIDENCED, SET, "debate", json!(false)),
        (BARE, &[], "debate", Value::Null),
    ] {
        let debate = script(moves).climb(set);
        let verdict = &outcome(&debate).verdict;
        assert_eq!(verdict["decided_by"], by, "{verdict}");
        assert_eq!(verdict["never_worse"].get("kept").cloned().unwrap_or_default(), kept);
        if kept == json!(true) {
            assert_eq!((&verdict["answer"], &verdict["position"]), (&json!("8"), &json!("8")));
            assert_eq!(
                (&verdict["never_worse"]["vote"], &verdict["never_worse"]["debate"]),
                (&json!("8"), &json!("2"))
            );
            assert_eq!(Ask.view(&debate).unwrap().positions.decided.as_deref(), Some("8"));
            let fates: Vec<Fate> = outcome(&debate).positions.iter().map(|position| position.fate).collect();
            assert_eq!(
                fates.iter().filter(|fate| **fate == Fate::Adopted).count(),
                3,
                "all who voted for it"
            );
        }
    }
}

/// Where the vote is kept whatever judges say, none is asked: the cheapest thing that is good enough.
#[test]
fn a_vote_that_is_kept_needs_no_panel() {
    let undecided = Script { agreement: 0.2, ..script(BARE) };
    let with_panel = |set| phases(&undecided.climb(set)).iter().any(|phase| phase.starts_with("panel/"));
    assert!(with_panel(&[]) && !with_panel(SET));
}

/// "A tied vote (no plurality) cannot be kept: say so."
#[test]
fn a_tie_is_told() {
    let tied = Script { firsts: &["2", "8", "2", "8"], ..script(&[]) };
    let debate = tied.climb(SET);
    let never_worse = &outcome(&debate).verdict["never_worse"];
    assert_eq!((&never_worse["kept"], &never_worse["vote"]), (&json!(false), &Value::Null));
    assert_eq!(never_worse["why"], "the vote on the first answers has no winner that could be kept");
}

/// Where the two agree there was no debate, and nothing to be kept against it.
#[test]
fn an_agreement_has_nothing_to_keep() {
    let debate = run(&["a/x", "b/y"], SET, &|_, _, _| Some(given("8", "Counted.", 0.5)));
    assert_eq!(outcome(&debate).verdict["never_worse"], Value::Null);
}

/// What is told of the vote is told of what the debate came to, also where judges felled that.
#[test]
fn what_judges_fell_is_still_weighed_as_the_debate_left_it() {
    let felled = Script { agreement: 0.2, score: 1.0, ..script(EVIDENCED) };
    let verdict = &outcome(&felled.climb(SET)).verdict.clone();
    assert_eq!((&verdict["decided_by"], &verdict["answer"]), (&json!("first_round_vote"), &json!("8")));
    assert_eq!(
        (&verdict["never_worse"]["kept"], &verdict["never_worse"]["debate"]),
        (&json!(false), &json!("2"))
    );
}
