//! Who held which proposal after each round, and what a change of position cites.
//!
//! Before the vote an agent holds its own proposal; with the vote, the one that it votes for. In an extended round it keeps what it
//! voted for until it votes again: it works on its own proposal because it is asked to, and that is no change of mind.

use std::cmp::Reverse;

use agon_core::{
    Corrupt, DecidedPosition, JudgeMarks, PositionChange, PositionHistory, Reply, RoundPositions,
    SeatPosition,
};
use serde::Deserialize;

use super::ArenaPhase;
use super::ballots::{CastBallot, group_same};
use super::closing::{is_extended_position, is_same_position, winner_after};
use super::context::cited_ids;
use super::convergence::{ConvergenceCheck, THRESHOLD_TOLERANCE, differ_by_words};
use super::log::{ArenaLog, HeldProposal, ProposalStage};
use super::replies::{JudgementReply, RevisionReply, SimilarityReply};
use crate::cited::{self, Known};
use crate::{grouping, lexical};

/// Who held what after each round.
pub(super) fn position_history(log: &ArenaLog<'_>) -> Result<PositionHistory, Corrupt> {
    let names = ProposalNames::read(log)?;
    let mut rounds: Vec<RoundPositions> = Vec::new();
    let mut backed: Vec<Option<BackedProposal>> = log.agents.iter().map(|_| None).collect();
    for round in rounds_with_positions(log) {
        let mut stands = Vec::new();
        for place in log.in_seat_order() {
            let (Some(agent), Some(backed)) = (log.agents.get(place), backed.get_mut(place)) else {
                continue;
            };
            let change = RoundStatement::of(log, &names, place, round).update(backed);
            let Some(backed) = backed else { continue };
            stands.push(SeatPosition {
                seat: agent.seat.id.clone(),
                label: Some(agent.label.clone()),
                position: backed.position.clone(),
                confidence: Some(backed.confidence),
                change,
                ..SeatPosition::default()
            });
        }
        let vote = log.votes.iter().position(|vote| vote.round == round);
        let mut held = RoundPositions { round, stands, ballots: vote.is_some(), ..RoundPositions::default() };
        held.ruling = match vote {
            Some(vote) => decided_name(log, &names, vote),
            None => held.plurality().map(str::to_owned),
        };
        rounds.push(held);
    }
    let last = log.votes.len().checked_sub(1).filter(|_| log.debate.outcome.is_some());
    let decided = last.and_then(|vote| decided_name(log, &names, vote));
    let decided = decided.map_or(DecidedPosition::Nothing, DecidedPosition::Held);
    Ok(PositionHistory { are_texts: true, rounds, decided, marks: judge_marks(log)?, near: None })
}

/// The rounds in which anybody took a position.
fn rounds_with_positions(log: &ArenaLog<'_>) -> Vec<u32> {
    let stages = log.stages.iter().filter(|stage| stage.held.iter().flatten().any(|held| held.is_new));
    let votes = log.votes.iter().filter(|vote| vote.ballots.iter().any(Option::is_some));
    let mut rounds: Vec<u32> = stages.map(|stage| stage.round).chain(votes.map(|vote| vote.round)).collect();
    rounds.sort_unstable();
    rounds.dedup();
    rounds
}

/// The name of the proposal that a vote decided for, by arena's own rule.
fn decided_name(log: &ArenaLog<'_>, names: &ProposalNames, vote: usize) -> Option<String> {
    let winner = winner_after(log, vote)?;
    names.name(log.votes.get(vote)?.stage, winner.place).map(str::to_owned)
}

/// What the judge gave each proposal, by label, in each order in which it was asked.
fn judge_marks(log: &ArenaLog<'_>) -> Result<Vec<JudgeMarks>, Corrupt> {
    let mut marks = Vec::new();
    for turn in log.debate.turns_of(ArenaPhase::Judge.as_str()) {
        for ((ask, reply), order) in turn.asks.iter().zip(&turn.replies).zip(0..) {
            let Some(value) = reply.as_ref().and_then(Reply::value) else { continue };
            let said = JudgementReply::deserialize(value)?;
            let label = |written: &str| log.place(written).map(|place| log.label(place).to_owned());
            let scores = said.scores.iter().filter_map(|one| Some((label(&one.label)?, one.score))).collect();
            let ranking = said.ranking.iter().filter_map(|written| label(written)).collect();
            marks.push(JudgeMarks {
                judge: ask.seat.clone(),
                round: turn.phase.round,
                order,
                scores,
                ranking,
            });
        }
    }
    Ok(marks)
}

