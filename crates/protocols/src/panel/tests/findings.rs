//! What judges share and what they leave open.

use super::*;
use crate::panel::findings::{is_similar, same_point};

/// A debate over three rounds in which each judge adds something to what it says.
fn with(says: &dyn Fn(usize, u32) -> Value) -> Outcome {
    run(&[], &|ask, _, round| {
        let mut said = plain([&[4.0][..], &[4.5], &[2.0]][place(ask)], round);
        if let Value::Object(more) = says(place(ask), round) {
            said.as_object_mut().unwrap().extend(more);
        }
        Some(said)
    })
}

/// The findings of a list except the dimensions, each with its judges.
fn found(outcome: &Outcome, list: &str) -> Vec<(String, Value)> {
    let entries = outcome.verdict[list].as_array().unwrap().iter();
    let entries = entries.filter(|entry| !entry["finding"].as_str().unwrap().contains("judges "));
    entries.map(|e| (e["finding"].as_str().unwrap().to_owned(), e["source_judges"].clone())).collect()
}

fn agree(with_judge: usize, on_point: &str) -> Value {
    json!({"with_judge": format!("judge-{with_judge}"), "on_point": on_point})
}

/// "Convergent Finding: a conclusion all judges agree on": what only some share is another list.
#[test]
fn only_what_all_judges_share_is_convergent() {
    let outcome = with(&|place, round| match (round, place) {
        (2, 0) => {
            json!({"agreements": [agree(2, "the queue is right"), agree(2, "the page is slow")]})
        }
        (2, 2) => json!({"agreements": [agree(1, "The queue is right.")]}),
        _ => json!({}),
    });
    assert_eq!(found(&outcome, "convergent_findings"), [("the queue is right".into(), json!(["all"]))]);
    assert_eq!(
        found(&outcome, "shared_findings"),
        [("the page is slow".into(), json!(["judge-1", "judge-2"]))]
    );
    let shape: Vec<&str> = super::templates::keys(&outcome.verdict["shared_findings"][0]);
    assert_eq!(shape, ["finding", "priority", "source_judges", "action_required"], "the same shape");
    assert!(found(&outcome, "divergent_findings").is_empty());
    for entry in outcome.verdict["convergent_findings"].as_array().unwrap() {
        assert_eq!(entry["source_judges"], json!(["all"]));
    }
}

/// "Divergent Finding: a conclusion where judges disagree": what somebody disputes and does not concede is never convergent, and has
/// the judges of both sides.
#[test]
fn a_point_that_somebody_disputes_is_never_convergent() {
    let disputed = |conceded: bool| {
        with(&|place, round| match (round, place) {
            (2, 0) => {
                json!({"agreements": [agree(2, "one retry is enough"), agree(3, "one retry is enough")]})
            }
            (2, 2) => json!({"disagreements": [
                {"with_judge": "judge-2", "on_point": "One retry is enough!", "my_counterargument": "it needs three"}]}),
            (3, 2) if conceded => {
                json!({"concessions_made": [{"point": "one retry is enough", "convinced_by": "judge-2"}]})
            }
            _ => json!({}),
        })
    };
    let open = disputed(false);
    assert!(found(&open, "convergent_findings").is_empty());
    assert_eq!(
        found(&open, "shared_findings"),
        [("one retry is enough".into(), json!(["judge-1", "judge-2"]))]
    );
    assert_eq!(
        found(&open, "divergent_findings"),
        [("One retry is enough!".into(), json!(["judge-1", "judge-2", "judge-3"]))]
    );
    let settled = disputed(true);
    assert_eq!(found(&settled, "convergent_findings"), [("one retry is enough".into(), json!(["all"]))]);
    assert!(found(&settled, "divergent_findings").is_empty());
    assert_eq!(settled.verdict["debate_metrics"]["position_evolution"]["disputes_remaining"], 0);

    // A judge who takes no part in a disagreement is on no side.
    let apart = with(&|place, round| match (round, place) {
        (2, 0) => json!({"disagreements": [{"with_judge": "judge-3", "on_point": "nine weeks are too few"}]}),
        _ => json!({}),
    });
    assert_eq!(
        found(&apart, "divergent_findings"),
        [("nine weeks are too few".into(), json!(["judge-1", "judge-3"]))]
    );
}

