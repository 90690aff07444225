//! What the council agrees on, and what it does not.

use serde_json::{Value, json};

use super::findings::Shared;
use super::ledger::{Entry, State};
use super::log::Log;
use super::reply::Stance;
use super::round::Round;
use super::words::is_same_point;

/// "consensus points (60% and more)".
const CONSENSUS_FROM: f64 = 0.6;
const TOLERANCE: f64 = 1e-9;

/// The points that several share, each once, as it was found last.
pub(super) fn shared<'a>(log: &'a Log<'_>) -> Vec<&'a Shared> {
    let mut points: Vec<&Shared> = Vec::new();
    for found in log.rounds.iter().flat_map(|round| &round.findings.shared) {
        match points.iter_mut().find(|point| is_same_point(&point.point, &found.point)) {
            Some(point) => *point = found,
            None => points.push(found),
        }
    }
    points.retain(|point| !point.who.is_empty());
    points
}

/// How much of the council shares a point.
pub(super) fn share(log: &Log<'_>, point: &Shared) -> f64 {
    point.who.len() as f64 / log.active().len().max(1) as f64
}

pub(super) fn is_consensus(log: &Log<'_>, point: &Shared) -> bool {
    share(log, point) >= CONSENSUS_FROM - TOLERANCE
}

/// What 60% or more share, with the sentences that say so.
pub(super) fn consensus(log: &Log<'_>) -> Vec<Value> {
    let points = shared(log).into_iter().filter(|point| is_consensus(log, point));
    points
        .map(|point| {
            let quotes =
                point.who.iter().map(|(place, said)| json!({"councillor": log.id(*place), "quote": said}));
            json!({
                "point": point.point,
                "councillors": point.who.iter().map(|(place, _)| log.id(*place)).collect::<Vec<_>>(),
                "share": share(log, point),
                "challenged": point.is_challenged(),
                "quotes": quotes.collect::<Vec<_>>(),
            })
        })
        .collect()
}

/// The challenges that were answered with a flat no.
pub(super) fn disputed<'a>(log: &'a Log<'_>) -> impl Iterator<Item = &'a Entry> {
    log.challenges.iter().filter(|entry| {
        let stance = entry.last().and_then(|answer| answer.stance);
        entry.state == State::Answered && stance == Some(Stance::Disagree)
    })
}

/// The points that some share, too few for a consensus, and somebody challenged.
pub(super) fn contested<'a>(log: &'a Log<'_>) -> Vec<&'a Shared> {
    shared(log).into_iter().filter(|point| point.is_challenged() && !is_consensus(log, point)).collect()
}

/// What stays between them, with both sides.
pub(super) fn disagreements(log: &Log<'_>) -> Vec<Value> {
    let disputed = disputed(log).map(|entry| {
        let response = entry.last().map_or("", |answer| answer.response.as_str());
        json!({
            "point": entry.point(),
            "challenge_id": entry.id(),
            "sides": [
                {"councillors": [log.id(entry.from)], "view": challenge_view(entry)},
                {"councillors": [log.id(entry.to)], "view": response},
            ],
        })
    });
    let contested = contested(log).into_iter().map(|point| {
        let with: Vec<usize> = point.who.iter().map(|(place, _)| *place).collect();
        let without: Vec<usize> = log.active().into_iter().filter(|place| !with.contains(place)).collect();
        let said: Vec<&str> = point.who.iter().map(|(_, said)| said.as_str()).collect();
        let positions = log.standings();
        let theirs: Vec<&str> =
            without.iter().filter_map(|place| positions.get(*place)).map(|s| s.position.as_str()).collect();
        json!({
            "point": point.point,
            "challenge_id": null,
            "sides": [
                {"councillors": log.ids(&with), "view": said.join(" / ")},
                {"councillors": log.ids(&without), "view": theirs.join(" / ")},
            ],
        })
    });
    disputed.chain(contested).collect()
}

fn challenge_view(entry: &Entry) -> String {
    [entry.reason.as_str(), entry.question.as_str()].join(" ").trim().to_owned()
}

/// The challenges and questions to which nobody will answer any more.
pub(super) fn open_questions(log: &Log<'_>) -> Vec<Value> {
    let open = log.challenges.iter().filter(|entry| entry.state == State::Open);
    open.map(|entry| {
        json!({
            "challenge_id": entry.id(),
            "from": log.id(entry.from),
            "to": log.id(entry.to),
            "claim": entry.claim,
            "question": entry.question,
            "why": why_open(log, entry),
        })
    })
    .collect()
}

fn why_open(log: &Log<'_>, entry: &Entry) -> String {
    let last = log.rounds.last().map_or(0, |round: &Round| round.number);
    match () {
        () if log.members.get(entry.to).is_none_or(|member| !member.is_active()) => {
            "who was asked gave no opening and took no part".to_owned()
        }
        () if !entry.missed.is_empty() => "who was asked was absent".to_owned(),
        () if entry.round == last && entry.round > 0 => {
            format!("asked in round {last}, the last one that was held")
        }
        () => "the debate was cut before it could be answered".to_owned(),
    }
}
