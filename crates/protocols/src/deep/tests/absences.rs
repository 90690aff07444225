//! "A missing voice is data": what absent seats and stand-ins mean for the outcome.

use super::*;

/// "Fewer than 2 answers: `quorum_lost`."
#[test]
fn fewer_than_two_answers_lose_the_quorum() {
    for (present, termination) in
        [(0, Termination::QuorumLost), (1, Termination::QuorumLost), (2, Termination::Converged)]
    {
        let (_, debate) = run_brief(brief(&["a/x", "b/y", "c/z"], &[]), &|ask, phase, round| {
            let number: u32 = ask.seat.trim_start_matches("debater-").parse().unwrap_or(0);
            let is_absent = phase == "answer" && number > present;
            if is_absent { None } else { plain(phase, round, &["minor_update"], &[(0.9, 0.1)]) }
        });
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!(outcome.termination, termination, "{present} present");
        let exit = agon_core::document::exit_status(&debate);
        assert_eq!(exit, if present < 2 { 3 } else { 0 });
        assert_eq!(outcome.labels.len(), present as usize);
        if present < 2 {
            assert_eq!(
                (outcome.status, outcome.verdict["answer"].clone()),
                (Status::Incomplete, Value::Null)
            );
        }
    }
}

/// "An absent debater keeps its last position, is marked `carried`, and does not count in all-`no_change`."
#[test]
fn the_position_of_an_absent_debater_is_carried_and_does_not_count() {
    let outcome = run(&[], &|ask, phase, round| match (phase, ask.seat.as_str()) {
        ("debate", "debater-2") => None,
        ("debate", _) => Some(argument("no_change")),
        _ => plain(phase, round, &[], &[(0.1, 0.9)]),
    });
    assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::Stable, 2));
    assert_eq!(outcome.fidelity, Fidelity::Degraded);
    let stances = outcome.verdict["rounds"][1]["stances"].as_array().unwrap();
    let carried: Vec<_> = stances.iter().filter(|stance| stance["carried"] == true).collect();
    assert_eq!(carried.len(), 1);
    assert_eq!(outcome.labels[carried[0]["debater"].as_str().unwrap()], "debater-2");
}

/// "`stable` needs at least two debaters present, all with `no_change`."
#[test]
fn one_debater_alone_does_not_make_a_round_stable() {
    for (present, termination) in [(1, Termination::MaxRounds), (2, Termination::Stable)] {
        let outcome = run(&[], &|ask, phase, round| {
            let number: u32 = ask.seat.trim_start_matches("debater-").parse().unwrap_or(0);
            let is_absent = phase == "debate" && number > present;
            if is_absent { None } else { plain(phase, round, &["no_change"], &[(0.1, 0.9)]) }
        });
        assert_eq!(outcome.termination, termination, "{present} present");
    }
}

/// "An absent moderator leaves the round `unassessed`: only `stable` and `max_rounds` can end it."
#[test]
fn without_a_moderator_only_stability_and_max_rounds_end_the_loop() {
    for (revision, termination, rounds) in
        [("no_change", Termination::Stable, 2), ("minor_update", Termination::MaxRounds, 3)]
    {
        let outcome = run(&[], &|_, phase, round| match phase {
            "moderate" => None,
            _ => plain(phase, round, &[revision], &[]),
        });
        assert_eq!((outcome.termination, outcome.rounds_completed), (termination, rounds));
        let round = &outcome.verdict["rounds"][0];
        assert_eq!(round["assessed"], false);
        assert_eq!(round.get("agreement_score"), Some(&Value::Null), "unknown is null");
        let input = &outcome.verdict["synthesis_input"];
        assert_eq!(input["convergence_status"], Value::Null);
        let line = input["debate_log"][0].as_str().unwrap();
        assert!(line.ends_with("; unassessed"), "what is open is not known: {line}");
        assert!(outcome.warnings.iter().any(|warning| warning.contains("unassessed")));
    }
}

