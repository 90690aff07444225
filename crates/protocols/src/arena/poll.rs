//! A vote: the ballots, which of them are for the same thing, and what they come to.

use agon_core::{Corrupt, Turn};
use serde::Deserialize;

use super::convergence::Check;
use super::judgement::Judged;
use super::log::{Log, value};
use super::reply::Vote;
use super::votes::{Rule, grouped, is_quorum, leading};
use super::{doubt, log};

/// The word of a ballot that chooses nobody.
pub(super) const ABSTAIN: &str = "abstain";

/// What one agent voted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ballot {
    /// `None` for an abstention.
    pub(super) choice: Option<usize>,
    pub(super) confidence: f64,
    pub(super) reason: String,
}

/// One vote.
#[derive(Debug)]
pub(super) struct Poll {
    pub(super) round: u32,
    /// The stage whose proposals were voted on.
    pub(super) stage: usize,
    /// By place; `None` where no ballot came.
    pub(super) ballots: Vec<Option<Ballot>>,
    /// The proposals, those together that are the same in substance.
    pub(super) groups: Vec<Vec<usize>>,
    /// Whether the agreement behind it is hollow, so that it does not count.
    pub(super) hollow: bool,
    rule: Rule,
    seated: usize,
}

impl Poll {
    pub(super) fn read(log: &Log<'_>, turn: &Turn) -> Result<Self, Corrupt> {
        let check: Check = log.check_now();
        let mut ballots = Vec::new();
        for agent in &log.agents {
            let said = value(turn, &agent.seat.id).map(Vote::deserialize).transpose()?;
            ballots.push(said.map(|said| {
                let choice = Some(log::plain(&said.choice)).filter(|choice| *choice != ABSTAIN);
                let choice = choice.and_then(|label| log.place(label));
                Ballot { choice, confidence: said.confidence, reason: said.reason.trim().to_owned() }
            }));
        }
        let mut poll = Self {
            round: turn.phase.round,
            stage: check.stage,
            ballots,
            groups: grouped(&log.proposers(), |one, other| check.is_same(one, other)),
            hollow: false,
            rule: Rule::named(log.debate.brief.text("consensus")),
            seated: log.agents.len(),
        };
        let won = poll.favoured().unwrap_or_default();
        poll.hollow = doubt::is_hollow(log, &check) || doubt::is_hollow_among(log, &check, won);
        Ok(poll)
    }

    /// How many ballots choose somebody.
    pub(super) fn cast(&self) -> usize {
        self.chosen().count()
    }

    /// Who voted and who did not, as a lost quorum is told.
    pub(super) fn turnout(&self) -> String {
        let given = self.ballots.iter().flatten().count();
        let (cast, seated) = (self.cast(), self.seated);
        let rest =
            [(given.saturating_sub(cast), "abstained"), (seated.saturating_sub(given), "gave no vote")];
        let rest =
            rest.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!(", {count} {what}"));
        format!("{cast} of {seated} agents voted for a proposal{}", rest.collect::<String>())
    }

    fn chosen(&self) -> impl Iterator<Item = usize> {
        self.ballots.iter().flatten().filter_map(|ballot| ballot.choice)
    }

    pub(super) fn is_quorum(&self) -> bool {
        is_quorum(self.cast(), self.seated)
    }

    /// The group that a proposal is in.
    pub(super) fn group(&self, place: usize) -> &[usize] {
        self.groups.iter().find(|group| group.contains(&place)).map_or(&[], Vec::as_slice)
    }

    /// The votes of a group.
    pub(super) fn votes(&self, group: &[usize]) -> usize {
        self.chosen().filter(|choice| group.contains(choice)).count()
    }

    /// The share of the votes cast that a group has; `None` where none was cast.
    pub(super) fn share(&self, group: &[usize]) -> Option<f64> {
        let cast = self.cast();
        (cast > 0).then(|| self.votes(group) as f64 / cast as f64)
    }

    /// The groups with their votes, the most votes first.
    pub(super) fn tally(&self) -> Vec<(&[usize], usize)> {
        let mut tally: Vec<(&[usize], usize)> =
            self.groups.iter().map(|group| (group.as_slice(), self.votes(group))).collect();
        tally.sort_by_key(|(_, votes)| std::cmp::Reverse(*votes));
        tally
    }

    /// The group that has the votes for a consensus, whether or not it counts.
    pub(super) fn favoured(&self) -> Option<&[usize]> {
        let votes: Vec<usize> = self.groups.iter().map(|group| self.votes(group)).collect();
        let group = self.groups.get(leading(&votes)?)?;
        let enough = self.is_quorum() && self.rule.is_met(self.votes(group), self.cast());
        enough.then_some(group.as_slice())
    }

    /// The group that the vote makes the winner; `None` without consensus.
    pub(super) fn winning(&self) -> Option<&[usize]> {
        self.favoured().filter(|_| !self.hollow)
    }

    /// Of a group the proposal that stands for it: the one with the most ballots, then with the best score, then the first.
    pub(super) fn best_of(&self, group: &[usize], judged: Option<&Judged>) -> Option<usize> {
        let ballots = |place: usize| self.chosen().filter(|choice| *choice == place).count();
        let score = |place: usize| judged.and_then(|judged| judged.score(place)).unwrap_or_default();
        let better = |a: &usize, b: &usize| {
            let by_score = score(*b).total_cmp(&score(*a));
            ballots(*b).cmp(&ballots(*a)).then(by_score).then(a.cmp(b))
        };
        group.iter().copied().min_by(better)
    }
}
