//! What a server said about an error, whatever its wire format.

use std::time::Duration;

use serde_json::Value;

/// A part of a request that a server may not know, and that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameter {
    Seed,
    StreamOptions,
}

/// What a server said about an error.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) message: String,
    /// The server's word for what is wrong.
    pub(crate) code: String,
    /// The HTTP status that it stands for, for an error which came without one.
    pub(crate) status: Option<u16>,
    /// How long it asks to wait, where it says so in the body.
    pub(crate) retry_after: Option<Duration>,
    /// Which part of the request it is about, where that is not in the message.
    about: String,
}

impl Told {
    /// The error in a body that may be anything. Of a page of HTML nothing is worth showing.
    pub(crate) fn parse(body: &str) -> Self {
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        // Gemini sends a list where it was asked for a stream.
        let body = body.get(0).unwrap_or(&body);
        Self::of(body.get("error").unwrap_or(body))
    }

    /// From the error itself.
    pub(crate) fn of(error: &Value) -> Self {
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
        let places = list("detail").filter_map(|detail| detail.get("loc")?.as_array()).flatten();
        let about: Vec<&str> = text("param").into_iter().chain(places.filter_map(Value::as_str)).collect();
        Self {
            message: message.to_owned(),
            code: code.to_owned(),
            status: status.or_else(|| status_of(code)),
            retry_after: list("details").find_map(|detail| seconds(detail.get("retryDelay")?.as_str()?)),
            about: about.join(" "),
        }
    }

    /// Whether it is about money. Anthropic has no code for that, but always the same words.
    pub(crate) fn is_credit(&self) -> bool {
        self.code == "insufficient_quota" || self.message.contains("credit balance is too low")
    }

    /// Whether it is about the key, which some say with a status of 400.
    pub(crate) fn is_key(&self) -> bool {
        self.code == "API_KEY_INVALID"
            || self.says(&["incorrect api key", "invalid api key", "api key not valid"])
    }

    /// Whether it is about the model, which some say with a status of 400, with a code or in words alone.
    pub(crate) fn is_model(&self) -> bool {
        const WORDS: &[&str] = &[
            "not a valid model",
            "invalid model",
            "model not exist",
            "model does not exist",
            "model not found",
            "no such model",
            "unknown model",
        ];
        matches!(self.code.as_str(), "model_not_found" | "invalid_model") || self.says(WORDS)
    }

    fn says(&self, any: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        any.iter().any(|words| message.contains(words))
    }

    /// The parts of a request that it names.
    pub(crate) fn parameters(&self) -> Vec<Parameter> {
        let apart = |c: char| !c.is_alphanumeric() && c != '_';
        let words: Vec<&str> = self.message.split(apart).chain(self.about.split(apart)).collect();
        let names = [
            ("seed", Parameter::Seed),
            ("random_seed", Parameter::Seed),
            ("stream_options", Parameter::StreamOptions),
        ];
        names.into_iter().filter(|(name, _)| words.contains(name)).map(|(_, parameter)| parameter).collect()
    }
}

/// The status of an error that Anthropic sends in the middle of a stream.
fn status_of(code: &str) -> Option<u16> {
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

/// A duration as Google writes one: `34s`, `3.5s`.
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.strip_suffix('s')?.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_wires_error_is_read() {
        let anthropic =
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
        let told = Told::parse(&anthropic.to_string());
        assert_eq!((told.message.as_str(), told.status), ("Overloaded", Some(529)));
        let gemini = json!([{"error": {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED", "details": [
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3.5s"},
        ]}}]);
        let told = Told::parse(&gemini.to_string());
        assert_eq!((told.code.as_str(), told.status), ("RESOURCE_EXHAUSTED", Some(429)));
        assert_eq!(told.retry_after, Some(Duration::from_millis(3500)));
        let key = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}});
        assert!(Told::parse(&key.to_string()).is_key());
        let openai =
            json!({"error": {"message": "no", "type": "x", "param": "seed", "code": "insufficient_quota"}});
        let told = Told::parse(&openai.to_string());
        assert!(told.is_credit() && told.status.is_none());
        assert_eq!(told.parameters(), [Parameter::Seed]);
        assert_eq!(Told::parse("<html>").message, "");
    }
}
