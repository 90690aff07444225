//! What the moderator of a council answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the moderator finds in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moderation {
    /// Which major points do several councillors share?
    #[serde(default)]
    #[schemars(length(max = 6))]
    pub shared_points: Vec<SharedPoint>,
    /// Which responses do not engage the challenge that they answer?
    #[serde(default)]
    #[schemars(length(max = 6))]
    pub evasions: Vec<Evasion>,
    /// Which arguments of this round had nobody made before?
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub new_arguments: Vec<NewArgument>,
    /// Which provocative question would reframe the topic, if the debate has stalled? Empty if it has not.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub reframing_question: String,
}

/// A point that several councillors share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharedPoint {
    /// What do they agree on?
    #[schemars(length(max = 1000))]
    pub point: String,
    /// Who shares it?
    #[schemars(length(max = 6))]
    pub councillors: Vec<String>,
    /// Did anybody challenge it rigorously?
    pub challenged: bool,
    /// Which words of each of them say it? Copy them exactly.
    #[serde(default)]
    #[schemars(length(max = 6))]
    pub quotes: Vec<Quotation>,
}

/// A councillor's own words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quotation {
    /// Whose words are they?
    pub councillor: String,
    /// Which words? Copy them exactly.
    #[schemars(length(max = 2000))]
    pub quote: String,
}

/// A response that evades its challenge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evasion {
    /// Which challenge was evaded?
    pub challenge_id: String,
    /// What does the response leave unanswered?
    #[schemars(length(max = 2000))]
    pub why: String,
    /// Which words of the response show it? Copy them exactly.
    #[schemars(length(max = 2000))]
    pub quote: String,
}

/// An argument that was not made before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NewArgument {
    /// Who made it?
    pub councillor: String,
    /// What is the argument?
    #[schemars(length(max = 2000))]
    pub argument: String,
    /// Which words of theirs make it? Copy them exactly.
    #[serde(default)]
    #[schemars(length(max = 2000))]
    pub quote: String,
}
