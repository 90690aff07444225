//! The rounds: who is asked when, in which conversation, and how long each judge may take.

use super::*;

const TWO: VerdictLines<'_> = &[("judge-1", "PASS", "WARN"), ("judge-2", "WARN", "WARN")];

/// Seed: "When `--debate` is passed, council runs two rounds instead of one."
#[test]
fn debate_makes_it_two_rounds_instead_of_one() {
    for (set, rounds, want) in [
        (&[][..], 1, &["r1"][..]),
        (&[DEBATE], 2, &["r1", "r2"]),
        (&[DEBATE, STRICT], 2, &["r1", "restate", "r2"]),
    ] {
        let debate = ruled(&["a/x"], set, TWO);
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!((phases(&debate), outcome.rounds_completed), (want.to_vec(), rounds), "{set:?}");
        assert_eq!(outcome.termination, Termination::AllRoundsComplete);
        assert_eq!((outcome.status, outcome.fidelity), (Status::Complete, Fidelity::Full));
    }
}

/// Seed: "Same judge instances as R1 (not re-spawned)", "N judges total (same instances for both rounds, not 2N)".
#[test]
fn the_judges_of_round_2_are_those_of_round_1() {
    let debate = ruled(&["a/x", "b/y"], &[DEBATE], TWO);
    assert_eq!(asked_in(&debate, "r1"), ["judge-1", "judge-2"]);
    assert_eq!(asked_in(&debate, "r2"), ["judge-1", "judge-2"]);
    let models =
        |phase| debate.turns_of(phase).flat_map(|turn| turn.asks.iter().map(|ask| ask.model.clone()));
    assert!(models("r1").eq(models("r2")));
    assert_eq!((debate.brief.seats.len(), debate.asks()), (2, 4));
}

/// Seed: "Each judge already has its own R1 in context (no truncation needed)"; "the same judge continues its own conversation".
#[test]
fn a_judge_continues_its_own_conversation_untruncated() {
    let long = "All of it matters. ".repeat(200);
    let seen = asks(brief(&["a/x"], &[DEBATE, ("explorers", "1")]), &|ask, phase, _| match phase {
        "explore" => Some(json!({"notes": format!("a note for {}", ask.seat)})),
        "r1" => {
            let mut value = first("WARN");
            value["recommendation"] = json!(format!("{long} {}", ask.seat));
            Some(value)
        }
        _ => Some(second(ask, "WARN")),
    });
    let of =
        |phase: &str, seat: &str| &seen.iter().find(|(p, ask)| p == phase && ask.seat == seat).unwrap().1;
    for seat in ["judge-1", "judge-2"] {
        let (r1, r2) = (of("r1", seat), of("r2", seat));
        assert_eq!(r1.thread, SeatThread::Fresh);
        let SeatThread::Continue(turns) = &r2.thread else { panic!("{seat} starts a new conversation") };
        assert_eq!(
            (turns.len(), &turns[0].prompt),
            (1, &r1.prompt.user()),
            "the whole prompt, with the explorers' reports"
        );
        let reply: Value = serde_json::from_str(&turns[0].reply).unwrap();
        assert_eq!(reply["recommendation"], format!("{long} {seat}"), "the whole answer");
        assert_eq!((&r2.model, &r2.prompt.system), (&r1.model, &r1.prompt.system));
    }
}

