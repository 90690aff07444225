//! A vote: the ballots, which of them are for the same proposal in other words, and what they come to.

use agon_core::{Corrupt, PhaseTurn};
use serde::Deserialize;

use super::judging::JudgeResult;
use super::log::{ArenaLog, reply_value};
use super::replies::{PairRelation, VoteReply};
use super::{ConsensusRule, trickster};

/// The choice of a ballot that is for nobody.
pub(super) const ABSTAIN: &str = "abstain";

/// What one agent voted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CastBallot {
    /// `None` for an abstention.
    pub(super) choice: Option<usize>,
    pub(super) confidence: f64,
    pub(super) reason: String,
}

/// One vote.
#[derive(Debug)]
pub(super) struct VoteRound {
    pub(super) round: u32,
    /// The stage whose proposals were voted on.
    pub(super) stage: usize,
    /// By place; `None` if the agent was absent.
    pub(super) ballots: Vec<Option<CastBallot>>,
    /// The proposals, those that the last sorting calls the same together.
    pub(super) groups: Vec<Vec<usize>>,
    /// Whether the agreement behind the vote is hollow, so that it makes no consensus.
    pub(super) hollow: bool,
    rule: ConsensusRule,
    seated: usize,
}

impl VoteRound {
    pub(super) fn read(log: &ArenaLog<'_>, turn: &PhaseTurn) -> Result<Self, Corrupt> {
        let stage = log.stages.len().saturating_sub(1);
        let mut ballots = Vec::new();
        for agent in &log.agents {
            let said = reply_value(turn, &agent.seat.id).map(VoteReply::deserialize).transpose()?;
            ballots.push(said.map(|said| CastBallot {
                choice: log.place(&said.choice),
                confidence: said.confidence,
                reason: said.reason.trim().to_owned(),
            }));
        }
        let mut vote = Self {
            round: turn.phase.round,
            stage,
            ballots,
            groups: log.same_groups(stage),
            hollow: false,
            rule: log.options.consensus,
            seated: log.agents.len(),
        };
        vote.hollow = vote.favoured().is_some_and(|group| {
            trickster::examine(log, stage, group, Some(&vote)).is_some_and(|finding| finding.hollow)
        });
        Ok(vote)
    }

    /// An agent's ballot.
    pub(super) fn ballot(&self, place: usize) -> Option<&CastBallot> {
        self.ballots.get(place)?.as_ref()
    }

