//! How the wire formats differ.

use agon_core::CallUsage;
use agon_engine::{CallMessage, MessageRole};
use genai::chat::{ChatMessage, ReasoningEffort};
use serde_json::{Map, Value};

use super::anthropic::AnthropicDialect;
use super::gemini::GeminiDialect;
use super::openai::OpenAiDialect;
use crate::config::WireFormat;

/// A wire format, as far as genai leaves it to us. The defaults fit most formats.
pub(crate) trait WireDialect: Send + Sync {
    /// The path of a chat request under the base URL.
    fn chat_path(&self, model: &str, is_streamed: bool) -> String;

    /// The headers of every request, including the key.
    fn headers(&self, key: Option<&str>) -> Vec<(String, String)>;

    /// The path of the list of models, with all of them on one page.
    fn list_path(&self) -> &'static str;

    /// The names in the list of models. `None` if the body is not such a list.
    fn listed_models(&self, body: &Value) -> Option<Vec<String>>;

    /// The conversation in genai's types.
    fn messages(&self, messages: &[CallMessage]) -> Vec<ChatMessage> {
        messages.iter().map(plain_message).collect()
    }

    /// Whether the server caches common prefixes without marks in the request.
    fn caches_by_itself(&self) -> bool {
        true
    }

    /// genai reads an effort from the end of some model names. This value stops it, and sends nothing to the server.
    fn effort(&self, model: &str) -> Option<ReasoningEffort>;

    /// The schema with only the keywords that the server accepts. The engine checks the answer against the full schema.
    fn schema(&self, schema: &Value) -> Value;

    /// Whether this body is an answer at all.
    fn is_answer(&self, body: &Value) -> bool;

    /// A refusal that genai does not report.
    fn refusal(&self, _body: &Value) -> Option<ServerRefusal> {
        None
    }

    /// A string that occurs in every frame that says why the model stopped, if a stream may end without an end mark.
    fn stop_marker(&self) -> Option<&'static str> {
        None
    }

    /// Why the model stopped, if this frame says so.
    fn stop_in_frame(&self, _frame: &Value) -> Option<String> {
        None
    }

    /// A string that occurs in every frame with a piece of a refusal.
    fn refusal_marker(&self) -> Option<&'static str> {
        None
    }

    /// The piece of a refusal in a frame.
    fn refusal_in_frame(&self, frame: &Value) -> Option<ServerRefusal> {
        self.refusal(frame)
    }

    /// Whether genai reports this frame as an error although it is not one.
    fn is_false_error(&self, _body: &Value) -> bool {
        false
    }

    /// Whether every complete stream says why the model stopped. One that does not was cut off.
    fn always_gives_stop_reason(&self) -> bool {
        false
    }
}

/// A refusal, and the tokens that it used if there is no answer next to it.
pub(crate) struct ServerRefusal {
    pub(crate) text: String,
    pub(crate) usage: CallUsage,
}

pub(crate) fn of(format: WireFormat) -> &'static dyn WireDialect {
    match format {
        WireFormat::OpenAi => &OpenAiDialect,
        WireFormat::Anthropic => &AnthropicDialect,
        WireFormat::Gemini => &GeminiDialect,
    }
}

pub(super) fn plain_message(message: &CallMessage) -> ChatMessage {
    let text = message.text.as_str();
    match message.role {
        MessageRole::System => ChatMessage::system(text),
        MessageRole::User => ChatMessage::user(text),
        MessageRole::Assistant => ChatMessage::assistant(text),
    }
}

/// genai includes cached tokens in the prompt tokens for every wire format, as Agon does.
pub(super) fn usage(usage: &genai::chat::Usage) -> CallUsage {
    let tokens = |count: Option<i32>| count.and_then(|count| u64::try_from(count).ok()).unwrap_or_default();
    let prompt = usage.prompt_tokens_details.as_ref();
    let completion = usage.completion_tokens_details.as_ref();
    // An answer that was cut off during reasoning has only reasoning tokens.
    let output = usage.completion_tokens.or(completion.and_then(|details| details.reasoning_tokens));
    CallUsage {
        input_tokens: tokens(usage.prompt_tokens),
        cached_input_tokens: tokens(prompt.and_then(|details| details.cached_tokens)),
        cache_write_tokens: tokens(prompt.and_then(|details| details.cache_creation_tokens)),
        output_tokens: tokens(output),
        ..CallUsage::default()
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
