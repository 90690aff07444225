//! What is answered.

use std::time::Duration;

use serde_json::Value;

/// An answer, and when it leaves.
#[derive(Debug, Clone)]
pub struct Response {
    /// How long after the request it leaves. It is kept to about a tenth of a millisecond: the thread sleeps on the
    /// kernel's timer rather than on a runtime's, which rounds up to whole milliseconds.
    pub delay: Duration,
    /// The HTTP status.
    pub status: u16,
    /// Headers beside the usual ones.
    pub headers: Vec<(String, String)>,
    /// The answer.
    pub body: Body,
    /// What goes wrong on the way.
    pub spoilt: Option<Spoilt>,
}

/// The body of an answer.
#[derive(Debug, Clone)]
pub enum Body {
    /// An assistant's words: sent in the wire format of the path, and as a stream where that is asked for. To a request
    /// for embeddings they stand for the vectors.
    Words(Words),
    /// These bytes as they are, whatever was asked for.
    Raw {
        /// The `Content-Type`.
        content_type: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// An error, in the form that the wire gives one.
    Error {
        /// What is wrong.
        message: String,
    },
}

/// An assistant's words.
#[derive(Debug, Clone)]
pub struct Words {
    /// What it says.
    pub text: String,
    /// What it says instead, when it refuses. Gemini sends no words of a refusal.
    pub refusal: Option<String>,
    /// `stop`, `length` or `content_filter`, which each wire has its own words for; anything else is sent as it is.
    pub finish: String,
    /// Tokens read.
    pub input_tokens: u64,
    /// Of those, from the cache.
    pub cached_tokens: u64,
    /// Of those, written to the cache.
    pub cache_write_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

/// What can go wrong with an answer on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoilt {
    /// Nothing ever comes.
    Hang,
    /// Half of the body comes, then nothing more.
    Stall,
    /// Half of the body comes, then the connection is reset.
    Reset,
    /// Half of the body comes, then the connection is closed.
    Truncate,
}

impl Words {
    /// The pieces in which a stream sends them.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &str> {
        Self::split(&self.text)
    }

    pub(crate) fn split(text: &str) -> impl Iterator<Item = &str> {
        text.split_inclusive(' ')
    }
}

impl Response {
    /// These words, at once, with a status of 200.
    pub fn say(text: impl Into<String>) -> Self {
        let text = text.into();
        let output_tokens = text.split_whitespace().count() as u64;
        Self::new(
            200,
            Body::Words(Words {
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

    /// An error, in the form of the wire.
    pub fn error(status: u16, message: &str) -> Self {
        Self::new(status, Body::Error { message: message.into() })
    }

    /// A body of JSON.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::raw(status, "application/json", body.to_string())
    }

    /// These bytes as they are.
    pub fn raw(status: u16, content_type: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(status, Body::Raw { content_type: content_type.into(), bytes: bytes.into() })
    }

    /// A page where an answer should be, as a proxy sends one.
    pub fn html() -> Self {
        Self::raw(200, "text/html", "<!doctype html><html><body><h1>Please sign in</h1></body></html>")
    }

    /// A status of 200 and not a byte.
    pub fn empty() -> Self {
        Self::raw(200, "application/json", "")
    }

    /// A status of 200 and something that is not quite JSON.
    pub fn malformed() -> Self {
        Self::raw(200, "application/json", "{\"choices\": [{\"message\": {\"content\": \"half a")
    }

    /// These words, spoilt on the way.
    pub fn spoilt(text: &str, how: Spoilt) -> Self {
        Self { spoilt: Some(how), ..Self::say(text) }
    }

    /// The same, leaving this long after the request.
    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// The same with one header more.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The same words with another `finish_reason`.
    pub fn finish(self, reason: &str) -> Self {
        self.words(|words| words.finish = reason.into())
    }

    /// A refusal in the place of the words.
    pub fn refusing(self, refusal: &str) -> Self {
        self.words(|words| words.refusal = Some(refusal.into()))
    }

    /// The same words with this usage: tokens read, of those cached, and written.
    pub fn tokens(self, input: u64, cached: u64, output: u64) -> Self {
        self.words(|words| {
            (words.input_tokens, words.cached_tokens, words.output_tokens) = (input, cached, output)
        })
    }

    /// The same words with so many of the tokens read written to the cache.
    pub fn cache_write(self, tokens: u64) -> Self {
        self.words(|words| words.cache_write_tokens = tokens)
    }

    fn words(mut self, change: impl FnOnce(&mut Words)) -> Self {
        if let Body::Words(words) = &mut self.body {
            change(words);
        }
        self
    }

    fn new(status: u16, body: Body) -> Self {
        Self { delay: Duration::ZERO, status, headers: Vec::new(), body, spoilt: None }
    }
}
