//! What the seats of a council answer.
//!
//! The doc comments here are the descriptions in the JSON Schemas that seats are given, so they are part of the prompts. Those of fields
//! are questions, because a person or a small model is asked for one field at a time, with just that question.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::prompt::entry_question;

/// A councillor's opening statement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct OpeningStatement {
    /// What is your position on the topic? In a few sentences.
    #[schemars(length(max = 8000))]
    pub(super) position: String,
    /// What are your arguments, 3 to 5 of them?
    #[schemars(length(min = 3, max = 5), inner(length(max = 4000)), transform = entry_question("What is an argument for your position?"))]
    pub(super) arguments: Vec<String>,
    /// How sure are you?
    pub(super) confidence: CouncilConfidence,
    /// What do you want other councillors to answer? At least one question.
    #[schemars(length(min = 1, max = 5))]
    pub(super) questions: Vec<OpeningQuestion>,
}

/// A question to another councillor. It counts as a challenge.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct OpeningQuestion {
    /// Whom do you ask?
    pub(super) to: String,
    /// What do you ask?
    #[schemars(length(max = 4000))]
    pub(super) question: String,
}

/// How sure a councillor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum CouncilConfidence {
    Low,
    Medium,
    High,
}

super::wire_names!(CouncilConfidence { Low = "LOW", Medium = "MEDIUM", High = "HIGH" });

/// What a councillor says in a round of cross-examination.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct CrossExamination {
    /// Which points of other councillors do you challenge? At least two.
    #[schemars(length(min = 2, max = 6))]
    pub(super) challenges: Vec<NewChallenge>,
    /// What do you answer to the challenges against you? One response to each id.
    #[serde(default)]
    pub(super) responses: Vec<ChallengeResponse>,
    /// What do you want to probe with another councillor directly? Only the recipient reads it, and answers.
    #[serde(default)]
    pub(super) messages: Vec<NewMessage>,
    /// What is your position now? In a few sentences.
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub(super) position: String,
    /// Did your position change in this round?
    pub(super) changed: bool,
    /// Why did it change, or why do your arguments hold?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) because: String,
    /// Which arguments do you bring that nobody has made before?
    #[serde(default)]
    #[schemars(length(max = 5), inner(length(max = 4000)), transform = entry_question("What is an argument that nobody has made before?"))]
    pub(super) new_arguments: Vec<String>,
    /// How sure are you now?
    pub(super) confidence: CouncilConfidence,
}

/// A challenge to another councillor.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct NewChallenge {
    /// Whom do you challenge?
    pub(super) to: String,
    /// Which claim of theirs do you challenge? Quote it.
    #[schemars(length(max = 2000))]
    pub(super) claim: String,
    /// Why is that wrong, or why does it need scrutiny?
    #[schemars(length(max = 4000))]
    pub(super) reason: String,
    /// What must they answer?
    #[schemars(length(max = 4000))]
    pub(super) question: String,
}

/// The answer to a challenge.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct ChallengeResponse {
    /// Which challenge do you answer?
    pub(super) challenge_id: String,
    /// Do you agree, disagree, or modify your point?
    pub(super) stance: ChallengeStance,
    /// What is your direct response?
    #[schemars(length(max = 8000))]
    pub(super) response: String,
}

/// Where a councillor stands on a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChallengeStance {
    Agree,
    Disagree,
    Modified,
}

super::wire_names!(ChallengeStance { Agree = "agree", Disagree = "disagree", Modified = "modified" });

/// A message to one councillor.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct NewMessage {
    /// To whom do you write?
    pub(super) to: String,
    /// What is it about?
    #[schemars(length(max = 300))]
    pub(super) topic: String,
    /// What do you write?
    #[schemars(length(max = 4000))]
    pub(super) text: String,
}

/// What a councillor answers to the messages that it got.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct MessageReplies {
    /// What do you answer to each message?
    pub(super) replies: Vec<MessageReply>,
    /// What is your position now, if the exchange changed it? Empty if it did not.
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub(super) position: String,
    /// Did the exchange change your position?
    #[serde(default)]
    pub(super) changed: bool,
    /// Why did it change?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) because: String,
}

/// The answer to one message.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct MessageReply {
    /// Which message do you answer?
    pub(super) message_id: String,
    /// What do you answer?
    #[schemars(length(max = 4000))]
    pub(super) text: String,
}

/// The case against what the council is about to agree on.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct SteelmanCase {
    /// What is the strongest argument against it?
    #[schemars(length(max = 8000))]
    pub(super) counter_argument: String,
    /// What would need to be true for this consensus to be wrong?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) must_be_true: String,
    /// What evidence would change your mind?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) would_change_my_mind: String,
    /// What blind spots might all councillors share?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) blind_spots: String,
}

/// The answer to a challenge that is put again. Without a stance it is none.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct SecondResponse {
    /// Which challenge do you answer?
    pub(super) challenge_id: String,
    /// Do you agree, disagree, or modify your point?
    #[serde(default)]
    pub(super) stance: Option<ChallengeStance>,
    /// What is your direct response?
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub(super) response: String,
}

