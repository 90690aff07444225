//! What the judges of `review` answer, in the fields of the seed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::prompt::entry_question;

/// Whether the target may go on as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum JudgeVerdict {
    /// Yes.
    Pass,
    /// Yes, but something should be fixed.
    Warn,
    /// Not before something is fixed.
    Fail,
}

impl JudgeVerdict {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Warn => "WARN",
            Self::Fail => "FAIL",
        }
    }
}

/// How sure a judge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "the names say it")]
pub enum JudgeConfidence {
    High,
    Medium,
    Low,
}

impl JudgeConfidence {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "HIGH",
            Self::Medium => "MEDIUM",
            Self::Low => "LOW",
        }
    }
}

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingSeverity {
    /// It must be fixed first.
    Critical,
    /// It should be fixed.
    Significant,
    /// It could be better.
    Minor,
}

impl FindingSeverity {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Significant => "significant",
            Self::Minor => "minor",
        }
    }
}

/// Something that a judge found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeFinding {
    /// How much does it weigh?
    pub severity: FindingSeverity,
    /// What is wrong?
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
    /// What would mend it?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub recommendation: Option<String>,
}

/// A judge's verdict of round 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FirstVerdict {
    /// May it go on as it is: PASS, WARN or FAIL?
    pub verdict: JudgeVerdict,
    /// How sure are you?
    pub confidence: JudgeConfidence,
    /// What is the most important thing to know about it?
    #[schemars(length(max = 4000))]
    pub key_insight: String,
    /// What did you find?
    #[serde(default)]
    #[schemars(length(max = 40))]
    pub findings: Vec<JudgeFinding>,
    /// What should be done?
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub recommendation: String,
}

/// A judge's verdict of round 2, after reading the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SecondVerdict {
    /// What was your verdict of round 1, and on what evidence? Two or three sentences.
    #[schemars(length(max = 4000))]
    pub restatement: String,
    /// What is your verdict now?
    pub verdict: JudgeVerdict,
    /// How sure are you?
    pub confidence: JudgeConfidence,
    /// What is the most important thing to know about it?
    #[schemars(length(max = 4000))]
    pub key_insight: String,
    /// What do you find now? All that still stands, and what is new.
    #[serde(default)]
    #[schemars(length(max = 40))]
    pub findings: Vec<JudgeFinding>,
    /// What should be done?
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub recommendation: String,
    /// What is the strongest case for a verdict that you do not share?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub steel_man: String,
    /// Which claims of other judges do you dispute?
    #[serde(default)]
    #[schemars(length(max = 24))]
    pub challenges: Vec<VerdictChallenge>,
    /// Which points of other judges do you accept?
    #[serde(default)]
    #[schemars(length(max = 24))]
    pub acknowledgments: Vec<AcceptedPoint>,
    /// Which evidence that you missed in round 1 changed your verdict? Null if it did not change.
    #[serde(default)]
    pub changed_because: Option<ChangeReason>,
}

/// A claim of another judge that is disputed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictChallenge {
    /// Whose claim is it?
    pub judge: String,
    /// What does that judge claim?
    #[schemars(length(max = 4000))]
    pub claim: String,
    /// What do you answer?
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

/// The evidence for a change of verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeReason {
    /// What kind of evidence is it?
    pub kind: EvidenceKind,
    /// What exactly: the code location, the detail, the error?
    #[schemars(length(max = 4000))]
    pub citation: String,
}

/// What may change a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are the protocol's own words")]
pub enum EvidenceKind {
    CodeLocation,
    MissedDetail,
    FactualError,
}

impl EvidenceKind {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CodeLocation => "code_location",
            Self::MissedDetail => "missed_detail",
            Self::FactualError => "factual_error",
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
    /// What did you find?
    #[serde(default)]
    #[schemars(length(max = 40))]
    pub findings: Vec<JudgeFinding>,
    /// What should your judge look at more closely?
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub notes: String,
}

/// An answer in brainstorm mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BrainstormAnswer {
    /// What is the most promising direction?
    #[schemars(length(max = 4000))]
    pub key_insight: String,
    /// What could be done?
    #[serde(default)]
    #[schemars(length(max = 24))]
    pub ideas: Vec<BrainstormIdea>,
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
    /// What is the most important thing that is known?
    #[schemars(length(max = 4000))]
    pub key_insight: String,
    /// What is known, and how?
    #[serde(default)]
    #[schemars(length(max = 24))]
    pub facts: Vec<ResearchFact>,
    /// What is not known?
    #[serde(default)]
    #[schemars(length(max = 24), inner(length(max = 4000)), transform = entry_question("What is not known?"))]
    pub open_questions: Vec<String>,
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
