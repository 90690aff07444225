//! What the seats answer: the types, the schemas that are narrowed to a debate's labels and ids, and the rules that a schema
//! cannot express.
//!
//! The documentation of a reply and its fields goes into its schema, where the seats read it.

use std::sync::{Arc, OnceLock};

use agon_core::{Ask, Debate, ReplySchema};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ballots::ABSTAIN;
use super::log::{ArenaLog, bare_label};
use super::rhetoric::sentences;
use crate::prompt::{entry_question, schema_of};

/// Others read only the first sentence of a position, so a longer one is accepted.
const POSITION_CHARS_MAX: usize = 2000;

/// A proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct ProposalReply {
    /// What do you propose? Complete in itself.
    #[schemars(length(max = 16000))]
    pub(super) proposal: String,
    /// What is your proposal in one sentence?
    #[schemars(length(max = POSITION_CHARS_MAX))]
    pub(super) position: String,
    /// What does it rest on?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub(super) claims: Vec<ProposalClaim>,
    /// How sure are you that it is right, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(super) confidence: f64,
}

/// Something that a proposal rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct ProposalClaim {
    /// What do you claim?
    #[schemars(length(max = 4000))]
    pub(super) claim: String,
    /// What shows it?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) evidence: String,
}

/// A proposal as it is revised, refined, or held against a challenge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct RevisionReply {
    /// What do you propose now? Complete in itself.
    #[schemars(length(max = 16000))]
    pub(super) proposal: String,
    /// What is your proposal in one sentence?
    #[schemars(length(max = POSITION_CHARS_MAX))]
    pub(super) position: String,
    /// What does it rest on?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub(super) claims: Vec<ProposalClaim>,
    /// How sure are you that it is right, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(super) confidence: f64,
    /// Which critiques did you answer?
    #[serde(default)]
    pub(super) addressed: Vec<CritiqueAnswer>,
    /// With whose position does yours conflict, so that both cannot hold? Empty if with nobody's.
    #[schemars(transform = entry_question("Whose position conflicts with yours?"))]
    pub(super) conflicts_with: Vec<String>,
}

/// How a critique was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct CritiqueAnswer {
    /// Which critique?
    pub(super) critique_id: String,
    /// What did you change for it, or why not?
    #[schemars(length(max = 4000))]
    pub(super) how: String,
}

impl From<ProposalReply> for RevisionReply {
    fn from(first: ProposalReply) -> Self {
        let ProposalReply { proposal, position, claims, confidence } = first;
        Self { proposal, position, claims, confidence, addressed: Vec::new(), conflicts_with: Vec::new() }
    }
}

impl RevisionReply {
    /// The first sentence of the position, which is what others read. A beginning such as "1." or "No." is no sentence.
    pub(super) fn sentence(&self) -> &str {
        const WORDS_MIN: usize = 3;
        let up_to = |end: usize| self.position.get(..end).unwrap_or_default().trim();
        let ends = sentences(&self.position).into_iter().map(|place| place.end);
        let first = ends.map(up_to).find(|said| said.split_whitespace().count() >= WORDS_MIN);
        first.unwrap_or(self.position.trim())
    }

    /// Position and proposal, which are compared with those of others and with earlier ones.
    pub(super) fn text(&self) -> String {
        format!("{}\n{}", self.position.trim(), self.proposal.trim())
    }

    /// Position, proposal and claims with their evidence.
    pub(super) fn text_with_claims(&self) -> String {
        let claims = self.claims.iter().map(|claim| format!("\n{}\n{}", claim.claim, claim.evidence));
        self.text() + &claims.collect::<String>()
    }
}

/// A critique of somebody else's proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct CritiqueReply {
    /// How grave is what is wrong with it, from 0 (nothing is) to 1 (it cannot stand)?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(super) severity: f64,
    /// What is wrong with it?
    #[serde(default)]
    #[schemars(length(max = 12), inner(length(max = 4000)), transform = entry_question("What is wrong with it?"))]
    pub(super) issues: Vec<String>,
    /// What would make it better?
    #[serde(default)]
    #[schemars(length(max = 12), inner(length(max = 4000)), transform = entry_question("What would make it better?"))]
    pub(super) suggestions: Vec<String>,
}

/// A vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct VoteReply {
    /// Whose proposal is the best?
    pub(super) choice: String,
    /// How sure are you that it is, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(super) confidence: f64,
    /// What decides it?
    #[schemars(length(max = 4000))]
    pub(super) reason: String,
}

/// The judge's scores and ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct JudgementReply {
    /// How good is each proposal?
    pub(super) scores: Vec<ScoreReply>,
    /// All proposals, the best first.
    #[schemars(transform = entry_question("Whose proposal comes next, from the best on?"))]
    pub(super) ranking: Vec<String>,
    /// How clear is the difference between the best two?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) margin_comment: Option<String>,
}

/// The judge's score of one proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct ScoreReply {
    /// Whose proposal?
    pub(super) label: String,
    /// How good is it by the criteria, from 0 to 10?
    #[schemars(range(min = 0.0, max = 10.0))]
    pub(super) score: f64,
    /// Why?
    pub(super) reasons: ScoreReasons,
}

