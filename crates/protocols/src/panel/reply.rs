//! What the judges of `panel` answer: the seed's three statements, in the seed's own fields.
//!
//! Who speaks, in which round, from which stance and when is known, so that the records say it and no judge is asked for it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// "Judge Position Statement", round 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statement {
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
    pub key_claims: Vec<Claim>,
    /// What must not go through as it is? Empty if nothing.
    #[serde(default)]
    #[schemars(length(max = 6))]
    pub critical_findings: Vec<CriticalFinding>,
}

/// A claim about what is judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// What do you claim?
    #[schemars(length(max = 4000))]
    pub claim: String,
    /// Where in the files does that show?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub evidence: String,
    /// How sure are you of that?
    pub confidence: Confidence,
}

/// How sure somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "the names are the seed's own")]
pub enum Confidence {
    High,
    Medium,
    Low,
}

/// Something severe. Only what is `CRITICAL` blocks consensus; the others are ordinary findings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CriticalFinding {
    /// What is wrong?
    #[schemars(length(max = 4000))]
    pub finding: String,
    /// How severe is that?
    pub severity: Severity,
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
pub enum Severity {
    Critical,
    High,
    Medium,
    Low,
}

/// "Judge Rebuttal Statement", round 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rebuttal {
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
    pub agreements: Vec<Agreement>,
    /// What do you still disagree with?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub disagreements: Vec<Disagreement>,
    /// Which points do you accept, which do you reject, and what is your assessment now? Markdown with the headings of the template.
    #[schemars(length(max = 16000))]
    pub position_revision: String,
    /// What remains disputed?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub unresolved_disputes: Vec<Dispute>,
    /// How good is it in each dimension now, from 1 to 5? Null where nothing changed.
    #[serde(default, deserialize_with = "numbers_if_any")]
    pub dimension_scores: Option<BTreeMap<String, f64>>,
    /// Where do you stand on each critical finding?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub critical_positions: Vec<CriticalPosition>,
}

impl Rebuttal {
    /// Whether the score is another one than before.
    pub fn is_changed(&self) -> bool {
        (self.previous_score - self.new_score).abs() > 1e-9
    }
}

/// A point in which one judge follows another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
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
pub struct Disagreement {
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
pub struct Dispute {
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
pub struct CriticalPosition {
    /// Which finding?
    pub finding_id: String,
    /// Do you adopt it as your own, dispute it, or withdraw it?
    pub position: Hold,
    /// Why?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub reason: String,
}

/// Whether a judge holds a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the wire's own")]
pub enum Hold {
    Adopt,
    Dispute,
    Withdraw,
}

/// "Judge Final Statement", round 3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Final {
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
    pub key_points_maintained: Vec<Maintained>,
    /// What do you now accept that you first rejected?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub concessions_made: Vec<Concession>,
    /// What could not be resolved?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub unresolved_disagreements: Vec<Unresolved>,
    /// How good is it in each dimension now, from 1 to 5? Null where nothing changed.
    #[serde(default, deserialize_with = "numbers_if_any")]
    pub dimension_scores: Option<BTreeMap<String, f64>>,
    /// Where do you stand on each critical finding?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub critical_positions: Vec<CriticalPosition>,
}

/// An argument that a judge holds to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Maintained {
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
pub struct Concession {
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
pub struct Unresolved {
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

/// The numbers of an object; what is null, or something else beside them, says nothing.
fn numbers<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let all = BTreeMap::<String, Value>::deserialize(from)?;
    Ok(all.into_iter().filter_map(|(key, value)| Some((key, value.as_f64()?))).collect())
}

fn numbers_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<BTreeMap<String, f64>>, D::Error> {
    let all = Option::<Value>::deserialize(from)?;
    all.map(|all| numbers(all).map_err(serde::de::Error::custom)).transpose()
}
