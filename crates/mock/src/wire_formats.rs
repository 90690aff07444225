//! The same answer in each wire format.

use serde_json::{Value, json};

use crate::MockRequest;
use crate::response::AssistantWords;

/// The wire format of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MockFormat {
    /// `POST /v1/chat/completions`.
    OpenAi,
    /// `POST /v1/messages`.
    Anthropic,
    /// `POST /v1beta/models/MODEL:generateContent` and `:streamGenerateContent`.
    Gemini,
    /// `POST /v1/embeddings`, in OpenAI's format.
    Embeddings,
}

impl MockFormat {
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        match path {
            "/v1/chat/completions" => Some(Self::OpenAi),
            "/v1/messages" => Some(Self::Anthropic),
            "/v1/embeddings" | "/v1beta/openai/embeddings" => Some(Self::Embeddings),
            _ => gemini_model(path).map(|_| Self::Gemini),
        }
    }
}

/// The model in a Gemini path, and whether the path asks for a stream.
pub(crate) fn gemini_model(path: &str) -> Option<(&str, bool)> {
    let (model, verb) = path.strip_prefix("/v1beta/models/")?.rsplit_once(':')?;
    match verb {
        "generateContent" => Some((model, false)),
        "streamGenerateContent?alt=sse" => Some((model, true)),
        _ => None,
    }
}

/// The body of an answer that is not streamed.
pub(crate) fn message_body(request: &MockRequest, words: &AssistantWords) -> Vec<u8> {
    match request.wire() {
        Some(MockFormat::Anthropic) => anthropic::message(words).to_string().into_bytes(),
        Some(MockFormat::Gemini) => gemini::message(words).to_string().into_bytes(),
        Some(MockFormat::Embeddings) => openai::embeddings(request, words).to_string().into_bytes(),
        Some(MockFormat::OpenAi) | None => openai::message(words),
    }
}

/// The body of a streamed answer: server-sent events in HTTP chunks.
pub(crate) fn stream_body(request: &MockRequest, words: &AssistantWords) -> Vec<u8> {
    match request.wire() {
        Some(MockFormat::Anthropic) => anthropic::stream(words),
        Some(MockFormat::Gemini) => gemini::stream(words),
        _ => openai::stream(request, words),
    }
}

pub(crate) fn error_body(request: &MockRequest, status: u16, message: &str) -> Vec<u8> {
    let body = match request.wire() {
        Some(MockFormat::Anthropic) => anthropic::error(status, message),
        Some(MockFormat::Gemini) => gemini::error(status, message),
        _ => json!({"error": {"message": message, "type": "error", "param": null, "code": null}}),
    };
    body.to_string().into_bytes()
}

/// The list of models, if this is a path for one.
pub(crate) fn model_list(request: &MockRequest) -> Option<Value> {
    let (path, _) = request.path.split_once('?').unwrap_or((&request.path, ""));
    match path {
        "/v1/models" if request.header("anthropic-version").is_some() => {
            Some(json!({"data": [{"type": "model", "id": "mock"}], "has_more": false}))
        }
        "/v1/models" => Some(json!({"object": "list", "data": [{"id": "mock", "object": "model"}]})),
        "/v1beta/models" => Some(json!({"models": [{"name": "models/mock"}]})),
        _ => None,
    }
}

/// Streams send a text word by word.
fn stream_pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// Server-sent events, each in an HTTP chunk of its own.
#[derive(Default)]
struct EventStream(Vec<u8>);

impl EventStream {
    fn push_data(&mut self, data: &str) {
        self.push_chunk(&format!("data: {data}\n\n"));
    }

    fn push_named(&mut self, name: &str, data: &str) {
        self.push_chunk(&format!("event: {name}\ndata: {data}\n\n"));
    }

    fn push_chunk(&mut self, text: &str) {
        self.0.extend(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes());
    }

    fn end(mut self) -> Vec<u8> {
        self.0.extend(b"0\r\n\r\n");
        self.0
    }
}

/// Chat completions and embeddings.
mod openai {
    use super::*;

