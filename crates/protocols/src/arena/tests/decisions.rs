//! "Judge and vote disagreeing is reported, not hidden: the vote decides unless `--decide judge`".

use super::*;

/// The vote is for agent-2, the judge's best is agent-1 by more than `judge_gap`.
fn torn(set: &[(&str, &str)], scores: [f64; 3]) -> Outcome {
    let set = [BARE, set].concat();
    ScriptedArena { set: &set, votes: &|_| vec![2, 2, 1], scores: &move |_, _| scores.to_vec(), ..ScriptedArena::default() }
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
        ScriptedArena { set: &set, votes: &|_| SPLIT.to_vec(), ..ScriptedArena::default() }.outcome()
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
    let outcome = ScriptedArena { set: &set, absent: &|_, phase, _| phase == "judge", ..ScriptedArena::default() }.outcome();
    assert_eq!(
        (&outcome.verdict["winner_seat"], &outcome.verdict["decided_by"]),
        (&json!("agent-1"), &json!("vote"))
    );
    assert_eq!((outcome.termination, outcome.status), (Termination::Consensus, Status::Incomplete));
}

/// With `--decide judge` and a judge that names no best, a consensus of the voters stands; without one nobody wins.
#[test]
fn a_judge_who_should_decide_and_names_no_best_leaves_it_to_the_vote() {
    let set = [BARE, &[("decide", "judge"), ("judge_orders", "2"), ("max_extended_rounds", "0")]].concat();
    let torn = |_: u32, order: usize| if order == 0 { vec![9.0, 5.0, 1.0] } else { vec![5.0, 9.0, 1.0] };
    let table = |votes: [usize; 3], alike: f64| {
        ScriptedArena {
            set: &set,
            votes: &move |_| votes.to_vec(),
            alike: &move |_| alike,
            scores: &torn,
            ..ScriptedArena::default()
        }
        .outcome()
    };
    let stands = table([3, 3, 1], 0.2);
    assert_eq!(
        (&stands.verdict["winner_seat"], &stands.verdict["decided_by"]),
        (&json!("agent-3"), &json!("vote"))
    );
    assert!(
        warned(&stands, "the judge was to decide and names no best: the vote's winner stands"),
        "{:?}",
        stands.warnings
    );
    assert!(stands.lesson.unwrap().decision.is_some());
    // Both tops are in the winning group.
    let same = table([1, 2, 3], 0.9);
    assert_eq!(
        (&same.verdict["winner_seat"], &same.verdict["decided_by"]),
        (&json!("agent-1"), &json!("vote"))
    );
    assert_eq!(
        (&same.verdict["judge"]["top"], &same.verdict["judge"]["agrees_with_vote"]),
        (&Value::Null, &json!(true))
    );
    assert_eq!(same.termination, Termination::Converged);
    let nobody = table(SPLIT, 0.2);
    assert_eq!((&nobody.verdict["winner"], &nobody.verdict["decided_by"]), (&Value::Null, &Value::Null));
    assert!(
        warned(&nobody, "names no best, and the vote reached no consensus (majority): there is no winner"),
        "{:?}",
        nobody.warnings
    );
    assert!(!warned(&ScriptedArena::default().outcome(), "was to decide"));
}
