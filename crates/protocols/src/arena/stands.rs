//! Who stood for which proposal after each round, and what a change of it names.
//!
//! Before the vote an agent stands for its own proposal, with the vote for the one that it votes for. In an extended round it goes on
//! with what it voted for until it votes again: that it works on its own proposal meanwhile is what it is asked to do, and no change
//! of mind.

use agon_core::stand::{Change, Grouping, Held, Marks, Stand, Stands};
use agon_core::{Corrupt, Reply};
use serde::Deserialize;

use super::critiques::Critic;
use super::log::Log;
use super::poll::Ballot;
use super::reply::{Judgement, Revision};
use super::{ending, ids};
use crate::cited::{self, Known};
use names::Names;

mod names;

pub(super) fn stands(log: &Log<'_>) -> Result<Stands, Corrupt> {
    let names = Names::read(log)?;
    let mut rounds: Vec<Held> = Vec::new();
    let mut agents: Vec<Option<Backed>> = log.agents.iter().map(|_| None).collect();
    for round in rounds_of(log) {
        let mut stands = Vec::new();
        for place in log.in_seat_order() {
            let (Some(agent), Some(backed)) = (log.agents.get(place), agents.get_mut(place)) else {
                continue;
            };
            let said = Said::in_round(log, &names, place, round);
            let change = said.backs(backed);
            let Some(backed) = backed else { continue };
            stands.push(Stand {
                seat: agent.seat.id.clone(),
                label: Some(agent.label.clone()),
                position: backed.position.clone(),
                confidence: Some(backed.confidence),
                change,
                ..Stand::default()
            });
        }
        let ballots = log.polls.iter().any(|poll| poll.round == round);
        let mut held = Held { round, stands, ballots, ..Held::default() };
        held.ruling = match log.polls.iter().position(|poll| poll.round == round) {
            Some(at) => ruled(log, &names, at),
            None => held.plurality().map(str::to_owned),
        };
        rounds.push(held);
    }
    let last = log.polls.len().checked_sub(1).filter(|_| log.debate.outcome.is_some());
    let decided = last.and_then(|at| ruled(log, &names, at));
    Ok(Stands { grouping: Grouping::Similarity, rounds, decided, marks: marks(log)?, near: None })
}

/// The rounds in which anybody said what it stands for.
fn rounds_of(log: &Log<'_>) -> Vec<u32> {
    let stages = log.stages.iter().filter(|stage| stage.held.iter().flatten().any(|held| held.is_new));
    let polls = log.polls.iter().filter(|poll| poll.ballots.iter().any(Option::is_some));
    let mut rounds: Vec<u32> = stages.map(|stage| stage.round).chain(polls.map(|poll| poll.round)).collect();
    rounds.sort_unstable();
    rounds.dedup();
    rounds
}

/// The name of what a vote decided, by arena's own rule.
fn ruled(log: &Log<'_>, names: &Names, at: usize) -> Option<String> {
    let winner = ending::winner_after(log, at)?;
    names.of(log.polls.get(at)?.stage, winner.place).map(str::to_owned)
}

/// What an agent stands for.
#[derive(Debug)]
struct Backed {
    position: String,
    confidence: f64,
    /// Whether it is somebody else's proposal, by its vote.
    of_another: bool,
}

/// What an agent said in a round.
struct Said<'l> {
    log: &'l Log<'l>,
    place: usize,
    round: u32,
    /// What its own proposal is called, and what it said when it last worked on it, where it did.
    own: Option<(&'l str, Option<&'l Revision>)>,
    /// What the proposal is called that it voted for, and its vote.
    vote: Option<(&'l str, &'l Ballot)>,
}

impl<'l> Said<'l> {
    fn in_round(log: &'l Log<'l>, names: &'l Names, place: usize, round: u32) -> Self {
        let upto = log.stages.iter().rposition(|stage| stage.round <= round);
        let new = log.stages.iter().filter(|stage| stage.round == round);
        let new =
            new.filter_map(|stage| stage.held.get(place)?.as_ref().filter(|held| held.is_new)).next_back();
        let own = upto.and_then(|at| Some((names.of(at, place)?, new.map(|held| &held.said))));
        let vote = log.polls.iter().find(|poll| poll.round == round).and_then(|poll| {
            let ballot = poll.ballots.get(place)?.as_ref()?;
            Some((names.of(poll.stage, ballot.choice?)?, ballot))
        });
        Self { log, place, round, own, vote }
    }

    /// Takes up what the agent stands for now; gives what it names where that is something else.
    fn backs(&self, backed: &mut Option<Backed>) -> Option<Change> {
        let worked = self.own.and_then(|(name, said)| Some((name, said?)));
        let worked = worked.filter(|_| backed.as_ref().is_none_or(|backed| !backed.of_another));
        let (position, confidence, of_another) = match (self.vote, worked) {
            (Some((name, ballot)), _) => {
                (name, ballot.confidence, self.own.is_none_or(|(own, _)| own != name))
            }
            (None, Some((name, said))) => (name, said.confidence, false),
            (None, None) => return None,
        };
        let before = backed.replace(Backed { position: position.to_owned(), confidence, of_another });
        let changed = before.is_some_and(|before| before.position != position);
        changed.then(|| Change { cited: self.cited(of_another) })
    }

