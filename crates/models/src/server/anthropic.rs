//! Anthropic's messages.

use agon_core::quotations;
use agon_engine::{Message, Role};
use genai::chat::{CacheControl, ChatMessage, ContentPart, MessageContent, ReasoningEffort};
use serde_json::{Value, json};

use super::schema;
use super::wire::{Wire, names, plain};

pub(super) struct Anthropic;

/// The version of the API that genai writes and reads.
const VERSION: &str = "2023-06-01";
/// A request may mark so many places for the cache.
const MARKS_MAX: usize = 4;

impl Wire for Anthropic {
    fn path(&self, _model: &str, _streamed: bool) -> String {
        "messages".into()
    }

    fn headers(&self, key: Option<&str>) -> Vec<(String, String)> {
        let key = key.map(|key| ("x-api-key".to_owned(), key.to_owned()));
        key.into_iter().chain([("anthropic-version".into(), VERSION.into())]).collect()
    }

    fn list_path(&self) -> &'static str {
        "models?limit=1000"
    }

    fn listed(&self, body: &Value) -> Option<Vec<String>> {
        names(body.get("data"), "id")
    }

    /// Marks the end of what other seats read too, of the rules and of the ask: the cache keeps everything up to there.
    fn messages(&self, messages: &[Message]) -> Vec<ChatMessage> {
        let is_marked = |message: &&Message| divided(message).is_some();
        let spare = messages.iter().filter(is_marked).count().saturating_sub(MARKS_MAX);
        let mut skipped = 0;
        let mut out = Vec::with_capacity(messages.len());
        for message in messages {
            match divided(message) {
                // The earliest ones go: a later mark keeps what is before it as well.
                Some(_) if skipped < spare => {
                    skipped += 1;
                    out.push(plain(message));
                }
                Some((shared, own)) => out.extend(marked(message.role, shared, own)),
                None => out.push(plain(message)),
            }
        }
        out
    }

    fn caches_by_itself(&self) -> bool {
        false
    }

    /// Any effort but none is a word to the server, so one is given only where genai would take the name for one.
    fn effort(&self, model: &str) -> Option<ReasoningEffort> {
        ReasoningEffort::from_model_name(model).0.map(|_| ReasoningEffort::Zero)
    }

    fn schema(&self, schema: &Value) -> Value {
        schema::anthropic(schema)
    }

    fn is_answer(&self, body: &Value) -> bool {
        body.get("content").is_some_and(Value::is_array)
    }
}

/// The part of a message that other seats read too, and the rest. The server refuses a block without words, so that a part of
/// white space goes with the other.
fn divided(message: &Message) -> Option<(&str, &str)> {
    // A seat's own words are nobody else's.
    let is_shared = message.shared > 0 && message.role != Role::Assistant;
    let (shared, own) = message.text.split_at_checked(message.shared).filter(|_| is_shared)?;
    match (shared.trim().is_empty(), own.trim().is_empty()) {
        (true, _) => None,
        (false, true) => Some((&message.text, "")),
        (false, false) => Some((shared, own)),
    }
}

/// A message whose shared part ends in a mark. genai can mark the end of a whole message only, so that the two parts of a
/// user's message are blocks of our own making.
fn marked(role: Role, shared: &str, own: &str) -> Vec<ChatMessage> {
    let own = Some(own).filter(|own| !own.is_empty());
    if role == Role::System {
        let shared = ChatMessage::system(shared).with_options(CacheControl::Ephemeral);
        return [Some(shared), own.map(ChatMessage::system)].into_iter().flatten().collect();
    }
    let (mut blocks, rest) = entries(shared);
    let own = format!("{rest}{}", own.unwrap_or_default());
    let last = blocks.pop().unwrap_or_default();
    // Nothing is left out, and no block is white space alone.
    let (last, own) =
        if own.trim().is_empty() { (format!("{last}{own}"), None) } else { (last.into(), Some(own)) };
    let marked = json!({"type": "text", "text": last, "cache_control": {"type": "ephemeral"}});
    let mut parts: Vec<ContentPart> = blocks.into_iter().map(ContentPart::from_text).collect();
    parts.push(ContentPart::from_custom(marked, None));
    parts.extend(own.map(ContentPart::from_text));
    vec![ChatMessage::user(MessageContent::from_parts(parts))]
}

/// The shared part in blocks that end where an entry of the transcript does, and what comes after the last. The cache is looked up at the
/// ends of blocks: so a later round, whose transcript begins like this one, finds what this one has left there.
fn entries(shared: &str) -> (Vec<&str>, &str) {
    let mut blocks = Vec::new();
    let mut from = 0;
    for quotation in quotations(shared) {
        blocks.extend(shared.get(from..quotation.range.end));
        from = quotation.range.end;
    }
    match shared.get(from..) {
        Some(rest) if !blocks.is_empty() => (blocks, rest),
        _ => (vec![shared], ""),
    }
}
