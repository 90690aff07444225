//! The anti-anchoring rule: restate first, then read, and change only for specific evidence.

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

fn cited(citation: &str) -> Value {
    json!({"kind": "missed_detail", "citation": citation})
}

/// Seed: ""Judge 2 made a good point" is NOT sufficient. "Judge 2 found an unchecked error path at auth.py:45 that I missed" IS
/// sufficient."
#[test]
fn only_specific_evidence_is_sufficient() {
    for (citation, sufficient) in [
        ("Judge 2 found an unchecked error path at auth.py:45 that I missed", true),
        ("Judge 2 made a good point", false),
        (EVIDENCE, true),
        ("auth.py:45", true),
        ("src/auth.py", true),
        ("SQL injection", true),
        ("The spec says tokens live 15 minutes, not one hour", true),
        ("JWT expiry", true),
        ("", false),
        (" \n", false),
        ("45", false),
        ("Judge 2", false),
        ("judge-2 is right.", false),
        ("Judge B made a very good point", false),
        ("I was wrong", false),
        ("yes", false),
        ("The others are right", false),
        ("On reflection it is worse", false),
        ("It is more serious than I thought", false),
        ("Good catch by judge-2", false),
        ("Upon reflection, I find the analysis sound", false),
        ("The second judge's reasoning is more convincing than mine", false),
        ("All other judges say FAIL", false),
        ("2 of 3 judges agree", false),
        ("I was outnumbered", false),
        ("Consensus", false),
        ("Strong arguments by the others; I've changed my mind.", false),
        ("A detail that I missed", false),
        ("A factual error", false),
    ] {
        let outcome = flipped(&[], cited(citation));
        assert_eq!(judge(&outcome, "judge-1")["weak_flip"], !sufficient, "{citation:?}");
        assert_eq!(warns(&outcome, "weak flip: judge-1"), !sufficient, "{citation:?}");
    }
    let outcome = flipped(&[], Value::Null);
    assert_eq!(judge(&outcome, "judge-1")["weak_flip"], true, "no evidence at all");
}

/// With presets a judge is called by its perspective. Naming it is no more evidence than naming "Judge 2".
#[test]
fn the_name_of_a_perspective_is_not_evidence() {
    for (citation, weak) in [
        ("error-paths made a good point", true),
        ("Correctness is right", true),
        ("correctness: the loop at line 7 never ends", false),
    ] {
        let set = [DEBATE, ("perspectives", "correctness,error-paths")];
        let lines = [("correctness", "PASS", "FAIL"), ("error-paths", "FAIL", "FAIL")];
        let debate = play(brief(&["a/x"], &set), &|ask, phase, _| {
            let mut value = said(ask, phase, &lines)?;
            if phase == "r2" {
                value["changed_because"] = cited(citation);
            }
            Some(value)
        });
        let outcome = debate.outcome.unwrap();
        assert_eq!(judge(&outcome, "correctness")["weak_flip"], weak, "{citation}");
        assert_eq!(judge(&outcome, "error-paths")["weak_flip"], false, "it did not change");
    }
}

/// "`changed_because: {kind: code_location|missed_detail|factual_error, citation} or null`".
#[test]
fn evidence_is_of_one_of_three_kinds_or_null() {
    let seen = asks(brief(&["a/x"], &[DEBATE]), &|ask, phase, _| {
        said(ask, phase, &[("judge-1", "PASS", "PASS"), ("judge-2", "PASS", "PASS")])
    });
    let ask = &seen.iter().find(|(phase, _)| phase == "r2").unwrap().1;
    for (because, fits) in [
        (Value::Null, true),
        (json!({"kind": "code_location", "citation": "a"}), true),
        (json!({"kind": "missed_detail", "citation": "a"}), true),
        (json!({"kind": "factual_error", "citation": "a"}), true),
        (json!({"kind": "good_point", "citation": "a"}), false),
        (json!({"kind": "code_location"}), false),
        (json!("auth.py:45"), false),
    ] {
        let mut value = second(ask, "WARN");
        value["changed_because"] = because.clone();
        assert_eq!(jsonschema::is_valid(&ask.schema.as_ref().unwrap().json, &value), fits, "{because}");
    }
}

