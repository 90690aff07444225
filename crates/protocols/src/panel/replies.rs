//! What the judges answer: the seed's three statements with their fields, their checks and their schemas.
//!
//! The log knows who speaks, in which round, from which stance and when, so no judge is asked for that: the records add it.
//! The doc lines of the fields are the questions that the schema asks.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use agon_core::ReplySchema;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::PanelPhase;
use super::consensus::TOLERANCE;
use super::log::PanelLog;
use super::rubric::Rubric;
use crate::prompt::schema_of;

/// "Judge Position Statement", round 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PositionStatement {
    /// How good is it overall, from 1 to 5?
    #[schemars(range(min = 1.0, max = 5.0))]
    pub overall_score: f64,
    /// How good is it in each dimension, from 1 to 5?
    #[serde(deserialize_with = "numbers")]
    pub dimension_scores: BTreeMap<String, f64>,
    /// What are its strengths and your concerns, each with evidence, and what is your verdict from your stance? Markdown with the
    /// headings of the template.
    #[schemars(length(max = 16000))]
    pub position_statement: String,
    /// What do you claim about it, and on what evidence?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub key_claims: Vec<KeyClaim>,
    /// What must not go through as it is? Empty if nothing.
    #[serde(default)]
    #[schemars(length(max = 6))]
    pub critical_findings: Vec<RaisedFinding>,
}

/// A claim about what is judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeyClaim {
    /// What do you claim?
    #[schemars(length(max = 4000))]
    pub claim: String,
    /// Where in the files does that show?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub evidence: String,
    /// How sure are you of that?
    pub confidence: ConfidenceLevel,
}

/// How sure somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "the names are the seed's own")]
pub enum ConfidenceLevel {
    High,
    Medium,
    Low,
}

impl ConfidenceLevel {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "HIGH",
            Self::Medium => "MEDIUM",
            Self::Low => "LOW",
        }
    }
}

/// Something severe. Only what is `CRITICAL` blocks consensus; the others are ordinary findings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RaisedFinding {
    /// What is wrong?
    #[schemars(length(max = 4000))]
    pub finding: String,
    /// How severe is that?
    pub severity: FindingSeverity,
    /// Where in the files does that show?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub evidence: String,
    /// Must it be resolved before anybody can agree?
    #[serde(default)]
    pub blocks_consensus: Option<bool>,
}

/// How severe a finding is, and how urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "the names are the seed's own")]
pub enum FindingSeverity {
    Critical,
    High,
    Medium,
    Low,
}

/// "Judge Rebuttal Statement", round 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RebuttalStatement {
    /// What was your score in the round before?
    #[schemars(range(min = 1.0, max = 5.0))]
    pub previous_score: f64,
    /// What is your score now, from 1 to 5?
    #[schemars(range(min = 1.0, max = 5.0))]
    pub new_score: f64,
    /// Is your score another one than before? Null leaves it to the two scores, from which it follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_changed: Option<bool>,
    /// Why did your score change, or why do you hold to it despite the counterarguments?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub change_reason: String,
    /// What do you now agree with?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub agreements: Vec<JudgeAgreement>,
    /// What do you still disagree with?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub disagreements: Vec<JudgeDisagreement>,
    /// Which points do you accept, which do you reject, and what is your assessment now? Markdown with the headings of the template.
    #[schemars(length(max = 16000))]
    pub position_revision: String,
    /// What remains disputed?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub unresolved_disputes: Vec<UnresolvedDispute>,
    /// How good is it in each dimension now, from 1 to 5? Null where nothing changed.
    #[serde(default, deserialize_with = "numbers_if_any")]
    pub dimension_scores: Option<BTreeMap<String, f64>>,
    /// Where do you stand on each critical finding?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub critical_positions: Vec<FindingPosition>,
}

impl RebuttalStatement {
    /// Whether the score is another one than before.
    pub fn is_changed(&self) -> bool {
        (self.previous_score - self.new_score).abs() > TOLERANCE
    }
}

/// A point in which one judge follows another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeAgreement {
    /// With whom do you agree?
    pub with_judge: String,
    /// What do you now agree with?
    #[schemars(length(max = 4000))]
    pub on_point: String,
    /// What else in the files supports that?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub strengthening_evidence: String,
    /// How does that change your view?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub impact_on_my_position: String,
}

/// A point in which one judge contradicts another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeDisagreement {
    /// With whom do you disagree?
    pub with_judge: String,
    /// What do you still disagree with?
    #[schemars(length(max = 4000))]
    pub on_point: String,
    /// What is their argument?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub their_argument: String,
    /// What do you say against it?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub my_counterargument: String,
    /// Where in the files does that show?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub my_evidence: String,
    /// Why is their evidence not enough, or misread?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub their_evidence_weakness: String,
}

