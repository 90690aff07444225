//! The seed's table "Timeout and Failure Handling", row by row, and what a limit does.

use super::*;

/// Row 1: "No R2 completion message within `COUNCIL_R2_TIMEOUT` (default 90s) | Read their R1 output file, use R1 verdict for
/// consolidation"; "A late R2 is discarded and logged."
#[test]
fn row_1_no_r2_in_time_uses_the_r1_verdict() {
    for set in [&[DEBATE][..], &[DEBATE, ("r2_timeout", "2.5")]] {
        let lines = [("judge-1", "PASS", "PASS"), ("judge-2", "FAIL", "")];
        let debate = ruled(&["a/x"], set, &lines);
        let outcome = debate.outcome.as_ref().unwrap();
        let late = judge(outcome, "judge-2");
        assert_eq!(
            (&late["used"], &late["verdict"], &late["r2"]),
            (&json!("r1"), &json!("FAIL"), &Value::Null)
        );
        assert_eq!(late["note"], "no R2 (timed out): its R1 verdict is used");
        assert_eq!((&outcome.verdict["verdict"], outcome.fidelity), (&json!("FAIL"), Fidelity::Degraded));
        assert_eq!(outcome.verdict["footer"], "2/2 R1, 1/2 R2, fidelity degraded");
        let logged: Vec<_> = debate
            .absences()
            .map(|(phase, ask, why, _)| (phase.name.as_str(), ask.seat.as_str(), why))
            .collect();
        assert_eq!(logged, [("r2", "judge-2", AbsenceReason::TimedOut)]);
        assert_eq!(outcome.status, Status::Complete);
    }
}

/// Row 2: "All judges fail R2 | Fall back to R1-only consolidation (note in report)".
#[test]
fn row_2_all_fail_r2_and_r1_is_consolidated() {
    for set in [&[DEBATE][..], &[DEBATE, STRICT]] {
        let debate = play(brief(&["a/x"], set), &|ask, phase, _| {
            if phase == "r1" {
                said(ask, phase, &[("judge-1", "PASS", ""), ("judge-2", "WARN", "")])
            } else {
                None
            }
        });
        assert_eq!(debate.turns.len(), 2, "nobody is left to ask");
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!((&outcome.verdict["verdict"], outcome.rounds_completed), (&json!("WARN"), 1), "{set:?}");
        assert!(warns(outcome, "all judges failed in round 2: the verdict rests on round 1 only"), "{set:?}");
        assert_eq!((outcome.status, outcome.fidelity), (Status::Complete, Fidelity::Degraded));
        assert_eq!(outcome.termination, Termination::AllRoundsComplete);
        assert_eq!(outcome.verdict["footer"], "2/2 R1, 0/2 R2, fidelity degraded");
        assert_eq!(agon_core::document::exit_status(&debate), 0);
    }
}

/// Row 3: "R1 judge timed out | No R2 message for that perspective (N-1 in R2)".
#[test]
fn row_3_a_judge_that_missed_r1_has_no_r2() {
    let lines = [("attacker", "PASS", "PASS"), ("defender", "", "FAIL"), ("compliance", "WARN", "PASS")];
    let seen = RefCell::new(Vec::new());
    let debate = play(brief(&["a/x"], &[DEBATE, ("preset", "security-audit")]), &|ask, phase, _| {
        if phase == "r2" {
            seen.borrow_mut().push(ask.prompt.user());
        }
        said(ask, phase, &lines)
    });
    assert_eq!(asked_in(&debate, "r2"), ["attacker", "compliance"]);
    assert!(
        seen.into_inner().iter().all(|text| !text.contains("### defender")),
        "its verdict is not there to read"
    );
    let outcome = debate.outcome.as_ref().unwrap();
    assert_eq!(outcome.verdict["verdict"], "PASS", "two of three are a quorum");
    assert_eq!(outcome.verdict["footer"], "2/3 R1, 2/2 R2, fidelity degraded");
    let absent = judge(outcome, "defender");
    assert_eq!(absent["note"], "no R1 verdict (timed out), so no R2 for it");
    assert_eq!((&absent["used"], &absent["verdict"]), (&Value::Null, &Value::Null));
    assert_eq!(outcome.positions.len(), 2);
}

