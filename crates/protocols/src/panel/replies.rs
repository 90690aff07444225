//! What the judges and the rapporteur answer: the seed's three statements and the summary, with their checks and schemas.
//!
//! The log knows who speaks, in which round, from which stance and when, so no judge is asked for that: the records add it.
//! The doc lines of the fields are the questions that the schema asks. Fields that are skipped in the schema are filled in when the
//! log is read: ids, and whether evidence verifies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use agon_core::{ReplyFault, ReplySchema};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::PanelPhase;
use super::consensus::{PanelDecision, TOLERANCE};
use super::log::PanelLog;
use super::rubric::Rubric;
use crate::prompt::{entry_question, schema_of};

/// "Judge Position Statement", round 1.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PositionStatement {
    /// What do the files get right and wrong, and which lines show it? At most 150 words.
    pub analysis: String,
    /// How good is it overall, from 1 (very poor) to 5 (excellent)?
    #[schemars(range(min = 1.0, max = 5.0))]
    pub overall_score: f64,
    /// How good is it in each dimension, from 1 (very poor) to 5 (excellent)?
    #[serde(deserialize_with = "numbers")]
    pub dimension_scores: BTreeMap<String, f64>,
    /// What are its strengths and your concerns, each with evidence, and what is your verdict? Use Markdown headings.
    #[schemars(length(max = 16000))]
    pub position_statement: String,
    /// What do you answer to the question of the person who asked, in one or two sentences? If it depends on something, on what?
    #[serde(skip_serializing_if = "String::is_empty")]
    pub answer_to_question: String,
    /// Which specific claims about it do you make?
    pub key_claims: Vec<KeyClaim>,
    /// Which problems did you find, of any severity? An empty list if there are none.
    #[schemars(length(max = 6))]
    pub critical_findings: Vec<RaisedFinding>,
    /// What should its authors do?
    pub recommendations: Vec<JudgeRecommendation>,
    #[serde(flatten)]
    pub request: AttentionRequest,
}

/// A request for the attention of the person who asked. Every statement has these fields.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AttentionRequest {
    /// Is there something that only the person who asked can decide?
    pub user_attention_needed: bool,
    /// What must the person who asked decide? Empty if nothing.
    pub attention_reason: String,
}

/// Which specific claim do you make about it?
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KeyClaim {
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub id: Option<String>,
    /// What do you claim?
    pub claim: String,
    /// Which line of the files shows it or, if something is missing, should have it? A location `path:number`, or words copied exactly.
    pub evidence: String,
    /// How sure are you of it: HIGH (the files say so), MEDIUM (it follows from them) or LOW (it is likely)?
    pub confidence: ConfidenceLevel,
    /// Whether the evidence is neither a line of the files nor a quote of them.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub unverified: Option<bool>,
}

/// How sure somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "the names are the seed's own")]
pub enum ConfidenceLevel {
    #[default]
    Low,
    Medium,
    High,
}

/// Which problem did you find?
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RaisedFinding {
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub id: Option<String>,
    /// What is wrong?
    pub finding: String,
    /// How severe is it: CRITICAL (carried out as written, the work fails or does serious harm, at once or later), HIGH (it neither
    /// fails nor does serious harm, but fix this before that part is carried out), MEDIUM (fix it when convenient) or LOW (a detail)?
    pub severity: FindingSeverity,
    /// Which line of the files shows it or, if something is missing, should have it? A location `path:number`, or words copied exactly.
    pub evidence: String,
    /// What would fix it?
    pub fix: String,
    /// Must it be settled before the judges can agree? True for every CRITICAL finding, false for others.
    pub blocks_consensus: Option<bool>,
    /// Whether the evidence is neither a line of the files nor a quote of them.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub unverified: Option<bool>,
}

/// How severe a finding is, and how urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "the names are the seed's own")]
pub enum FindingSeverity {
    Critical,
    High,
    Medium,
    #[default]
    Low,
}

