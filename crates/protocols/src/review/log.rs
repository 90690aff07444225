//! What `review` reads from the log: who judges, and each one's verdicts.

use agon_core::{Absence, Brief, Corrupt, Debate, Reply, Seat, Turn};
use serde::Deserialize;
use serde_json::Value;

use super::perspectives::Perspective;
use super::reply::{First, Second, Verdict};
use super::seats::{Settings, vendor};
use super::{anchoring, debates};
use crate::limits::Limits;

/// How long a judge has for its second round, where nobody says.
pub(super) const R2_TIMEOUT_S: f64 = 90.0;

/// A judge and what it said.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    pub(super) seat: &'a Seat,
    /// Of the second vendor: it has no second round.
    pub(super) mixed: bool,
    pub(super) perspective: Option<Perspective>,
    /// The provider of the model that spoke, else of the one that was to.
    pub(super) vendor: String,
    /// What it answered in round 1, in every mode.
    pub(super) answer: Option<&'a Value>,
    /// The same, as a verdict.
    pub(super) first: Option<First>,
    pub(super) restated: bool,
    pub(super) second: Option<(Second, &'a Value)>,
    /// Everybody who sits: a name alone is no evidence.
    seats: &'a [Seat],
    /// Whether a verdict that was changed without evidence goes back to round 1.
    strict: bool,
}

/// The log as `review` sees it.
#[derive(Debug)]
pub(super) struct Log<'a> {
    pub(super) debate: &'a Debate,
    /// In seat order, those of the second vendor last.
    pub(super) judges: Vec<Judge<'a>>,
}

impl<'a> Log<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let brief = &debate.brief;
        // A log that was opened has perspectives that were found then.
        let perspectives = Settings::of(brief).perspectives().unwrap_or_default();
        let mut judges = Vec::new();
        for (role, mixed) in [("judge", false), ("mixed_judge", true)] {
            for (place, seat) in brief.seats_of(role).enumerate() {
                judges.push(judge(debate, seat, mixed, perspectives.get(place).cloned())?);
            }
        }
        Ok(Self { debate, judges })
    }

    pub(super) fn brief(&self) -> &'a Brief {
        &self.debate.brief
    }

    pub(super) fn limits(&self) -> Limits<'a> {
        Limits { debate: self.debate, kept: 0.0, closing_calls: 0 }
    }

    /// Those who gave a round 1.
    pub(super) fn survivors(&self) -> impl Iterator<Item = &Judge<'a>> {
        self.judges.iter().filter(|judge| judge.answer.is_some())
    }

    /// Those who would have a second round.
    pub(super) fn revisers(&self) -> impl Iterator<Item = &Judge<'a>> {
        self.survivors().filter(|judge| !judge.mixed && judge.first.is_some())
    }

    /// Those who restated their verdict in a call of its own.
    pub(super) fn restated(&self) -> impl Iterator<Item = &Judge<'a>> {
        self.revisers().filter(|judge| judge.restated)
    }

    /// Whether there is a second round: asked for, somebody to hold it, and somebody else to read.
    pub(super) fn has_second_round(&self) -> bool {
        debates(self.brief()) && self.survivors().count() > 1 && self.revisers().next().is_some()
    }

    /// `agreed` when all verdicts of round 1 have the same value; `None` while there are none.
    pub(super) fn branch(&self) -> Option<&'static str> {
        let mut verdicts = self.judges.iter().filter_map(|judge| Some(judge.first.as_ref()?.verdict));
        let first = verdicts.next()?;
        Some(if verdicts.all(|verdict| verdict == first) { "agreed" } else { "disagreed" })
    }

    /// How long a judge's second round may take, in milliseconds.
    pub(super) fn r2_within_ms(&self) -> u64 {
        let call_s = self.brief().limits.call_timeout_ms as f64 / 1000.0;
        let set = self.brief().options.get("r2_timeout").and_then(Value::as_f64);
        (set.unwrap_or(R2_TIMEOUT_S.min(call_s)) * 1000.0).round() as u64
    }

    /// Why a seat is missing in a phase.
    pub(super) fn absence(&self, phase: &str, seat: &str) -> Option<(Absence, &'a str)> {
        let turn = self.debate.turns.iter().rev().find(|turn| turn.phase.name == phase)?;
        turn.absences().find(|(ask, ..)| ask.seat == seat).map(|(_, why, detail)| (why, detail))
    }

    /// What the explorers of a judge brought, with their seats.
    pub(super) fn explorations(&self, judge: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let of = format!("{judge}-explorer-");
        let said = self.debate.turn("explore", 1).into_iter().flat_map(Turn::settled);
        said.filter_map(|(ask, reply)| Some((ask.seat.as_str(), reply.value()?)))
            .filter(move |(seat, _)| seat.starts_with(&of))
    }
}

impl Judge<'_> {
    /// Whether the verdict was changed without specific evidence.
    pub(super) fn is_weak_flip(&self) -> bool {
        match (&self.first, &self.second) {
            (Some(first), Some((second, _))) => {
                let names = self.seats.iter().map(|seat| seat.id.as_str());
                anchoring::is_weak_flip(first.verdict, second, names)
            }
            _ => false,
        }
    }

    /// Whether that is held against it.
    pub(super) fn is_reverted(&self) -> bool {
        self.strict && self.is_weak_flip()
    }

    /// The round whose verdict counts, and the verdict.
    pub(super) fn used(&self) -> Option<(u32, Verdict)> {
        match (&self.first, &self.second) {
            (Some(_), Some((second, _))) if !self.is_reverted() => Some((2, second.verdict)),
            (Some(first), _) => Some((1, first.verdict)),
            (None, _) => None,
        }
    }
}

fn judge<'a>(
    debate: &'a Debate,
    seat: &'a Seat,
    mixed: bool,
    perspective: Option<Perspective>,
) -> Result<Judge<'a>, Corrupt> {
    let answer = said(debate, "r1", 1, &seat.id).and_then(Reply::value);
    let validates = debate.brief.text("mode") == "validate";
    let first = answer.filter(|_| validates).map(First::deserialize).transpose()?;
    let second = said(debate, "r2", 2, &seat.id).and_then(Reply::value);
    let second = second.map(|value| Second::deserialize(value).map(|read| (read, value))).transpose()?;
    let restated = said(debate, "restate", 2, &seat.id).is_some_and(|reply| reply.value().is_some());
    let strict = debate.brief.flag("strict_anchoring");
    let vendor = spoken_by(debate, seat);
    let seats = &debate.brief.seats;
    Ok(Judge { seat, mixed, perspective, vendor, answer, first, restated, second, seats, strict })
}

/// What a seat replied in a phase.
pub(super) fn said<'a>(debate: &'a Debate, phase: &str, round: u32, seat: &str) -> Option<&'a Reply> {
    let turn = debate.turn(phase, round)?;
    turn.settled().find(|(ask, _)| ask.seat == seat).map(|(_, reply)| reply)
}

/// The vendor of the link of a chain that spoke.
fn spoken_by(debate: &Debate, seat: &Seat) -> String {
    let spoke = match said(debate, "r1", 1, &seat.id) {
        Some(Reply::Said { model, .. }) => model.as_str(),
        _ => "",
    };
    let mut links = seat.model.split('|').map(str::trim);
    vendor(links.find(|link| *link == spoke).unwrap_or(&seat.model)).to_owned()
}
