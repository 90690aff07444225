//! What went wrong with a call, as a sentence without secrets.
//!
//! A server may echo what it was sent, so its message is quoted only if it contains neither the key nor the prompt.

use std::error::Error as _;
use std::io;
use std::time::{Duration, SystemTime};

use agon_engine::{CallFault, CallFaultKind};
use agon_host::{BodyError, BoundedBody, clean_line};
use reqwest::Response;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::http::ANSWER_BYTES_MAX;
use super::retry_after;
use crate::provider::{BaseUrl, ModelProvider};

const MESSAGE_CHARS_MAX: usize = 300;
/// Nothing after so many bytes of an error's body is looked at.
const ERROR_BYTES_MAX: usize = 4096;
/// A run of this many characters from the prompt counts as a quotation of it.
const QUOTED_CHARS: usize = 32;

/// A call that failed.
#[derive(Debug)]
pub(crate) struct CallFailure {
    /// The HTTP status, if there was an answer.
    pub(crate) status: Option<u16>,
    pub(crate) fault: Box<CallFault>,
    /// The parts of the request that the server named.
    pub(crate) parameters: Vec<OptionalParameter>,
}

/// A part of a request that some servers do not know and that can be omitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptionalParameter {
    Seed,
    StreamOptions,
    /// The server wants `max_completion_tokens` instead of `max_tokens`.
    MaxTokens,
}

/// What a failure's sentence is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FailureContext<'a> {
    provider: &'a ModelProvider,
    /// The provider's name for the model.
    model: &'a str,
    address: &'a str,
    /// What was sent, so that it is not quoted back.
    prompt: &'a [&'a str],
}