    /// Formatted by hand because this is most of the server's work in a benchmark.
    pub(super) fn message(words: &AssistantWords) -> Vec<u8> {
        let json = |text: Option<&str>| serde_json::to_string(&text).unwrap_or_default();
        let content = json(Some(words.text.as_str()).filter(|_| words.refusal.is_none()));
        let (refusal, finish) = (json(words.refusal.as_deref()), json(Some(&words.finish)));
        let message = format!(r#"{{"role":"assistant","content":{content},"refusal":{refusal}}}"#);
        let choice = format!(r#"{{"index":0,"message":{message},"finish_reason":{finish},"logprobs":null}}"#);
        let start = r#"{"id":"chatcmpl-mock","object":"chat.completion","created":0,"model":"mock""#;
        format!(r#"{start},"choices":[{choice}],"usage":{}}}"#, usage(words)).into_bytes()
    }

    pub(super) fn stream(request: &MockRequest, words: &AssistantWords) -> Vec<u8> {
        let mut events = EventStream::default();
        events.push_data(&delta(json!({"role": "assistant", "content": ""}), None));
        match &words.refusal {
            Some(refusal) => events.push_data(&delta(json!({"refusal": refusal}), None)),
            None => {
                for piece in stream_pieces(&words.text) {
                    events.push_data(&delta(json!({"content": piece}), None));
                }
            }
        }
        events.push_data(&delta(json!({}), Some(&words.finish)));
        if request.wants_usage() {
            events.push_data(&format!(r#"{{"id":"chatcmpl-mock","choices":[],"usage":{}}}"#, usage(words)));
        }
        events.push_data("[DONE]");
        events.end()
    }

    /// Equal texts get equal vectors, and texts that share words get similar ones.
    pub(super) fn embeddings(request: &MockRequest, words: &AssistantWords) -> Value {
        let vectors = request.inputs().into_iter().map(count_words).enumerate();
        let data: Vec<Value> = vectors
            .map(|(index, vector)| json!({"object": "embedding", "index": index, "embedding": vector}))
            .collect();
        let usage = json!({"prompt_tokens": words.input_tokens, "total_tokens": words.input_tokens});
        json!({"object": "list", "data": data, "model": request.model(), "usage": usage})
    }

    /// Counts the words of a text in 64 buckets.
    fn count_words(text: &str) -> Vec<f32> {
        let mut counts = vec![0.0; 64];
        for word in text.split_whitespace() {
            let bucket = word.bytes().fold(7_usize, |hash, byte| (hash * 31 + usize::from(byte)) % 64);
            if let Some(count) = counts.get_mut(bucket) {
                *count += 1.0;
            }
        }
        counts
    }

    fn delta(delta: Value, finish: Option<&str>) -> String {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        json!({"id": "chatcmpl-mock", "object": "chat.completion.chunk", "model": "mock", "choices": [choice]})
            .to_string()
    }

    fn usage(words: &AssistantWords) -> String {
        let AssistantWords { input_tokens, cached_tokens, cache_write_tokens, output_tokens, .. } = words;
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
}

/// Messages.
mod anthropic {
    use super::*;

    pub(super) fn message(words: &AssistantWords) -> Value {
        let content = match text(words) {
            "" => json!([]),
            text => json!([{"type": "text", "text": text}]),
        };
        json!({
            "id": "msg_mock", "type": "message", "role": "assistant", "model": "mock", "content": content,
            "stop_reason": stop_reason(words), "stop_sequence": null, "usage": usage(words),
        })
    }

    pub(super) fn stream(words: &AssistantWords) -> Vec<u8> {
        let mut events = EventStream::default();
        let mut event = |name: &str, mut data: Value| {
            if let Some(data) = data.as_object_mut() {
                data.insert("type".into(), name.into());
            }
            events.push_named(name, &data.to_string());
        };
        let mut first_usage = usage(words);
        if let Some(output) = first_usage.get_mut("output_tokens") {
            *output = json!(1);
        }
        let message = json!({
            "id": "msg_mock", "type": "message", "role": "assistant", "model": "mock", "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": first_usage,
        });
        event("message_start", json!({"message": message}));
        event("content_block_start", json!({"index": 0, "content_block": {"type": "text", "text": ""}}));
        event("ping", json!({}));
        for piece in stream_pieces(text(words)) {
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

    fn text(words: &AssistantWords) -> &str {
        words.refusal.as_deref().unwrap_or(&words.text)
    }

    fn stop_reason(words: &AssistantWords) -> &str {
        match words.finish.as_str() {
            _ if words.refusal.is_some() => "refusal",
            "stop" => "end_turn",
            "length" => "max_tokens",
            "content_filter" => "refusal",
            other => other,
        }
    }

    /// Anthropic does not include cached tokens in the input tokens.
    fn usage(words: &AssistantWords) -> Value {
        let AssistantWords { input_tokens, cached_tokens, cache_write_tokens, output_tokens, .. } = words;
        json!({
            "input_tokens": input_tokens.saturating_sub(cached_tokens + cache_write_tokens),
            "cache_read_input_tokens": cached_tokens,
            "cache_creation_input_tokens": cache_write_tokens,
            "output_tokens": output_tokens,
        })
    }
}

/// `generateContent`.
mod gemini {
    use super::*;

    pub(super) fn message(words: &AssistantWords) -> Value {
        blocked(words).unwrap_or_else(|| part(words, &words.text, true))
    }

    pub(super) fn stream(words: &AssistantWords) -> Vec<u8> {
        let mut events = EventStream::default();
        if let Some(blocked) = blocked(words) {
            events.push_data(&blocked.to_string());
            return events.end();
        }
        for piece in stream_pieces(&words.text) {
            events.push_data(&part(words, piece, false).to_string());
        }
        events.push_data(&part(words, "", true).to_string());
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

    /// The answer to a refused prompt, which has no candidate.
    fn blocked(words: &AssistantWords) -> Option<Value> {
        words.refusal.as_ref()?;
        let feedback = json!({"blockReason": "PROHIBITED_CONTENT"});
        let usage = json!({"promptTokenCount": words.input_tokens, "totalTokenCount": words.input_tokens});
        Some(json!({"promptFeedback": feedback, "usageMetadata": usage, "modelVersion": "mock"}))
    }

    fn part(words: &AssistantWords, text: &str, is_last: bool) -> Value {
        let mut candidate = json!({"content": {"role": "model", "parts": [{"text": text}]}, "index": 0});
        if let (true, Some(candidate)) = (is_last, candidate.as_object_mut()) {
            candidate.insert("finishReason".into(), finish_reason(words).into());
        }
        json!({"candidates": [candidate], "usageMetadata": usage(words), "modelVersion": "mock"})
    }

    fn finish_reason(words: &AssistantWords) -> &str {
        match words.finish.as_str() {
            "stop" => "STOP",
            "length" => "MAX_TOKENS",
            "content_filter" => "SAFETY",
            other => other,
        }
    }

    fn usage(words: &AssistantWords) -> Value {
        let AssistantWords { input_tokens, cached_tokens, output_tokens, .. } = words;
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
}