/// Row 4: "Mixed R2 timeout | Consolidate with available R2 verdicts + R1 fallbacks".
#[test]
fn row_4_some_in_time_and_some_not() {
    let lines = [("judge-1", "FAIL", "PASS"), ("judge-2", "WARN", ""), ("judge-3", "PASS", "PASS")];
    let outcome = outcome(&["a/x"], &[DEBATE, ("count", "3")], &lines);
    let used = ["judge-1", "judge-2", "judge-3"].map(|seat| judge(&outcome, seat)["used"].clone());
    assert_eq!(used, [json!("r2"), json!("r1"), json!("r2")]);
    assert_eq!(outcome.verdict["verdict"], "WARN", "PASS, WARN of round 1, PASS");
    assert_eq!(outcome.verdict["footer"], "3/3 R1, 2/3 R2, fidelity degraded");
    assert_eq!(outcome.rounds_completed, 2);
}

/// "one survivor of R1: no R2, noted; none: error, exit 3."
#[test]
fn one_survivor_has_no_round_2_and_none_is_a_failure() {
    let one = ruled(&["a/x"], &[DEBATE], &[("judge-1", "FAIL", "PASS"), ("judge-2", "", "")]);
    let outcome = one.outcome.as_ref().unwrap();
    assert_eq!((phases(&one), outcome.rounds_completed), (vec!["r1"], 1));
    assert!(warns(outcome, "only one judge gave a verdict in round 1, so there was no round 2"));
    assert_eq!((&outcome.verdict["verdict"], outcome.status), (&json!("FAIL"), Status::Complete));
    assert_eq!(outcome.verdict["footer"], "1/2 R1, 0/1 R2, fidelity degraded");
    assert_eq!(agon_core::document::exit_status(&one), 1);

    let none = ruled(&["a/x"], &[DEBATE], &[]);
    let outcome = none.outcome.as_ref().unwrap();
    assert_eq!((outcome.status, outcome.termination), (Status::Failed, Termination::Failed));
    assert_eq!((&outcome.verdict["verdict"], outcome.passed), (&Value::Null, None));
    assert_eq!(outcome.verdict["footer"], "0/2 R1, 0/0 R2, fidelity degraded");
    assert_eq!((outcome.rounds_completed, agon_core::document::exit_status(&none)), (0, 3));
    assert!(outcome.positions.is_empty() && outcome.dissent.is_empty());

    let two = ruled(
        &["a/x"],
        &[DEBATE, ("count", "3")],
        &[("judge-1", "WARN", "PASS"), ("judge-2", "WARN", "PASS")],
    );
    assert_eq!(asked_in(&two, "r2").len(), 2, "two are enough to read each other");
}

/// Round 2 needs one judge of the first vendor and another judge, of any vendor, to read.
#[test]
fn without_the_first_vendor_there_is_no_round_2() {
    let set = [DEBATE, ("mixed", "b/y")];
    let lines = [("judge-1", "", ""), ("judge-2", "", ""), ("judge-3", "PASS", ""), ("judge-4", "WARN", "")];
    let outcome = outcome(&["a/x"], &set, &lines);
    assert!(warns(
        &outcome,
        "no judge of the first provider gave a verdict in round 1, so there was no round 2"
    ));
    assert_eq!(outcome.verdict["footer"], "2/4 R1, 0/2 R2, fidelity degraded");

    let lines =
        [("judge-1", "PASS", "WARN"), ("judge-2", "", ""), ("judge-3", "WARN", ""), ("judge-4", "", "")];
    let debate = ruled(&["a/x"], &set, &lines);
    assert_eq!(asked_in(&debate, "r2"), ["judge-1"]);
    assert_eq!(debate.outcome.unwrap().verdict["footer"], "2/4 R1, 1/2 R2, fidelity degraded");
}

/// "with `--mixed`, judges that have no R2 by rule count in K, so `4/4 R1, 2/4 R2` is `full`"; and the footer's other shapes.
#[test]
fn the_footer_counts_who_was_heard() {
    let four = [
        ("judge-1", "PASS", "PASS"),
        ("judge-2", "PASS", "PASS"),
        ("judge-3", "PASS", ""),
        ("judge-4", "PASS", ""),
    ];
    for (set, lines, footer) in [
        (&[DEBATE, ("mixed", "b/y")][..], &four[..], "4/4 R1, 2/4 R2, fidelity full"),
        (&[("mixed", "b/y")], &four, "4/4 R1, 0/4 R2, fidelity full"),
        (&[DEBATE, ("mixed", "b/y")], &four[..3], "3/4 R1, 2/3 R2, fidelity degraded"),
        (&[DEBATE, ("mixed", "b/y")], &four[1..], "3/4 R1, 1/3 R2, fidelity degraded"),
        (&[DEBATE], &four[..2], "2/2 R1, 2/2 R2, fidelity full"),
        (&[], &four[..2], "2/2 R1, 0/2 R2, fidelity full"),
        (&[DEBATE], &four[..1], "1/2 R1, 0/1 R2, fidelity degraded"),
    ] {
        assert_eq!(outcome(&["a/x"], set, lines).verdict["footer"], footer, "{set:?}");
    }
}