    /// The ballots for a group.
    pub(super) fn ballots_for<'v>(
        &'v self,
        group: &'v [usize],
    ) -> impl Iterator<Item = (usize, &'v CastBallot)> {
        let given =
            self.ballots.iter().enumerate().filter_map(|(voter, ballot)| Some((voter, ballot.as_ref()?)));
        given.filter(|(_, ballot)| ballot.choice.is_some_and(|choice| group.contains(&choice)))
    }

    fn choices(&self) -> impl Iterator<Item = usize> {
        self.ballots.iter().flatten().filter_map(|ballot| ballot.choice)
    }

    /// How many ballots are for a proposal.
    pub(super) fn cast(&self) -> usize {
        self.choices().count()
    }

    /// How many agents voted for a proposal, abstained and were absent, in words.
    pub(super) fn turnout(&self) -> String {
        let given = self.ballots.iter().flatten().count();
        let (cast, seated) = (self.cast(), self.seated);
        let rest =
            [(given.saturating_sub(cast), "abstained"), (seated.saturating_sub(given), "gave no vote")];
        let rest =
            rest.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!(", {count} {what}"));
        format!("{cast} of {seated} agents voted for a proposal{}", rest.collect::<String>())
    }

    /// Whether half of the agents that sit voted for a proposal.
    pub(super) fn is_quorum(&self) -> bool {
        is_quorum(self.cast(), self.seated)
    }

    /// The group of a proposal.
    pub(super) fn group(&self, place: usize) -> &[usize] {
        self.groups.iter().find(|group| group.contains(&place)).map_or(&[], Vec::as_slice)
    }

    /// The votes of a group.
    pub(super) fn votes(&self, group: &[usize]) -> usize {
        self.ballots_for(group).count()
    }

    /// A group's share of the votes cast; `None` if there are none.
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

    /// The group that has the votes for a consensus, whether or not the agreement is hollow.
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

    /// Whether the winning group has enough votes only because proposals that are not equal count as the same.
    pub(super) fn is_won_by_sorting(&self, log: &ArenaLog<'_>) -> bool {
        let parts =
            |group: &[usize]| linked_groups(group, &|one, other| log.is_equal(self.stage, one, other));
        let is_enough = |part: &Vec<usize>| self.rule.is_met(self.votes(part), self.cast());
        self.winning().is_some_and(|group| !parts(group).iter().any(is_enough))
    }

    /// Whether the judge's scores choose the proposal that stands for a group.
    pub(super) fn is_chosen_by_score(&self, group: &[usize], judged: &JudgeResult) -> bool {
        let most = group.iter().map(|place| self.ballots_on(*place)).max();
        let leading = group.iter().filter(|place| Some(self.ballots_on(**place)) == most);
        let scores: Vec<Option<f64>> = leading.map(|place| judged.score(*place)).collect();
        scores.windows(2).any(|pair| pair.first() != pair.last())
    }

    /// How many ballots name a proposal.
    fn ballots_on(&self, place: usize) -> usize {
        self.choices().filter(|choice| *choice == place).count()
    }

    /// The proposal that stands for a group: the one with the most ballots, then the best score, then the first label.
    pub(super) fn best_of(&self, group: &[usize], judged: Option<&JudgeResult>) -> Option<usize> {
        let ballots = |place: usize| self.ballots_on(place);
        let score = |place: usize| judged.and_then(|judged| judged.score(place)).unwrap_or_default();
        let better = |a: &usize, b: &usize| {
            let by_score = score(*b).total_cmp(&score(*a));
            ballots(*b).cmp(&ballots(*a)).then(by_score).then(a.cmp(b))
        };
        group.iter().copied().min_by(better)
    }
}

/// Whether enough of the agents voted for a proposal: half of those who sit.
pub(super) fn is_quorum(cast: usize, seated: usize) -> bool {
    2 * cast >= seated
}

/// The place with the most votes; `None` if there are no votes or several have the most.
pub(super) fn leading(votes: &[usize]) -> Option<usize> {
    let most = votes.iter().copied().max().filter(|most| *most > 0)?;
    let mut leading = votes.iter().enumerate().filter(|(_, votes)| **votes == most);
    let (first, _) = leading.next()?;
    leading.next().is_none().then_some(first)
}

impl ConsensusRule {
    /// Whether `votes` of `cast` are enough.
    pub(super) fn is_met(self, votes: usize, cast: usize) -> bool {
        let enough = match self {
            Self::Majority => 2 * votes > cast,
            Self::Supermajority => 3 * votes >= 2 * cast,
            Self::Unanimous => votes == cast,
        };
        cast > 0 && enough
    }
}

impl ArenaLog<'_> {
    /// The proposals of a stage, those that are the same together. If one is the same as two that are not the same as each other, it
    /// could be counted with either, and so it is counted with neither; proposals that are equal stay together.
    pub(super) fn same_groups(&self, stage: usize) -> Vec<Vec<usize>> {
        let is_same = |one: usize, other: usize| self.relation(stage, one, other) == Some(PairRelation::Same);
        let mut groups = Vec::new();
        for linked in linked_groups(&self.proposers(), &is_same) {
            let mut pairs = super::convergence::all_pairs(&linked).into_iter();
            match pairs.all(|(one, other)| is_same(one, other)) {
                true => groups.push(linked),
                false => {
                    groups.extend(linked_groups(&linked, &|one, other| self.is_equal(stage, one, other)))
                }
            }
        }
        groups.sort_unstable();
        groups
    }
}

/// Groups the places that are linked with each other, directly or through others.
pub(super) fn linked_groups(places: &[usize], is_linked: &dyn Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for place in places.iter().copied() {
        let touches = |group: &Vec<usize>| group.iter().any(|other| is_linked(*other, place));
        let (joined, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(touches);
        groups = apart;
        groups.push([joined.concat(), vec![place]].concat());
    }
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups
}
