//! The same words in the wire format of whoever was asked.

use serde_json::{Value, json};

use crate::Request;
use crate::response::Words;

mod anthropic;
mod gemini;
mod openai;

/// What a path speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// `POST /v1/chat/completions`.
    OpenAi,
    /// `POST /v1/messages`.
    Anthropic,
    /// `POST /v1beta/models/MODEL:generateContent` and `:streamGenerateContent`.
    Gemini,
    /// `POST /v1/embeddings`, in OpenAI's format.
    Embeddings,
}

impl Wire {
    /// What a `POST` to this path speaks, if there is such a path.
    pub(crate) fn of(path: &str) -> Option<Self> {
        match path {
            "/v1/chat/completions" => Some(Self::OpenAi),
            "/v1/messages" => Some(Self::Anthropic),
            "/v1/embeddings" | "/v1beta/openai/embeddings" => Some(Self::Embeddings),
            _ => gemini_model(path).map(|_| Self::Gemini),
        }
    }
}

/// The model in a path of Gemini's, and what is wanted of it.
pub(crate) fn gemini_model(path: &str) -> Option<(&str, bool)> {
    let (model, verb) = path.strip_prefix("/v1beta/models/")?.rsplit_once(':')?;
    match verb {
        "generateContent" => Some((model, false)),
        "streamGenerateContent?alt=sse" => Some((model, true)),
        _ => None,
    }
}

/// The whole answer.
pub(crate) fn whole(request: &Request, words: &Words) -> Vec<u8> {
    match request.wire() {
        Some(Wire::Anthropic) => anthropic::whole(words).to_string().into_bytes(),
        Some(Wire::Gemini) => gemini::whole(words).to_string().into_bytes(),
        Some(Wire::Embeddings) => openai::embeddings(request, words).to_string().into_bytes(),
        Some(Wire::OpenAi) | None => openai::whole(words),
    }
}

/// The answer as events, in HTTP's chunks.
pub(crate) fn stream(request: &Request, words: &Words) -> Vec<u8> {
    match request.wire() {
        Some(Wire::Anthropic) => anthropic::stream(words),
        Some(Wire::Gemini) => gemini::stream(words),
        _ => openai::stream(request, words),
    }
}

/// The body of an error.
pub(crate) fn error(request: &Request, status: u16, message: &str) -> Vec<u8> {
    let body = match request.wire() {
        Some(Wire::Anthropic) => anthropic::error(status, message),
        Some(Wire::Gemini) => gemini::error(status, message),
        _ => openai::error(message),
    };
    body.to_string().into_bytes()
}

/// The list of models that a `GET` of this path gives, if it is one.
pub(crate) fn models(request: &Request) -> Option<Value> {
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

/// Server-sent events, each a chunk of its own.
#[derive(Default)]
struct Events(Vec<u8>);

impl Events {
    fn data(&mut self, data: &str) {
        self.push(&format!("data: {data}\n\n"));
    }

    fn named(&mut self, name: &str, data: &str) {
        self.push(&format!("event: {name}\ndata: {data}\n\n"));
    }

    fn push(&mut self, text: &str) {
        self.0.extend(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes());
    }

    fn end(mut self) -> Vec<u8> {
        self.0.extend(b"0\r\n\r\n");
        self.0
    }
}
