//! The modes, `--quick`, and what contradicts what.

use super::*;

/// "`--debate` with another mode than validate ends with exit status 2 and exactly: ..." (the seed's own sentence).
#[test]
fn debate_is_only_for_validate_in_exactly_these_words() {
    let sentence =
        "Error: --debate is only supported with validate mode. Debate requires PASS/WARN/FAIL verdicts.";
    for (mode, fits) in [("validate", true), ("brainstorm", false), ("research", false)] {
        let seats = seated(&["a/x"], &[DEBATE, ("mode", mode)]);
        assert_eq!(seats.err().as_deref(), (!fits).then_some(sentence), "{mode}");
        assert!(seated(&["a/x"], &[("mode", mode)]).is_ok());
    }
    // It comes before any other complaint about the request.
    let why = seated(&["a/x"], &[DEBATE, ("mode", "research"), ("quick", "true")]).unwrap_err();
    assert_eq!(why, sentence);
    assert!(
        seated(&["a/x"], &[("mode", "judge")]).unwrap_err().contains("one of validate, brainstorm, research")
    );
}

/// "Modes `validate` (default), `brainstorm`, `research`".
#[test]
fn brainstorm_and_research_give_answers_and_no_verdict() {
    let idea = json!({"key_insight": "Cache it.", "ideas": [{"idea": "A cache", "upside": "fast", "risk": "stale"}],
                      "recommendation": "Measure first."});
    let fact = json!({"key_insight": "It is slow.", "facts": [{"claim": "c", "evidence": "e", "confidence": "LOW"}],
                      "open_questions": ["Why?"], "recommendation": "Ask."});
    for (mode, answer, heading) in [
        ("brainstorm", idea, "find out what could be done"),
        ("research", fact, "find out what is known about it"),
    ] {
        let brief = brief(&["a/x"], &[("mode", mode), ("preset", "research"), ("explorers", "1")]);
        let prompts = RefCell::new(Vec::new());
        let debate = play(brief, &|ask, phase, _| match phase {
            "explore" => Some(json!({"notes": "look here"})),
            _ => {
                prompts.borrow_mut().push(ask.prompt.user());
                Some(answer.clone())
            }
        });
        assert!(
            !Review.info().gates(&debate.brief) && view(&debate).gate.is_none(),
            "no gate without a verdict"
        );
        assert_eq!(phases(&debate), ["explore", "r1"]);
        for text in prompts.into_inner() {
            assert!(text.contains(heading) && text.contains("look here") && !text.contains("PASS"), "{text}");
        }
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!((&outcome.verdict["verdict"], &outcome.verdict["mode"]), (&Value::Null, &json!(mode)));
        assert_eq!((outcome.passed, agon_core::document::exit_status(&debate)), (None, 0));
        let answers = outcome.verdict["answers"].as_array().unwrap();
        let who: Vec<_> = answers.iter().map(|answer| answer["judge"].as_str().unwrap()).collect();
        assert_eq!(who, ["breadth", "depth", "contrarian"]);
        assert_eq!(
            (&answers[0]["key_insight"], &answers[0]["recommendation"]),
            (&answer["key_insight"], &answer["recommendation"])
        );
        assert_eq!(outcome.verdict["footer"], "3/3 R1, 0/3 R2, fidelity full");
        assert!(
            outcome.positions.iter().all(|position| position.fate == Fate::Adopted)
                && outcome.positions.len() == 3
        );
        assert_eq!(view(&debate).round_summaries, []);
        assert_eq!(view(&debate).records.len(), 4, "a file for each, and the report");
    }
}

#[test]
fn modes_without_verdicts_fail_when_nobody_answers() {
    for (present, status, exit) in
        [(0, Status::Failed, 3), (1, Status::Complete, 0), (2, Status::Complete, 0)]
    {
        let debate = play(brief(&["a/x"], &[("mode", "brainstorm")]), &|ask, _, _| {
            let number: u32 = ask.seat.trim_start_matches("judge-").parse().unwrap();
            (number <= present).then(|| json!({"key_insight": "k"}))
        });
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!(
            (outcome.status, agon_core::document::exit_status(&debate)),
            (status, exit),
            "{present} present"
        );
        assert_eq!(outcome.fidelity == Fidelity::Full, present == 2);
    }
}

/// "`--quick`: one judge, no R2; `--quick --debate` is an error", and so is whatever asks for more than one judge.
#[test]
fn quick_is_one_judge_and_nothing_that_contradicts_it() {
    const QUICK: (&str, &str) = ("quick", "true");
    for (set, words) in [
        (&[QUICK, DEBATE][..], "--debate"),
        (&[QUICK, ("deep", "true")], "--deep"),
        (&[QUICK, ("count", "2")], "--count over 1"),
        (&[QUICK, ("perspectives", "cost,risk")], "more than one perspective"),
        (&[QUICK, ("preset", "ops")], "more than one perspective"),
        (&[QUICK, ("mixed", "b/y")], "--mixed"),
    ] {
        let why = seated(&["a/x"], set).unwrap_err();
        assert!(
            why.contains("--quick is one judge and no second round: omit") && why.contains(words),
            "{why}"
        );
    }
    for set in [
        &[QUICK][..],
        &[QUICK, ("count", "1")],
        &[QUICK, ("perspectives", "cost")],
        &[QUICK, ("mode", "research")],
        &[QUICK, STRICT],
    ] {
        let seats = seated(&["a/x", "b/y"], set).unwrap();
        assert_eq!(seats.iter().map(|seat| seat.model.as_str()).collect::<Vec<_>>(), ["a/x"], "{set:?}");
    }
    assert_eq!(seated(&["a/x"], &[QUICK, ("explorers", "5")]).unwrap().len(), 6);
    let debate = ruled(&["a/x"], &[QUICK], &[("judge-1", "WARN", "")]);
    assert_eq!(phases(&debate), ["r1"]);
    assert_eq!(debate.outcome.unwrap().verdict["footer"], "1/1 R1, 0/1 R2, fidelity full");
}

#[test]
fn strict_anchoring_without_debate_says_that_it_does_nothing() {
    let lines = [("judge-1", "WARN", "WARN"), ("judge-2", "WARN", "WARN")];
    for (set, said) in [(&[STRICT][..], true), (&[STRICT, DEBATE], false), (&[], false)] {
        let outcome = outcome(&["a/x"], set, &lines);
        assert_eq!(warns(&outcome, "strict_anchoring does nothing without debate"), said, "{set:?}");
        assert_eq!(outcome.fidelity, Fidelity::Full);
    }
}

#[test]
fn validate_is_a_gate() {
    assert!(Review.info().gates(&brief(&["a/x"], &[])));
}
