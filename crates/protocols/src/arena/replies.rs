//! What the seats answer: the types, the schemas that are narrowed to a debate's labels and ids, and the rules that a schema
//! cannot express.
//!
//! The documentation of a field goes into its schema, where it is a question to the seat. Reasons stand before decisions.

use std::collections::HashSet;
use std::sync::Arc;

use agon_core::{Ask, Debate, ReplyFault, ReplySchema};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ArenaPhase;
use super::convergence::SortedPairs;
use super::log::{ArenaLog, agent_name};
use super::voting::ABSTAIN;
use crate::clerk::CLERK;
use crate::prompt::{entry_question, list_values, schema_of};
use crate::quotes::QUOTE_EXACTLY;

/// A proposal.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub(super) struct ProposalReply {
    /// What do you propose? Write it so that somebody could act on it without asking you.
    #[schemars(length(max = 16000))]
    pub(super) proposal: String,
    /// What is your proposal in one sentence?
    #[schemars(length(max = 400))]
    pub(super) position: String,
    /// What does your proposal rest on?
    #[serde(default)]
    #[schemars(length(max = 12), transform = entry_question("Which claim does your proposal rest on?"))]
    pub(super) claims: Vec<ProposalClaim>,
    /// How likely is it that your proposal is right, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(super) confidence: f64,
}

/// Something that a proposal rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct ProposalClaim {
    /// What do you claim?
    #[schemars(length(max = 4000))]
    pub(super) claim: String,
    /// What shows that the claim is true? Leave it empty if nothing does.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) evidence: String,
}

/// A proposal as it is revised, refined, or held against a challenge.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub(super) struct RevisionReply {
    /// Which critiques of your proposal are right, which are not, and what do you take from the other agents? At most 150 words.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) analysis: String,
    /// What makes you change your one-sentence position? Empty if you keep it, or if nothing that you were shown is the cause.
    #[serde(default)]
    #[schemars(length(max = 12), transform = entry_question("What makes you change your one-sentence position?"))]
    pub(super) changed_because: Vec<ChangeCause>,
    /// The proposal as it is now.
    #[serde(flatten)]
    pub(super) now: ProposalReply,
    /// Which critiques of your proposal do you answer?
    #[serde(default)]
    #[schemars(transform = entry_question("Which critique of your proposal do you answer?"))]
    pub(super) addressed: Vec<CritiqueAnswer>,
    /// Which of your own critiques does the proposal that you were shown resolve, and which not?
    #[serde(default)]
    #[schemars(transform = entry_question("Which critique of yours do you judge?"))]
    pub(super) verdicts: Vec<CritiqueVerdict>,
    /// What is wrong with the other proposals that your open critiques do not say? Empty if nothing is.
    #[serde(default)]
    #[schemars(length(max = 12), transform = entry_question("What is wrong with another proposal?"))]
    pub(super) critiques: Vec<NewCritique>,
    /// With whose proposal does yours conflict, so that both cannot be followed? Empty if with nobody's.
    #[serde(default)]
    #[schemars(transform = entry_question("Whose proposal conflicts with yours?"))]
    pub(super) conflicts_with: Vec<String>,
}

/// What made an agent change its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct ChangeCause {
    /// Whose words are they? The id, or the agent, as you were shown it.
    pub(super) id: String,
    /// Which words made you change? Copy them exactly.
    #[schemars(length(max = 1000))]
    pub(super) quote: String,
}

impl ChangeCause {
    /// The id without brackets.
    pub(super) fn bare_id(&self) -> &str {
        self.id.trim().trim_matches(['[', ']'])
    }
}

/// How a critique was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct CritiqueAnswer {
    /// Which critique do you answer?
    pub(super) critique_id: String,
    /// What did you change because of it? If nothing, why not?
    #[schemars(length(max = 4000))]
    pub(super) how: String,
}

/// What a critic says of a revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct CritiqueVerdict {
    /// Which critique of yours do you judge?
    pub(super) critique_id: String,
    /// Which of the issues still hold, which do not, and which words of the proposal show it?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) why: String,
    /// Is the critique resolved, or does it still hold (unresolved)?
    pub(super) status: CritiqueStatus,
}

