//! Anthropic's messages.

use agon_core::quotations;
use agon_engine::{CallMessage, MessageRole};
use genai::chat::{CacheControl, ChatMessage, ContentPart, MessageContent, ReasoningEffort};
use serde_json::{Value, json};

use super::dialect::{WireDialect, change_schemas, move_to_description, names_in, plain_message};

pub(super) struct AnthropicDialect;

/// The version of the API that genai speaks.
const API_VERSION: &str = "2023-06-01";
/// How many cache marks a request may have.
const CACHE_MARKS_MAX: usize = 4;
/// Keywords that make Anthropic reject a schema.
#[rustfmt::skip]
const UNSUPPORTED_KEYWORDS: &[&str] = &[
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
    "maxItems", "uniqueItems", "minProperties", "maxProperties",
];

impl WireDialect for AnthropicDialect {
    fn chat_path(&self, _model: &str, _is_streamed: bool) -> String {
        "messages".into()
    }

    fn headers(&self, key: Option<&str>) -> Vec<(String, String)> {
        let key = key.map(|key| ("x-api-key".to_owned(), key.to_owned()));
        key.into_iter().chain([("anthropic-version".into(), API_VERSION.into())]).collect()
    }

    fn list_path(&self) -> &'static str {
        "models?limit=1000"
    }

    fn listed_models(&self, body: &Value) -> Option<Vec<String>> {
        names_in(body.get("data"), "id")
    }

    /// Puts a cache mark at the end of the part that other seats share: after the rules, and after the shared part of the
    /// prompt.
    fn messages(&self, messages: &[CallMessage]) -> Vec<ChatMessage> {
        let is_marked = |message: &&CallMessage| shared_and_own(message).is_some();
        // If there are too many marks, drop the earliest: a later mark also caches everything before it.
        let mut marks_to_drop = messages.iter().filter(is_marked).count().saturating_sub(CACHE_MARKS_MAX);
        let mut out = Vec::with_capacity(messages.len());
        for message in messages {
            match shared_and_own(message) {
                Some((shared, own)) if marks_to_drop == 0 => {
                    out.extend(marked_message(message.role, shared, own));
                }
                Some(_) => {
                    marks_to_drop -= 1;
                    out.push(plain_message(message));
                }
                None => out.push(plain_message(message)),
            }
        }
        out
    }

    fn caches_by_itself(&self) -> bool {
        false
    }

    /// The server is told about every effort except zero, so set it only if genai would read one from the name.
    fn effort(&self, model: &str) -> Option<ReasoningEffort> {
        ReasoningEffort::from_model_name(model).0.map(|_| ReasoningEffort::Zero)
    }

    fn schema(&self, schema: &Value) -> Value {
        change_schemas(schema, &|map| {
            // Only 0 and 1 are accepted as `minItems`.
            let is_long = map.get("minItems").and_then(Value::as_u64).is_some_and(|least| least > 1);
            move_to_description(map, |key| {
                UNSUPPORTED_KEYWORDS.contains(&key) || (is_long && key == "minItems")
            });
            map.remove("$schema");
            if let Some(choices) = map.remove("oneOf") {
                map.insert("anyOf".into(), choices);
            }
        })
    }

    fn is_answer(&self, body: &Value) -> bool {
        body.get("content").is_some_and(Value::is_array)
    }
}

/// Splits a message into the part that other seats also read and the rest. The server rejects a block of only white space,
/// so such a part stays with the other one.
fn shared_and_own(message: &CallMessage) -> Option<(&str, &str)> {
    // A seat's own earlier answers are not shared.
    let is_shared = message.shared > 0 && message.role != MessageRole::Assistant;
    let (shared, own) = message.text.split_at_checked(message.shared).filter(|_| is_shared)?;
    match (shared.trim().is_empty(), own.trim().is_empty()) {
        (true, _) => None,
        (false, true) => Some((&message.text, "")),
        (false, false) => Some((shared, own)),
    }
}

/// A message with a cache mark after its shared part. genai can only mark a whole message, so the blocks of a user's message
/// are built here.
fn marked_message(role: MessageRole, shared: &str, own: &str) -> Vec<ChatMessage> {
    let own = Some(own).filter(|own| !own.is_empty());
    if role == MessageRole::System {
        let shared = ChatMessage::system(shared).with_options(CacheControl::Ephemeral);
        return [Some(shared), own.map(ChatMessage::system)].into_iter().flatten().collect();
    }
    let (mut blocks, rest) = transcript_blocks(shared);
    let own = format!("{rest}{}", own.unwrap_or_default());
    let last = blocks.pop().unwrap_or_default();
    let (last, own) =
        if own.trim().is_empty() { (format!("{last}{own}"), None) } else { (last.into(), Some(own)) };
    let marked = json!({"type": "text", "text": last, "cache_control": {"type": "ephemeral"}});
    let mut parts: Vec<ContentPart> = blocks.into_iter().map(ContentPart::from_text).collect();
    parts.push(ContentPart::from_custom(marked, None));
    parts.extend(own.map(ContentPart::from_text));
    vec![ChatMessage::user(MessageContent::from_parts(parts))]
}

/// The shared part as blocks that each end with an entry of the transcript, and the text after the last entry. The server
/// looks up its cache at the ends of blocks. The next round's transcript starts with this one, so it finds this cache entry.
fn transcript_blocks(shared: &str) -> (Vec<&str>, &str) {
    let mut blocks = Vec::new();
    let mut start = 0;
    for quotation in quotations(shared) {
        blocks.extend(shared.get(start..quotation.range.end));
        start = quotation.range.end;
    }
    match shared.get(start..) {
        Some(rest) if !blocks.is_empty() => (blocks, rest),
        _ => (vec![shared], ""),
    }
}
