//! What the seats of `review` answer: the seed's fields, with reasons before decisions and ids for what is declared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::findings::is_id;
use crate::prompt::entry_question;

agon_core::option_words! {
    /// Whether the target may go ahead.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "UPPERCASE")]
    pub enum JudgeVerdict {
        /// As it is.
        Pass = "PASS",
        /// With something to fix.
        Warn = "WARN",
        /// Not before something is fixed.
        Fail = "FAIL",
    }
}

agon_core::option_words! {
    /// How sure a judge is.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "UPPERCASE")]
    pub enum JudgeConfidence { High = "HIGH", Medium = "MEDIUM", Low = "LOW" }
}

agon_core::option_words! {
    /// How much a finding weighs, the worst first.
    #[derive(PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum FindingSeverity { Critical = "critical", Significant = "significant", Minor = "minor" }
}

/// Something that a judge found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeFinding {
    /// How severe is it? critical: the target must not go ahead like this; significant: fix it before or soon after; minor: optional.
    pub severity: FindingSeverity,
    /// What goes wrong, and when?
    #[schemars(length(max = 4000))]
    pub description: String,
    /// What kind of problem is it, in one or two words?
    #[serde(default)]
    #[schemars(length(max = 80))]
    pub category: Option<String>,
    /// Where is it, as path:line?
    #[serde(default)]
    #[schemars(length(max = 400))]
    pub location: Option<String>,
    /// What would fix it?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub recommendation: Option<String>,
}

/// A judge's verdict of round 1.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FirstVerdict {
    /// What did you check, and what did you see? At most 150 words.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub analysis: String,
    /// What problems did you find? The most severe first.
    #[serde(default)]
    #[schemars(length(max = 40))]
    pub findings: Vec<JudgeFinding>,
    /// What is the most important thing to know about the target?
    #[schemars(length(max = 4000))]
    pub key_insight: String,
    /// May the target go ahead? PASS: as it is. WARN: yes, but something should be fixed. FAIL: not before something is fixed.
    pub verdict: JudgeVerdict,
    /// How sure are you of the verdict?
    pub confidence: JudgeConfidence,
    /// What should be done?
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub recommendation: String,
}

/// A judge's verdict of round 2, after reading the others.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SecondVerdict {
    /// What was your verdict of round 1, and on what evidence? Two or three sentences.
    #[schemars(length(max = 4000))]
    pub restatement: String,
    /// The fields of round 1. Its findings are new ones.
    #[serde(flatten)]
    pub now: FirstVerdict,
    /// What becomes of each of your own findings?
    #[serde(default)]
    #[schemars(length(max = 40))]
    pub own: Vec<OwnFindingStatus>,
    /// Which findings of the other judges do you accept or dispute?
    #[serde(default)]
    #[schemars(length(max = 80))]
    pub others: Vec<OtherFindingStatus>,
    /// Which findings of the other judges are the same problem as one of yours?
    #[serde(default)]
    #[schemars(length(max = 40))]
    pub same_as: Vec<SameFinding>,
    /// What is the strongest case for a verdict that you do not share?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub steel_man: String,
    /// Which claims of other judges, beyond their findings, are wrong?
    #[serde(default)]
    #[schemars(length(max = 24))]
    pub challenges: Vec<VerdictChallenge>,
    /// Which points of other judges, beyond their findings, do you accept?
    #[serde(default)]
    #[schemars(length(max = 24))]
    pub acknowledgments: Vec<AcceptedPoint>,
    /// What evidence that you missed in round 1 changes your verdict? Null if your verdict does not change.
    #[serde(default)]
    pub changed_because: Option<ChangeReason>,
}

impl SecondVerdict {
    /// What it says to the judge's own finding of this id. Two answers that contradict each other say nothing.
    pub(super) fn own_status(&self, id: &str) -> Option<&OwnFindingStatus> {
        let mut own = self.own.iter().filter(|own| is_id(&own.id, id));
        let first = own.next()?;
        own.all(|other| (other.status, other.severity) == (first.status, first.severity)).then_some(first)
    }
}

agon_core::option_words! {
    /// What becomes of a judge's own finding.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum OwnStatus { Keep = "keep", Change = "change", Drop = "drop" }
}

agon_core::option_words! {
    /// What a judge says to a finding of another.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum OtherStatus { Accept = "accept", Dispute = "dispute" }
}

