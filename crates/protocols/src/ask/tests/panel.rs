//! "then a `panel` of judges on what still divides."

use super::*;

/// "The answer stands when the panel's verdict score reaches `stands_from` (default 3.0 of 5)": both sides.
#[test]
fn the_answer_stands_if_it_reaches_the_score_of_stands_from() {
    for (score, set, stands) in [
        (3.0, &[][..], true),
        (2.9, &[], false),
        (3.5, &[("stands_from", "3.6")], false),
        (3.6, &[("stands_from", "3.6")], true),
    ] {
        let script = LadderScript { firsts: &["2", "8", "8", "8"], score, ..SCRIPT };
        let debate = script.run(set);
        let outcome = outcome(&debate);
        let (decided_by, answer) = if stands { ("panel", "2 workers.") } else { ("first_round_vote", "8") };
        assert_eq!(
            (&outcome.verdict["decided_by"], &outcome.verdict["answer"]),
            (&json!(decided_by), &json!(answer)),
            "{score}"
        );
        assert_eq!((outcome.termination, outcome.status), (Termination::Consensus, Status::Complete));
        assert_eq!(outcome.verdict["steps"][2]["ruling"]["stands"], stands);
        assert_eq!(outcome.rounds_completed, 2 + 1, "two rounds of the debate, one of the panel");
        let has_warning = outcome
            .warnings
            .iter()
            .any(|warning| warning.ends_with("the plain vote on the first answers, 3 of 4"));
        assert_eq!(has_warning, !stands, "{:?}", outcome.warnings);
    }
}

/// Rule 12: "A seat that still holds a position which the verdict rejects is dissent": what it holds at the end, also where its first
/// answer won the vote. That position was given up, and nobody's winning votes of one model go without a warning.
#[test]
fn who_holds_something_else_at_the_end_than_the_vote_says_is_dissent() {
    let changes = [ChangedMind { place: 0, to: "2", words: "Two workers after all", is_evidenced: true }];
    let script = LadderScript { firsts: &["8", "2", "8", "3"], changes: &changes, score: 1.0, ..SCRIPT };
    let debate = script.run(&[]);
    let outcome = outcome(&debate);
    assert_eq!(
        (&outcome.verdict["decided_by"], &outcome.verdict["answer"]),
        (&json!("first_round_vote"), &json!("8"))
    );
    let fates: Vec<Fate> = outcome.positions.iter().map(|first| first.fate).collect();
    assert_eq!(fates, [Fate::Refuted, Fate::Minority, Fate::Adopted, Fate::Minority]);
    let reason = &outcome.positions[0].reason;
    assert!(
        reason.starts_with("in round 2, citing"),
        "its holder left it, although it won the vote: {reason}"
    );
    let dissent: Vec<&str> =
        outcome.dissent.iter().map(|entry| entry["position"].as_str().unwrap().trim()).collect();
    assert_eq!(dissent.len(), 3, "{dissent:?}");
    assert_eq!(dissent[0], "Two workers after all", "not the answer that it left");
    let view = Ask.view(&debate).unwrap();
    assert_eq!(view.dissent.len(), 3);
    let warning = "all 2 votes for the answer are from a/x, whose agreement with itself shows little";
    assert!(outcome.warnings.contains(&warning.to_owned()), "{:?}", outcome.warnings);
    let agon_core::ReportBlock::Pairs(decided) = &view.outline.body[0].blocks[0] else { panic!("pairs") };
    assert!(decided.contains(&("The debate's answer".into(), "2 workers.".into())), "{decided:?}");
}

/// "and no critical finding is held by all"
#[test]
fn the_answer_falls_if_all_judges_hold_a_critical_finding() {
    let script = LadderScript { firsts: &["2", "8", "8", "8"], score: 4.5, critical: true, ..SCRIPT };
    let debate = script.run(&[]);
    let verdict = &outcome(&debate).verdict;
    assert_eq!((&verdict["decided_by"], &verdict["answer"]), (&json!("first_round_vote"), &json!("8")));
    let why = verdict["steps"][2]["ruling"]["why"].as_str().unwrap();
    assert!(why.ends_with("all judges hold a critical finding: Two workers lose jobs."), "{why}");
}

/// A position that was not among the first answers was not voted on.
#[test]
fn a_position_that_came_up_in_the_debate_lost_no_vote() {
    let changes = [ChangedMind { place: 3, to: "5", words: "Five workers", is_evidenced: false }];
    let script = LadderScript { firsts: &["8", "2", "8", "3"], changes: &changes, score: 1.0, ..SCRIPT };
    let dissent = outcome(&script.run(&[])).dissent.clone();
    let reasons: Vec<&str> = dissent.iter().map(|entry| entry["reason"].as_str().unwrap()).collect();
    // Nothing is said of how many voted against it.
    assert_eq!(reasons, ["the vote on the first answers decided for another position"; 2]);
}

