//! The challenges: each has an id, an owner and a fate. The questions of the openings are the first of them.

use serde::{Deserialize, Serialize};

use super::log::{CouncilMember, place_of};
use super::replies::{ChallengeStance, CrossExamination};
use super::text_matching::{has_words, plain_words};
use crate::lexical::{opposed, similarity};

/// An answer this similar to the first one repeats it.
const REPETITION_MIN: f64 = 0.95;

/// A challenge, or a question of an opening.
#[derive(Debug, Clone)]
pub(super) struct Challenge {
    /// Counted from 1 over the whole debate.
    pub(super) number: usize,
    /// The round in which it was made; 0 for a question of an opening.
    pub(super) round: u32,
    /// Who made it, by place.
    pub(super) from: usize,
    /// Who must answer, by place.
    pub(super) to: usize,
    /// Empty for a question of an opening.
    pub(super) claim: String,
    pub(super) reason: String,
    pub(super) question: String,
    /// Whether the claim occurs in the target's words; `None` for a question.
    pub(super) quoted: Option<bool>,
    pub(super) answers: Vec<ChallengeAnswer>,
    /// The rounds in which it was put to its target and the target was absent.
    pub(super) absent_in: Vec<u32>,
    /// The round in which the moderator put it again.
    pub(super) re_asked: Option<u32>,
    pub(super) state: ChallengeState,
}

/// What was said to a challenge.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChallengeAnswer {
    pub(super) round: u32,
    pub(super) stance: Option<ChallengeStance>,
    pub(super) response: String,
}

/// Whether a challenge still waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChallengeState {
    Open,
    Answered,
    Evaded,
}

/// What became of a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChallengeFate {
    Answered,
    Evaded,
    /// Its target was absent and is asked again in the next round.
    Waiting,
    /// It has no answer.
    Open,
}

impl ChallengeFate {
    /// The wire name.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Evaded => "evaded",
            Self::Waiting => "waiting",
            Self::Open => "open",
        }
    }
}

/// A challenge that was evaded although it was put again, or that could not be put again.
#[derive(Debug, Clone)]
pub(super) struct ChallengeViolation {
    pub(super) round: u32,
    /// Who evaded it.
    pub(super) place: usize,
    /// The index of the challenge.
    pub(super) challenge: usize,
    pub(super) why: String,
}

impl Challenge {
    /// The questions of the openings, in seat order.
    pub(super) fn from_openings(members: &[CouncilMember<'_>]) -> Vec<Self> {
        let mut challenges = Vec::new();
        for (from, member) in members.iter().enumerate() {
            for asked in member.opening.iter().flat_map(|opening| &opening.questions) {
                let Some(to) = place_of(members, &asked.to) else { continue };
                challenges.push(Self::new(challenges.len() + 1, 0, (from, to), ["", "", &asked.question]));
            }
        }
        challenges
    }

    /// The challenges that a councillor made in a round. `before` is how many the debate already has.
    pub(super) fn from_examination(
        members: &[CouncilMember<'_>],
        before: usize,
        round: u32,
        from: usize,
        said: &CrossExamination,
    ) -> Vec<Self> {
        let made = said.challenges.iter().filter_map(|made| Some((made, place_of(members, &made.to)?)));
        let numbered = made.zip(before + 1..);
        numbered
            .map(|((made, to), number)| {
                Self::new(number, round, (from, to), [&made.claim, &made.reason, &made.question])
            })
            .collect()
    }

    fn new(number: usize, round: u32, (from, to): (usize, usize), words: [&str; 3]) -> Self {
        let [claim, reason, question] = words.map(|text| text.trim().to_owned());
        Self {
            number,
            round,
            from,
            to,
            claim,
            reason,
            question,
            quoted: None,
            answers: Vec::new(),
            absent_in: Vec::new(),
            re_asked: None,
            state: ChallengeState::Open,
        }
    }

    pub(super) fn id(&self) -> String {
        format!("C{}", self.number)
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

    pub(super) fn last_answer(&self) -> Option<&ChallengeAnswer> {
        self.answers.last()
    }

    /// Whether its last answer was given in this round.
    pub(super) fn is_answered_in(&self, round: u32) -> bool {
        self.last_answer().is_some_and(|answer| answer.round == round)
    }

    /// Whether it must be answered in this round.
    pub(super) fn is_due(&self, round: u32) -> bool {
        self.state == ChallengeState::Open && self.round < round
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

    /// Its fate. Once the debate is over, nobody answers any more.
    pub(super) fn fate(&self, is_over: bool) -> ChallengeFate {
        match self.state {
            ChallengeState::Answered => ChallengeFate::Answered,
            ChallengeState::Evaded => ChallengeFate::Evaded,
            ChallengeState::Open if !is_over && !self.absent_in.is_empty() => ChallengeFate::Waiting,
            ChallengeState::Open => ChallengeFate::Open,
        }
    }
}

/// A stance as people read it.
pub(super) fn stance_word(stance: Option<ChallengeStance>) -> &'static str {
    stance.map_or("no stance", ChallengeStance::as_str)
}