    /// What the agent names: for its own proposal in what it answered and wrote anew, for what it votes for in its reason.
    fn cited(&self, of_another: bool) -> Vec<String> {
        let mut found = Vec::new();
        if !of_another {
            found.extend(self.answered());
            found.extend(self.written());
        }
        if let Some((_, ballot)) = self.vote {
            found.extend(self.named(&ballot.reason));
        }
        let mut distinct: Vec<String> = Vec::new();
        for piece in found {
            if !distinct.contains(&piece) {
                distinct.push(piece);
            }
        }
        distinct
    }

    /// The critiques that it answered in this round, with a word about each.
    fn answered(&self) -> Vec<String> {
        let answers = self.revisions().flat_map(|said| &said.addressed);
        let answers = answers.filter(|answer| !answer.how.trim().is_empty());
        answers.map(|answer| format!("[{}]", answer.critique_id)).collect()
    }

    /// What its proposal names now and did not name before: others and their critiques, and evidence that others had brought. What
    /// it brings itself is its own claim, and nothing that it was moved by.
    fn written(&self) -> Vec<String> {
        let before = self.log.stages.iter().rev().find(|stage| stage.round < self.round);
        let before = before.and_then(|stage| stage.held.get(self.place)?.as_ref());
        let known = before.map_or(Vec::new(), |held| self.named(&whole(&held.said)));
        let heard = self.heard();
        let mut found = Vec::new();
        for text in self.revisions().map(whole) {
            let pieces = cited::evidence(&text);
            let of_others = |piece: &String| !pieces.contains(piece) || heard.contains(piece);
            found.extend(self.named(&text).into_iter().filter(of_others));
        }
        found.retain(|piece| !known.contains(piece));
        found
    }

    /// The pieces of evidence that stood in others' critiques and proposals before this round.
    fn heard(&self) -> Vec<String> {
        let critiques =
            self.log.critiques.iter().filter(|one| one.round < self.round && !self.is_own(one.from));
        let said = critiques.flat_map(|one| one.issues.iter().chain(&one.suggestions).cloned());
        let stages = self.log.stages.iter().filter(|stage| stage.round < self.round);
        let held = stages.flat_map(|stage| stage.held.iter().enumerate());
        let held = held.filter(|(place, _)| *place != self.place).filter_map(|(_, held)| held.as_ref());
        let proposed = held.filter(|held| held.is_new).map(|held| whole(&held.said));
        said.chain(proposed).flat_map(|text| cited::evidence(&text)).collect()
    }

    fn revisions(&self) -> impl Iterator<Item = &'l Revision> {
        let (place, round) = (self.place, self.round);
        let stages = self.log.stages.iter().filter(move |stage| stage.round == round);
        let held = stages.filter_map(move |stage| stage.held.get(place)?.as_ref());
        held.filter(|held| held.is_new).map(|held| &held.said)
    }

    /// What a text names: ids that this debate has for the agent and that are not its own, other agents, pieces of evidence.
    fn named(&self, text: &str) -> Vec<String> {
        let ids = ids::cited(text).into_iter().filter(|one| !one.foreign && !one.is_quarter());
        let ids = ids.map(|one| one.id.to_uppercase()).filter(|id| self.is_known(id));
        let mut found: Vec<String> = ids.map(|id| format!("[{id}]")).collect();
        let others = self.log.agents.iter().enumerate().filter(|(place, _)| *place != self.place);
        let known = others.fold(Known::default(), |known, (_, agent)| known.label("Agent", &agent.label));
        found.extend(cited::cited(text, &known));
        found
    }

    fn is_known(&self, id: &str) -> bool {
        let critiques = self.log.critiques.iter();
        let mut critiques = critiques.filter(|one| one.round < self.round && !self.is_own(one.from));
        self.log.shown(self.place, self.round).contains(&id) || critiques.any(|one| one.id == id)
    }

    fn is_own(&self, from: Critic) -> bool {
        matches!(from, Critic::Peer(by) | Critic::Voter(by, _) if by == self.place)
    }
}

/// All that a proposal says, with what it rests on.
fn whole(said: &Revision) -> String {
    let claims = said.claims.iter().map(|claim| format!("\n{}\n{}", claim.claim, claim.evidence));
    said.text() + &claims.collect::<String>()
}

/// What the judge gave each proposal, by label, in each order in which it was asked.
fn marks(log: &Log<'_>) -> Result<Vec<Marks>, Corrupt> {
    let mut marks = Vec::new();
    for turn in log.debate.turns_of("judge") {
        for ((asked, reply), order) in turn.asks.iter().zip(&turn.replies).zip(0..) {
            let Some(value) = reply.as_ref().and_then(Reply::value) else { continue };
            let said = Judgement::deserialize(value)?;
            let label = |written: &str| log.place(written).map(|place| log.label(place).to_owned());
            let scores = said.scores.iter().filter_map(|one| Some((label(&one.label)?, one.score))).collect();
            let ranking = said.ranking.iter().filter_map(|written| label(written)).collect();
            marks.push(Marks { judge: asked.seat.clone(), round: turn.phase.round, order, scores, ranking });
        }
    }
    Ok(marks)
}
