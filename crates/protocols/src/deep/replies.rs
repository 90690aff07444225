//! What the seats of `deep` answer, in the seed's fields.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::prompt::entry_question;

/// A debater's argument in one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Argument {
    /// Do you hold to your position?
    pub stance: Stance,
    /// What are the strongest reasons for your answer?
    #[schemars(length(max = 12), inner(length(max = 4000)), transform = entry_question("What is the strongest reason for your answer?"))]
    pub key_points: Vec<String>,
    /// What did others get wrong, and why?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub counterpoints: Vec<Counterpoint>,
    /// How much does your answer change in this round?
    pub revision: Revision,
    /// What is your answer now, if it changes?
    #[serde(default)]
    #[schemars(length(max = 16000))]
    pub revised_position: Option<String>,
    /// How sure are you, from 0 to 1?
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
    /// Whom do you answer?
    pub target: String,
    /// What is wrong with that?
    #[schemars(length(max = 4000))]
    pub point: String,
    /// Why is that wrong?
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
    /// Would you end the debate here? Advice: the thresholds decide.
    pub should_stop: bool,
    /// How far do the debaters agree, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub agreement_score: f64,
    /// What share of this round's points is new, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub new_points_ratio: f64,
    /// What do the debaters agree on? Null if `agreement_score` is not over 0.6.
    #[serde(default)]
    #[schemars(length(max = 16000))]
    pub consensus_answer: Option<String>,
    /// What do the debaters still disagree about?
    #[serde(default)]
    #[schemars(length(max = 24), inner(length(max = 4000)), transform = entry_question("What do the debaters disagree about?"))]
    pub remaining_disagreements: Vec<String>,
    /// What should the debaters talk about next? Null if nothing.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub next_round_focus: Option<String>,
}

/// One participant's scores for another's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    /// How good is the answer, from 1 to 10 on each criterion?
    pub scores: EvaluationScores,
    /// Does the answer state something false?
    pub factual_error: bool,
    /// Does it make up a source, a quotation or a figure?
    pub fabrication: bool,
    /// What decided the scores?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub comment: String,
}

/// The criteria of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the names are the criteria")]
pub struct EvaluationScores {
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

impl EvaluationScores {
    /// The scores in the order of the criteria.
    pub fn values(&self) -> [f64; 6] {
        [self.accuracy, self.completeness, self.verifiability, self.reasoning, self.clarity, self.usefulness]
    }
}

/// The chair's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Synthesis {
    /// What is the final answer to the question? Complete in itself.
    #[schemars(length(max = 32000))]
    pub answer: String,
    /// What is the main reason for that answer?
    #[schemars(length(max = 16000))]
    pub why: String,
    /// Which points stayed in dispute?
    #[serde(default)]
    #[schemars(length(max = 24), inner(length(max = 4000)), transform = entry_question("What do the debaters disagree about?"))]
    pub contested: Vec<String>,
}
