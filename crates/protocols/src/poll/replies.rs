//! What the seats of `poll` answer. The first answers of `ask` have the same fields.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One seat's answer. The reasons come first, because a model that decides before it reasons decides worse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PollAnswer {
    /// What speaks for and against the possible answers? Work it out in at most 150 words.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub analysis: String,
    /// Why is your answer right? Give the reasons that decide.
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub why: String,
    /// What is the answer to the question? Give the answer alone, as short as it can be.
    #[schemars(length(max = 2000))]
    pub answer: String,
    /// How likely is it that your answer is right, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
}

impl PollAnswer {
    /// Refuses an answer without words.
    pub(crate) fn check(&self) -> Result<(), agon_core::ReplyFault> {
        match self.answer.trim() {
            "" => Err(agon_core::ReplyFault::Invalid("`answer` must not be empty".into())),
            _ => Ok(()),
        }
    }

    /// The answer and then its reasons.
    pub fn text(&self) -> String {
        format!("{}\n\n{}", self.answer.trim(), self.why.trim()).trim_end().to_owned()
    }
}