/// What should its authors do?
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JudgeRecommendation {
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub id: Option<String>,
    /// What should be done?
    pub action: String,
    /// How urgent is it: MUST (before it goes ahead), SHOULD (soon after) or CONSIDER (worth a thought)?
    pub priority: RecommendationPriority,
    /// Why should it be done?
    pub rationale: String,
    /// Which findings would it fix, by id? Empty if none.
    pub finding_ids: Vec<String>,
}

/// The seed's priorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "the names are the seed's own")]
pub enum RecommendationPriority {
    Must,
    Should,
    #[default]
    Consider,
}

/// "Judge Rebuttal Statement", round 2.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RebuttalStatement {
    /// Which arguments of the other judges hold against the files, and which do not? At most 150 words.
    pub analysis: String,
    /// What was your overall score in the round before?
    #[schemars(range(min = 1.0, max = 5.0))]
    pub previous_score: f64,
    /// What is your overall score now, from 1 (very poor) to 5 (excellent)?
    #[schemars(range(min = 1.0, max = 5.0))]
    pub new_score: f64,
    /// Does your score differ from the one before?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_changed: Option<bool>,
    /// Why did your score change, or why do you keep it? Name the ids of the others' points that moved you, such as [F1], or quote the
    /// files.
    pub change_reason: String,
    /// Which points of other judges do you accept?
    pub agreements: Vec<JudgeAgreement>,
    /// Which points of other judges do you reject?
    pub disagreements: Vec<JudgeDisagreement>,
    /// Which points do you accept, which do you reject, and what is your assessment now? Use Markdown headings.
    #[schemars(length(max = 16000))]
    pub position_revision: String,
    /// What do you answer to the question of the person who asked, in one or two sentences? If it depends on something, on what?
    #[serde(skip_serializing_if = "String::is_empty")]
    pub answer_to_question: String,
    /// Which disagreements with another judge should the next round settle?
    pub unresolved_disputes: Vec<UnresolvedDispute>,
    /// How good is it in each dimension now, from 1 (very poor) to 5 (excellent)? Null where nothing changed.
    #[serde(deserialize_with = "numbers_if_any")]
    pub dimension_scores: Option<BTreeMap<String, f64>>,
    /// What is your position on each critical finding?
    pub critical_positions: Vec<FindingPosition>,
    /// Which problems that nobody has named yet did you find, and which findings of yours have better evidence now? An empty list if
    /// there are none.
    #[schemars(length(max = 6))]
    pub critical_findings: Vec<RaisedFinding>,
    /// Which ids name one and the same thing? Each entry lists the ids of one thing.
    #[schemars(transform = entry_question("Which ids name one and the same thing?"))]
    pub same_as: Vec<Vec<String>>,
    #[serde(flatten)]
    pub request: AttentionRequest,
}

impl RebuttalStatement {
    /// Whether the score is another one than before.
    pub fn is_changed(&self) -> bool {
        (self.previous_score - self.new_score).abs() > TOLERANCE
    }
}

