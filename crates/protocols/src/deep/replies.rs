//! What the seats of `deep` answer: the seed's fields, and what a seat declares so that code can verify it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::prompt::entry_question;
use crate::sorting::DeclaredGroup;

/// A debater's argument in one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Argument {
    /// Which points of the others weigh most, and what do they mean for your answer? At most 150 words.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub analysis: String,
    /// How do you answer the counterpoints against you?
    #[serde(default)]
    #[schemars(length(max = 24), transform = entry_question("How do you answer a counterpoint against you?"))]
    pub answers: Vec<PointAnswer>,
    /// What are the one to four strongest reasons for your answer, the strongest first?
    #[schemars(length(max = 12), inner(length(max = 4000)), transform = entry_question("What is the strongest reason for your answer?"))]
    pub key_points: Vec<String>,
    /// What did others get wrong, and why?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub counterpoints: Vec<Counterpoint>,
    /// Which texts of the others made you change your answer?
    #[serde(default)]
    #[schemars(length(max = 12), transform = entry_question("Which text of another debater made you change your answer?"))]
    pub changed_because: Vec<CitedPoint>,
    /// Do you hold to your position, give it up, or give up a part of it?
    pub stance: Stance,
    /// How much does your answer change in this round?
    pub revision: Revision,
    /// What is your answer now, if it changes? Complete in itself.
    #[serde(default)]
    #[schemars(length(max = 16000))]
    pub revised_position: Option<String>,
    /// Which debaters' current positions could you sign as your own now?
    #[serde(default)]
    #[schemars(length(max = 6), transform = entry_question("Which debater's current position could you sign as your own now?"))]
    pub agrees_with: Vec<String>,
    /// How sure are you that your answer is right, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
}

impl Argument {
    /// The new position, where the debater has one.
    pub fn new_position(&self) -> Option<&str> {
        let position = self.revised_position.as_deref().map(str::trim).filter(|text| !text.is_empty());
        position.filter(|_| self.revision != Revision::NoChange)
    }

    /// Whether the debater declares that it gives up its position for another one.
    pub fn gives_up(&self) -> bool {
        let is_declared = self.stance == Stance::Concede || self.revision == Revision::MajorRevision;
        is_declared && self.new_position().is_some()
    }
}

/// A point against another debater.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counterpoint {
    /// Which debater is wrong about something?
    pub target: String,
    /// What is wrong?
    #[schemars(length(max = 4000))]
    pub point: String,
    /// Which fact, example or step of reasoning shows that?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub evidence: String,
}

/// A debater's answer to a counterpoint against it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointAnswer {
    /// Which counterpoint do you answer? Its id.
    pub id: String,
    /// What do you say to it?
    #[schemars(length(max = 4000))]
    pub response: String,
}

/// A point that made a debater change its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CitedPoint {
    /// Which text made you change? Its id.
    pub id: String,
    /// Which words of it made you change? Copy them exactly.
    #[schemars(length(max = 1000))]
    pub quote: String,
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

/// A position, and the debaters who hold it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeclaredPosition {
    /// What is the position, in one sentence?
    #[schemars(length(max = 1000))]
    pub statement: String,
    /// Which debaters hold it?
    #[schemars(length(max = 7), transform = entry_question("Which debater holds this position?"))]
    pub members: Vec<PositionMember>,
}

/// A debater who holds a position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PositionMember {
    /// Which debater holds this position?
    pub debater: String,
    /// Which words of that debater show the position? Copy them exactly.
    #[schemars(length(max = 1000))]
    pub quote: String,
}

/// The declared groups, as they are verified. `None` if nothing was declared.
pub fn declared_groups(positions: &[DeclaredPosition]) -> Option<Vec<DeclaredGroup>> {
    let member = |member: &PositionMember| (member.debater.clone(), member.quote.clone());
    let group = |position: &DeclaredPosition| DeclaredGroup {
        statement: position.statement.clone(),
        members: position.members.iter().map(member).collect(),
    };
    (!positions.is_empty()).then(|| positions.iter().map(group).collect())
}

/// The moderator's assessment of a round.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Assessment {
    /// Who would have the reader do or believe the same, and where do they differ? At most 150 words.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub analysis: String,
    /// Which positions do the first answers state, and who holds each?
    #[serde(default)]
    #[schemars(length(max = 7), transform = entry_question("Which position do some of the first answers state?"))]
    pub first_positions: Vec<DeclaredPosition>,
    /// Which positions are held now, and who holds each?
    #[serde(default)]
    #[schemars(length(max = 7), transform = entry_question("Which position do some of the debaters hold now?"))]
    pub positions: Vec<DeclaredPosition>,
    /// What do the debaters still disagree about?
    #[serde(default)]
    #[schemars(length(max = 24), inner(length(max = 4000)), transform = entry_question("What do the debaters disagree about?"))]
    pub remaining_disagreements: Vec<String>,
    /// How far do the debaters agree, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub agreement_score: f64,
    /// What share of this round's key points is new, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub new_points_ratio: f64,
    /// What do the debaters agree on? Null if `agreement_score` is not over 0.6.
    #[serde(default)]
    #[schemars(length(max = 16000))]
    pub consensus_answer: Option<String>,
    /// Would another round bring nothing new? Advice: the scores decide.
    pub should_stop: bool,
    /// What should the debaters address in the next round? Null if nothing.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub next_round_focus: Option<String>,
}

/// One participant's scores for another's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    /// What is strong in the answer, what is weak, and which claims can be checked? At most 150 words.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub analysis: String,
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
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Synthesis {
    /// Which reasons are the strongest, and which position do they support? At most 150 words.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub analysis: String,
    /// Which positions do the answers state, and who holds each?
    #[serde(default)]
    #[schemars(length(max = 7), transform = entry_question("Which position do some of the answers state?"))]
    pub positions: Vec<DeclaredPosition>,
    /// What is the final answer to the question? Complete in itself.
    #[schemars(length(max = 32000))]
    pub answer: String,
    /// Which reasons carry the answer, and why does the strongest objection not change it?
    #[schemars(length(max = 16000))]
    pub why: String,
    /// Which points stayed in dispute?
    #[serde(default)]
    #[schemars(length(max = 24), inner(length(max = 4000)), transform = entry_question("What do the debaters disagree about?"))]
    pub contested: Vec<String>,
    /// What became of each position?
    #[serde(default)]
    #[schemars(length(max = 12), transform = entry_question("What became of a position?"))]
    pub fates: Vec<PositionRuling>,
}

/// What the answer does with a position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PositionRuling {
    /// Which position is it? Its id.
    pub position: String,
    /// Why does the answer adopt or reject it? If it adopts only a part, what was left out?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub reason: String,
    /// Does the answer adopt it, adopt a part of it, or reject it?
    pub fate: RulingFate,
}

/// Whether the answer adopts a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RulingFate {
    Adopted,
    Partly,
    Rejected,
}

/// What a debater says to the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratification {
    /// What in the answer follows your position, and what does not? At most 150 words.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub analysis: String,
    /// Do you accept the answer, accept it with reservations, or dissent?
    pub assent: AnswerAssent,
    /// What do you say to the answer, in a sentence or two?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub statement: String,
}

/// Whether a debater accepts the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerAssent {
    Accept,
    AcceptWithReservations,
    Dissent,
}

/// The wire name of a stance, a revision, a fate or an assent.
pub fn wire_name(word: impl Serialize) -> String {
    let value = serde_json::to_value(word).ok();
    value.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}
