//! What was said in a round, by a seat, or by a seat in a round.

use agon_core::wording::{joined, rounds as rounds_words};
use agon_core::{
    AskRecord, Debate, PhaseTurn, PositionFlip, Reply, ReportBlock, ReportItem, ReportSection, SectionKind,
};
use agon_measure::evidence::{HeldPosition, SeatTrajectory};
use serde::Serialize;
use serde_json::{Value, json};

use super::ExcerptError;
use crate::evidence::paths::{is_worth_drawing, position_paths};
use crate::evidence::who_changed;
use crate::report_source::ReportSource;
use crate::transcript::phases_with;

/// What was said, what the seats held after it, and who changed.
pub(super) fn sections(
    source: &ReportSource<'_>,
    round: Option<u32>,
    seat: Option<&str>,
) -> Result<Vec<ReportSection>, ExcerptError> {
    let filter = SpeechFilter::new(source, round, seat)?;
    let mut sections: Vec<ReportSection> = filter.who(source).into_iter().collect();
    sections.extend(phases_with(source, &|turn, ask| filter.accepts(turn, ask)));
    sections.extend(filter.held(source));
    sections.extend(who_changed(source, filter.flips(source)));
    Ok(sections)
}

/// One ask and its reply.
#[derive(Serialize)]
struct SpokenReply<'a> {
    phase: &'a str,
    round: u32,
    ask: u32,
    seat: &'a str,
    label: Option<&'a str>,
    about: Option<&'a str>,
    #[serde(flatten)]
    reply: Option<&'a Reply>,
}

/// A position with its holder.
#[derive(Serialize)]
struct SeatHolding<'a> {
    #[serde(flatten)]
    held: &'a HeldPosition,
    seat: &'a str,
}

pub(super) fn json(
    source: &ReportSource<'_>,
    round: Option<u32>,
    seat: Option<&str>,
) -> Result<Value, ExcerptError> {
    let filter = SpeechFilter::new(source, round, seat)?;
    let said = source.debate.turns.iter().flat_map(|turn| {
        let asked = turn.asks.iter().zip(&turn.replies).filter(|(ask, _)| filter.accepts(turn, ask));
        asked.map(move |(ask, reply)| SpokenReply {
            phase: &turn.phase.name,
            round: turn.phase.round,
            ask: ask.id,
            seat: &ask.seat,
            label: ask.label.as_deref(),
            about: ask.about.as_deref(),
            reply: reply.as_ref(),
        })
    });
    let held = filter.positions(source).map(|(seat, held)| SeatHolding { held, seat: &seat.seat });
    Ok(json!({
        "id": source.debate.brief.id,
        "round": round,
        "seats": filter.seats,
        "said": said.collect::<Vec<_>>(),
        "held": held.collect::<Vec<_>>(),
        "flips": filter.flips(source).collect::<Vec<_>>(),
    }))
}

struct SpeechFilter {
    round: Option<u32>,
    /// The ids of the requested seats; `None` for all.
    seats: Option<Vec<String>>,
}

impl SpeechFilter {
    fn new(source: &ReportSource<'_>, round: Option<u32>, seat: Option<&str>) -> Result<Self, ExcerptError> {
        let seats = seat.map(|seat| seats_named(source, seat)).transpose()?;
        let filter = Self { round, seats };
        let Some(round) = round else { return Ok(filter) };
        let rounds = rounds_asked(source.debate, &|_| true);
        if !rounds.contains(&round) {
            let there = match rounds.as_slice() {
                [] => "is none yet".to_owned(),
                [only] => format!("is only {}", rounds_words(&[*only])),
                rounds => format!("are {}", rounds_words(rounds)),
            };
            return Err(ExcerptError::NoRound { round, there });
        }
        let own = rounds_asked(source.debate, &|ask| filter.has_seat(&ask.seat));
        match seat {
            Some(seat) if !own.contains(&round) => {
                let there = if own.is_empty() { "no round at all".to_owned() } else { rounds_words(&own) };
                Err(ExcerptError::NotAsked { seat: seat.to_owned(), round, there })
            }
            _ => Ok(filter),
        }
    }

    fn has_seat(&self, seat: &str) -> bool {
        self.seats.as_ref().is_none_or(|seats| seats.iter().any(|own| own == seat))
    }

    fn has_round(&self, round: u32) -> bool {
        self.round.is_none_or(|wanted| wanted == round)
    }

    fn accepts(&self, turn: &PhaseTurn, ask: &AskRecord) -> bool {
        self.has_round(turn.phase.round) && self.has_seat(&ask.seat)
    }

