//! The verdict of `council`, field by field.

use serde_json::{Map, Value, json};

use super::log::Log;
use super::moderation::{Intervention, Kind};
use super::points;
use super::reply::{Confidence, Final, Probability, Severity, Vote};
use super::round::Round;
use super::summary;
use super::transcript;
use super::votes::{confidence, decide};
use super::words::plain;

/// The votes, in seat order.
pub(super) fn votes(log: &Log<'_>) -> Vec<Vote> {
    log.finals.iter().flatten().map(|last| last.vote).collect()
}

/// Those who voted, by place.
fn voters<'a>(log: &'a Log<'_>) -> impl Iterator<Item = (usize, &'a Final)> {
    log.finals.iter().enumerate().filter_map(|(place, last)| Some((place, last.as_ref()?)))
}

pub(super) fn record(log: &Log<'_>) -> Value {
    let votes = votes(log);
    let decision = decide(&votes);
    let unchanged = log.rounds.last().is_some_and(|round| round.changed().next().is_none());
    let settled = votes.len() == log.members.len() && !log.was_cut() && unchanged;
    let tally: Map<String, Value> = Vote::ALL
        .iter()
        .map(|vote| (vote.as_str().to_owned(), votes.iter().filter(|other| *other == vote).count().into()))
        .collect();
    json!({
        "decision": decision.map(|decision| decision.vote.as_str()),
        "divided": decision.map(|decision| decision.divided),
        "confidence": confidence(&votes, settled).map(Confidence::as_str),
        "votes": cast(log),
        "tally": tally,
        "councillors": log.members.iter().map(|member| json!({"councillor": member.seat.id, "name": member.role.name, "active": member.is_active()})).collect::<Vec<_>>(),
        "conditions": conditions(log),
        "consensus_points": points::consensus(log),
        "disagreements": points::disagreements(log),
        "position_evolution": evolution(log),
        "interventions": log.rounds.iter().flat_map(|round| round.interventions.iter().map(|done| intervention(log, round, done))).collect::<Vec<_>>(),
        "violations": violations(log),
        "challenges": log.challenges.iter().map(|entry| entry.record(log, true)).collect::<Vec<_>>(),
        "exchanges": exchanges(log),
        "risk_matrix": risks(log),
        "minority_opinion": minority(log, decision.map(|decision| decision.vote)),
        "open_questions": points::open_questions(log),
        "rounds": log.rounds.iter().map(|round| rounds(log, round)).collect::<Vec<_>>(),
        "economy": log.is_economy(),
    })
}

fn cast(log: &Log<'_>) -> Vec<Value> {
    let votes = voters(log).map(|(place, last)| {
        json!({
            "councillor": log.id(place),
            "vote": last.vote.as_str(),
            "key_argument": last.key_argument,
            "strongest_opposing_point": last.strongest_opposing_point,
            "remaining_concern": last.remaining_concern,
            "final_position": last.final_position,
        })
    });
    votes.collect()
}

/// Each condition once, with who makes it.
pub(super) fn conditions(log: &Log<'_>) -> Vec<Value> {
    let mut merged: Vec<(String, Vec<usize>)> = Vec::new();
    for (place, last) in voters(log) {
        for condition in last.conditions.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
            match merged.iter_mut().find(|(other, _)| plain(other) == plain(condition)) {
                Some((_, who)) if who.contains(&place) => {}
                Some((_, who)) => who.push(place),
                None => merged.push((condition.to_owned(), vec![place])),
            }
        }
    }
    let merged = merged.into_iter();
    merged.map(|(condition, who)| json!({"condition": condition, "councillors": log.ids(&who)})).collect()
}

