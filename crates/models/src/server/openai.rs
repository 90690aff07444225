//! OpenAI's chat completions, and every server that speaks them.

use agon_core::CallUsage;
use genai::chat::ReasoningEffort;
use serde_json::Value;

use super::dialect::{ServerRefusal, WireDialect, change_schemas, move_to_description, names_in};

pub(super) struct OpenAiDialect;

/// Keywords that OpenAI's strict mode rejects.
const UNSUPPORTED_KEYWORDS: &[&str] =
    &["minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties"];

impl WireDialect for OpenAiDialect {
    fn chat_path(&self, _model: &str, _is_streamed: bool) -> String {
        "chat/completions".into()
    }

    fn headers(&self, key: Option<&str>) -> Vec<(String, String)> {
        key.map(|key| ("Authorization".into(), format!("Bearer {key}"))).into_iter().collect()
    }

    fn list_path(&self) -> &'static str {
        "models"
    }

    fn listed_models(&self, body: &Value) -> Option<Vec<String>> {
        names_in(body.get("data"), "id")
    }

    fn effort(&self, _model: &str) -> Option<ReasoningEffort> {
        Some(ReasoningEffort::Budget(0))
    }

    /// Strict mode also needs every property required and every object closed; genai does that.
    fn schema(&self, schema: &Value) -> Value {
        change_schemas(schema, &|map| move_to_description(map, |key| UNSUPPORTED_KEYWORDS.contains(&key)))
    }

    fn stop_marker(&self) -> Option<&'static str> {
        Some("\"finish_reason\":\"")
    }

    fn stop_in_frame(&self, frame: &Value) -> Option<String> {
        frame.pointer("/choices/0/finish_reason")?.as_str().map(str::to_owned)
    }

    fn is_answer(&self, body: &Value) -> bool {
        body.pointer("/choices/0").is_some_and(Value::is_object)
    }

    fn refusal(&self, body: &Value) -> Option<ServerRefusal> {
        refusal_text(body.pointer("/choices/0/message/refusal"))
    }

    fn refusal_marker(&self) -> Option<&'static str> {
        Some("\"refusal\"")
    }

    fn refusal_in_frame(&self, frame: &Value) -> Option<ServerRefusal> {
        refusal_text(frame.pointer("/choices/0/delta/refusal"))
    }
}

fn refusal_text(refusal: Option<&Value>) -> Option<ServerRefusal> {
    let text = refusal?.as_str()?.to_owned();
    Some(ServerRefusal { text, usage: CallUsage::default() })
}
