//! Absent judges and limits, and what they do to a verdict.

use agon_core::play::play;
use agon_core::{AbsenceReason, CallUsage, DebateLimits, Reply};

use super::*;

/// "A judge without a round 1 statement is out": it is not asked again, and it does not count.
#[test]
fn a_judge_without_a_position_statement_is_out() {
    let asked = std::cell::RefCell::new(Vec::new());
    let outcome = run(&[], &|ask, _, round| {
        asked.borrow_mut().push((round, place(ask)));
        (place(ask) != 1).then(|| plain([&[2.0][..], &[5.0], &[3.0, 2.4]][place(ask)], round))
    });
    assert_eq!(asked.into_inner(), [(1, 0), (1, 1), (1, 2), (2, 0), (2, 2)]);
    assert_eq!((outcome.termination, outcome.fidelity), (Termination::Consensus, Fidelity::Degraded));
    assert_eq!(outcome.verdict["confidence"], "MEDIUM", "fewer judges than seated is at most MEDIUM");
    assert_eq!(outcome.verdict["judges"].as_array().unwrap().len(), 2);
    assert_eq!(outcome.verdict["judges"][1]["stance"], "against", "the stance goes by the seat");
    assert!(warned(&outcome, "no say in the verdict: judge-2"));
}

/// "A judge absent in a later round keeps its last score and positions (`carried`), is asked again in the next round, and counts
/// in the arithmetic."
#[test]
fn an_absent_judge_is_carried_counts_and_is_asked_again() {
    let asked = std::cell::RefCell::new(0);
    let outcome = run(&[], &|ask, _, round| {
        if place(ask) == 2 {
            *asked.borrow_mut() += 1;
        }
        (round != 2 || place(ask) != 2)
            .then(|| plain([&[4.0][..], &[4.0], &[2.0, 2.0, 2.5]][place(ask)], round))
    });
    assert_eq!(asked.into_inner(), 3);
    let verdict = &outcome.verdict;
    assert_eq!((outcome.termination, outcome.fidelity), (Termination::Majority, Fidelity::Degraded));
    assert_eq!(verdict["judges"][2]["scores"], json!([2.0, 2.0, 2.5]));
    assert_eq!(verdict["judges"][2]["carried"], json!([2]));
    assert_eq!(verdict["debate_metrics"]["rounds"]["round_2"]["scores"], json!([4.0, 4.0, 2.0]));
    assert_eq!(verdict["debate_metrics"]["rounds"]["round_2"]["carried"], json!(["judge-3"]));
    assert!(warned(&outcome, "round 2: absent, so the last score and positions count: judge-3"));
}

/// "or with a carried one: at most MEDIUM".
#[test]
fn consensus_with_a_carried_judge_is_at_most_medium() {
    let outcome = run(&[], &|ask, _, round| {
        (round != 2 || place(ask) != 2).then(|| plain([&[4.0, 3.0][..], &[3.0], &[3.0]][place(ask)], round))
    });
    assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::Consensus, 2));
    assert_eq!(outcome.verdict["confidence"], "MEDIUM");
    let whole = scored(&[], &[&[4.0, 3.0], &[3.0], &[3.0]]);
    assert_eq!(whole.verdict["confidence"], "HIGH");
}

/// A critical finding that an absent judge holds blocks consensus like any other.
#[test]
fn a_finding_of_an_absent_judge_still_blocks_consensus() {
    let outcome = run(&[], &|ask, _, round| {
        let mut said = plain(&[4.0], round);
        if round == 1 && place(ask) == 2 {
            said["critical_findings"] =
                json!([{"finding": "no rollback", "severity": "CRITICAL", "evidence": "line 3"}]);
        }
        (round == 1 || place(ask) != 2).then_some(said)
    });
    assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::Majority, 3));
    assert_eq!(outcome.verdict["critical_findings"][0]["held_by"], json!(["judge-3"]));
}

