//! What the seats of `arena` answer, and what comes back from an errand.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rhetoric::phrases::sentences;
use crate::prompt::each;

/// A position is one sentence, and of a longer one others read the first: who writes more has not lost its voice.
const POSITION_CHARS_MAX: usize = 2000;

/// A proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proposal {
    /// What do you propose? Complete in itself.
    #[schemars(length(max = 16000))]
    pub proposal: String,
    /// What is your proposal in one sentence?
    #[schemars(length(max = POSITION_CHARS_MAX))]
    pub position: String,
    /// What does it rest on?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub claims: Vec<Claim>,
    /// How sure are you that it is right, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
}

/// Something that a proposal rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// What do you claim?
    #[schemars(length(max = 4000))]
    pub claim: String,
    /// What shows it?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub evidence: String,
}

/// A proposal as it is revised, refined, or held against a challenge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Revision {
    /// What do you propose now? Complete in itself.
    #[schemars(length(max = 16000))]
    pub proposal: String,
    /// What is your proposal in one sentence?
    #[schemars(length(max = POSITION_CHARS_MAX))]
    pub position: String,
    /// What does it rest on?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub claims: Vec<Claim>,
    /// How sure are you that it is right, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
    /// Which critiques did you answer?
    #[serde(default)]
    pub addressed: Vec<Addressed>,
    /// With whose position does yours conflict, so that both cannot hold? Empty if with nobody's.
    #[schemars(transform = each("Whose position conflicts with yours?"))]
    pub conflicts_with: Vec<String>,
}

/// How a critique was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Addressed {
    /// Which critique?
    pub critique_id: String,
    /// What did you change for it, or why not?
    #[schemars(length(max = 4000))]
    pub how: String,
}

impl From<Proposal> for Revision {
    fn from(first: Proposal) -> Self {
        let Proposal { proposal, position, claims, confidence } = first;
        Self { proposal, position, claims, confidence, addressed: Vec::new(), conflicts_with: Vec::new() }
    }
}

impl Revision {
    /// The position as others read it: its first sentence, and what stands before it without being one, such as "1." or "No.".
    pub fn sentence(&self) -> &str {
        const WORDS_MIN: usize = 3;
        let upto = |end: usize| self.position.get(..end).unwrap_or_default().trim();
        let ends = sentences(&self.position).into_iter().map(|place| place.end);
        let said = ends.map(upto).find(|said| said.split_whitespace().count() >= WORDS_MIN);
        said.unwrap_or(self.position.trim())
    }

    /// What is compared with the others', and with what it was before.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.position.trim(), self.proposal.trim())
    }
}

/// A critique of somebody else's proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Critique {
    /// How grave is what is wrong with it, from 0 (nothing is) to 1 (it cannot stand)?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub severity: f64,
    /// What is wrong with it?
    #[serde(default)]
    #[schemars(length(max = 12), inner(length(max = 4000)), transform = each("What is wrong with it?"))]
    pub issues: Vec<String>,
    /// What would make it better?
    #[serde(default)]
    #[schemars(length(max = 12), inner(length(max = 4000)), transform = each("What would make it better?"))]
    pub suggestions: Vec<String>,
}

/// A vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Vote {
    /// Whose proposal is the best?
    pub choice: String,
    /// How sure are you that it is, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
    /// What decides it?
    #[schemars(length(max = 4000))]
    pub reason: String,
}

/// The judge's scores and ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// How good is each proposal?
    pub scores: Vec<Scored>,
    /// All proposals, the best first.
    #[schemars(transform = each("Whose proposal comes next, from the best on?"))]
    pub ranking: Vec<String>,
    /// How clear is the difference between the best two?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub margin_comment: Option<String>,
}

/// The judge's score of one proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scored {
    /// Whose proposal?
    pub label: String,
    /// How good is it by the criteria, from 0 to 10?
    #[schemars(range(min = 0.0, max = 10.0))]
    pub score: f64,
    /// Why?
    pub reasons: Reasons,
}

/// One reason or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Reasons {
    /// In one text.
    Text(#[schemars(length(max = 8000))] String),
    /// One by one.
    List(#[schemars(length(min = 1, max = 12), inner(length(max = 4000)))] Vec<String>),
}

impl Reasons {
    /// The reasons that say anything.
    pub fn said(&self) -> Vec<String> {
        let all = match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::List(texts) => texts,
        };
        all.iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
    }
}

/// What a source of context found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// The best first.
    pub items: Vec<FoundItem>,
    /// What a reader should know about how it was found.
    #[serde(default)]
    pub note: Option<String>,
}

/// A piece of context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundItem {
    /// What it is called.
    #[serde(default)]
    pub title: String,
    /// What it says.
    pub text: String,
    /// Where it is from.
    #[serde(default)]
    pub source: String,
    /// When that was, RFC 3339.
    #[serde(default)]
    pub at: Option<String>,
    /// The debate that it is from.
    #[serde(default)]
    pub debate: Option<String>,
    /// How it turned out.
    #[serde(default)]
    pub turned_out: Option<TurnedOut>,
    /// Who remembers it.
    #[serde(default)]
    pub agent: Option<String>,
    /// How well it fits the question.
    #[serde(default)]
    pub score: Option<f64>,
}

/// How a decision turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnedOut {
    /// It was right.
    Right,
    /// It was wrong.
    Wrong,
}

/// How alike texts are, each with each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Likeness {
    /// A row for each text, in it a figure for each text: 1 is the same, 0 nothing in common.
    pub similarity: Vec<Vec<f64>>,
}
