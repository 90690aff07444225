//! What a model is to the engine.

use std::sync::Arc;
use std::time::Duration;

use agon_core::{Invalid, Phase, Schema, Shortened, Usage};
use futures_util::future::BoxFuture;

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The rules of the house.
    System,
    /// The ask.
    User,
    /// The seat's own earlier words.
    Assistant,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What.
    pub text: String,
    /// How many bytes at its front all seats of the phase read: a provider's cache can keep everything up to there.
    pub shared: usize,
}

impl Message {
    /// A message that no other seat reads.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), shared: 0 }
    }
}

/// One call of a model.
#[derive(Debug, Clone)]
pub struct Call {
    /// The debate.
    pub debate: String,
    /// The seat that is asked.
    pub seat: String,
    /// The ask's number in the debate.
    pub ask: u32,
    /// Counted from 1 for each ask.
    pub attempt: u32,
    /// The phase and round.
    pub phase: Phase,
    /// How the seat is shown ("Debater B").
    pub label: Option<String>,
    /// What the ask is about, where a seat has several in a phase.
    pub about: Option<String>,
    /// The conversation; the last message is the ask.
    pub messages: Vec<Message>,
    /// The shape of the answer.
    pub schema: Option<Arc<Schema>>,
    /// The most tokens that the answer may have.
    pub max_output_tokens: u32,
    /// From the debate's seed, different for each ask, for models that take one.
    pub seed: u64,
}

/// How a completion ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// The model was done.
    End,
    /// It ran into the limit on output tokens.
    Length,
    /// It would not answer, or a filter would not let it.
    Refused,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// Its words; empty when it had none, which the engine takes for a malformed answer.
    pub text: String,
    /// The model that spoke, as the report names it.
    pub model: String,
    /// Tokens, all 0 when the provider does not say; the engine fills in price and latency.
    pub usage: Usage,
    /// How it ended.
    pub finish: Finish,
    /// What of the prompt it could not read, if it had to leave something out.
    pub shortened: Option<Shortened>,
}

/// What kind of thing went wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Too many calls: worth another try, after `retry_after` if given.
    RateLimited,
    /// The network or the provider failed: worth another try.
    Unavailable,
    /// The answer was not one: HTML, half a body, nothing. Worth another try, and it may have been charged for.
    Garbled,
    /// The model would not answer.
    Refused,
    /// The provider would not take the request as it is; another try would be the same.
    Rejected,
    /// The provider would not take the schema or another part of the request that can be left out: worth another try at
    /// once, for the model knows now to do so.
    Unsupported,
    /// The key is missing or wrong: the next model of the chain. After the last, stop and tell the person, for it is a mistake
    /// in the set-up; only if this model has answered before in the debate, the voice is missing.
    Key,
    /// There is no such model: as for a wrong key.
    NoSuchModel,
}

/// A call that brought no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What kind.
    pub kind: FaultKind,
    /// A sentence for the person; never a secret. For `Key` and `NoSuchModel` it says what to do.
    pub message: String,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// What was used all the same.
    pub usage: Usage,
}

impl Fault {
    /// A fault of this kind.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None, usage: Usage::default() }
    }
}

/// What a model costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Price {
    /// Nothing: it runs here, or it is a script.
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
    /// Not known. Never taken for nothing.
    Unknown,
}

impl Price {
    /// The most that a token costs which is read, in US dollars per million.
    pub fn dearest_input(&self) -> f64 {
        match self {
            Self::PerMillion { input, cached_input, cache_write, .. } => {
                input.max(*cached_input).max(*cache_write)
            }
            Self::Free | Self::Unknown => 0.0,
        }
    }

    /// What these tokens cost; `None` when the price is not known.
    pub fn of(&self, usage: &Usage) -> Option<f64> {
        match self {
            Self::Free => Some(0.0),
            Self::Unknown => None,
            Self::PerMillion { input, cached_input, cache_write, output } => {
                let Usage { input_tokens, cached_input_tokens, cache_write_tokens, .. } = *usage;
                let fresh =
                    input_tokens.saturating_sub(cached_input_tokens).saturating_sub(cache_write_tokens);
                let read = fresh as f64 * input + cached_input_tokens as f64 * cached_input;
                let kept = cache_write_tokens as f64 * cache_write;
                Some((read + kept + usage.output_tokens as f64 * output) / 1e6)
            }
        }
    }
}

/// Where a model puts the pieces of its answer as they come.
pub type Deltas<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// A model. It makes one call at a time and never retries: retries, timeouts and limits are the engine's.
pub trait Model: Send + Sync {
    /// `provider/model`, as the user named it.
    fn name(&self) -> &str;

    /// The provider, by which concurrency is limited.
    fn provider(&self) -> &str;

    /// What it costs.
    fn price(&self) -> Price;

    /// How many calls of its provider can be under way at once, where the provider knows and the user has not said.
    fn at_once(&self) -> Option<usize> {
        None
    }

    /// Whether a call of it is an errand on this machine, something looked up or computed, which is free and which no limit on
    /// calls or tokens counts.
    fn is_errand(&self) -> bool {
        false
    }

    /// What it needs and is not here, in a sentence: found before the first call, it costs nothing.
    fn missing(&self) -> Option<String> {
        None
    }

    /// How long it may take to answer, where that is its own to say: a person thinks longer than a server.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// What a person should know before this model is asked this question, if anything.
    fn notice(&self, question: &str) -> Option<String> {
        let _ = question;
        None
    }

    /// Makes the call. With `deltas` the answer is streamed if the model can; without, it need not be. Dropping the
    /// future abandons the call.
    fn call<'a>(
        &'a self,
        call: &'a Call,
        deltas: Option<Deltas<'a>>,
    ) -> BoxFuture<'a, Result<Completion, Fault>>;
}

/// Where models come from.
pub trait Models: Send + Sync {
    /// The model of this name, or a sentence that says why there is none and what to do. Makes no call. A name with
    /// `|` is a fallback chain; the engine never sees one, it asks for each link.
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, Invalid>;
}
