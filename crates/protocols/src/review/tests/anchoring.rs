//! The anti-anchoring rule: restate first, then read, and change only for evidence that verifies.

use super::*;

/// A debate of two in which judge-1 goes from PASS to FAIL with this evidence, and judge-2 fails it in both rounds.
fn flipped(set: &[(&str, &str)], because: Value) -> Outcome {
    let set = [&[DEBATE], set].concat();
    let lines = [("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL")];
    let debate = play(brief(&["a/x"], &set), &|ask, phase, _| {
        let mut value = said(ask, phase, &lines)?;
        if phase == "r2" && ask.seat == "judge-1" {
            value["changed_because"] = because.clone();
        }
        Some(value)
    });
    debate.outcome.unwrap()
}

/// "flagged, and with `--strict-anchoring` reverted to R1."
#[test]
fn a_weak_flip_is_flagged_and_reverted_when_strict() {
    for (set, because, weak, used) in [
        (&[][..], no_evidence(), true, "r2"),
        (&[], Value::Null, true, "r2"),
        (&[], evidence(), false, "r2"),
        (&[STRICT], evidence(), false, "r2"),
        (&[STRICT], no_evidence(), true, "r1"),
        (&[STRICT], Value::Null, true, "r1"),
    ] {
        let outcome = flipped(set, because.clone());
        let judge = judge(&outcome, "judge-1");
        let reverted = used == "r1";
        let what = format!("{set:?} {because}");
        assert_eq!((&judge["weak_flip"], &judge["reverted"]), (&json!(weak), &json!(reverted)), "{what}");
        assert_eq!(judge["used"], used, "{what}");
        assert_eq!(judge["verdict"], if reverted { "PASS" } else { "FAIL" }, "{what}");
        let kept = (&judge["r1"]["verdict"], &judge["r2"]["verdict"]);
        assert_eq!(kept, (&json!("PASS"), &json!("FAIL")), "both are kept");
        let note = judge["note"].as_str().unwrap_or_default();
        let lacks = match because {
            Value::Null => "weak flip: it cites nothing",
            _ => "which does not verify",
        };
        assert_eq!(note.contains(lacks), weak, "{what}: {note}");
        assert_eq!(warns(&outcome, "judge-1: PASS to FAIL, weak flip"), weak, "{what}");
        assert_eq!(warns(&outcome, "; reverted to R1"), reverted, "{what}");
        let shift = &outcome.verdict["shifts"][0];
        assert_eq!((&shift["weak_flip"], &shift["reverted"]), (&json!(weak), &json!(reverted)), "{what}");
    }
}

#[test]
fn a_reverted_verdict_counts_in_the_ruling() {
    let lines = [("judge-1", "FAIL", "PASS"), ("judge-2", "PASS", "PASS")];
    for (set, weak, verdict) in
        [(&[DEBATE][..], true, "PASS"), (&[DEBATE, STRICT], true, "FAIL"), (&[DEBATE, STRICT], false, "PASS")]
    {
        let debate = play(brief(&["a/x"], set), &|ask, phase, _| {
            let mut value = said(ask, phase, &lines)?;
            if weak && phase == "r2" {
                value["changed_because"] = no_evidence();
            }
            Some(value)
        });
        assert_eq!(debate.outcome.unwrap().verdict["verdict"], verdict, "{set:?}, weak: {weak}");
    }
}

/// Evidence for a verdict that did not change is ignored, and challenges may be empty in both branches.
#[test]
fn a_judge_that_keeps_its_verdict_does_not_flip() {
    for because in [Value::Null, no_evidence(), evidence()] {
        let debate = play(brief(&["a/x"], &[DEBATE, STRICT]), &|ask, phase, _| {
            let mut value = said(ask, phase, &[("judge-1", "WARN", "WARN"), ("judge-2", "PASS", "PASS")])?;
            if phase == "r2" {
                value["changed_because"] = because.clone();
            }
            Some(value)
        });
        let outcome = debate.outcome.unwrap();
        for shift in outcome.verdict["shifts"].as_array().unwrap() {
            assert_eq!((&shift["changed"], &shift["weak_flip"]), (&json!(false), &json!(false)));
            assert_eq!(shift["because"], Value::Null, "only a change has a reason");
        }
        assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
    }
}

