//! The seed's records as files: every judge's statements, the verdict, the metrics.

use agon_core::{Body, Debate, Saved, calendar};
use serde_json::{Map, Value, json};

use super::log::{Judge, Log};
use super::reply::Severity;

/// The files that `--save` writes, each with the seed's fields in the seed's order.
pub(super) fn records(debate: &Debate) -> Vec<Saved> {
    let Ok(log) = Log::read(debate) else { return Vec::new() };
    let file = |stem: String, body: Value| Saved { stem, ending: ".yaml", body: Body::Yaml(body) };
    let mut files = Vec::new();
    for round in &log.rounds {
        for judge in &log.judges {
            let time = calendar::later(&debate.brief.created_at, round.ended_at_ms);
            let statement = statement(judge, round.number, &time);
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
fn statement(judge: &Judge<'_>, round: u32, time: &str) -> Option<Value> {
    let (head, said, order): (Value, Value, &[&str]) = match round {
        1 => {
            let head =
                json!({"judge_id": judge.id, "stance": judge.stance.as_str(), "round": 1, "timestamp": time});
            (head, position(judge)?, &[])
        }
        2 => {
            let head = json!({"judge_id": judge.id, "round": 2, "timestamp": time});
            (head, serde_json::to_value(judge.rebuttal.as_ref()?).ok()?, &["score_changed"])
        }
        _ => {
            let head = json!({"judge_id": judge.id, "round": 3, "is_final": true, "timestamp": time});
            (head, serde_json::to_value(judge.last.as_ref()?).ok()?, &[])
        }
    };
    let mut record = head.as_object()?.clone();
    let mut said: Map<String, Value> = said.as_object()?.clone();
    // A judge decides on a score before it says whether it changed; the seed's record says the latter first.
    for key in order {
        let value = said.shift_remove(*key)?;
        record.insert((*key).to_owned(), value);
    }
    record.extend(said);
    Some(Value::Object(record))
}

/// The position statement; a critical finding whose judge did not say so blocks consensus all the same.
fn position(judge: &Judge<'_>) -> Option<Value> {
    let mut statement = judge.statement.clone();
    for finding in &mut statement.critical_findings {
        finding.blocks_consensus.get_or_insert(finding.severity == Severity::Critical);
    }
    serde_json::to_value(statement).ok()
}