/// Seed: "Each judge receives other judges' verdicts (full JSON, not truncated)".
#[test]
fn every_judge_reads_the_full_json_of_the_others() {
    let brief = brief(&["a/x", "b/y", "c/z"], &[DEBATE]);
    let own = |seat: &str| {
        json!({"verdict": "WARN", "confidence": "LOW", "key_insight": format!("insight of {seat}"),
               "findings": [{"severity": "minor", "description": "d".repeat(3_000), "category": "style", "location": "src/auth.py:7",
                             "recommendation": format!("fix of {seat}")}],
               "recommendation": format!("{} of {seat}", "long ".repeat(1_000))})
    };
    let seen = asks(brief, &|ask, phase, _| match phase {
        "r1" => Some(own(&ask.seat)),
        _ => Some(second(ask, "WARN")),
    });
    for (_, ask) in seen.iter().filter(|(phase, _)| phase == "r2") {
        let text = ask.prompt.user();
        let quoted = agon_core::fence::quotations(&text);
        let others: Vec<&str> =
            ["judge-1", "judge-2", "judge-3"].into_iter().filter(|id| *id != ask.seat).collect();
        assert_eq!(quoted.iter().map(|quotation| quotation.what).collect::<Vec<_>>(), others);
        for (quotation, other) in quoted.iter().zip(others) {
            let read: Value = serde_json::from_str(quotation.text).unwrap();
            let mut want = json!({"judge": other});
            want.as_object_mut().unwrap().extend(own(other).as_object().unwrap().clone());
            // "Findings have ids `[F1]` from R1 on", in seat order.
            let id = format!("F{}", other.trim_start_matches("judge-"));
            want["findings"][0].as_object_mut().unwrap().insert("id".into(), json!(id));
            assert!(text.contains(&format!("### {other}, with the findings [{id}]")), "{text}");
            assert_eq!(read, want);
            assert_eq!(read.as_object().unwrap().keys().next().unwrap(), "judge", "the seed's order");
        }
    }
}

/// Seed: "branch = "agreed" if r1_unanimous else "disagreed"", over those who gave a verdict.
#[test]
fn the_branch_is_agreed_when_all_verdicts_are_the_same() {
    const ALL: [&str; 4] = ["PASS", "WARN", "FAIL", ""];
    for one in ALL {
        for two in ALL {
            for three in ALL {
                let lines = [("judge-1", one, "WARN"), ("judge-2", two, "WARN"), ("judge-3", three, "WARN")];
                let seen = RefCell::new(Vec::new());
                let debate = play(brief(&["a/x"], &[DEBATE, ("count", "3")]), &|ask, phase, _| {
                    if phase == "r2" {
                        seen.borrow_mut().push(ask.prompt.user());
                    }
                    said(ask, phase, &lines)
                });
                let mut given = [one, two, three].to_vec();
                given.retain(|verdict| !verdict.is_empty());
                let survivors = given.len();
                given.sort_unstable();
                given.dedup();
                let want = if given.len() == 1 { json!("agreed") } else { json!("disagreed") };
                let want = if survivors < 2 { Value::Null } else { want };
                assert_eq!(debate.outcome.unwrap().verdict["branch"], want, "{one} {two} {three}");
                let seen = seen.into_inner();
                assert_eq!(seen.len(), if survivors < 2 { 0 } else { survivors });
                for text in seen {
                    assert_eq!(text.contains("The verdicts differ:"), want == "disagreed");
                    assert_eq!(text.contains("All verdicts are the same:"), want == "agreed");
                }
            }
        }
    }
}

#[test]
fn one_round_has_no_branch() {
    assert_eq!(outcome(&["a/x"], &[], TWO).verdict["branch"], Value::Null);
    assert_eq!(outcome(&["a/x"], &[], TWO).verdict["shifts"], json!([]));
}

/// Seed: "Explorers run in R1 only. R2 judges do not spawn explorers."
#[test]
fn explorers_run_before_round_1_and_never_again() {
    let lines = [("judge-1", "PASS", "PASS"), ("judge-2", "PASS", "PASS")];
    let debate = play(brief(&["a/x"], &[DEBATE, ("explorers", "2")]), &|ask, phase, _| match phase {
        "explore" => Some(json!({"notes": "look here"})),
        _ => said(ask, phase, &lines),
    });
    assert_eq!(phases(&debate), ["explore", "r1", "r2"]);
    let explorers = ["judge-1-explorer-1", "judge-1-explorer-2", "judge-2-explorer-1", "judge-2-explorer-2"];
    assert_eq!(asked_in(&debate, "explore"), explorers);
    assert_eq!((asked_in(&debate, "r1").len(), asked_in(&debate, "r2").len()), (2, 2));
    assert!(debate.turns[0].asks.iter().all(|ask| ask.schema.as_deref() == Some("exploration")));
}

