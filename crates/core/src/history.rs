//! How the agents of a debate did in earlier debates whose outcome is known.
//!
//! The history is written into the brief when a debate is opened, as the file of the part [`HISTORY`]. What the report says
//! about independence and calibration therefore follows from the log alone.

use serde::{Deserialize, Serialize};

use crate::{Brief, Corrupt};

/// The part of a brief that holds the history: a JSON list of [`ResolvedDebate`].
pub const HISTORY: &str = "history";

/// An earlier debate whose outcome a person has told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolvedDebate {
    /// The debate's id.
    pub id: String,
    /// The seats whose first positions are known to be right or wrong.
    pub seats: Vec<SeatResult>,
    /// Whether other seats are unknown. The known ones were then all wrong together, which says nothing about how often that
    /// happens.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

/// Whether one seat's first position, which no other seat had influenced, was right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeatResult {
    /// The model that spoke.
    pub agent: String,
    /// Whether it was right.
    pub right: bool,
    /// The seat's confidence, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The position's name. Equal names mean the same position.
    pub position: String,
}

/// The history in a brief; empty where there is none. [`check_values`](crate::protocol::check_values) refuses a brief whose
/// history cannot be read, so nobody reads one here.
pub fn history(brief: &Brief) -> Vec<ResolvedDebate> {
    read_history(brief).unwrap_or_default()
}

/// The history in a brief, or why it cannot be read.
pub(crate) fn read_history(brief: &Brief) -> Result<Vec<ResolvedDebate>, Corrupt> {
    let file = brief.part(HISTORY);
    file.map_or(Ok(Vec::new()), |file| Ok(serde_json::from_str(&file.text)?))
}