/// Which point of another judge do you accept?
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JudgeAgreement {
    /// Which judge do you agree with?
    pub with_judge: String,
    /// What do you now agree with?
    pub on_point: String,
    /// What else in the files supports it? Empty if nothing.
    pub strengthening_evidence: String,
    /// How does it change your view?
    pub impact_on_my_position: String,
    /// Which id does the point have? Null if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

/// Which point of another judge do you reject?
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JudgeDisagreement {
    /// Which judge do you disagree with?
    pub with_judge: String,
    /// What do you still disagree with?
    pub on_point: String,
    /// What is their argument?
    pub their_argument: String,
    /// What do you say against it?
    pub my_counterargument: String,
    /// Which line of the files shows it? A location `path:number`, or words copied exactly.
    pub my_evidence: String,
    /// Why is their evidence not enough, or misread? Empty if it is not.
    pub their_evidence_weakness: String,
    /// Which id does the point have? Null if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Whether the evidence is neither a line of the files nor a quote of them.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub unverified: Option<bool>,
}

/// What remains disputed?
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UnresolvedDispute {
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub id: Option<String>,
    /// What remains disputed?
    pub topic: String,
    /// What is your view?
    pub my_view: String,
    #[serde(flatten)]
    pub dispute: OpenDispute,
}

/// What could not be resolved?
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UnresolvedDisagreement {
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub id: Option<String>,
    /// What could not be resolved?
    pub issue: String,
    /// What is your view?
    pub my_final_view: String,
    #[serde(flatten)]
    pub dispute: OpenDispute,
}

/// What a judge says of what it leaves open, in round 2 as in round 3.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OpenDispute {
    /// What is the other side's view?
    pub opposing_view: String,
    /// Which difference keeps it open?
    pub why_unresolved: String,
    /// What happens if the other side is right?
    pub stakes: String,
    /// Which judge holds the other side's view? Null if several do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_judge: Option<String>,
    /// Which id does the dispute have, or else the point? Null if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Must the person who asked decide it?
    pub user_attention_needed: bool,
}

/// What is your position on a critical finding?
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FindingPosition {
    /// Which finding?
    pub finding_id: String,
    /// Do you hold it (you raised or adopted it, and it is critical), adopt it (you did not hold it, and now do), lower it (real, but not
    /// critical), dispute it (you did not hold it, and it is not real) or withdraw it (you held it, and it is not real after all)?
    pub position: FindingHold,
    /// Why do you take this position?
    pub reason: String,
}

/// What a judge says of a critical finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the wire's own")]
pub enum FindingHold {
    #[default]
    Hold,
    Adopt,
    Lower,
    Dispute,
    Withdraw,
}

impl FindingHold {
    /// Whether a judge who says so holds the finding as critical.
    pub fn is_held(self) -> bool {
        matches!(self, Self::Hold | Self::Adopt)
    }

    /// What the finding is for a judge who says so.
    pub(super) fn spoken(self) -> &'static str {
        match self {
            Self::Hold | Self::Adopt => "critical",
            Self::Lower => "real, but not critical",
            Self::Dispute => "disputed",
            Self::Withdraw => "withdrawn",
        }
    }
}

/// "Judge Final Statement", round 3.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FinalStatement {
    /// What did the debate settle for you, and what did it not? At most 150 words.
    pub analysis: String,
    /// What is your final score, from 1 (very poor) to 5 (excellent)?
    #[schemars(range(min = 1.0, max = 5.0))]
    pub final_score: f64,
    /// What is your final assessment: quality, strengths that survived, concerns that remain, recommendation? Use Markdown.
    #[schemars(length(max = 16000))]
    pub final_position: String,
    /// What do you answer to the question of the person who asked, in one or two sentences? If it depends on something, on what?
    #[serde(skip_serializing_if = "String::is_empty")]
    pub answer_to_question: String,
    /// Which arguments do you maintain despite the challenges?
    pub key_points_maintained: Vec<MaintainedPoint>,
    /// What do you now accept that you first rejected, and which points of your own do you give up?
    pub concessions_made: Vec<ConcededPoint>,
    /// What could not be resolved?
    pub unresolved_disagreements: Vec<UnresolvedDisagreement>,
    /// Why did your score change since the round before? Name the ids of the others' points that moved you, such as [F1], or quote the
    /// files. Empty if it did not change.
    pub change_reason: String,
    /// How good is it in each dimension now, from 1 (very poor) to 5 (excellent)? Null where nothing changed.
    #[serde(deserialize_with = "numbers_if_any")]
    pub dimension_scores: Option<BTreeMap<String, f64>>,
    /// What is your position on each critical finding?
    pub critical_positions: Vec<FindingPosition>,
    /// Which ids name one and the same thing? Each entry lists the ids of one thing.
    #[schemars(transform = entry_question("Which ids name one and the same thing?"))]
    pub same_as: Vec<Vec<String>>,
    /// What should its authors do, after the debate?
    pub recommendations: Vec<JudgeRecommendation>,
    #[serde(flatten)]
    pub request: AttentionRequest,
}

