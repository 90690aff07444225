//! The title of a phase while it runs.

use agon_core::wording::{capitalized, heading, seat_name, spoken};
use agon_core::{AskRecord, Brief, Debate, PhaseTurn, Protocol};

use crate::transcript::about_words;

/// What happens in a phase. For example "Round 1 of 3 - 3 debaters argue".
pub fn title(protocol: &dyn Protocol, debate: &Debate, turn: &PhaseTurn) -> String {
    let who = speakers(&debate.brief, turn);
    let Some(info) = protocol.info().phase(&turn.phase.name) else {
        return format!("{}: {}", heading(&turn.phase.name), who.named);
    };
    let sentence = match (info.is_lookup, who.is_alone) {
        (true, _) => info.one_seat.to_owned(),
        (false, true) => format!("{} {}", who.named, info.one_seat),
        (false, false) => format!("{} {}", who.named, info.many_seats),
    };
    let round = turn.phase.round;
    if round == 0 || info.is_outside_rounds {
        return capitalized(&sentence);
    }
    match protocol.plan(&debate.brief).most_rounds.filter(|most| round <= *most) {
        Some(most) => format!("Round {round} of {most} - {sentence}"),
        None => format!("Round {round} - {sentence}"),
    }
}

/// Who speaks in a phase.
struct PhaseSpeakers {
    named: String,
    is_alone: bool,
}

fn speakers(brief: &Brief, turn: &PhaseTurn) -> PhaseSpeakers {
    let mut seats: Vec<&str> = turn.asks.iter().map(|ask| ask.seat.as_str()).collect();
    seats.sort_unstable();
    seats.dedup();
    let mut roles: Vec<&str> =
        seats.iter().map(|seat| brief.seat(seat).map_or("seat", |seat| seat.role.as_str())).collect();
    roles.dedup();
    let is_alone = seats.len() == 1;
    let named = match (roles.as_slice(), seats.len()) {
        ([role], 1) => format!("the {}", spoken(role)),
        ([role], n) => format!("{n} {}s", spoken(role)),
        (_, n) => format!("{n} seats"),
    };
    PhaseSpeakers { named, is_alone }
}

/// The seats by role, for the line under the question: "3 debaters, moderator, chair".
pub(super) fn roster(brief: &Brief) -> String {
    let mut roles: Vec<(&str, usize)> = Vec::new();
    for seat in &brief.seats {
        match roles.iter_mut().find(|(role, _)| *role == seat.role) {
            Some((_, count)) => *count += 1,
            None => roles.push((&seat.role, 1)),
        }
    }
    let told = roles.iter().map(|(role, count)| match count {
        1 => spoken(role),
        n => format!("{n} {}s", spoken(role)),
    });
    told.collect::<Vec<_>>().join(", ")
}

/// Whether a person answers an ask to this model, or an agent that a person works with. A chain is a person's if any part is.
pub(crate) fn is_person(model: &str) -> bool {
    model.split('|').map(str::trim).any(|name| name.starts_with("human/") || name == "caller")
}

/// The name of a seat while the debate runs: its label if it has one.
pub(super) fn shown(ask: &AskRecord) -> String {
    let name = ask.label.clone().unwrap_or_else(|| seat_name(&ask.seat));
    format!("{name}{}", about_words(ask))
}
