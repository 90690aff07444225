//! The first answers, each given alone, and whether the first two agree.

use agon_core::{Corrupt, Debate, PhaseTurn, Reply};
use serde::Deserialize;

use super::AskPhase;
use super::replies::{AnswerComparison, AskAnswer};
use crate::answer::Answer;
use crate::{grouping, lexical};

/// How many answer first.
const PAIR_SIZE: usize = 2;

/// A seat's first answer.
#[derive(Debug, Clone)]
pub(super) struct FirstAnswer<'a> {
    pub(super) seat: &'a str,
    pub(super) given: AskAnswer,
    /// The name of the position. Seats with the same answer have the same name.
    pub(super) position: String,
}

/// Whether the two of the first step say the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PairAgreement {
    /// At least one of them is absent, so there is nothing to compare.
    Missing(Vec<String>),
    /// The answers are equal.
    Same,
    /// The answers are neither equal nor contrary. The seats have not been asked yet.
    Open,
    /// Both seats say that the answers are the same.
    Declared,
    /// They differ, for these reasons.
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
        let asked = debate.turns.iter().filter(is_first);
        let mut all: Vec<FirstAnswer<'a>> = Vec::new();
        for (ask, reply) in asked.flat_map(PhaseTurn::settled) {
            let Some(value) = reply.value() else { continue };
            let given = AskAnswer::deserialize(value)?;
            let position = position(debate, &all, &ask.seat, &given);
            all.push(FirstAnswer { seat: &ask.seat, given, position });
        }
        let agreement = agreement(debate, &all)?;
        Ok(Self { all, agreement })
    }

    /// The first two answers.
    pub(super) fn pair(&self, debate: &Debate) -> Vec<&FirstAnswer<'a>> {
        let sat = pair_of(debate);
        self.all.iter().filter(|first| sat.contains(&first.seat)).collect()
    }
}

/// The seats of the first step.
pub(super) fn pair_of(debate: &Debate) -> Vec<&str> {
    debate.brief.seats_of("debater").take(PAIR_SIZE).map(|seat| seat.id.as_str()).collect()
}

/// The position's name: that of the first equal answer. Of the first two, only equal answers count; those who join later are
/// grouped by likeness, too.
fn position(debate: &Debate, before: &[FirstAnswer<'_>], seat: &str, given: &AskAnswer) -> String {
    let question = &debate.brief.question;
    let joins = !pair_of(debate).contains(&seat);
    let like = |said: &str| {
        joins && grouping::is_same(said, &given.answer) && contrary(question, said, &given.answer).is_none()
    };
    let strict = before.iter().find(|first| is_same(question, &first.given.answer, &given.answer));
    let same = strict.or_else(|| before.iter().find(|first| like(&first.given.answer)));
    same.map_or_else(|| given.answer.trim().to_owned(), |first| first.position.clone())
}

/// Whether two short answers are the same by arithmetic.
pub(super) fn is_same(question: &str, one: &str, other: &str) -> bool {
    match (Answer::alone(question, one), Answer::alone(question, other)) {
        (Some(one), Some(other)) => one == other,
        _ => lexical::same_words(one, other),
    }
}

fn agreement(debate: &Debate, all: &[FirstAnswer<'_>]) -> Result<PairAgreement, Corrupt> {
    let sat = pair_of(debate);
    let said: Vec<&FirstAnswer<'_>> = all.iter().filter(|first| sat.contains(&first.seat)).collect();
    let [one, other] = said.as_slice() else {
        let heard = |seat: &&&str| said.iter().any(|first| first.seat == **seat);
        let absent = sat.iter().filter(|seat| !heard(seat));
        return Ok(PairAgreement::Missing(absent.map(|seat| (*seat).to_owned()).collect()));
    };
    if one.position == other.position {
        return Ok(PairAgreement::Same);
    }
    if let Some(difference) = contrary(&debate.brief.question, &one.given.answer, &other.given.answer) {
        return Ok(PairAgreement::Divided(vec![difference]));
    }
    let Some(turn) = debate.turn(AskPhase::Compare.as_str(), 0) else { return Ok(PairAgreement::Open) };
    let mut reasons = Vec::new();
    for (ask, reply) in turn.settled() {
        reasons.extend(against(&ask.seat, reply)?);
    }
    Ok(if reasons.is_empty() { PairAgreement::Declared } else { PairAgreement::Divided(reasons) })
}

/// Why one of the two does not think that the answers are the same.
fn against(seat: &str, reply: &Reply) -> Result<Option<String>, Corrupt> {
    let Some(value) = reply.value() else {
        return Ok(Some(format!("{seat} did not say whether the two are the same")));
    };
    let comparison = AnswerComparison::deserialize(value)?;
    let difference = comparison.difference().unwrap_or("they are not the same").to_owned();
    Ok((!comparison.same).then_some(difference))
}

/// What makes two answers different whatever the seats say; `None` where arithmetic cannot tell.
fn contrary(question: &str, one: &str, other: &str) -> Option<String> {
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
    fn what_is_contrary_by_arithmetic_is_divided_whatever_anybody_says() {
        let options = "Which?\nA) tabs\nB) spaces";
        for (question, one, other, want) in [
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
            assert_eq!(contrary(question, one, other).as_deref(), want, "{one} / {other}");
        }
    }
}
