//! A Discord message: `content`, and nobody who is mentioned.

use serde_json::{Value, json};

use super::{Letter, fitted};

/// Discord's own limit.
const CONTENT_UNITS_MAX: usize = 2_000;
const QUESTION_UNITS_MAX: usize = 400;
const FOOT_UNITS_MAX: usize = 300;

/// The message.
pub(crate) fn message(letter: &Letter) -> Value {
    let question = escaped(&letter.question, QUESTION_UNITS_MAX);
    let question = if question.is_empty() { question } else { format!("**{question}**") };
    let foot = escaped(&letter.foot, FOOT_UNITS_MAX);
    let units = |text: &str| text.encode_utf16().count();
    let room = CONTENT_UNITS_MAX.saturating_sub(units(&question) + units(&foot) + 2);
    let body = escaped(&letter.body, room);
    let parts: Vec<String> = [question, body, foot].into_iter().filter(|part| !part.is_empty()).collect();
    // Discord refuses a message without words.
    let content = if parts.is_empty() { "A debate is over.".to_owned() } else { parts.join("\n") };
    // Whatever the words are, they ring nobody's bell.
    json!({"content": content, "allowed_mentions": {"parse": []}})
}

/// Discord reads Markdown, and `<...>` for people, channels and times. An `@` is kept from what follows it by a space without
/// width, so that it does not even look like a call.
fn escaped(text: &str, units_max: usize) -> String {
    fitted(text, units_max, |c| match c {
        '\\' | '*' | '_' | '~' | '`' | '|' | '<' | '>' | '[' | ']' | '(' | ')' | '#' | '-' | '+' => {
            format!("\\{c}")
        }
        '@' => "@\u{200b}".into(),
        c => c.into(),
    })
}