impl<'a> FailureContext<'a> {
    pub(crate) fn new(
        provider: &'a ModelProvider,
        model: &'a str,
        base: &'a BaseUrl,
        prompt: &'a [&'a str],
    ) -> Self {
        Self { provider, model, address: &base.shown, prompt }
    }

    /// An error in the body of an answer with status 200, or in the middle of a stream. The server had accepted the request, so a failure
    /// of its own may be charged for.
    pub(crate) fn error_in_body(&self, error: &Value) -> CallFailure {
        let error = ServerError::from_json(error);
        match error.status {
            Some(status) => {
                let mut failure = self.status_failure(status, &error, None);
                if failure.fault.kind == CallFaultKind::Unavailable {
                    failure.fault.kind = CallFaultKind::Garbled;
                }
                failure
            }
            None => {
                let message = self.with_server_message(format!("{} failed", self.provider.name), &error);
                self.failure(None, CallFaultKind::Garbled, message)
            }
        }
    }

    /// An answer with a status other than success.
    pub(crate) async fn http_status(&self, answer: Response) -> CallFailure {
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let body = BoundedBody::new(answer, ERROR_BYTES_MAX).beginning().await;
        self.error_body(status, &body, &headers)
    }

    pub(super) fn error_body(&self, status: u16, body: &str, headers: &HeaderMap) -> CallFailure {
        self.status_failure(status, &ServerError::parse(body), Some(headers))
    }

    /// A request that could not be written.
    pub(crate) fn no_request(&self) -> CallFailure {
        let message = format!("no request can be made for {}", self.provider.name);
        self.failure(None, CallFaultKind::Rejected, message)
    }

    /// A body that could not be read.
    pub(crate) fn body_error(&self, error: &BodyError) -> CallFailure {
        match error {
            BodyError::Network(error) => self.network_error(error),
            BodyError::TooLong => self.too_long(),
        }
    }

    /// An answer that is longer than any answer may be.
    pub(crate) fn too_long(&self) -> CallFailure {
        self.garbled(&format!("is longer than {} MB", ANSWER_BYTES_MAX >> 20))
    }

    /// An answer that cannot be used. `what` is the end of a sentence that starts with "the answer".
    pub(crate) fn garbled(&self, what: &str) -> CallFailure {
        self.failure(None, CallFaultKind::Garbled, format!("the answer of {} {what}", self.provider.name))
    }

    /// A page for people, as a web server or a proxy at a wrong address sends.
    pub(crate) fn html_page(&self) -> CallFailure {
        let message = format!(
            "{} at {} answers with an HTML page, so it is no model server: is the base URL right?",
            self.provider.name, self.address
        );
        self.failure(None, CallFaultKind::Garbled, message)
    }

    pub(crate) fn no_client(&self, why: &str) -> CallFailure {
        let message = format!("{} cannot be called: {why}", self.provider.name);
        self.failure(None, CallFaultKind::Unavailable, message)
    }

    /// No answer, or only a part of one.
    pub(crate) fn network_error(&self, error: &reqwest::Error) -> CallFailure {
        let (name, address) = (&self.provider.name, self.address);
        let io = io_error(error);
        let why = io.map(|io| format!(" ({})", kind_words(io))).unwrap_or_default();
        let is_cut = matches!(
            io.map(io::Error::kind),
            Some(
                io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe
            )
        );
        if error.is_connect() || error.is_timeout() {
            let message = format!(
                "{name} cannot be reached at {address}{why}: is the server running, and the base URL right?"
            );
            // Without a connection nothing was sent.
            let kind = if error.is_connect() { CallFaultKind::Unavailable } else { CallFaultKind::Garbled };
            self.failure(None, kind, message)
        } else if error.is_builder() {
            self.no_request()
        } else if is_cut || error.is_request() {
            // The request was sent, so the server may have answered and may charge for it.
            let message = format!("{name} at {address} closed the connection{why}");
            self.failure(None, CallFaultKind::Garbled, message)
        } else {
            self.garbled("was cut off")
        }
    }

    fn status_failure(&self, status: u16, error: &ServerError, headers: Option<&HeaderMap>) -> CallFailure {
        let (name, address, model) = (&self.provider.name, self.address, self.model);
        let is_credit = status == 402 || (matches!(status, 400 | 403 | 429) && error.is_about_credit());
        let is_key = matches!(status, 401 | 403) || (matches!(status, 400 | 422) && error.is_about_key());
        let is_model = status == 404 || (matches!(status, 400 | 422) && error.is_about_model());
        let (kind, sentence) = if is_credit {
            let message =
                format!("the account at {name} has no credit left (HTTP {status}): add credit to it");
            (CallFaultKind::Key, message)
        } else if is_key {
            (CallFaultKind::Key, self.key_sentence(status))
        } else if is_model {
            let message = format!(
                "{name} has no model {model:?} at {address} (HTTP {status}): check the model's name and the base URL"
            );
            (CallFaultKind::NoSuchModel, message)
        } else {
            match status {
                429 => {
                    (CallFaultKind::RateLimited, format!("{name} accepts no more calls for now (HTTP 429)"))
                }
                // 508 says that the request runs in a circle, which a retry would only do again.
                408 | 409 | 425 | 500..=507 | 509..=599 => {
                    (CallFaultKind::Unavailable, format!("{name} at {address} failed (HTTP {status})"))
                }
                300..=399 => (
                    CallFaultKind::Rejected,
                    format!(
                        "{name} at {address} redirects (HTTP {status}): set the base URL to its real address"
                    ),
                ),
                _ => (
                    CallFaultKind::Rejected,
                    format!("{name} rejected the request for {model:?} (HTTP {status})"),
                ),
            }
        };
        let mut failure = self.failure(Some(status), kind, self.with_server_message(sentence, error));
        failure.parameters = error.named_parameters();
        let requested_wait = headers.and_then(|headers| retry_after::parse(headers, SystemTime::now()));
        failure.fault.retry_after = requested_wait.or(error.retry_after);
        failure
    }

    fn key_sentence(&self, status: u16) -> String {
        let (name, address) = (&self.provider.name, self.address);
        match (&self.provider.key_env, &self.provider.key) {
            (Some(variable), Some(_)) => format!(
                "{name} at {address} does not accept the key in {variable} (HTTP {status}): set {variable} to a valid key"
            ),
            (Some(variable), None) => {
                format!("{name} at {address} needs a key (HTTP {status}): set {variable} to it")
            }
            (None, _) => format!(
                "{name} at {address} needs a key (HTTP {status}): name the variable that holds it with key_env under \
                 [providers.{name}] in agon.toml"
            ),
        }
    }

    /// Adds the server's message, unless it contains the key or the prompt.
    fn with_server_message(&self, sentence: String, error: &ServerError) -> String {
        let message = clean_line(&error.message);
        let has_key = |key| error.message.contains(key) || message.contains(key);
        if message.is_empty()
            || self.provider.secret().is_some_and(has_key)
            || self.prompt.iter().any(|prompt| quotes(&error.message, prompt))
        {
            return sentence;
        }
        format!("{sentence}; it says: {message}")
    }

    fn failure(&self, status: Option<u16>, kind: CallFaultKind, message: String) -> CallFailure {
        let message: String = clean_line(&message).chars().take(MESSAGE_CHARS_MAX).collect();
        CallFailure {
            status,
            parameters: Vec::new(),
            fault: Box::new(CallFault::new(kind, message.trim_end())),
        }
    }
}

/// Whether `message` contains a long piece of `prompt`.
fn quotes(message: &str, prompt: &str) -> bool {
    let chars: Vec<char> = message.chars().collect();
    // Checking every half window finds every quotation of at least one and a half windows.
    let starts = (0..chars.len()).step_by(QUOTED_CHARS / 2);
    starts
        .filter_map(|start| chars.get(start..start + QUOTED_CHARS))
        .any(|run| prompt.contains(&String::from_iter(run)))
}

/// What a kind of error is called. A failed name lookup has no stable `ErrorKind` and no OS error number.
fn kind_words(error: &io::Error) -> String {
    match error.kind().to_string() {
        words if words == "uncategorized error" && error.raw_os_error().is_none() => {
            "no such host".to_owned()
        }
        words => words,
    }
}

