//! What a phase is called while it runs.

use agon_core::{Brief, Turn};

use crate::outline::{heading_id, in_a_round, spoken};

/// "Round 1 of 3 - 3 debaters argue".
pub(super) fn title(brief: &Brief, turn: &Turn) -> String {
    let name = turn.phase.name.as_str();
    let who = who(brief, turn);
    let doing = match (name, who.alone) {
        ("answer", true) => "answers".to_owned(),
        ("answer", false) => "answer, each on its own".to_owned(),
        ("debate", true) => "argues".to_owned(),
        ("debate", false) => "argue".to_owned(),
        ("moderate", _) if brief.protocol == "council" => {
            "looks for groupthink, evasion and stalemate".to_owned()
        }
        ("moderate", _) => "measures how far they agree".to_owned(),
        ("evaluate", _) => "score the answers of the others".to_owned(),
        ("synthesis", _) => "writes the verdict".to_owned(),
        ("position", _) => "score, each on its own".to_owned(),
        ("rebuttal", true) => "reads the others and answers".to_owned(),
        ("rebuttal", false) => "read the others and answer".to_owned(),
        ("final", true) => "gives a final score".to_owned(),
        ("final", false) => "give their final scores".to_owned(),
        ("explore", true) => "looks around".to_owned(),
        ("explore", false) => "look around".to_owned(),
        ("r1", true) => "gives a verdict".to_owned(),
        ("r1", false) => "give a verdict, each on its own".to_owned(),
        ("restate", true) => "restates its verdict".to_owned(),
        ("restate", false) => "restate their own verdicts".to_owned(),
        ("r2", true) => "reads the others and may revise".to_owned(),
        ("r2", false) => "read the others and may revise".to_owned(),
        ("opening", true) => "gives an opening".to_owned(),
        ("opening", false) => "give their openings, each on its own".to_owned(),
        ("challenge", true) => "challenges the others".to_owned(),
        ("challenge", false) => "challenge each other".to_owned(),
        ("exchange", true) => "answers messages".to_owned(),
        ("exchange", false) => "answer messages".to_owned(),
        ("intervene", true) => "answers the moderator".to_owned(),
        ("intervene", false) => "answer the moderator".to_owned(),
        ("verdict", true) => "votes".to_owned(),
        ("verdict", false) => "vote".to_owned(),
        _ => String::new(),
    };
    let sentence = match doing.as_str() {
        "" => format!("{}: {}", spoken(name), who.named),
        doing => format!("{} {doing}", who.named),
    };
    match turn.phase.round {
        0 => capital(&sentence),
        _ if !in_a_round(name) => capital(&sentence),
        round => match most_rounds(brief) {
            Some(most) => format!("Round {round} of {most} - {sentence}"),
            None => format!("Round {round} - {sentence}"),
        },
    }
}

struct Who {
    named: String,
    alone: bool,
}

fn who(brief: &Brief, turn: &Turn) -> Who {
    let mut seats: Vec<&str> = turn.asks.iter().map(|ask| ask.seat.as_str()).collect();
    seats.sort_unstable();
    seats.dedup();
    let mut roles: Vec<&str> =
        seats.iter().map(|seat| brief.seat(seat).map_or("seat", |seat| seat.role.as_str())).collect();
    roles.dedup();
    let alone = seats.len() == 1;
    let named = match (roles.as_slice(), seats.len()) {
        ([role], 1) => format!("the {}", spoken(role)),
        ([role], n) => format!("{n} {}s", spoken(role)),
        (_, n) => format!("{n} seats"),
    };
    Who { named, alone }
}

fn most_rounds(brief: &Brief) -> Option<u64> {
    ["max_rounds", "rounds"].iter().find_map(|key| brief.options.get(*key)?.as_u64())
}

fn capital(sentence: &str) -> String {
    // Keeps dashes, unlike a heading made from a wire name.
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Who sits, for the line under the question: "3 debaters, moderator, chair".
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

/// A seat as it may be shown while the debate runs: by its label once it has one.
pub(super) fn shown(ask: &agon_core::Asked) -> String {
    let name = match &ask.label {
        Some(label) => label.clone(),
        None => heading_id(&ask.seat),
    };
    match &ask.about {
        Some(about) => format!("{name} on {about}"),
        None => name,
    }
}
