//! What is peculiar to a wire format.

use agon_core::Usage;
use agon_engine::{Message, Role};
use genai::chat::{ChatMessage, ReasoningEffort};
use serde_json::Value;

use super::anthropic::Anthropic;
use super::gemini::Gemini;
use super::openai::OpenAi;
use crate::config::ProviderKind;

/// A wire format, as far as genai does not settle it. What has a default here is so for most.
pub(crate) trait Wire: Send + Sync {
    /// The path of a chat request under the base URL.
    fn path(&self, model: &str, streamed: bool) -> String;

    /// The headers that carry the key, and what else each request must have.
    fn headers(&self, key: Option<&str>) -> Vec<(String, String)>;

    /// The path of the list of models, all of it in one answer.
    fn list_path(&self) -> &'static str;

    /// The names in that list; `None` when it is none.
    fn listed(&self, body: &Value) -> Option<Vec<String>>;

    /// The conversation.
    fn messages(&self, messages: &[Message]) -> Vec<ChatMessage> {
        messages.iter().map(plain).collect()
    }

    /// Whether the server's cache needs no marks in the request.
    fn caches_by_itself(&self) -> bool {
        true
    }

    /// What keeps genai from making an effort of the end of a model's name, without saying anything to the server.
    fn effort(&self, model: &str) -> Option<ReasoningEffort>;

    /// The schema in the dialect that the server takes; the engine holds the answer to the whole one.
    fn schema(&self, schema: &Value) -> Value;

    /// Whether this body is an answer at all.
    fn is_answer(&self, body: &Value) -> bool;

    /// A refusal that genai does not see.
    fn refusal(&self, _body: &Value) -> Option<Refusal> {
        None
    }

    /// What a frame has in it that says why the model stopped, where a stream may end without another word.
    fn stop_mark(&self) -> Option<&'static str> {
        None
    }

    /// Why the model stopped, if this frame says so.
    fn stop_in_stream(&self, _frame: &Value) -> Option<String> {
        None
    }

    /// What a frame of a stream has in it that may be a piece of a refusal.
    fn refusal_mark(&self) -> Option<&'static str> {
        None
    }

    /// The piece of a refusal in a frame of a stream.
    fn refusal_in_stream(&self, frame: &Value) -> Option<Refusal> {
        self.refusal(frame)
    }

    /// Whether genai takes this frame of a stream for an error though it is none.
    fn is_no_error(&self, _body: &Value) -> bool {
        false
    }

    /// Whether every stream that is whole ends with a reason, so that one without has broken off.
    fn gives_a_reason(&self) -> bool {
        false
    }
}

/// A refusal, and what it used where there is no answer beside it.
pub(crate) struct Refusal {
    pub(crate) words: String,
    pub(crate) usage: Usage,
}

/// The wire format of this kind.
pub(crate) fn of(kind: ProviderKind) -> &'static dyn Wire {
    match kind {
        ProviderKind::OpenAi => &OpenAi,
        ProviderKind::Anthropic => &Anthropic,
        ProviderKind::Gemini => &Gemini,
    }
}

/// A message with nothing else to it.
pub(super) fn plain(message: &Message) -> ChatMessage {
    let text = message.text.as_str();
    match message.role {
        Role::System => ChatMessage::system(text),
        Role::User => ChatMessage::user(text),
        Role::Assistant => ChatMessage::assistant(text),
    }
}

/// genai counts the tokens of the cache in those read, as Agon does, whatever the wire format.
pub(super) fn usage(usage: &genai::chat::Usage) -> Usage {
    let tokens = |count: Option<i32>| count.and_then(|count| u64::try_from(count).ok()).unwrap_or_default();
    let read = usage.prompt_tokens_details.as_ref();
    let written = usage.completion_tokens_details.as_ref();
    // An answer that was cut off while the model still thought has no other tokens.
    let output = usage.completion_tokens.or(written.and_then(|details| details.reasoning_tokens));
    Usage {
        input_tokens: tokens(usage.prompt_tokens),
        cached_input_tokens: tokens(read.and_then(|details| details.cached_tokens)),
        cache_write_tokens: tokens(read.and_then(|details| details.cache_creation_tokens)),
        output_tokens: tokens(output),
        ..Usage::default()
    }
}

/// The names under `key` of each entry of a list.
pub(super) fn names(list: Option<&Value>, key: &str) -> Option<Vec<String>> {
    let entries = list?.as_array()?.iter();
    Some(entries.filter_map(|entry| Some(entry.get(key)?.as_str()?.to_owned())).collect())
}
