//! How those who sit did in earlier debates whose outcome is known.
//!
//! It is written into the brief when a debate is opened, as the file of the part [`HISTORY`], so that what is said of the
//! seats' independence and calibration follows from the log alone.

use serde::{Deserialize, Serialize};

use crate::Brief;

/// The part under which a brief has the history of those who sit: a JSON list of [`ResolvedDebate`].
pub const HISTORY: &str = "history";

/// An earlier debate that is resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolvedDebate {
    /// Its id.
    pub id: String,
    /// What became of the first position of each of its seats of which that is known.
    pub seats: Vec<SeatResult>,
    /// Whether of some seats it is not known. Those of whom it is were then all wrong together, which says nothing of how often
    /// they are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

/// How one seat's first position turned out, which nobody else had influenced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeatResult {
    /// Who spoke: a model as it is named.
    pub agent: String,
    /// Whether it was right.
    pub right: bool,
    /// How sure it was, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The position by the name that it had; equal ones were the same.
    pub position: String,
}

/// The history in a brief; empty where there is none. What cannot be read is no history.
pub fn history(brief: &Brief) -> Vec<ResolvedDebate> {
    let file = brief.part(HISTORY);
    file.and_then(|file| serde_json::from_str(&file.text).ok()).unwrap_or_default()
}
