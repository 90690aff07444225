//! Anthropic's messages.

use serde_json::{Value, json};

use super::Events;
use crate::response::Words;

pub(super) fn whole(words: &Words) -> Value {
    let content = match said(words) {
        "" => json!([]),
        text => json!([{"type": "text", "text": text}]),
    };
    json!({
        "id": "msg_mock", "type": "message", "role": "assistant", "model": "mock", "content": content,
        "stop_reason": stop_reason(words), "stop_sequence": null, "usage": usage(words),
    })
}

pub(super) fn stream(words: &Words) -> Vec<u8> {
    let mut events = Events::default();
    let mut event = |name: &str, mut data: Value| {
        if let Some(data) = data.as_object_mut() {
            data.insert("type".into(), name.into());
        }
        events.named(name, &data.to_string());
    };
    let mut begun = usage(words);
    if let Some(output) = begun.get_mut("output_tokens") {
        *output = json!(1);
    }
    let message = json!({
        "id": "msg_mock", "type": "message", "role": "assistant", "model": "mock", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": begun,
    });
    event("message_start", json!({"message": message}));
    event("content_block_start", json!({"index": 0, "content_block": {"type": "text", "text": ""}}));
    event("ping", json!({}));
    for piece in Words::split(said(words)) {
        let delta = json!({"type": "text_delta", "text": piece});
        event("content_block_delta", json!({"index": 0, "delta": delta}));
    }
    event("content_block_stop", json!({"index": 0}));
    let delta = json!({"stop_reason": stop_reason(words), "stop_sequence": null});
    event("message_delta", json!({"delta": delta, "usage": {"output_tokens": words.output_tokens}}));
    event("message_stop", json!({}));
    events.end()
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_mock"})
}

fn said(words: &Words) -> &str {
    words.refusal.as_deref().unwrap_or(&words.text)
}

fn stop_reason(words: &Words) -> &str {
    match words.finish.as_str() {
        _ if words.refusal.is_some() => "refusal",
        "stop" => "end_turn",
        "length" => "max_tokens",
        "content_filter" => "refusal",
        own => own,
    }
}

/// Here the tokens of the cache are counted beside the input, not in it.
fn usage(words: &Words) -> Value {
    let Words { input_tokens, cached_tokens, cache_write_tokens, output_tokens, .. } = words;
    json!({
        "input_tokens": input_tokens.saturating_sub(cached_tokens + cache_write_tokens),
        "cache_read_input_tokens": cached_tokens,
        "cache_creation_input_tokens": cache_write_tokens,
        "output_tokens": output_tokens,
    })
}
