//! Who held what: the first answers by their own short words, later positions by those, the vote, and where a text stands.

use agon_core::{Corrupt, Debate, Grouping, Held, Protocol, Stand, Stands};
use serde::Deserialize;

use super::firsts::{Agreement, Firsts, is_same};
use crate::answer::Answer;
use crate::deep::{Deep, reply::Argument};
use crate::lexical;

/// A position that is none of the first answers is named by so many characters of its first sentence at most.
const NAME_CHARS_MAX: usize = 200;

/// The rounds, from the first answers to where the debaters stood in the end; `part` is the debate, where there is one.
pub(super) fn rounds(debate: &Debate, firsts: &Firsts<'_>, part: Option<&Debate>) -> Result<Stands, Corrupt> {
    let mut stands = Stands { grouping: grouping(firsts, part), ..Stands::default() };
    if firsts.all.is_empty() {
        return Ok(stands);
    }
    let read = part.map(|part| Deep.stands(part)).transpose()?.unwrap_or_default();
    let label = |seat: &str| Some(read.rounds.first()?.of(seat)?.label.clone()).flatten();
    let held = firsts.all.iter().map(|first| Stand {
        seat: first.seat.to_owned(),
        label: label(first.seat),
        position: first.position.clone(),
        confidence: Some(first.given.confidence),
        ..Stand::default()
    });
    stands.rounds.push(ruled(0, held.collect(), firsts));
    for after in read.rounds.iter().skip(1) {
        let before = stands.rounds.last().map_or(&[][..], |held| &held.stands);
        let mut now = Vec::new();
        for stand in before {
            now.push(follow(debate, firsts, part, stand, after, &known(&stands))?);
        }
        stands.rounds.push(ruled(after.round, now, firsts));
    }
    Ok(stands)
}

fn grouping(firsts: &Firsts<'_>, part: Option<&Debate>) -> Grouping {
    match (part, &firsts.agreement) {
        (Some(_), _) => Grouping::Similarity,
        (None, Agreement::Declared) => Grouping::Declared,
        (None, _) => Grouping::Discrete,
    }
}

/// Positions with what a plain vote makes of them. Where both of a pair say that their answers are the same, they are.
fn ruled(round: u32, mut stands: Vec<Stand>, firsts: &Firsts<'_>) -> Held {
    if firsts.agreement == Agreement::Declared
        && let Some(name) = stands.first().map(|stand| stand.position.clone())
    {
        stands.iter_mut().for_each(|stand| stand.position.clone_from(&name));
    }
    let mut held = Held { round, stands, ..Held::default() };
    held.ruling = vote(&held).map(str::to_owned);
    held
}

/// Where a debater stands after a round in which it may have changed.
fn follow(
    debate: &Debate,
    firsts: &Firsts<'_>,
    part: Option<&Debate>,
    before: &Stand,
    after: &Held,
    known: &[String],
) -> Result<Stand, Corrupt> {
    let mut now = Stand { change: None, ..before.clone() };
    let Some(read) = after.of(&before.seat) else { return Ok(now) };
    now.confidence = read.confidence.or(now.confidence);
    let said = part.and_then(|part| part.turn("debate", after.round)?.settled().find(|(ask, _)| ask.seat == before.seat));
    let said = said.and_then(|(_, reply)| reply.value()).map(Argument::deserialize).transpose()?;
    let Some(text) = said.as_ref().and_then(Argument::new_position).filter(|_| read.change.is_some()) else {
        return Ok(now);
    };
    now.position = place(&debate.brief.question, firsts, known, text).unwrap_or_else(|| name(text));
    // A change of words that leaves the answer as it was is none.
    now.change = read.change.clone().filter(|_| now.position != before.position);
    Ok(now)
}

/// Every position that somebody has held so far, each once.
fn known(stands: &Stands) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    for stand in stands.rounds.iter().flat_map(|held| &held.stands) {
        if !known.contains(&stand.position) {
            known.push(stand.position.clone());
        }
    }
    known
}

/// The position that a text is: the one whose answer it gives, or the only one whose words are in it.
fn place(question: &str, firsts: &Firsts<'_>, known: &[String], text: &str) -> Option<String> {
    if let Some(given) = Answer::read(question, text) {
        let same = known.iter().find(|position| is_same(question, position, given.said()));
        if let Some(same) = same {
            return Some(same.clone());
        }
    }
    let whole = firsts.all.iter().find(|first| lexical::same_words(&first.given.text(), text));
    if let Some(first) = whole {
        return Some(first.position.clone());
    }
    let opening = first_sentence(text);
    let says = |position: &&String| {
        let telling = lexical::similarity(position, position) > 0.0;
        telling && lexical::is_within(position, opening) && !lexical::opposed(position, opening)
    };
    let mut within = known.iter().filter(says);
    match (within.next(), within.next()) {
        (Some(only), None) => Some(only.clone()),
        _ => None,
    }
}

/// The position that the answer of a debate is, where anybody held it.
pub(super) fn of_answer(
    debate: &Debate,
    firsts: &Firsts<'_>,
    stands: &Stands,
    answer: &str,
) -> Option<String> {
    place(&debate.brief.question, firsts, &known(stands), answer)
}

/// The position that most hold, if at least two do: one voice alone is no vote.
pub(super) fn vote(held: &Held) -> Option<&str> {
    let position = held.plurality()?;
    (held.stands.iter().filter(|stand| stand.position == position).count() > 1).then_some(position)
}

fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    let ends = text.char_indices().filter(|(at, c)| {
        let after = text.get(at + c.len_utf8()..).unwrap_or_default();
        *c == '\n' || (matches!(c, '.' | '!' | '?') && after.starts_with(char::is_whitespace))
    });
    ends.map(|(at, c)| at + c.len_utf8()).next().and_then(|end| text.get(..end)).unwrap_or(text).trim()
}

fn name(text: &str) -> String {
    let sentence = first_sentence(text);
    match sentence.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => format!("{}...", sentence.get(..end).unwrap_or_default().trim_end()),
        None => sentence.to_owned(),
    }
}
