//! A server that plays every seat of a debate.
//!
//! It knows a seat by what it is asked for: the property names of the schema of the answer, or, where there is
//! none, the field names that the prompt states. So it needs no script and works with any number of debaters.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::server::Responder;
use crate::{Request, Response};

/// How the debate goes.
#[derive(Debug, Clone)]
pub struct Debate {
    /// How long each answer takes.
    pub delay: Duration,
    /// The moderator's figure. From 0.8 on, with few new points, `deep` ends after its second round.
    pub agreement_score: f64,
    /// The moderator's other figure.
    pub new_points_ratio: f64,
    /// What is said where plain words are asked for.
    pub words: String,
}

/// A debate that converges: two rounds of `deep`, each answer after `delay`.
pub fn debate(delay: Duration) -> Responder {
    Debate { delay, ..Debate::default() }.responder()
}

impl Default for Debate {
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            agreement_score: 0.9,
            new_points_ratio: 0.1,
            words: "Measure first, because the cheapest change that removes the slowest step is worth more than a new design. Keep the old path until the new one has carried real load for a week.".into(),
        }
    }
}

/// How many shapes of answers are remembered.
const SHAPES_MAX: usize = 256;

/// The fields that tell what a prompt without a schema asks for, and the schema that stands for each.
const STATED: &[&[&str]] = &[
    &[
        "should_stop",
        "agreement_score",
        "new_points_ratio",
        "consensus_answer",
        "remaining_disagreements",
        "next_round_focus",
    ],
    &["stance", "key_points", "counterpoints", "revision", "revised_position", "confidence"],
    &["scores", "factual_error", "fabrication", "comment"],
    &["answer", "why", "contested"],
];

impl Debate {
    /// The server's side of it.
    pub fn responder(self) -> Responder {
        // A benchmark asks thousands of times for the same few shapes.
        let made: Mutex<HashMap<String, String>> = Mutex::default();
        Arc::new(move |request| {
            let text = match request.schema_text() {
                Some(schema) => {
                    let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
                    if made.len() >= SHAPES_MAX {
                        made.clear();
                    }
                    let found = made.get(schema).cloned();
                    found.unwrap_or_else(|| made.entry(schema.into()).or_insert(self.shaped(request)).clone())
                }
                None => self.stated(request).map_or_else(|| self.words.clone(), |value| value.to_string()),
            };
            Response::say(text).after(self.delay)
        })
    }

    fn shaped(&self, request: &Request) -> String {
        request.schema().map(|schema| self.value(schema, schema)).unwrap_or_default().to_string()
    }

    /// A value for the fields that the prompt states, where it states all those of one kind of answer.
    fn stated(&self, request: &Request) -> Option<Value> {
        let messages = request.messages();
        let (_, prompt) = messages.last()?;
        let quoted = |field: &&str| prompt.contains(&format!("\"{field}\""));
        let fields = STATED.iter().find(|fields| fields.iter().all(quoted))?;
        Some(
            fields.iter().map(|field| ((*field).to_owned(), self.known(field).unwrap_or_default())).collect(),
        )
    }

    /// A sensible value of `schema`.
    fn value(&self, root: &Value, schema: &Value) -> Value {
        let schema = resolve(root, schema);
        if let Some(first) = schema.get("enum").and_then(|values| values.get(0)) {
            return first.clone();
        }
        match kind(schema) {
            "object" => {
                let none = Map::new();
                let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
                fields.iter().map(|(name, field)| (name.clone(), self.field(root, name, field))).collect()
            }
            "array" => {
                let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or_default();
                let item = schema.get("items").unwrap_or(&Value::Null);
                (0..least).map(|_| self.value(root, item)).collect()
            }
            "string" => json!("A point that the others have not made."),
            "integer" => json!(schema.get("minimum").and_then(Value::as_i64).unwrap_or(1)),
            "number" => json!(schema.get("minimum").and_then(Value::as_f64).unwrap_or(0.5)),
            "boolean" => json!(false),
            _ => Value::Null,
        }
    }

    fn field(&self, root: &Value, name: &str, schema: &Value) -> Value {
        let allowed = resolve(root, schema).get("enum").and_then(Value::as_array);
        let known = self.known(name).filter(|value| allowed.is_none_or(|values| values.contains(value)));
        known.unwrap_or_else(|| self.value(root, schema))
    }

    /// What the seats of `deep` say in the seed's fields.
    fn known(&self, field: &str) -> Option<Value> {
        Some(match field {
            "stance" => json!("maintain"),
            "key_points" => {
                json!(["It is the cheapest step that can be undone.", "It was measured, not guessed."])
            }
            "counterpoints" | "remaining_disagreements" => json!([]),
            "revision" => json!("no_change"),
            "revised_position" => json!(""),
            "confidence" => json!(0.8),
            "should_stop" => json!(self.agreement_score >= 0.8),
            "agreement_score" => json!(self.agreement_score),
            "new_points_ratio" => json!(self.new_points_ratio),
            "consensus_answer" | "answer" => json!(self.words),
            "next_round_focus" => Value::Null,
            "why" => json!("All positions rest on the same measurement."),
            "contested" => json!(["How long the old path must stay."]),
            "comment" => json!("Sound, and short on sources."),
            "factual_error" | "fabrication" => json!(false),
            "accuracy" | "completeness" | "verifiability" | "reasoning" | "clarity" | "usefulness" => {
                json!(7)
            }
            "scores" => json!({
                "accuracy": 7, "completeness": 7, "verifiability": 7, "reasoning": 7, "clarity": 7, "usefulness": 7
            }),
            _ => return None,
        })
    }
}

fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
    target.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => names.first().and_then(Value::as_str).unwrap_or_default(),
        _ => "",
    }
}
