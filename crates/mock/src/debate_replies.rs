//! A responder that plays every seat of a debate.
//!
//! It recognises a seat by the fields that the answer must have: the properties of the JSON Schema or, without one, the
//! field names in the prompt. So it needs no script and works with any number of debaters.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::{MockRequest, MockResponder, MockResponse};

/// What the seats answer.
#[derive(Debug, Clone)]
pub struct MockDebate {
    /// The delay of each answer.
    pub delay: Duration,
    /// The moderator's agreement score. From 0.8 on, with few new points, `deep` ends after its second round.
    pub agreement_score: f64,
    /// The moderator's share of new points.
    pub new_points_ratio: f64,
    /// The answer where plain text is wanted.
    pub words: String,
}

/// A debate that converges: two rounds of `deep`, each answer after `delay`.
pub fn converging_debate(delay: Duration) -> MockResponder {
    MockDebate { delay, ..MockDebate::default() }.responder()
}

impl Default for MockDebate {
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            agreement_score: 0.9,
            new_points_ratio: 0.1,
            words: "Measure first, because the cheapest change that removes the slowest step is worth more than a new design. Keep the old path until the new one has carried real load for a week.".into(),
        }
    }
}

/// How many answers are cached, one per schema.
const CACHED_ANSWERS_MAX: usize = 256;

/// The fields of each kind of answer, by which a prompt without a schema is recognised.
const ANSWER_FIELDS: &[&[&str]] = &[
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

impl MockDebate {
    /// The responder for a server.
    pub fn responder(self) -> MockResponder {
        // A benchmark sends the same few schemas thousands of times.
        let cache: Mutex<HashMap<String, String>> = Mutex::default();
        Arc::new(move |request| {
            let text = match request.schema_text() {
                Some(schema) => {
                    let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
                    if cache.len() >= CACHED_ANSWERS_MAX {
                        cache.clear();
                    }
                    cache.entry(schema.into()).or_insert_with(|| self.answer_by_schema(request)).clone()
                }
                None => self
                    .answer_by_prompt(request)
                    .map_or_else(|| self.words.clone(), |value| value.to_string()),
            };
            MockResponse::say(text).after(self.delay)
        })
    }

    fn answer_by_schema(&self, request: &MockRequest) -> String {
        request.schema().map(|schema| self.example(schema, schema)).unwrap_or_default().to_string()
    }

    /// An answer with the fields in the prompt, if it names all fields of one kind of answer.
    fn answer_by_prompt(&self, request: &MockRequest) -> Option<Value> {
        let messages = request.messages();
        let (_, prompt) = messages.last()?;
        let quoted = |field: &&str| prompt.contains(&format!("\"{field}\""));
        let fields = ANSWER_FIELDS.iter().find(|fields| fields.iter().all(quoted))?;
        Some(
            fields
                .iter()
                .map(|field| ((*field).to_owned(), self.known_field(field).unwrap_or_default()))
                .collect(),
        )
    }

    /// A value that conforms to `schema`.
    fn example(&self, root: &Value, schema: &Value) -> Value {
        let schema = resolve(root, schema);
        if let Some(first) = schema.get("enum").and_then(|values| values.get(0)) {
            return first.clone();
        }
        match type_of(schema) {
            "object" => {
                let none = Map::new();
                let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
                fields
                    .iter()
                    .map(|(name, field)| (name.clone(), self.example_field(root, name, field)))
                    .collect()
            }
            "array" => {
                let count = schema.get("minItems").and_then(Value::as_u64).unwrap_or_default();
                let item = schema.get("items").unwrap_or(&Value::Null);
                (0..count).map(|_| self.example(root, item)).collect()
            }
            "string" => json!("A point that the others have not made."),
            "integer" => json!(schema.get("minimum").and_then(Value::as_i64).unwrap_or(1)),
            "number" => json!(schema.get("minimum").and_then(Value::as_f64).unwrap_or(0.5)),
            "boolean" => json!(false),
            _ => Value::Null,
        }
    }

    fn example_field(&self, root: &Value, name: &str, schema: &Value) -> Value {
        let allowed = resolve(root, schema).get("enum").and_then(Value::as_array);
        let known =
            self.known_field(name).filter(|value| allowed.is_none_or(|values| values.contains(value)));
        known.unwrap_or_else(|| self.example(root, schema))
    }

    /// The value of a field that the protocols ask for.
    fn known_field(&self, field: &str) -> Option<Value> {
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

fn type_of(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => names.first().and_then(Value::as_str).unwrap_or_default(),
        _ => "",
    }
}