/// A point and its denial are not both convergent, although all are said to share both.
#[test]
fn a_point_and_its_denial_are_not_both_convergent() {
    let (point, denial) = ("three retries are needed", "three retries are not needed");
    let outcome = with(&|place, round| match (round, place) {
        (2, 0) => json!({"agreements": [agree(2, point), agree(3, point)]}),
        (2, 1) => json!({"agreements": [agree(1, denial), agree(3, denial)]}),
        _ => json!({}),
    });
    assert!(
        found(&outcome, "convergent_findings").is_empty() && found(&outcome, "shared_findings").is_empty()
    );
    let text = format!("{point} (others: {denial})");
    assert_eq!(found(&outcome, "divergent_findings"), [(text, json!(["judge-1", "judge-2", "judge-3"]))]);
    // A judge who disputes a point holds its denial; the judge that it contradicts does not.
    let outcome = with(&|place, round| match (round, place) {
        (2, 0) => json!({"agreements": [agree(2, denial), agree(3, denial)]}),
        (2, 2) => json!({"disagreements": [{"with_judge": "judge-2", "on_point": point}]}),
        _ => json!({}),
    });
    assert!(found(&outcome, "convergent_findings").is_empty());
    assert_eq!(found(&outcome, "shared_findings"), [(denial.into(), json!(["judge-1", "judge-3"]))]);
    assert_eq!(found(&outcome, "divergent_findings"), [(point.into(), json!(["judge-2", "judge-3"]))]);
}

/// A critical finding that judges also agree on in words is convergent when the ledger says that all hold it, and then once.
#[test]
fn a_critical_finding_is_convergent_only_when_all_hold_it() {
    let held = |adopted: bool| {
        with(&|place, round| match (round, place) {
            (1, 2) => json!({"critical_findings": [{"finding": "no rollback", "severity": "CRITICAL"}]}),
            (2, 0) => json!({"agreements": [agree(2, "No rollback."), agree(3, "No rollback.")]}),
            (2, 1) => json!({"disagreements": [{"with_judge": "judge-3", "on_point": "no rollback"}]}),
            (3, 1) if !adopted => {
                json!({"critical_positions": [{"finding_id": "F1", "position": "dispute"}]})
            }
            (3, _) => json!({"critical_positions": [{"finding_id": "F1", "position": "adopt"}]}),
            _ => json!({}),
        })
    };
    let open = held(false);
    assert!(found(&open, "convergent_findings").is_empty());
    assert_eq!(
        found(&open, "divergent_findings")[0],
        ("[F1] no rollback".into(), json!(["judge-1", "judge-2", "judge-3"]))
    );
    let all = held(true);
    assert_eq!(found(&all, "convergent_findings"), [("no rollback".into(), json!(["all"]))]);
    assert!(found(&all, "divergent_findings").is_empty(), "who adopts it has conceded it");
}

/// Rule 12, "Nothing vanishes between rounds": what round 2 left open and round 3 neither lists nor concedes stays open, as of round 2.
#[test]
fn issues_that_round_2_left_open_stay_open() {
    let outcome = with(&|place, round| match (round, place) {
        (2, 2) => json!({
            "unresolved_disputes": [
                {"topic": "who pays", "my_view": "nobody", "opposing_view": "the team, says judge-1", "why_unresolved": "no figures"},
                {"topic": "how many retries"},
                {"topic": "where the logs go"},
            ],
            "disagreements": [
                {"with_judge": "judge-1", "on_point": "who pays"},
                {"with_judge": "judge-2", "on_point": "the flag is a rollback", "my_counterargument": "data stays"},
            ],
        }),
        (3, 2) => json!({
            "concessions_made": [{"point": "How many retries?", "convinced_by": "judge-2"}],
            "unresolved_disagreements": [{"issue": "Where the logs go.", "user_attention_needed": false}],
        }),
        _ => json!({}),
    });
    let verdict = &outcome.verdict;
    assert_eq!(
        found(&outcome, "divergent_findings"),
        [
            ("Where the logs go.".into(), json!(["judge-3"])),
            ("who pays".into(), json!(["judge-1", "judge-3"])),
            ("the flag is a rollback".into(), json!(["judge-2", "judge-3"])),
        ]
    );
    let entries = verdict["divergent_findings"].as_array().unwrap().iter();
    let rounds: Vec<u64> = entries.filter_map(|entry| entry["as_of_round"].as_u64()).collect();
    assert_eq!(rounds, [3, 2, 2]);
    assert_eq!(
        verdict["debate_metrics"]["position_evolution"],
        json!({"agreements_formed": 0, "disputes_resolved": 1, "disputes_remaining": 1}),
        "counted from the judges' own last lists"
    );
    let attention = verdict["user_attention_needed"].as_array().unwrap();
    assert_eq!(attention.len(), 2, "round 3 says that the logs are not the user's: {attention:?}");
    assert_eq!((&attention[0]["issue"], &attention[0]["as_of_round"]), (&json!("who pays"), &json!(2)));
    assert_eq!(attention[0]["minority_view"], "judge-3: nobody");
}

