//! What later debates may know of one that is over.
//!
//! A lesson is part of the outcome, so that it is in the log: what a store keeps of it, knowledge, memories and ratings, are
//! views that can be made again from the logs alone.

use serde::{Deserialize, Serialize};

/// The part under which a request has the standings of those who could sit: a JSON list of [`AgentStanding`].
pub const STANDINGS: &str = "standings";

/// The rating of whoever has not been rated.
pub const RATING_INITIAL: f64 = 1500.0;

/// The Brier score of whoever always says one half: what is assumed of one whose forecasts have not been resolved.
pub const BRIER_UNKNOWN: f64 = 0.25;

/// How somebody who could sit stands when the debate is opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentStanding {
    /// The agent: a model as it is named, or a named agent of the configuration.
    pub agent: String,
    /// Its Elo rating.
    pub rating: f64,
    /// How uncertain its rating is, in points.
    pub deviation: f64,
    /// How many rated debates it was in.
    pub games: u32,
    /// Its Brier score over resolved outcomes; `None` where none is resolved.
    pub brier: Option<f64>,
}

/// What later debates may know of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DebateLesson {
    /// What was decided; `None` where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<LessonDecision>,
    /// What each seat had to do with it, in seat order.
    pub parts: Vec<LessonSeat>,
}

/// What was decided, and on what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LessonDecision {
    /// In a sentence.
    pub position: String,
    /// In full.
    pub answer: String,
    /// The claims that it rests on.
    pub claims: Vec<EvidencedClaim>,
    /// The share of the votes that it had, or of the points, from 0 to 1.
    pub share: f64,
    /// The other side, a sentence each.
    pub dissent: Vec<String>,
    /// The labels whose proposals say it: a truth about one of them is one about the decision.
    pub labels: Vec<String>,
}

/// A claim with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidencedClaim {
    /// What is claimed.
    pub claim: String,
    /// By what; may be empty.
    pub evidence: String,
}

/// What one seat had to do with the outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LessonSeat {
    /// The seat.
    pub seat: String,
    /// Its label.
    pub label: String,
    /// Who spoke for it; `None` when more than one did, so that nobody can be rated for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its last position; `None` for a seat that had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// How sure it was of that before anybody voted, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Whether its proposal is the decision, or says the same.
    pub won: bool,
    /// The judge's score of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// By how much its agent's rating changes; `None` where nothing was rated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated: Option<RatingChange>,
    /// Its last ballot; `None` for no ballot and for an abstention.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ballot: Option<LessonBallot>,
}

/// What a debate means for a rating.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RatingChange {
    /// The Elo rating with which it came.
    pub before: f64,
    /// The change of the Elo rating. The changes of a debate sum to 0.
    pub change: f64,
    /// How it did against each other rated seat: that seat, and 1 for a win, 0.5 for a tie, 0 for a loss.
    pub against: Vec<(String, f64)>,
}

/// A vote, which is also a forecast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LessonBallot {
    /// The labels that say the same as the one that was chosen, it included.
    pub choice: Vec<String>,
    /// How sure the voter was, from 0 to 1.
    pub confidence: f64,
}
