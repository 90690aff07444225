//! A Slack message: `text` for notifications, `blocks` for the channel.

use serde_json::{Value, json};

use super::{Letter, fitted};

/// A section takes 3,000 characters.
const BODY_UNITS_MAX: usize = 2_900;
const QUESTION_UNITS_MAX: usize = 600;
const FOOT_UNITS_MAX: usize = 300;

/// The message.
pub(crate) fn message(letter: &Letter) -> Value {
    let question = escaped(&letter.question, QUESTION_UNITS_MAX);
    let body = escaped(&letter.body, BODY_UNITS_MAX);
    let foot = escaped(&letter.foot, FOOT_UNITS_MAX);
    // Else Slack looks for names in plain words, too.
    let words = |text: String| json!({"type": "mrkdwn", "text": text, "verbatim": true});
    let section = |text: String| json!({"type": "section", "text": words(text)});
    // Slack refuses a block without words.
    let mut blocks = Vec::new();
    if !question.is_empty() {
        blocks.push(section(format!("*{question}*")));
    }
    if !body.is_empty() {
        blocks.push(section(body));
    }
    if !foot.is_empty() {
        blocks.push(json!({"type": "context", "elements": [words(foot.clone())]}));
    }
    let text = match (question.is_empty(), foot.is_empty()) {
        (false, false) => format!("{question}\n{foot}"),
        (false, true) => question,
        (true, false) => foot,
        (true, true) => "A debate is over.".to_owned(),
    };
    json!({"text": text, "blocks": blocks})
}

/// Slack gives a meaning to `<...>`: links, people, channels, everybody. An `@` is kept from what follows it by a space without
/// width, so that it does not even look like a call.
fn escaped(text: &str, units_max: usize) -> String {
    fitted(text, units_max, |c| match c {
        '&' => "&amp;".into(),
        '<' => "&lt;".into(),
        '>' => "&gt;".into(),
        '@' => "@\u{200b}".into(),
        c => c.into(),
    })
}