/// Seed, "With --mixed": "Only Claude judges participate in R2 ... Codex agents run once in R1".
#[test]
fn judges_of_the_second_vendor_run_once() {
    let lines = [
        ("judge-1", "PASS", "PASS"),
        ("judge-2", "PASS", "PASS"),
        ("judge-3", "WARN", ""),
        ("judge-4", "WARN", ""),
    ];
    let seen = asks(brief(&["a/x"], &[DEBATE, ("mixed", "command/coder")]), &|ask, phase, _| {
        said(ask, phase, &lines)
    });
    let of = |phase: &str| {
        seen.iter().filter(|(p, _)| p == phase).map(|(_, ask)| ask.seat.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(of("r1"), ["judge-1", "judge-2", "judge-3", "judge-4"]);
    assert_eq!(of("r2"), ["judge-1", "judge-2"]);
    let others = agon_core::fence::quotations(&seen.last().unwrap().1.prompt.user()).len();
    assert_eq!(others, 3, "the first vendor's judges read all others, of both vendors");
}

/// "`COUNCIL_R2_TIMEOUT`, default 90 s, and `--r2-timeout`; R1 timeout default 120 s".
#[test]
fn round_2_has_its_own_timeout() {
    let spec = Review.info().options.iter().find(|spec| spec.key == "r2_timeout").unwrap();
    assert_eq!(spec.environment, Some("COUNCIL_R2_TIMEOUT"));
    assert_eq!(DebateLimits::default().call_timeout_ms, 120_000, "round 1");
    for (set, call_s, within_ms) in [
        (&[DEBATE][..], 120, 90_000),
        (&[DEBATE], 90, 90_000),
        (&[DEBATE], 91, 90_000),
        (&[DEBATE], 89, 89_000),
        (&[DEBATE], 10, 10_000),
        (&[DEBATE, ("r2_timeout", "300")], 120, 300_000),
        (&[DEBATE, ("r2_timeout", "300")], 10, 300_000),
        (&[DEBATE, ("r2_timeout", "0.25")], 120, 250),
        (&[DEBATE, STRICT, ("r2_timeout", "7")], 120, 7_000),
    ] {
        let mut brief = brief(&["a/x"], set);
        brief.limits.call_timeout_ms = call_s * 1000;
        for (phase, ask) in asks(brief, &|ask, phase, _| said(ask, phase, TWO)) {
            let want = (phase != "r1").then_some(within_ms);
            assert_eq!(ask.within_ms, want, "{phase} with {set:?} and --timeout {call_s}");
        }
    }
    for (seconds, fits) in [("0", false), ("0.001", true), ("86400", true), ("86401", false), ("soon", false)]
    {
        assert_eq!(request(&["a/x"], &[("r2_timeout", seconds)]).is_ok(), fits, "{seconds}");
    }
}

/// An interjection before round 1 is in the packet; one between the rounds is in the message of round 2.
#[test]
fn an_interjection_reaches_everybody_who_is_asked_after_it() {
    for between in [false, true] {
        let seen = RefCell::new(Vec::new());
        let (mut debate, _) = Debate::open(brief(&["a/x"], &[DEBATE])).unwrap();
        let word = agon_core::Event::Interjected { by: "you".into(), text: "Mind the 80 columns.".into() };
        if !between {
            debate.push(word.clone(), 0).unwrap();
        }
        while let agon_core::NextEvent::Ask(event, asks) = agon_core::advance(&Review, &debate).unwrap() {
            debate.push(event, 0).unwrap();
            let phase = debate.last_phase().unwrap().name.clone();
            for ask in asks {
                seen.borrow_mut()
                    .push((phase.clone(), ask.prompt.user().matches("Mind the 80 columns.").count()));
                let value = said(&ask, &phase, TWO).unwrap();
                let reply = spoken(&ask.model, value);
                debate.push(agon_core::Event::Replied { ask: ask.id, reply }, 0).unwrap();
            }
            if between && phase == "r1" {
                debate.push(word.clone(), 0).unwrap();
            }
        }
        let times = |phase: &str| seen.borrow().iter().filter(|(p, n)| p == phase && *n == 1).count();
        let want = if between { (0, 2) } else { (2, 0) };
        assert_eq!((times("r1"), times("r2")), want, "between: {between}");
    }
}
