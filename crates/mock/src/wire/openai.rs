//! OpenAI's chat completions and embeddings.

use serde_json::{Value, json};

use super::Events;
use crate::Request;
use crate::response::Words;

/// Written out by hand, because this is most of what a benchmark asks of the server.
pub(super) fn whole(words: &Words) -> Vec<u8> {
    let text = |text: Option<&str>| serde_json::to_string(&text).unwrap_or_default();
    let content = text(Some(words.text.as_str()).filter(|_| words.refusal.is_none()));
    let (refusal, finish) = (text(words.refusal.as_deref()), text(Some(&words.finish)));
    let message = format!(r#"{{"role":"assistant","content":{content},"refusal":{refusal}}}"#);
    let choice = format!(r#"{{"index":0,"message":{message},"finish_reason":{finish},"logprobs":null}}"#);
    let head = r#"{"id":"chatcmpl-mock","object":"chat.completion","created":0,"model":"mock""#;
    format!(r#"{head},"choices":[{choice}],"usage":{}}}"#, usage(words)).into_bytes()
}

pub(super) fn stream(request: &Request, words: &Words) -> Vec<u8> {
    let mut events = Events::default();
    events.data(&delta(json!({"role": "assistant", "content": ""}), None));
    match &words.refusal {
        Some(refusal) => events.data(&delta(json!({"refusal": refusal}), None)),
        None => words.pieces().for_each(|word| events.data(&delta(json!({"content": word}), None))),
    }
    events.data(&delta(json!({}), Some(&words.finish)));
    if request.wants_usage() {
        events.data(&format!(r#"{{"id":"chatcmpl-mock","choices":[],"usage":{}}}"#, usage(words)));
    }
    events.data("[DONE]");
    events.end()
}

pub(super) fn error(message: &str) -> Value {
    json!({"error": {"message": message, "type": "error", "param": null, "code": null}})
}

/// A vector for each text. What they are good for is that the same text has the same vector, and that texts with words in
/// common have similar ones.
pub(super) fn embeddings(request: &Request, words: &Words) -> Value {
    let vectors = request.inputs().into_iter().map(vector).enumerate();
    let data: Vec<Value> = vectors
        .map(|(index, vector)| json!({"object": "embedding", "index": index, "embedding": vector}))
        .collect();
    let usage = json!({"prompt_tokens": words.input_tokens, "total_tokens": words.input_tokens});
    json!({"object": "list", "data": data, "model": request.model(), "usage": usage})
}

fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; 64];
    for word in text.split_whitespace() {
        let place = word.bytes().fold(7_usize, |sum, byte| (sum * 31 + usize::from(byte)) % 64);
        if let Some(count) = vector.get_mut(place) {
            *count += 1.0;
        }
    }
    vector
}

fn delta(delta: Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    json!({"id": "chatcmpl-mock", "object": "chat.completion.chunk", "model": "mock", "choices": [choice]})
        .to_string()
}

fn usage(words: &Words) -> String {
    let Words { input_tokens, cached_tokens, cache_write_tokens, output_tokens, .. } = words;
    let total = input_tokens + output_tokens;
    let written = match cache_write_tokens {
        0 => String::new(),
        tokens => format!(r#","cache_write_tokens":{tokens}"#),
    };
    let details = format!(r#"{{"cached_tokens":{cached_tokens}{written}}}"#);
    let counts = format!(
        r#""prompt_tokens":{input_tokens},"completion_tokens":{output_tokens},"total_tokens":{total}"#
    );
    format!(r#"{{{counts},"prompt_tokens_details":{details}}}"#)
}