/// The proposal that an agent holds.
#[derive(Debug)]
struct BackedProposal {
    position: String,
    confidence: f64,
    /// Whether it voted for another agent's proposal.
    of_another: bool,
}

/// What an agent said in a round.
struct RoundStatement<'l> {
    log: &'l ArenaLog<'l>,
    place: usize,
    round: u32,
    /// The name of its own proposal, and its last reply of the round.
    own: Option<(&'l str, Option<&'l RevisionReply>)>,
    /// The name of the proposal that it voted for, and its ballot.
    vote: Option<(&'l str, &'l CastBallot)>,
}

impl<'l> RoundStatement<'l> {
    fn of(log: &'l ArenaLog<'l>, names: &'l ProposalNames, place: usize, round: u32) -> Self {
        let last_stage = log.stages.iter().rposition(|stage| stage.round <= round);
        let mut statement = Self { log, place, round, own: None, vote: None };
        let said = statement.revisions().last();
        statement.own = last_stage.and_then(|stage| Some((names.name(stage, place)?, said)));
        statement.vote = log.votes.iter().find(|vote| vote.round == round).and_then(|vote| {
            let ballot = vote.ballot(place)?;
            Some((names.name(vote.stage, ballot.choice?)?, ballot))
        });
        statement
    }

    /// Updates the proposal that the agent holds. Returns what it cites if that is another one.
    fn update(&self, backed: &mut Option<BackedProposal>) -> Option<PositionChange> {
        let revised = self.own.and_then(|(name, said)| Some((name, said?)));
        let revised = revised.filter(|_| backed.as_ref().is_none_or(|backed| !backed.of_another));
        let (position, confidence, of_another) = match (self.vote, revised) {
            (Some((name, ballot)), _) => {
                (name, ballot.confidence, self.own.is_none_or(|(own, _)| own != name))
            }
            (None, Some((name, said))) => (name, said.confidence, false),
            (None, None) => return None,
        };
        let now = BackedProposal { position: position.to_owned(), confidence, of_another };
        let before = backed.replace(now);
        let changed = before.is_some_and(|before| before.position != position);
        changed.then(|| PositionChange { cited: self.cited(of_another), reason: None })
    }

    /// What the agent cites: for its own proposal its answers and what is new in its text, for a vote the reason of the ballot.
    fn cited(&self, of_another: bool) -> Vec<String> {
        let mut found = Vec::new();
        if !of_another {
            found.extend(self.answered_critiques());
            found.extend(self.newly_cited());
        }
        if let Some((_, ballot)) = self.vote {
            found.extend(self.cited_in(&ballot.reason));
        }
        let mut distinct: Vec<String> = Vec::new();
        for piece in found {
            if !distinct.contains(&piece) {
                distinct.push(piece);
            }
        }
        distinct
    }

    fn answered_critiques(&self) -> Vec<String> {
        let answers = self.revisions().flat_map(|said| &said.addressed);
        let answers = answers.filter(|answer| !answer.how.trim().is_empty());
        answers.map(|answer| format!("[{}]", answer.critique_id)).collect()
    }

    /// What its proposal cites now and did not cite before: other agents, their critiques, and evidence that others brought. Evidence
    /// that it brings itself is its own claim, not what moved it.
    fn newly_cited(&self) -> Vec<String> {
        let before = self.log.stages.iter().rev().find(|stage| stage.round < self.round);
        let before = before.and_then(|stage| stage.held_by(self.place));
        let known = before.map_or(Vec::new(), |held| self.cited_in(&held.said.text_with_claims()));
        let heard = self.evidence_of_others();
        let mut found = Vec::new();
        for text in self.revisions().map(RevisionReply::text_with_claims) {
            let pieces = cited::evidence(&text);
            let is_of_others = |piece: &String| !pieces.contains(piece) || heard.contains(piece);
            found.extend(self.cited_in(&text).into_iter().filter(is_of_others));
        }
        found.retain(|piece| !known.contains(piece));
        found
    }

    /// The evidence in other agents' critiques and proposals before this round.
    fn evidence_of_others(&self) -> Vec<String> {
        let critiques = self.log.critiques.iter();
        let critiques = critiques.filter(|one| one.round < self.round && !one.is_by(self.place));
        let criticized = critiques.flat_map(|one| one.issues.iter().chain(&one.suggestions).cloned());
        let stages = self.log.stages.iter().filter(|stage| stage.round < self.round);
        let held = stages.flat_map(|stage| stage.held.iter().enumerate());
        let held = held.filter(|(place, _)| *place != self.place).filter_map(|(_, held)| held.as_ref());
        let proposed = held.filter(|held| held.is_new).map(|held| held.said.text_with_claims());
        criticized.chain(proposed).flat_map(|text| cited::evidence(&text)).collect()
    }