/// One reason or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum ScoreReasons {
    /// In one text.
    Text(#[schemars(length(max = 8000))] String),
    /// One by one.
    List(#[schemars(length(min = 1, max = 12), inner(length(max = 4000)))] Vec<String>),
}

impl ScoreReasons {
    /// The reasons that are not blank.
    pub(super) fn texts(&self) -> Vec<String> {
        let all = match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::List(texts) => texts,
        };
        all.iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
    }
}

/// What a source of context found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct ContextReply {
    /// The best first.
    pub(super) items: Vec<ContextReplyItem>,
    /// What a reader should know about how it was found.
    #[serde(default)]
    pub(super) note: Option<String>,
}

/// A piece of context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct ContextReplyItem {
    /// What it is called.
    #[serde(default)]
    pub(super) title: String,
    /// What it says.
    pub(super) text: String,
    /// Where it is from.
    #[serde(default)]
    pub(super) source: String,
    /// When that was, RFC 3339.
    #[serde(default)]
    pub(super) at: Option<String>,
    /// The debate that it is from.
    #[serde(default)]
    pub(super) debate: Option<String>,
    /// How it turned out.
    #[serde(default)]
    pub(super) turned_out: Option<ContextResolution>,
    /// Who remembers it.
    #[serde(default)]
    pub(super) agent: Option<String>,
    /// How well it fits the question.
    #[serde(default)]
    pub(super) score: Option<f64>,
}

/// How a decision turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ContextResolution {
    /// It was right.
    Right,
    /// It was wrong.
    Wrong,
}

impl ContextResolution {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
        }
    }
}

/// How alike texts are, each with each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct SimilarityReply {
    /// A row for each text, in it a figure for each text: 1 is the same, 0 nothing in common.
    pub(super) similarity: Vec<Vec<f64>>,
}

pub(super) fn proposal_schema() -> Arc<ReplySchema> {
    static BASE: OnceLock<ReplySchema> = OnceLock::new();
    SchemaDraft::new(&BASE, || schema_of::<ProposalReply>("proposal")).finish()
}

pub(super) fn critique_schema() -> Arc<ReplySchema> {
    static BASE: OnceLock<ReplySchema> = OnceLock::new();
    SchemaDraft::new(&BASE, || schema_of::<CritiqueReply>("critique")).finish()
}

/// The schema of a revision. It is the same for all agents, who read it in the part of the prompt that they share. Answers to
/// critiques of other proposals are dropped when a reply is read.
pub(super) fn revision_schema(log: &ArenaLog<'_>, critique_ids: &[&str]) -> Arc<ReplySchema> {
    static BASE: OnceLock<ReplySchema> = OnceLock::new();
    let mut draft = SchemaDraft::new(&BASE, || schema_of::<RevisionReply>("revision"));
    draft.set("/properties/conflicts_with/items", "enum", label_spellings(log));
    draft.set("/properties/conflicts_with", "maxItems", log.proposers().len());
    if !critique_ids.is_empty() {
        draft.set("/properties/addressed/items/properties/critique_id", "enum", critique_ids);
    }
    draft.set("/properties/addressed", "maxItems", critique_ids.len());
    draft.finish()
}

pub(super) fn vote_schema(log: &ArenaLog<'_>) -> Arc<ReplySchema> {
    static BASE: OnceLock<ReplySchema> = OnceLock::new();
    let mut draft = SchemaDraft::new(&BASE, || schema_of::<VoteReply>("vote"));
    let mut choices = label_spellings(log);
    choices.push(ABSTAIN.to_owned());
    draft.set("/properties/choice", "enum", choices);
    draft.finish()
}

pub(super) fn judgement_schema(log: &ArenaLog<'_>) -> Arc<ReplySchema> {
    static BASE: OnceLock<ReplySchema> = OnceLock::new();
    let mut draft = SchemaDraft::new(&BASE, || schema_of::<JudgementReply>("judgement"));
    draft.set("/properties/scores/items/properties/label", "enum", label_spellings(log));
    draft.set("/properties/ranking/items", "enum", label_spellings(log));
    for list in ["/properties/scores", "/properties/ranking"] {
        draft.set(list, "minItems", log.proposers().len());
        draft.set(list, "maxItems", log.proposers().len());
    }
    draft.finish()
}

pub(super) fn context_schema() -> Arc<ReplySchema> {
    static BASE: OnceLock<ReplySchema> = OnceLock::new();
    SchemaDraft::new(&BASE, || schema_of::<ContextReply>("context")).finish()
}

/// The schema of a matrix that compares so many texts.
pub(super) fn similarity_schema(texts: usize) -> Arc<ReplySchema> {
    static BASE: OnceLock<ReplySchema> = OnceLock::new();
    let mut draft = SchemaDraft::new(&BASE, || schema_of::<SimilarityReply>("similarity"));
    for list in ["/properties/similarity", "/properties/similarity/items"] {
        draft.set(list, "minItems", texts);
        draft.set(list, "maxItems", texts);
    }
    draft.set("/properties/similarity/items/items", "minimum", -1.0);
    draft.set("/properties/similarity/items/items", "maximum", 1.0);
    draft.finish()
}