/// "Verdict-shift table".
#[test]
fn the_shifts_say_who_moved_from_what_to_what_and_why() {
    let lines = [("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL"), ("judge-3", "WARN", "")];
    let outcome = outcome(&["a/x"], &[DEBATE, ("count", "3")], &lines);
    let row = |judge: &str, r1: &str, r2: &str, changed: bool, because: Value| {
        json!({"judge": judge, "r1": r1, "r2": r2, "changed": changed, "because": because, "weak_flip": false,
               "reverted": false})
    };
    let want = [
        row("judge-1", "PASS", "FAIL", true, evidence()),
        row("judge-2", "FAIL", "FAIL", false, Value::Null),
    ];
    assert_eq!(outcome.verdict["shifts"], json!(want), "a judge without a round 2 has no row");
}

/// The second ask of a debate of two, before its reply, with the debate as it is then.
fn second_round(set: &[(&str, &str)], lines: VerdictLines<'_>, phase: &str) -> (Debate, Ask) {
    let (mut debate, _) = Debate::open(brief(&["a/x"], set)).unwrap();
    loop {
        let agon_core::NextEvent::Ask(event, asks) = agon_core::advance(&Review, &debate).unwrap() else {
            panic!("there is no {phase}")
        };
        debate.push(event, 0).unwrap();
        let at = debate.last_phase().unwrap().name.clone();
        if at == phase {
            return (debate, asks[0].clone());
        }
        for ask in asks {
            let reply = spoken(&ask.model, said(&ask, &at, lines).unwrap());
            debate.push(agon_core::Event::Replied { ask: ask.id, reply }, 0).unwrap();
        }
    }
}

const DIFFER: VerdictLines<'_> = &[("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL")];

/// Seed: "RESTATE your R1 position"; "the R2 answer opens with a restatement": one that is empty is sent back.
#[test]
fn a_restatement_must_say_something() {
    for phase in ["restate", "r2"] {
        let (debate, ask) = second_round(&[DEBATE, STRICT], DIFFER, phase);
        let mut value = if phase == "r2" { second(&ask, "PASS") } else { json!({}) };
        for (text, fits) in [("I said PASS. The paths are checked.", true), ("", false), (" \n\t", false)] {
            value["restatement"] = json!(text);
            let checked = Review.check(&debate, &ask, &value);
            assert_eq!(checked.is_ok(), fits, "{phase}: {text:?}");
            assert!(checked.is_ok() || matches!(checked, Err(ReplyFault::Invalid(_))));
        }
        value.as_object_mut().unwrap().remove("restatement");
        assert!(!jsonschema::is_valid(&ask.schema.as_ref().unwrap().json, &value), "{phase}: it is required");
    }
}

/// "A declaration that does not verify is sent back once (rule 6)"; "WARN or FAIL without a finding goes back once". What is only
/// missing is not.
#[test]
fn what_does_not_verify_is_sent_back_with_what_is_wrong() {
    let (debate, ask) = second_round(&[DEBATE], DIFFER, "r2");
    for (field, said, verdict, words) in [
        ("changed_because", evidence(), "FAIL", ""),
        ("changed_because", Value::Null, "FAIL", ""),
        ("changed_because", no_evidence(), "PASS", ""),
        ("changed_because", no_evidence(), "FAIL", "is not found. For missed_detail `quote`"),
        ("own", json!([{"id": "F9", "status": "drop"}]), "PASS", "\"F9\" is not one of your findings"),
        ("own", json!([{"id": "F1", "status": "drop"}]), "PASS", "\"F1\" is not one of your findings"),
        (
            "others",
            json!([{"id": "F9", "status": "accept"}]),
            "PASS",
            "\"F9\" is not a finding of another judge",
        ),
        ("others", json!([]), "FAIL", "FAIL needs at least one finding"),
    ] {
        let mut value = second(&ask, verdict);
        value[field] = said.clone();
        let checked = Review.check(&debate, &ask, &value);
        match checked {
            Err(ReplyFault::Unverified(why)) => {
                assert!(!words.is_empty() && why.contains(words), "{said}: {why}")
            }
            other => assert!(words.is_empty() && other.is_ok(), "{field} {said}: {other:?}"),
        }
    }
    let (debate, ask) = second_round(&[], DIFFER, "r1");
    for (verdict, findings, fits) in [
        ("PASS", json!([]), true),
        ("WARN", json!([]), false),
        ("FAIL", json!([]), false),
        ("FAIL", json!([finding("minor", "It burns.", "")]), true),
    ] {
        let mut value = first(verdict);
        value["findings"] = findings;
        let checked = Review.check(&debate, &ask, &value);
        assert!(
            checked.is_ok() == fits && !matches!(checked, Err(ReplyFault::Invalid(_))),
            "{value}: {checked:?}"
        );
    }
}