/// Each risk once, as grave as anybody sees it, the gravest first.
fn risks(log: &Log<'_>) -> Vec<Value> {
    struct Merged {
        risk: String,
        severity: Severity,
        probability: Probability,
        mitigations: Vec<String>,
        who: Vec<usize>,
    }
    let mut merged: Vec<Merged> = Vec::new();
    for (place, last) in voters(log) {
        for risk in last.risks.iter().filter(|risk| !risk.risk.trim().is_empty()) {
            let at = merged.iter().position(|other| plain(&other.risk) == plain(&risk.risk));
            let at = at.unwrap_or_else(|| {
                let (severity, probability) = (risk.severity, risk.probability);
                let text = risk.risk.trim().to_owned();
                merged.push(Merged {
                    risk: text,
                    severity,
                    probability,
                    mitigations: Vec::new(),
                    who: Vec::new(),
                });
                merged.len() - 1
            });
            let Some(same) = merged.get_mut(at) else { continue };
            same.severity = same.severity.max(risk.severity);
            same.probability = same.probability.max(risk.probability);
            let mitigation = risk.mitigation.trim();
            if !mitigation.is_empty()
                && !same.mitigations.iter().any(|other| plain(other) == plain(mitigation))
            {
                same.mitigations.push(mitigation.to_owned());
            }
            if !same.who.contains(&place) {
                same.who.push(place);
            }
        }
    }
    merged.sort_by_key(|risk| std::cmp::Reverse((risk.severity, risk.probability)));
    let merged = merged.into_iter();
    merged
        .map(|risk| {
            json!({"risk": risk.risk, "severity": risk.severity, "probability": risk.probability,
                "mitigation": risk.mitigations.join("; "), "councillors": log.ids(&risk.who)})
        })
        .collect()
}

/// "Track position evolution across rounds (who changed their mind, and why)".
fn evolution(log: &Log<'_>) -> Map<String, Value> {
    let openings = log.opening_standings();
    let mut all = Map::new();
    for place in log.active() {
        let opening = openings.get(place).map(|standing| (0, standing));
        let rounds = log.rounds.iter().filter_map(|round| Some((round.number, round.after.get(place)?)));
        let steps = opening.into_iter().chain(rounds).map(|(round, standing)| {
            json!({"round": round, "position": standing.position,
                "confidence": standing.confidence.map(Confidence::as_str), "changed": standing.changed,
                "because": standing.because, "carried": standing.carried})
        });
        all.insert(log.id(place).to_owned(), steps.collect());
    }
    all
}

fn intervention(log: &Log<'_>, round: &Round, done: &Intervention) -> Value {
    let to = match done.kind {
        Kind::Stale => "all".to_owned(),
        _ => log.ids(&done.to).join(", "),
    };
    let (about, why) = match &done.kind {
        Kind::Evasion { entry, why } => {
            (log.challenges.get(*entry).map(|entry| entry.id()), Some(why.as_str()))
        }
        Kind::Groupthink { point } => (Some(point.clone()), None),
        Kind::Stale => (None, None),
    };
    let heard =
        || done.to.iter().zip(&done.replies).filter_map(|(place, reply)| Some((*place, reply.as_ref()?)));
    let told: Vec<String> = heard()
        .map(|(place, reply)| match done.kind {
            Kind::Stale => format!("{}: {}", log.name(place), transcript::effect(reply)),
            _ => transcript::intervention(done, reply),
        })
        .collect();
    let replies: Vec<Value> =
        heard().map(|(place, reply)| json!({"councillor": log.id(place), "reply": reply})).collect();
    json!({
        "round": round.number,
        "kind": done.kind.as_str(),
        "to": to,
        "about": about,
        "why": why,
        "quote": done.quote,
        "question": done.question,
        "reply": (!told.is_empty()).then(|| told.join("\n")),
        "replies": replies,
        "outcome": done.outcome,
    })
}

fn violations(log: &Log<'_>) -> Vec<Value> {
    let violations = log.violations.iter().map(|violation| {
        json!({
            "round": violation.round,
            "councillor": log.id(violation.place),
            "challenge_id": log.challenges.get(violation.entry).map(|entry| entry.id()),
            "why": violation.why,
        })
    });
    violations.collect()
}