#[test]
fn a_note_says_why_a_judge_is_missing() {
    for (why, words) in [
        (AbsenceReason::TimedOut, "timed out"),
        (AbsenceReason::Refused, "would not answer"),
        (AbsenceReason::Malformed, "gave no usable answer"),
        (AbsenceReason::Unreachable, "could not be reached"),
        (AbsenceReason::Cancelled, "was not waited for any more"),
    ] {
        for missing in ["r1", "r2"] {
            let lines =
                [("judge-1", "PASS", "PASS"), ("judge-2", "PASS", "PASS"), ("judge-3", "PASS", "PASS")];
            let debate = play_replies(brief(&["a/x"], &[DEBATE, ("count", "3")]), |debate, ask| {
                let phase = debate.last_phase().unwrap().name.as_str();
                match (phase == missing && ask.seat == "judge-2", said(ask, phase, &lines)) {
                    (false, Some(value)) => spoken(&ask.model, value),
                    _ => Reply::Absent { why, detail: "test".into() },
                }
            });
            let outcome = debate.outcome.unwrap();
            let want = match (missing, why) {
                ("r1", _) => format!("no R1 verdict ({words}), so no R2 for it"),
                _ => format!("no R2 ({words}): its R1 verdict is used"),
            };
            assert_eq!(judge(&outcome, "judge-2")["note"], want);
        }
    }
}

/// A judge that gives no restatement has no round 2: its R1 verdict is used.
#[test]
fn a_judge_without_a_restatement_has_no_round_2() {
    let lines = [("judge-1", "FAIL", "PASS"), ("judge-2", "PASS", "PASS")];
    let debate =
        play(brief(&["a/x"], &[DEBATE, STRICT]), &|ask, phase, _| match (phase, ask.seat.as_str()) {
            ("restate", "judge-1") => None,
            _ => said(ask, phase, &lines),
        });
    assert_eq!((phases(&debate), asked_in(&debate, "r2")), (vec!["r1", "restate", "r2"], vec!["judge-2"]));
    let outcome = debate.outcome.unwrap();
    assert_eq!(judge(&outcome, "judge-1")["note"], "no R2 (timed out): its R1 verdict is used");
    assert_eq!(
        (&outcome.verdict["verdict"], &outcome.verdict["footer"]),
        (&json!("FAIL"), &json!("2/2 R1, 1/2 R2, fidelity degraded"))
    );
}

#[test]
fn a_missing_explorer_does_not_stop_its_judge() {
    let lines = [("judge-1", "PASS", ""), ("judge-2", "PASS", "")];
    let debate = play(brief(&["a/x"], &[("explorers", "2")]), &|ask, phase, _| match ask.seat.as_str() {
        "judge-1-explorer-2" => Some(json!({"notes": "look here"})),
        _ => said(ask, phase, &lines),
    });
    let outcome = debate.outcome.unwrap();
    assert_eq!((&outcome.verdict["verdict"], outcome.fidelity), (&json!("PASS"), Fidelity::Degraded));
    assert_eq!(outcome.verdict["footer"], "2/2 R1, 0/2 R2, fidelity degraded");
}

