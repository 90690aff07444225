//! The ask and the answer of every errand, as JSON.

use agon_core::Usage;
use agon_engine::{Call, Completion, Fault, FaultKind, Finish};
use serde::{Deserialize, Serialize};

/// The most items that an answer has, of memories from each agent, whatever was asked for.
pub const ITEMS_MAX: usize = 50;
/// An item is context, not the whole document.
const TITLE_CHARS_MAX: usize = 300;
const TEXT_CHARS_MAX: usize = 1_200;
/// Half of what the engine reads for each token that a debate allows.
const BYTES_PER_TOKEN: usize = 8;

/// What is asked for: the ask's last message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errand {
    /// What the debate is about.
    pub query: String,
    /// The most items that are wanted; of memories, from each agent.
    pub limit: usize,
    /// The agents whose memories are wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
}

/// What is answered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The best first.
    pub items: Vec<Item>,
    /// What a reader should know of how they were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One thing that a debate may cite. What is not known of it is `null`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// What it is about.
    pub title: String,
    /// What it says.
    pub text: String,
    /// Where it comes from.
    pub source: String,
    /// When it was said, in RFC 3339.
    pub at: Option<String>,
    /// The debate that it is of.
    pub debate: Option<String>,
    /// How it turned out, where that was resolved.
    pub turned_out: Option<TurnedOut>,
    /// The agent that remembers it.
    pub agent: Option<String>,
    /// How near it is to the query, where that was measured.
    pub score: Option<f64>,
}

/// How a decision turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TurnedOut {
    /// It was right.
    Right,
    /// It was wrong.
    Wrong,
}

impl Errand {
    /// The errand of a call.
    pub fn of(call: &Call) -> Result<Self, Fault> {
        let asked = call.messages.last().map_or("", |last| last.text.as_str());
        let read: Result<Self, _> = serde_json::from_str(asked);
        let mut errand = read.map_err(|_| {
            Fault::new(
                FaultKind::Rejected,
                "this is asked with one JSON object: {\"query\": \"what it is about\", \"limit\": 5}",
            )
        })?;
        errand.limit = errand.limit.min(ITEMS_MAX);
        Ok(errand)
    }
}

impl Item {
    /// Whether another is the same to a reader, however near each is.
    fn says_the_same(&self, other: &Self) -> bool {
        let other = Self { score: self.score, ..other.clone() };
        *self == other
    }
}

impl Answer {
    /// The answer of the model `name` to a call: each item once. What does not fit into it is left out from the end, and the note says so.
    pub fn completion(mut self, name: &str, call: &Call) -> Completion {
        let mut items: Vec<Item> = Vec::with_capacity(self.items.len());
        for mut item in self.items {
            cut(&mut item.title, TITLE_CHARS_MAX);
            cut(&mut item.text, TEXT_CHARS_MAX);
            if !items.iter().any(|other| other.says_the_same(&item)) {
                items.push(item);
            }
        }
        self.items = items;
        let tokens = usize::try_from(call.max_output_tokens).unwrap_or(usize::MAX);
        let text = self.within(tokens.saturating_mul(BYTES_PER_TOKEN));
        let (model, usage) = (name.to_owned(), Usage::default());
        Completion { text, model, usage, finish: Finish::End, shortened: None }
    }

    fn within(mut self, bytes_max: usize) -> String {
        let (found, told) = (self.items.len(), self.note.take());
        loop {
            let left_out = found - self.items.len();
            let room = (left_out > 0).then(|| format!("{left_out} of {found} are left out for want of room"));
            let notes: Vec<String> = told.iter().cloned().chain(room).collect();
            self.note = (!notes.is_empty()).then(|| notes.join("; "));
            let text = serde_json::json!(self).to_string();
            if text.len() <= bytes_max || self.items.pop().is_none() {
                return text;
            }
        }
    }
}

/// Cuts a text to so many characters, the last of which then says that there was more.
pub(crate) fn cut(text: &mut String, chars_max: usize) {
    if text.char_indices().nth(chars_max).is_some() {
        let end = text.char_indices().nth(chars_max.saturating_sub(1)).map_or(0, |(end, _)| end);
        text.truncate(end);
        text.push('\u{2026}');
    }
}
