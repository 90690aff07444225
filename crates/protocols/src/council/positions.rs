//! Who held what after each round: votes, as far back as it is known which vote a councillor held, or texts.
//!
//! Texts cannot be compared with votes. So the rounds have votes only where the vote of everybody is known in every round: a councillor
//! who never changed position has held its vote from the start, and so has one who said the same. Otherwise all rounds have texts, and the
//! votes are a round of their own after them.

use agon_core::{Ballot, DecidedPosition, PositionChange, PositionHistory, RoundPositions, SeatPosition};
use indexmap::IndexMap;

use super::log::{CouncilLog, CouncilRound, CouncillorStanding};
use super::replies::{ChallengeStance, CouncilVote};
use super::verdict::decide;
use crate::cited::{Known, cited};
use crate::grouping::Groups;

/// Who held what.
pub(super) fn position_history(log: &CouncilLog<'_>) -> PositionHistory {
    let mut stages = vec![PositionStage { round: None, after: &log.openings }];
    let held = log.rounds.iter().filter(|round| !round.said.is_empty());
    stages.extend(held.map(|round| PositionStage { round: Some(round), after: &round.after }));
    let mut rounds = Vec::new();
    if !log.active.is_empty() {
        let table = PositionTable::new(log, &stages);
        rounds = table.rounds();
        rounds.extend(table.ballot_round(&rounds));
    }
    // Until the debate is over, votes may be missing that would decide otherwise.
    let decision = decide(&log.votes()).filter(|_| log.debate.outcome.is_some());
    PositionHistory {
        are_texts: true,
        rounds,
        decided: decision
            .map(|decision| decision.vote.as_str().to_owned())
            .map_or(DecidedPosition::Nothing, DecidedPosition::Held),
        marks: Vec::new(),
        near: None,
    }
}

/// What each councillor held before it read anybody.
pub(super) fn ballots(positions: &PositionHistory) -> Vec<Ballot> {
    let first = positions.rounds.first().map_or(&[][..], |first| &first.stands);
    let is_vote = |position: &str| CouncilVote::ALL.iter().any(|vote| vote.as_str() == position);
    let ballot = |held: &SeatPosition| Ballot {
        seat: held.seat.clone(),
        answer: held.position.clone(),
        stands_alone: is_vote(&held.position),
    };
    first.iter().map(ballot).collect()
}

/// Where everybody stands after a round, or after the openings.
struct PositionStage<'l> {
    round: Option<&'l CouncilRound<'l>>,
    after: &'l IndexMap<&'l str, CouncillorStanding>,
}

/// A vote, and since when it was held.
struct HeldVote {
    vote: CouncilVote,
    /// The stage of the last declared change.
    since: usize,
    /// The position in that stage.
    position: String,
}

fn held_vote(log: &CouncilLog<'_>, stages: &[PositionStage<'_>], seat: &str) -> Option<HeldVote> {
    let vote = log.finals.get(seat)?.vote;
    let changed = |stage: &PositionStage<'_>| stage.after.get(seat).is_some_and(|held| held.changed);
    let since = stages.iter().rposition(changed).unwrap_or(0);
    let position = stages.get(since)?.after.get(seat)?.position.clone();
    Some(HeldVote { vote, since, position })
}

struct PositionTable<'l> {
    log: &'l CouncilLog<'l>,
    stages: &'l [PositionStage<'l>],
    votes: IndexMap<&'l str, HeldVote>,
    /// By stage, everybody's vote; `None` where somebody's is not known.
    known: Option<Vec<IndexMap<&'l str, CouncilVote>>>,
}