fn io_error(error: &reqwest::Error) -> Option<&io::Error> {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            return Some(io);
        }
        source = error.source();
    }
    None
}

/// An error as a server reports it, in any wire format.
#[derive(Debug, Default)]
struct ServerError {
    message: String,
    /// The server's own word for the error.
    code: String,
    /// The HTTP status that the code stands for.
    status: Option<u16>,
    /// How long it asks to wait, if the body says so.
    retry_after: Option<Duration>,
    /// The part of the request that it is about, if the body says so outside of the message.
    about: String,
}

impl ServerError {
    /// Reads a body of any kind. A page of HTML gives an empty error.
    fn parse(body: &str) -> Self {
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        // Gemini sends a list if it was asked for a stream.
        let body = body.get(0).unwrap_or(&body);
        Self::from_json(body.get("error").unwrap_or(body))
    }

    fn from_json(error: &Value) -> Self {
        let text = |key: &str| error.get(key).and_then(Value::as_str);
        let list = |key: &str| error.get(key).and_then(Value::as_array).into_iter().flatten();
        let first_detail = error.pointer("/detail/0/msg").and_then(Value::as_str);
        let message =
            error.as_str().or(text("message")).or(text("detail")).or(first_detail).unwrap_or_default();
        let reason = list("details").find_map(|detail| detail.get("reason")?.as_str());
        let code = reason.or(text("code")).or(text("type")).or(text("status")).unwrap_or_default();
        let number = error.get("code").or_else(|| error.get("status")).and_then(Value::as_u64);
        let status =
            number.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code));
        let locations = list("detail").filter_map(|detail| detail.get("loc")?.as_array()).flatten();
        let about: Vec<&str> = text("param").into_iter().chain(locations.filter_map(Value::as_str)).collect();
        Self {
            message: message.to_owned(),
            code: code.to_owned(),
            status: status.or_else(|| status_of_code(code)),
            retry_after: list("details")
                .find_map(|detail| parse_google_duration(detail.get("retryDelay")?.as_str()?)),
            about: about.join(" "),
        }
    }

    /// Anthropic has no code for a missing credit, but always uses the same words.
    fn is_about_credit(&self) -> bool {
        self.code == "insufficient_quota" || self.message.contains("credit balance is too low")
    }

    /// Some servers report a wrong key with status 400.
    fn is_about_key(&self) -> bool {
        self.code == "API_KEY_INVALID"
            || self.message_has_any(&["incorrect api key", "invalid api key", "api key not valid"])
    }

    /// Some servers report an unknown model with status 400, by a code or only in words.
    fn is_about_model(&self) -> bool {
        const PHRASES: &[&str] = &[
            "not a valid model",
            "invalid model",
            "model not exist",
            "model does not exist",
            "model not found",
            "no such model",
            "unknown model",
        ];
        matches!(self.code.as_str(), "model_not_found" | "invalid_model") || self.message_has_any(PHRASES)
    }

    fn message_has_any(&self, phrases: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        phrases.iter().any(|phrase| message.contains(phrase))
    }

    fn named_parameters(&self) -> Vec<OptionalParameter> {
        let is_separator = |c: char| !c.is_alphanumeric() && c != '_';
        let words: Vec<&str> =
            self.message.split(is_separator).chain(self.about.split(is_separator)).collect();
        let names = [
            ("seed", OptionalParameter::Seed),
            ("random_seed", OptionalParameter::Seed),
            ("stream_options", OptionalParameter::StreamOptions),
            ("max_completion_tokens", OptionalParameter::MaxTokens),
        ];
        names.into_iter().filter(|(name, _)| words.contains(name)).map(|(_, parameter)| parameter).collect()
    }
}

/// The status of an error that Anthropic sends in the middle of a stream.
fn status_of_code(code: &str) -> Option<u16> {
    Some(match code {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "api_error" => 500,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => return None,
    })
}

/// A duration as Google writes it: `34s`, `3.5s`.
fn parse_google_duration(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.strip_suffix('s')?.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_of_every_wire_format_are_read() {
        let anthropic =
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
        let error = ServerError::parse(&anthropic.to_string());
        assert_eq!((error.message.as_str(), error.status), ("Overloaded", Some(529)));
        let gemini = json!([{"error": {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED", "details": [
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3.5s"},
        ]}}]);
        let error = ServerError::parse(&gemini.to_string());
        assert_eq!((error.code.as_str(), error.status), ("RESOURCE_EXHAUSTED", Some(429)));
        assert_eq!(error.retry_after, Some(Duration::from_millis(3500)));
        let key = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}});
        assert!(ServerError::parse(&key.to_string()).is_about_key());
        let openai =
            json!({"error": {"message": "no", "type": "x", "param": "seed", "code": "insufficient_quota"}});
        let error = ServerError::parse(&openai.to_string());
        assert!(error.is_about_credit() && error.status.is_none());
        assert_eq!(error.named_parameters(), [OptionalParameter::Seed]);
        assert_eq!(ServerError::parse("<html>").message, "");
    }
}
