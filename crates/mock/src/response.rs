//! What the server answers.

use std::time::Duration;

use serde_json::Value;

/// An answer and its delay.
#[derive(Debug, Clone)]
pub struct MockResponse {
    /// How long after the request the answer is sent, accurate to about a tenth of a millisecond: the thread sleeps on
    /// the kernel's timer, not on a runtime's, which rounds up to whole milliseconds.
    pub delay: Duration,
    /// The HTTP status.
    pub status: u16,
    /// Additional headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: ResponseBody,
    /// What goes wrong while the answer is sent.
    pub spoilt: Option<ConnectionFault>,
}

/// The body of an answer.
#[derive(Debug, Clone)]
pub enum ResponseBody {
    /// An assistant's message in the wire format of the path, streamed if the client asked for that. A request for
    /// embeddings gets vectors with this message's usage.
    Words(AssistantWords),
    /// These bytes, unchanged.
    Raw {
        /// The `Content-Type`.
        content_type: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// An error in the wire format of the path.
    Error {
        /// The error message.
        message: String,
    },
}

/// An assistant's message and its usage.
#[derive(Debug, Clone)]
pub struct AssistantWords {
    /// The text.
    pub text: String,
    /// The text of a refusal, which replaces `text`. Gemini sends no text with a refusal.
    pub refusal: Option<String>,
    /// Why the message ended: `stop`, `length` or `content_filter`, translated into each wire format. Anything else is
    /// sent unchanged.
    pub finish: String,
    /// All input tokens.
    pub input_tokens: u64,
    /// Input tokens read from the cache.
    pub cached_tokens: u64,
    /// Input tokens written to the cache.
    pub cache_write_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
}

/// What can go wrong while an answer is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionFault {
    /// Nothing is sent.
    Hang,
    /// Half of the body is sent, then nothing more.
    Stall,
    /// Half of the body is sent, then the connection is reset.
    Reset,
    /// Half of the body is sent, then the connection is closed.
    Truncate,
    /// The body is sent again and again, until the client closes the connection.
    Endless,
}

impl MockResponse {
    /// A message with this text, without delay.
    pub fn say(text: impl Into<String>) -> Self {
        let text = text.into();
        let output_tokens = text.split_whitespace().count() as u64;
        Self::new(
            200,
            ResponseBody::Words(AssistantWords {
                text,
                refusal: None,
                finish: "stop".into(),
                input_tokens: 100,
                cached_tokens: 0,
                cache_write_tokens: 0,
                output_tokens,
            }),
        )
    }

    /// An error in the wire format of the path.
    pub fn error(status: u16, message: &str) -> Self {
        Self::new(status, ResponseBody::Error { message: message.into() })
    }

    /// A JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::raw(status, "application/json", body.to_string())
    }

    /// These bytes, unchanged.
    pub fn raw(status: u16, content_type: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(status, ResponseBody::Raw { content_type: content_type.into(), bytes: bytes.into() })
    }

    /// An HTML page, such as a proxy sends in place of an answer.
    pub fn html() -> Self {
        Self::raw(200, "text/html", "<!doctype html><html><body><h1>Please sign in</h1></body></html>")
    }

    /// Status 200 with an empty body.
    pub fn empty() -> Self {
        Self::raw(200, "application/json", "")
    }

    /// Status 200 with incomplete JSON.
    pub fn malformed() -> Self {
        Self::raw(200, "application/json", "{\"choices\": [{\"message\": {\"content\": \"half a")
    }

    /// A message that does not arrive whole.
    pub fn broken(text: &str, fault: ConnectionFault) -> Self {
        Self { spoilt: Some(fault), ..Self::say(text) }
    }

    /// These bytes again and again, without an end.
    pub fn endless(status: u16, content_type: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self { spoilt: Some(ConnectionFault::Endless), ..Self::raw(status, content_type, bytes) }
    }

    /// Sets the delay.
    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets why the message ended.
    pub fn finish(self, reason: &str) -> Self {
        self.change_words(|words| words.finish = reason.into())
    }

    /// Makes the message a refusal.
    pub fn refusing(self, refusal: &str) -> Self {
        self.change_words(|words| words.refusal = Some(refusal.into()))
    }

    /// Sets the usage. `input` includes `cached`.
    pub fn tokens(self, input: u64, cached: u64, output: u64) -> Self {
        self.change_words(|words| {
            (words.input_tokens, words.cached_tokens, words.output_tokens) = (input, cached, output)
        })
    }

    /// Sets how many input tokens were written to the cache.
    pub fn cache_write(self, tokens: u64) -> Self {
        self.change_words(|words| words.cache_write_tokens = tokens)
    }

    fn change_words(mut self, change: impl FnOnce(&mut AssistantWords)) -> Self {
        if let ResponseBody::Words(words) = &mut self.body {
            change(words);
        }
        self
    }

    fn new(status: u16, body: ResponseBody) -> Self {
        Self { delay: Duration::ZERO, status, headers: Vec::new(), body, spoilt: None }
    }
}
