//! What the seats of `poll` answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One seat's answer. The reason comes first, because a model that decides before it reasons decides worse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PollAnswer {
    /// How do you come to your answer?
    #[schemars(length(max = 8000))]
    pub why: String,
    /// What is the answer? The answer alone, in as few words as it takes.
    #[schemars(length(max = 400))]
    pub answer: String,
    /// How likely is it that you are right, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
}