/// Which argument do you maintain?
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MaintainedPoint {
    /// What do you maintain?
    pub point: String,
    /// Why are you sure of it?
    pub reason: String,
    /// Which line of the files shows it? A location `path:number`, or words copied exactly.
    pub evidence: String,
    /// Whether the evidence is neither a line of the files nor a quote of them.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub unverified: Option<bool>,
}

/// What do you now accept?
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConcededPoint {
    /// What do you now accept?
    pub point: String,
    /// Which judge and which argument convinced you?
    pub convinced_by: String,
    /// How did it change your assessment?
    pub impact: String,
    /// Which id does the point have? Null if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

/// What the rapporteur writes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RapporteurSummary {
    /// Which words of the judges do your summaries rest on? At least one quote of every judge.
    #[schemars(length(max = 40))]
    pub quotes: Vec<JudgeQuote>,
    /// What do the judges say together, in 3 to 6 sentences?
    pub assessment: Option<String>,
    /// What does the majority hold and recommend, in 3 to 6 sentences?
    pub majority: Option<String>,
    /// What does the minority hold, why, and which concerns does it keep, in 3 to 6 sentences?
    pub minority: Option<String>,
    /// Which recommendations say the same, and which open items do? An empty list if none do.
    #[schemars(length(max = 40))]
    pub merged: Vec<MergedItems>,
}

/// Which words of a judge do your summaries rest on?
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JudgeQuote {
    /// Which judge says it?
    pub judge: String,
    /// Which words does it use? Copy them exactly from what the judge says.
    pub quote: String,
}

