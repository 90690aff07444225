//! The first answers, which each seat gives alone, and whether the first two agree.

use agon_core::{Corrupt, Debate, PhaseTurn, Reply};
use serde::Deserialize;

use super::AskPhase;
use super::replies::{AnswerComparison, AskAnswer};
use crate::answer::Answer;
use crate::{grouping, lexical};

/// How many seats answer in the first step.
const PAIR_SIZE: usize = 2;

/// A seat's first answer.
#[derive(Debug, Clone)]
pub(super) struct FirstAnswer<'a> {
    pub(super) seat: &'a str,
    pub(super) reply: AskAnswer,
    /// The name of the position. Seats with the same answer have the same name.
    pub(super) position: String,
}

/// Whether the two answers of the first step are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PairAgreement {
    /// These seats of the pair are absent, so there is nothing to compare.
    Missing(Vec<String>),
    /// The answers are equal.
    Same,
    /// The answers are neither equal nor contrary. The seats have not been asked yet.
    Open,
    /// Both seats say that the answers are the same.
    Declared,
    /// The answers differ, for these reasons.
    Divided(Vec<String>),
}

/// All first answers, in seat order.
#[derive(Debug)]
pub(super) struct FirstAnswers<'a> {
    pub(super) all: Vec<FirstAnswer<'a>>,
    pub(super) agreement: PairAgreement,
}

impl<'a> FirstAnswers<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let is_first = |turn: &&PhaseTurn| {
            matches!(AskPhase::parse(&turn.phase.name), Some(AskPhase::Answer | AskPhase::DeepAnswer))
        };
        let first_turns = debate.turns.iter().filter(is_first);
        let mut all: Vec<FirstAnswer<'a>> = Vec::new();
        for (ask, reply) in first_turns.flat_map(PhaseTurn::settled) {
            let Some(value) = reply.value() else { continue };
            let reply = AskAnswer::deserialize(value)?;
            let position = position(debate, &all, &ask.seat, &reply.answer);
            all.push(FirstAnswer { seat: &ask.seat, reply, position });
        }
        let agreement = agreement(debate, &all)?;
        Ok(Self { all, agreement })
    }

    /// The first two answers.
    pub(super) fn pair(&self, debate: &Debate) -> Vec<&FirstAnswer<'a>> {
        pair_answers(debate, &self.all)
    }
}

/// The seats of the first step.
pub(super) fn pair_of(debate: &Debate) -> Vec<&str> {
    debate.brief.seats_of("debater").take(PAIR_SIZE).map(|seat| seat.id.as_str()).collect()
}

fn pair_answers<'f, 'a>(debate: &Debate, all: &'f [FirstAnswer<'a>]) -> Vec<&'f FirstAnswer<'a>> {
    let pair = pair_of(debate);
    all.iter().filter(|first| pair.contains(&first.seat)).collect()
}

/// The name of an answer's position, which is that of the first equal answer. The answers of seats that join later are also
/// grouped by similarity. Those of the first two are not, because whether they agree decides if there is a debate.
fn position(debate: &Debate, before: &[FirstAnswer<'_>], seat: &str, answer: &str) -> String {
    let question = &debate.brief.question;
    let joins_later = !pair_of(debate).contains(&seat);
    let is_similar = |other: &str| {
        joins_later && grouping::is_same(other, answer) && contradiction(question, other, answer).is_none()
    };
    let equal = before.iter().find(|first| is_same(question, &first.reply.answer, answer));
    let same = equal.or_else(|| before.iter().find(|first| is_similar(&first.reply.answer)));
    same.map_or_else(|| answer.trim().to_owned(), |first| first.position.clone())
}

/// Whether two short answers are equal, which no model needs to be asked.
pub(super) fn is_same(question: &str, one: &str, other: &str) -> bool {
    match (Answer::alone(question, one), Answer::alone(question, other)) {
        (Some(one), Some(other)) => one == other,
        _ => lexical::same_words(one, other),
    }
}

fn agreement(debate: &Debate, all: &[FirstAnswer<'_>]) -> Result<PairAgreement, Corrupt> {
    let answers = pair_answers(debate, all);
    let [one, other] = answers.as_slice() else {
        let has_answered = |seat: &str| answers.iter().any(|first| first.seat == seat);
        let absent = pair_of(debate).into_iter().filter(|seat| !has_answered(seat));
        return Ok(PairAgreement::Missing(absent.map(str::to_owned).collect()));
    };
    if one.position == other.position {
        return Ok(PairAgreement::Same);
    }
    if let Some(difference) = contradiction(&debate.brief.question, &one.reply.answer, &other.reply.answer) {
        return Ok(PairAgreement::Divided(vec![difference]));
    }
    let Some(turn) = debate.turn(AskPhase::Compare.as_str(), 0) else { return Ok(PairAgreement::Open) };
    let mut reasons = Vec::new();
    for (ask, reply) in turn.settled() {
        reasons.extend(declared_difference(&ask.seat, reply)?);
    }
    Ok(if reasons.is_empty() { PairAgreement::Declared } else { PairAgreement::Divided(reasons) })
}

/// What differs according to one of the two seats. `None` if it says that the answers are the same.
fn declared_difference(seat: &str, reply: &Reply) -> Result<Option<String>, Corrupt> {
    let Some(value) = reply.value() else {
        return Ok(Some(format!("{seat} did not say whether the two are the same")));
    };
    let comparison = AnswerComparison::deserialize(value)?;
    let difference = comparison.difference().unwrap_or("they are not the same").to_owned();
    Ok((!comparison.same).then_some(difference))
}

/// What makes two answers different whatever the seats say. `None` if that cannot be told without asking them.
fn contradiction(question: &str, one: &str, other: &str) -> Option<String> {
    let option = |words: &str| Answer::alone(question, words).and_then(|answer| answer.option());
    if let (Some(one), Some(other)) = (option(one), option(other)) {
        return (one != other).then(|| format!("one chooses {one}, the other {other}"));
    }
    if !lexical::contrary(one, other) {
        return None;
    }
    let (figures, others) = (lexical::figures(one), lexical::figures(other));
    Some(match (figures.is_empty() || others.is_empty(), lexical::opposed(one, other)) {
        (false, false) if figures != others => {
            format!("their figures differ: {} and {}", figures.join(" "), others.join(" "))
        }
        (_, true) => "one denies what the other says".to_owned(),
        _ => "they say the contrary of each other".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "agreed only if [...] the answers are not opposed, contrary or of other figures".
    #[test]
    fn contradictory_answers_differ_without_asking_the_seats() {
        let options = "Which?\nA) tabs\nB) spaces";
        for (question, one, other, difference) in [
            ("How many?", "42", "about 17", Some("their figures differ: 42 and 17")),
            ("When?", "in July", "on 20 July 1969", None),
            (
                "Adopt it?",
                "Adopt the queue",
                "Do not adopt the queue",
                Some("one denies what the other says"),
            ),
            (
                "What now?",
                "Sales will increase",
                "Sales will decrease",
                Some("they say the contrary of each other"),
            ),
            (options, "A", "B) spaces", Some("one chooses A, the other B")),
            ("Which town?", "Paris", "The capital, Paris", None),
        ] {
            assert_eq!(contradiction(question, one, other).as_deref(), difference, "{one} / {other}");
        }
    }
}