/// A reply's schema while it is narrowed. The schema of the type is made once.
struct SchemaDraft {
    name: String,
    json: Value,
}

impl SchemaDraft {
    fn new(base: &'static OnceLock<ReplySchema>, make: impl FnOnce() -> ReplySchema) -> Self {
        let base = base.get_or_init(make);
        Self { name: base.name.clone(), json: base.json.clone() }
    }

    fn set(&mut self, pointer: &str, key: &str, value: impl Into<Value>) {
        if let Some(Value::Object(place)) = self.json.pointer_mut(pointer) {
            place.insert(key.to_owned(), value.into());
        }
    }

    fn finish(self) -> Arc<ReplySchema> {
        Arc::new(ReplySchema { name: self.name, json: self.json })
    }
}

/// The labels of all proposals in both accepted spellings: `Agent A` and `A`.
fn label_spellings(log: &ArenaLog<'_>) -> Vec<String> {
    let labels = log.labels(&log.proposers());
    labels.iter().map(|label| format!("Agent {label}")).chain(labels.clone()).collect()
}

/// Checks what a schema cannot express. The sentence goes back to the seat.
pub(super) fn check(debate: &Debate, ask: &Ask, value: &Value) -> Result<(), String> {
    let Some(schema) = &ask.schema else { return Ok(()) };
    match schema.name.as_str() {
        "proposal" => {
            let said: ProposalReply = read(value)?;
            check_not_blank("proposal", &said.proposal)?;
            check_not_blank("position", &said.position)
        }
        "revision" => check_revision(debate, &ask.seat, read(value)?),
        "critique" => check_critique(&read(value)?),
        "vote" => check_not_blank("reason", &read::<VoteReply>(value)?.reason),
        "judgement" => check_judgement(&read(value)?, &schema.json),
        "similarity" => check_similarity(&read(value)?),
        _ => read::<ContextReply>(value).map(|_| ()),
    }
}

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|why| why.to_string())
}

fn check_not_blank(field: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err(format!("`{field}` must not be empty")) } else { Ok(()) }
}

fn check_revision(debate: &Debate, seat: &str, mut said: RevisionReply) -> Result<(), String> {
    check_not_blank("proposal", &said.proposal)?;
    check_not_blank("position", &said.position)?;
    // Answers to critiques of other proposals are dropped when the reply is read, so no rule applies to them. A log that
    // cannot be read has no step in which anything is asked.
    if let Ok(log) = ArenaLog::read(debate) {
        let place = log.agents.iter().position(|agent| agent.seat.id == seat);
        said.addressed
            .retain(|answer| place.is_some_and(|place| log.is_critique_of(&answer.critique_id, place)));
    }
    for (place, answer) in said.addressed.iter().enumerate() {
        let id = &answer.critique_id;
        check_not_blank(&format!("how` of {id} in `addressed"), &answer.how)?;
        if said.addressed.iter().take(place).any(|other| other.critique_id == *id) {
            return Err(format!("`addressed` has {id} twice: answer each critique once"));
        }
    }
    Ok(())
}

fn check_critique(said: &CritiqueReply) -> Result<(), String> {
    let has_issue = said.issues.iter().any(|issue| !issue.trim().is_empty());
    match said.severity > 0.0 && !has_issue {
        true => Err(format!("`severity` is {}, so `issues` must name at least one", said.severity)),
        false => Ok(()),
    }
}

fn check_judgement(said: &JudgementReply, schema: &Value) -> Result<(), String> {
    let listed = schema.pointer("/properties/ranking/items/enum").and_then(Value::as_array);
    let mut labels: Vec<&str> =
        listed.into_iter().flatten().filter_map(Value::as_str).map(bare_label).collect();
    labels.sort_unstable();
    labels.dedup();
    let scored = said.scores.iter().map(|scored| bare_label(&scored.label)).collect();
    check_each_once("scores", &labels, scored)?;
    check_each_once("ranking", &labels, said.ranking.iter().map(|label| bare_label(label)).collect())?;
    match said.scores.iter().find(|scored| scored.reasons.texts().is_empty()) {
        Some(scored) => Err(format!("`reasons` for {} must not be empty", scored.label)),
        None => Ok(()),
    }
}

fn check_each_once(field: &str, labels: &[&str], said: Vec<&str>) -> Result<(), String> {
    let times = |label: &str| said.iter().filter(|other| **other == label).count();
    match labels.iter().find(|label| times(label) != 1) {
        Some(label) => Err(format!(
            "`{field}` has Agent {label} {} times: it must list every proposal exactly once",
            times(label)
        )),
        None => Ok(()),
    }
}

fn check_similarity(said: &SimilarityReply) -> Result<(), String> {
    let texts = said.similarity.len();
    match said.similarity.iter().all(|row| row.len() == texts) {
        true => Ok(()),
        false => Err("`similarity` must have one figure for each text in each row".to_owned()),
    }
}