fn exchanges(log: &Log<'_>) -> Vec<Value> {
    let letters = log.letters.iter().map(|letter| {
        json!({"id": letter.id(), "from": log.id(letter.from), "to": log.id(letter.to), "topic": letter.topic,
            "text": letter.text, "reply": letter.reply, "round": letter.round})
    });
    letters.collect()
}

/// Those who voted on the other side than the decision.
fn minority(log: &Log<'_>, decision: Option<Vote>) -> Value {
    let Some(decision) = decision else { return Value::Null };
    let others = voters(log).filter(|(_, last)| last.vote.is_in_favour() != decision.is_in_favour());
    let others: Vec<Value> = others
        .map(|(place, last)| {
            json!({"councillor": log.id(place), "vote": last.vote.as_str(), "key_argument": last.key_argument,
                "final_position": last.final_position, "remaining_concern": last.remaining_concern})
        })
        .collect();
    if others.is_empty() { Value::Null } else { json!(others) }
}

/// The seed's debate log of a round, and what was shown as it ended.
fn rounds(log: &Log<'_>, round: &Round) -> Value {
    let mut entries = Map::new();
    for place in log.active() {
        let made = log.challenges.iter().filter(|entry| entry.from == place && entry.round == round.number);
        let made = made.map(|entry| json!({"id": entry.id(), "target": log.id(entry.to), "point": entry.claim, "question": entry.question}));
        let got = log.challenges.iter().filter(|entry| entry.to == place && entry.round == round.number);
        let got =
            got.map(|entry| json!({"id": entry.id(), "from": log.id(entry.from), "point": entry.claim}));
        let letters = log.letters.iter().filter(|letter| letter.round == round.number);
        let letters = letters.filter(|letter| letter.from == place || letter.to == place).map(|letter| {
            let with = if letter.from == place { letter.to } else { letter.from };
            let outcome = letter.reply.as_deref().unwrap_or("no answer");
            json!({"id": letter.id(), "with": log.id(with), "topic": letter.topic, "outcome": outcome})
        });
        let standing = round.after.get(place);
        let changed = match standing {
            Some(standing) if standing.changed => format!("yes: {}", standing.because),
            _ => "no".to_owned(),
        };
        entries.insert(
            log.id(place).to_owned(),
            json!({
                "challenges_made": made.collect::<Vec<_>>(),
                "challenges_received": got.collect::<Vec<_>>(),
                "position": standing.map(|standing| standing.position.as_str()),
                "confidence": standing.and_then(|standing| standing.confidence).map(Confidence::as_str),
                "changed": changed,
                "present": round.is_present(place),
                "peer_exchanges": letters.collect::<Vec<_>>(),
            }),
        );
    }
    json!({
        "round": round.number,
        "complete": round.over,
        "debate_log": entries,
        "findings": findings(log, round),
        "summary": summary::record(log, round),
    })
}

/// What the moderator found, each with the words that it rests on.
fn findings(log: &Log<'_>, round: &Round) -> Value {
    let found = &round.findings;
    let shared = found.shared.iter().map(|point| {
        let quotes =
            point.who.iter().map(|(place, said)| json!({"councillor": log.id(*place), "quote": said}));
        json!({"point": point.point, "challenged": point.challenged, "quotes": quotes.collect::<Vec<_>>()})
    });
    let evasions = found.evasions.iter().map(|evaded| {
        let id = log.challenges.get(evaded.entry).map(|entry| entry.id());
        json!({"challenge_id": id, "why": evaded.why, "quote": evaded.quote})
    });
    let new =
        found.new_arguments.iter().map(|(place, said)| json!({"councillor": log.id(*place), "quote": said}));
    json!({
        "moderator_present": round.moderation.is_some(),
        "shared_points": shared.collect::<Vec<_>>(),
        "evasions": evasions.collect::<Vec<_>>(),
        "new_arguments": new.collect::<Vec<_>>(),
        "set_aside": found.set_aside,
    })
}
