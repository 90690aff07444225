//! Gemini's `generateContent`.

use agon_core::CallUsage;
use genai::chat::ReasoningEffort;
use serde_json::{Value, json};

use super::dialect::{ServerRefusal, WireDialect, change_schemas, move_to_description, names_in};

pub(super) struct GeminiDialect;

/// The keywords that Gemini documents. It rejects others.
#[rustfmt::skip]
const SUPPORTED_KEYWORDS: &[&str] = &[
    "$anchor", "$defs", "$id", "$ref", "additionalProperties", "anyOf", "description", "enum", "format",
    "items", "maxItems", "maximum", "minItems", "minimum", "oneOf", "prefixItems", "properties",
    "propertyOrdering", "required", "title", "type",
];

impl WireDialect for GeminiDialect {
    fn chat_path(&self, model: &str, is_streamed: bool) -> String {
        let verb = if is_streamed { "streamGenerateContent?alt=sse" } else { "generateContent" };
        // A name with a slash includes its collection: `tunedModels/x`.
        let collection = if model.contains('/') { "" } else { "models/" };
        format!("{collection}{model}:{verb}")
    }

    fn headers(&self, key: Option<&str>) -> Vec<(String, String)> {
        key.map(|key| ("x-goog-api-key".into(), key.to_owned())).into_iter().collect()
    }

    fn list_path(&self) -> &'static str {
        "models?pageSize=1000"
    }

    fn listed_models(&self, body: &Value) -> Option<Vec<String>> {
        let names = names_in(body.get("models"), "name")?.into_iter();
        Some(names.map(|name| name.strip_prefix("models/").map(str::to_owned).unwrap_or(name)).collect())
    }

    /// Any other effort becomes a thinking budget, which some models reject.
    fn effort(&self, _model: &str) -> Option<ReasoningEffort> {
        Some(ReasoningEffort::Zero)
    }

    fn schema(&self, schema: &Value) -> Value {
        change_schemas(schema, &|map| {
            if let Some(only) = map.remove("const") {
                map.insert("enum".into(), json!([only]));
            }
            map.remove("$schema");
            move_to_description(map, |key| !SUPPORTED_KEYWORDS.contains(&key));
        })
    }

    fn is_answer(&self, body: &Value) -> bool {
        body.pointer("/candidates/0").is_some_and(Value::is_object)
    }

    /// A blocked prompt has no candidates, which genai reports as an error.
    fn refusal(&self, body: &Value) -> Option<ServerRefusal> {
        let reason = body.pointer("/promptFeedback/blockReason")?.as_str()?;
        let text = format!("The prompt was blocked: {reason}.");
        let input_tokens = body.pointer("/usageMetadata/promptTokenCount").and_then(Value::as_u64);
        let usage = CallUsage { input_tokens: input_tokens.unwrap_or_default(), ..CallUsage::default() };
        Some(ServerRefusal { text, usage })
    }

    fn refusal_marker(&self) -> Option<&'static str> {
        Some("\"blockReason\"")
    }

    /// genai reports every frame without candidates as an error, even one that only counts tokens.
    fn is_false_error(&self, body: &Value) -> bool {
        body.get("error").is_none()
    }

    fn always_gives_stop_reason(&self) -> bool {
        true
    }
}
