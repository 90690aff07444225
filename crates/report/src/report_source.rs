//! The input of every report.

use agon_core::view::label_name;
use agon_core::wording::{joined, rounds, seat_name};
use agon_core::{Debate, DebateView, Outcome, ProtocolInfo};
use agon_measure::Evidence;

use crate::evidence::paths::round_name;

/// A debate and everything that was read from its log.
#[derive(Debug, Clone, Copy)]
pub struct ReportSource<'a> {
    /// The constant facts about its protocol.
    pub info: &'static ProtocolInfo,
    /// The state that its log gives.
    pub debate: &'a Debate,
    /// The protocol's reading of it.
    pub view: &'a DebateView,
    /// What the debate did.
    pub evidence: &'a Evidence,
}

impl<'a> ReportSource<'a> {
    /// `None` while the debate runs.
    pub(crate) fn outcome(&self) -> Option<&'a Outcome> {
        self.debate.outcome.as_ref()
    }

    /// The label of a seat, such as `A`, once the debate is over.
    pub(crate) fn label(&self, seat: &str) -> Option<&'a str> {
        let labels = &self.outcome()?.labels;
        labels.iter().find(|(_, id)| *id == seat).map(|(label, _)| label.as_str())
    }

    /// The name of a seat in a report: its label, else its id.
    pub(crate) fn name(&self, seat: &str) -> String {
        self.label(seat).map_or_else(|| seat_name(seat), |label| label_name(self.debate, label))
    }

    pub(crate) fn names(&self, seats: &[String]) -> Vec<String> {
        seats.iter().map(|seat| self.name(seat)).collect()
    }

    /// The place of a seat in the brief; the number of seats if it is not in the brief.
    pub(crate) fn place(&self, seat: &str) -> usize {
        let seats = &self.debate.brief.seats;
        seats.iter().position(|known| known.id == seat).unwrap_or(seats.len())
    }

    /// Whether every position is a score.
    pub(crate) fn is_scored(&self) -> bool {
        let mut held = self.view.positions.rounds.iter().flat_map(|round| &round.stands).peekable();
        held.peek().is_some() && held.all(|held| held.value.is_some())
    }

    /// The rounds of positions that are votes.
    pub(crate) fn vote_rounds(&self) -> Vec<u32> {
        let votes = self.view.positions.rounds.iter().filter(|round| round.ballots);
        votes.map(|round| round.round).collect()
    }

    /// A round of positions in a sentence: "round 2", "the vote".
    pub(crate) fn round_name(&self, round: u32) -> String {
        round_name(&self.vote_rounds(), round)
    }

    /// Rounds of positions in a sentence: "rounds 2 and 3 and the vote".
    pub(crate) fn rounds_name(&self, all: &[u32]) -> String {
        let votes = self.vote_rounds();
        let is_named = |round: &u32| *round == 0 || votes.contains(round);
        let (named, numbered): (Vec<u32>, Vec<u32>) = all.iter().partition(|round| is_named(round));
        let mut parts: Vec<String> = named.iter().map(|round| round_name(&votes, *round)).collect();
        let after_start = usize::from(named.contains(&0));
        parts.splice(after_start..after_start, (!numbered.is_empty()).then(|| rounds(&numbered)));
        joined(&parts)
    }

    /// What a seat held after a round, in its own words where they are recorded. `None` if it had no position in it.
    pub(crate) fn held_words(&self, seat: &str, round: u32) -> Option<String> {
        let history = &self.view.positions;
        let held = history.rounds.iter().find(|held| held.round == round)?.of(seat)?;
        let wording = history.wording(seat, round);
        Some(wording.map_or_else(|| history.in_full(&held.position), str::to_owned))
    }

    /// The heading of a phase: "Round 2: arguments", or "Synthesis" for a phase outside the rounds.
    pub fn phase_heading(&self, phase: &str, round: u32) -> String {
        let known = self.info.phase(phase).map(|phase| phase.title.to_owned());
        let title = known.unwrap_or_else(|| agon_core::wording::heading(phase));
        if !self.is_in_round(phase, round) {
            return title;
        }
        let mut chars = title.chars();
        let lower = chars.next().map(|first| first.to_lowercase().chain(chars).collect::<String>());
        format!("Round {round}: {}", lower.unwrap_or_default())
    }

    /// Whether a phase is part of the round whose number it has. A synthesis is not.
    pub(crate) fn is_in_round(&self, phase: &str, round: u32) -> bool {
        round > 0 && !self.info.phase(phase).is_some_and(|phase| phase.is_outside_rounds)
    }
}
