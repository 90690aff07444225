//! OpenAI's chat completions, and every server that speaks them.

use agon_core::CallUsage;
use agon_engine::MessageRole;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::dialect::{
    ChatRequest, ServerAnswer, WireDialect, change_schemas, close_objects, json_body, move_to_description,
    names_in, said_tokens, tokens,
};
use crate::provider::ServerHabits;

pub(super) struct OpenAiDialect;

/// Keywords that OpenAI's strict mode rejects.
const UNSUPPORTED_KEYWORDS: &[&str] =
    &["minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties"];

#[derive(Serialize)]
struct RequestBody<'a> {
    model: &'a str,
    stream: bool,
    messages: Vec<RequestMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    random_seed: Option<u64>,
}

#[derive(Serialize)]
struct RequestMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    json_schema: StrictSchema<'a>,
}

#[derive(Serialize)]
struct StrictSchema<'a> {
    name: &'a str,
    strict: bool,
    schema: &'a RawValue,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

impl WireDialect for OpenAiDialect {
    fn chat_path(&self, _model: &str, _is_streamed: bool) -> String {
        "chat/completions".into()
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
    }

    fn list_path(&self) -> &'static str {
        "models"
    }

    fn listed_models(&self, body: &Value) -> Option<Vec<String>> {
        names_in(body.get("data"), "id")
    }

    fn request_body(&self, request: &ChatRequest<'_>) -> serde_json::Result<Vec<u8>> {
        let messages = request.messages.iter().map(|message| {
            let role = match message.role {
                MessageRole::System => "system",
                MessageRole::User => "user",
                MessageRole::Assistant => "assistant",
            };
            RequestMessage { role, content: &message.text }
        });
        let (seed, random_seed) =
            if request.habits.says_random_seed { (None, request.seed) } else { (request.seed, None) };
        let limit = Some(request.max_output_tokens);
        let (max_tokens, max_completion_tokens) =
            if request.says_completion_tokens { (None, limit) } else { (limit, None) };
        let body = RequestBody {
            model: request.model,
            stream: request.is_streamed,
            messages: messages.collect(),
            response_format: request.schema.map(|(name, schema)| ResponseFormat {
                r#type: "json_schema",
                json_schema: StrictSchema { name, strict: true, schema },
            }),
            stream_options: (request.is_streamed && request.wants_usage)
                .then_some(StreamOptions { include_usage: true }),
            max_tokens,
            max_completion_tokens,
            seed,
            random_seed,
        };
        json_body(request, &body)
    }

    fn schema(&self, schema: &Value) -> Value {
        change_schemas(schema, &|map| {
            move_to_description(map, |key| UNSUPPORTED_KEYWORDS.contains(&key));
            close_objects(map, true);
        })
    }

    fn read_answer(&self, body: &Value, habits: &ServerHabits, answer: &mut ServerAnswer) -> bool {
        let Some(choice) = first_choice(body).filter(|choice| choice.is_object()) else {
            return false;
        };
        let message = choice.get("message").unwrap_or(&Value::Null);
        answer.push_text(message.get("content"));
        answer.push_refusal(message.get("refusal"));
        answer.set_stop(choice.get("finish_reason"));
        read_usage(body, habits, answer);
        true
    }

    fn read_frame(&self, frame: &Value, habits: &ServerHabits, answer: &mut ServerAnswer) {
        if let Some(choice) = first_choice(frame) {
            let delta = choice.get("delta").unwrap_or(&Value::Null);
            answer.push_text(delta.get("content"));
            answer.push_refusal(delta.get("refusal"));
            answer.set_stop(choice.get("finish_reason"));
        }
        read_usage(frame, habits, answer);
    }
}

fn first_choice(body: &Value) -> Option<&Value> {
    body.get("choices")?.get(0)
}

fn read_usage(body: &Value, habits: &ServerHabits, answer: &mut ServerAnswer) {
    let Some(usage) = body.get("usage").filter(|usage| usage.is_object()) else { return };
    let reasoning = tokens(usage, "/completion_tokens_details/reasoning_tokens");
    let output_tokens = match said_tokens(usage, "/completion_tokens") {
        Some(output) if habits.counts_reasoning_apart => output + reasoning,
        Some(output) => output,
        // An answer that was cut off during reasoning has only reasoning tokens.
        None => reasoning,
    };
    answer.usage = CallUsage {
        input_tokens: tokens(usage, "/prompt_tokens"),
        cached_input_tokens: tokens(usage, "/prompt_tokens_details/cached_tokens"),
        cache_write_tokens: tokens(usage, "/prompt_tokens_details/cache_write_tokens"),
        output_tokens,
        ..CallUsage::default()
    };
}
