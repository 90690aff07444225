//! "Judge and vote disagreeing is reported, not hidden: the vote decides unless `--decide judge`".

use super::*;

/// The vote is for agent-2, the judge's best is agent-1 by more than `judge_gap`.
fn torn(set: &[(&str, &str)], scores: [f64; 3]) -> Outcome {
    let set = [BARE, set].concat();
    Table { set: &set, votes: &|_| vec![2, 2, 1], scores: &move |_, _| scores.to_vec(), ..Table::default() }
        .outcome()
}

#[test]
fn the_vote_decides_unless_the_judge_is_to() {
    let by_vote = torn(&[], [9.0, 6.0, 3.0]);
    assert_eq!(
        (&by_vote.verdict["winner_seat"], &by_vote.verdict["decided_by"]),
        (&json!("agent-2"), &json!("vote"))
    );
    let by_judge = torn(&[("decide", "judge")], [9.0, 6.0, 3.0]);
    assert_eq!(
        (&by_judge.verdict["winner_seat"], &by_judge.verdict["decided_by"]),
        (&json!("agent-1"), &json!("judge"))
    );
    for outcome in [by_vote, by_judge] {
        assert_eq!((outcome.termination, outcome.status), (Termination::Consensus, Status::Complete));
        assert_eq!(outcome.verdict["judge"]["agrees_with_vote"], false);
        assert!(warned(&outcome, "the vote and the judge disagree"), "{:?}", outcome.warnings);
        let (winner, seat) = (outcome.verdict["winner"].as_str().unwrap(), &outcome.verdict["winner_seat"]);
        assert_eq!(&json!(outcome.labels[winner]), seat);
        let own =
            &outcome.verdict["proposals"].as_array().unwrap().iter().find(|p| p["label"] == winner).unwrap()
                ["proposal"];
        assert_eq!(&outcome.verdict["answer"], own, "the answer is the winner's final proposal");
    }
}

/// "`no_majority` (`winner` null unless `--decide judge`)".
#[test]
fn without_a_majority_only_the_judge_can_decide() {
    let split = |set: &[(&str, &str)]| {
        let set = [BARE, set].concat();
        Table { set: &set, votes: &|_| SPLIT.to_vec(), ..Table::default() }.outcome()
    };
    let open = split(&[]);
    assert_eq!((open.termination, open.status), (Termination::NoMajority, Status::Complete));
    for empty in ["winner", "winner_seat", "answer", "position", "decided_by"] {
        assert_eq!(open.verdict[empty], Value::Null);
    }
    assert_eq!(open.dissent.len(), 3, "without a decision everybody dissents");
    let judged = split(&[("decide", "judge")]);
    assert_eq!(
        (judged.termination, &judged.verdict["winner_seat"]),
        (Termination::NoMajority, &json!("agent-1"))
    );
    assert_eq!(
        (&judged.verdict["decided_by"], &judged.verdict["consensus"]["reached"]),
        (&json!("judge"), &json!(false))
    );
    assert!((judged.lesson.unwrap().decision.unwrap().share - 1.0 / 3.0).abs() < 1e-9);
}

/// With `--decide judge` and no judge, a consensus of the voters stands.
#[test]
fn a_judge_who_should_decide_and_is_absent_leaves_it_to_the_vote() {
    let set = [BARE, &[("decide", "judge")]].concat();
    let outcome = Table { set: &set, absent: &|_, phase, _| phase == "judge", ..Table::default() }.outcome();
    assert_eq!(
        (&outcome.verdict["winner_seat"], &outcome.verdict["decided_by"]),
        (&json!("agent-1"), &json!("vote"))
    );
    assert_eq!((outcome.termination, outcome.status), (Termination::Consensus, Status::Incomplete));
}
