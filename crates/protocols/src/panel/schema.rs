//! The shapes of the answers: the replies' own schemas, narrowed to this debate's dimensions, judges and findings.

use std::sync::OnceLock;

use agon_core::Schema;
use serde_json::{Map, Value, json};

use super::log::Log;
use super::reply::{Final, Rebuttal, Statement};
use super::rubric::Rubric;
use crate::prompt::schema_of;

/// The schema of a round's answer. `own` is the judge's place; without it, it is what all judges of the round have in common,
/// for the part of the prompt that all read.
pub(super) fn schema(log: &Log<'_>, round: u32, own: Option<usize>) -> Schema {
    let (name, json) = match round {
        1 => ("position", base::<Statement>(&STATEMENT, "position")),
        2 => ("rebuttal", base::<Rebuttal>(&REBUTTAL, "rebuttal")),
        _ => ("final", base::<Final>(&FINAL, "final")),
    };
    let mut schema = Schema { name: name.to_owned(), json: json.clone() };
    let Some(properties) = schema.json.get_mut("properties").and_then(Value::as_object_mut) else {
        return schema;
    };
    narrow(properties, log, round, own);
    schema
}

static STATEMENT: OnceLock<Value> = OnceLock::new();
static REBUTTAL: OnceLock<Value> = OnceLock::new();
static FINAL: OnceLock<Value> = OnceLock::new();

fn base<T: schemars::JsonSchema>(made: &'static OnceLock<Value>, name: &str) -> &'static Value {
    made.get_or_init(|| schema_of::<T>(name).json)
}

fn narrow(properties: &mut Map<String, Value>, log: &Log<'_>, round: u32, own: Option<usize>) {
    if let Some(scores) = properties.get_mut("dimension_scores") {
        *scores = dimension_scores(&log.rubric, round == 1, scores.get("description"));
    }
    let ids: Vec<&str> = log.findings.iter().map(|finding| finding.id.as_str()).collect();
    if ids.is_empty() {
        properties.shift_remove("critical_positions");
    } else if let Some(positions) = properties.get_mut("critical_positions") {
        if let Some(id) = positions.pointer_mut("/items/properties/finding_id") {
            set(id, "enum", json!(ids));
        }
        set(positions, "maxItems", json!(ids.len()));
    }
    let others = log.judges.iter().enumerate().filter(|(place, _)| Some(*place) != own);
    let others: Vec<&str> = others.map(|(_, judge)| judge.id).collect();
    for list in ["agreements", "disagreements"] {
        let judge =
            properties.get_mut(list).and_then(|list| list.pointer_mut("/items/properties/with_judge"));
        judge.into_iter().for_each(|judge| set(judge, "enum", json!(others)));
    }
    let before = own.and_then(|place| log.score(place, round.saturating_sub(1)));
    if let (Some(before), Some(score)) = (before, properties.get_mut("previous_score")) {
        set(score, "enum", json!([before]));
    }
}

/// One number for each dimension: all of them at first, later only where something changed.
fn dimension_scores(rubric: &Rubric, first: bool, description: Option<&Value>) -> Value {
    let score = |key: &str, about: &str| {
        let about = if about.is_empty() { String::new() } else { format!(" That is: {about}") };
        json!({
            "description": format!("How good is its {}, from 1 to 5?{about}", key.replace('_', " ")),
            "type": if first { json!("number") } else { json!(["number", "null"]) },
            "minimum": 1.0,
            "maximum": 5.0,
        })
    };
    let dimensions = rubric.dimensions.iter();
    let properties: Map<String, Value> =
        dimensions.map(|d| (d.key.clone(), score(&d.key, &d.description))).collect();
    let mut schema = json!({
        "description": description,
        "type": if first { json!("object") } else { json!(["object", "null"]) },
        "properties": properties,
    });
    if first {
        let keys: Vec<&str> = rubric.dimensions.iter().map(|dimension| dimension.key.as_str()).collect();
        set(&mut schema, "required", json!(keys));
    }
    schema
}

fn set(schema: &mut Value, key: &str, value: Value) {
    if let Value::Object(map) = schema {
        map.insert(key.to_owned(), value);
    }
}