/// "A round in which no debater is present ends the loop and does not count, and its moderator is not asked: synthesis
/// from the last positions, `quorum_lost`, status `incomplete`, exit 3."
#[test]
fn a_round_without_debaters_ends_the_loop() {
    let (_, debate) =
        run_brief(brief(&["a/x", "b/y", "c/z"], &[]), &|_, phase, round| match (phase, round) {
            ("debate", 2) => None,
            _ => plain(phase, round, &["minor_update"], &[(0.1, 0.9)]),
        });
    let outcome = debate.outcome.as_ref().unwrap();
    assert_eq!(
        (outcome.termination, outcome.status, outcome.rounds_completed),
        (Termination::QuorumLost, Status::Incomplete, 1)
    );
    assert!(debate.turn("moderate", 2).is_none());
    assert_eq!(outcome.verdict["answer"], "Tabs.");
    assert_eq!(agon_core::document::exit_status(&debate), 3);
}

/// "An absent chair is replaced by the moderator's model, then the debaters' in seat order, each model once (status
/// `complete`, `degraded`); when all are absent: `failed`, exit 3, `answer` null, the positions reported."
#[test]
fn an_absent_chair_is_replaced_by_the_other_models_in_order() {
    let mut brief = brief(&["a/x", "b/y", "a/x"], &[]);
    brief.seats[3].model = "m/m".into();
    brief.seats[4].model = "ch/c".into();
    let order = ["ch/c", "m/m", "a/x", "b/y"];
    for answering in 0..=order.len() {
        let (_, debate) = run_brief(brief.clone(), &|ask, phase, round| match phase {
            "synthesis" if Some(ask.model.as_str()) != order.get(answering).copied() => None,
            _ => plain(phase, round, &["no_change"], &[(0.9, 0.1)]),
        });
        let asked: Vec<&str> = debate.turns_of("synthesis").map(|turn| turn.asks[0].model.as_str()).collect();
        assert_eq!(asked, order[..(answering + 1).min(order.len())]);
        let outcome = debate.outcome.as_ref().unwrap();
        if answering == order.len() {
            assert_eq!((outcome.status, outcome.termination), (Status::Failed, Termination::Failed));
            assert_eq!(outcome.verdict["answer"], Value::Null);
            assert_eq!(outcome.verdict["synthesis_input"]["final_stances"].as_array().unwrap().len(), 3);
            assert_eq!(agon_core::document::exit_status(&debate), 3);
        } else {
            assert_eq!((outcome.status, outcome.termination), (Status::Complete, Termination::Converged));
            assert_eq!(outcome.fidelity == Fidelity::Degraded, answering > 0);
            assert_eq!(outcome.verdict["chair"]["stand_in"], answering > 0);
        }
    }
}

/// An answer that was cut off still counts, and a warning says that it was cut off.
#[test]
fn an_answer_that_was_cut_off_degrades_the_debate() {
    let mut brief = brief(&["a/x", "b/y"], &[]);
    brief.seats[0].id = "wordy".into();
    let (_, debate) = run_brief(brief, &|_, phase, round| plain(phase, round, &["no_change"], &[(0.9, 0.1)]));
    let outcome = debate.outcome.unwrap();
    assert_eq!((outcome.status, outcome.fidelity), (Status::Complete, Fidelity::Degraded));
    let warnings: Vec<_> = outcome.warnings.iter().filter(|w| w.contains("cut off")).collect();
    assert_eq!(
        warnings,
        [
            "answer, round 0: wordy was cut off by the limit on output tokens",
            "debate, round 1: wordy was cut off by the limit on output tokens",
            "debate, round 2: wordy was cut off by the limit on output tokens"
        ]
    );
}

/// "An explicit, logged shortening of the oldest transcript entries, never a silent cut". All answers count, so the fidelity stays
/// full.
#[test]
fn a_warning_says_which_entries_a_model_could_not_read() {
    let mut brief = brief(&["a/x", "b/y"], &[]);
    brief.seats[0].id = "forgetful".into();
    let (_, debate) = run_brief(brief, &|_, phase, round| plain(phase, round, &["no_change"], &[(0.9, 0.1)]));
    let outcome = debate.outcome.unwrap();
    assert_eq!((outcome.status, outcome.fidelity), (Status::Complete, Fidelity::Full));
    let warnings: Vec<_> = outcome.warnings.iter().filter(|w| w.contains("could not read")).collect();
    let warning = |round| {
        format!(
            "debate, round {round}: forgetful could not read the 3 oldest of 9 entries (its model reads 2048 tokens)"
        )
    };
    assert_eq!(warnings, [&warning(1), &warning(2)]);
}
