//! The challenges: each has an id, an owner and a fate. The opening's questions are the first of them.

use serde_json::{Value, json};

use super::log::{Log, Member};
use super::reply::{Examination, Stance};
use super::words::{plain, says_something};
use crate::lexical::{opposed, similarity};
use crate::named;

/// An answer that is so much like the first one repeats it.
const REPEATS_FROM: f64 = 0.95;

/// A challenge, or a question of an opening.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Counted from 1 over the whole debate.
    pub(super) number: usize,
    /// In which it was made; 0 for a question of an opening.
    pub(super) round: u32,
    /// The places of who made it and who must answer.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) claim: String,
    pub(super) reason: String,
    pub(super) question: String,
    /// Whether the claim really stands in the target's words; `None` for a question.
    pub(super) quoted: Option<bool>,
    pub(super) answers: Vec<Answer>,
    /// Rounds in which it was put and its target was absent.
    pub(super) missed: Vec<u32>,
    /// The round in which it was put again.
    pub(super) re_asked: Option<u32>,
    pub(super) state: State,
}

/// What was said to a challenge.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) round: u32,
    pub(super) stance: Option<Stance>,
    pub(super) response: String,
}

/// Where a challenge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It waits for an answer.
    Open,
    Answered,
    Evaded,
}

/// A challenge that was not answered although it was put again, or could not be.
#[derive(Debug, Clone)]
pub(super) struct Violation {
    pub(super) round: u32,
    pub(super) place: usize,
    pub(super) entry: usize,
    pub(super) why: String,
}

impl Entry {
    pub(super) fn id(&self) -> String {
        format!("C{}", self.number)
    }

    /// The challenge in a line, as seats and people read it.
    pub(super) fn text(&self) -> String {
        match self.claim.trim() {
            "" => format!("Question: {}", self.question.trim()),
            claim => format!("\"{claim}\" - {} Question: {}", self.reason.trim(), self.question.trim()),
        }
    }

    /// What it is about: the claim, or the question of an opening.
    pub(super) fn point(&self) -> &str {
        if self.claim.trim().is_empty() { self.question.trim() } else { self.claim.trim() }
    }

    pub(super) fn last(&self) -> Option<&Answer> {
        self.answers.last()
    }

    /// Whether it is to be answered in this round.
    pub(super) fn is_due(&self, round: u32) -> bool {
        self.state == State::Open && self.round < round
    }

    /// Whether an answer to it after it was put again still evades it.
    pub(super) fn still_evades(&self, stance: Option<Stance>, response: &str) -> Option<&'static str> {
        let repeats = self.answers.first().is_some_and(|first| {
            let (first, again) = (first.response.as_str(), response);
            plain(first) == plain(again)
                || (similarity(first, again) >= REPEATS_FROM && !opposed(first, again))
        });
        match stance {
            None => Some("put again, its answer takes no stance"),
            Some(_) if !says_something(response) => Some("put again, its answer is empty"),
            Some(_) if repeats => Some("put again, its answer repeats the first one"),
            Some(_) => None,
        }
    }

    /// Its fate. `over` is whether the debate is: then nobody will answer any more.
    pub(super) fn fate(&self, over: bool) -> &'static str {
        match self.state {
            State::Answered => "answered",
            State::Evaded => "evaded",
            State::Open if !over && !self.missed.is_empty() => "waiting",
            State::Open => "open",
        }
    }

    pub(super) fn record(&self, log: &Log<'_>, over: bool) -> Value {
        let last = self.last();
        json!({
            "id": self.id(),
            "round": self.round,
            "from": log.id(self.from),
            "to": log.id(self.to),
            "claim": self.claim,
            "reason": self.reason,
            "question": self.question,
            "quoted": self.quoted,
            "fate": self.fate(over),
            "stance": last.and_then(|answer| answer.stance).map(Stance::as_str),
            "response": last.map(|answer| answer.response.as_str()),
            "answered_in": last.map(|answer| answer.round),
            "re_asked": self.re_asked,
            "absent_in": self.missed,
            "answers": self.answers.iter().map(|answer| json!({
                "round": answer.round,
                "stance": answer.stance.map(Stance::as_str),
                "response": answer.response,
            })).collect::<Vec<_>>(),
        })
    }
}

/// The questions of the openings, in seat order.
pub(super) fn questions(members: &[Member<'_>]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (from, member) in members.iter().enumerate() {
        for asked in member.opening.iter().flat_map(|opening| &opening.questions) {
            let Some(to) = place_of(members, &asked.to) else { continue };
            entries.push(entry(entries.len() + 1, 0, (from, to), ("", "", &asked.question)));
        }
    }
    entries
}

/// The challenges that a councillor made in a round.
pub(super) fn challenges(
    members: &[Member<'_>],
    after: usize,
    round: u32,
    from: usize,
    said: &Examination,
) -> Vec<Entry> {
    let made = said.challenges.iter().filter_map(|made| Some((made, place_of(members, &made.to)?)));
    let made = made.enumerate().map(|(at, (made, to))| {
        entry(after + at + 1, round, (from, to), (&made.claim, &made.reason, &made.question))
    });
    made.collect()
}

fn entry(number: usize, round: u32, (from, to): (usize, usize), words: (&str, &str, &str)) -> Entry {
    let (claim, reason, question) = words;
    Entry {
        number,
        round,
        from,
        to,
        claim: claim.trim().to_owned(),
        reason: reason.trim().to_owned(),
        question: question.trim().to_owned(),
        quoted: None,
        answers: Vec::new(),
        missed: Vec::new(),
        re_asked: None,
        state: State::Open,
    }
}

/// The place of the councillor of this id or name.
pub(super) fn place_of(members: &[Member<'_>], named: &str) -> Option<usize> {
    let key = named::key(named);
    members.iter().position(|member| member.seat.id == key)
}
