//! What was asked.

use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::wire::{Wire, gemini_model};

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
    wire: Option<Wire>,
    body: OnceLock<Value>,
    turns: OnceLock<Vec<(String, String)>>,
    outline: OnceLock<Outline>,
    schema: OnceLock<Option<Value>>,
}

/// What can be known of the body without reading its messages.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Outline {
    stream: bool,
    stream_options: StreamOptions,
    /// OpenAI's place for a schema.
    response_format: Option<ResponseFormat>,
    /// Anthropic's.
    output_config: Option<OutputConfig>,
    /// Gemini's.
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
    json_schema: Option<JsonSchema>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct OutputConfig {
    format: Option<JsonSchema>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct GenerationConfig {
    #[serde(rename = "responseJsonSchema")]
    schema: Option<Box<RawValue>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct JsonSchema {
    schema: Option<Box<RawValue>>,
}

impl Request {
    pub(crate) fn new(method: String, path: String, headers: Vec<(String, String)>, bytes: Vec<u8>) -> Self {
        Self {
            wire: Wire::of(&path).filter(|_| method == "POST"),
            method,
            path,
            headers,
            bytes,
            body: OnceLock::new(),
            turns: OnceLock::new(),
            outline: OnceLock::new(),
            schema: OnceLock::new(),
        }
    }

    /// What it speaks, told by its path.
    pub fn wire(&self) -> Option<Wire> {
        self.wire
    }

    /// A header's value; the name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body, `null` when it is not JSON.
    pub fn body(&self) -> &Value {
        self.body.get_or_init(|| serde_json::from_slice(&self.bytes).unwrap_or_default())
    }

    /// The conversation: role and text, in order, with OpenAI's names for the roles whatever the wire calls them. A message
    /// in several blocks is their text in one.
    pub fn messages(&self) -> Vec<(&str, &str)> {
        match self.wire {
            Some(Wire::Anthropic | Wire::Gemini) => {
                let turns = self.turns.get_or_init(|| self.turns());
                turns.iter().map(|(role, text)| (role.as_str(), text.as_str())).collect()
            }
            _ => {
                let messages = list(self.body(), "messages").iter();
                messages.map(|message| (part(message, "role"), part(message, "content"))).collect()
            }
        }
    }

    /// The texts whose embeddings are asked for.
    pub fn inputs(&self) -> Vec<&str> {
        match self.body().get("input") {
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        gemini_model(&self.path).map_or_else(|| part(self.body(), "model"), |(model, _)| model)
    }

    /// The schema of the answer.
    pub fn schema(&self) -> Option<&Value> {
        let parse = || self.schema_text().and_then(|text| serde_json::from_str(text).ok());
        self.schema.get_or_init(parse).as_ref()
    }

    /// The same as it was sent.
    pub fn schema_text(&self) -> Option<&str> {
        let outline = self.outline();
        let schema = match self.wire {
            Some(Wire::Anthropic) => outline.output_config.as_ref()?.format.as_ref()?.schema.as_ref(),
            Some(Wire::Gemini) => outline.generation_config.as_ref()?.schema.as_ref(),
            _ => outline.response_format.as_ref()?.json_schema.as_ref()?.schema.as_ref(),
        };
        schema.map(|schema| schema.get())
    }

    /// Whether the answer is to be streamed.
    pub fn streams(&self) -> bool {
        gemini_model(&self.path).map_or_else(|| self.outline().stream, |(_, streams)| streams)
    }

    /// Whether a streamed answer is to end with its usage.
    pub fn wants_usage(&self) -> bool {
        self.outline().stream_options.include_usage
    }

    fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| serde_json::from_slice(&self.bytes).unwrap_or_default())
    }

    fn turns(&self) -> Vec<(String, String)> {
        let (rules, messages, blocks) = match self.wire {
            Some(Wire::Gemini) => ("systemInstruction", "contents", "parts"),
            _ => ("system", "messages", "content"),
        };
        let rules = self.body().get(rules).map(|rules| rules.get(blocks).unwrap_or(rules));
        let rules = rules.map(|rules| ("system".to_owned(), joined(rules)));
        let messages = list(self.body(), messages).iter().map(|message| {
            let role = match part(message, "role") {
                "model" => "assistant",
                role => role,
            };
            (role.to_owned(), message.get(blocks).map(joined).unwrap_or_default())
        });
        rules.into_iter().chain(messages).collect()
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn part<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A text, or the texts of blocks in one.
fn joined(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(|block| part(block, "text")).collect(),
        _ => String::new(),
    }
}
