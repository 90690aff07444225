//! What the engine needs from a model, and what a model costs.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use agon_core::{CallUsage, Invalid, Phase, ReplySchema, ShortenedPrompt};
use futures_util::future::BoxFuture;

/// A model. It makes one call and never retries: the engine does retries, timeouts and limits.
pub trait Model: Send + Sync {
    /// `provider/model`, as the user wrote it.
    fn name(&self) -> &str;

    /// The provider. The number of concurrent calls is limited for each provider.
    fn provider(&self) -> &str;

    /// What the model costs.
    fn price(&self) -> ModelPrice;

    /// How many calls the provider can handle at once, if it knows. A limit set by the user wins. With `usize::MAX`, its calls do not
    /// count against the limit on all calls either.
    fn at_once(&self) -> Option<usize> {
        None
    }

    /// Whether it reads and writes tokens and should say how many. If an answer says nothing about its prompt, the limits count the
    /// worst case of the call.
    fn uses_tokens(&self) -> bool {
        true
    }

    /// Whether a call is an errand: something looked up or computed on this machine. Errands are free, and limits on
    /// calls and tokens do not count them.
    fn is_errand(&self) -> bool {
        false
    }

    /// What the model needs but does not have, as a sentence. It is checked before the first call.
    fn missing(&self) -> Option<String> {
        None
    }

    /// How long a call may take, for models that set this themselves. A person, for instance, needs longer than a server.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// What the user should know before this model is asked `question`, if anything.
    fn notice(&self, question: &str) -> Option<String> {
        let _ = question;
        None
    }

    /// Makes the call. If `deltas` is given, the model streams its answer there if it can. Dropping the future abandons
    /// the call.
    fn call<'a>(
        &'a self,
        call: &'a ModelCall,
        deltas: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>>;
}

/// Finds models by name.
pub trait ModelSource: Send + Sync {
    /// The model with this name, or a sentence that says why there is none and what to do. It makes no call. The engine
    /// splits fallback chains itself, so `name` never contains `|`.
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, Invalid>;
}

/// Receives the pieces of an answer as they arrive.
pub type DeltaSink<'a> = &'a (dyn Fn(&str) + Send + Sync);

#[derive(Debug, Clone)]
pub struct ModelCall {
    /// The id of the debate.
    pub debate: String,
    /// The id of the seat that is asked.
    pub seat: String,
    /// The number of the ask in the debate.
    pub ask: u32,
    /// The number of the attempt, counted from 1 for each ask.
    pub attempt: u32,
    /// Whether the seat answered the same before and is asked again with what it had asked for.
    pub is_again: bool,
    /// Whether the last message only says what is wrong with the answer before it. The ask is then the message before that answer.
    pub is_repair: bool,
    /// The phase and round.
    pub phase: Phase,
    /// The name under which the other seats know this one ("Debater B").
    pub label: Option<String>,
    /// What the ask is about, where a seat has several in one phase.
    pub about: Option<String>,
    /// The question of the debate in the person's words, which the messages contain. Small models are asked it in plain words.
    pub question: String,
    /// The conversation. The last message is the ask.
    pub messages: Vec<CallMessage>,
    /// The JSON Schema of the answer; `None` for plain text.
    pub schema: Option<Arc<ReplySchema>>,
    /// The maximum length of the answer.
    pub max_output_tokens: u32,
    /// A seed for models that accept one. It derives from the debate's seed and differs for each ask.
    pub seed: u64,
}

impl ModelCall {
    /// The conversation with the schema at the end of the ask, for a model that does not get the schema in any other way.
    pub fn messages_with_schema(&self) -> Cow<'_, [CallMessage]> {
        let Some(schema) = &self.schema else { return Cow::Borrowed(&self.messages) };
        let mut messages = self.messages.clone();
        if let Some(ask) = messages.last_mut() {
            ask.text = format!("{}{}", ask.text.trim_end(), schema_request(schema));
        }
        Cow::Owned(messages)
    }
}

/// Asks for an answer that conforms to this schema.
pub(crate) fn schema_request(schema: &ReplySchema) -> String {
    format!("\n\nYour reply must be one JSON object that conforms to this JSON Schema: {}\n", schema.json)
}

/// One message of a conversation with a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallMessage {
    /// Who speaks.
    pub role: MessageRole,
    /// The words.
    pub text: String,
    /// How many bytes at the start are the same for all seats of the phase. A provider can cache everything up to there.
    pub shared: usize,
}

impl CallMessage {
    /// A message that shares nothing with other seats.
    pub fn new(role: MessageRole, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), shared: 0 }
    }
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRole {
    /// The rules.
    System,
    /// The ask.
    User,
    /// An earlier answer of the seat.
    Assistant,
}

