//! The answers of a poll, sorted and counted.

use agon_core::{Ask, Corrupt, Debate};

use super::answers::{SeatAnswer, seat_answers};
use super::{PollPhase, VOTER};
use crate::clerk::{AnswerSheet, CLERK, ClerkSorting, SortedBy};
use crate::limits::LimitCheck;
use crate::sorting::PositionGroup;

/// The votes of a poll so far.
#[derive(Debug)]
pub(super) struct PollTally<'a> {
    pub(super) debate: &'a Debate,
    /// In seat order.
    pub(super) votes: Vec<SeatAnswer<'a>>,
    /// The most common answer first. Ties keep the order of their first votes. The members are places in `votes`.
    pub(super) groups: Vec<PositionGroup>,
    /// How it is known which answers are the same.
    pub(super) sorted_by: SortedBy,
}

impl<'a> PollTally<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let votes = seat_answers(debate, PollPhase::Answer.as_str())?;
        let clerk = ClerkSorting::read(debate, PollPhase::Clerk.as_str())?;
        let mut tally = Self { debate, votes, groups: Vec::new(), sorted_by: SortedBy::Unknown };
        let (sorting, sorted_by) = tally.sheet().sorted(clerk.as_ref());
        (tally.groups, tally.sorted_by) = (sorting.groups, sorted_by);
        tally.groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
        Ok(tally)
    }

    pub(super) fn sheet(&self) -> AnswerSheet<'_> {
        let answers = self.votes.iter().map(|vote| vote.reply.answer.as_str());
        AnswerSheet::new(&self.debate.brief, answers.collect())
    }

    /// The ask of the clerk; `None` if it is not needed, or if a limit leaves no room for it.
    pub(super) fn clerk_ask(&self) -> Result<Option<Ask>, Corrupt> {
        let sheet = self.sheet();
        let seat = self.debate.brief.seats_of(CLERK).next();
        let seat = seat.filter(|_| !sheet.is_settled() && !self.limits().is_exhausted(1));
        seat.map(|seat| sheet.ask_clerk(seat)).transpose()
    }

    pub(super) fn limits(&self) -> LimitCheck<'_> {
        LimitCheck { debate: self.debate, closing_share: 0.0, closing_calls: 0 }
    }

    /// Whether a limit kept a seat from being heard.
    pub(super) fn is_cut_short(&self) -> bool {
        let turns = &self.debate.turns;
        let is_clerk_missing = !self.sheet().is_settled() && turns.len() == 1;
        turns.iter().any(|turn| self.limits().cut_short(turn))
            || (is_clerk_missing && self.limits().is_exhausted(1))
    }

    /// How many seats were asked to vote.
    pub(super) fn voters(&self) -> usize {
        self.debate.brief.seats_of(VOTER).count()
    }

    /// Whether it is known of every two answers if they are the same.
    pub(super) fn is_known(&self) -> bool {
        self.sorted_by != SortedBy::Unknown
    }

    /// The most common answer. `None` if several are tied, or if answers that nobody sorted could make another the most common.
    pub(super) fn winner(&self) -> Option<&PositionGroup> {
        let (first, others) = self.groups.split_first()?;
        let unsorted = |except: &PositionGroup| -> usize {
            let open =
                others.iter().filter(|group| group.is_unsorted && *group != except && !self.is_known());
            open.map(|group| group.members.len()).sum()
        };
        let is_ahead = |other: &PositionGroup| first.members.len() > other.members.len() + unsorted(other);
        others.iter().all(is_ahead).then_some(first)
    }

    /// The answers that are tied for the most votes.
    pub(super) fn tied(&self) -> &[PositionGroup] {
        let votes = self.groups.first().map_or(0, |group| group.members.len());
        let count = self.groups.iter().take_while(|group| group.members.len() == votes).count();
        let tied = self.groups.get(..count).filter(|tied| tied.len() > 1 && self.is_known());
        tied.unwrap_or_default()
    }

    /// The votes of a group.
    pub(super) fn votes_of(&self, group: &PositionGroup) -> Vec<&SeatAnswer<'a>> {
        group.members.iter().filter_map(|place| self.votes.get(*place)).collect()
    }

    /// An answer in the words of its first vote.
    pub(super) fn name(&self, group: &PositionGroup) -> &str {
        self.votes_of(group).first().map_or("", |vote| vote.answer())
    }

    pub(super) fn group_of(&self, place: usize) -> Option<&PositionGroup> {
        self.groups.iter().find(|group| group.members.contains(&place))
    }

    /// The seats that gave an answer.
    pub(super) fn seats(&self, group: &PositionGroup) -> Vec<&'a str> {
        self.votes_of(group).iter().map(|vote| vote.seat).collect()
    }

    /// The mean confidence of an answer's votes.
    pub(super) fn confidence(&self, group: &PositionGroup) -> f64 {
        let sum: f64 = self.votes_of(group).iter().map(|vote| vote.reply.confidence).sum();
        sum / group.members.len().max(1) as f64
    }

    /// The group's share of all votes.
    pub(super) fn share(&self, group: &PositionGroup) -> f64 {
        group.members.len() as f64 / self.votes.len().max(1) as f64
    }
}
