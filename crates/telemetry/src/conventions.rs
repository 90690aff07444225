//! The names of attributes, spans and metrics: OpenTelemetry's for generative AI, and Agon's own. Those for generative AI still change,
//! so the ones in use are written down here.

use agon_core::ModelKind;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, InstrumentationScope, KeyValue};

#[allow(missing_docs)]
pub mod names {
    pub const OPERATION: &str = "gen_ai.operation.name";
    pub const PROVIDER: &str = "gen_ai.provider.name";
    pub const REQUEST_MODEL: &str = "gen_ai.request.model";
    pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
    pub const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
    pub const CONVERSATION: &str = "gen_ai.conversation.id";
    pub const WORKFLOW: &str = "gen_ai.workflow.name";
    pub const TOOL: &str = "gen_ai.tool.name";
    pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
    pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
    pub const CACHE_READ_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
    pub const CACHE_WRITE_TOKENS: &str = "gen_ai.usage.cache_creation.input_tokens";
    pub const TOKEN_TYPE: &str = "gen_ai.token.type";
    pub const SYSTEM_INSTRUCTIONS: &str = "gen_ai.system_instructions";
    pub const INPUT_MESSAGES: &str = "gen_ai.input.messages";
    pub const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
    pub const ERROR_TYPE: &str = "error.type";

    pub const DEBATE: &str = "agon.debate.id";
    pub const PROTOCOL: &str = "agon.protocol";
    pub const STATUS: &str = "agon.status";
    pub const TERMINATION: &str = "agon.termination";
    pub const FIDELITY: &str = "agon.fidelity";
    pub const PASSED: &str = "agon.passed";
    pub const SEATS: &str = "agon.seats";
    pub const ROUNDS: &str = "agon.rounds";
    pub const PHASE: &str = "agon.phase";
    pub const ROUND: &str = "agon.round";
    pub const SEAT: &str = "agon.seat";
    pub const ROLE: &str = "agon.role";
    pub const ASK: &str = "agon.ask";
    pub const ATTEMPT: &str = "agon.attempt";
    pub const ATTEMPTS: &str = "agon.attempts";
    pub const MODEL: &str = "agon.model";
    pub const UNFINISHED: &str = "agon.unfinished";
    pub const COST_USD: &str = "agon.cost.usd";
    pub const COST_COMPLETE: &str = "agon.cost.complete";
    pub const CALLS: &str = "agon.usage.calls";
    pub const ALL_INPUT_TOKENS: &str = "agon.usage.input_tokens";
    pub const ALL_OUTPUT_TOKENS: &str = "agon.usage.output_tokens";
    pub const QUESTION: &str = "agon.question";
    pub const VERDICT: &str = "agon.verdict";
    pub const INTERJECTION: &str = "agon.interjection";
    pub const SAID_BY: &str = "agon.interjection.by";
    pub const SAID_TEXT: &str = "agon.interjection.text";
    pub const STATE: &str = "agon.state";

    pub const OPERATION_DURATION: &str = "gen_ai.client.operation.duration";
    pub const TOKEN_USAGE: &str = "gen_ai.client.token.usage";
    pub const DEBATES: &str = "agon.debates";
    pub const DEBATES_ENDED: &str = "agon.debates.ended";
    pub const CALLS_IN_FLIGHT: &str = "agon.calls.in_flight";
    pub const QUEUE_LENGTH: &str = "agon.queue.length";
    pub const COMMIT_DURATION: &str = "agon.store.commit.duration";
}

/// What kind of work an ask is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskOperation {
    /// A model writes an answer.
    Chat,
    /// A model compares texts.
    Embeddings,
    /// Something is looked up.
    Tool,
    /// A person answers.
    Person,
}

impl AskOperation {
    /// The operation of a model by its name.
    pub fn of_model(model: &str) -> Self {
        match ModelKind::of_model(model) {
            Some(ModelKind::Human) => Self::Person,
            Some(_) => Self::Chat,
            None if model.trim().starts_with("embeddings/") => Self::Embeddings,
            None => Self::Tool,
        }
    }

    /// The value of `gen_ai.operation.name`. The conventions have none for people, so it is our own.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Embeddings => "embeddings",
            Self::Tool => "execute_tool",
            Self::Person => "person",
        }
    }

    /// Whether a model does it, so that the metrics for generative AI count it.
    pub fn is_of_model(self) -> bool {
        matches!(self, Self::Chat | Self::Embeddings)
    }
}

/// `openai/gpt-5` as the conventions name it: the provider and the model.
pub fn provider_and_model(name: &str) -> (&str, &str) {
    let (provider, model) = name.trim().split_once('/').unwrap_or(("", name));
    let provider = match provider {
        "gemini" => "gcp.gemini",
        "mistral" => "mistral_ai",
        "xai" => "x_ai",
        other => other,
    };
    (provider, model)
}

/// What made the spans and metrics.
pub(crate) fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "agon".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    }
}

/// An attribute.
pub(crate) fn attribute(key: &str, value: impl Into<AttributeValue>) -> KeyValue {
    let AttributeValue(value) = value.into();
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

/// The value of an attribute.
pub(crate) struct AttributeValue(Value);

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        Self(Value::StringValue(text.to_owned()))
    }
}

impl From<String> for AttributeValue {
    fn from(text: String) -> Self {
        Self(Value::StringValue(text))
    }
}

impl From<bool> for AttributeValue {
    fn from(flag: bool) -> Self {
        Self(Value::BoolValue(flag))
    }
}

impl From<f64> for AttributeValue {
    fn from(number: f64) -> Self {
        Self(Value::DoubleValue(number))
    }
}

impl From<u64> for AttributeValue {
    fn from(number: u64) -> Self {
        Self(Value::IntValue(i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

impl From<u32> for AttributeValue {
    fn from(number: u32) -> Self {
        Self(Value::IntValue(number.into()))
    }
}

impl<const N: usize> From<[&str; N]> for AttributeValue {
    fn from(texts: [&str; N]) -> Self {
        let values = texts.map(|text| AnyValue { value: Some(Value::StringValue(text.to_owned())) });
        Self(Value::ArrayValue(ArrayValue { values: values.to_vec() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_named_as_the_conventions_name_them() {
        assert_eq!(provider_and_model("openai/gpt-5"), ("openai", "gpt-5"));
        assert_eq!(provider_and_model("gemini/gemini-3-pro"), ("gcp.gemini", "gemini-3-pro"));
        assert_eq!(provider_and_model("openrouter/a/b"), ("openrouter", "a/b"));
        assert_eq!(provider_and_model("plain"), ("", "plain"));
        assert_eq!(AskOperation::of_model("human/ada"), AskOperation::Person);
        assert_eq!(AskOperation::of_model("tool/files"), AskOperation::Tool);
        assert_eq!(AskOperation::of_model("embeddings/minilm"), AskOperation::Embeddings);
    }
}