/// Whether a critique still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum CritiqueStatus {
    Resolved,
    Unresolved,
}

impl CritiqueStatus {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::Unresolved => "unresolved",
        }
    }
}

/// A critique of a revised proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct NewCritique {
    /// Whose proposal is it about?
    pub(super) label: String,
    /// What is wrong with it?
    #[schemars(length(max = 4000))]
    pub(super) issue: String,
    /// How severe is that, from 0 (no harm) to 1 (the proposal fails)?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(super) severity: f64,
}

impl ProposalReply {
    /// The proposal as others read it in full. Two proposals are the same text if these texts are.
    pub(super) fn text(&self) -> String {
        let mut lines = vec![format!("Position: {}", self.position.trim()), String::new()];
        lines.push(self.proposal.trim().to_owned());
        if !self.claims.is_empty() {
            lines.extend([String::new(), "Claims:".to_owned()]);
        }
        for made in &self.claims {
            let evidence = match made.evidence.trim() {
                "" => "no evidence".to_owned(),
                evidence => format!("evidence: {evidence}"),
            };
            lines.push(format!("- {} ({evidence})", made.claim.trim()));
        }
        lines.join("\n")
    }
}

/// A critique of somebody else's proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct CritiqueReply {
    /// Would the proposal solve the task, and does its evidence hold? At most 150 words.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) analysis: String,
    /// What is wrong with the proposal?
    #[serde(default)]
    #[schemars(length(max = 12), inner(length(max = 4000)), transform = entry_question("Which issue does the proposal have?"))]
    pub(super) issues: Vec<String>,
    /// What would make the proposal better?
    #[serde(default)]
    #[schemars(length(max = 12), inner(length(max = 4000)), transform = entry_question("Which change would make the proposal better?"))]
    pub(super) suggestions: Vec<String>,
    /// How severe is what is wrong with it, from 0 (nothing is wrong) to 1 (the proposal fails)?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(super) severity: f64,
}

/// How the clerk relates the proposals to each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct SortingReply {
    /// What would each proposal have the reader do, and where could two of them not both be followed? At most 150 words.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) analysis: String,
    /// How does each proposal relate to each other one?
    #[schemars(transform = entry_question("How do the next two proposals relate to each other?"))]
    pub(super) pairs: Vec<PairReply>,
}

/// How two proposals relate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct PairReply {
    /// Which is the first proposal?
    pub(super) a: String,
    /// Which is the other proposal?
    pub(super) b: String,
    /// Which words of the two proposals show how they relate? Quote both.
    #[schemars(length(max = 8), transform = entry_question("Which words of one of the two proposals show it?"))]
    pub(super) quotes: Vec<ProposalQuote>,
    /// Are they the same, are they compatible, or do they conflict?
    pub(super) relation: PairRelation,
    /// How much of what they recommend is the same, from 0 (nothing) to 1 (all of it)?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(super) similarity: f64,
}

/// Words of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct ProposalQuote {
    /// Whose proposal is it?
    pub(super) label: String,
    /// Which words of that proposal? Copy them exactly.
    #[schemars(length(max = 1000))]
    pub(super) quote: String,
}

/// How two proposals relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum PairRelation {
    Same,
    Compatible,
    Conflict,
}

impl PairRelation {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Compatible => "compatible",
            Self::Conflict => "conflict",
        }
    }
}

/// A vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct VoteReply {
    /// What are the strengths and weaknesses of each proposal? At most 150 words.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) analysis: String,
    /// What decides your vote?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) reason: String,
    /// Whose proposal is the best?
    pub(super) choice: String,
    /// How likely is it that your choice is right, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(super) confidence: f64,
}