/// Which ids say the same?
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MergedItems {
    /// Which ids are they?
    pub ids: Vec<String>,
    /// What do they say, in one sentence?
    pub text: String,
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
pub(super) fn check_position(value: &Value) -> Result<(), ReplyFault> {
    let said = PositionStatement::deserialize(value)?;
    not_empty("position_statement", &said.position_statement)?;
    check_findings(&said.critical_findings)
}

/// Checks a rebuttal. `before` is the judge's score in the log.
pub(super) fn check_rebuttal(value: &Value, before: Option<f64>) -> Result<(), ReplyFault> {
    let said = RebuttalStatement::deserialize(value)?;
    let RebuttalStatement { previous_score, new_score, score_changed, .. } = said;
    let differs = |before: &f64| (before - previous_score).abs() > TOLERANCE;
    if let Some(before) = before.filter(differs) {
        return Err(ReplyFault::Invalid(format!(
            "`previous_score` is {previous_score}, but your score in the round before was {before}"
        )));
    }
    if let Some(claimed) = score_changed.filter(|claimed| *claimed != said.is_changed()) {
        return Err(ReplyFault::Invalid(format!(
            "`score_changed` is {claimed}, but `previous_score` is {previous_score} and `new_score` is {new_score}"
        )));
    }
    if said.is_changed() {
        not_empty("change_reason", &said.change_reason)?;
    }
    not_empty("position_revision", &said.position_revision)?;
    check_findings(&said.critical_findings)?;
    each_finding_once(&said.critical_positions)
}

/// Checks a final statement.
pub(super) fn check_final(value: &Value) -> Result<(), ReplyFault> {
    let said = FinalStatement::deserialize(value)?;
    not_empty("final_position", &said.final_position)?;
    each_finding_once(&said.critical_positions)
}

pub(super) fn not_empty(field: &str, text: &str) -> Result<(), ReplyFault> {
    match text.trim().is_empty() {
        true => Err(ReplyFault::Invalid(format!("`{field}` must not be empty"))),
        false => Ok(()),
    }
}

fn check_findings(raised: &[RaisedFinding]) -> Result<(), ReplyFault> {
    raised.iter().try_for_each(|raised| not_empty("critical_findings[].finding", &raised.finding))
}

fn each_finding_once(positions: &[FindingPosition]) -> Result<(), ReplyFault> {
    let mut seen = BTreeSet::new();
    match positions.iter().map(|said| &said.finding_id).find(|id| !seen.insert(*id)) {
        Some(id) => Err(ReplyFault::Invalid(format!(
            "`critical_positions` has {id} twice: take one position on each finding"
        ))),
        None => Ok(()),
    }
}

/// The fields that decide something: of entries, of statements in words, and in scores. The schema asks for them last in their object
/// and in this order, after the reasons.
const DECISIONS: [&[&str]; 3] = [
    &["severity", "blocks_consensus", "confidence", "priority", "position", "user_attention_needed"],
    &["position_statement", "position_revision", "final_position", "answer_to_question", "change_reason"],
    &["dimension_scores", "overall_score", "previous_score", "new_score", "score_changed", "final_score"],
];
const TEXT_CHARS_MAX: u64 = 4000;
const ENTRIES_MAX: u64 = 12;
/// The fields without which an entry or a statement says nothing, unless they may be null: of the three statements, of what is listed
/// in round 1, and of what is listed later.
const REQUIRED: [&[&str]; 5] = [
    &["overall_score", "dimension_scores", "position_statement"],
    &["previous_score", "new_score", "position_revision"],
    &["final_score", "final_position"],
    &["claim", "confidence", "finding", "severity", "action", "priority"],
    &["with_judge", "on_point", "topic", "issue", "finding_id", "position", "point", "quote"],
];
/// The lists whose entries name a judge and the id of a point.
const POINT_LISTS: [&str; 5] =
    ["agreements", "disagreements", "concessions_made", "unresolved_disputes", "unresolved_disagreements"];

/// The schema of a phase, before it is narrowed to a debate.
fn plain_schema(phase: PanelPhase) -> ReplySchema {
    static SCHEMAS: [OnceLock<ReplySchema>; 4] = [const { OnceLock::new() }; 4];
    let [position, rebuttal, last, summary] = &SCHEMAS;
    let (kept, make): (_, fn(&str) -> ReplySchema) = match phase {
        PanelPhase::Position => (position, schema_of::<PositionStatement>),
        PanelPhase::Rebuttal => (rebuttal, schema_of::<RebuttalStatement>),
        PanelPhase::Final => (last, schema_of::<FinalStatement>),
        PanelPhase::Summary => (summary, schema_of::<RapporteurSummary>),
    };
    let made = kept.get_or_init(|| {
        let mut schema = make(phase.as_str());
        limit(&mut schema.json);
        schema
    });
    ReplySchema { name: made.name.clone(), json: made.json.clone() }
}

/// Whether a schema allows values of a type.
fn is(schema: &Value, word: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == word),
        kind => kind.is_some_and(|kind| kind == word),
    }
}

/// Gives every text and every list without a limit the usual one. In every object, puts decisions last and lists the required fields.
fn limit(schema: &mut Value) {
    let (is_text, is_list) = (is(schema, "string") && schema.get("enum").is_none(), is(schema, "array"));
    match schema {
        Value::Object(map) => {
            if is_text && !map.contains_key("maxLength") {
                map.insert("maxLength".into(), TEXT_CHARS_MAX.into());
            }
            if is_list && !map.contains_key("maxItems") {
                map.insert("maxItems".into(), ENTRIES_MAX.into());
            }
            if let Some(Value::String(about)) = map.get_mut("description") {
                *about = about.replace('\n', " ");
            }
            if let Some(Value::Object(properties)) = map.get_mut("properties") {
                for key in DECISIONS.concat() {
                    let decision = properties.shift_remove(key);
                    properties.extend(decision.map(|decision| (key.to_owned(), decision)));
                }
                let may_be_null = |inner: &Value| inner.get("type").is_some_and(Value::is_array);
                let is_needed = |key: &str| REQUIRED.iter().any(|fields| fields.contains(&key));
                let required = properties.iter().filter(|(key, inner)| is_needed(key) && !may_be_null(inner));
                let required: Vec<String> = required.map(|(key, _)| key.clone()).collect();
                map.insert("required".into(), required.into());
            }
            map.values_mut().for_each(limit);
        }
        Value::Array(items) => items.iter_mut().for_each(limit),
        _ => {}
    }
}

