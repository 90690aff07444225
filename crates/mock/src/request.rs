//! What a client asked.

use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::wire_formats::{MockFormat, gemini_model};

/// A request as it arrived. The body is parsed only when it is read, because a benchmark makes thousands of requests.
#[derive(Debug, Clone)]
pub struct MockRequest {
    /// `GET` or `POST`.
    pub method: String,
    /// The path, such as `/v1/chat/completions`.
    pub path: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub bytes: Vec<u8>,
    format: Option<MockFormat>,
    body: OnceLock<Value>,
    messages: OnceLock<Vec<(String, String)>>,
    settings: OnceLock<RequestSettings>,
    schema: OnceLock<Option<Value>>,
}

/// The body without its messages.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RequestSettings {
    stream: bool,
    stream_options: StreamOptions,
    /// Contains the schema in OpenAI's format.
    response_format: Option<ResponseFormat>,
    /// Contains the schema in Anthropic's format.
    output_config: Option<OutputConfig>,
    /// Contains the schema in Gemini's format.
    #[serde(rename = "generationConfig")]
    generation_config: Option<GenerationConfig>,
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
    json_schema: Option<SchemaField>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct OutputConfig {
    format: Option<SchemaField>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct GenerationConfig {
    #[serde(rename = "responseJsonSchema")]
    schema: Option<Box<RawValue>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct SchemaField {
    schema: Option<Box<RawValue>>,
}

impl MockRequest {
    pub(crate) fn new(method: String, path: String, headers: Vec<(String, String)>, bytes: Vec<u8>) -> Self {
        Self {
            format: MockFormat::of_path(&path).filter(|_| method == "POST"),
            method,
            path,
            headers,
            bytes,
            body: OnceLock::new(),
            messages: OnceLock::new(),
            settings: OnceLock::new(),
            schema: OnceLock::new(),
        }
    }

    /// The wire format of the path. `None` for unknown paths and lists of models.
    pub fn wire(&self) -> Option<MockFormat> {
        self.format
    }

    /// The value of a header. `name` is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `null` if it is not JSON.
    pub fn body(&self) -> &Value {
        self.body.get_or_init(|| serde_json::from_slice(&self.bytes).unwrap_or_default())
    }

    /// The role and text of each message. Roles have OpenAI's names in every wire format. The blocks of a message are
    /// joined into one text.
    pub fn messages(&self) -> Vec<(&str, &str)> {
        match self.format {
            Some(MockFormat::Anthropic | MockFormat::Gemini) => {
                let messages = self.messages.get_or_init(|| self.joined_messages());
                messages.iter().map(|(role, text)| (role.as_str(), text.as_str())).collect()
            }
            _ => {
                let messages = array_field(self.body(), "messages").iter();
                messages
                    .map(|message| (text_field(message, "role"), text_field(message, "content")))
                    .collect()
            }
        }
    }

    /// The texts to embed.
    pub fn inputs(&self) -> Vec<&str> {
        match self.body().get("input") {
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// The name of the model.
    pub fn model(&self) -> &str {
        gemini_model(&self.path).map_or_else(|| text_field(self.body(), "model"), |(model, _)| model)
    }

    /// The JSON Schema of the answer.
    pub fn schema(&self) -> Option<&Value> {
        let parse = || self.schema_text().and_then(|text| serde_json::from_str(text).ok());
        self.schema.get_or_init(parse).as_ref()
    }

    /// The schema as it was sent.
    pub fn schema_text(&self) -> Option<&str> {
        let settings = self.settings();
        let schema = match self.format {
            Some(MockFormat::Anthropic) => settings.output_config.as_ref()?.format.as_ref()?.schema.as_ref(),
            Some(MockFormat::Gemini) => settings.generation_config.as_ref()?.schema.as_ref(),
            _ => settings.response_format.as_ref()?.json_schema.as_ref()?.schema.as_ref(),
        };
        schema.map(|schema| schema.get())
    }

    /// Whether the client wants a stream.
    pub fn streams(&self) -> bool {
        gemini_model(&self.path).map_or_else(|| self.settings().stream, |(_, streams)| streams)
    }

    /// Whether the client wants the usage at the end of the stream.
    pub fn wants_usage(&self) -> bool {
        self.settings().stream_options.include_usage
    }

    fn settings(&self) -> &RequestSettings {
        self.settings.get_or_init(|| serde_json::from_slice(&self.bytes).unwrap_or_default())
    }

    fn joined_messages(&self) -> Vec<(String, String)> {
        let (system, messages, blocks) = match self.format {
            Some(MockFormat::Gemini) => ("systemInstruction", "contents", "parts"),
            _ => ("system", "messages", "content"),
        };
        let system = self.body().get(system).map(|system| system.get(blocks).unwrap_or(system));
        let system = system.map(|system| ("system".to_owned(), joined_text(system)));
        let messages = array_field(self.body(), messages).iter().map(|message| {
            let role = match text_field(message, "role") {
                "model" => "assistant",
                role => role,
            };
            (role.to_owned(), message.get(blocks).map(joined_text).unwrap_or_default())
        });
        system.into_iter().chain(messages).collect()
    }
}

fn array_field<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn text_field<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The text of a string or of all blocks of a list.
fn joined_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(|block| text_field(block, "text")).collect(),
        _ => String::new(),
    }
}