/// What a reframing question does to a councillor's analysis.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct ReframingAnswer {
    /// How does the question change your analysis?
    #[schemars(length(max = 8000))]
    pub(super) effect: String,
    /// What is your position now? In a few sentences.
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub(super) position: String,
    /// Did your position change?
    #[serde(default)]
    pub(super) changed: bool,
    /// Why did it change?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) because: String,
}

/// A councillor's last word and vote.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct FinalStatement {
    /// What is your final position?
    #[schemars(length(max = 8000))]
    pub(super) final_position: String,
    /// Which argument decides it for you?
    #[schemars(length(max = 4000))]
    pub(super) key_argument: String,
    /// What is the strongest point of the other side?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) strongest_opposing_point: String,
    /// Which concern remains?
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub(super) remaining_concern: String,
    /// How do you vote?
    pub(super) vote: CouncilVote,
    /// Under which conditions?
    #[serde(default)]
    #[schemars(length(max = 8), inner(length(max = 2000)), transform = entry_question("What must be so before it goes ahead?"))]
    pub(super) conditions: Vec<String>,
    /// Which risks do you see?
    #[serde(default)]
    #[schemars(length(max = 8))]
    pub(super) risks: Vec<StatedRisk>,
}

/// A vote, from the most to the least in favour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub(super) enum CouncilVote {
    #[serde(rename = "PROCEED")]
    Proceed,
    #[serde(rename = "PROCEED WITH CONDITIONS")]
    WithConditions,
    #[serde(rename = "RECONSIDER")]
    Reconsider,
    #[serde(rename = "DO NOT PROCEED")]
    DoNotProceed,
}

super::wire_names!(CouncilVote {
   Proceed = "PROCEED",
   WithConditions = "PROCEED WITH CONDITIONS",
   Reconsider = "RECONSIDER",
   DoNotProceed = "DO NOT PROCEED",
});

impl CouncilVote {
    /// Whether it is on the side that goes ahead.
    pub(super) fn is_in_favour(self) -> bool {
        matches!(self, Self::Proceed | Self::WithConditions)
    }
}

/// A risk of going ahead.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct StatedRisk {
    /// What could go wrong?
    #[schemars(length(max = 2000))]
    pub(super) risk: String,
    /// How bad would that be?
    pub(super) severity: RiskSeverity,
    /// How likely is it?
    pub(super) probability: RiskProbability,
    /// What would make it smaller?
    #[serde(default)]
    #[schemars(length(max = 2000))]
    pub(super) mitigation: String,
}

/// How bad a risk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RiskSeverity {
    Low,
    Medium,
    High,
    Critical,
}

super::wire_names!(RiskSeverity { Low = "low", Medium = "medium", High = "high", Critical = "critical" });

/// How likely a risk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RiskProbability {
    Low,
    Medium,
    High,
}

super::wire_names!(RiskProbability { Low = "low", Medium = "medium", High = "high" });

/// What the moderator finds in a round.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct ModeratorReply {
    /// Which major points do several councillors share?
    #[serde(default)]
    #[schemars(length(max = 6))]
    pub(super) shared_points: Vec<SharedPointFinding>,
    /// Which responses do not engage the challenge that they answer?
    #[serde(default)]
    #[schemars(length(max = 6))]
    pub(super) evasions: Vec<EvasionFinding>,
    /// Which arguments of this round had nobody made before?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub(super) new_arguments: Vec<NewArgumentFinding>,
    /// Which provocative question would reframe the topic, if the debate has stalled? Empty if it has not.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub(super) reframing_question: String,
}

/// A point that several councillors share.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct SharedPointFinding {
    /// What do they agree on?
    #[schemars(length(max = 1000))]
    pub(super) point: String,
    /// Who shares it?
    #[schemars(length(max = 6))]
    pub(super) councillors: Vec<String>,
    /// Did anybody challenge it rigorously?
    pub(super) challenged: bool,
    /// Which words of each of them say it? Copy them exactly.
    #[serde(default)]
    #[schemars(length(max = 6))]
    pub(super) quotes: Vec<CouncillorQuote>,
}

/// A councillor's own words.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct CouncillorQuote {
    /// Whose words are they?
    pub(super) councillor: String,
    /// Which words? Copy them exactly.
    #[schemars(length(max = 2000))]
    pub(super) quote: String,
}

impl CouncillorQuote {
    pub(super) fn new(councillor: &str, quote: &str) -> Self {
        Self { councillor: councillor.to_owned(), quote: quote.to_owned() }
    }
}

/// A response that evades its challenge.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct EvasionFinding {
    /// Which challenge was evaded?
    pub(super) challenge_id: String,
    /// What does the response leave unanswered?
    #[schemars(length(max = 2000))]
    pub(super) why: String,
    /// Which words of the response show it? Copy them exactly.
    #[schemars(length(max = 2000))]
    pub(super) quote: String,
}

/// An argument that was not made before.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct NewArgumentFinding {
    /// Who made it?
    pub(super) councillor: String,
    /// What is the argument?
    #[schemars(length(max = 2000))]
    pub(super) argument: String,
    /// Which words of theirs make it? Copy them exactly.
    #[serde(default)]
    #[schemars(length(max = 2000))]
    pub(super) quote: String,
}
