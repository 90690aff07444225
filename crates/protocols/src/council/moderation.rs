//! What is done about what the moderator finds in a round.

use agon_core::seed::Draw;
use agon_core::{Corrupt, Reply};
use serde::Deserialize;
use serde_json::Value;

use super::findings::{Evaded, Shared};
use super::ledger::{Answer, State, Violation};
use super::log::Log;
use super::reply::{Reframed, SecondResponse};
use super::round::Round;
use super::schema::asked_for;
use super::words::is_same_point;

/// "so that the moderator does not dominate".
pub(super) const INTERVENTIONS_MAX: usize = 3;

/// "Examples" of the seed, for when the moderator has no question of its own.
pub(super) const REFRAMINGS: [&str; 4] = [
    "What if the timeline was 10x shorter/longer?",
    "What if the budget was unlimited/zero?",
    "What if the main competitor already did this?",
    "What would you recommend if you had to live with the consequences personally?",
];

/// Something that the moderator does.
#[derive(Debug)]
pub(super) struct Intervention {
    pub(super) kind: Kind,
    /// Whom it asks, by place.
    pub(super) to: Vec<usize>,
    /// The words that it rests on.
    pub(super) quote: String,
    /// What it asks.
    pub(super) question: String,
    /// What came back, in the order of `to`; `None` for an absence. Shorter while replies are missing.
    pub(super) replies: Vec<Option<Value>>,
    pub(super) outcome: String,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// A challenge is put again.
    Evasion { entry: usize, why: String },
    /// Somebody must make the case against a point.
    Groupthink { point: String },
    /// A question to all.
    Stale,
}

impl Kind {
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Evasion { .. } => "evasion",
            Self::Groupthink { .. } => "groupthink",
            Self::Stale => "stale",
        }
    }
}

/// How many of `n` councillors must share a point for it to be groupthink: `max(3, ceil(0.6 n))`.
pub(super) fn groupthink_from(n: usize) -> usize {
    (3 * n).div_ceil(5).max(3)
}

/// The round's interventions: evasions first, then groupthink, then stale, as many as there is room for.
pub(super) fn plan(log: &mut Log<'_>, round: &mut Round) {
    let mut evasions: Vec<(usize, String, String)> = Vec::new();
    for entry in round.unanswered.iter().copied() {
        let quote = log.challenges.get(entry).map_or(String::new(), |entry| entry.text());
        evasions.push((entry, "no answer to this id".to_owned(), quote));
    }
    let mut found: Vec<&Evaded> = round.findings.evasions.iter().collect();
    found.sort_by_key(|evaded| evaded.entry);
    evasions.extend(found.iter().map(|evaded| (evaded.entry, evaded.why.clone(), evaded.quote.clone())));
    let mut planned: Vec<Intervention> = Vec::new();
    for (at, why, quote) in evasions {
        let Some(entry) = log.challenges.get_mut(at) else { continue };
        let refused = match entry.re_asked {
            Some(_) => Some(format!("it was put again before; {why}")),
            None if planned.len() >= INTERVENTIONS_MAX => Some(format!("{why}; no room to put it again")),
            None => None,
        };
        let (place, text) = (entry.to, entry.text());
        if let Some(why) = refused {
            entry.state = State::Evaded;
            log.violations.push(Violation { round: round.number, place, entry: at, why });
            continue;
        }
        entry.state = State::Open;
        planned.push(intervention(Kind::Evasion { entry: at, why }, vec![place], quote, text));
    }
    let points = unchallenged(log, round);
    for shared in points {
        let Some(to) = steelman(log, round).filter(|_| planned.len() < INTERVENTIONS_MAX) else {
            round.findings.set_aside.push(format!("no room to have \"{}\" argued against", shared.point));
            continue;
        };
        let quotes: Vec<String> =
            shared.who.iter().map(|(place, said)| format!("{}: \"{said}\"", log.name(*place))).collect();
        let point = shared.point.clone();
        planned.push(intervention(
            Kind::Groupthink { point: point.clone() },
            vec![to],
            quotes.join("; "),
            point,
        ));
    }
    if is_stale(round) && planned.len() >= INTERVENTIONS_MAX {
        round
            .findings
            .set_aside
            .push("the round is stale, and there was no room for a reframing question".into());
    } else if is_stale(round) {
        let quote = format!("round {}: no position changed and no new argument was made", round.number);
        planned.push(intervention(Kind::Stale, log.active(), quote, reframing(log, round)));
    }
    round.interventions = planned;
}

fn intervention(kind: Kind, to: Vec<usize>, quote: String, question: String) -> Intervention {
    let outcome = "not put".to_owned();
    Intervention { kind, to, quote, question, replies: Vec::new(), outcome }
}

