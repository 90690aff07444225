//! "When 80% of the time or money limit is spent, deep falls to the synthesis with what there is."

use super::*;

fn limited(limits: DebateLimits, set: &[(&str, &str)]) -> Debate {
    let mut brief = brief(&["a/x", "b/y", "c/z"], set);
    brief.limits = limits;
    run_brief(brief, &|_, phase, round| plain(phase, round, &["minor_update"], &[(0.1, 0.9)])).1
}

/// Each call of the test costs $0.01. There are three answers and then four calls in each round.
#[test]
fn at_80_percent_of_the_budget_the_synthesis_follows() {
    for (usd, rounds, termination) in [
        (0.0375, 0, Termination::Budget),
        (0.0376, 1, Termination::Budget),
        (0.0875, 1, Termination::Budget),
        (0.0876, 2, Termination::Budget),
        (0.2, 3, Termination::MaxRounds),
    ] {
        let debate = limited(DebateLimits { usd: Some(usd), ..DebateLimits::default() }, &[]);
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!((outcome.termination, outcome.rounds_completed), (termination, rounds), "{usd}");
        assert_eq!((outcome.status, agon_core::document::exit_status(&debate)), (Status::Complete, 0));
        let is_degraded = termination == Termination::Budget;
        assert_eq!(outcome.fidelity == Fidelity::Degraded, is_degraded);
        assert_eq!(outcome.warnings.contains(&"deep -> synthesis (degraded)".to_owned()), is_degraded);
        let names_limit = outcome.warnings.contains(&format!("a limit was reached: the budget of ${usd}"));
        assert_eq!(names_limit, is_degraded, "rule 8: a warning names the limit");
    }
}

/// "`--strict` stops without a synthesis: `budget`, `incomplete`, exit 3."
#[test]
fn strict_stops_without_a_synthesis() {
    let debate = limited(DebateLimits { usd: Some(0.05), ..DebateLimits::default() }, &[("strict", "true")]);
    let outcome = debate.outcome.as_ref().unwrap();
    assert_eq!((outcome.termination, outcome.status), (Termination::Budget, Status::Incomplete));
    assert_eq!((debate.turn("synthesis", 1), agon_core::document::exit_status(&debate)), (None, 3));
    assert_eq!(outcome.verdict["answer"], Value::Null);
}

/// A limit on calls leaves room for the synthesis: "a limit that is reached ends the debate in order".
#[test]
fn a_limit_on_calls_leaves_room_for_the_synthesis() {
    for (calls, rounds, termination) in [
        (4, 0, Termination::Budget),
        (6, 0, Termination::Budget),
        (7, 1, Termination::Budget),
        (8, 1, Termination::Budget),
        (12, 2, Termination::Budget),
        (16, 3, Termination::MaxRounds),
    ] {
        let debate = limited(DebateLimits { calls: Some(calls), ..DebateLimits::default() }, &[]);
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!((outcome.termination, outcome.rounds_completed), (termination, rounds), "{calls} calls");
        assert!(debate.spent().calls <= calls, "{} of {calls}", debate.spent().calls);
        assert_eq!(outcome.status, Status::Complete);
        let limit = format!("a limit was reached: the limit of {calls} calls");
        assert_eq!(
            outcome.warnings.contains(&limit),
            termination == Termination::Budget,
            "{:?}",
            outcome.warnings
        );
    }
}

/// A phase does not start if it would end too late, judging by the slowest answer so far.
#[test]
fn slow_answers_leave_time_for_the_synthesis() {
    for (deadline_ms, rounds, termination) in [
        (2_000, 1, Termination::Budget),
        (3_000, 2, Termination::Budget),
        (60_000, 3, Termination::MaxRounds),
    ] {
        let mut brief = brief(&["a/x", "b/y", "c/z"], &[]);
        brief.templates = agon_core::protocol::template_hashes(&Deep);
        brief.limits.deadline_ms = Some(deadline_ms);
        let (mut debate, _) = Debate::open(brief).unwrap();
        // As in the engine, the calls of a phase run at the same time. Each takes half a second.
        while let agon_core::NextEvent::Ask(event, asks) = agon_core::advance(&Deep, &debate).unwrap() {
            let (started_ms, phase) = (debate.at_ms, debate.turns.len());
            debate.push(event, started_ms).unwrap();
            let round = debate.last_phase().unwrap().round;
            let name = debate.last_phase().unwrap().name.clone();
            assert!(started_ms + 500 <= deadline_ms, "phase {phase} cannot end in time");
            for ask in asks {
                let value = plain(&name, round, &["minor_update"], &[(0.1, 0.9)]).unwrap();
                let (text, value) =
                    if name == "answer" { ("x".into(), None) } else { (value.to_string(), Some(value)) };
                let usage = CallUsage { latency_ms: 500, ..CallUsage::default() };
                let reply = Reply::Said {
                    text,
                    value,
                    model: ask.model.clone(),
                    usage,
                    cut_off: false,
                    shortened: None,
                };
                debate.push(agon_core::Event::Replied { ask: ask.id, reply }, started_ms + 500).unwrap();
            }
        }
        let agon_core::NextEvent::Close(agon_core::Event::Closed { outcome }) =
            agon_core::advance(&Deep, &debate).unwrap()
        else {
            panic!("the debate closes")
        };
        assert_eq!((outcome.termination, outcome.rounds_completed), (termination, rounds), "{deadline_ms}");
        assert_eq!(outcome.status, Status::Complete);
    }
}

