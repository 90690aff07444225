//! What later debates may know about a finished one.
//!
//! A lesson is part of the outcome and so of the log. The knowledge, memories and ratings in a store are views that can be
//! rebuilt from the logs alone.

use serde::{Deserialize, Serialize};

/// The part of a request that holds the standings of the agents: a JSON list of [`AgentStanding`].
pub const STANDINGS: &str = "standings";

/// The rating of an agent that has not been rated.
pub const RATING_INITIAL: f64 = 1500.0;

/// The Brier score of always saying one half, which is assumed for an agent without resolved forecasts.
pub const BRIER_UNKNOWN: f64 = 0.25;

/// An agent's rating and calibration when a debate is opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentStanding {
    /// A model, or a named agent of the configuration.
    pub agent: String,
    /// Its Elo rating.
    pub rating: f64,
    /// How uncertain its rating is, in points.
    pub deviation: f64,
    /// How many rated debates it was in.
    pub games: u32,
    /// Its Brier score over resolved outcomes; `None` without any.
    pub brier: Option<f64>,
}

/// What later debates may know about one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DebateLesson {
    /// The decision; `None` if nothing was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<LessonDecision>,
    /// Each seat's part in the outcome, in seat order.
    pub parts: Vec<LessonSeat>,
}

/// What was decided, and the claims that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LessonDecision {
    /// The decision in one sentence.
    pub position: String,
    /// The decision in full.
    pub answer: String,
    /// The claims that it rests on.
    pub claims: Vec<EvidencedClaim>,
    /// Its share of the votes or points, from 0 to 1.
    pub share: f64,
    /// The positions that it rejects, one sentence each.
    pub dissent: Vec<String>,
    /// The labels of the proposals that say the same.
    pub labels: Vec<String>,
}

/// A claim with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidencedClaim {
    /// What is claimed.
    pub claim: String,
    /// What supports the claim; may be empty.
    pub evidence: String,
}

/// One seat's part in the outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LessonSeat {
    /// The seat.
    pub seat: String,
    /// Its label.
    pub label: String,
    /// Who spoke for it; `None` when more than one model did, because then nobody can be rated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its last position, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// Its confidence in that position before the vote, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Whether its proposal was adopted.
    pub won: bool,
    /// The judge's score of its proposal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The change of its agent's rating; `None` if nothing was rated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated: Option<RatingChange>,
    /// Its last ballot; `None` if it cast none or abstained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ballot: Option<LessonBallot>,
}

/// What a debate does to a rating.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RatingChange {
    /// The Elo rating before the debate.
    pub before: f64,
    /// The change of the Elo rating. The changes of a debate sum to 0.
    pub change: f64,
    /// How it did against each other rated seat: that seat, and 1 for a win, 0.5 for a tie, 0 for a loss.
    pub against: Vec<(String, f64)>,
}

/// A vote, which is also a forecast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LessonBallot {
    /// The chosen label and all labels that say the same.
    pub choice: Vec<String>,
    /// The voter's confidence, from 0 to 1.
    pub confidence: f64,
}