/// What a judge leaves open after round 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnresolvedDispute {
    /// What remains disputed?
    #[schemars(length(max = 4000))]
    pub topic: String,
    /// What is your view?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub my_view: String,
    /// What is the other side's view?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub opposing_view: String,
    /// Why could it not be resolved?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub why_unresolved: String,
}

/// Where a judge stands on a critical finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingPosition {
    /// Which finding?
    pub finding_id: String,
    /// Do you adopt it as your own, dispute it, or withdraw it?
    pub position: FindingHold,
    /// Why?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub reason: String,
}

/// Whether a judge holds a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the wire's own")]
pub enum FindingHold {
    Adopt,
    Dispute,
    Withdraw,
}

/// "Judge Final Statement", round 3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FinalStatement {
    /// What is your final score, from 1 to 5?
    #[schemars(range(min = 1.0, max = 5.0))]
    pub final_score: f64,
    /// What is your final assessment: quality, the strengths that survived, the concerns that remain, your recommendation? Markdown
    /// with the heading of the template.
    #[schemars(length(max = 16000))]
    pub final_position: String,
    /// What do you maintain despite the challenges?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub key_points_maintained: Vec<MaintainedPoint>,
    /// What do you now accept that you first rejected?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub concessions_made: Vec<ConcededPoint>,
    /// What could not be resolved?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub unresolved_disagreements: Vec<UnresolvedDisagreement>,
    /// How good is it in each dimension now, from 1 to 5? Null where nothing changed.
    #[serde(default, deserialize_with = "numbers_if_any")]
    pub dimension_scores: Option<BTreeMap<String, f64>>,
    /// Where do you stand on each critical finding?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub critical_positions: Vec<FindingPosition>,
}

/// An argument that a judge holds to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MaintainedPoint {
    /// What do you maintain?
    #[schemars(length(max = 4000))]
    pub point: String,
    /// Why are you sure of it?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub reason: String,
    /// Where in the files does that show?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub evidence: String,
}

/// What a judge accepts in the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConcededPoint {
    /// What do you now accept?
    #[schemars(length(max = 4000))]
    pub point: String,
    /// Which judge and which argument convinced you?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub convinced_by: String,
    /// How did that change your assessment?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub impact: String,
}

/// What a judge leaves open in the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnresolvedDisagreement {
    /// What could not be resolved?
    #[schemars(length(max = 4000))]
    pub issue: String,
    /// What is your view?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub my_final_view: String,
    /// What is the other side's view?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub opposing_view: String,
    /// Which difference prevents consensus?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub why_unresolved: String,
    /// Must the person who asked decide it?
    #[serde(default)]
    pub user_attention_needed: bool,
}

/// Reads the numbers of an object and ignores everything else in it.
fn numbers<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let all = BTreeMap::<String, Value>::deserialize(from)?;
    Ok(all.into_iter().filter_map(|(key, value)| Some((key, value.as_f64()?))).collect())
}

fn numbers_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<BTreeMap<String, f64>>, D::Error> {
    let all = Option::<Value>::deserialize(from)?;
    all.map(|all| numbers(all).map_err(serde::de::Error::custom)).transpose()
}

/// Checks a position statement.
pub(super) fn check_position(value: &Value) -> Result<(), String> {
    let said = PositionStatement::deserialize(value).map_err(|why| why.to_string())?;
    not_empty("position_statement", &said.position_statement)?;
    said.critical_findings
        .iter()
        .try_for_each(|raised| not_empty("critical_findings[].finding", &raised.finding))
}

/// Checks a rebuttal. `before` is the judge's score in the log.
pub(super) fn check_rebuttal(value: &Value, before: Option<f64>) -> Result<(), String> {
    let said = RebuttalStatement::deserialize(value).map_err(|why| why.to_string())?;
    let RebuttalStatement { previous_score, new_score, score_changed, .. } = said;
    let differs = |before: &f64| (before - previous_score).abs() > TOLERANCE;
    if let Some(before) = before.filter(differs) {
        return Err(format!(
            "`previous_score` is {previous_score}, but your score in the round before was {before}"
        ));
    }
    if let Some(claimed) = score_changed.filter(|claimed| *claimed != said.is_changed()) {
        return Err(format!(
            "`score_changed` is {claimed}, but `previous_score` is {previous_score} and `new_score` is {new_score}"
        ));
    }
    if said.is_changed() {
        not_empty("change_reason", &said.change_reason)?;
    }
    not_empty("position_revision", &said.position_revision)?;
    each_finding_once(&said.critical_positions)
}

