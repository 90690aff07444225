//! What was asked.

use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

/// A request as it came. The body is parsed only as far as somebody looks, because a benchmark makes thousands.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET` or `POST`.
    pub method: String,
    /// The path, `/v1/chat/completions`.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body's bytes.
    pub bytes: Vec<u8>,
    body: OnceLock<Value>,
    outline: OnceLock<Outline>,
    schema: OnceLock<Option<Value>>,
}

/// What can be known of the body without reading its messages.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Outline {
    stream: bool,
    stream_options: StreamOptions,
    response_format: Option<ResponseFormat>,
    #[serde(rename = "messages")]
    _messages: IgnoredAny,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ResponseFormat {
    json_schema: Option<JsonSchema>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct JsonSchema {
    schema: Option<Box<RawValue>>,
}

impl Request {
    pub(crate) fn new(method: String, path: String, headers: Vec<(String, String)>, bytes: Vec<u8>) -> Self {
        Self {
            method,
            path,
            headers,
            bytes,
            body: OnceLock::new(),
            outline: OnceLock::new(),
            schema: OnceLock::new(),
        }
    }

    /// A header's value; the name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body, `null` when it is not JSON.
    pub fn body(&self) -> &Value {
        self.body.get_or_init(|| serde_json::from_slice(&self.bytes).unwrap_or_default())
    }

    /// The conversation: role and text, in order.
    pub fn messages(&self) -> Vec<(&str, &str)> {
        let messages =
            self.body().get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        messages.iter().map(|message| (part(message, "role"), part(message, "content"))).collect()
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        part(self.body(), "model")
    }

    /// The schema in `response_format`.
    pub fn schema(&self) -> Option<&Value> {
        let parse = || self.schema_text().and_then(|text| serde_json::from_str(text).ok());
        self.schema.get_or_init(parse).as_ref()
    }

    /// The same as it was sent.
    pub fn schema_text(&self) -> Option<&str> {
        let format = self.outline().response_format.as_ref()?;
        format.json_schema.as_ref()?.schema.as_ref().map(|schema| schema.get())
    }

    /// Whether the answer is to be streamed.
    pub fn streams(&self) -> bool {
        self.outline().stream
    }

    /// Whether a streamed answer is to end with its usage.
    pub fn wants_usage(&self) -> bool {
        self.outline().stream_options.include_usage
    }

    fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| serde_json::from_slice(&self.bytes).unwrap_or_default())
    }
}

fn part<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
