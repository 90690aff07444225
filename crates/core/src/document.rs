//! The JSON outcome that every face of Agon prints.

use serde_json::{Value, json};

use crate::{Debate, Headline, ItemRecord, Seat, Status};

/// The outcome of a debate as one JSON document. `evidence` is computed from the same log by the caller. A debate that
/// has not ended has status `interrupted` and no verdict.
pub fn document(debate: &Debate, evidence: Value) -> Value {
    let brief = &debate.brief;
    let outcome = debate.outcome.as_ref();
    let absences: Vec<Value> = debate
        .absences()
        .map(|(phase, ask, why, detail)| {
            json!({"seat": ask.seat, "phase": phase.name, "round": phase.round, "why": why, "detail": detail})
        })
        .collect();
    json!({
        "id": brief.id,
        "protocol": brief.protocol,
        "question": brief.question,
        "status": outcome.map_or(json!("interrupted"), |outcome| json!(outcome.status)),
        "termination": outcome.map(|outcome| outcome.termination),
        "rounds_completed": outcome.map_or(0, |outcome| outcome.rounds_completed),
        "verdict": outcome.map(|outcome| &outcome.verdict),
        "dissent": outcome.map_or(&[][..], |outcome| &outcome.dissent),
        "fidelity": outcome.map(|outcome| outcome.fidelity),
        "absences": absences,
        "warnings": outcome.map_or(&[][..], |outcome| &outcome.warnings),
        "labels": outcome.map(|outcome| &outcome.labels),
        "seats": seats(debate),
        "seed": brief.seed,
        "parent": brief.parent,
        "created_at": brief.created_at,
        "elapsed_ms": debate.at_ms,
        "evidence": evidence,
        "usage": usage(debate),
        "receipt": {
            "log_version": brief.version,
            "events": debate.events,
            "head": debate.head,
            "templates": brief.templates,
        },
    })
}

/// Adds what the debate came to, for readers that know no protocol: chat messages, agents, scripts.
pub fn add_headline(document: &mut Value, headline: &Headline) {
    if let Value::Object(fields) = document {
        fields.insert("headline".to_owned(), json!(headline));
    }
}

/// Adds what was looked up, in a debate with tools.
pub fn add_items(document: &mut Value, items: &[ItemRecord]) {
    if let (Value::Object(fields), false) = (document, items.is_empty()) {
        fields.insert("items".to_owned(), json!(items));
    }
}

/// The seats, and the models that spoke for each.
fn seats(debate: &Debate) -> Vec<Value> {
    let seats = debate.brief.seats.iter();
    seats
        .map(|Seat { id, role, model }| json!({"id": id, "role": role, "model": model, "spoke": debate.spoke(id)}))
        .collect()
}

/// What a debate used, as the document shows it.
pub fn usage(debate: &Debate) -> Value {
    let spent = debate.spent();
    json!({
        "calls": spent.calls,
        "input_tokens": spent.input_tokens,
        "cached_input_tokens": spent.cached_input_tokens,
        "cache_write_tokens": spent.cache_write_tokens,
        "output_tokens": spent.output_tokens,
        "usd": spent.usd_known.then_some(spent.usd),
        "possibly_billed_twice_calls": spent.lost_calls,
        "possibly_billed_twice_usd": spent.lost_usd_known.then_some(spent.lost_usd),
    })
}

/// The exit status that a debate's end stands for.
pub fn exit_status(debate: &Debate) -> u8 {
    match &debate.outcome {
        Some(outcome) if outcome.status == Status::Complete => u8::from(outcome.passed == Some(false)),
        _ => 3,
    }
}