/// The judge's scores and ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct JudgementReply {
    /// What separates the proposals from each other? At most 150 words.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) analysis: String,
    /// How good is each proposal?
    #[schemars(transform = entry_question("How good is the next proposal?"))]
    pub(super) scores: Vec<ScoreReply>,
    /// Which proposals are the best, from the best to the worst?
    #[schemars(transform = entry_question("Whose proposal comes next, from the best on?"))]
    pub(super) ranking: Vec<String>,
    /// How clear is the difference between the best two?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) margin_comment: Option<String>,
}

/// The judge's scores of one proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct ScoreReply {
    /// Whose proposal is it?
    pub(super) label: String,
    /// Why does it deserve its scores?
    pub(super) reasons: ScoreReasons,
    /// How good is it on each criterion?
    pub(super) criteria: CriteriaScores,
}

/// The scores of a proposal on the five criteria.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct CriteriaScores {
    /// Is what the proposal claims true, and would it work? From 0 to 10.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub(super) correctness: f64,
    /// Are its claims shown by something that can be checked? From 0 to 10.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub(super) evidence: f64,
    /// Can it be done with what there is? From 0 to 10.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub(super) feasibility: f64,
    /// Does it answer the critiques of it? From 0 to 10.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub(super) answers: f64,
    /// Does whoever must act on it know what to do? From 0 to 10.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub(super) clarity: f64,
}

impl CriteriaScores {
    /// The names of the criteria, in the order of [`list`](Self::list).
    pub(super) const NAMES: [&'static str; 5] =
        ["correctness", "evidence", "feasibility", "answers", "clarity"];

    pub(super) fn list(&self) -> [f64; 5] {
        [self.correctness, self.evidence, self.feasibility, self.answers, self.clarity]
    }

    pub(super) fn from_list([correctness, evidence, feasibility, answers, clarity]: [f64; 5]) -> Self {
        Self { correctness, evidence, feasibility, answers, clarity }
    }
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
    pub(super) items: Vec<FoundItem>,
    /// What a reader should know about how it was found.
    #[serde(default)]
    pub(super) note: Option<String>,
}

/// A piece of context as a source gives it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub(super) struct FoundItem {
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
    pub(super) provenance: Option<String>,
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

/// How similar texts are, each with each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct SimilarityReply {
    /// A row for each text, in it a figure for each text: 1 is the same, 0 nothing in common.
    pub(super) similarity: Vec<Vec<f64>>,
}

/// A schema that is the same in every debate.
pub(super) fn plain_schema<T: JsonSchema>(name: &str) -> Arc<ReplySchema> {
    Arc::new(schema_of::<T>(name))
}

/// The schema of one agent's revision. It has no field for what there is not: critiques to answer, critiques to judge, or proposals
/// that could be criticized and answer it.
pub(super) fn revision_schema(
    log: &ArenaLog<'_>,
    place: usize,
    round: u32,
    answered: &[&str],
    judged: &[&str],
) -> Arc<ReplySchema> {
    let mut schema = schema_of::<RevisionReply>("revision");
    let question = "What do you propose now? Write it so that somebody could act on it without asking you.";
    set_key(&mut schema, "/properties/proposal", "description", question);
    let others: Vec<String> =
        log.proposers().into_iter().filter(|other| *other != place).map(|other| log.name(other)).collect();
    allow_list(&mut schema, "/properties/addressed", "/items/properties/critique_id", answered);
    allow_list(&mut schema, "/properties/verdicts", "/items/properties/critique_id", judged);
    allow_list(&mut schema, "/properties/conflicts_with", "/items", &others);
    set_key(&mut schema, "/properties/critiques/items/properties/label", "enum", others);
    let is_missing = [
        ("addressed", answered.is_empty()),
        ("verdicts", judged.is_empty()),
        ("critiques", !log.takes_critiques(round)),
    ];
    if let Some(Value::Object(fields)) = schema.json.pointer_mut("/properties") {
        fields.retain(|name, _| !is_missing.contains(&(name.as_str(), true)));
    }
    let causes: Vec<String> = log.causes(place, round).into_iter().map(|(id, _)| id).collect();
    Arc::new(list_values(schema, "/properties/changed_because/items/properties/id", &causes))
}