/// What becomes of a judge's own finding, by its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnFindingStatus {
    /// Which of your findings?
    pub id: String,
    /// What speaks for it or against it now?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub reason: String,
    /// Does it stand? keep: as it is; change: with another severity; drop: it is no problem.
    pub status: OwnStatus,
    /// How severe is it now? Null unless you change it.
    #[serde(default)]
    pub severity: Option<FindingSeverity>,
}

/// What a judge says to a finding of another, by its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OtherFindingStatus {
    /// Which finding?
    pub id: String,
    /// What did you see when you checked it?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub reason: String,
    /// Is it a problem? accept: you checked it and it is; dispute: you checked it and it is not.
    pub status: OtherStatus,
    /// How severe is it to you? Null if you dispute it or its severity is right.
    #[serde(default)]
    pub severity: Option<FindingSeverity>,
}

/// Two findings that are the same problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SameFinding {
    /// Which of your findings?
    pub own: String,
    /// Which finding of another judge is the same problem?
    pub other: String,
}

/// A claim of another judge that is disputed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictChallenge {
    /// Whose claim is it?
    pub judge: String,
    /// What does that judge claim?
    #[schemars(length(max = 4000))]
    pub claim: String,
    /// What is wrong with it?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub response: String,
}

/// A point of another judge that is accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedPoint {
    /// Whose point is it?
    pub judge: String,
    /// Which point?
    #[schemars(length(max = 4000))]
    pub point: String,
}

agon_core::option_words! {
    /// What may change a verdict.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum EvidenceKind {
        CodeLocation = "code_location",
        MissedDetail = "missed_detail",
        FactualError = "factual_error",
    }
}

/// The evidence for a change of verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeReason {
    /// What kind of evidence is it? code_location: a line of the target; missed_detail: words of the target, or another judge's finding;
    /// factual_error: something that you said in round 1 and that the target contradicts.
    pub kind: EvidenceKind,
    /// What does the evidence point to: path:line, the id of a finding, or what contradicts you? Empty for mere words of the target.
    #[schemars(length(max = 4000))]
    pub citation: String,
    /// Which words are the evidence? Copy them exactly; for factual_error, from what you said in round 1.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub quote: String,
}

impl ChangeReason {
    /// What it points to, and the words, as the judge gave them.
    pub(super) fn words(&self) -> String {
        match (self.citation.trim(), self.quote.trim()) {
            ("", quote) => format!("\u{201c}{quote}\u{201d}"),
            (citation, quote) if quote.is_empty() || quote == citation => citation.to_owned(),
            (citation, quote) => format!("{citation} \u{201c}{quote}\u{201d}"),
        }
    }
}

/// A judge's restatement of its own verdict, before it reads the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictRestatement {
    /// What was your verdict of round 1, and on what evidence? Two or three sentences.
    #[schemars(length(max = 4000))]
    pub restatement: String,
}

/// What an explorer brings to its judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplorerReport {
    /// What problems did you find in your part? The most severe first.
    #[serde(default)]
    #[schemars(length(max = 40))]
    pub findings: Vec<JudgeFinding>,
    /// What should the judge look at more closely?
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub notes: String,
}

/// An answer in brainstorm mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BrainstormAnswer {
    /// What could be done?
    #[serde(default)]
    #[schemars(length(max = 24))]
    pub ideas: Vec<BrainstormIdea>,
    /// Which idea is the most promising, and why?
    #[schemars(length(max = 4000))]
    pub key_insight: String,
    /// What should be tried first?
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub recommendation: String,
}

/// One idea.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrainstormIdea {
    /// What is the idea?
    #[schemars(length(max = 4000))]
    pub idea: String,
    /// What speaks for it?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub upside: String,
    /// What speaks against it?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub risk: String,
}

/// An answer in research mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResearchAnswer {
    /// What is known, and how?
    #[serde(default)]
    #[schemars(length(max = 24))]
    pub facts: Vec<ResearchFact>,
    /// What is not known?
    #[serde(default)]
    #[schemars(length(max = 24), inner(length(max = 4000)), transform = entry_question("What is not known?"))]
    pub open_questions: Vec<String>,
    /// What is the most important thing that is known?
    #[schemars(length(max = 4000))]
    pub key_insight: String,
    /// What should be looked into first?
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub recommendation: String,
}

/// Something that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResearchFact {
    /// What is the case?
    #[schemars(length(max = 4000))]
    pub claim: String,
    /// How is that known?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub evidence: String,
    /// How sure is it?
    pub confidence: JudgeConfidence,
}
