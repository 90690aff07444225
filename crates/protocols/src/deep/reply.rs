//! What the seats of `deep` answer, in the seed's own fields.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A debater's argument in one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Argument {
    /// Whether you hold to your position.
    pub stance: Stance,
    /// Your strongest arguments.
    #[schemars(length(max = 12), inner(length(max = 4000)))]
    pub key_points: Vec<String>,
    /// What others got wrong, and why.
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub counterpoints: Vec<Counterpoint>,
    /// How much your answer changes in this round.
    pub revision: Revision,
    /// Your updated answer if revision is not `no_change`.
    #[serde(default)]
    #[schemars(length(max = 16000))]
    pub revised_position: Option<String>,
    /// How sure you are, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
}

impl Argument {
    /// The new position, where the debater has one.
    pub fn new_position(&self) -> Option<&str> {
        let position = self.revised_position.as_deref().map(str::trim).filter(|text| !text.is_empty());
        position.filter(|_| self.revision != Revision::NoChange)
    }
}

/// A point against another debater.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counterpoint {
    /// The debater it is aimed at.
    pub target: String,
    /// What they got wrong.
    #[schemars(length(max = 4000))]
    pub point: String,
    /// Why.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub evidence: String,
}

/// Whether a debater holds to its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    Maintain,
    Concede,
    PartialConcede,
}

/// How much a debater's answer changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Revision {
    NoChange,
    MinorUpdate,
    MajorRevision,
}

impl Stance {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Maintain => "maintain",
            Self::Concede => "concede",
            Self::PartialConcede => "partial_concede",
        }
    }
}

impl Revision {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoChange => "no_change",
            Self::MinorUpdate => "minor_update",
            Self::MajorRevision => "major_revision",
        }
    }
}

/// The moderator's assessment of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assessment {
    /// Whether you would stop here. Advice: the thresholds decide.
    pub should_stop: bool,
    /// How far the debaters agree, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub agreement_score: f64,
    /// The share of this round's points that are new, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub new_points_ratio: f64,
    /// The emerging consensus if `agreement_score` is over 0.6, else null.
    #[serde(default)]
    #[schemars(length(max = 16000))]
    pub consensus_answer: Option<String>,
    /// The points that are not resolved.
    #[serde(default)]
    #[schemars(length(max = 24), inner(length(max = 4000)))]
    pub remaining_disagreements: Vec<String>,
    /// What the debaters should address next, else null.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub next_round_focus: Option<String>,
}

/// One participant's scores for another's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    /// From 1 to 10 on each criterion.
    pub scores: Scores,
    /// Whether the answer states something false.
    pub factual_error: bool,
    /// Whether it makes up a source, a quotation or a figure.
    pub fabrication: bool,
    /// What decided the scores.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub comment: String,
}

/// The criteria of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the names are the criteria")]
pub struct Scores {
    #[schemars(range(min = 1.0, max = 10.0))]
    pub accuracy: f64,
    #[schemars(range(min = 1.0, max = 10.0))]
    pub completeness: f64,
    #[schemars(range(min = 1.0, max = 10.0))]
    pub verifiability: f64,
    #[schemars(range(min = 1.0, max = 10.0))]
    pub reasoning: f64,
    #[schemars(range(min = 1.0, max = 10.0))]
    pub clarity: f64,
    #[schemars(range(min = 1.0, max = 10.0))]
    pub usefulness: f64,
}

impl Scores {
    /// Each criterion's name and score.
    pub fn named(&self) -> [(&'static str, f64); 6] {
        [
            ("accuracy", self.accuracy),
            ("completeness", self.completeness),
            ("verifiability", self.verifiability),
            ("reasoning", self.reasoning),
            ("clarity", self.clarity),
            ("usefulness", self.usefulness),
        ]
    }
}

/// The chair's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Synthesis {
    /// The final answer, complete in itself.
    #[schemars(length(max = 32000))]
    pub answer: String,
    /// The reasons that carried it.
    #[schemars(length(max = 16000))]
    pub why: String,
    /// Each point that stayed in dispute.
    #[serde(default)]
    #[schemars(length(max = 24), inner(length(max = 4000)))]
    pub contested: Vec<String>,
}
