//! The first answers, each given alone, and whether the two of the first step agree.

use agon_core::{Corrupt, Debate, Reply, Turn};
use serde::Deserialize;

use super::part::DEEP;
use super::reply::{Comparison, Given};
use crate::answer::Answer;
use crate::{grouping, lexical};

/// The first step's phases.
pub(super) const ANSWER: &str = "answer";
pub(super) const COMPARE: &str = "compare";

/// Those who answer first.
const PAIR: usize = 2;

/// Somebody's first answer.
#[derive(Debug, Clone)]
pub(super) struct First<'a> {
    pub(super) seat: &'a str,
    pub(super) given: Given,
    /// The answer as it was first said: those who give the same one have the same here.
    pub(super) position: String,
}

/// Whether the two of the first step say the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Agreement {
    /// One of them is absent, or both: there is nothing to compare.
    Missing(Vec<String>),
    /// They are the same answer by arithmetic.
    Same,
    /// Neither the same nor contrary by arithmetic; they have not been asked yet.
    Open,
    /// Both say that it is the same answer.
    Declared,
    /// They differ, for these reasons.
    Divided(Vec<String>),
}

/// All first answers, in seat order.
#[derive(Debug)]
pub(super) struct Firsts<'a> {
    pub(super) all: Vec<First<'a>>,
    pub(super) agreement: Agreement,
}

impl<'a> Firsts<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let further = format!("{DEEP}{ANSWER}");
        let asked = debate.turns.iter().filter(|t| t.phase.name == ANSWER || t.phase.name == further);
        let mut all: Vec<First<'a>> = Vec::new();
        for (ask, reply) in asked.flat_map(Turn::settled) {
            let Some(value) = reply.value() else { continue };
            let given = Given::deserialize(value)?;
            let position = position(debate, &all, &ask.seat, &given);
            all.push(First { seat: &ask.seat, given, position });
        }
        let agreement = agreement(debate, &all)?;
        Ok(Self { all, agreement })
    }

    /// Those of the first step.
    pub(super) fn pair(&self, debate: &Debate) -> Vec<&First<'a>> {
        let sat = pair_of(debate);
        self.all.iter().filter(|first| sat.contains(&first.seat)).collect()
    }
}

/// The seats of the first step.
pub(super) fn pair_of(debate: &Debate) -> Vec<&str> {
    debate.brief.seats_of("debater").take(PAIR).map(|seat| seat.id.as_str()).collect()
}

/// The answer's name: that of the first one that is the same. Of the two who are compared only arithmetic says so; those who join
/// later are put with whom they are plainly like.
fn position(debate: &Debate, before: &[First<'_>], seat: &str, given: &Given) -> String {
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

fn agreement(debate: &Debate, all: &[First<'_>]) -> Result<Agreement, Corrupt> {
    let sat = pair_of(debate);
    let said: Vec<&First<'_>> = all.iter().filter(|first| sat.contains(&first.seat)).collect();
    let [one, other] = said.as_slice() else {
        let heard = |seat: &&&str| said.iter().any(|first| first.seat == **seat);
        let absent = sat.iter().filter(|seat| !heard(seat));
        return Ok(Agreement::Missing(absent.map(|seat| (*seat).to_owned()).collect()));
    };
    if one.position == other.position {
        return Ok(Agreement::Same);
    }
    if let Some(difference) = contrary(&debate.brief.question, &one.given.answer, &other.given.answer) {
        return Ok(Agreement::Divided(vec![difference]));
    }
    let Some(turn) = debate.turn(COMPARE, 0) else { return Ok(Agreement::Open) };
    let mut reasons = Vec::new();
    for (ask, reply) in turn.settled() {
        reasons.extend(against(&ask.seat, reply)?);
    }
    Ok(if reasons.is_empty() { Agreement::Declared } else { Agreement::Divided(reasons) })
}

/// What one of the two has against it that both answers are the same.
fn against(seat: &str, reply: &Reply) -> Result<Option<String>, Corrupt> {
    let Some(value) = reply.value() else {
        return Ok(Some(format!("{seat} did not say whether the two are the same")));
    };
    let comparison = Comparison::deserialize(value)?;
    let difference = comparison.difference().unwrap_or("they are not the same").to_owned();
    Ok((!comparison.same).then_some(difference))
}

/// What makes two answers different whatever anybody says of them; `None` where arithmetic cannot tell.
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
