//! The critiques of a debate, numbered over all of it: those of round 2, and in extended rounds the reasons of voters and judge.

use agon_core::{Corrupt, Turn};
use serde::Deserialize;

use super::log::Log;
use super::reply;

/// Who criticizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Critic {
    /// An agent, in round 2.
    Peer(usize),
    /// An agent who voted for another proposal, or for none.
    Voter(usize, Option<usize>),
    /// The judge.
    Judge,
}

/// A critique of one proposal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Critique {
    /// `Q1`, `Q2`...
    pub(super) id: String,
    /// The round in which it was made.
    pub(super) round: u32,
    pub(super) from: Critic,
    pub(super) to: usize,
    /// `None` for reasons, which have none.
    pub(super) severity: Option<f64>,
    pub(super) issues: Vec<String>,
    pub(super) suggestions: Vec<String>,
}

/// What the agents said of each other's proposals, in the order in which they were asked.
pub(super) fn of_peers(log: &Log<'_>, turn: &Turn) -> Result<Vec<Critique>, Corrupt> {
    let mut critiques = Vec::new();
    for (asked, reply) in turn.settled() {
        let from = log.agents.iter().position(|agent| agent.seat.id == asked.seat);
        let to = asked.about.as_deref().and_then(|label| log.place(label));
        let (Some(from), Some(to), Some(said)) = (from, to, reply.value()) else { continue };
        let said = reply::Critique::deserialize(said)?;
        critiques.push(Critique {
            id: id(log, critiques.len()),
            round: turn.phase.round,
            from: Critic::Peer(from),
            to,
            severity: Some(said.severity),
            issues: said.issues,
            suggestions: said.suggestions,
        });
    }
    Ok(critiques)
}

/// The reasons of the last vote and judge, as critiques of the proposals that they are against: a voter's of all those that say
/// something else than its choice and are not its own, the judge's of each.
pub(super) fn of_verdict(log: &Log<'_>) -> Vec<Critique> {
    let Some(poll) = log.polls.last() else { return Vec::new() };
    let mut reasons: Vec<(Critic, usize, Vec<String>, u32)> = Vec::new();
    for voter in log.in_seat_order() {
        let Some(ballot) = poll.ballots.get(voter).and_then(Option::as_ref) else { continue };
        let chosen = ballot.choice.map_or(&[][..], |choice| poll.group(choice));
        for to in log.proposers().into_iter().filter(|to| *to != voter && !chosen.contains(to)) {
            let critic = Critic::Voter(voter, ballot.choice);
            reasons.push((critic, to, vec![ballot.reason.clone()], poll.round));
        }
    }
    if let Some((trial, judged)) = log.trials.last().and_then(|trial| Some((trial, trial.judged.as_ref()?))) {
        let given = log.proposers().into_iter().map(|to| (to, judged.reasons(to)));
        let given = given.filter(|(_, reasons)| !reasons.is_empty());
        reasons.extend(given.map(|(to, issues)| (Critic::Judge, to, issues, trial.round)));
    }
    let numbered = reasons.into_iter().enumerate();
    numbered
        .map(|(n, (from, to, issues, round))| Critique {
            id: id(log, n),
            round,
            from,
            to,
            severity: None,
            issues,
            suggestions: Vec::new(),
        })
        .collect()
}

fn id(log: &Log<'_>, after: usize) -> String {
    format!("Q{}", log.critiques.len() + after + 1)
}

impl Critique {
    /// Who it is from, as the verdict has it.
    pub(super) fn from<'a>(&self, log: &'a Log<'_>) -> &'a str {
        match self.from {
            Critic::Peer(place) | Critic::Voter(place, _) => log.label(place),
            Critic::Judge => "judge",
        }
    }

    /// How its target answered it, the last time that it did.
    pub(super) fn answer<'a>(&self, log: &'a Log<'_>) -> Option<&'a str> {
        let said = log.stages.iter().rev().filter_map(|stage| stage.held.get(self.to)?.as_ref());
        let mut answers = said.flat_map(|held| &held.said.addressed);
        answers.find(|answer| answer.critique_id == self.id).map(|answer| answer.how.as_str())
    }
}