/// "Fewer than 2 judges left: `quorum_lost`", in any round.
#[test]
fn fewer_than_two_judges_lose_the_quorum() {
    for (round_lost, left, completed) in [(1, 1, 0), (1, 0, 0), (2, 1, 1), (2, 0, 1), (3, 1, 2), (3, 0, 2)] {
        let outcome = run(&[], &|ask, _, round| {
            (round < round_lost || place(ask) < left)
                .then(|| plain([&[2.0][..], &[3.5], &[5.0]][place(ask)], round))
        });
        let what = format!("{left} in round {round_lost}");
        assert_eq!(
            (outcome.termination, outcome.status),
            (Termination::QuorumLost, Status::Incomplete),
            "{what}"
        );
        assert_eq!((outcome.rounds_completed, outcome.fidelity), (completed, Fidelity::Degraded), "{what}");
        for field in ["verdict_type", "confidence", "status", "weighted_score"] {
            assert!(outcome.verdict.get(field).unwrap().is_null(), "{what}: no made-up {field}");
        }
        let spoke = if round_lost == 1 { left } else { 3 };
        assert_eq!(outcome.dissent.len(), spoke, "{what}: nothing vanishes");
    }
    let two = run(&[], &|ask, _, round| {
        (round == 1 || place(ask) < 2).then(|| plain([&[2.0][..], &[3.5], &[5.0]][place(ask)], round))
    });
    assert_ne!(two.termination, Termination::QuorumLost);
}

/// "A verdict by fewer than the quorum is `incomplete`": two thirds of the judges.
#[test]
fn a_verdict_by_too_few_judges_is_incomplete() {
    for (heard, status) in [(3, Status::Incomplete), (4, Status::Complete)] {
        let outcome =
            run(&[("judges", "5")], &|ask, _, round| (place(ask) < heard).then(|| plain(&[4.0], round)));
        assert_eq!((outcome.status, outcome.termination), (status, Termination::Consensus), "{heard} of 5");
        let warns = outcome.warnings.iter().any(|said| said.contains("3 of 5 judges gave a statement"));
        assert_eq!(warns, status == Status::Incomplete, "{:?}", outcome.warnings);
    }
}

/// Plays a debate under limits; `refused` asks do not fit the budget.
fn limited(limits: DebateLimits, refused: &dyn Fn(&Ask, u32) -> bool) -> Outcome {
    let brief = Brief { limits, ..brief(MODELS, &[]) };
    let mut reply = |debate: &Debate, ask: &Ask| {
        let round = debate.last_phase().unwrap().round;
        if refused(ask, round) {
            return Reply::Absent {
                why: AbsenceReason::OverBudget,
                detail: "the budget of $1 is spent".into(),
            };
        }
        let value = match ask.seat == RAPPORTEUR {
            true => summed_up(ask),
            false => plain([&[4.0][..], &[4.5], &[2.0]][place(ask)], round),
        };
        let usage = CallUsage { usd: Some(0.01), ..CallUsage::default() };
        let (text, model) = (value.to_string(), ask.model.clone());
        Reply::Said { text, value: Some(value), model, usage, cut_off: false, shortened: None }
    };
    let records = play(&Panel, vec![Debate::open(brief).unwrap().1], &mut reply, &mut |_| {}).unwrap();
    Debate::from_records(&records).unwrap().outcome.unwrap()
}

/// "when time, money or calls are short for the next round, the verdict is made from what there is: termination `budget`, status
/// complete, degraded, a warning which limit."
#[test]
fn a_limit_ends_in_a_verdict_from_what_there_is() {
    let calls = |n| DebateLimits { calls: Some(n), ..DebateLimits::default() };
    let usd = |n| DebateLimits { usd: Some(n), ..DebateLimits::default() };
    let time = |n| DebateLimits { deadline_ms: Some(n), ..DebateLimits::default() };
    for (limits, rounds, words) in [
        (calls(1), 1, "the limit of 1 call"),
        (calls(5), 1, "the limit of 5 calls"),
        (calls(6), 2, "the limit of 6 calls"),
        (calls(8), 2, "the limit of 8 calls"),
        (usd(0.03), 1, "the budget of $0.03"),
        (usd(0.06), 2, "the budget of $0.06"),
        (time(30), 1, "the deadline of 0.03 s"),
        (time(60), 2, "the deadline of 0.06 s"),
    ] {
        let outcome = limited(limits, &|_, _| false);
        assert_eq!((outcome.termination, outcome.status), (Termination::Budget, Status::Complete), "{words}");
        assert_eq!((outcome.rounds_completed, outcome.fidelity), (rounds, Fidelity::Degraded), "{words}");
        assert_eq!(outcome.verdict["verdict_type"], "majority");
        assert!(outcome.warnings[0].ends_with(&format!(": {words}")), "{:?}", outcome.warnings);
    }
    for limits in [calls(10), usd(0.1), time(200)] {
        let outcome = limited(limits, &|_, _| false);
        assert_eq!((outcome.termination, outcome.fidelity), (Termination::Majority, Fidelity::Full));
    }
    // Limits that are enough for the judges are enough for their verdict; only the summary is missing.
    for limits in [calls(9), usd(0.09), time(90)] {
        let outcome = limited(limits, &|_, _| false);
        assert_eq!((outcome.termination, outcome.fidelity), (Termination::Majority, Fidelity::Degraded));
        assert_eq!(outcome.verdict["opinions_by"], "judges");
        assert!(warned(&outcome, "the rapporteur was not asked, because a limit was reached"));
    }
}

