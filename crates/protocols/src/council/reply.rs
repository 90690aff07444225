//! What councillors answer, and so the JSON Schemas that they are asked for; the moderator's answer is in `moderator`.
//!
//! Descriptions are questions, because who is asked field by field is asked just those.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::prompt::each;

mod moderator;

pub use moderator::{Evasion, Moderation, NewArgument, Quotation, SharedPoint};

/// A councillor's opening statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Opening {
    /// What is your position on the topic? In a few sentences.
    #[schemars(length(max = 8000))]
    pub position: String,
    /// What are your arguments, 3 to 5 of them?
    #[schemars(length(min = 3, max = 5), inner(length(max = 4000)), transform = each("What is an argument for your position?"))]
    pub arguments: Vec<String>,
    /// How sure are you?
    pub confidence: Confidence,
    /// What do you want other councillors to answer? At least one question.
    #[schemars(length(min = 1, max = 5))]
    pub questions: Vec<Question>,
}

/// A question to another councillor. It counts as a challenge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// Whom do you ask?
    pub to: String,
    /// What do you ask?
    #[schemars(length(max = 4000))]
    pub question: String,
}

/// How sure a councillor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "the names are the seed's own")]
pub enum Confidence {
    Low,
    Medium,
    High,
}

impl Confidence {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
        }
    }
}

/// What a councillor says in a round of cross-examination.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Examination {
    /// Which points of other councillors do you challenge? At least two.
    #[schemars(length(min = 2, max = 6))]
    pub challenges: Vec<Challenge>,
    /// What do you answer to the challenges against you? One response to each id.
    #[serde(default)]
    pub responses: Vec<Response>,
    /// What do you want to probe with another councillor directly? Only the recipient reads it, and answers.
    #[serde(default)]
    pub messages: Vec<Message>,
    /// What is your position now? In a few sentences.
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub position: String,
    /// Did your position change in this round?
    pub changed: bool,
    /// Why did it change, or why do your arguments hold?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub because: String,
    /// Which arguments do you bring that nobody has made before?
    #[serde(default)]
    #[schemars(length(max = 5), inner(length(max = 4000)), transform = each("What is an argument that nobody has made before?"))]
    pub new_arguments: Vec<String>,
    /// How sure are you now?
    pub confidence: Confidence,
}

/// A challenge to another councillor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Challenge {
    /// Whom do you challenge?
    pub to: String,
    /// Which claim of theirs do you challenge? Quote it.
    #[schemars(length(max = 2000))]
    pub claim: String,
    /// Why is that wrong, or why does it need scrutiny?
    #[schemars(length(max = 4000))]
    pub reason: String,
    /// What must they answer?
    #[schemars(length(max = 4000))]
    pub question: String,
}

/// The answer to a challenge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Response {
    /// Which challenge do you answer?
    pub challenge_id: String,
    /// Do you agree, disagree, or modify your point?
    pub stance: Stance,
    /// What is your direct response?
    #[schemars(length(max = 8000))]
    pub response: String,
}

/// Where a councillor stands on a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the wire's own")]
pub enum Stance {
    Agree,
    Disagree,
    Modified,
}

impl Stance {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agree => "agree",
            Self::Disagree => "disagree",
            Self::Modified => "modified",
        }
    }
}

/// A message to one councillor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// To whom do you write?
    pub to: String,
    /// What is it about?
    #[schemars(length(max = 300))]
    pub topic: String,
    /// What do you write?
    #[schemars(length(max = 4000))]
    pub text: String,
}

/// What a councillor answers to the messages that it got.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Correspondence {
    /// What do you answer to each message?
    pub replies: Vec<PeerReply>,
    /// What is your position now, if the exchange changed it? Empty if it did not.
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub position: String,
    /// Did the exchange change your position?
    #[serde(default)]
    pub changed: bool,
    /// Why did it change?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub because: String,
}

/// The answer to one message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeerReply {
    /// Which message do you answer?
    pub message_id: String,
    /// What do you answer?
    #[schemars(length(max = 4000))]
    pub text: String,
}

/// The case against what the council is about to agree on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Steelman {
    /// What is the strongest argument against it?
    #[schemars(length(max = 8000))]
    pub counter_argument: String,
    /// What would need to be true for this consensus to be wrong?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub must_be_true: String,
    /// What evidence would change your mind?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub would_change_my_mind: String,
    /// What blind spots might all councillors share?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub blind_spots: String,
}

/// The answer to a challenge that is put again. Without a stance it is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SecondResponse {
    /// Which challenge do you answer?
    pub challenge_id: String,
    /// Do you agree, disagree, or modify your point?
    #[serde(default)]
    pub stance: Option<Stance>,
    /// What is your direct response?
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub response: String,
}

/// What a reframing question does to a councillor's analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reframed {
    /// How does the question change your analysis?
    #[schemars(length(max = 8000))]
    pub effect: String,
    /// What is your position now? In a few sentences.
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub position: String,
    /// Did your position change?
    #[serde(default)]
    pub changed: bool,
    /// Why did it change?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub because: String,
}

/// A councillor's last word and vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Final {
    /// What is your final position?
    #[schemars(length(max = 8000))]
    pub final_position: String,
    /// Which argument decides it for you?
    #[schemars(length(max = 4000))]
    pub key_argument: String,
    /// What is the strongest point of the other side?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub strongest_opposing_point: String,
    /// Which concern remains?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub remaining_concern: String,
    /// How do you vote?
    pub vote: Vote,
    /// Under which conditions?
    #[serde(default)]
    #[schemars(length(max = 8), inner(length(max = 2000)), transform = each("What must be so before it goes ahead?"))]
    pub conditions: Vec<String>,
    /// Which risks do you see?
    #[serde(default)]
    #[schemars(length(max = 8))]
    pub risks: Vec<Risk>,
}

/// A vote, from the most to the least in favour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the names are the wire's own")]
pub enum Vote {
    #[serde(rename = "PROCEED")]
    Proceed,
    #[serde(rename = "PROCEED WITH CONDITIONS")]
    WithConditions,
    #[serde(rename = "RECONSIDER")]
    Reconsider,
    #[serde(rename = "DO NOT PROCEED")]
    DoNotProceed,
}

impl Vote {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Proceed, Self::WithConditions, Self::Reconsider, Self::DoNotProceed];

    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proceed => "PROCEED",
            Self::WithConditions => "PROCEED WITH CONDITIONS",
            Self::Reconsider => "RECONSIDER",
            Self::DoNotProceed => "DO NOT PROCEED",
        }
    }

    /// Whether it is on the side that goes ahead.
    pub fn is_in_favour(self) -> bool {
        matches!(self, Self::Proceed | Self::WithConditions)
    }
}

/// A risk of going ahead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Risk {
    /// What could go wrong?
    #[schemars(length(max = 2000))]
    pub risk: String,
    /// How bad would that be?
    pub severity: Severity,
    /// How likely is it?
    pub probability: Probability,
    /// What would make it smaller?
    #[serde(default)]
    #[schemars(length(max = 2000))]
    pub mitigation: String,
}

/// How bad a risk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the wire's own")]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

/// How likely a risk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the wire's own")]
pub enum Probability {
    Low,
    Medium,
    High,
}
