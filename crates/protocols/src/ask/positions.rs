//! Who held what: the first answers by their own short words, later positions by those, and what a plain vote says.
//!
//! `deep` says who changed and on what evidence. Which of the first answers a later text is, is told here, because they were
//! given in a form in which that can be told: an answer alone.

use agon_core::{
    Corrupt, Debate, PhaseTurn, PositionGrouping, PositionHistory, Protocol, RoundPositions, SeatPosition,
};
use serde::Deserialize;

use super::first_answers::{FirstAnswers, PairAgreement, is_same};
use crate::answer::Answer;
use crate::deep::replies::{Argument, Synthesis};
use crate::deep::{Deep, DeepPhase};
use crate::{grouping, lexical};

/// Who held what, and what the debate came to by the same names.
#[derive(Debug, Default)]
pub(super) struct AskPositions {
    /// The rounds, from the first answers to where the debaters stood in the end.
    pub(super) stands: PositionHistory,
    /// The position that the debate's answer is, where anybody held it.
    pub(super) debated: Option<String>,
}

impl AskPositions {
    /// Of the first answers, and of the debate's part of the log, where there is one.
    pub(super) fn read(
        debate: &Debate,
        firsts: &FirstAnswers<'_>,
        part: Option<&Debate>,
    ) -> Result<Self, Corrupt> {
        let grouping = match (part, &firsts.agreement) {
            (Some(_), _) => PositionGrouping::Similarity,
            (None, PairAgreement::Declared) => PositionGrouping::Declared,
            (None, _) => PositionGrouping::Discrete,
        };
        let deep =
            part.map(|part| Deep.view(part)).transpose()?.map(|view| view.positions).unwrap_or_default();
        let mut table = AnswerTracker { question: &debate.brief.question, firsts, names: Vec::new() };
        let mut rounds: Vec<RoundPositions> = Vec::new();
        rounds.extend(table.first(deep.rounds.first()));
        for (after, part) in deep.rounds.iter().skip(1).zip(part.into_iter().cycle()) {
            let before = rounds.last().cloned().unwrap_or_default();
            rounds.push(table.after(&before, after, part)?);
        }
        let answer = part.map(answer_of).transpose()?.flatten();
        let debated = answer.and_then(|answer| table.place(&answer, deep.decided.as_deref()));
        Ok(Self { stands: PositionHistory { grouping, rounds, ..PositionHistory::default() }, debated })
    }
}

/// The answer of the debate's chair.
fn answer_of(part: &Debate) -> Result<Option<String>, Corrupt> {
    let mut said = part.turns_of(DeepPhase::Synthesis.as_str()).flat_map(PhaseTurn::settled);
    let value = said.find_map(|(_, reply)| reply.value());
    Ok(value.map(Synthesis::deserialize).transpose()?.map(|synthesis| synthesis.answer))
}

/// The position that most hold, if at least two do: one voice alone is no vote.
pub(super) fn vote(held: &RoundPositions) -> Option<&str> {
    let position = held.plurality()?;
    (held.stands.iter().filter(|stand| stand.position == position).count() > 1).then_some(position)
}

/// The positions while the rounds are read.
struct AnswerTracker<'t> {
    question: &'t str,
    firsts: &'t FirstAnswers<'t>,
    /// Every position so far, with the name that `deep` has for it.
    names: Vec<(String, String)>,
}

impl AnswerTracker<'_> {
    /// The first answers. Where both of a pair say that theirs are the same, they are.
    fn first(&mut self, deep: Option<&RoundPositions>) -> Option<RoundPositions> {
        let of_all = self.firsts.all.first().filter(|_| self.firsts.agreement == PairAgreement::Declared);
        let mut stands = Vec::new();
        for first in &self.firsts.all {
            let read = deep.and_then(|held| held.of(first.seat));
            let position = of_all.unwrap_or(first).position.clone();
            self.names.push((read.map_or_else(String::new, |read| read.position.clone()), position.clone()));
            stands.push(SeatPosition {
                seat: first.seat.to_owned(),
                label: read.and_then(|read| read.label.clone()),
                position,
                confidence: Some(first.given.confidence),
                ..SeatPosition::default()
            });
        }
        (!stands.is_empty()).then(|| ruled(0, stands))
    }

    /// Where everybody stands after a round of the debate.
    fn after(
        &mut self,
        before: &RoundPositions,
        deep: &RoundPositions,
        part: &Debate,
    ) -> Result<RoundPositions, Corrupt> {
        let mut stands = Vec::new();
        for stand in &before.stands {
            let mut now = SeatPosition { change: None, ..stand.clone() };
            if let Some(read) = deep.of(&stand.seat) {
                now.confidence = read.confidence.or(now.confidence);
                if let Some(text) =
                    new_position(part, deep.round, &stand.seat)?.filter(|_| read.change.is_some())
                {
                    now.position = self.name(&text, &read.position);
                    // A change of words that leaves the answer as it was is none.
                    now.change = read.change.clone().filter(|_| now.position != stand.position);
                }
            }
            stands.push(now);
        }
        Ok(ruled(deep.round, stands))
    }

    /// The name of the position that a text is.
    fn name(&mut self, text: &str, deep: &str) -> String {
        let name = self.place(text, Some(deep)).unwrap_or_else(|| grouping::shown(text));
        self.names.push((deep.to_owned(), name.clone()));
        name
    }

    /// The position that a text is, if it is one that somebody has held: the one whose answer it gives; else the only one whose words
    /// it opens with; else the one that it is to `deep`.
    fn place(&self, text: &str, deep: Option<&str>) -> Option<String> {
        let given = Answer::read(self.question, text);
        let answered = given.and_then(|given| {
            self.names.iter().find(|(_, position)| is_same(self.question, position, given.said()))
        });
        let opening = grouping::shown(text);
        let says = |position: &str| {
            let telling = lexical::similarity(position, position) > 0.0;
            telling && lexical::is_within(position, &opening) && !lexical::opposed(position, &opening)
        };
        let mut opened: Vec<&str> = Vec::new();
        for (_, position) in self.names.iter().filter(|(_, position)| says(position)) {
            if !opened.contains(&position.as_str()) {
                opened.push(position);
            }
        }
        let of_deep = || self.names.iter().find(|(name, _)| Some(name.as_str()) == deep && !name.is_empty());
        match (answered, opened.as_slice()) {
            (Some((_, position)), _) => Some(position.clone()),
            (None, [only]) => Some((*only).to_owned()),
            (None, _) => of_deep().map(|(_, position)| position.clone()),
        }
    }
}

/// AskPositions with what a plain vote makes of them.
fn ruled(round: u32, stands: Vec<SeatPosition>) -> RoundPositions {
    let mut held = RoundPositions { round, stands, ..RoundPositions::default() };
    held.ruling = vote(&held).map(str::to_owned);
    held
}

/// The new position that a debater took in a round, if it did.
fn new_position(part: &Debate, round: u32, seat: &str) -> Result<Option<String>, Corrupt> {
    let mut said = part.turn(DeepPhase::Debate.as_str(), round).into_iter().flat_map(PhaseTurn::settled);
    let value = said.find(|(ask, _)| ask.seat == seat).and_then(|(_, reply)| reply.value());
    let argument = value.map(Argument::deserialize).transpose()?;
    Ok(argument.and_then(|argument| argument.new_position().map(str::to_owned)))
}
