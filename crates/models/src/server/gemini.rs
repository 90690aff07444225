//! Gemini's `generateContent`.

use agon_core::CallUsage;
use agon_engine::MessageRole;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::dialect::{
    ChatRequest, ServerAnswer, WireDialect, change_schemas, json_body, move_to_description, names_in, tokens,
};
use crate::provider::ServerHabits;

pub(super) struct GeminiDialect;

/// The keywords that Gemini documents. It rejects others.
#[rustfmt::skip]
const SUPPORTED_KEYWORDS: &[&str] = &[
    "$anchor", "$defs", "$id", "$ref", "additionalProperties", "anyOf", "description", "enum", "format",
    "items", "maxItems", "maximum", "minItems", "minimum", "oneOf", "prefixItems", "properties",
    "propertyOrdering", "required", "title", "type",
];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<RequestContent<'a>>,
    contents: Vec<RequestContent<'a>>,
    generation_config: GenerationConfig<'a>,
}

#[derive(Serialize)]
struct RequestContent<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<RequestPart<'a>>,
}

#[derive(Serialize)]
struct RequestPart<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a RawValue>,
}

impl WireDialect for GeminiDialect {
    fn chat_path(&self, model: &str, is_streamed: bool) -> String {
        let verb = if is_streamed { "streamGenerateContent?alt=sse" } else { "generateContent" };
        // A name with a slash includes its collection: `tunedModels/x`.
        let collection = if model.contains('/') { "" } else { "models/" };
        format!("{collection}{model}:{verb}")
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("x-goog-api-key", key.to_owned())).into_iter().collect()
    }

    fn list_path(&self) -> &'static str {
        "models?pageSize=1000"
    }

    fn listed_models(&self, body: &Value) -> Option<Vec<String>> {
        let names = names_in(body.get("models"), "name")?.into_iter();
        Some(names.map(|name| name.strip_prefix("models/").map(str::to_owned).unwrap_or(name)).collect())
    }

    fn request_body(&self, request: &ChatRequest<'_>) -> serde_json::Result<Vec<u8>> {
        let mut rules = Vec::new();
        let mut contents = Vec::new();
        for message in request.messages {
            let part = RequestPart { text: &message.text };
            let role = match message.role {
                MessageRole::System => {
                    rules.push(part);
                    continue;
                }
                MessageRole::User => "user",
                MessageRole::Assistant => "model",
            };
            contents.push(RequestContent { role: Some(role), parts: vec![part] });
        }
        let body = RequestBody {
            system_instruction: (!rules.is_empty()).then_some(RequestContent { role: None, parts: rules }),
            contents,
            generation_config: GenerationConfig {
                max_output_tokens: request.max_output_tokens,
                seed: request.seed,
                response_mime_type: request.schema.map(|_| "application/json"),
                response_json_schema: request.schema.map(|(_, schema)| schema),
            },
        };
        json_body(request, &body)
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

    fn read_answer(&self, body: &Value, habits: &ServerHabits, answer: &mut ServerAnswer) -> bool {
        self.read_frame(body, habits, answer);
        answer.refusal.is_some() || body.pointer("/candidates/0").is_some_and(Value::is_object)
    }

    fn read_frame(&self, frame: &Value, _habits: &ServerHabits, answer: &mut ServerAnswer) {
        if let Some(candidate) = frame.pointer("/candidates/0") {
            answer.push_text(candidate.pointer("/content/parts"));
            answer.set_stop(candidate.get("finishReason"));
        }
        // A blocked prompt has no candidates.
        if let Some(reason) = frame.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
            answer.refusal = Some(format!("The prompt was blocked: {reason}."));
        }
        if let Some(usage) = frame.get("usageMetadata") {
            answer.usage = CallUsage {
                input_tokens: tokens(usage, "/promptTokenCount"),
                cached_input_tokens: tokens(usage, "/cachedContentTokenCount"),
                // Thoughts are paid for like the answer, but counted apart.
                output_tokens: tokens(usage, "/candidatesTokenCount") + tokens(usage, "/thoughtsTokenCount"),
                ..CallUsage::default()
            };
        }
    }
}
