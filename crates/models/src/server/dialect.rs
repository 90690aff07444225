//! How the wire formats differ.

use agon_core::CallUsage;
use agon_engine::{CallMessage, FinishReason};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::anthropic::AnthropicDialect;
use super::gemini::GeminiDialect;
use super::openai::OpenAiDialect;
use crate::config::WireFormat;
use crate::provider::ServerHabits;

/// A wire format: how a request is written, and how an answer is read.
pub(crate) trait WireDialect: Send + Sync {
    /// The path of a chat request under the base URL.
    fn chat_path(&self, model: &str, is_streamed: bool) -> String;

    /// The headers of every request, including the key.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;

    /// The path of the list of models, with all of them on one page.
    fn list_path(&self) -> &'static str;

    /// The names in the list of models. `None` if the body is not such a list.
    fn listed_models(&self, body: &Value) -> Option<Vec<String>>;

    /// The body of a request.
    fn request_body(&self, request: &ChatRequest<'_>) -> serde_json::Result<Vec<u8>>;

    /// The schema with only the keywords that the server accepts. The engine checks the answer against the full schema.
    fn schema(&self, schema: &Value) -> Value;

    /// Reads a whole answer. Returns whether `body` is one.
    fn read_answer(&self, body: &Value, habits: &ServerHabits, answer: &mut ServerAnswer) -> bool;

    /// Reads one frame of a stream.
    fn read_frame(&self, frame: &Value, habits: &ServerHabits, answer: &mut ServerAnswer);
}

/// What a request says, in no wire format yet.
pub(crate) struct ChatRequest<'a> {
    /// The provider's name for the model.
    pub(crate) model: &'a str,
    pub(crate) messages: &'a [CallMessage],
    /// For structured output: the name of the schema, and the schema as this server accepts it.
    pub(crate) schema: Option<(&'a str, &'a RawValue)>,
    pub(crate) max_output_tokens: u32,
    /// Whether the limit on the output is called `max_completion_tokens`.
    pub(crate) says_completion_tokens: bool,
    pub(crate) seed: Option<u64>,
    pub(crate) is_streamed: bool,
    /// Whether a stream should end with its usage.
    pub(crate) wants_usage: bool,
    pub(crate) habits: ServerHabits,
}

/// What has been read of an answer.
#[derive(Debug, Default)]
pub(crate) struct ServerAnswer {
    pub(crate) text: String,
    /// What the server says instead of an answer.
    pub(crate) refusal: Option<String>,
    /// Why the model stopped, in the server's words.
    pub(crate) stop: Option<String>,
    pub(crate) usage: CallUsage,
    /// A mark said that the stream is complete.
    pub(crate) is_ended: bool,
}

impl ServerAnswer {
    /// A stream that says neither why the model stopped nor that it has ended was cut off.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_ended || self.stop.is_some() || self.refusal.is_some()
    }

    pub(crate) fn finish(&self) -> FinishReason {
        match self.stop.as_deref().unwrap_or_default() {
            _ if self.refusal.is_some() => FinishReason::Refused,
            "length" | "max_tokens" | "MAX_TOKENS" | "model_length" | "model_context_window_exceeded" => {
                FinishReason::Length
            }
            "content_filter" | "refusal" | "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST"
            | "PROHIBITED_CONTENT" | "SPII" => FinishReason::Refused,
            _ => FinishReason::End,
        }
    }

    /// Adds text. In some formats it is a string, in others a list of blocks, of which some are thoughts.
    pub(super) fn push_text(&mut self, content: Option<&Value>) {
        match content {
            Some(Value::String(text)) => self.text.push_str(text),
            Some(Value::Array(blocks)) => {
                let is_thought = |block: &&Value| block.get("thought") == Some(&Value::Bool(true));
                let texts =
                    blocks.iter().filter(|block| !is_thought(block)).filter_map(|block| block.get("text"));
                self.text.extend(texts.filter_map(Value::as_str));
            }
            _ => {}
        }
    }

    pub(super) fn push_refusal(&mut self, piece: Option<&Value>) {
        if let Some(piece) = piece.and_then(Value::as_str) {
            self.refusal.get_or_insert_default().push_str(piece);
        }
    }

    pub(super) fn set_stop(&mut self, stop: Option<&Value>) {
        if let Some(stop) = stop.and_then(Value::as_str) {
            self.stop = Some(stop.to_owned());
        }
    }
}

pub(crate) fn of(format: WireFormat) -> &'static dyn WireDialect {
    match format {
        WireFormat::OpenAi => &OpenAiDialect,
        WireFormat::Anthropic => &AnthropicDialect,
        WireFormat::Gemini => &GeminiDialect,
    }
}

/// A request's body as JSON.
pub(super) fn json_body(request: &ChatRequest<'_>, body: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let texts: usize = request.messages.iter().map(|message| message.text.len()).sum();
    let schema = request.schema.map_or(0, |(_, schema)| schema.get().len());
    // With some room for escapes and for what stands around the texts, the body rarely has to move while it grows.
    let mut json = Vec::with_capacity(texts + texts / 16 + schema + 512);
    serde_json::to_writer(&mut json, body)?;
    Ok(json)
}