    /// The agent's new proposals of the round.
    fn revisions(&self) -> impl Iterator<Item = &'l RevisionReply> + use<'l> {
        let (place, round) = (self.place, self.round);
        let stages = self.log.stages.iter().filter(move |stage| stage.round == round);
        stages.filter_map(move |stage| stage.held_by(place)).filter(|held| held.is_new).map(|held| &held.said)
    }

    /// What a text cites: ids that the agent was shown and that are not its own, other agents, and evidence.
    fn cited_in(&self, text: &str) -> Vec<String> {
        let ids = cited_ids(text).into_iter().filter(|one| !one.foreign && !one.is_quarter());
        let ids = ids.map(|one| one.id.to_uppercase()).filter(|id| self.is_known_id(id));
        let mut found: Vec<String> = ids.map(|id| format!("[{id}]")).collect();
        let others = self.log.agents.iter().enumerate().filter(|(place, _)| *place != self.place);
        let known = others.fold(Known::default(), |known, (_, agent)| known.label("Agent", &agent.label));
        found.extend(cited::cited(text, &known));
        found
    }

    fn is_known_id(&self, id: &str) -> bool {
        let mut critiques =
            self.log.critiques.iter().filter(|one| one.round < self.round && !one.is_by(self.place));
        self.log.ids_shown(self.place, self.round).contains(&id) || critiques.any(|one| one.id == id)
    }
}

/// The names of the proposals of every stage: two that say the same have one name.
///
/// Arena's own measure says which proposals of different authors are the same; without a measure their words do. An author that
/// says the same as before keeps its name whatever the others do: if two such authors are found to be the same, they were all
/// along. An author that only adds to its proposal keeps its name, too, until it says what others say.
#[derive(Debug, Default)]
struct ProposalNames {
    /// The position of each proposal, by stage and place.
    stages: Vec<Vec<Option<usize>>>,
    /// Every position, in the order in which they came up.
    positions: Vec<NamedPosition>,
}

#[derive(Debug)]
struct NamedPosition {
    said: String,
    name: String,
}

impl ProposalNames {
    fn read(log: &ArenaLog<'_>) -> Result<Self, Corrupt> {
        let mut naming = NamingRun {
            log,
            first_similarities: first_similarities(log)?,
            names: Self::default(),
            named_for: vec![""; log.agents.len()],
        };
        for at in 0..log.stages.len() {
            naming.name_stage(at);
        }
        Ok(naming.names)
    }

    /// The name of a proposal.
    fn name(&self, stage: usize, place: usize) -> Option<&str> {
        let id = self.id(stage, place)?;
        self.positions.get(id).map(|position| position.name.as_str())
    }

    fn id(&self, stage: usize, place: usize) -> Option<usize> {
        self.stages.get(stage)?.get(place).copied()?
    }

    /// Adds a position under a name that no other has.
    fn add(&mut self, said: &str) -> usize {
        let short = grouping::cut(&said.split_whitespace().collect::<Vec<_>>().join(" "));
        let numbered = (2..).map(|number: u32| format!("{short} ({number})"));
        let is_free = |name: &String| self.positions.iter().all(|other| other.name != *name);
        let name = std::iter::once(short.clone()).chain(numbered).find(is_free).unwrap_or_default();
        self.positions.push(NamedPosition { said: said.to_owned(), name });
        self.positions.len() - 1
    }

    /// Gives a later position, and all others of its name, the name of an earlier one.
    fn unite(&mut self, first: usize, later: usize) {
        let name = |id: usize| self.positions.get(id).map(|position| position.name.clone());
        let (Some(name), Some(dropped)) = (name(first), name(later)) else { return };
        let same = self.positions.iter_mut().filter(|position| position.name == dropped);
        same.for_each(|position| position.name.clone_from(&name));
    }
}

/// The naming of a debate's proposals, stage by stage.
struct NamingRun<'l> {
    log: &'l ArenaLog<'l>,
    /// The similarities of the proposals of round 1, in the order of their authors, if they were measured.
    first_similarities: Option<Vec<Vec<f64>>>,
    names: ProposalNames,
    /// The words with which each agent's proposal got its name.
    named_for: Vec<&'l str>,
}

/// A name that a proposal still has.
#[derive(Debug, Clone, Copy)]
struct KeptName {
    id: usize,
    /// Whether it says the same as before, and not more.
    firm: bool,
}

