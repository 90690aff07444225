//! "if not, `deep` with more seats".

use super::*;

/// "Nothing paid for is lost: the two answers of step 1 are the Stage 1 answers of debaters 1 and 2, so `deep/answer` asks only the
/// others."
#[test]
fn the_two_answers_are_the_first_answers_of_the_debate() {
    let asked = RefCell::new(Vec::new());
    let debate = run(&["a/x", "b/y"], &[], &|ask, phase, round| {
        asked.borrow_mut().push((phase.to_owned(), ask.seat.clone(), ask.prompt.user()));
        TWO_AND_EIGHT.say(ask, phase, round)
    });
    let asked = asked.into_inner();
    let of = |phase: &str| asked.iter().filter(move |(of, ..)| of == phase).collect::<Vec<_>>();
    let seats = |phase: &str| of(phase).iter().map(|(_, seat, _)| seat.clone()).collect::<Vec<_>>();
    assert_eq!(seats("deep/answer"), ["debater-3", "debater-4"]);
    assert_eq!(of("answer")[0].2, of("deep/answer")[0].2, "all first answers are asked for in the same way");
    for place in 0..4 {
        let text = format!("Reason {place}.\n\nAnswer: {}", TWO_AND_EIGHT.firsts[place]);
        assert!(of("deep/debate").iter().all(|(.., prompt)| prompt.contains(&text)), "{text}");
    }
    assert_eq!(outcome(&debate).labels.len(), 4);
    assert_eq!(outcome(&debate).positions.len(), 4);
}

/// "agreement -> `consensus`; deep's own"
#[test]
fn a_debate_that_converges_is_the_answer_and_needs_no_panel() {
    let script = Script { agreement: 0.9, ..TWO_AND_EIGHT };
    let debate = script.climb(&[]);
    let outcome = outcome(&debate);
    assert!(phases(&debate).iter().all(|phase| !phase.starts_with("panel/")));
    assert_eq!((outcome.termination, outcome.status), (Termination::Converged, Status::Complete));
    assert_eq!(
        (&outcome.verdict["decided_by"], &outcome.verdict["answer"]),
        (&json!("debate"), &json!("2 workers."))
    );
    assert_eq!(
        (&outcome.verdict["position"], &outcome.verdict["why"]),
        (&json!("2"), &json!("The load test shows it."))
    );
    assert_eq!(outcome.rounds_completed, 2);
    assert_eq!(outcome.fidelity, Fidelity::Full);
}

/// "termination is neither converged nor stable-with-one-position"
#[test]
fn a_stable_debate_with_one_position_needs_no_panel() {
    let over = [(1, "2 workers after all", "I measured it.")];
    let script = Script { moves: &over, ..TWO_AND_EIGHT };
    let debate = script.climb(&[("min_rounds", "2")]);
    assert_eq!(outcome(&debate).termination, Termination::Stable);
    assert_eq!(outcome(&debate).verdict["decided_by"], "debate");
    let fates: Vec<Fate> = outcome(&debate).positions.iter().map(|position| position.fate).collect();
    assert_eq!(fates, [Fate::Adopted, Fate::Refuted, Fate::Adopted, Fate::Adopted]);
}

/// "One absent: there is nothing to compare: go to step 2 with what there is."
#[test]
fn with_one_absent_the_debate_is_held_with_those_who_answer() {
    let debate = run(&["a/x", "b/y"], &[], &|ask, phase, round| {
        let lost = phase == "answer" && ask.seat == "answerer-2";
        TWO_AND_EIGHT.say(ask, phase, round).filter(|_| !lost)
    });
    let outcome = outcome(&debate);
    assert_eq!(absent(&debate), [("answerer-2".to_owned(), AbsenceReason::TimedOut)]);
    assert_eq!(
        outcome.verdict["steps"][1]["reason"],
        "there was nothing to compare: no answer came from answerer-2"
    );
    assert_eq!((outcome.status, outcome.fidelity), (Status::Complete, Fidelity::Degraded));
    assert_eq!(outcome.positions.len(), 3);
    assert!(
        debate.turns.iter().filter(|turn| turn.phase.name == "deep/debate").all(|turn| turn.asks.len() == 3)
    );
}

#[test]
fn with_fewer_than_two_answers_the_quorum_is_lost() {
    let debate = run(&["a/x", "b/y"], &[], &|ask, phase, round| {
        TWO_AND_EIGHT.say(ask, phase, round).filter(|_| ask.seat == "debater-3")
    });
    let outcome = outcome(&debate);
    assert_eq!((outcome.status, outcome.termination), (Status::Incomplete, Termination::QuorumLost));
    assert_eq!((&outcome.verdict["answer"], &outcome.verdict["decided_by"]), (&Value::Null, &Value::Null));
    assert_eq!(outcome.positions.len(), 1);
}

/// Where the debate brings no answer, what there is is reported: the plain vote, of a debate that is incomplete.
#[test]
fn a_debate_without_an_answer_leaves_the_vote() {
    let debate = run(&["a/x", "b/y"], &[], &|ask, phase, round| {
        TWO_AND_EIGHT.say(ask, phase, round).filter(|_| phase != "deep/synthesis")
    });
    let outcome = outcome(&debate);
    assert_ne!(outcome.status, Status::Complete);
    assert_eq!(
        (&outcome.verdict["decided_by"], &outcome.verdict["answer"]),
        (&json!("first_round_vote"), &json!("2"))
    );
    assert!(outcome.warnings.contains(
        &"the debate came to no answer: the answer is the plain vote on the first answers, 3 of 4".to_owned()
    ));
}

/// `stands`: "the deep part's stands with `decided` as the ladder decided", also on the way there.
#[test]
fn who_held_what_is_told_by_the_first_answers() {
    let over = [(1, "I now hold 2 workers, as Debater A says", "Debater A measured it.")];
    let script = Script { moves: &over, ..TWO_AND_EIGHT };
    let debate = script.climb(&[]);
    let stands = Ask.view(&debate).unwrap().positions;
    let held = |round: usize| -> Vec<&str> {
        stands.rounds[round].stands.iter().map(|stand| stand.position.as_str()).collect()
    };
    assert_eq!((held(0), held(1)), (vec!["2", "8", "2", "2"], vec!["2"; 4]));
    let flips = stands.flips();
    assert_eq!(flips.len(), 1);
    assert_eq!(
        (flips[0].seat.as_str(), flips[0].from.as_str(), flips[0].to.as_str()),
        ("answerer-2", "8", "2")
    );
    assert!(flips[0].toward_majority && flips[0].evidenced, "{flips:?}");
    assert_eq!((stands.rounds[0].ruling.as_deref(), stands.decided.as_deref()), (Some("2"), Some("2")));
    for length in 0..=debate.turns.len() {
        let mut before = debate.clone();
        before.turns.truncate(length);
        before.outcome = None;
        assert!(Ask.view(&before).unwrap().positions.decided.is_none());
    }
}
