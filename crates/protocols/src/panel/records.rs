//! The seed's records as files: every judge's statements, the verdict, the metrics.

use agon_core::{Body, Debate, Saved, calendar};
use serde_json::{Value, json};

use super::log::{Judge, Log};

/// The files that `--save` writes, each with the seed's fields in the seed's order.
pub(super) fn records(debate: &Debate) -> Vec<Saved> {
    let Ok(log) = Log::read(debate) else { return Vec::new() };
    let file = |stem: String, body: Value| Saved { stem, ending: ".yaml", body: Body::Yaml(body) };
    let mut files = Vec::new();
    for round in &log.rounds {
        for judge in &log.judges {
            let time = calendar::later(&debate.brief.created_at, round.ended_at_ms);
            let statement = statement(&log, judge, round.number, &time);
            files.extend(statement.map(|body| file(format!("round-{}-{}", round.number, judge.id), body)));
        }
    }
    if let Some(verdict) = debate.outcome.as_ref().map(|outcome| &outcome.verdict) {
        let mut record = verdict.as_object().cloned().unwrap_or_default();
        let metrics = record.shift_remove("debate_metrics").unwrap_or_default();
        files.push(file("verdict".into(), Value::Object(record)));
        files.push(file("debate_metrics".into(), json!({"debate_metrics": metrics})));
    }
    files
}

/// A statement with what the seed's template has before the judge's own words.
fn statement(log: &Log<'_>, judge: &Judge<'_>, round: u32, time: &str) -> Option<Value> {
    let mut said = log.statement(judge, round)?;
    let head = match round {
        1 => json!({"judge_id": judge.id, "stance": judge.stance.as_str(), "round": 1, "timestamp": time}),
        2 => {
            let rebuttal = judge.rebuttal.as_ref()?;
            said.shift_remove("score_changed");
            json!({"judge_id": judge.id, "round": 2, "timestamp": time, "score_changed": rebuttal.is_changed()})
        }
        _ => json!({"judge_id": judge.id, "round": 3, "is_final": true, "timestamp": time}),
    };
    // A critical finding blocks consensus also where its judge did not say so.
    for finding in said.get_mut("critical_findings").and_then(Value::as_array_mut).into_iter().flatten() {
        if finding["blocks_consensus"].is_null() {
            finding["blocks_consensus"] = json!(finding["severity"] == "CRITICAL");
        }
    }
    let mut record = head.as_object()?.clone();
    record.extend(said);
    Some(Value::Object(record))
}
