//! Gemini's `generateContent`.

use agon_core::Usage;
use genai::chat::ReasoningEffort;
use serde_json::Value;

use super::schema;
use super::wire::{Refusal, Wire, names};

pub(super) struct Gemini;

impl Wire for Gemini {
    fn path(&self, model: &str, streamed: bool) -> String {
        let verb = if streamed { "streamGenerateContent?alt=sse" } else { "generateContent" };
        // A name with a slash says itself where it belongs: `tunedModels/x`.
        let place = if model.contains('/') { "" } else { "models/" };
        format!("{place}{model}:{verb}")
    }

    fn headers(&self, key: Option<&str>) -> Vec<(String, String)> {
        key.map(|key| ("x-goog-api-key".into(), key.to_owned())).into_iter().collect()
    }

    fn list_path(&self) -> &'static str {
        "models?pageSize=1000"
    }

    fn listed(&self, body: &Value) -> Option<Vec<String>> {
        let names = names(body.get("models"), "name")?.into_iter();
        Some(names.map(|name| name.strip_prefix("models/").map(str::to_owned).unwrap_or(name)).collect())
    }

    /// Any other effort is a budget for thinking, which some models refuse.
    fn effort(&self, _model: &str) -> Option<ReasoningEffort> {
        Some(ReasoningEffort::Zero)
    }

    fn schema(&self, schema: &Value) -> Value {
        schema::gemini(schema)
    }

    fn is_answer(&self, body: &Value) -> bool {
        body.pointer("/candidates/0").is_some_and(Value::is_object)
    }

    /// A prompt that was turned down has no candidates, which genai takes for an error.
    fn refusal(&self, body: &Value) -> Option<Refusal> {
        let reason = body.pointer("/promptFeedback/blockReason")?.as_str()?;
        let words = format!("The prompt was turned down: {reason}.");
        let read = body.pointer("/usageMetadata/promptTokenCount").and_then(Value::as_u64);
        let usage = Usage { input_tokens: read.unwrap_or_default(), ..Usage::default() };
        Some(Refusal { words, usage })
    }

    fn refusal_mark(&self) -> Option<&'static str> {
        Some("\"blockReason\"")
    }

    /// genai takes every frame without candidates for an error, also one that only counts tokens.
    fn is_no_error(&self, body: &Value) -> bool {
        body.get("error").is_none()
    }

    fn gives_a_reason(&self) -> bool {
        true
    }
}