/// A model's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCompletion {
    /// The words. The engine treats an empty text as a malformed answer.
    pub text: String,
    /// The model that answered, as the report names it.
    pub model: String,
    /// The tokens used; all 0 if the provider does not report them. The engine fills in price and latency.
    pub usage: CallUsage,
    /// Why the answer ended.
    pub finish: FinishReason,
    /// The part of the prompt that did not fit into the model's context window, if any.
    pub shortened: Option<ShortenedPrompt>,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// The model was done.
    End,
    /// The answer reached the limit on output tokens.
    Length,
    /// The model refused to answer, or a filter stopped it.
    Refused,
}

/// A call that brought no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct CallFault {
    /// What went wrong.
    pub kind: CallFaultKind,
    /// A sentence for the user, without secrets. For `Key` and `NoSuchModel` it says what to do.
    pub message: String,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// What the call used anyway.
    pub usage: CallUsage,
}

impl CallFault {
    /// A fault that used nothing and asks for no wait.
    pub fn new(kind: CallFaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None, usage: CallUsage::default() }
    }
}

/// What went wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallFaultKind {
    /// Too many calls. The engine retries, after `retry_after` if it is given.
    RateLimited,
    /// The network or the provider failed. The engine retries.
    Unavailable,
    /// The response was not an answer: HTML, half a body, nothing. The engine retries. The call may be billed.
    Garbled,
    /// The model refused to answer.
    Refused,
    /// The time for an answer is over, as the model itself says: a person who was asked elsewhere.
    TimedOut,
    /// The provider rejected the request. A retry would fail in the same way.
    Rejected,
    /// The provider rejected an optional part of the request, for instance the schema. The model remembers to omit it, so
    /// the engine retries at once.
    Unsupported,
    /// The key is missing or wrong. The engine tries the next model of the chain. If there is none, it stops the debate,
    /// because the user has to fix the configuration. But if this model has answered before in the debate, the seat is
    /// absent instead.
    Key,
    /// There is no such model. The engine does the same as for a wrong key.
    NoSuchModel,
}

/// What a model costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ModelPrice {
    /// The model runs on this machine, or it is a script.
    Free,
    /// US dollars per million tokens.
    PerMillion {
        /// Tokens read.
        input: f64,
        /// Tokens read from the provider's cache.
        cached_input: f64,
        /// Tokens read and written to the provider's cache.
        cache_write: f64,
        /// Tokens written.
        output: f64,
    },
    /// The price is unknown. It never counts as 0.
    Unknown,
}

impl ModelPrice {
    /// What these tokens cost; `None` if the price is unknown.
    pub fn cost_usd(&self, usage: &CallUsage) -> Option<f64> {
        match self {
            Self::Free => Some(0.0),
            Self::Unknown => None,
            Self::PerMillion { input, cached_input, cache_write, output } => {
                let CallUsage { input_tokens, cached_input_tokens, cache_write_tokens, .. } = *usage;
                let uncached =
                    input_tokens.saturating_sub(cached_input_tokens).saturating_sub(cache_write_tokens);
                let read = uncached as f64 * input + cached_input_tokens as f64 * cached_input;
                let written_to_cache = cache_write_tokens as f64 * cache_write;
                Some((read + written_to_cache + usage.output_tokens as f64 * output) / 1e6)
            }
        }
    }

    /// The highest price of an input token, in US dollars per million.
    pub(crate) fn highest_input_price(&self) -> f64 {
        match self {
            Self::PerMillion { input, cached_input, cache_write, .. } => {
                input.max(*cached_input).max(*cache_write)
            }
            Self::Free | Self::Unknown => 0.0,
        }
    }

    /// The usage of a call in which the model produced words. If a paid provider reports no tokens, the cost stays
    /// unknown, because the call is billed all the same.
    pub(crate) fn usage_of_answer(&self, usage: CallUsage, uses_tokens: bool) -> CallUsage {
        let unreported = uses_tokens && usage.input_tokens == 0;
        let usage = CallUsage { unreported, ..usage };
        let usd = match self {
            Self::PerMillion { .. } if unreported || !reports_tokens(&usage) => usage.usd,
            _ => self.cost_usd(&usage).or(usage.usd),
        };
        CallUsage { usd, ..usage }
    }

    /// The usage of a call that failed before the model produced words. Without tokens it cost nothing.
    pub(crate) fn usage_of_fault(&self, usage: CallUsage) -> CallUsage {
        let nothing = (!reports_tokens(&usage)).then_some(0.0);
        CallUsage { usd: self.cost_usd(&usage).or(usage.usd).or(nothing), ..usage }
    }

    /// The usage of a call that was abandoned. The provider may bill it, so the cost is unknown unless the model is free.
    pub(crate) fn usage_of_abandoned_call(&self) -> CallUsage {
        let usd = match self {
            Self::Free => Some(0.0),
            _ => None,
        };
        CallUsage { usd, ..CallUsage::default() }
    }
}

fn reports_tokens(usage: &CallUsage) -> bool {
    usage.input_tokens > 0 || usage.output_tokens > 0
}