/// More tokens than any call has. A server may say anything, and the sums over a debate must stay sums.
pub(crate) const TOKENS_MAX: u64 = 1_000_000_000_000;

/// The count of tokens at a path such as `/prompt_tokens_details/cached_tokens`; 0 if it is missing or is not one.
pub(super) fn tokens(usage: &Value, path: &str) -> u64 {
    said_tokens(usage, path).unwrap_or_default()
}

/// The same; `None` if it is missing or is not one.
pub(super) fn said_tokens(usage: &Value, path: &str) -> Option<u64> {
    let count = path.split('/').skip(1).try_fold(usage, |value, key| value.get(key));
    Some(count?.as_u64()?.min(TOKENS_MAX))
}

/// Closes every object of a schema, which structured output demands. `all_required` is what OpenAI's strict mode demands.
pub(super) fn close_objects(map: &mut Map<String, Value>, all_required: bool) {
    let is_object = map.get("type").is_some_and(|kind| kind == "object") || map.contains_key("properties");
    if !is_object {
        return;
    }
    map.entry("additionalProperties").or_insert(Value::Bool(false));
    if all_required && let Some(Value::Object(properties)) = map.get("properties") {
        let names: Vec<Value> = properties.keys().map(|name| Value::from(name.as_str())).collect();
        map.insert("required".into(), Value::Array(names));
    }
}

/// The strings under `key` in each entry of a list.
pub(super) fn names_in(list: Option<&Value>, key: &str) -> Option<Vec<String>> {
    let entries = list?.as_array()?.iter();
    Some(entries.filter_map(|entry| Some(entry.get(key)?.as_str()?.to_owned())).collect())
}

/// Moves the keywords that `is_unsupported` picks into the description, where the model still reads them.
pub(super) fn move_to_description(map: &mut Map<String, Value>, is_unsupported: impl Fn(&str) -> bool) {
    let moved: Vec<String> = map
        .iter()
        .filter(|(key, _)| is_unsupported(key))
        .map(|(key, value)| format!("{key}: {value}"))
        .collect();
    if moved.is_empty() {
        return;
    }
    map.retain(|key, _| !is_unsupported(key));
    let moved = format!("({})", moved.join(", "));
    let description = match map.get("description").and_then(Value::as_str) {
        Some(description) => format!("{description} {moved}"),
        None => moved,
    };
    map.insert("description".into(), description.into());
}

/// Applies `change` to a JSON Schema and to every schema inside it.
pub(super) fn change_schemas(schema: &Value, change: &dyn Fn(&mut Map<String, Value>)) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    let within = |key: &str, value: &Value| match (key, value) {
        // The keys under these keywords are names of fields, not keywords.
        ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(named)) => {
            named.iter().map(|(name, schema)| (name.clone(), change_schemas(schema, change))).collect()
        }
        ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
            schemas.iter().map(|schema| change_schemas(schema, change)).collect()
        }
        ("items" | "additionalProperties" | "not" | "contains", schema) => change_schemas(schema, change),
        _ => value.clone(),
    };
    let mut map: Map<String, Value> =
        map.iter().map(|(key, value)| (key.clone(), within(key, value))).collect();
    change(&mut map);
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "maximum": {"type": ["string", "null"], "maxLength": 9, "description": "The most."},
                "score": {"type": "number", "minimum": 0, "maximum": 1},
                "points": {"type": "array", "minItems": 2, "maxItems": 3, "items": {"type": "string", "maxLength": 5}},
                "one": {"type": "array", "minItems": 1, "items": {"enum": ["a", "b"]}},
                "kind": {"oneOf": [{"const": "x"}, {"type": "integer", "multipleOf": 2}]},
            },
            "required": ["score"],
        })
    }

    #[test]
    fn keywords_that_anthropic_rejects_move_to_the_description() {
        let changed = AnthropicDialect.schema(&schema());
        assert_eq!(
            changed["properties"],
            json!({
                "maximum": {"type": ["string", "null"], "description": "The most. (maxLength: 9)"},
                "score": {"type": "number", "description": "(minimum: 0, maximum: 1)"},
                "points": {
                    "type": "array", "description": "(minItems: 2, maxItems: 3)",
                    "items": {"type": "string", "description": "(maxLength: 5)"},
                },
                "one": {"type": "array", "minItems": 1, "items": {"enum": ["a", "b"]}},
                "kind": {"anyOf": [{"const": "x"}, {"type": "integer", "description": "(multipleOf: 2)"}]},
            })
        );
        assert_eq!(changed["required"], json!(["score"]));
    }

    #[test]
    fn keywords_that_gemini_does_not_know_move_to_the_description() {
        let changed = GeminiDialect.schema(&schema());
        assert_eq!(
            changed["properties"],
            json!({
                "maximum": {"type": ["string", "null"], "description": "The most. (maxLength: 9)"},
                "score": {"type": "number", "minimum": 0, "maximum": 1},
                "points": {
                    "type": "array", "minItems": 2, "maxItems": 3,
                    "items": {"type": "string", "description": "(maxLength: 5)"},
                },
                "one": {"type": "array", "minItems": 1, "items": {"enum": ["a", "b"]}},
                "kind": {"oneOf": [{"enum": ["x"]}, {"type": "integer", "description": "(multipleOf: 2)"}]},
            })
        );
    }
}
