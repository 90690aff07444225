//! What a phase is called while it runs.

use agon_core::{Brief, Turn};

use crate::outline::{heading_id, in_a_round, own_name, spoken};

/// "Round 1 of 3 - 3 debaters argue".
pub(super) fn title(brief: &Brief, turn: &Turn) -> String {
    let (name, whole) = (own_name(&turn.phase.name), turn.phase.name.as_str());
    let who = who(brief, turn);
    let doing = match brief.protocol.as_str() {
        "arena" => in_arena(name, who.alone),
        protocol => doing(protocol, name, who.alone),
    };
    let sentence = match doing {
        "" => format!("{}: {}", spoken(name), who.named),
        // Nobody speaks in these: something is looked up or computed.
        doing if matches!(name, "context" | "compare") && brief.protocol == "arena" => doing.to_owned(),
        doing => format!("{} {doing}", who.named),
    };
    match turn.phase.round {
        0 => capital(&sentence),
        _ if !in_a_round(name) => capital(&sentence),
        // Of a debate within a debate the judges' rounds follow those that the option limits.
        round => match most_rounds(brief).filter(|_| !whole.starts_with("panel/")) {
            Some(most) => format!("Round {round} of {most} - {sentence}"),
            None => format!("Round {round} - {sentence}"),
        },
    }
}

fn doing(protocol: &str, name: &str, alone: bool) -> &'static str {
    match (name, alone) {
        ("answer", true) => "answers",
        ("answer", false) => "answer, each on its own",
        ("compare", true) => "says whether the two answers are the same",
        ("compare", false) => "say whether the two answers are the same",
        ("debate", true) => "argues",
        ("debate", false) => "argue",
        ("moderate", _) if protocol == "council" => "looks for groupthink, evasion and stalemate",
        ("moderate", _) => "measures how far they agree",
        ("evaluate", _) => "score the answers of the others",
        ("synthesis", _) => "writes the verdict",
        ("position", _) => "score, each on its own",
        ("rebuttal", true) => "reads the others and answers",
        ("rebuttal", false) => "read the others and answer",
        ("final", true) => "gives a final score",
        ("final", false) => "give their final scores",
        ("explore", true) => "looks around",
        ("explore", false) => "look around",
        ("r1", true) => "gives a verdict",
        ("r1", false) => "give a verdict, each on its own",
        ("restate", true) => "restates its verdict",
        ("restate", false) => "restate their own verdicts",
        ("r2", true) => "reads the others and may revise",
        ("r2", false) => "read the others and may revise",
        ("opening", true) => "gives an opening",
        ("opening", false) => "give their openings, each on its own",
        ("challenge", true) => "challenges the others",
        ("challenge", false) => "challenge each other",
        ("exchange", true) => "answers messages",
        ("exchange", false) => "answer messages",
        ("intervene", true) => "answers the moderator",
        ("intervene", false) => "answer the moderator",
        ("verdict", true) => "votes",
        ("verdict", false) => "vote",
        _ => "",
    }
}

fn in_arena(name: &str, alone: bool) -> &'static str {
    match (name, alone) {
        ("context", _) => "what is known is looked up",
        ("propose", true) => "proposes",
        ("propose", false) => "propose, each on its own",
        ("critique", true) => "critiques the others",
        ("critique", false) => "critique each other",
        ("revise", true) => "revises its proposal",
        ("revise", false) => "revise their proposals",
        ("compare", _) => "the proposals are compared",
        ("challenge", true) => "answers the trickster",
        ("challenge", false) => "answer the trickster",
        ("refine", true) => "refines its proposal",
        ("refine", false) => "refine their proposals",
        ("vote", true) => "votes",
        ("vote", false) => "vote",
        ("judge", _) => "scores the proposals",
        _ => "",
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