/// A round that a limit cut short ends the debate, and what was said in it counts.
#[test]
fn a_round_that_a_limit_cut_still_counts_for_what_was_said() {
    for (left, completed) in [(2, 2), (1, 1), (0, 1)] {
        let outcome = limited(DebateLimits::default(), &|ask, round| {
            ask.seat != RAPPORTEUR && round == 2 && place(ask) >= left
        });
        assert_eq!(
            (outcome.termination, outcome.status),
            (Termination::Budget, Status::Complete),
            "{left} left"
        );
        assert_eq!(outcome.rounds_completed, completed, "{left} left");
        assert!(warned(&outcome, "the budget of $1 is spent"), "{:?}", outcome.warnings);
    }
}

/// Rule 8, "A limit that is reached ends the debate in order, with what there is, and says which limit": where it leaves fewer than
/// two position statements, that is nothing, and no lost quorum.
#[test]
fn a_limit_that_leaves_no_two_statements_ends_without_a_verdict() {
    for left in [0, 1] {
        let outcome = limited(DebateLimits::default(), &|ask, round| round == 1 && place(ask) >= left);
        assert_eq!(
            (outcome.termination, outcome.status),
            (Termination::Budget, Status::Incomplete),
            "{left}"
        );
        assert_eq!((outcome.rounds_completed, outcome.fidelity), (0, Fidelity::Degraded), "{left}");
        for field in ["verdict_type", "confidence", "status", "weighted_score"] {
            assert!(outcome.verdict.get(field).unwrap().is_null(), "{left}: no made-up {field}");
        }
        assert_eq!(
            outcome.warnings,
            [
                "there is no verdict, because there were fewer than two position statements when a limit was reached: the budget of $1 is spent"
            ]
        );
        assert_eq!(outcome.dissent.len(), left, "nothing vanishes");
    }
    let lost = run(&[], &|ask, _, round| (place(ask) == 0).then(|| plain(&[4.0], round)));
    assert_eq!((lost.termination, lost.status), (Termination::QuorumLost, Status::Incomplete));
    assert!(!warned(&lost, "limit"), "nobody's limit: {:?}", lost.warnings);
}

/// Where there is no verdict, nothing that was carried forward counts, and no warning says that it does.
#[test]
fn without_a_verdict_nothing_is_said_to_count() {
    let lost = |round_lost: u32| {
        run(&[], &|ask, _, round| {
            let present = round == 1 || place(ask) == 0 || (round < round_lost && place(ask) == 1);
            present.then(|| plain([&[2.0][..], &[3.5], &[5.0]][place(ask)], round))
        })
    };
    for round in [2, 3] {
        let outcome = lost(round);
        assert_eq!(outcome.termination, Termination::QuorumLost, "round {round}");
        assert!(!warned(&outcome, "count"), "{:?}", outcome.warnings);
    }
    assert!(warned(&lost(4), "round 3: absent, so the last score and positions count: judge-3"));
}

/// A judge who was cut off or could not read everything is named.
#[test]
fn a_judge_who_could_not_finish_or_read_is_named() {
    let mut brief = brief(MODELS, &[]);
    brief.seats[0].id = "wordy".into();
    brief.seats[1].id = "forgetful".into();
    let outcome = run_brief(brief, &|_, _, round| Some(plain(&[4.0], round))).outcome.unwrap();
    assert!(warned(&outcome, "position, round 1: wordy was cut off"), "{:?}", outcome.warnings);
    assert!(warned(&outcome, "forgetful could not read the 3 oldest of 9 entries"));
    assert_eq!(outcome.fidelity, Fidelity::Degraded);
}