/// The same where the debate ends with round 2, or a judge is absent in round 3: its disagreements are still its own.
#[test]
fn disagreements_of_a_last_statement_stay_open() {
    let disagreement = json!([{"with_judge": "judge-2", "on_point": "the flag is a rollback"}]);
    for (scores, absent) in [([4.0, 4.0, 4.2], false), ([4.0, 4.5, 2.0], true)] {
        let outcome = run(&[], &|ask, _, round| {
            let mut said = plain(&[[2.0, 4.5, 2.0][place(ask)], scores[place(ask)]], round);
            if (round, place(ask)) == (2, 2) {
                said["disagreements"] = disagreement.clone();
            }
            (round < 3 || place(ask) < 2 || !absent).then_some(said)
        });
        assert_eq!(outcome.rounds_completed, if absent { 3 } else { 2 });
        assert_eq!(
            found(&outcome, "divergent_findings"),
            [("the flag is a rollback".into(), json!(["judge-2", "judge-3"]))]
        );
    }
}

fn considered(outcome: &Outcome) -> Vec<(String, String)> {
    let advice = outcome.verdict["recommendations"].as_array().unwrap().iter();
    let improves = |advice: &Value| advice["action"].as_str().unwrap().starts_with("Improve");
    let advice = advice.filter(|advice| advice["priority"] == "CONSIDER" && !improves(advice));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    advice.map(|advice| (text(&advice["action"]), text(&advice["consensus_level"]))).collect()
}

/// "consensus_level": how many hold what is to be considered.
#[test]
fn the_level_of_a_recommendation_is_how_many_judges_hold_it() {
    for (holders, level) in
        [(&[2][..], "minority"), (&[0, 2], "majority"), (&[1, 2], "majority"), (&[0, 1, 2], "unanimous")]
    {
        let outcome = with(&|place, round| match round {
            3 if holders.contains(&place) => {
                json!({"unresolved_disagreements": [{"issue": "who pays", "user_attention_needed": true}]})
            }
            _ => json!({}),
        });
        assert_eq!(considered(&outcome), [("who pays".to_owned(), level.to_owned())]);
    }
    // Where a view is shown, those who hold the view count.
    for (views, level) in
        [(["x", "y", "z"], "minority"), (["x", "z", "z"], "majority"), (["z"; 3], "unanimous")]
    {
        let outcome = with(&|place, round| match round {
            3 => json!({"unresolved_disagreements": [{"issue": "who pays", "my_final_view": views[place]}]}),
            _ => json!({}),
        });
        assert_eq!(considered(&outcome), [("who pays - z".to_owned(), level.to_owned())], "{views:?}");
    }
}

/// "0.8 alike", on both sides, with a tolerance of 1e-9.
#[test]
fn points_are_the_same_from_a_similarity_of_0_8() {
    for (likeness, same) in
        [(0.8, true), (0.8 - 1e-10, true), (0.8 - 1e-6, false), (0.8 + 1e-6, true), (1.0, true), (0.0, false)]
    {
        assert_eq!(is_similar(likeness), same, "{likeness}");
    }
    let five = "jobs wait behind slow workers";
    assert!(
        same_point(five, "jobs wait behind slow pages"),
        "four of five words: 0.8, but for binary fractions"
    );
    assert!(!same_point("jobs wait behind workers", "jobs wait behind pages"), "three of four words: 0.75");
    assert!(!same_point(five, "jobs never wait behind slow workers"), "a denial is another point");
    assert!(same_point("Jobs wait.", "jobs wait"));
}
