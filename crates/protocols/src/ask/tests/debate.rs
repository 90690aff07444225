//! "if not, `deep` with more seats".

use super::*;

/// "Nothing paid for is lost: the two answers of step 1 are the Stage 1 answers of debaters 1 and 2, so `deep/answer` asks only the
/// others."
#[test]
fn the_debate_starts_from_the_answers_of_the_first_two() {
    let asked = RefCell::new(Vec::new());
    let debate = run(&["a/x", "b/y"], &[], &|ask, phase, round| {
        asked.borrow_mut().push((phase.to_owned(), ask.seat.clone(), ask.prompt.user()));
        SCRIPT.reply(ask, phase, round)
    });
    let asked = asked.into_inner();
    let asks_of = |phase: &str| asked.iter().filter(move |(name, ..)| name == phase).collect::<Vec<_>>();
    let seats = |phase: &str| asks_of(phase).iter().map(|(_, seat, _)| seat.clone()).collect::<Vec<_>>();
    assert_eq!(seats("deep/answer"), ["debater-3", "debater-4"]);
    assert_eq!(asks_of("answer")[0].2, asks_of("deep/answer")[0].2, "all first answers have the same prompt");
    for place in 0..4 {
        let text = format!("{}\n\nReason {place}.", SCRIPT.firsts[place]);
        assert!(asks_of("deep/debate").iter().all(|(.., prompt)| prompt.contains(&text)), "{text}");
    }
    assert_eq!(outcome(&debate).labels.len(), 4);
    assert_eq!(outcome(&debate).positions.len(), 4);
}

/// "agreement -> `consensus`; deep's own"
#[test]
fn a_debate_that_converges_decides_without_a_panel() {
    let changes = [ChangedMind { place: 1, to: "2", words: "Two workers after all", is_evidenced: false }];
    let script = LadderScript { agreement: 0.9, changes: &changes, ..SCRIPT };
    let has_panel = |debate: &Debate| phases(debate).iter().any(|phase| phase.starts_with("panel/"));
    // A holdout leaves something to rule on. Numbers are compared by arithmetic, so it shows without the moderator's sorting, too.
    for is_sorted in [true, false] {
        assert!(has_panel(&LadderScript { agreement: 0.9, is_sorted, ..SCRIPT }.run(&[])));
    }
    let debate = script.run(&[]);
    let outcome = outcome(&debate);
    assert!(!has_panel(&debate));
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
    let changes = [ChangedMind { place: 1, to: "2", words: "Two workers after all", is_evidenced: false }];
    let script = LadderScript { changes: &changes, ..SCRIPT };
    let debate = script.run(&[]);
    assert_eq!(outcome(&debate).termination, Termination::Stable);
    assert_eq!(outcome(&debate).verdict["decided_by"], "debate");
    let fates: Vec<Fate> = outcome(&debate).positions.iter().map(|position| position.fate).collect();
    assert_eq!(fates, [Fate::Adopted, Fate::Refuted, Fate::Adopted, Fate::Adopted]);
}

/// "One absent: there is nothing to compare: go to step 2 with what there is."
#[test]
fn if_one_of_the_two_is_absent_the_others_debate() {
    let debate = run(&["a/x", "b/y"], &[], &|ask, phase, round| {
        let is_absent = phase == "answer" && ask.seat == "answerer-2";
        SCRIPT.reply(ask, phase, round).filter(|_| !is_absent)
    });
    let outcome = outcome(&debate);
    assert_eq!(absent_seats(&debate), [("answerer-2".to_owned(), AbsenceReason::TimedOut)]);
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
        SCRIPT.reply(ask, phase, round).filter(|_| ask.seat == "debater-3")
    });
    let outcome = outcome(&debate);
    assert_eq!((outcome.status, outcome.termination), (Status::Incomplete, Termination::QuorumLost));
    assert_eq!((&outcome.verdict["answer"], &outcome.verdict["decided_by"]), (&Value::Null, &Value::Null));
    assert_eq!(outcome.positions.len(), 1);
}

/// If the debate has no answer, the outcome reports the plain vote and is not complete.
#[test]
fn a_debate_without_an_answer_falls_back_to_the_vote() {
    let debate = run(&["a/x", "b/y"], &[], &|ask, phase, round| {
        SCRIPT.reply(ask, phase, round).filter(|_| phase != "deep/synthesis")
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

/// The positions of the debate are named after the first answers where arithmetic sorts those. An unfinished ladder has no decision.
#[test]
fn later_positions_are_named_after_the_first_answers() {
    let changes = [ChangedMind { place: 1, to: "2", words: "I take two workers now", is_evidenced: true }];
    let script = LadderScript { changes: &changes, ..SCRIPT };
    let debate = script.run(&[]);
    let history = Ask.view(&debate).unwrap().positions;
    let positions = |round: usize| -> Vec<&str> {
        history.rounds[round].stands.iter().map(|held| held.position.as_str()).collect()
    };
    assert_eq!((positions(0), positions(2)), (vec!["2", "8", "2", "2"], vec!["2"; 4]));
    let flips = history.flips();
    assert_eq!(flips.len(), 1);
    assert_eq!(
        (flips[0].seat.as_str(), flips[0].from.as_str(), flips[0].to.as_str()),
        ("answerer-2", "8", "2")
    );
    assert!(flips[0].toward_majority == Some(true) && flips[0].evidenced, "{flips:?}");
    assert_eq!((history.rounds[0].ruling.as_deref(), history.decided.name()), (Some("2"), Some("2")));
    for length in 0..=debate.turns.len() {
        let mut unfinished = debate.clone();
        unfinished.turns.truncate(length);
        unfinished.outcome = None;
        assert!(Ask.view(&unfinished).unwrap().positions.decided.name().is_none());
    }
}

/// If the moderator is absent, arithmetic still sorts the first answers.
#[test]
fn numbers_are_sorted_without_a_moderator() {
    let debate = run(&["a/x", "b/y"], &[], &|ask, phase, round| {
        SCRIPT.reply(ask, phase, round).filter(|_| phase != "deep/moderate")
    });
    let first = &Ask.view(&debate).unwrap().positions.rounds[0];
    assert_eq!((first.is_sorted(), vote(first)), (true, Some("2")));
}