/// The schema of a judge's answer, narrowed to the dimensions, judges and ids of this debate. `own` is the judge's place.
pub(super) fn schema(log: &PanelLog<'_>, phase: PanelPhase, own: Option<usize>) -> ReplySchema {
    let mut schema = plain_schema(phase);
    let json = &mut schema.json;
    if let Some(scores) = json.pointer_mut("/properties/dimension_scores") {
        *scores = dimension_schema(&log.rubric, phase, scores.get("description"));
    }
    let before = own.and_then(|place| log.score(place, phase.round().saturating_sub(1)));
    if let (Some(before), Some(score)) = (before, json.pointer_mut("/properties/previous_score")) {
        set(score, "enum", vec![before]);
    }
    let findings: Vec<&str> = log.findings.iter().map(|finding| finding.id.as_str()).collect();
    let lesser = log.lesser.iter().map(|lesser| lesser.id.as_str());
    // Settled disputes are not asked about again.
    let open = log.disputes.iter().filter(|dispute| dispute.is_open()).map(|dispute| dispute.id.as_str());
    let known: Vec<&str> = findings.iter().copied().chain(open).chain(log.point_ids()).collect();
    let same_as = log.same_as_candidates();
    let is_open = log.rounds.last().is_some_and(|round| round.check.disputed > 0);
    let others = log.judges.iter().enumerate().filter(|(place, _)| Some(*place) != own);
    let others: Vec<&str> = others.map(|(_, judge)| judge.id).collect();
    for list in POINT_LISTS {
        let entry = format!("/properties/{list}/items/properties");
        allow(json, &entry, "about", &known);
        allow(json, &entry, "with_judge", &others);
    }
    // Findings that became one are asked about as one.
    let firsts = log.findings.iter().zip(log.groups()).enumerate().filter(|(at, (_, first))| at == *first);
    let firsts: Vec<&str> = firsts.map(|(_, (finding, _))| finding.id.as_str()).collect();
    allow(json, "/properties/critical_positions/items/properties", "finding_id", &firsts);
    if let Some(positions) = json.pointer_mut("/properties/critical_positions") {
        set(positions, "maxItems", firsts.len());
    }
    // In round 1 there are no ids yet.
    let fixable = findings.iter().copied().chain(lesser).filter(|_| phase != PanelPhase::Position);
    let fixable: Vec<&str> = fixable.collect();
    let advice = "/properties/recommendations/items/properties";
    allow(json, &format!("{advice}/finding_ids"), "items", &fixable);
    allow(json, "/properties/same_as/items", "items", &same_as);
    for (parent, field, is_asked) in [
        (advice, "finding_ids", !fixable.is_empty()),
        ("/properties", "critical_positions", is_open),
        ("/properties", "same_as", !same_as.is_empty()),
        ("/properties", "answer_to_question", log.question().is_some()),
    ] {
        if !is_asked {
            remove(json, parent, field);
        }
    }
    schema
}

