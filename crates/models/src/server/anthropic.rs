//! Anthropic's messages.

use std::borrow::Cow;

use agon_core::{CallUsage, quotations};
use agon_engine::{CallMessage, MessageRole};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::dialect::{
    ChatRequest, ServerAnswer, WireDialect, change_schemas, close_objects, json_body, move_to_description,
    names_in, said_tokens, tokens,
};
use crate::provider::ServerHabits;

pub(super) struct AnthropicDialect;

/// The version of the API.
const API_VERSION: &str = "2023-06-01";
/// How many cache marks a request may have.
const CACHE_MARKS_MAX: usize = 4;
/// Keywords that make Anthropic reject a schema.
#[rustfmt::skip]
const UNSUPPORTED_KEYWORDS: &[&str] = &[
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
    "maxItems", "uniqueItems", "minProperties", "maxProperties",
];

#[derive(Serialize)]
struct RequestBody<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<RequestContent<'a>>,
    messages: Vec<RequestMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
}

#[derive(Serialize)]
struct RequestMessage<'a> {
    role: &'static str,
    content: RequestContent<'a>,
}

/// The content of a message. Only one with a cache mark needs blocks.
#[derive(Serialize)]
#[serde(untagged)]
enum RequestContent<'a> {
    Text(&'a str),
    Blocks(Vec<TextBlock<'a>>),
}

#[derive(Serialize)]
struct TextBlock<'a> {
    r#type: &'static str,
    text: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheMark>,
}

#[derive(Serialize)]
struct CacheMark {
    r#type: &'static str,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    format: OutputFormat<'a>,
}

#[derive(Serialize)]
struct OutputFormat<'a> {
    r#type: &'static str,
    schema: &'a RawValue,
}

impl WireDialect for AnthropicDialect {
    fn chat_path(&self, _model: &str, _is_streamed: bool) -> String {
        "messages".into()
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let key = key.map(|key| ("x-api-key", key.to_owned()));
        key.into_iter().chain([("anthropic-version", API_VERSION.to_owned())]).collect()
    }

