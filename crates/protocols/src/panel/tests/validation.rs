//! What a reply must be: the schemas, and the rules that a schema cannot express.

use super::*;

/// "`score_changed` must equal `previous_score != new_score`, `previous_score` must equal the log's, a change needs a
/// `change_reason`: part of validation."
#[test]
fn a_rebuttal_that_contradicts_itself_or_the_log_is_refused() {
    let check = |previous: f64, new: f64, changed: bool, reason: &str| {
        let mut said = rebuttal(previous, new);
        said["score_changed"] = json!(changed);
        said["change_reason"] = json!(reason);
        replies::check_rebuttal(&said, Some(3.0)).map_err(|fault| fault.sentence().to_owned())
    };
    assert_eq!(check(3.0, 3.5, true, "line 3"), Ok(()));
    assert_eq!(check(3.0, 3.0, false, ""), Ok(()));
    assert!(check(3.0, 3.5, false, "line 3").unwrap_err().contains("score_changed"));
    assert!(check(3.0, 3.0, true, "line 3").unwrap_err().contains("score_changed"));
    assert!(check(3.1, 3.5, true, "line 3").unwrap_err().contains("previous_score"));
    assert!(check(3.0, 3.5, true, " ").unwrap_err().contains("change_reason"));
    let mut empty = rebuttal(3.0, 3.0);
    empty["position_revision"] = json!("");
    assert!(replies::check_rebuttal(&empty, Some(3.0)).unwrap_err().sentence().contains("position_revision"));
}

/// `check` applies the same rules with the log of a running debate.
#[test]
fn check_compares_with_the_log() {
    let scores: [&[f64]; 3] = [&[2.0], &[3.0], &[5.0]];
    let (records, _) = run_log(brief(MODELS, &[]), &|ask, _, round| Some(plain(scores[place(ask)], round)));
    let begun = |phase: &str| {
        let asked = |record: &agon_core::LogRecord| matches!(&record.entry.event, agon_core::Event::Asked { phase: p, .. } if p == phase);
        let end = records.iter().position(asked).unwrap();
        let (debate, asks) = agon_core::play::reopen(&Panel, &records[..=end]).unwrap();
        (debate, asks.into_iter().nth(1).unwrap())
    };
    let empty = |mut said: Value, field: &str| {
        said[field] = json!(" ");
        said
    };
    for (phase, fine, wrong) in [
        ("position", statement(3.0), empty(statement(3.0), "position_statement")),
        ("rebuttal", rebuttal(3.0, 4.0), rebuttal(2.0, 4.0)),
        ("final", last(3.0), empty(last(3.0), "final_position")),
    ] {
        let (debate, ask) = begun(phase);
        assert_eq!(Panel.check(&debate, &ask, &fine), Ok(()), "{phase}");
        assert!(Panel.check(&debate, &ask, &wrong).is_err(), "{phase}");
    }
    // `previous_score` in the schema is the one right value, however it is written.
    let schema = schema_of_round(2);
    assert_eq!(schema["properties"]["previous_score"]["enum"], json!([3.0]));
    for (previous, fits) in [(json!(3.0), true), (json!(3), true), (json!(2.0), false)] {
        let mut said = rebuttal(3.0, 3.0);
        said["previous_score"] = previous.clone();
        assert_eq!(jsonschema::is_valid(&schema, &said), fits, "{previous}");
    }
}

/// "with_judge" is one of the others; without critical findings nobody is asked for a position on them.
#[test]
fn only_other_judges_may_be_answered() {
    let schema = schema_of_round(2);
    for (judge, fits) in
        [("judge-1", true), ("judge-3", true), ("judge-2", false), ("judge-4", false), ("", false)]
    {
        for list in ["agreements", "disagreements"] {
            let mut said = rebuttal(3.0, 3.0);
            said[list] = json!([{"with_judge": judge, "on_point": "line 3"}]);
            assert_eq!(jsonschema::is_valid(&schema, &said), fits, "{list} {judge}");
        }
    }
    for round in [2, 3] {
        assert!(schema_of_round(round)["properties"].get("critical_positions").is_none());
    }
}

/// "Extra fields are ignored, missing optional ones are empty": the least that each statement can be.
#[test]
fn optional_fields_may_be_left_out_and_extra_ones_are_ignored() {
    let outcome = run(&[], &|ask, _, round| {
        let score = [2.0, 3.0, 5.0][place(ask)];
        Some(match round {
            1 => {
                json!({"overall_score": score, "dimension_scores": dimensions(score), "position_statement": "p",
                "judge_id": "gpt", "stance": "for", "round": 7, "timestamp": "now"})
            }
            2 => {
                json!({"previous_score": score, "new_score": score, "score_changed": false, "position_revision": "p"})
            }
            _ => json!({"final_score": score, "final_position": "p", "is_final": false}),
        })
    });
    assert_eq!(outcome.verdict["judges"][0]["stance"], "neutral");
    assert_eq!(outcome.rounds_completed, 3);
}

/// `score_changed` follows from the scores, so the record always has it. Dimension scores that are not numbers are ignored.
#[test]
fn score_changed_may_be_left_out() {
    let debate = run_brief(brief(MODELS, &[]), &|ask, _, round| {
        let mut said = plain([&[2.0][..], &[3.0, 3.5], &[5.0]][place(ask)], round);
        said.as_object_mut().unwrap().remove("score_changed");
        said["dimension_scores"]["comment"] = json!("mostly fine");
        Some(said)
    });
    for (judge, changed) in [(1, false), (2, true)] {
        let record = super::templates::file(&debate, &format!("round-2-judge-{judge}"));
        assert_eq!(record["score_changed"], changed);
        assert!(record["dimension_scores"].get("comment").is_none());
    }
    // The schema has the field as an optional one.
    let schema = schema_of_round(2);
    let about = schema["properties"]["score_changed"]["description"].as_str().unwrap();
    assert!(about.contains('?'), "{about}");
    for (given, fits) in
        [(json!(true), true), (json!(false), true), (json!(null), true), (json!("yes"), false)]
    {
        let mut said = rebuttal(3.0, 3.5);
        said["score_changed"] = given.clone();
        assert_eq!(jsonschema::is_valid(&schema, &said), fits, "{given}");
    }
    let mut said = rebuttal(3.0, 3.5);
    said.as_object_mut().unwrap().remove("score_changed");
    assert!(jsonschema::is_valid(&schema, &said));
}