pub(super) fn sorting_schema(log: &ArenaLog<'_>) -> Arc<ReplySchema> {
    let mut schema = schema_of::<SortingReply>("sorting");
    let names = names(log);
    for label in ["/a", "/b", "/quotes/items/properties/label"] {
        set_key(&mut schema, &format!("/properties/pairs/items/properties{label}"), "enum", names.clone());
    }
    set_key(&mut schema, "/properties/pairs", "maxItems", names.len() * names.len().saturating_sub(1) / 2);
    Arc::new(schema)
}

pub(super) fn vote_schema(log: &ArenaLog<'_>) -> Arc<ReplySchema> {
    let mut schema = schema_of::<VoteReply>("vote");
    let mut choices = names(log);
    choices.push(ABSTAIN.to_owned());
    set_key(&mut schema, "/properties/choice", "enum", choices);
    Arc::new(schema)
}

pub(super) fn judgement_schema(log: &ArenaLog<'_>) -> Arc<ReplySchema> {
    let mut schema = schema_of::<JudgementReply>("judgement");
    let names = names(log);
    for (list, label) in
        [("/properties/scores", "/items/properties/label"), ("/properties/ranking", "/items")]
    {
        allow_list(&mut schema, list, label, &names);
        set_key(&mut schema, list, "minItems", names.len());
    }
    Arc::new(schema)
}

/// The schema of a matrix that compares so many texts.
pub(super) fn similarity_schema(texts: usize) -> Arc<ReplySchema> {
    let mut schema = schema_of::<SimilarityReply>("similarity");
    for list in ["/properties/similarity", "/properties/similarity/items"] {
        set_key(&mut schema, list, "minItems", texts);
        set_key(&mut schema, list, "maxItems", texts);
    }
    set_key(&mut schema, "/properties/similarity/items/items", "minimum", -1.0);
    set_key(&mut schema, "/properties/similarity/items/items", "maximum", 1.0);
    Arc::new(schema)
}

fn set_key(schema: &mut ReplySchema, pointer: &str, key: &str, value: impl Into<Value>) {
    if let Some(Value::Object(place)) = schema.json.pointer_mut(pointer) {
        place.insert(key.to_owned(), value.into());
    }
}

/// Allows these values in a list, at most once each.
fn allow_list(schema: &mut ReplySchema, list: &str, value: &str, allowed: &[impl AsRef<str>]) {
    let allowed: Vec<&str> = allowed.iter().map(AsRef::as_ref).collect();
    set_key(schema, list, "maxItems", allowed.len());
    if !allowed.is_empty() {
        set_key(schema, &format!("{list}{value}"), "enum", allowed);
    }
}

/// The agents that have a proposal.
fn names(log: &ArenaLog<'_>) -> Vec<String> {
    log.proposers().into_iter().map(|place| log.name(place)).collect()
}

/// Checks what a schema cannot express. The sentence goes back to the seat.
pub(super) fn check(debate: &Debate, ask: &Ask, value: &Value) -> Result<(), ReplyFault> {
    let unreadable = |why: agon_core::Corrupt| ReplyFault::Invalid(why.to_string());
    let Some(phase) = debate.last_phase() else {
        return Err(ReplyFault::Invalid("nothing was asked yet".into()));
    };
    match ArenaPhase::of(phase).map_err(unreadable)? {
        ArenaPhase::Context => read::<ContextReply>(value).map(|_| ()),
        ArenaPhase::Propose => check_proposal(&read(value)?),
        ArenaPhase::Revise | ArenaPhase::Challenge | ArenaPhase::Refine => {
            let said = read(value)?;
            check_revision(&said)?;
            let log = ArenaLog::read_before(debate, phase).map_err(unreadable)?;
            check_causes(&log, ask, phase.round, &said)
        }
        ArenaPhase::Critique => check_critique(&read(value)?),
        ArenaPhase::Compare if ask.seat == CLERK => {
            let log = ArenaLog::read(debate).map_err(unreadable)?;
            let sorted = SortedPairs::verify(&log, &read(value)?);
            sorted.fault().map_or(Ok(()), |fault| Err(ReplyFault::Unverified(fault)))
        }
        ArenaPhase::Compare => read::<SimilarityReply>(value).map(|_| ()),
        ArenaPhase::Vote => read::<VoteReply>(value).map(|_| ()),
        ArenaPhase::Judge => {
            let log = ArenaLog::read(debate).map_err(unreadable)?;
            check_judgement(&read(value)?, &names(&log))
        }
    }
}

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, ReplyFault> {
    Ok(T::deserialize(value)?)
}

