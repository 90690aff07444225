//! The answers of a poll, grouped and counted.

use agon_core::{Corrupt, Debate, PhaseTurn};
use serde::Deserialize;

use super::PollPhase;
use super::replies::PollAnswer;
use crate::answer::Answer;

/// One seat's answer.
#[derive(Debug)]
pub(super) struct VoterAnswer<'a> {
    pub(super) seat: &'a str,
    pub(super) reply: PollAnswer,
    pub(super) answer: Answer,
}

/// The votes for one answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AnswerGroup {
    /// Their places in [`PollTally::votes`].
    pub(super) votes: Vec<usize>,
}

/// The votes of a poll so far.
#[derive(Debug)]
pub(super) struct PollTally<'a> {
    pub(super) debate: &'a Debate,
    /// In seat order.
    pub(super) votes: Vec<VoterAnswer<'a>>,
    /// The most common answer first. Ties keep the order of their first votes.
    pub(super) groups: Vec<AnswerGroup>,
}

impl<'a> PollTally<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let mut votes = Vec::new();
        for (ask, reply) in debate.turns_of(PollPhase::Answer.as_str()).flat_map(PhaseTurn::settled) {
            let Some(value) = reply.value() else { continue };
            let reply = PollAnswer::deserialize(value)?;
            // `Poll::check` rejects empty answers.
            if let Some(answer) = Answer::alone(&debate.brief.question, &reply.answer) {
                votes.push(VoterAnswer { seat: &ask.seat, reply, answer });
            }
        }
        let mut groups: Vec<AnswerGroup> = Vec::new();
        for (place, vote) in votes.iter().enumerate() {
            let same = |group: &&mut AnswerGroup| {
                let first = group.votes.first().and_then(|first| votes.get(*first));
                first.is_some_and(|first| first.answer == vote.answer)
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.votes.push(place),
                None => groups.push(AnswerGroup { votes: vec![place] }),
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.votes.len()));
        Ok(Self { debate, votes, groups })
    }

    /// The most common answer, unless several are tied.
    pub(super) fn winner(&self) -> Option<&AnswerGroup> {
        match self.most_common() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The most common answer, or several that are tied.
    pub(super) fn most_common(&self) -> &[AnswerGroup] {
        let votes = self.groups.first().map_or(0, |group| group.votes.len());
        let count = self.groups.iter().take_while(|group| group.votes.len() == votes).count();
        self.groups.get(..count).unwrap_or_default()
    }

    /// An answer in the words of its first vote.
    pub(super) fn name(&self, group: &AnswerGroup) -> &str {
        let first = group.votes.first().and_then(|first| self.votes.get(*first));
        first.map_or("", |vote| vote.answer.said())
    }

    pub(super) fn group_of(&self, place: usize) -> Option<&AnswerGroup> {
        self.groups.iter().find(|group| group.votes.contains(&place))
    }

    /// The group's share of all votes.
    pub(super) fn share(&self, group: &AnswerGroup) -> f64 {
        group.votes.len() as f64 / self.votes.len().max(1) as f64
    }
}