/// A stage that is being named.
struct StageNaming<'l> {
    at: usize,
    stage: &'l ProposalStage,
    check: Option<&'l ConvergenceCheck>,
    kept: Vec<Option<KeptName>>,
}

impl<'l> StageNaming<'l> {
    fn held(&self, place: usize) -> Option<&'l HeldProposal> {
        self.stage.held_by(place)
    }

    fn kept(&self, place: usize) -> Option<KeptName> {
        self.kept.get(place).copied().flatten()
    }

    fn firm(&self, place: usize) -> Option<usize> {
        self.kept(place).filter(|kept| kept.firm).map(|kept| kept.id)
    }
}

impl<'l> NamingRun<'l> {
    fn name_stage(&mut self, at: usize) {
        let log = self.log;
        let Some(stage) = log.stages.get(at) else { return };
        let check = log.checks.iter().find(|check| check.stage == at);
        let kept = (0..stage.held.len()).map(|place| self.kept_name(at, place, stage, check)).collect();
        let now = StageNaming { at, stage, check, kept };
        let mut ids: Vec<Option<usize>> = vec![None; stage.held.len()];
        for group in self.groups(&now) {
            self.unite(&now, &group);
            let id = self.group_id(&now, &group, &ids);
            for place in group {
                let own = now.firm(place).unwrap_or(id);
                ids.get_mut(place).into_iter().for_each(|slot| *slot = Some(own));
            }
        }
        for (place, named_for) in self.named_for.iter_mut().enumerate() {
            let before = at.checked_sub(1).and_then(|before| self.names.id(before, place));
            if let Some(held) = now.held(place).filter(|_| ids.get(place).copied().flatten() != before) {
                *named_for = held.said.position.trim();
            }
        }
        self.names.stages.push(ids);
    }

    /// The name that a proposal had in the stage before, if it still says that.
    fn kept_name(
        &self,
        at: usize,
        place: usize,
        stage: &ProposalStage,
        check: Option<&ConvergenceCheck>,
    ) -> Option<KeptName> {
        let (now, last) = (stage.held_by(place)?, at.checked_sub(1)?);
        let (id, before) = (self.names.id(last, place)?, self.log.stages.get(last)?.held_by(place)?);
        let (named_for, said) = (self.named_for.get(place)?, now.said.position.trim());
        let stable = || check.is_some_and(|check| check.is_stable(place)) && !differ_by_words(before, now);
        let firm = !now.is_new || is_same_position(named_for, said) || stable();
        (firm || is_extended_position(named_for, said)).then_some(KeptName { id, firm })
    }

    /// The proposals of a stage, grouped by substance: groups with a firm name first, then with a kept name, then by seat.
    fn groups(&self, now: &StageNaming<'_>) -> Vec<Vec<usize>> {
        let mut seats = self.log.in_seat_order();
        seats.retain(|place| now.held(*place).is_some());
        let seat = |place: usize| seats.iter().position(|other| *other == place);
        let order = |place: &usize| (now.firm(*place).is_none(), now.kept(*place).is_none(), seat(*place));
        let mut groups = group_same(&seats, |one, other| self.is_same(now, one, other));
        groups.iter_mut().for_each(|group| group.sort_by_key(order));
        groups.sort_by_key(|group| group.first().map(order));
        groups
    }

    /// Whether two authors propose the same. The same sentence says the same, whatever is declared.
    fn is_same(&self, now: &StageNaming<'_>, one: usize, other: usize) -> bool {
        let (Some(own), Some(theirs)) = (now.held(one), now.held(other)) else { return false };
        let (said, others) = (own.said.sentence(), theirs.said.sentence());
        if lexical::same_words(said, others) {
            return true;
        }
        if let Some(check) = now.check.filter(|check| check.is_measured()) {
            let is_equal = || grouping::is_equal(said, others) && !check.is_apart(one, other);
            return check.is_same(one, other) || is_equal();
        }
        let alike = match self.first_similarity(now, one, other) {
            Some(alike) => alike >= self.log.options.convergence_threshold - THRESHOLD_TOLERANCE,
            None => grouping::is_same(said, others),
        };
        alike && !self.is_in_conflict(now.at, one, other) && !differ_by_words(own, theirs)
    }

    /// Whether one of two agents says that they conflict. Nobody is asked in round 1, so the first declaration after it counts.
    fn is_in_conflict(&self, at: usize, one: usize, other: usize) -> bool {
        let says = |place: usize, with: usize| {
            let stages = self.log.stages.get(at..).unwrap_or_default().iter();
            let mut declared = stages.filter_map(|stage| stage.held_by(place)?.conflicts.as_ref());
            declared.next().is_some_and(|conflicts| conflicts.contains(&with))
        };
        says(one, other) || says(other, one)
    }

