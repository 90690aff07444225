//! What came back from a seat, and what it cost.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why a voice is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
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
    /// The debate was cancelled.
    Cancelled,
}

impl Absence {
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
pub struct Usage {
    /// Tokens read, those from the provider's cache included.
    pub input_tokens: u64,
    /// Of those, tokens read from the provider's cache.
    pub cached_input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// US dollars; `None` when the model's price is not known.
    pub usd: Option<f64>,
    /// How long the call took.
    pub latency_ms: u64,
}

/// The answer to an ask, or its absence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// The seat answered.
    Said {
        /// Its words, as they came.
        text: String,
        /// The structured answer in them, validated; `None` for plain text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
        /// The model that really spoke.
        model: String,
        /// What this attempt used.
        usage: Usage,
    },
    /// The seat is absent.
    Absent {
        /// Why.
        why: Absence,
        /// What was seen, for the person who reads the report. Never a secret.
        detail: String,
    },
}

impl Reply {
    /// The words, if there are any.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Said { text, .. } => Some(text),
            Self::Absent { .. } => None,
        }
    }

    /// The structured answer, if there is one.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Said { value, .. } => value.as_ref(),
            Self::Absent { .. } => None,
        }
    }
}
