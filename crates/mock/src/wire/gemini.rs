//! Gemini's `generateContent`.

use serde_json::{Value, json};

use super::Events;
use crate::response::Words;

pub(super) fn whole(words: &Words) -> Value {
    match blocked(words) {
        Some(blocked) => blocked,
        None => piece(words, &words.text, true),
    }
}

pub(super) fn stream(words: &Words) -> Vec<u8> {
    let mut events = Events::default();
    if let Some(blocked) = blocked(words) {
        events.data(&blocked.to_string());
        return events.end();
    }
    for text in words.pieces() {
        events.data(&piece(words, text, false).to_string());
    }
    events.data(&piece(words, "", true).to_string());
    events.end()
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let name = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    json!({"error": {"code": status, "message": message, "status": name}})
}

/// A prompt that is turned down has no candidate at all.
fn blocked(words: &Words) -> Option<Value> {
    words.refusal.as_ref()?;
    let feedback = json!({"blockReason": "PROHIBITED_CONTENT"});
    let usage = json!({"promptTokenCount": words.input_tokens, "totalTokenCount": words.input_tokens});
    Some(json!({"promptFeedback": feedback, "usageMetadata": usage, "modelVersion": "mock"}))
}

fn piece(words: &Words, text: &str, last: bool) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": [{"text": text}]}, "index": 0});
    if let (true, Some(candidate)) = (last, candidate.as_object_mut()) {
        candidate.insert("finishReason".into(), finish_reason(words).into());
    }
    json!({"candidates": [candidate], "usageMetadata": usage(words), "modelVersion": "mock"})
}

fn finish_reason(words: &Words) -> &str {
    match words.finish.as_str() {
        "stop" => "STOP",
        "length" => "MAX_TOKENS",
        "content_filter" => "SAFETY",
        own => own,
    }
}

fn usage(words: &Words) -> Value {
    let Words { input_tokens, cached_tokens, output_tokens, .. } = words;
    let mut usage = json!({
        "promptTokenCount": input_tokens,
        "candidatesTokenCount": output_tokens,
        "totalTokenCount": input_tokens + output_tokens,
    });
    if let (true, Some(usage)) = (*cached_tokens > 0, usage.as_object_mut()) {
        usage.insert("cachedContentTokenCount".into(), json!(cached_tokens));
    }
    usage
}
