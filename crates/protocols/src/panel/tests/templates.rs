//! The seed's templates, field by field, and the terms of its glossary.

use agon_core::{AbsenceReason, Event, RecordBody, Reply};

use super::*;
use crate::panel::consensus::PanelDecision;
use crate::panel::verdict::metrics;

/// A debate with something in every list of every statement.
pub(super) fn rich(scores: &[&[f64]; 3]) -> Debate {
    run_brief(brief(MODELS, &[]), &|ask, _, round| {
        let mut said = plain(scores[place(ask)], round);
        let other = format!("judge-{}", (place(ask) + 1) % 3 + 1);
        match round {
            1 => {
                said["critical_findings"] =
                    json!([{"finding": "tests are thin", "severity": "HIGH", "evidence": "line 2"}]);
                said["recommendations"] = json!([{"action": "Write tests", "priority": "SHOULD", "rationale": "They are thin"},
                    {"action": format!("Ask {other}"), "priority": "CONSIDER"}]);
            }
            2 => {
                said["agreements"] = json!([{"with_judge": other, "on_point": "Tests are thin.", "strengthening_evidence": "line 2",
                    "impact_on_my_position": "a little"}]);
                said["disagreements"] = json!([{"with_judge": other, "on_point": "cost", "their_argument": "cheap",
                    "my_counterargument": "dear", "my_evidence": "line 4", "their_evidence_weakness": "old"}]);
                said["unresolved_disputes"] = json!([{"topic": "cost", "my_view": "dear", "opposing_view": "cheap", "why_unresolved": "no figures"}]);
            }
            _ => {
                said["key_points_maintained"] =
                    json!([{"point": "short", "reason": "seen", "evidence": "line 1"}]);
                said["concessions_made"] = json!([{"point": "the queue is needed", "convinced_by": "judge-2, on load", "impact": "some"}]);
                said["unresolved_disagreements"] = json!([{"issue": "cost", "my_final_view": "dear", "opposing_view": "cheap",
                    "why_unresolved": "no figures", "user_attention_needed": place(ask) == 2}]);
            }
        }
        Some(said)
    })
}

pub(super) fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

pub(super) fn file(debate: &Debate, wanted: &str) -> Value {
    let saved = Panel.view(debate).unwrap().records.into_iter().find(|saved| saved.stem == wanted);
    let saved = saved.unwrap_or_else(|| panic!("there is no {wanted}"));
    assert_eq!(saved.ending, ".yaml");
    match saved.body {
        RecordBody::Yaml(value) => value,
        other => panic!("{other:?}"),
    }
}

/// "Judge Position Statement".
#[test]
fn template_of_the_position_statement() {
    let record = file(&rich(&[&[2.0], &[4.0], &[4.5]]), "round-1-judge-2");
    assert_eq!(
        keys(&record),
        [
            "judge_id",
            "stance",
            "round",
            "timestamp",
            "analysis",
            "overall_score",
            "dimension_scores",
            "position_statement",
            "key_claims",
            "critical_findings",
            "recommendations",
            "user_attention_needed",
            "attention_reason"
        ]
    );
    assert_eq!((&record["judge_id"], &record["stance"]), (&json!("judge-2"), &json!("for")));
    assert_eq!((&record["round"], &record["timestamp"]), (&json!(1), &json!("2026-01-31T23:59:58Z")));
    assert_eq!(keys(&record["key_claims"][0]), ["id", "claim", "evidence", "confidence"]);
    assert_eq!(
        keys(&record["critical_findings"][0]),
        ["id", "finding", "severity", "evidence", "fix", "blocks_consensus", "unverified"]
    );
    assert_eq!(record["critical_findings"][0]["blocks_consensus"], false, "only what is CRITICAL blocks");
    assert_eq!(keys(&record["dimension_scores"]), KEYS, "in the seed's order");
}

/// "Judge Rebuttal Statement".
#[test]
fn template_of_the_rebuttal_statement() {
    let record = file(&rich(&[&[2.0, 2.5], &[4.0], &[4.5]]), "round-2-judge-1");
    assert_eq!(
        keys(&record),
        [
            "judge_id",
            "round",
            "timestamp",
            "score_changed",
            "analysis",
            "previous_score",
            "new_score",
            "change_reason",
            "agreements",
            "disagreements",
            "position_revision",
            "unresolved_disputes",
            "dimension_scores",
            "critical_positions",
            "critical_findings",
            "same_as",
            "user_attention_needed",
            "attention_reason"
        ]
    );
    assert_eq!((&record["score_changed"], &record["new_score"]), (&json!(true), &json!(2.5)));
    assert_eq!(
        keys(&record["agreements"][0]),
        ["with_judge", "on_point", "strengthening_evidence", "impact_on_my_position"]
    );
    assert_eq!(
        keys(&record["disagreements"][0]),
        [
            "with_judge",
            "on_point",
            "their_argument",
            "my_counterargument",
            "my_evidence",
            "their_evidence_weakness",
            "unverified"
        ]
    );
    assert_eq!(
        keys(&record["unresolved_disputes"][0])[..6],
        ["id", "topic", "my_view", "opposing_view", "why_unresolved", "stakes"]
    );
}