/// A value of a schema's form. Where there is a choice, it shows the words that may be chosen or, if they are many, none of them.
pub(super) fn example(schema: &Value) -> Value {
    const SCORES: [f64; 5] = [4.0, 2.0, 5.0, 1.0, 3.0];
    const CHOICES_MAX: usize = 6;
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<&Value> = words.iter().filter(|word| !word.is_null()).collect();
        return match words.as_slice() {
            [only] => (*only).clone(),
            few if few.len() <= CHOICES_MAX => {
                few.iter().filter_map(|word| word.as_str()).collect::<Vec<_>>().join("|").into()
            }
            _ => "...".into(),
        };
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    if let Some(properties) = properties {
        let fields = properties.iter().zip(SCORES.iter().cycle()).map(|((key, inner), score)| {
            let is_score =
                inner.get("enum").is_none() && inner.get("type").is_some_and(|kind| kind == "number");
            (key.clone(), if is_score { Value::from(*score) } else { example(inner) })
        });
        return Value::Object(fields.collect());
    }
    match schema.get("items") {
        Some(items) => Value::Array(vec![example(items)]),
        None if is(schema, "string") => "...".into(),
        None if is(schema, "boolean") => false.into(),
        None => Value::Null,
    }
}

/// The schema of the summary, narrowed to what this decision asks for.
pub(super) fn summary_schema(decision: &PanelDecision, judges: &[&str], ids: &[&str]) -> ReplySchema {
    let mut schema = plain_schema(PanelPhase::Summary);
    allow(&mut schema.json, "/properties/quotes/items/properties", "judge", judges);
    allow(&mut schema.json, "/properties/merged/items/properties/ids", "items", ids);
    let wanted: &[&str] = match decision.sides() {
        [Some(_), Some(_)] => &["majority", "minority"],
        [Some(_), None] => &["majority"],
        [None, _] => &["assessment"],
    };
    for field in ["assessment", "majority", "minority"] {
        match schema.json.pointer_mut(&format!("/properties/{field}")) {
            Some(text) if wanted.contains(&field) => set(text, "type", "string"),
            _ => remove(&mut schema.json, "/properties", field),
        }
    }
    if ids.is_empty() {
        remove(&mut schema.json, "/properties", "merged");
    }
    set(&mut schema.json, "required", [&["quotes"], wanted].concat());
    schema
}

/// Restricts a field to these words. A field without any allowed word is removed.
fn allow(schema: &mut Value, parent: &str, field: &str, words: &[&str]) {
    if words.is_empty() {
        remove(schema, parent, field);
    } else if let Some(place) = schema.pointer_mut(&format!("{parent}/{field}")) {
        let mut words: Vec<Value> = words.iter().map(|word| Value::from(*word)).collect();
        if place.get("type").is_some_and(Value::is_array) {
            words.push(Value::Null);
        }
        set(place, "enum", words);
    }
}

fn remove(schema: &mut Value, parent: &str, field: &str) {
    if let Some(Value::Object(fields)) = schema.pointer_mut(parent) {
        fields.shift_remove(field);
    }
}

/// One number for each dimension. A position statement has all of them; later statements have those that changed.
fn dimension_schema(rubric: &Rubric, phase: PanelPhase, description: Option<&Value>) -> Value {
    let is_first = phase == PanelPhase::Position;
    let kind = |word: &str| if is_first { Value::from(word) } else { vec![word, "null"].into() };
    let score = |question: String| json!({"description": question, "type": kind("number"), "minimum": 1.0, "maximum": 5.0});
    let scores =
        rubric.dimensions.iter().map(|dimension| (dimension.key.clone(), score(dimension.question())));
    let scores: Map<String, Value> = scores.collect();
    let mut schema = json!({"description": description, "type": kind("object"), "properties": scores});
    if is_first {
        set(&mut schema, "required", rubric.keys().collect::<Vec<_>>());
    }
    schema
}

pub(super) fn set(schema: &mut Value, key: &str, value: impl Into<Value>) {
    if let Value::Object(map) = schema {
        map.insert(key.to_owned(), value.into());
    }
}