/// "a change without it is a *weak flip*: flagged, and with `--strict-anchoring` reverted to R1."
#[test]
fn a_weak_flip_is_flagged_and_reverted_when_strict() {
    for (set, because, weak, used) in [
        (&[][..], cited("Judge 2 made a good point"), true, "r2"),
        (&[], cited(EVIDENCE), false, "r2"),
        (&[STRICT], cited(EVIDENCE), false, "r2"),
        (&[STRICT], cited("Judge 2 made a good point"), true, "r1"),
        (&[STRICT], Value::Null, true, "r1"),
    ] {
        let outcome = flipped(set, because.clone());
        let judge = judge(&outcome, "judge-1");
        let reverted = used == "r1";
        let what = format!("{set:?} {because}");
        assert_eq!((&judge["weak_flip"], &judge["reverted"]), (&json!(weak), &json!(reverted)), "{what}");
        assert_eq!(judge["used"], used, "{what}");
        assert_eq!(judge["verdict"], if reverted { "PASS" } else { "FAIL" }, "{what}");
        assert_eq!(
            (&judge["r1"]["verdict"], &judge["r2"]["verdict"]),
            (&json!("PASS"), &json!("FAIL")),
            "both are kept"
        );
        let note = judge["note"].as_str().unwrap_or_default();
        assert_eq!(note.contains("without specific evidence"), weak, "{what}: {note}");
        assert_eq!(warns(&outcome, "its verdict of round 1 is used"), reverted, "{what}");
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
                value["changed_because"] = Value::Null;
            }
            Some(value)
        });
        assert_eq!(debate.outcome.unwrap().verdict["verdict"], verdict, "{set:?}, weak: {weak}");
    }
}

