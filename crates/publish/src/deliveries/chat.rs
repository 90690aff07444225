//! What a chat gets to read.
//!
//! A debate's words are models' words, and those may be anybody's. In a chat they are text and nothing else: they ring no
//! bell, name nobody, and cannot pass for a link.

pub(crate) mod discord;
pub(crate) mod slack;

use serde_json::Value;

/// What is told of a debate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Letter {
    pub(crate) question: String,
    pub(crate) body: String,
    /// Protocol, status and id.
    pub(crate) foot: String,
}

impl Letter {
    pub(crate) fn of(outcome: &Value) -> Self {
        let text =
            |pointer: &str| outcome.pointer(pointer).and_then(Value::as_str).unwrap_or_default().trim();
        let foot: Vec<&str> = ["/protocol", "/status", "/termination", "/id"]
            .map(text)
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        Self {
            question: text("/question").to_owned(),
            body: text("/verdict/answer").to_owned(),
            foot: foot.join(" \u{b7} "),
        }
    }
}

/// A text with each character as `written` has it, of at most so many UTF-16 units, which is what both chats count. What does
/// not fit ends in an ellipsis; no escape is cut in two.
fn fitted(text: &str, units_max: usize, written: impl Fn(char) -> String) -> String {
    let mut out = String::new();
    let mut units = 0;
    let mut chars = text.trim().chars().filter(|c| shown(*c)).peekable();
    while let Some(c) = chars.next() {
        let piece = written(c);
        let more = piece.encode_utf16().count();
        // The last that fits leaves room for the ellipsis, unless nothing comes after it.
        let room = units_max.saturating_sub(units + usize::from(chars.peek().is_some()));
        if more > room {
            if units < units_max {
                out.push('\u{2026}');
            }
            return out;
        }
        units += more;
        out.push_str(&piece);
    }
    out
}

/// Whether a character may be shown: none that controls, hides or reorders.
fn shown(c: char) -> bool {
    let hides =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    (!c.is_control() || c == '\n') && !hides
}

#[cfg(test)]
mod tests;