fn check_proposal(said: &ProposalReply) -> Result<(), ReplyFault> {
    let mut texts = [("proposal", &said.proposal), ("position", &said.position)].into_iter();
    match texts.find(|(_, text)| text.trim().is_empty()) {
        Some((field, _)) => Err(ReplyFault::Invalid(format!("`{field}` must not be empty"))),
        None => Ok(()),
    }
}

/// Answers and verdicts that do not count are sent back once; when the reply is read, the first of each id counts.
fn check_revision(said: &RevisionReply) -> Result<(), ReplyFault> {
    check_proposal(&said.now)?;
    let answered = said.addressed.iter().map(|answer| ("addressed", &answer.critique_id));
    let judged = said.verdicts.iter().map(|verdict| ("verdicts", &verdict.critique_id));
    let mut seen = HashSet::new();
    if let Some((field, id)) = answered.chain(judged).find(|listed| !seen.insert(*listed)) {
        let fault = format!("`{field}` has {id} twice: list each critique once");
        return Err(ReplyFault::Unverified(fault));
    }
    match said.addressed.iter().find(|answer| answer.how.trim().is_empty()) {
        Some(answer) => {
            let fault = format!("`how` of {} is empty: say what you changed, or why not", answer.critique_id);
            Err(ReplyFault::Unverified(fault))
        }
        None => Ok(()),
    }
}

/// A cause must be one that the agent was shown, with words that occur in it.
fn check_causes(log: &ArenaLog<'_>, ask: &Ask, round: u32, said: &RevisionReply) -> Result<(), ReplyFault> {
    let Some(place) = log.agents.iter().position(|agent| agent.seat.id == ask.seat) else { return Ok(()) };
    let causes = log.causes(place, round);
    match said.changed_because.iter().find(|cause| !log.is_cause(&causes, cause)) {
        Some(ChangeCause { id, quote }) => Err(ReplyFault::Unverified(format!(
            "`changed_because`: {quote:?} does not occur in {id:?} as it was shown to you ({QUOTE_EXACTLY})"
        ))),
        None => Ok(()),
    }
}

fn check_critique(said: &CritiqueReply) -> Result<(), ReplyFault> {
    let has_issue = said.issues.iter().any(|issue| !issue.trim().is_empty());
    if said.severity <= 0.0 || has_issue {
        return Ok(());
    }
    Err(ReplyFault::Invalid(format!(
        "`severity` is {}, so `issues` must name at least one; if nothing is wrong, set `severity` to 0",
        said.severity
    )))
}

fn check_judgement(said: &JudgementReply, names: &[String]) -> Result<(), ReplyFault> {
    let scored: Vec<String> = said.scores.iter().map(|scored| agent_name(&scored.label)).collect();
    let ranked: Vec<String> = said.ranking.iter().map(|label| agent_name(label)).collect();
    for (field, said) in [("scores", scored), ("ranking", ranked)] {
        let times = |name: &String| said.iter().filter(|other| *other == name).count();
        if let Some(name) = names.iter().find(|name| times(name) != 1) {
            let times = times(name);
            return Err(ReplyFault::Invalid(format!(
                "`{field}` has {name} {times} times: it must list every proposal exactly once"
            )));
        }
    }
    match said.scores.iter().find(|scored| scored.reasons.texts().is_empty()) {
        Some(scored) => Err(ReplyFault::Invalid(format!("`reasons` for {} must not be empty", scored.label))),
        None => Ok(()),
    }
}