/// "Judge Final Statement".
#[test]
fn template_of_the_final_statement() {
    let record = file(&rich(&[&[2.0], &[4.0], &[4.5]]), "round-3-judge-3");
    assert_eq!(
        keys(&record),
        [
            "judge_id",
            "round",
            "is_final",
            "timestamp",
            "analysis",
            "final_score",
            "final_position",
            "key_points_maintained",
            "concessions_made",
            "unresolved_disagreements",
            "change_reason",
            "dimension_scores",
            "critical_positions",
            "same_as",
            "recommendations",
            "user_attention_needed",
            "attention_reason"
        ]
    );
    assert_eq!(record["is_final"], true);
    assert_eq!(keys(&record["key_points_maintained"][0]), ["point", "reason", "evidence", "unverified"]);
    assert_eq!(keys(&record["concessions_made"][0]), ["point", "convinced_by", "impact"]);
    assert_eq!(
        keys(&record["unresolved_disagreements"][0]),
        [
            "id",
            "issue",
            "my_final_view",
            "opposing_view",
            "why_unresolved",
            "stakes",
            "user_attention_needed"
        ]
    );
}

/// "Consensus Verdict (all scores within 0.5)".
#[test]
fn template_of_the_consensus_verdict() {
    let record = file(&rich(&[&[2.0, 3.6], &[4.0], &[4.5, 3.8]]), "verdict");
    for field in [
        "verdict_type",
        "rounds_completed",
        "consensus_reached_at_round",
        "consensus_score",
        "score_range",
        "confidence",
        "dimension_consensus",
        "convergent_findings",
        "balanced_assessment",
        "recommendations",
        "user_attention_needed",
    ] {
        assert!(record.get(field).is_some(), "{field}");
    }
    assert_eq!((&record["rounds_completed"], &record["consensus_reached_at_round"]), (&json!(2), &json!(2)));
    assert_eq!((&record["consensus_score"], &record["score_range"]), (&json!(3.8), &json!([3.6, 4.0])));
    assert_eq!((&record["verdict_type"], &record["confidence"]), (&json!("consensus"), &json!("HIGH")));
    assert_eq!(keys(&record["dimension_consensus"]), KEYS);
    assert_eq!(record["dimension_consensus"]["feasibility"], json!({"average": 3.8, "range": 0.4}));
    assert_eq!(
        record["other_findings"],
        json!([{"finding": "tests are thin", "priority": "HIGH", "source_judges": ["judge-1", "judge-2", "judge-3"],
            "action_required": true, "id": "L1", "unverified": true, "evidence": "line 2"}])
    );
    assert_eq!(
        record["recommendations"][0],
        json!({"priority": "SHOULD", "action": "Write tests", "rationale": "They are thin", "consensus_level": "unanimous",
            "made_by": ["judge-1", "judge-2", "judge-3"], "ids": ["R1", "R3", "R5"], "finding_ids": []}),
        "equal texts are one"
    );
    assert_eq!(record["recommendations"].as_array().unwrap().len(), 4);
}

/// "Majority Verdict (Round 3 without consensus)".
#[test]
fn template_of_the_majority_verdict() {
    let record = file(&rich(&[&[4.0], &[4.5], &[2.0]]), "verdict");
    assert_eq!(
        keys(&record)[..11],
        [
            "verdict_type",
            "rounds_completed",
            "consensus_reached",
            "majority_score",
            "minority_score",
            "score_gap",
            "majority_judges",
            "minority_judges",
            "confidence",
            "majority_opinion",
            "minority_opinion",
        ]
    );
    assert_eq!((&record["verdict_type"], &record["consensus_reached"]), (&json!("majority"), &json!(false)));
    assert_eq!(
        keys(&record["user_attention_needed"][0])[..5],
        ["issue", "majority_view", "minority_view", "stakes", "recommendation"]
    );
    let advice = record["recommendations"].as_array().unwrap().iter();
    let levels: Vec<(&str, &str)> =
        advice.map(|r| (r["priority"].as_str().unwrap(), r["consensus_level"].as_str().unwrap())).collect();
    assert_eq!(levels[..2], [("SHOULD", "unanimous"), ("CONSIDER", "minority")]);
    for field in ["feature", "status", "weighted_score", "judges", "critical_findings", "disputes", "rubric"]
    {
        assert!(record.get(field).is_some(), "{field}");
    }
}

