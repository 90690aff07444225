//! The shapes of the answers: the replies' own schemas, narrowed to the labels and ids of the debate.

use std::sync::{Arc, OnceLock};

use agon_core::Schema;
use serde_json::{Value, json};

use super::log::Log;
use super::poll::ABSTAIN;
use super::reply;
use crate::prompt::schema_of;

/// The schema of a proposal.
pub(super) fn proposal() -> Arc<Schema> {
    named("proposal", base(&PROPOSAL, || schema_of::<reply::Proposal>("").json))
}

/// The schema of a critique.
pub(super) fn critique() -> Arc<Schema> {
    named("critique", base(&CRITIQUE, || schema_of::<reply::Critique>("").json))
}

/// The schema of a revision: one for all, which they read in the part that they share. What it lists of others' is left out of an answer
/// when it is read.
pub(super) fn revision(log: &Log<'_>, ids: &[&str]) -> Arc<Schema> {
    let mut json = base(&REVISION, || schema_of::<reply::Revision>("").json);
    let proposers = log.proposers();
    set(&mut json, "/properties/conflicts_with/items", "enum", json!(either(log, &proposers)));
    set(&mut json, "/properties/conflicts_with", "maxItems", json!(proposers.len()));
    if !ids.is_empty() {
        set(&mut json, "/properties/addressed/items/properties/critique_id", "enum", json!(ids));
    }
    set(&mut json, "/properties/addressed", "maxItems", json!(ids.len()));
    named("revision", json)
}

/// The schema of a vote.
pub(super) fn vote(log: &Log<'_>) -> Arc<Schema> {
    let mut json = base(&VOTE, || schema_of::<reply::Vote>("").json);
    let mut choices = either(log, &log.proposers());
    choices.push(ABSTAIN.to_owned());
    set(&mut json, "/properties/choice", "enum", json!(choices));
    named("vote", json)
}

/// The schema of the judge's scores.
pub(super) fn judgement(log: &Log<'_>) -> Arc<Schema> {
    let mut json = base(&JUDGEMENT, || schema_of::<reply::Judgement>("").json);
    let proposers = log.proposers();
    let labels = json!(either(log, &proposers));
    set(&mut json, "/properties/scores/items/properties/label", "enum", labels.clone());
    set(&mut json, "/properties/ranking/items", "enum", labels);
    for list in ["/properties/scores", "/properties/ranking"] {
        set(&mut json, list, "minItems", json!(proposers.len()));
        set(&mut json, list, "maxItems", json!(proposers.len()));
    }
    named("judgement", json)
}

/// The schema of what a source of context found.
pub(super) fn found() -> Arc<Schema> {
    named("context", base(&FOUND, || schema_of::<reply::Found>("").json))
}

/// The schema of how alike so many texts are.
pub(super) fn likeness(texts: usize) -> Arc<Schema> {
    let figure = json!({"type": "number", "minimum": -1.0, "maximum": 1.0});
    let row = json!({"type": "array", "items": figure, "minItems": texts, "maxItems": texts});
    let matrix = json!({"type": "array", "items": row, "minItems": texts, "maxItems": texts});
    let json = json!({"type": "object", "properties": {"similarity": matrix}, "required": ["similarity"]});
    named("similarity", json)
}

static PROPOSAL: OnceLock<Value> = OnceLock::new();
static CRITIQUE: OnceLock<Value> = OnceLock::new();
static REVISION: OnceLock<Value> = OnceLock::new();
static VOTE: OnceLock<Value> = OnceLock::new();
static JUDGEMENT: OnceLock<Value> = OnceLock::new();
static FOUND: OnceLock<Value> = OnceLock::new();

fn base(made: &'static OnceLock<Value>, make: impl Fn() -> Value) -> Value {
    made.get_or_init(make).clone()
}

fn named(name: &str, json: Value) -> Arc<Schema> {
    Arc::new(Schema { name: name.to_owned(), json })
}

/// Labels in both ways in which they may be written.
fn either(log: &Log<'_>, places: &[usize]) -> Vec<String> {
    let labels = || places.iter().map(|place| log.label(*place).to_owned());
    labels().map(|label| format!("Agent {label}")).chain(labels()).collect()
}

fn set(schema: &mut Value, pointer: &str, key: &str, value: Value) {
    if let Some(Value::Object(place)) = schema.pointer_mut(pointer) {
        place.insert(key.to_owned(), value);
    }
}
