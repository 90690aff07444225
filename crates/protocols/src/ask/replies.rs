//! What the seats of `ask` answer before the debate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A first answer. The reasons come first, because a model that decides before it reasons decides worse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AskAnswer {
    /// How do you come to your answer?
    #[schemars(length(max = 8000))]
    pub why: String,
    /// What is the answer? The answer alone, as short as it can be.
    #[schemars(length(max = 2000))]
    pub answer: String,
    /// How likely is it that you are right, from 0 to 1?
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
}

impl AskAnswer {
    /// The answer and then the reasons, for a person.
    pub fn shown(&self) -> String {
        match self.why.trim() {
            "" => self.answer.trim().to_owned(),
            why => format!("{}\n\n{why}", self.answer.trim()),
        }
    }

    /// The reasons and then the answer, for the other seats. The last line is the answer, so they can tell it from the reasons.
    pub fn text(&self) -> String {
        let answer = format!("Answer: {}", self.answer.trim());
        match self.why.trim() {
            "" => answer,
            why => format!("{why}\n\n{answer}"),
        }
    }
}

/// Whether two answers are the same in substance, by one of those who gave them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerComparison {
    /// What does one answer say and the other does not? Null if nothing.
    #[serde(default)]
    #[schemars(length(max = 2000))]
    pub difference: Option<String>,
    /// Do both answers say the same in substance?
    pub same: bool,
}

impl AnswerComparison {
    /// The difference, if the seat states one.
    pub fn difference(&self) -> Option<&str> {
        self.difference.as_deref().map(str::trim).filter(|text| !text.is_empty())
    }
}
