//! The answers of a poll, put together and counted.

use agon_core::{Corrupt, Debate, Turn};
use serde::Deserialize;

use super::reply::Given;
use crate::answer::Answer;

/// One seat's answer.
#[derive(Debug)]
pub(super) struct Vote<'a> {
    pub(super) seat: &'a str,
    pub(super) given: Given,
    pub(super) answer: Answer,
}

/// An answer and who gave it, by place among the votes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) votes: Vec<usize>,
}

/// A poll as far as it is answered.
#[derive(Debug)]
pub(super) struct Count<'a> {
    pub(super) debate: &'a Debate,
    /// In seat order.
    pub(super) votes: Vec<Vote<'a>>,
    /// The most given first, those given by as many in the order of their first givers.
    pub(super) groups: Vec<Group>,
}

impl<'a> Count<'a> {
    pub(super) fn of(debate: &'a Debate) -> Result<Self, Corrupt> {
        let mut votes = Vec::new();
        for (asked, reply) in debate.turns_of(super::PHASE).flat_map(Turn::settled) {
            let Some(value) = reply.value() else { continue };
            let given = Given::deserialize(value)?;
            // `Poll::check` lets no empty answer pass.
            if let Some(answer) = Answer::alone(&debate.brief.question, &given.answer) {
                votes.push(Vote { seat: &asked.seat, given, answer });
            }
        }
        let mut groups: Vec<Group> = Vec::new();
        for (place, vote) in votes.iter().enumerate() {
            let same = |group: &&mut Group| {
                let first = group.votes.first().and_then(|first| votes.get(*first));
                first.is_some_and(|first| first.answer == vote.answer)
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.votes.push(place),
                None => groups.push(Group { votes: vec![place] }),
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.votes.len()));
        Ok(Self { debate, votes, groups })
    }

    /// The answer that more gave than any other; `None` where there is no such.
    pub(super) fn winner(&self) -> Option<&Group> {
        match self.foremost() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The answers that most gave: one, or several that are tied.
    pub(super) fn foremost(&self) -> &[Group] {
        let most = self.groups.first().map_or(0, |group| group.votes.len());
        let many = self.groups.iter().take_while(|group| group.votes.len() == most).count();
        self.groups.get(..many).unwrap_or_default()
    }

    /// An answer by the words in which it was given first.
    pub(super) fn name(&self, group: &Group) -> &str {
        let first = group.votes.first().and_then(|first| self.votes.get(*first));
        first.map_or("", |vote| vote.answer.said())
    }

    /// The group of a vote.
    pub(super) fn group_of(&self, place: usize) -> Option<&Group> {
        self.groups.iter().find(|group| group.votes.contains(&place))
    }

    /// The share of those who answered.
    pub(super) fn share(&self, group: &Group) -> f64 {
        group.votes.len() as f64 / self.votes.len().max(1) as f64
    }

    /// How many said the same, in words.
    pub(super) fn of_all(&self, group: &Group) -> String {
        format!("{} of {} gave this answer", group.votes.len(), self.votes.len())
    }
}