/// "falls back to the plain first-round vote if there is one, and the outcome says so."
#[test]
fn without_a_vote_the_debates_answer_stays_and_a_warning_says_so() {
    let script = LadderScript { firsts: &["2", "8", "8", "2"], score: 1.0, ..SCRIPT };
    let debate = script.run(&[]);
    let outcome = outcome(&debate);
    assert_eq!(
        (&outcome.verdict["decided_by"], &outcome.verdict["answer"]),
        (&json!("debate"), &json!("2 workers."))
    );
    let warning = "the panel gives the answer 1.0 of 5, 3.0 is needed; there is no vote to fall back on: the first answers are tied";
    assert!(outcome.warnings.contains(&warning.to_owned()), "{:?}", outcome.warnings);
}

/// The judges read the answer and the open points with labels only, and the rubric of `ask`.
#[test]
fn judges_read_the_answer_and_the_open_points_without_names() {
    let prompts = RefCell::new(Vec::new());
    let debate = run(&["acme/x1", "beta/y2"], &[], &|ask, phase, round| {
        if phase.starts_with("panel/") {
            prompts.borrow_mut().push(ask.prompt.user());
        }
        let mut reply = SCRIPT.reply(ask, phase, round)?;
        if phase == "answer" {
            reply["why"] = json!("I am acme/x1 and answerer-1.");
        }
        Some(reply)
    });
    let prompts = prompts.into_inner();
    assert!(prompts.len() >= 3);
    for prompt in &prompts[..3] {
        for words in [
            "answer.md",
            "divided.md",
            "2 workers.",
            "- the price of memory",
            "correctness",
            "robustness",
            QUESTION,
            "- Point 1.",
        ] {
            assert!(prompt.contains(words), "{words}");
        }
        assert!(!prompt.contains("acme") && !prompt.contains("answerer-1"), "{prompt}");
        let moderators = "the memory that each worker takes";
        assert!(!prompt.contains(moderators), "a point of the chair and the moderator is listed once");
    }
    let labels = &outcome(&debate).labels;
    assert!(labels.keys().all(|label| prompts[0].contains(&format!("Debater {label}"))));
}

#[test]
fn a_panel_without_a_verdict_leaves_the_answer_as_it_was() {
    let debate = run(&["a/x", "b/y"], &[], &|ask, phase, round| {
        SCRIPT.reply(ask, phase, round).filter(|_| !phase.starts_with("panel/"))
    });
    let outcome = outcome(&debate);
    assert_eq!(
        (&outcome.verdict["decided_by"], &outcome.verdict["answer"]),
        (&json!("debate"), &json!("2 workers."))
    );
    assert_eq!((outcome.termination, outcome.fidelity), (Termination::Stable, Fidelity::Degraded));
    assert!(outcome.warnings.iter().any(|warning| warning.starts_with("the panel came to no verdict")));
    assert_eq!(outcome.verdict["steps"][2]["termination"], "quorum_lost");
}

/// A warning of the panel says that it is the panel's.
#[test]
fn the_warnings_of_the_debate_and_the_panel_are_in_the_outcome() {
    let debate = run(&["a/x", "b/y"], &[], &|ask, phase, round| {
        let mut reply = SCRIPT.reply(ask, phase, round)?;
        match phase {
            "deep/debate" => reply["stance"] = json!("concede"),
            "panel/position" => reply["overall_score"] = json!(4.4),
            _ => {}
        }
        Some(reply)
    });
    let warnings = &outcome(&debate).warnings;
    assert!(
        warnings.iter().any(|warning| warning.starts_with("round 1: Debater A concedes")),
        "{warnings:?}"
    );
    assert!(warnings.iter().any(|warning| warning.starts_with("panel: judge-1 gives 4.4")), "{warnings:?}");
}

/// No two rounds have the same number, so `show --round N` and the cost by round are unambiguous.
#[test]
fn the_panels_rounds_continue_the_numbers_of_the_debates() {
    let debate = SCRIPT.run(&[]);
    let rounds: Vec<(&str, u32)> =
        debate.turns.iter().map(|turn| (turn.phase.name.as_str(), turn.phase.round)).collect();
    assert!(rounds.contains(&("deep/synthesis", 2)) && rounds.contains(&("panel/position", 3)), "{rounds:?}");
}