/// Evidence for a verdict that did not change is ignored.
#[test]
fn a_judge_that_keeps_its_verdict_does_not_flip() {
    for because in [Value::Null, cited("Judge 2 made a good point"), cited(EVIDENCE)] {
        let debate = play(brief(&["a/x"], &[DEBATE, STRICT]), &|ask, phase, _| {
            let mut value = said(ask, phase, &[("judge-1", "WARN", "WARN"), ("judge-2", "WARN", "WARN")])?;
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
    let outcome = outcome(
        &["a/x"],
        &[DEBATE, ("count", "3")],
        &[("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL"), ("judge-3", "WARN", "")],
    );
    let because = json!({"kind": "code_location", "citation": EVIDENCE});
    let row = |judge: &str, r1: &str, r2: &str, changed: bool, because: Value| {
        json!({"judge": judge, "r1": r1, "r2": r2, "changed": changed, "because": because, "weak_flip": false,
               "reverted": false})
    };
    let want =
        [row("judge-1", "PASS", "FAIL", true, because), row("judge-2", "FAIL", "FAIL", false, Value::Null)];
    assert_eq!(outcome.verdict["shifts"], json!(want), "a judge without a round 2 has no row");
}

/// Seed: "RESTATE your R1 position"; "the R2 answer opens with a restatement": one that is empty is sent back.
#[test]
fn a_restatement_must_say_something() {
    let debate =
        ruled(&["a/x"], &[DEBATE, STRICT], &[("judge-1", "PASS", "PASS"), ("judge-2", "PASS", "PASS")]);
    let seen = asks(debate.brief.clone(), &|ask, phase, _| {
        said(ask, phase, &[("judge-1", "PASS", "PASS"), ("judge-2", "PASS", "PASS")])
    });
    for (phase, field) in [("restate", "restatement"), ("r2", "second_verdict")] {
        let ask = &seen.iter().find(|(p, _)| p == phase).unwrap().1;
        assert_eq!(ask.schema.as_ref().unwrap().name, field);
        let mut value = if phase == "r2" { second(ask, "PASS") } else { json!({}) };
        for (text, fits) in [("I said PASS. The paths are checked.", true), ("", false), (" \n\t", false)] {
            value["restatement"] = json!(text);
            let checked = Review.check(&debate, ask, &value);
            assert_eq!(checked.is_ok(), fits, "{phase}: {text:?}");
            assert!(checked.is_ok() || checked.unwrap_err().contains("2 to 3 sentences"));
        }
        value.as_object_mut().unwrap().remove("restatement");
        assert!(!jsonschema::is_valid(&ask.schema.as_ref().unwrap().json, &value), "{phase}: it is required");
    }
}

/// "challenges (at least 1 when disagreed: validation)": 0 and 1 in both branches.
#[test]
fn a_judge_must_challenge_another_where_the_verdicts_differ() {
    for (other, challenges, fits) in [
        ("PASS", json!([]), true),
        ("PASS", json!([{"judge": "judge-2", "claim": "c"}]), true),
        ("FAIL", json!([]), false),
        ("FAIL", json!([{"judge": "judge-2", "claim": " "}]), false),
        ("FAIL", json!([{"judge": "judge-2", "claim": "c"}]), true),
    ] {
        let lines = [("judge-1", "PASS", "PASS"), ("judge-2", other, "PASS")];
        let debate = ruled(&["a/x"], &[DEBATE], &lines);
        let seen = asks(debate.brief.clone(), &|ask, phase, _| said(ask, phase, &lines));
        let ask = &seen.iter().find(|(phase, ask)| phase == "r2" && ask.seat == "judge-1").unwrap().1;
        let mut value = second(ask, "PASS");
        value["challenges"] = challenges.clone();
        let schema = &ask.schema.as_ref().unwrap().json;
        let keeps = jsonschema::is_valid(schema, &value) && Review.check(&debate, ask, &value).is_ok();
        assert_eq!(keeps, fits, "PASS against {other}: {challenges}");
        // The check repeats the rule of the schema, because a server may not enforce it.
        assert_eq!(Review.check(&debate, ask, &value).is_ok(), fits, "PASS against {other}: {challenges}");
        assert_eq!(schema["properties"]["challenges"]["minItems"] == 1, other == "FAIL");
    }
}

/// A judge can only answer others who gave a verdict.
#[test]
fn challenges_and_acknowledgments_are_to_other_judges() {
    let lines = [("judge-1", "PASS", "PASS"), ("judge-2", "FAIL", "FAIL"), ("judge-3", "", "")];
    let seen = asks(brief(&["a/x"], &[DEBATE, ("count", "3")]), &|ask, phase, _| said(ask, phase, &lines));
    let ask = &seen.iter().find(|(phase, ask)| phase == "r2" && ask.seat == "judge-1").unwrap().1;
    for (name, fits) in [("judge-2", true), ("judge-1", false), ("judge-3", false), ("", false)] {
        let schema = &ask.schema.as_ref().unwrap().json;
        let mut value = second(ask, "PASS");
        value["acknowledgments"] = json!([{"judge": name, "point": "p"}]);
        assert_eq!(jsonschema::is_valid(schema, &value), fits, "acknowledging {name}");
        value["acknowledgments"] = json!([]);
        value["challenges"] = json!([{"judge": name, "claim": "c", "response": "r"}]);
        assert_eq!(jsonschema::is_valid(schema, &value), fits, "challenging {name}");
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
    for ask in of("restate") {
        let SeatThread::Continue(turns) = &ask.thread else {
            panic!("{} starts a new conversation", ask.seat)
        };
        assert_eq!(turns.len(), 1);
        let all = format!("{}{}{}{}", ask.prompt.system, turns[0].prompt, turns[0].reply, ask.prompt.user());
        for other in ["judge-1", "judge-2", "judge-3", "judge-4"] {
            assert_eq!(
                all.contains(&format!("insight of {other}")),
                ask.seat == other,
                "{} reads {other}",
                ask.seat
            );
        }
        assert!(all.contains(
            "write 2 to 3 sentences that summarize your own verdict of round 1 and the key evidence"
        ));
    }
    for (ask, restated) in of("r2").iter().zip(of("restate")) {
        let SeatThread::Continue(turns) = &ask.thread else {
            panic!("{} starts a new conversation", ask.seat)
        };
        assert_eq!(turns.len(), 2);
        assert_eq!(turns[1].prompt, restated.prompt.user(), "as it was asked");
        assert!(turns[1].reply.contains(&format!("restated by {}", ask.seat)), "as it was answered");
        assert!(ask.prompt.user().contains("You have done so; repeat it in `restatement`."));
    }
}