impl<'l> PositionTable<'l> {
    fn new(log: &'l CouncilLog<'l>, stages: &'l [PositionStage<'l>]) -> Self {
        let votes = log.active.iter().filter_map(|seat| Some((*seat, held_vote(log, stages, seat)?)));
        let mut table = Self { log, stages, votes: votes.collect(), known: None };
        table.known = table.known_votes();
        table
    }

    fn rounds(&self) -> Vec<RoundPositions> {
        let texts = if self.known.is_none() { self.texts() } else { Vec::new() };
        let name = |at: usize, seat: &str| match &self.known {
            Some(_) => self.vote(at, seat).map(|vote| vote.as_str().to_owned()),
            None => texts.get(at)?.get(seat).cloned(),
        };
        let stages = self.stages.iter().enumerate();
        stages.map(|(at, stage)| self.round(at, stage, &|seat| name(at, seat))).collect()
    }

    /// The vote that a councillor held in a stage, if it is known.
    fn vote(&self, at: usize, seat: &str) -> Option<CouncilVote> {
        match &self.known {
            Some(known) => known.get(at)?.get(seat).copied(),
            None => self.votes.get(seat).filter(|held| at >= held.since).map(|held| held.vote),
        }
    }

    /// The vote that everybody held in every stage: its own, or the vote on which all agree who held the same words.
    fn known_votes(&self) -> Option<Vec<IndexMap<&'l str, CouncilVote>>> {
        let mut groups = Groups::default();
        let cast = self.votes.values();
        let named: Vec<(String, CouncilVote)> =
            cast.map(|held| (groups.name(&held.position, "", &[]), held.vote)).collect();
        let by_words = |text: &str| {
            let said = groups.find(text);
            let mut votes = named.iter().filter(|(name, _)| said == Some(name)).map(|(_, vote)| *vote);
            votes.next().filter(|first| votes.all(|vote| vote == *first))
        };
        let stage_votes = |(at, stage): (usize, &PositionStage<'l>)| {
            let votes = stage.after.iter().map(|(seat, held)| {
                let vote = self.vote(at, seat).or_else(|| by_words(&held.position))?;
                Some((*seat, vote))
            });
            votes.collect()
        };
        self.stages.iter().enumerate().map(stage_votes).collect()
    }

    /// The texts of everybody's positions in every stage.
    fn texts(&self) -> Vec<IndexMap<&'l str, String>> {
        let mut groups = Groups::default();
        let mut names: IndexMap<&str, String> = IndexMap::new();
        let mut stages = Vec::new();
        for stage in self.stages {
            for (seat, held) in stage.after {
                if held.changed || !names.contains_key(seat) {
                    names.insert(*seat, groups.name(&held.position, seat, &[]));
                }
            }
            stages.push(names.clone());
        }
        stages
    }

    fn round(
        &self,
        at: usize,
        stage: &PositionStage<'_>,
        name: &dyn Fn(&str) -> Option<String>,
    ) -> RoundPositions {
        let stands = stage.after.iter().filter_map(|(seat, held)| {
            let changed = stage.round.filter(|_| held.changed);
            Some(SeatPosition {
                seat: (*seat).to_owned(),
                position: name(seat)?,
                change: changed
                    .map(|round| PositionChange { cited: self.cited(seat, round, held), reason: None }),
                ..SeatPosition::default()
            })
        });
        let ruling = self.ruling(at).map(|vote| vote.as_str().to_owned());
        let round = stage.round.map_or(0, |round| round.number);
        RoundPositions { round, stands: stands.collect(), ruling, ballots: false }
    }

    /// The votes, where the rounds have texts. Casting a vote is no change of position; a councillor without a vote keeps its text.
    fn ballot_round(&self, rounds: &[RoundPositions]) -> Option<RoundPositions> {
        let last = rounds.last().filter(|_| self.known.is_none() && !self.votes.is_empty())?;
        let stands = last.stands.iter().map(|held| {
            let cast = self.votes.get(held.seat.as_str()).map(|held| held.vote.as_str());
            let position = cast.unwrap_or(&held.position).to_owned();
            SeatPosition { position, change: None, ..held.clone() }
        });
        let ruling = decide(&self.log.votes()).map(|decision| decision.vote.as_str().to_owned());
        Some(RoundPositions { round: last.round + 1, stands: stands.collect(), ruling, ballots: true })
    }

    /// What the council's rule makes of the votes held in this stage, if they decide it whatever the others vote.
    fn ruling(&self, at: usize) -> Option<CouncilVote> {
        let active = &self.log.active;
        let votes: Vec<CouncilVote> = active.iter().filter_map(|seat| self.vote(at, seat)).collect();
        let others = active.len() - votes.len();
        // If the decision is the same with all the others on any one vote, no mixture of their votes changes it.
        let decisions = CouncilVote::ALL.map(|vote| {
            let votes: Vec<_> = votes.iter().copied().chain(std::iter::repeat_n(vote, others)).collect();
            decide(&votes).map(|decision| decision.vote)
        });
        let [first, rest @ ..] = decisions;
        first.filter(|first| !votes.is_empty() && rest.iter().all(|vote| *vote == Some(*first)))
    }

    /// What a change names: other councillors, challenges, messages and new evidence, and the challenges of the same round with which
    /// the councillor agrees or for which it modifies its point.
    fn cited(&self, seat: &str, round: &CouncilRound<'_>, held: &CouncillorStanding) -> Vec<String> {
        let log = self.log;
        let mut known = Known::default();
        for other in log.active.iter().copied().filter(|other| *other != seat) {
            known = known.name(log.name(other), log.name(other));
        }
        for challenge in log.challenges.iter().filter(|challenge| challenge.round <= round.number) {
            known = known.id(&challenge.id);
        }
        for message in log.messages.iter().filter(|message| message.round <= round.number) {
            known = known.id(&message.id);
        }
        for text in round.before.get(seat).into_iter().flat_map(CouncillorStanding::words) {
            known = known.said_before(text);
        }
        let mut named = cited(&format!("{}\n{}", held.because, held.position), &known);
        let responses = round.responses(seat, &log.challenges);
        for response in responses.filter(|response| response.stance != ChallengeStance::Disagree) {
            let id = format!("[{}]", response.challenge_id);
            if !named.contains(&id) {
                named.push(id);
            }
        }
        named
    }
}