/// Rule 8: "A limit that is reached ends the debate in order, with what there is, and says which limit". Each call of the test
/// costs 0.01 and takes 10 ms.
#[test]
fn a_limit_before_round_2_leaves_round_1() {
    let calls = |n| DebateLimits { calls: Some(n), ..DebateLimits::default() };
    let usd = |usd| DebateLimits { usd: Some(usd), ..DebateLimits::default() };
    let time = |ms| DebateLimits { deadline_ms: Some(ms), ..DebateLimits::default() };
    for (set, limits, rounds, which) in [
        (&[DEBATE][..], calls(3), 1, "the limit of 3 calls"),
        (&[DEBATE], calls(4), 2, ""),
        (&[DEBATE, STRICT], calls(5), 1, "the limit of 5 calls"),
        (&[DEBATE, STRICT], calls(6), 2, ""),
        (&[DEBATE], usd(0.02), 1, "the budget of $0.02"),
        (&[DEBATE], usd(0.0201), 2, ""),
        (&[DEBATE], time(20), 1, "the deadline of 0.02 s"),
        (&[DEBATE], time(100), 2, ""),
        (&[], calls(2), 1, ""),
    ] {
        let mut brief = brief(&["a/x"], set);
        brief.limits = limits.clone();
        let lines = [("judge-1", "PASS", "PASS"), ("judge-2", "WARN", "PASS")];
        let debate = play(brief, &|ask, phase, _| said(ask, phase, &lines));
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!(
            (outcome.rounds_completed, outcome.status),
            (rounds, Status::Complete),
            "{set:?} {limits:?}"
        );
        let cut = !which.is_empty();
        let ended = if cut { Termination::Budget } else { Termination::AllRoundsComplete };
        assert_eq!(
            (outcome.termination, outcome.fidelity == Fidelity::Degraded),
            (ended, cut),
            "{set:?} {limits:?}"
        );
        assert_eq!(warns(outcome, &format!("a limit was reached: {which}")), cut, "{:?}", outcome.warnings);
        assert_eq!(warns(outcome, "there was no room for round 2: the verdicts of round 1 are used"), cut);
        assert!(limits.calls.is_none_or(|most| debate.spent().calls <= most));
        assert_eq!(
            debate.last_phase().unwrap().name == "r1",
            rounds == 1,
            "no restatement without room for the verdict after it"
        );
    }
}

/// A debate in which the calls of this phase do not fit the budget: those of this judge, or all where it is empty.
fn over_budget(phase: &str, seat: &str, limits: DebateLimits) -> Debate {
    let mut brief = brief(&["a/x"], &[DEBATE]);
    brief.limits = limits;
    let lines = [("judge-1", "PASS", "PASS"), ("judge-2", "WARN", "PASS")];
    play_replies(brief, |debate, ask| {
        let at = debate.last_phase().unwrap().name.as_str();
        match at == phase && (seat.is_empty() || ask.seat == seat) {
            true => Reply::Absent { why: AbsenceReason::OverBudget, detail: "the budget of $1".into() },
            false => spoken(&ask.model, said(ask, at, &lines).unwrap()),
        }
    })
}

/// A limit within a round is `budget`, with the verdicts so far. Without any verdict it is exit 3.
#[test]
fn a_limit_within_a_round_keeps_what_was_said() {
    for (phase, seat, status, rounds, exit) in [
        ("r2", "judge-2", Status::Complete, 2, 0),
        ("r2", "", Status::Complete, 1, 0),
        ("r1", "judge-2", Status::Incomplete, 1, 3),
        ("r1", "", Status::Incomplete, 0, 3),
    ] {
        let debate = over_budget(phase, seat, DebateLimits { calls: Some(5), ..DebateLimits::default() });
        let outcome = debate.outcome.as_ref().unwrap();
        let what = format!("{phase} {seat}");
        assert_eq!((outcome.termination, outcome.status), (Termination::Budget, status), "{what}");
        assert_eq!(
            (outcome.rounds_completed, agon_core::document::exit_status(&debate)),
            (rounds, exit),
            "{what}"
        );
        assert!(warns(outcome, "a limit was reached: the budget of $1"), "{what}: {:?}", outcome.warnings);
        assert_eq!(outcome.fidelity, Fidelity::Degraded);
    }
}

#[test]
fn an_answer_that_was_cut_off_degrades_the_review() {
    for (seat, words, fidelity) in [
        ("wordy", "was cut off by the limit on output tokens", Fidelity::Degraded),
        ("forgetful", "could not read the 3 oldest of 9 entries", Fidelity::Full),
    ] {
        let mut brief = brief(&["a/x"], &[]);
        brief.seats[0].id = seat.into();
        let (_, debate) = testing::run(&Review, brief, &|_, _, _| Some(first("PASS")));
        let outcome = debate.outcome.unwrap();
        assert!(warns(&outcome, &format!("r1, round 1: {seat} {words}")), "{:?}", outcome.warnings);
        assert_eq!(outcome.fidelity, fidelity);
    }
}