    fn list_path(&self) -> &'static str {
        "models?limit=1000"
    }

    fn listed_models(&self, body: &Value) -> Option<Vec<String>> {
        names_in(body.get("data"), "id")
    }

    fn request_body(&self, request: &ChatRequest<'_>) -> serde_json::Result<Vec<u8>> {
        let is_marked = |message: &&CallMessage| shared_and_own(message).is_some();
        // If there are too many marks, drop the earliest: a later mark also caches everything before it.
        let marks = request.messages.iter().filter(is_marked).count();
        let mut marks_to_drop = marks.saturating_sub(CACHE_MARKS_MAX);
        let mut rules = Vec::new();
        let mut messages = Vec::new();
        for message in request.messages {
            let parts = shared_and_own(message).filter(|_| {
                let is_kept = marks_to_drop == 0;
                marks_to_drop = marks_to_drop.saturating_sub(1);
                is_kept
            });
            let content = parts.map_or(RequestContent::Text(&message.text), |(shared, own)| {
                RequestContent::Blocks(marked_blocks(message.role, shared, own))
            });
            match message.role {
                MessageRole::System => rules.push(content),
                MessageRole::User => messages.push(RequestMessage { role: "user", content }),
                MessageRole::Assistant => messages.push(RequestMessage { role: "assistant", content }),
            }
        }
        let body = RequestBody {
            model: request.model,
            max_tokens: request.max_output_tokens,
            stream: request.is_streamed,
            system: joined(rules),
            messages,
            output_config: request
                .schema
                .map(|(_, schema)| OutputConfig { format: OutputFormat { r#type: "json_schema", schema } }),
        };
        json_body(request, &body)
    }

    fn schema(&self, schema: &Value) -> Value {
        change_schemas(schema, &|map| {
            // Only 0 and 1 are accepted as `minItems`.
            let is_long = map.get("minItems").and_then(Value::as_u64).is_some_and(|least| least > 1);
            move_to_description(map, |key| {
                UNSUPPORTED_KEYWORDS.contains(&key) || (is_long && key == "minItems")
            });
            map.remove("$schema");
            if let Some(choices) = map.remove("oneOf") {
                map.insert("anyOf".into(), choices);
            }
            close_objects(map, false);
        })
    }

    fn read_answer(&self, body: &Value, _habits: &ServerHabits, answer: &mut ServerAnswer) -> bool {
        let Some(content) = body.get("content").filter(|content| content.is_array()) else { return false };
        answer.push_text(Some(content));
        answer.set_stop(body.get("stop_reason"));
        read_usage(body.get("usage"), answer);
        true
    }

    fn read_frame(&self, frame: &Value, _habits: &ServerHabits, answer: &mut ServerAnswer) {
        // The pieces of thoughts are in other fields.
        answer.push_text(frame.pointer("/delta/text"));
        answer.set_stop(frame.pointer("/delta/stop_reason"));
        read_usage(frame.get("usage").or_else(|| frame.pointer("/message/usage")), answer);
        answer.is_ended |= frame.get("type").is_some_and(|kind| kind == "message_stop");
    }
}

/// The counts of cached tokens are not part of the input tokens here. A later frame counts only the output anew.
fn read_usage(usage: Option<&Value>, answer: &mut ServerAnswer) {
    let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
    let read = tokens(usage, "/cache_read_input_tokens");
    let written = tokens(usage, "/cache_creation_input_tokens");
    let input = tokens(usage, "/input_tokens") + read + written;
    let output = said_tokens(usage, "/output_tokens").unwrap_or(answer.usage.output_tokens);
    answer.usage = match input {
        0 => CallUsage { output_tokens: output, ..answer.usage },
        _ => CallUsage {
            input_tokens: input,
            cached_input_tokens: read,
            cache_write_tokens: written,
            output_tokens: output,
            ..CallUsage::default()
        },
    };
}

/// Splits a message into the part that other seats also read and the rest. The server rejects a block of only white space,
/// so such a part stays with the other one.
fn shared_and_own(message: &CallMessage) -> Option<(&str, &str)> {
    // A seat's own earlier answers are not shared.
    let is_shared = message.shared > 0 && message.role != MessageRole::Assistant;
    let (shared, own) = message.text.split_at_checked(message.shared).filter(|_| is_shared)?;
    match (shared.trim().is_empty(), own.trim().is_empty()) {
        (true, _) => None,
        (false, true) => Some((&message.text, "")),
        (false, false) => Some((shared, own)),
    }
}

/// The blocks of a message with a cache mark at the end of the part that other seats share.
fn marked_blocks<'a>(role: MessageRole, shared: &'a str, own: &'a str) -> Vec<TextBlock<'a>> {
    let (mut shared_blocks, rest) = match role {
        MessageRole::System => (vec![shared], ""),
        MessageRole::User | MessageRole::Assistant => transcript_blocks(shared),
    };
    let last = shared_blocks.pop().unwrap_or_default();
    let own = if rest.is_empty() { Cow::Borrowed(own) } else { Cow::Owned(format!("{rest}{own}")) };
    // The server rejects a block of only white space.
    let (last, own) = if own.trim().is_empty() {
        (Cow::Owned(format!("{last}{own}")), None)
    } else {
        (Cow::Borrowed(last), Some(own))
    };
    let block = |text, cache_control| TextBlock { r#type: "text", text, cache_control };
    let mut blocks: Vec<TextBlock<'_>> =
        shared_blocks.into_iter().map(|text| block(Cow::Borrowed(text), None)).collect();
    blocks.push(block(last, Some(CacheMark { r#type: "ephemeral" })));
    blocks.extend(own.map(|own| block(own, None)));
    blocks
}

/// The rules are one field, however many messages they are.
fn joined(mut contents: Vec<RequestContent<'_>>) -> Option<RequestContent<'_>> {
    if contents.len() <= 1 {
        return contents.pop();
    }
    let blocks = contents.into_iter().flat_map(|content| match content {
        RequestContent::Text(text) => {
            vec![TextBlock { r#type: "text", text: Cow::Borrowed(text), cache_control: None }]
        }
        RequestContent::Blocks(blocks) => blocks,
    });
    Some(RequestContent::Blocks(blocks.collect()))
}

/// The shared part as blocks that each end with an entry of the transcript, and the text after the last entry. The server
/// looks up its cache at the ends of blocks. The next round's transcript starts with this one, so it finds this cache entry.
fn transcript_blocks(shared: &str) -> (Vec<&str>, &str) {
    let mut blocks = Vec::new();
    let mut start = 0;
    for quotation in quotations(shared) {
        blocks.extend(shared.get(start..quotation.range.end));
        start = quotation.range.end;
    }
    match shared.get(start..) {
        Some(rest) if !blocks.is_empty() => (blocks, rest),
        _ => (vec![shared], ""),
    }
}
