//! OpenAI's chat completions, and everybody who speaks them.

use agon_core::Usage;
use genai::chat::ReasoningEffort;
use serde_json::Value;

use super::schema;
use super::wire::{Refusal, Wire, names};

pub(super) struct OpenAi;

impl Wire for OpenAi {
    fn path(&self, _model: &str, _streamed: bool) -> String {
        "chat/completions".into()
    }

    fn headers(&self, key: Option<&str>) -> Vec<(String, String)> {
        key.map(|key| ("Authorization".into(), format!("Bearer {key}"))).into_iter().collect()
    }

    fn list_path(&self) -> &'static str {
        "models"
    }

    fn listed(&self, body: &Value) -> Option<Vec<String>> {
        names(body.get("data"), "id")
    }

    fn effort(&self, _model: &str) -> Option<ReasoningEffort> {
        Some(ReasoningEffort::Budget(0))
    }

    /// genai makes every property required and closes every object, as strict mode wants it.
    fn schema(&self, schema: &Value) -> Value {
        schema::openai(schema)
    }

    fn stop_mark(&self) -> Option<&'static str> {
        Some("\"finish_reason\":\"")
    }

    fn stop_in_stream(&self, frame: &Value) -> Option<String> {
        frame.pointer("/choices/0/finish_reason")?.as_str().map(str::to_owned)
    }

    fn is_answer(&self, body: &Value) -> bool {
        body.pointer("/choices/0").is_some_and(Value::is_object)
    }

    fn refusal(&self, body: &Value) -> Option<Refusal> {
        words(body.pointer("/choices/0/message/refusal"))
    }

    fn refusal_mark(&self) -> Option<&'static str> {
        Some("\"refusal\"")
    }

    fn refusal_in_stream(&self, frame: &Value) -> Option<Refusal> {
        words(frame.pointer("/choices/0/delta/refusal"))
    }
}

fn words(refusal: Option<&Value>) -> Option<Refusal> {
    let words = refusal?.as_str()?.to_owned();
    Some(Refusal { words, usage: Usage::default() })
}