/// If too little is left to ask the last round's moderator, the termination is `budget` and a warning says why.
#[test]
fn a_round_whose_moderator_could_not_be_asked_ends_in_budget() {
    for (max_rounds, calls, strict) in [("1", 7, "false"), ("2", 11, "false"), ("1", 7, "true")] {
        let set = [("max_rounds", max_rounds), ("strict", strict)];
        let debate = limited(DebateLimits { calls: Some(calls), ..DebateLimits::default() }, &set);
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!((outcome.termination, outcome.fidelity), (Termination::Budget, Fidelity::Degraded));
        assert_eq!(outcome.status == Status::Complete, strict == "false");
        assert!(outcome.warnings.iter().any(|w| w.contains("too little was left to ask the moderator")));
    }
}

/// Standard mode makes 3 calls for answers, 6 for evaluations and 1 for the synthesis.
#[test]
fn standard_mode_evaluates_only_if_all_evaluations_fit() {
    for (calls, termination) in
        [(4, Termination::Budget), (9, Termination::Budget), (10, Termination::AllRoundsComplete)]
    {
        let debate =
            limited(DebateLimits { calls: Some(calls), ..DebateLimits::default() }, &[("mode", "standard")]);
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!((outcome.termination, outcome.status), (termination, Status::Complete), "{calls} calls");
        let is_degraded = outcome.warnings.contains(&"standard -> synthesis (degraded)".to_owned());
        assert_eq!(is_degraded, termination == Termination::Budget);
    }
}

/// "When 80% of the time ... is spent". Each reply of the test takes 10 ms. There are three answers and then four replies in each
/// round.
#[test]
fn at_80_percent_of_the_deadline_the_synthesis_follows() {
    for (deadline_ms, rounds, termination) in [
        (37, 0, Termination::Budget),
        (38, 1, Termination::Budget),
        (87, 1, Termination::Budget),
        (88, 2, Termination::Budget),
        (1_000, 3, Termination::MaxRounds),
    ] {
        let debate = limited(DebateLimits { deadline_ms: Some(deadline_ms), ..DebateLimits::default() }, &[]);
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!((outcome.termination, outcome.rounds_completed), (termination, rounds), "{deadline_ms}");
    }
}

/// If the budget runs out in the middle of a phase, the termination is `budget` and not `quorum_lost`.
#[test]
fn a_round_without_budget_ends_in_budget() {
    let mut brief = brief(&["a/x", "b/y", "c/z"], &[]);
    brief.templates = agon_core::protocol::template_hashes(&Deep);
    let mut reply = |debate: &Debate, ask: &Ask| match debate.last_phase().unwrap().name.as_str() {
        "debate" => Reply::Absent { why: AbsenceReason::OverBudget, detail: "calls".into() },
        phase => {
            let value = plain(phase, 1, &["no_change"], &[(0.1, 0.9)]).unwrap();
            let (text, value) =
                if phase == "answer" { ("x".into(), None) } else { (value.to_string(), Some(value)) };
            Reply::Said {
                text,
                value,
                model: ask.model.clone(),
                usage: CallUsage::default(),
                cut_off: false,
                shortened: None,
            }
        }
    };
    let records = play(&Deep, vec![Debate::open(brief).unwrap().1], &mut reply, &mut |_| {}).unwrap();
    let outcome = Debate::from_records(&records).unwrap().outcome.unwrap();
    assert_eq!((outcome.termination, outcome.status), (Termination::Budget, Status::Complete));
    assert_eq!(outcome.rounds_completed, 0);
}

/// Rule 8: a limit that is reached "says which limit (`termination`)", also if it leaves nothing to debate. Without a limit as the cause,
/// the quorum is lost.
#[test]
fn a_limit_that_leaves_fewer_than_two_answers_is_named() {
    for (why, answered, termination) in [
        (AbsenceReason::OverBudget, 0, Termination::Budget),
        (AbsenceReason::OverBudget, 1, Termination::Budget),
        (AbsenceReason::Unreachable, 1, Termination::QuorumLost),
    ] {
        for mode in ["deep", "standard", "quick"] {
            let mut brief = brief(&["a/x", "b/y", "c/z"], &[("mode", mode)]);
            brief.templates = agon_core::protocol::template_hashes(&Deep);
            let mut reply = |_: &Debate, ask: &Ask| match ask.seat.as_str() {
                "debater-1" if answered == 1 => Reply::Said {
                    text: "x".into(),
                    value: None,
                    model: ask.model.clone(),
                    usage: CallUsage::default(),
                    cut_off: false,
                    shortened: None,
                },
                _ => Reply::Absent { why, detail: "the limit of 1 call".into() },
            };
            let records = play(&Deep, vec![Debate::open(brief).unwrap().1], &mut reply, &mut |_| {}).unwrap();
            let debate = Debate::from_records(&records).unwrap();
            let outcome = debate.outcome.as_ref().unwrap();
            assert_eq!((outcome.termination, outcome.status), (termination, Status::Incomplete), "{mode}");
            assert_eq!(agon_core::document::exit_status(&debate), 3);
            let is_named = outcome.warnings.contains(&"a limit was reached: the limit of 1 call".to_owned());
            assert_eq!(is_named, termination == Termination::Budget, "{:?}", outcome.warnings);
        }
    }
}
