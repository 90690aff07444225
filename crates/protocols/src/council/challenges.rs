//! The challenges: each has an id, an owner and a fate. The questions of the openings are the first of them.

use serde::{Deserialize, Serialize};

use super::replies::ChallengeStance;
use super::text_matching::{has_words, plain_words};
use crate::lexical::{opposed, similarity};

/// An answer this similar to the first one repeats it.
const REPETITION_MIN: f64 = 0.95;

/// A challenge, or a question of an opening, as it is in the verdict.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Challenge {
    /// `C1`, counted over the whole debate.
    pub(super) id: String,
    /// The round in which it was made; 0 for a question of an opening.
    pub(super) round: u32,
    pub(super) from: String,
    pub(super) to: String,
    /// Empty for a question of an opening.
    pub(super) claim: String,
    pub(super) reason: String,
    pub(super) question: String,
    /// Whether the claim occurs in the target's words; `None` for a question.
    pub(super) quoted: Option<bool>,
    pub(super) fate: ChallengeFate,
    /// The last answer.
    pub(super) stance: Option<ChallengeStance>,
    pub(super) response: Option<String>,
    pub(super) answered_in: Option<u32>,
    /// The round in which the moderator put it again.
    pub(super) re_asked: Option<u32>,
    /// The rounds in which it was put to its target and the target was absent.
    pub(super) absent_in: Vec<u32>,
    pub(super) answers: Vec<ChallengeAnswer>,
}

/// What was said to a challenge.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChallengeAnswer {
    pub(super) round: u32,
    pub(super) stance: Option<ChallengeStance>,
    pub(super) response: String,
}

/// What became of a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChallengeFate {
    Answered,
    Evaded,
    /// It has no answer yet.
    Open,
}

/// A challenge that was evaded although it was put again, or that could not be put again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChallengeViolation {
    pub(super) round: u32,
    pub(super) councillor: String,
    pub(super) challenge_id: String,
    pub(super) why: String,
}

impl Challenge {
    /// A new challenge, counted from 1. The words are claim, reason and question.
    pub(super) fn new(number: usize, round: u32, from: &str, to: &str, words: [&str; 3]) -> Self {
        let [claim, reason, question] = words.map(|text| text.trim().to_owned());
        Self {
            id: format!("C{number}"),
            round,
            from: from.to_owned(),
            to: to.to_owned(),
            claim,
            reason,
            question,
            quoted: None,
            fate: ChallengeFate::Open,
            stance: None,
            response: None,
            answered_in: None,
            re_asked: None,
            absent_in: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// The challenge in a line, as seats and people read it.
    pub(super) fn text(&self) -> String {
        match self.claim.as_str() {
            "" => format!("Question: {}", self.question),
            claim => format!("\"{claim}\" - {} Question: {}", self.reason, self.question),
        }
    }

    /// What it is about: the claim, or the question of an opening.
    pub(super) fn point(&self) -> &str {
        if self.claim.is_empty() { &self.question } else { &self.claim }
    }

    /// Whether it must be answered in this round.
    pub(super) fn is_due(&self, round: u32) -> bool {
        self.fate == ChallengeFate::Open && self.round < round
    }

    /// Records an answer. Whether it evades the challenge is decided later.
    pub(super) fn add_answer(&mut self, round: u32, stance: Option<ChallengeStance>, response: &str) {
        let response = response.trim().to_owned();
        (self.stance, self.response, self.answered_in) = (stance, Some(response.clone()), Some(round));
        self.answers.push(ChallengeAnswer { round, stance, response });
    }

    /// Why an answer still evades the challenge after it was put again; `None` where it does not.
    pub(super) fn evasion_of(&self, stance: Option<ChallengeStance>, response: &str) -> Option<&'static str> {
        let repeats = self.answers.first().is_some_and(|first| {
            let first = first.response.as_str();
            plain_words(first) == plain_words(response)
                || (similarity(first, response) >= REPETITION_MIN && !opposed(first, response))
        });
        match stance {
            None => Some("put again, its answer takes no stance"),
            Some(_) if !has_words(response) => Some("put again, its answer is empty"),
            Some(_) if repeats => Some("put again, its answer repeats the first one"),
            Some(_) => None,
        }
    }

    /// Its fate as its owner is told. A challenge whose target was absent waits for the next round.
    pub(super) fn fate_word(&self) -> &'static str {
        match self.fate {
            ChallengeFate::Open if !self.absent_in.is_empty() => "waiting",
            fate => fate.as_str(),
        }
    }
}

super::wire_names!(ChallengeFate { Answered = "answered", Evaded = "evaded", Open = "open" });

/// A stance as people read it.
pub(super) fn stance_word(stance: Option<ChallengeStance>) -> &'static str {
    stance.map_or("no stance", ChallengeStance::as_str)
}