/// Checks a final statement.
pub(super) fn check_final(value: &Value) -> Result<(), String> {
    let said = FinalStatement::deserialize(value).map_err(|why| why.to_string())?;
    not_empty("final_position", &said.final_position)?;
    each_finding_once(&said.critical_positions)
}

fn not_empty(field: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err(format!("`{field}` must not be empty")) } else { Ok(()) }
}

fn each_finding_once(positions: &[FindingPosition]) -> Result<(), String> {
    for (place, position) in positions.iter().enumerate() {
        let id = &position.finding_id;
        if positions.iter().take(place).any(|other| other.finding_id == *id) {
            return Err(format!("`critical_positions` has {id} twice: take one position on each finding"));
        }
    }
    Ok(())
}

/// The schema of a phase's answer, narrowed to the dimensions, judges and findings of this debate. `own` is the judge's place;
/// without it, the schema is what all judges of the phase have in common, for the part of the prompt that all read.
pub(super) fn schema(log: &PanelLog<'_>, phase: PanelPhase, own: Option<usize>) -> ReplySchema {
    static SCHEMAS: [OnceLock<ReplySchema>; 3] = [const { OnceLock::new() }; 3];
    let [position, rebuttal, last] = &SCHEMAS;
    let name = phase.as_str();
    let made = match phase {
        PanelPhase::Position => position.get_or_init(|| schema_of::<PositionStatement>(name)),
        PanelPhase::Rebuttal => rebuttal.get_or_init(|| schema_of::<RebuttalStatement>(name)),
        PanelPhase::Final => last.get_or_init(|| schema_of::<FinalStatement>(name)),
    };
    let mut schema = ReplySchema { name: made.name.clone(), json: made.json.clone() };
    if let Some(properties) = schema.json.get_mut("properties").and_then(Value::as_object_mut) {
        narrow(properties, log, phase, own);
    }
    schema
}

fn narrow(properties: &mut Map<String, Value>, log: &PanelLog<'_>, phase: PanelPhase, own: Option<usize>) {
    if let Some(scores) = properties.get_mut("dimension_scores") {
        *scores = dimension_schema(&log.rubric, phase, scores.get("description"));
    }
    let ids: Vec<&str> = log.findings.iter().map(|finding| finding.id.as_str()).collect();
    if ids.is_empty() {
        properties.shift_remove("critical_positions");
    } else if let Some(positions) = properties.get_mut("critical_positions") {
        if let Some(id) = positions.pointer_mut("/items/properties/finding_id") {
            set(id, "enum", ids.clone());
        }
        set(positions, "maxItems", ids.len());
    }
    let others = log.judges.iter().enumerate().filter(|(place, _)| Some(*place) != own);
    let others: Vec<&str> = others.map(|(_, judge)| judge.id).collect();
    for list in ["agreements", "disagreements"] {
        let judge =
            properties.get_mut(list).and_then(|list| list.pointer_mut("/items/properties/with_judge"));
        judge.into_iter().for_each(|judge| set(judge, "enum", others.clone()));
    }
    let before = own.and_then(|place| log.score(place, phase.round().saturating_sub(1)));
    if let (Some(before), Some(score)) = (before, properties.get_mut("previous_score")) {
        set(score, "enum", vec![before]);
    }
}

/// One number for each dimension. A position statement has all of them; later statements have those that changed.
fn dimension_schema(rubric: &Rubric, phase: PanelPhase, description: Option<&Value>) -> Value {
    let is_first = phase == PanelPhase::Position;
    let kind = |word: &str| if is_first { Value::from(word) } else { vec![word, "null"].into() };
    let mut properties = Map::new();
    for dimension in &rubric.dimensions {
        let about = match dimension.description.as_str() {
            "" => String::new(),
            about => format!(" That is: {about}"),
        };
        let mut score = Value::Object(Map::new());
        let question = format!("How good is its {}, from 1 to 5?{about}", dimension.key.replace('_', " "));
        set(&mut score, "description", question);
        set(&mut score, "type", kind("number"));
        set(&mut score, "minimum", 1.0);
        set(&mut score, "maximum", 5.0);
        properties.insert(dimension.key.clone(), score);
    }
    let keys: Vec<&str> = rubric.dimensions.iter().map(|dimension| dimension.key.as_str()).collect();
    let mut schema = Value::Object(Map::new());
    set(&mut schema, "description", description.cloned().unwrap_or_default());
    set(&mut schema, "type", kind("object"));
    set(&mut schema, "properties", properties);
    if is_first {
        set(&mut schema, "required", keys);
    }
    schema
}

fn set(schema: &mut Value, key: &str, value: impl Into<Value>) {
    if let Value::Object(map) = schema {
        map.insert(key.to_owned(), value.into());
    }
}
