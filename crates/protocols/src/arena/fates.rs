//! What became of every position of round 1, and who dissents.

use agon_core::{Fate, Position};
use serde_json::{Value, json};

use super::ending::{self, Winner};
use super::log::{Held, Log};
use crate::lexical;

/// A position this much like what it was at first still says it, unless one denies the other.
const SAME_FROM: f64 = 0.5;

/// Every position of round 1 with its fate, in label order.
pub(super) fn positions(log: &Log<'_>) -> Vec<Position> {
    let winner = ending::winner(log);
    let Some(first) = log.stages.first() else { return Vec::new() };
    let held = first.held.iter().enumerate();
    held.filter_map(|(place, held)| {
        let position = held.as_ref()?.said.position.trim().to_owned();
        let (fate, reason) = fate(log, winner.as_ref(), place, &position);
        let agent = log.agents.get(place)?;
        let (seat, label) = (agent.seat.id.clone(), Some(agent.label.clone()));
        Some(Position { seat, label, position, fate, reason })
    })
    .collect()
}

fn fate(log: &Log<'_>, winner: Option<&Winner>, place: usize, first: &str) -> (Fate, String) {
    let last = log.proposal(place).map_or(first, |held| held.said.position.trim());
    let (same, moved) = (is_same(first, last), change(log, place, first));
    let given_up = || match &moved {
        Some(moved) => format!("given up: {moved}"),
        None => "given up by its author".to_owned(),
    };
    let Some(winner) = winner else {
        return match same {
            true => (Fate::Minority, "there is no decision that could adopt it".to_owned()),
            false => (Fate::Refuted, given_up()),
        };
    };
    let won = winner.group.contains(&place);
    let is_winner = winner.place == place && !lexical::opposed(first, last);
    match (won, same) {
        (true, true) if winner.place == place => {
            (Fate::Adopted, format!("it is the decision, by the {}", winner.by))
        }
        (true, true) => (
            Fate::Adopted,
            format!("it says the same as the decision, which is that of Agent {}", log.label(winner.place)),
        ),
        (true, false) if is_winner => {
            let how = moved.unwrap_or_else(|| "its author reworded it".to_owned());
            (Fate::Adopted, format!("it became the decision; {how}"))
        }
        (true, false) => (Fate::Refuted, given_up()),
        (false, same) => {
            let held = if same {
                "held to the end".to_owned()
            } else {
                moved.unwrap_or_else(|| "changed".to_owned())
            };
            (Fate::Minority, format!("{held}; {}", against(log, place)))
        }
    }
}

/// Whether a position still says what it said at first.
fn is_same(first: &str, last: &str) -> bool {
    first == last || (lexical::similarity(first, last) >= SAME_FROM && !lexical::opposed(first, last))
}

/// When an agent left its first position, and what it answered then.
fn change(log: &Log<'_>, place: usize, first: &str) -> Option<String> {
    let said = log.stages.iter().filter_map(|stage| Some((stage.round, stage.held.get(place)?.as_ref()?)));
    let left = |(_, held): &(u32, &Held)| !held.carried && !is_same(first, held.said.position.trim());
    let (round, held) = said.into_iter().find(left)?;
    let answers: Vec<String> = held
        .said
        .addressed
        .iter()
        .map(|answer| format!("{}: {}", answer.critique_id, answer.how.trim()))
        .collect();
    let why = if answers.is_empty() { "no critique was answered".to_owned() } else { answers.join("; ") };
    Some(format!("changed in round {round} ({why})"))
}

/// What the voters had against it.
fn against(log: &Log<'_>, place: usize) -> String {
    let Some(poll) = log.polls.last() else { return "there was no vote".to_owned() };
    let own = poll.group(place);
    let others = log.in_seat_order().into_iter().filter_map(|voter| {
        let ballot = poll.ballots.get(voter)?.as_ref()?;
        let choice = ballot.choice.filter(|choice| !own.contains(choice))?;
        Some(format!("Agent {} voted for Agent {}: {}", log.label(voter), log.label(choice), ballot.reason))
    });
    let others: Vec<String> = others.collect();
    if others.is_empty() { "nobody voted for another".to_owned() } else { others.join("; ") }
}

/// The minority, each with what it says in the end; `positions` has what it said at first.
pub(super) fn dissent(log: &Log<'_>, positions: &[Position]) -> Vec<Value> {
    let minority = positions.iter().filter(|position| position.fate == Fate::Minority);
    minority
        .map(|position| {
            let place = position.label.as_deref().and_then(|label| log.place(label));
            let last = place.and_then(|place| log.proposal(place));
            let group = place.zip(log.polls.last()).map(|(place, poll)| poll.votes(poll.group(place)));
            json!({
                "seat": position.seat,
                "label": position.label,
                "position": last.map_or(position.position.as_str(), |held| held.said.position.trim()),
                "opening": position.position,
                "reason": position.reason,
                "votes": group,
            })
        })
        .collect()
}