/// "The seed's four record kinds can be written as YAML files": statements, verdict, metrics; before the end no verdict.
#[test]
fn there_is_one_record_for_each_statement_and_for_the_verdict() {
    let mut debate = rich(&[&[2.0], &[4.0], &[4.5]]);
    let names = |debate: &Debate| -> Vec<String> {
        Panel.view(debate).unwrap().records.into_iter().map(|saved| saved.stem).collect()
    };
    let all = names(&debate);
    assert_eq!(all.len(), 11);
    assert_eq!(all[0], "round-1-judge-1");
    assert_eq!(all[9..], ["verdict", "debate_metrics"]);
    debate.outcome = None;
    assert_eq!(names(&debate).len(), 9);
    assert!(file(&debate, "round-2-judge-1").get("verdict_type").is_none());
}

/// Glossary: "Stance", "Consensus", "Rebuttal ... may include score revision".
#[test]
fn glossary_stance_consensus_and_rebuttal() {
    let outcome = scored(&[], &[&[2.0, 4.0], &[4.2], &[4.4]]);
    assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::Consensus, 2));
    let judges = outcome.verdict["judges"].as_array().unwrap();
    let stances: Vec<&str> = judges.iter().map(|judge| judge["stance"].as_str().unwrap()).collect();
    assert_eq!(stances, ["neutral", "for", "against"]);
    assert_eq!(judges[0]["scores"], json!([2.0, 4.0]), "a rebuttal may revise the score");
}

/// "Debate Metrics: Round-by-Round Tracking", with real values.
#[test]
fn template_of_the_debate_metrics() {
    let debate = rich(&[&[2.0, 2.5, 3.0], &[4.0], &[4.5]]);
    let saved = file(&debate, "debate_metrics");
    let metrics = &saved["debate_metrics"];
    assert_eq!(metrics, &debate.outcome.as_ref().unwrap().verdict["debate_metrics"]);
    assert_eq!(keys(metrics), ["feature", "start_time", "end_time", "rounds", "position_evolution", "cost"]);
    assert_eq!(
        (&metrics["feature"], &metrics["start_time"]),
        (&json!("queue-plan"), &json!("2026-01-31T23:59:58Z"))
    );
    assert_eq!(keys(&metrics["rounds"]), ["round_1", "round_2", "round_3"]);
    let round = &metrics["rounds"]["round_1"];
    assert_eq!(
        round,
        &json!({"scores": [2.0, 4.0, 4.5], "range": 2.5, "consensus_check": false, "agreements_formed": 0,
            "disputes_resolved": 0, "disputes_remaining": 5})
    );
    let round = &metrics["rounds"]["round_2"];
    assert_eq!((&round["scores"], &round["range"]), (&json!([2.5, 4.0, 4.5]), &json!(2.0)));
    assert_eq!(round["consensus_check"], false);
    assert_eq!(
        round["score_changes"],
        json!([{"judge": "judge-1", "delta": 0.5, "reason": "[A2] is right about line 3"}])
    );
    let round = &metrics["rounds"]["round_3"];
    assert_eq!((&round["range"], &round["final_verdict"]), (&json!(1.5), &json!("majority")));
    assert_eq!(
        round["score_changes"][0]["reason"],
        "gives no reason, but concedes, convinced by judge-2, on load: the queue is needed"
    );
    // Five dimensions are too far apart in every round; all three leave one topic open, but with one view.
    assert_eq!(
        metrics["position_evolution"],
        json!({"agreements_formed": 0, "disputes_resolved": 0, "disputes_remaining": 5})
    );
    assert_eq!(metrics["cost"], json!({"judge_calls": 9, "estimated_usd": 0.1}));
}

/// The clock of the metrics is the debate's: `start_time` and as long as it ran.
#[test]
fn end_time_is_start_time_plus_the_running_time() {
    let mut debate = rich(&[&[2.0], &[4.0], &[4.5]]);
    debate.at_ms = 3_200;
    debate.outcome = None;
    let log = PanelLog::read(&debate).unwrap();
    assert_eq!(metrics(&log, &PanelDecision::NoMajority)["end_time"], "2026-02-01T00:00:01Z");
}

