//! What became of every position of round 1, and who dissents.

use agon_core::{Fate, Position};
use serde_json::{Value, json};

use super::ending::{self, Winner};
use super::log::{Held, Log};
use crate::lexical;

/// A position this much like what it was at first still says it, unless the rest of it says something else.
const SAME_FROM: f64 = 0.85;
/// Somebody's words in a reason end here: the record has them in full.
const WORDS_CHARS_MAX: usize = 160;

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
    let kept = same || is_added_to(first, last);
    let Some(winner) = winner else {
        return match kept {
            true => {
                (Fate::Minority, format!("there is no decision that could adopt it{}", votes(log, place)))
            }
            false => (Fate::Refuted, given_up()),
        };
    };
    let won = winner.group.contains(&place);
    match (won, same) {
        (true, true) if winner.place == place => {
            (Fate::Adopted, format!("it is the decision, by the {}", winner.by))
        }
        (true, true) => (
            Fate::Adopted,
            format!("it says the same as the decision, which is that of Agent {}", log.label(winner.place)),
        ),
        (true, false) if winner.place == place && kept => {
            let how = moved.unwrap_or_else(|| "its author added to it".to_owned());
            (Fate::Adopted, format!("it became the decision; {how}"))
        }
        (true, false) => (Fate::Refuted, given_up()),
        (false, same) => {
            let held = if same {
                "held to the end".to_owned()
            } else {
                moved.unwrap_or_else(|| "changed".to_owned())
            };
            (Fate::Minority, format!("{held}{}{}", votes(log, place), against(log, winner, place)))
        }
    }
}

/// Whether a position still says what it said at first.
pub(super) fn is_same(first: &str, last: &str) -> bool {
    let alike =
        || lexical::similarity(first, last) >= SAME_FROM && lexical::figures(first) == lexical::figures(last);
    lexical::same_words(first, last) || (alike() && !lexical::contrary(first, last))
}

/// Whether a position says more than it did at first, and takes nothing of it back.
pub(super) fn is_added_to(first: &str, last: &str) -> bool {
    lexical::is_within(first, last) && !lexical::contrary(first, last)
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
        .map(|answer| format!("{}: {}", answer.critique_id, short(&answer.how)))
        .collect();
    let why = if answers.is_empty() { "no critique was answered".to_owned() } else { answers.join("; ") };
    Some(format!("changed in round {round} ({why})"))
}

/// How many of the last votes it had.
fn votes(log: &Log<'_>, place: usize) -> String {
    let Some(poll) = log.polls.last() else { return "; there was no vote".to_owned() };
    let (own, cast) = (poll.votes(poll.group(place)), poll.cast());
    format!("; {own} of {cast} vote{}", if cast == 1 { "" } else { "s" })
}

/// The strongest objection: what decided it for the first who voted for the decision, or for the judge where nobody did.
fn against(log: &Log<'_>, winner: &Winner, place: usize) -> String {
    let ballot = |voter: usize| log.polls.last()?.ballots.get(voter)?.as_ref();
    let voter = log.in_seat_order().into_iter().filter(|voter| *voter != place).find_map(|voter| {
        let ballot =
            ballot(voter).filter(|ballot| ballot.choice.is_some_and(|one| winner.group.contains(&one)))?;
        Some((format!("Agent {}", log.label(voter)), ballot.reason.clone()))
    });
    let judge = || {
        let reasons = ending::judged(log)?.reasons(winner.place);
        Some(("the judge".to_owned(), reasons.into_iter().next()?))
    };
    let said = voter.or_else(judge);
    said.map_or(String::new(), |(who, why)| {
        format!("; {who} for Agent {}: {}", log.label(winner.place), short(&why))
    })
}

/// Words on one line, cut at the end of a word.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(WORDS_CHARS_MAX) else { return line };
    let kept = line.get(..end).unwrap_or_default();
    format!("{}\u{2026}", kept.rsplit_once(' ').map_or(kept, |(kept, _)| kept).trim_end())
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
