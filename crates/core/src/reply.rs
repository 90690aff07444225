//! What came back from a seat, and what it cost.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why a reply is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AbsenceReason {
    /// The call's timeout or the debate's deadline passed.
    TimedOut,
    /// The model would not answer.
    Refused,
    /// The answer broke its schema or rules, also after the repairs.
    Malformed,
    /// The provider could not be reached or failed, also after the retries.
    Unreachable,
    /// The call did not fit the budget.
    OverBudget,
    /// A person asked for the verdict and did not want to wait for it.
    Cancelled,
}

impl AbsenceReason {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TimedOut => "timed_out",
            Self::Refused => "refused",
            Self::Malformed => "malformed",
            Self::Unreachable => "unreachable",
            Self::OverBudget => "over_budget",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What one call used.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CallUsage {
    /// Input tokens, including those from the provider's cache.
    pub input_tokens: u64,
    /// Input tokens that came from the provider's cache.
    pub cached_input_tokens: u64,
    /// Tokens that were written to the provider's cache, where it says so; part of the tokens read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// US dollars; `None` when the model's price is not known.
    pub usd: Option<f64>,
    /// How long the call took.
    pub latency_ms: u64,
    /// Set if the server did not say how many tokens the prompt had. Limits then count the worst case of the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unreported: bool,
}

fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

/// What a model left out of its prompt because it did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShortenedPrompt {
    /// How many of the oldest transcript entries it did not read.
    pub left_out: u32,
    /// How many entries there were.
    pub entries: u32,
    /// The most tokens that the model can read.
    pub context_tokens: u32,
}

impl ShortenedPrompt {
    /// What it did not read, in words: "the 3 oldest of 9 entries".
    pub fn left_out_of(&self) -> String {
        match (self.left_out, self.entries) {
            (1, 1) => "the only entry".into(),
            (1, entries) => format!("the oldest of {entries} entries"),
            (left_out, entries) => format!("the {left_out} oldest of {entries} entries"),
        }
    }
}

/// The answer to an ask, or its absence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// The seat answered.
    Said {
        /// The text as it came.
        text: String,
        /// The structured answer in them, validated; `None` for plain text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
        /// The model that answered.
        model: String,
        /// What this attempt used.
        usage: CallUsage,
        /// Whether the limit on output tokens cut the text off.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut_off: bool,
        /// What the model could not read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shortened: Option<ShortenedPrompt>,
    },
    /// The seat is absent.
    Absent {
        /// The reason.
        why: AbsenceReason,
        /// What was seen, for the person who reads the report. Never a secret.
        detail: String,
    },
}

impl Reply {
    /// The text, if there is any.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Said { text, .. } => Some(text),
            Self::Absent { .. } => None,
        }
    }

    /// The text without the thinking that some models write before it.
    pub fn words(&self) -> Option<Cow<'_, str>> {
        self.text().map(without_thinking)
    }

    /// The structured answer, if there is one.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Said { value, .. } => value.as_ref(),
            Self::Absent { .. } => None,
        }
    }
}

/// The text without a reasoning model's thinking. Some chat templates open the thinking themselves, so that only its end
/// is in the answer.
pub fn without_thinking(text: &str) -> Cow<'_, str> {
    const OPEN: &str = "<think>";
    const CLOSE: &str = "</think>";
    if !text.contains(OPEN) && !text.contains(CLOSE) {
        return Cow::Borrowed(text);
    }
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(close) = rest.find(CLOSE) {
        let (thought, after) = rest.split_at(close);
        said.push_str(thought.split_once(OPEN).map_or("", |(before, _)| before));
        rest = after.get(CLOSE.len()..).unwrap_or_default();
    }
    said.push_str(rest.split_once(OPEN).map_or(rest, |(before, _)| before));
    Cow::Owned(said)
}

#[cfg(test)]
mod tests {
    use super::without_thinking;

    #[test]
    fn thinking_is_left_out_of_what_others_read() {
        for (said, words) in [
            ("Tabs.", "Tabs."),
            ("<think>hm</think>Tabs.", "Tabs."),
            ("opened by the template</think>Tabs.", "Tabs."),
            ("Tabs. <think>hm</think>Always.", "Tabs. Always."),
            ("Tabs. <think>never closed", "Tabs. "),
        ] {
            assert_eq!(without_thinking(said), words);
        }
    }
}