    fn first_similarity(&self, now: &StageNaming<'_>, one: usize, other: usize) -> Option<f64> {
        let matrix = self.first_similarities.as_ref().filter(|_| now.at == 0)?;
        let row = |place: usize| now.stage.held.iter().take(place).flatten().count();
        matrix.get(row(one))?.get(row(other)).copied()
    }

    /// Gives one name to the positions of agents that say the same as ever and are found to be the same now, unless agents outside the
    /// group hold one of them, or they were told apart before.
    fn unite(&mut self, now: &StageNaming<'_>, group: &[usize]) {
        let firm: Vec<(usize, usize)> =
            group.iter().filter_map(|place| Some((*place, now.firm(*place)?))).collect();
        let is_held_inside = |id: usize| {
            let holders =
                now.kept.iter().enumerate().filter(|(_, kept)| kept.is_some_and(|kept| kept.id == id));
            holders.into_iter().all(|(place, _)| group.contains(&place))
        };
        let checks = || self.log.checks.iter().filter(|check| check.stage <= now.at);
        let mut pairs = Vec::new();
        for (one, id) in &firm {
            for (other, theirs) in firm.iter().filter(|(_, theirs)| theirs > id) {
                let apart = checks().any(|check| check.is_apart(*one, *other));
                if !apart && is_held_inside(*id) && is_held_inside(*theirs) {
                    pairs.push((*id, *theirs));
                }
            }
        }
        pairs.into_iter().for_each(|(first, later)| self.names.unite(first, later));
    }

    /// The position of a group: that of a member who says the same as before, else of one who says more, the most held of these; else
    /// one by its words. Nobody takes a position of an agent from which it is told apart.
    fn group_id(&mut self, now: &StageNaming<'_>, group: &[usize], ids: &[Option<usize>]) -> usize {
        let is_apart = |id: usize| {
            let holders = ids.iter().enumerate().filter(|(_, other)| **other == Some(id));
            let mut pairs = holders.flat_map(|(other, _)| group.iter().map(move |one| (*one, other)));
            pairs.any(|(one, other)| now.check.is_some_and(|check| check.is_apart(one, other)))
        };
        let before = now.at.checked_sub(1).and_then(|last| self.names.stages.get(last));
        let holders = |id: usize| before.map_or(0, |ids| ids.iter().filter(|one| **one == Some(id)).count());
        let kept = group.iter().filter_map(|place| now.kept(*place));
        let kept = kept.filter(|kept| kept.firm || !is_apart(kept.id));
        let best = kept.min_by_key(|kept| (!kept.firm, Reverse(holders(kept.id)), kept.id));
        match best {
            Some(kept) => kept.id,
            None => self.id_by_words(now, group, ids),
        }
    }

    /// An earlier position that these words repeat, else a new one. Agents that hold the earlier one now were told apart from this
    /// group, unless the words are the same.
    fn id_by_words(&mut self, now: &StageNaming<'_>, group: &[usize], ids: &[Option<usize>]) -> usize {
        let said = group.first().and_then(|place| now.held(*place)).map_or("", |held| held.said.sentence());
        let repeats = |id: usize, earlier: &str| {
            let is_free = || !ids.contains(&Some(id));
            lexical::same_words(earlier, said) || (is_free() && grouping::is_same(earlier, said))
        };
        let mut known = self.names.positions.iter().enumerate();
        let found = known.find(|(id, position)| repeats(*id, &position.said)).map(|(id, _)| id);
        found.unwrap_or_else(|| self.names.add(said))
    }
}

/// The similarities of the proposals of round 1. The first comparison measures them as what was proposed before.
fn first_similarities(log: &ArenaLog<'_>) -> Result<Option<Vec<Vec<f64>>>, Corrupt> {
    let (mut stages, mut found) = (0, None);
    for turn in &log.debate.turns {
        let phase = ArenaPhase::of(&turn.phase)?;
        if phase.makes_proposals() {
            stages += 1;
        } else if phase == ArenaPhase::Compare && stages == 2 && found.is_none() {
            found = turn.settled().find_map(|(_, reply)| reply.value());
        }
    }
    let Some(matrix) = found.map(SimilarityReply::deserialize).transpose()? else { return Ok(None) };
    let count = log.stages.first().map_or(0, |stage| stage.held.iter().flatten().count());
    let rows = matrix.similarity.into_iter().skip(count);
    Ok(Some(rows.map(|row| row.into_iter().skip(count).collect()).collect()))
}
