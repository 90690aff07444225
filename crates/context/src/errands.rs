//! The request and the answer of every errand, as JSON.

use agon_core::CallUsage;
use agon_engine::{CallFault, CallFaultKind, FinishReason, ModelCall, ModelCompletion};
use serde::{Deserialize, Serialize};

/// The most items in an answer, whatever was asked for. Memories have this limit per agent.
pub const ITEMS_MAX: usize = 50;
/// An item is context, not the whole document.
const TITLE_CHARS_MAX: usize = 300;
const TEXT_CHARS_MAX: usize = 1_200;
/// The engine reads twice as many bytes for each token that the call allows.
const BYTES_PER_TOKEN: usize = 8;

/// What a debate asks for: the last message of the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errand {
    /// What the debate is about.
    pub query: String,
    /// The most items to return. For memories, the most per agent.
    pub limit: usize,
    /// The agents whose memories are asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
}

/// What an errand returns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrandAnswer {
    /// The best item first.
    pub items: Vec<ContextItem>,
    /// What a reader should know about how the items were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One thing that a debate may cite. Fields that are not known are `null`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ContextItem {
    /// What it is about.
    pub title: String,
    /// What it says.
    pub text: String,
    /// Where it comes from.
    pub source: String,
    /// When it was written, in RFC 3339.
    pub at: Option<String>,
    /// The debate that produced it.
    pub debate: Option<String>,
    /// Whether it turned out right, if the debate was resolved.
    pub turned_out: Option<DecisionResolution>,
    /// The agent that remembers it.
    pub agent: Option<String>,
    /// How well it matches the query, if that was measured.
    pub score: Option<f64>,
    /// Where the debate was held, and what kind of models spoke in it. Reports show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<String>,
}

/// Whether a decision turned out right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecisionResolution {
    /// The decision was right.
    Right,
    /// The decision was wrong.
    Wrong,
}

impl Errand {
    /// Reads the errand from a call.
    pub fn of(call: &ModelCall) -> Result<Self, CallFault> {
        let message = call.messages.last().map_or("", |last| last.text.as_str());
        let mut errand: Self = serde_json::from_str(message).map_err(|_| {
            CallFault::new(
                CallFaultKind::Rejected,
                "the last message must be one JSON object such as {\"query\": \"the topic\", \"limit\": 5}",
            )
        })?;
        errand.limit = errand.limit.min(ITEMS_MAX);
        Ok(errand)
    }
}

impl ErrandAnswer {
    /// The answer as the completion of the model `name`. Duplicates are removed. If the rest does not fit into the
    /// call's token limit, the last items are dropped and the note says how many.
    pub fn completion(mut self, name: &str, call: &ModelCall) -> ModelCompletion {
        let mut items: Vec<ContextItem> = Vec::with_capacity(self.items.len());
        for mut item in self.items {
            shorten(&mut item.title, TITLE_CHARS_MAX);
            shorten(&mut item.text, TEXT_CHARS_MAX);
            let same = |other: &ContextItem| *other == ContextItem { score: other.score, ..item.clone() };
            if !items.iter().any(same) {
                items.push(item);
            }
        }
        self.items = items;
        let tokens = usize::try_from(call.max_output_tokens).unwrap_or(usize::MAX);
        let text = self.json_within(tokens.saturating_mul(BYTES_PER_TOKEN));
        let (model, usage) = (name.to_owned(), CallUsage::default());
        ModelCompletion { text, model, usage, finish: FinishReason::End, shortened: None }
    }

    fn json_within(mut self, bytes_max: usize) -> String {
        let (count, note) = (self.items.len(), self.note.take());
        loop {
            let dropped = count - self.items.len();
            let no_room = (dropped > 0).then(|| format!("{dropped} of {count} items did not fit"));
            let notes: Vec<String> = note.iter().cloned().chain(no_room).collect();
            self.note = (!notes.is_empty()).then(|| notes.join("; "));
            let text = serde_json::json!(self).to_string();
            if text.len() <= bytes_max || self.items.pop().is_none() {
                return text;
            }
        }
    }
}

/// Cuts `text` to `chars_max` characters. The last one is then an ellipsis.
pub(crate) fn shorten(text: &mut String, chars_max: usize) {
    if text.char_indices().nth(chars_max).is_some() {
        let end = text.char_indices().nth(chars_max.saturating_sub(1)).map_or(0, |(end, _)| end);
        text.truncate(end);
        text.push('\u{2026}');
    }
}
