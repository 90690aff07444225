//! What went wrong with a call, in a sentence without secrets.
//!
//! The client library's own error texts are not used: some print the whole request, and a server may send back what
//! it was sent. What a server says is quoted only when neither the key nor the prompt is in it.

use std::error::Error as _;
use std::io;
use std::time::SystemTime;

use agon_engine::{Fault, FaultKind};
use genai::Error;
use genai::webc;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::provider::Provider;
use crate::retry_after;
use crate::told::{Parameter, Told};

/// The longest message, in characters.
const MESSAGE_CHARS_MAX: usize = 300;
/// So many characters of the prompt in a row are a quotation of it.
const QUOTED_CHARS: usize = 32;

/// A call that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Where the server gave one.
    pub(crate) status: Option<u16>,
    pub(crate) fault: Fault,
    /// What the server spoke of.
    pub(crate) named: Vec<Parameter>,
}

/// The call that failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failed<'a> {
    pub(crate) provider: &'a Provider,
    /// The model's name at the provider.
    pub(crate) model: &'a str,
    /// Where it was called.
    pub(crate) at: &'a str,
    /// What it was sent.
    pub(crate) sent: &'a [&'a str],
}

impl Failed<'_> {
    /// From what the client library reports.
    pub(crate) fn error(&self, error: &Error) -> Failure {
        match error {
            Error::WebModelCall { webc_error, .. } => self.web(webc_error),
            Error::HttpError { status, body, headers, .. } => self.answered(status.as_u16(), body, headers),
            Error::WebStream { error, .. } => {
                match (error.downcast_ref::<Error>(), error.downcast_ref::<reqwest::Error>()) {
                    (Some(error), _) => self.error(error),
                    (_, Some(error)) => self.network(error),
                    _ => self.garbled("cannot be read as text"),
                }
            }
            Error::ChatResponse { body, .. } => self.told(body.get("error").unwrap_or(body)),
            Error::Internal(_) | Error::Resolver { .. } | Error::JsonValueExt(_) => {
                self.failure(None, FaultKind::Rejected, format!("no request can be made for {}", self.name()))
            }
            _ => self.garbled("is not a chat completion"),
        }
    }

    /// An error that came in a body with a status of 200, or in the middle of a stream.
    pub(crate) fn told(&self, error: &Value) -> Failure {
        let told = Told::of(error);
        match told.status {
            Some(status) => self.status(status, &told, None),
            None => self.failure(
                None,
                FaultKind::Unavailable,
                self.with_words(format!("{} failed", self.name()), &told),
            ),
        }
    }

    /// An answer with a status that is no success.
    pub(crate) fn answered(&self, status: u16, body: &str, headers: &HeaderMap) -> Failure {
        self.status(status, &Told::parse(body), Some(headers))
    }

    /// An answer that is none.
    pub(crate) fn garbled(&self, what: &str) -> Failure {
        self.failure(None, FaultKind::Garbled, format!("the answer of {} {what}", self.name()))
    }

    /// A client that could not even be made.
    pub(crate) fn unmade(&self, why: &str) -> Failure {
        self.failure(None, FaultKind::Unavailable, format!("{} cannot be called: {why}", self.name()))
    }

    fn web(&self, error: &webc::Error) -> Failure {
        match error {
            webc::Error::ResponseFailedStatus { status, body, headers } => {
                self.answered(status.as_u16(), body, headers)
            }
            webc::Error::ResponseFailedNotJson { .. } => self.garbled("is not JSON"),
            webc::Error::ResponseFailedInvalidJson { body, .. } if body.trim().is_empty() => {
                self.garbled("is empty")
            }
            webc::Error::ResponseFailedInvalidJson { .. } | webc::Error::JsonValueExt(_) => {
                self.garbled("is not whole JSON")
            }
            webc::Error::Reqwest(error) => self.network(error),
        }
    }

    /// No answer, or half of one.
    pub(crate) fn network(&self, error: &reqwest::Error) -> Failure {
        let (name, at) = (self.name(), self.at);
        let why = io_kind(error).map(|kind| format!(" ({kind})")).unwrap_or_default();
        let cut = matches!(
            io_kind(error),
            Some(
                io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe
            )
        );
        if error.is_connect() || error.is_timeout() {
            let message = format!(
                "{name} cannot be reached at {at}{why}: is the server running, and the base URL right?"
            );
            self.failure(None, FaultKind::Unavailable, message)
        } else if error.is_builder() {
            self.failure(None, FaultKind::Rejected, format!("no request can be made for {name} at {at}"))
        } else if cut || error.is_request() {
            // The request was on its way, so that the server may have made an answer and charge for it.
            let message = format!("{name} at {at} broke off the connection{why}");
            self.failure(None, FaultKind::Garbled, message)
        } else {
            self.garbled("broke off before its end")
        }
    }

    fn status(&self, status: u16, told: &Told, headers: Option<&HeaderMap>) -> Failure {
        let (name, at, model) = (self.name(), self.at, self.model);
        let (kind, sentence) = match status {
            402 => {
                (FaultKind::Key, format!("the account at {name} has no credit left (HTTP 402): pay it up"))
            }
            400 | 403 | 429 if told.is_credit() => (
                FaultKind::Key,
                format!("the account at {name} has no credit left (HTTP {status}): pay it up"),
            ),
            401 | 403 => (FaultKind::Key, self.key_sentence(status)),
            400 | 422 if told.is_key() => (FaultKind::Key, self.key_sentence(status)),
            404 => (FaultKind::NoSuchModel, self.no_such_model(status)),
            400 | 422 if told.is_model() => (FaultKind::NoSuchModel, self.no_such_model(status)),
            429 => (FaultKind::RateLimited, format!("{name} takes no more calls for now (HTTP 429)")),
            408 | 409 | 425 | 500..=599 => {
                (FaultKind::Unavailable, format!("{name} at {at} failed (HTTP {status})"))
            }
            300..=399 => {
                let what = "sends elsewhere";
                (
                    FaultKind::Rejected,
                    format!("{name} at {at} {what} (HTTP {status}): set the base URL to where it really is"),
                )
            }
            _ => (
                FaultKind::Rejected,
                format!("{name} would not take the request for {model:?} (HTTP {status})"),
            ),
        };
        let mut failure = self.failure(Some(status), kind, self.with_words(sentence, told));
        failure.named = told.parameters();
        let asked = headers.and_then(|headers| retry_after::parse(headers, SystemTime::now()));
        failure.fault.retry_after = asked.or(told.retry_after);
        failure
    }

    fn key_sentence(&self, status: u16) -> String {
        let (name, at) = (self.name(), self.at);
        match (&self.provider.key_env, &self.provider.key) {
            (Some(variable), Some(_)) => {
                format!(
                    "{name} at {at} does not accept the key in {variable} (HTTP {status}): set {variable} to a valid key"
                )
            }
            (Some(variable), None) => {
                format!("{name} at {at} wants a key (HTTP {status}): set {variable} to it")
            }
            (None, _) => {
                let how = format!(
                    "name the variable that holds it with key_env under [providers.{name}] in agon.toml"
                );
                format!("{name} at {at} wants a key (HTTP {status}): {how}")
            }
        }
    }

    fn no_such_model(&self, status: u16) -> String {
        let (name, at, model) = (self.name(), self.at, self.model);
        format!(
            "{name} has no model {model:?} at {at} (HTTP {status}): check the model's name and the base URL"
        )
    }

    /// The sentence, with what the server said if that can be shown.
    fn with_words(&self, sentence: String, told: &Told) -> String {
        let key = self.provider.secret();
        let words = tidy(&told.message);
        if words.is_empty() || key.is_some_and(|key| told.message.contains(key) || words.contains(key)) {
            return sentence;
        }
        if self.sent.iter().any(|text| quotes(&told.message, text)) {
            return sentence;
        }
        format!("{sentence}; it says: {words}")
    }

    fn failure(&self, status: Option<u16>, kind: FaultKind, message: String) -> Failure {
        Failure {
            status,
            named: Vec::new(),
            fault: Fault::new(kind, tidy(&message).chars().take(MESSAGE_CHARS_MAX).collect::<String>()),
        }
    }

    fn name(&self) -> &str {
        &self.provider.name
    }
}

/// Whether `words` has a good piece of `text` in it.
fn quotes(words: &str, text: &str) -> bool {
    let chars: Vec<char> = words.chars().collect();
    // Every run of one and a half windows holds a whole window that begins at a multiple of half of one.
    let starts = (0..chars.len()).step_by(QUOTED_CHARS / 2);
    starts
        .filter_map(|start| chars.get(start..start + QUOTED_CHARS))
        .any(|run| text.contains(&String::from_iter(run)))
}

/// One line without control characters.
fn tidy(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn io_kind(error: &reqwest::Error) -> Option<io::ErrorKind> {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            return Some(io.kind());
        }
        source = error.source();
    }
    None
}