/// The points that enough share and nobody challenged: in this round, or by a steelman before.
pub(super) fn unchallenged(log: &Log<'_>, round: &Round) -> Vec<Shared> {
    let from = groupthink_from(log.active().len());
    let before: Vec<&str> = log
        .rounds
        .iter()
        .filter(|other| other.number < round.number)
        .flat_map(|round| steelmanned(&round.interventions))
        .collect();
    let mut points: Vec<Shared> = Vec::new();
    for shared in round.findings.shared.iter().filter(|shared| !shared.challenged && shared.who.len() >= from)
    {
        let same = |point: &str| is_same_point(point, &shared.point);
        if !before.iter().any(|point| same(point)) && !points.iter().any(|other| same(&other.point)) {
            points.push(shared.clone());
        }
    }
    points
}

/// The points against which somebody made the case.
fn steelmanned(interventions: &[Intervention]) -> impl Iterator<Item = &str> {
    interventions.iter().filter_map(|done| match &done.kind {
        Kind::Groupthink { point } if done.replies.iter().any(Option::is_some) => Some(point.as_str()),
        _ => None,
    })
}

/// Who makes the case against: the Critic, or the least convinced of those who are there.
fn steelman(log: &Log<'_>, round: &Round) -> Option<usize> {
    let present: Vec<usize> = log.active().into_iter().filter(|place| round.is_present(*place)).collect();
    let critic = present.iter().copied().find(|place| log.id(*place) == "critic");
    let confidence = |place: &usize| round.after.get(*place).and_then(|standing| standing.confidence);
    critic.or_else(|| present.into_iter().min_by_key(|place| (confidence(place), *place)))
}

/// "If a round produces no position changes and no new arguments". Without a moderator, by what the councillors say of themselves.
pub(super) fn is_stale(round: &Round) -> bool {
    let new = match round.moderation {
        Some(_) => !round.findings.new_arguments.is_empty(),
        None => round.findings.claimed,
    };
    round.changed().next().is_none() && !new
}

fn reframing(log: &Log<'_>, round: &Round) -> String {
    let own = round.moderation.as_ref().map(|said| said.reframing_question.trim()).unwrap_or_default();
    if !own.is_empty() {
        return own.to_owned();
    }
    let mut draw = Draw::new(log.debate.brief.seed, &format!("reframing {}", round.number));
    REFRAMINGS.get(draw.below(REFRAMINGS.len())).copied().unwrap_or_default().to_owned()
}

/// What came of the interventions: fates of challenges, positions, and whether the round is over.
pub(super) fn settle(log: &mut Log<'_>, round: &mut Round, asked: &[Option<&Reply>]) -> Result<(), Corrupt> {
    let mut replies = asked.iter();
    let mut missing = false;
    for done in &mut round.interventions {
        for _ in &done.to {
            match replies.next() {
                Some(Some(reply)) => done.replies.push(reply.value().cloned()),
                _ => missing = true,
            }
        }
        if done.replies.len() < done.to.len() {
            continue;
        }
        match &done.kind {
            Kind::Evasion { entry, .. } => {
                let reply = done.replies.first().cloned().flatten();
                done.outcome = re_asked(log, round.number, *entry, reply)?;
            }
            Kind::Groupthink { .. } => {
                let answered = done.replies.iter().any(Option::is_some);
                done.outcome = if answered { "answered" } else { "absent" }.to_owned();
            }
            Kind::Stale => {
                let mut changed = 0;
                for (place, reply) in done.to.iter().zip(&done.replies) {
                    let Some(reply) = reply else { continue };
                    let reply = Reframed::deserialize(asked_for(reply, |_| true))?;
                    if let Some(standing) = round.after.get_mut(*place) {
                        changed +=
                            usize::from(standing.update(&reply.position, reply.changed, &reply.because));
                    }
                }
                let heard = done.replies.iter().flatten().count();
                done.outcome = match heard {
                    0 => "absent".to_owned(),
                    _ => format!("{changed} of {heard} changed their position"),
                };
            }
        }
    }
    round.over = !missing;
    let earlier = log.rounds.iter().flat_map(|round| steelmanned(&round.interventions));
    let points: Vec<&str> = earlier.chain(steelmanned(&round.interventions)).collect();
    for shared in &mut round.findings.shared {
        shared.steelmanned = points.iter().any(|point| is_same_point(point, &shared.point));
    }
    Ok(())
}

/// What became of a challenge that was put again. An absence is no evasion.
fn re_asked(log: &mut Log<'_>, round: u32, at: usize, reply: Option<Value>) -> Result<String, Corrupt> {
    let Some(entry) = log.challenges.get_mut(at) else { return Ok(String::new()) };
    entry.re_asked = Some(round);
    let Some(reply) = reply else {
        entry.missed.push(round);
        return Ok("absent".to_owned());
    };
    let SecondResponse { stance, response, .. } = SecondResponse::deserialize(asked_for(&reply, |_| true))?;
    let evades = entry.still_evades(stance, &response);
    if stance.is_some() || !response.trim().is_empty() {
        entry.answers.push(Answer { round, stance, response: response.trim().to_owned() });
    }
    let Some(why) = evades else {
        entry.state = State::Answered;
        return Ok("answered".to_owned());
    };
    entry.state = State::Evaded;
    log.violations.push(Violation { round, place: entry.to, entry: at, why: why.to_owned() });
    Ok("evaded".to_owned())
}