/// "... then is flagged."
#[test]
fn a_verdict_without_a_finding_counts_and_is_flagged() {
    for (verdict, second_verdict, flagged) in
        [("FAIL", "FAIL", true), ("WARN", "PASS", false), ("PASS", "WARN", true)]
    {
        let debate = play(brief(&["a/x"], &[DEBATE]), &|ask, phase, _| {
            let mut value = said(ask, phase, &[(&ask.seat, verdict, second_verdict)])?;
            value["findings"] = json!([]);
            Some(value)
        });
        let outcome = debate.outcome.unwrap();
        assert_eq!(judge(&outcome, "judge-1")["without_finding"], flagged, "{verdict} {second_verdict}");
        assert_eq!(warns(&outcome, "and holds no finding"), flagged);
        assert_eq!(judge(&outcome, "judge-1")["verdict"], second_verdict, "it counts");
    }
}

/// "`--strict-anchoring` makes that a call of its own before the others' verdicts are shown."
#[test]
fn a_strict_restatement_comes_before_any_other_verdict() {
    let seen = asks(brief(&["a/x"], &[DEBATE, STRICT, ("mixed", "b/y")]), &|ask, phase, _| match phase {
        "r1" => {
            let mut value = first(if ask.seat == "judge-1" { "PASS" } else { "FAIL" });
            value["key_insight"] = json!(format!("insight of {}", ask.seat));
            Some(value)
        }
        "restate" => Some(json!({"restatement": format!("restated by {}", ask.seat)})),
        _ => Some(second(ask, "FAIL")),
    });
    let of = |phase: &str| seen.iter().filter(|(p, _)| p == phase).map(|(_, ask)| ask).collect::<Vec<_>>();
    assert_eq!(of("restate").len(), 2, "the second vendor has no round 2 and nothing to restate");
    let turns = |ask: &Ask| match &ask.thread {
        SeatThread::Continue(turns) => turns.clone(),
        SeatThread::Fresh => panic!("{} starts a new conversation", ask.seat),
    };
    for ask in of("restate") {
        let turns = turns(ask);
        assert_eq!(turns.len(), 1);
        let all = format!("{}{}{}{}", ask.prompt.system, turns[0].prompt, turns[0].reply, ask.prompt.user());
        for other in ["judge-1", "judge-2", "judge-3", "judge-4"] {
            let is_read = all.contains(&format!("insight of {other}"));
            assert_eq!(is_read, ask.seat == other, "{} reads {other}", ask.seat);
        }
        assert!(all.contains(
            "write 2 to 3 sentences that summarize your own verdict of round 1 and the key evidence"
        ));
    }
    for (ask, restated) in of("r2").iter().zip(of("restate")) {
        let turns = turns(ask);
        assert_eq!((turns.len(), &turns[1].prompt), (2, &restated.prompt.user()), "as it was asked");
        assert!(turns[1].reply.contains(&format!("restated by {}", ask.seat)), "as it was answered");
        assert!(ask.prompt.user().contains("You have done so; copy it into `restatement`."));
    }
}