/// "judge_calls": what was really called. An answer that had to be repaired is two calls, an ask that did not fit the budget none, and
/// a call that an interruption lost is counted once it is repeated.
#[test]
fn judge_calls_counts_the_calls_that_came_back() {
    let usage = agon_core::CallUsage::default();
    let (mut debate, _) = Debate::open(brief(MODELS, &[])).unwrap();
    let agon_core::NextEvent::Ask(asked, asks) = agon_core::advance(&Panel, &debate).unwrap() else {
        panic!()
    };
    let sent = |place: usize, attempt: u32| Event::Sent {
        ask: asks[place].id,
        attempt,
        model: asks[place].model.clone(),
        worst_usd: None,
        worst_tokens: 0,
        errand: false,
    };
    let said = |place: usize| {
        let (value, model) = (statement(4.0), asks[place].model.clone());
        let text = value.to_string();
        let reply = Reply::Said { text, value: Some(value), model, usage, cut_off: false, shortened: None };
        Event::Replied { ask: asks[place].id, reply }
    };
    let fault = |place: usize, attempt: u32| Event::Attempted {
        ask: asks[place].id,
        attempt,
        why: AbsenceReason::Malformed,
        detail: "no JSON".into(),
        text: None,
        unverified: false,
        usage,
    };
    let absent = |place: usize, why: AbsenceReason| Event::Replied {
        ask: asks[place].id,
        reply: Reply::Absent { why, detail: "test".into() },
    };
    let calls = |debate: &Debate| {
        metrics(&PanelLog::read(debate).unwrap(), &PanelDecision::Consensus)["cost"]["judge_calls"].clone()
    };
    for (event, counted) in [
        (asked.clone(), 0),
        (sent(0, 1), 0),
        (fault(0, 1), 1),
        (sent(0, 2), 1),
        (said(0), 2),
        (absent(1, AbsenceReason::OverBudget), 2),
        (sent(2, 1), 2),
        (sent(2, 2), 2),
        (said(2), 3),
    ] {
        let what = format!("{event:?}");
        debate.push(event, 0).unwrap();
        assert_eq!(calls(&debate), counted, "after {what}");
    }

    // An ask that stays malformed made its calls, too.
    let (mut debate, _) = Debate::open(brief(MODELS, &[])).unwrap();
    for event in
        [asked, sent(0, 1), fault(0, 1), sent(0, 2), fault(0, 2), absent(0, AbsenceReason::Malformed)]
    {
        debate.push(event, 0).unwrap();
    }
    assert_eq!(calls(&debate), 2);

    // What a branch took over has no attempts, but each answer was a call.
    let mut debate = rich(&[&[2.0], &[4.0], &[4.5]]);
    debate.turns[0].inherited = true;
    debate.turns[0].attempts.iter_mut().for_each(Vec::clear);
    assert_eq!(calls(&debate), 9);
}

/// A price that is not known is not made up.
#[test]
fn an_unknown_price_is_null() {
    let mut debate = rich(&[&[2.0], &[4.0], &[4.5]]);
    if let Some(Some(agon_core::Reply::Said { usage, .. })) = debate.turns[0].replies.first_mut() {
        usage.usd = None;
    }
    let metrics = metrics(&PanelLog::read(&debate).unwrap(), &PanelDecision::NoMajority);
    assert_eq!(metrics["cost"], json!({"judge_calls": 9, "estimated_usd": null}));
}

/// `script/demo-panel`: every reply keeps its schema and the rules, and every quote and piece of evidence verifies.
#[test]
fn the_demo_shows_the_rules_at_work() {
    let script: Value = serde_norway::from_str(INFO.demo.unwrap()).unwrap();
    let files = [
        ("design.md", include_str!("../../../../../examples/design.md")),
        ("plan.md", include_str!("../../../../../examples/plan.md")),
    ];
    let request = request(&files, &["script/demo-panel"], &[("feature", "checkout-v2")]).unwrap();
    let brief = testing::brief(&Panel, request).unwrap();
    let (_, debate) =
        testing::run(&Panel, brief, &|ask, phase, _| Some(script["seats"][&ask.seat][phase].clone()));
    let outcome = debate.outcome.unwrap();
    let verdict = &outcome.verdict;
    assert_eq!((outcome.termination, outcome.fidelity), (Termination::Majority, Fidelity::Full));
    assert_eq!((&verdict["status"], &verdict["opinions_by"]), (&json!("YELLOW"), &json!("rapporteur")));
    let [finding] = verdict["critical_findings"].as_array().unwrap().as_slice() else { panic!("{verdict}") };
    assert_eq!((&finding["same_as"], &finding["state"]), (&json!(["F2"]), &json!("disputed")));
    assert!(!verdict.to_string().contains("unverified"), "all evidence verifies");
    assert_eq!(
        verdict["debate_metrics"]["position_evolution"],
        json!({"agreements_formed": 3, "disputes_resolved": 3, "disputes_remaining": 3})
    );
    assert_eq!(verdict["recommendations"][0]["ids"], json!(["R6", "R8", "R10"]));
    let attention: Vec<&Value> =
        verdict["user_attention_needed"].as_array().unwrap().iter().map(|item| &item["ids"]).collect();
    assert_eq!(attention, [&json!(["F1", "F2", "D4"]), &json!(["D6"]), &json!([])]);
    assert_eq!(outcome.warnings, Vec::<String>::new());
}