    fn flips<'a>(&self, source: &ReportSource<'a>) -> impl Iterator<Item = &'a PositionFlip> {
        let flips = source.evidence.flips.iter();
        flips.filter(|flip| self.has_round(flip.round) && self.has_seat(&flip.seat))
    }

    /// The positions after the requested rounds.
    fn positions<'a>(
        &self,
        source: &ReportSource<'a>,
    ) -> impl Iterator<Item = (&'a SeatTrajectory, &'a HeldPosition)> {
        let seats = source.evidence.trajectory.iter().filter(|seat| self.has_seat(&seat.seat));
        let held = seats.flat_map(|seat| seat.positions.iter().map(move |held| (seat, held)));
        held.filter(|(_, held)| self.has_round(held.round))
    }

    /// The requested seats with their roles and models.
    fn who(&self, source: &ReportSource<'_>) -> Option<ReportSection> {
        let seats = source.debate.brief.seats.iter().filter(|seat| self.has_seat(&seat.id));
        let items: Vec<ReportItem> = seats
            .map(|seat| {
                let label = source.label(&seat.id).map(|_| format!("{}, ", source.name(&seat.id)));
                let text = format!("{}{}, {}", label.unwrap_or_default(), seat.role, seat.model);
                ReportItem { who: Some(seat.id.clone()), text, note: None }
            })
            .collect();
        let section = |items| ReportSection::new(SectionKind::Part, "Seats", vec![ReportBlock::Items(items)]);
        (self.seats.is_some() && !items.is_empty()).then(|| section(items))
    }

    /// What they held after the round, or in all rounds.
    fn held(&self, source: &ReportSource<'_>) -> Option<ReportSection> {
        let Some(round) = self.round else {
            let seats = self.seats.as_ref()?;
            let mut paths = position_paths(source);
            paths.seats.retain(|path| seats.iter().any(|seat| source.place(seat) == path.place));
            let section = |paths| vec![ReportBlock::Paths(paths)];
            return is_worth_drawing(&paths)
                .then(|| ReportSection::new(SectionKind::Part, "Positions by round", section(paths)));
        };
        let items: Vec<ReportItem> = self
            .positions(source)
            .map(|(seat, held)| ReportItem {
                who: Some(source.name(&seat.seat)),
                text: source.held_words(&seat.seat, held.round).unwrap_or_else(|| held.position.clone()),
                note: held.changed.then(|| "Changed in this round.".to_owned()),
            })
            .collect();
        let title = format!("Positions after {}", source.round_name(round));
        let section = |items| ReportSection::new(SectionKind::Part, title, vec![ReportBlock::Items(items)]);
        (!items.is_empty()).then(|| section(items))
    }
}

/// The rounds with an ask that counts.
fn rounds_asked(debate: &Debate, counts: &dyn Fn(&AskRecord) -> bool) -> Vec<u32> {
    let turns = debate.turns.iter().filter(|turn| turn.asks.iter().any(counts));
    let mut rounds: Vec<u32> = turns.map(|turn| turn.phase.round).collect();
    rounds.sort_unstable();
    rounds.dedup();
    rounds
}

/// The seats with this name: one by its id or label, or all of a role.
fn seats_named(source: &ReportSource<'_>, wanted: &str) -> Result<Vec<String>, ExcerptError> {
    let brief = &source.debate.brief;
    let asked = || source.debate.turns.iter().flat_map(|turn| &turn.asks);
    let mut known: Vec<(String, Vec<String>)> = Vec::new();
    // Lookups and computations have a name but no seat.
    let ids = brief.seats.iter().map(|seat| &seat.id).chain(asked().map(|ask| &ask.seat));
    for id in ids {
        if known.iter().all(|(other, _)| other != id) {
            let shown = asked().filter(|ask| ask.seat == *id).filter_map(|ask| ask.label.clone());
            let mut names: Vec<String> = shown.collect();
            names.extend(source.label(id).map(str::to_owned));
            names.extend(source.label(id).map(|_| source.name(id)));
            known.push((id.clone(), names));
        }
    }
    let is_wanted = |name: &str| name.trim().to_lowercase() == wanted.trim().to_lowercase();
    let by_label = || known.iter().find(|(_, names)| names.iter().any(|name| is_wanted(name)));
    if let Some((id, _)) = known.iter().find(|(id, _)| is_wanted(id)).or_else(by_label) {
        return Ok(vec![id.clone()]);
    }
    let of_role = brief.seats.iter().filter(|seat| is_wanted(&seat.role)).map(|seat| seat.id.clone());
    let of_role: Vec<String> = of_role.collect();
    if !of_role.is_empty() {
        return Ok(of_role);
    }
    let there = known.iter().map(|(id, _)| match source.label(id) {
        Some(_) => format!("{id} ({})", source.name(id)),
        None => id.clone(),
    });
    Err(ExcerptError::NoSeat { seat: wanted.trim().to_owned(), there: joined(&there.collect::<Vec<_>>()) })
}
