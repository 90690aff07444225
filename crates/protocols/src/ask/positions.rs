//! Who held what in each round, and what a plain vote on it says.
//!
//! `deep` says who changed its position and what it cites for the change. This file says which first answer a later text
//! repeats. `deep` can tell that less well: the first answers of `ask` are short, so they can be found in a text.

use agon_core::{Corrupt, Debate, PhaseTurn, PositionHistory, Protocol, RoundPositions, SeatPosition};
use serde::Deserialize;

use super::first_answers::{FirstAnswers, PairAgreement, is_same};
use crate::answer::Answer;
use crate::deep::replies::{Argument, Synthesis};
use crate::deep::{Deep, DeepPhase};
use crate::{grouping, lexical};

/// Who held what, and the position that the debate decided on, by the same names.
#[derive(Debug, Default)]
pub(super) struct AskPositions {
    /// The rounds, from the first answers to the last round of the debate.
    pub(super) history: PositionHistory,
    /// The position that the debate's answer states, if a seat held it.
    pub(super) debated: Option<String>,
}

impl AskPositions {
    /// Reads the first answers and, if there was a debate, its part of the log.
    pub(super) fn read(
        debate: &Debate,
        firsts: &FirstAnswers<'_>,
        part: Option<&Debate>,
    ) -> Result<Self, Corrupt> {
        let are_texts = part.is_some() || firsts.agreement == PairAgreement::Declared;
        let deep =
            part.map(|part| Deep.view(part)).transpose()?.map(|view| view.positions).unwrap_or_default();
        let mut tracker = AnswerTracker { question: &debate.brief.question, firsts, names: Vec::new() };
        let mut rounds: Vec<RoundPositions> = Vec::new();
        rounds.extend(tracker.first_positions(deep.rounds.first()));
        if let Some(part) = part {
            for deep_round in deep.rounds.iter().skip(1) {
                let before = rounds.last().cloned().unwrap_or_default();
                rounds.push(tracker.positions_after(&before, deep_round, part)?);
            }
        }
        let answer = part.map(chair_answer).transpose()?.flatten();
        let debated = answer.and_then(|answer| tracker.find(&answer, deep.decided.name()));
        Ok(Self { history: PositionHistory { are_texts, rounds, ..PositionHistory::default() }, debated })
    }
}

fn chair_answer(part: &Debate) -> Result<Option<String>, Corrupt> {
    let mut replies = part.turns_of(DeepPhase::Synthesis.as_str()).flat_map(PhaseTurn::settled);
    let value = replies.find_map(|(_, reply)| reply.value());
    Ok(value.map(Synthesis::deserialize).transpose()?.map(|synthesis| synthesis.answer))
}

/// The most common position, if at least two seats hold it. One seat alone is no vote.
pub(super) fn vote(round: &RoundPositions) -> Option<&str> {
    let position = round.plurality()?;
    (round.stands.iter().filter(|seat| seat.position == position).count() > 1).then_some(position)
}

/// Follows every seat's position while the rounds are read.
struct AnswerTracker<'t> {
    question: &'t str,
    firsts: &'t FirstAnswers<'t>,
    /// Every position so far: the name that `deep` has for it, and its name here.
    names: Vec<(String, String)>,
}

impl AnswerTracker<'_> {
    /// The first answers. If both of the pair declare that their answers are the same, they share one position.
    fn first_positions(&mut self, deep: Option<&RoundPositions>) -> Option<RoundPositions> {
        let shared = self.firsts.all.first().filter(|_| self.firsts.agreement == PairAgreement::Declared);
        let mut seats = Vec::new();
        for first in &self.firsts.all {
            let deep_position = deep.and_then(|round| round.of(first.seat));
            let deep_name = deep_position.map_or_else(String::new, |deep| deep.position.clone());
            let position = shared.unwrap_or(first).position.clone();
            self.names.push((deep_name, position.clone()));
            seats.push(SeatPosition {
                seat: first.seat.to_owned(),
                label: deep_position.and_then(|deep| deep.label.clone()),
                position,
                confidence: Some(first.reply.confidence),
                ..SeatPosition::default()
            });
        }
        (!seats.is_empty()).then(|| with_vote(0, seats))
    }

    /// The positions after a round of the debate.
    fn positions_after(
        &mut self,
        before: &RoundPositions,
        deep: &RoundPositions,
        part: &Debate,
    ) -> Result<RoundPositions, Corrupt> {
        let mut seats = Vec::new();
        for seat_before in &before.stands {
            let mut seat = SeatPosition { change: None, ..seat_before.clone() };
            if let Some(deep_position) = deep.of(&seat.seat) {
                seat.confidence = deep_position.confidence.or(seat.confidence);
                let text = new_position(part, deep.round, &seat.seat)?;
                if let Some(text) = text.filter(|_| deep_position.change.is_some()) {
                    seat.position = self.find_or_add(&text, &deep_position.position);
                    // New words for the same answer are no change of position.
                    seat.change =
                        deep_position.change.clone().filter(|_| seat.position != seat_before.position);
                }
            }
            seats.push(seat);
        }
        Ok(with_vote(deep.round, seats))
    }

    fn find_or_add(&mut self, text: &str, deep_name: &str) -> String {
        let name = self.find(text, Some(deep_name)).unwrap_or_else(|| grouping::shown(text));
        self.names.push((deep_name.to_owned(), name.clone()));
        name
    }

    /// The name of the position that a text states, if a seat has held it. It is the position whose answer the text gives; or the
    /// only one whose words the text starts with; or the one that `deep` puts the text with.
    fn find(&self, text: &str, deep_name: Option<&str>) -> Option<String> {
        let answer = Answer::read(self.question, text);
        let same_answer = answer.and_then(|answer| {
            self.names.iter().find(|(_, position)| is_same(self.question, position, answer.said()))
        });
        if let Some((_, position)) = same_answer {
            return Some(position.clone());
        }
        let opening = grouping::shown(text);
        let is_in_opening = |position: &str| {
            let has_telling_words = lexical::similarity(position, position) > 0.0;
            has_telling_words
                && lexical::is_within(position, &opening)
                && !lexical::opposed(position, &opening)
        };
        let mut in_opening: Vec<&str> = Vec::new();
        for (_, position) in self.names.iter().filter(|(_, position)| is_in_opening(position)) {
            if !in_opening.contains(&position.as_str()) {
                in_opening.push(position);
            }
        }
        if let [only] = in_opening.as_slice() {
            return Some((*only).to_owned());
        }
        let mut names = self.names.iter();
        let of_deep = names.find(|(name, _)| Some(name.as_str()) == deep_name && !name.is_empty());
        of_deep.map(|(_, position)| position.clone())
    }
}

/// A round with these positions and the result of a plain vote on them.
fn with_vote(round: u32, stands: Vec<SeatPosition>) -> RoundPositions {
    let mut positions = RoundPositions { round, stands, ..RoundPositions::default() };
    positions.ruling = vote(&positions).map(str::to_owned);
    positions
}

/// The new position that a debater took in a round, if it took one.
fn new_position(part: &Debate, round: u32, seat: &str) -> Result<Option<String>, Corrupt> {
    let mut replies = part.turn(DeepPhase::Debate.as_str(), round).into_iter().flat_map(PhaseTurn::settled);
    let value = replies.find(|(ask, _)| ask.seat == seat).and_then(|(_, reply)| reply.value());
    let argument = value.map(Argument::deserialize).transpose()?;
    Ok(argument.and_then(|argument| argument.new_position().map(str::to_owned)))
}
