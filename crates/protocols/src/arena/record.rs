//! What was said and by whom, as the verdict keeps it.

use agon_core::Turn;
use agon_core::lesson::RATING_INITIAL;
use serde_json::{Value, json};

use super::critiques::Critic;
use super::judgement::Judged;
use super::log::{Log, Stage};
use super::{rhetoric, team, verdict};

/// The context, with who cites what.
pub(super) fn context(log: &Log<'_>) -> Vec<Value> {
    let items = log.context.iter();
    items
        .map(|item| {
            json!({
                "id": item.id,
                "kind": item.kind.as_str(),
                "source": item.source,
                "title": item.title,
                "text": item.text,
                "at": item.at,
                "debate": item.debate,
                "turned_out": item.turned_out,
                "agent": item.agent,
                "cited_by": log.labels(&item.cited_by(log)),
            })
        })
        .collect()
}

/// Who sits, and why.
pub(super) fn team(log: &Log<'_>) -> Vec<Value> {
    let brief = &log.debate.brief;
    let seats = brief.seats_of("agent").zip(team::reasons(brief, &log.standings));
    seats
        .map(|(seat, why)| {
            let agent = team::agent(&seat.model);
            let known = team::standing(&log.standings, &agent);
            json!({
                "seat": seat.id,
                "agent": agent,
                "rating": known.map_or(RATING_INITIAL, |known| known.rating),
                "brier": known.and_then(|known| known.brier),
                "games": known.map_or(0, |known| known.games),
                "why": why.as_str(),
            })
        })
        .collect()
}

/// Whether somebody who spoke for the judge also spoke for a proposal.
pub(super) fn judge_proposes(log: &Log<'_>, judged: &Judged) -> bool {
    let proposing: Vec<String> =
        log.agents.iter().flat_map(|agent| log.proposed_by(&agent.seat.id)).collect();
    judged.sheets.iter().any(|sheet| proposing.contains(&sheet.model))
}

/// What everybody proposes in the end, in label order.
pub(super) fn proposals(log: &Log<'_>) -> Vec<Value> {
    let held = log.held().iter().zip(&log.agents);
    held.filter_map(|(held, agent)| {
        let held = held.as_ref()?;
        Some(json!({
            "label": agent.label,
            "seat": agent.seat.id,
            "position": held.said.position.trim(),
            "proposal": held.said.proposal.trim(),
            "claims": held.said.claims,
            "confidence": held.said.confidence,
            "round": held.round,
            "carried": held.carried,
            "addressed": held.said.addressed,
            "conflicts_with": log.labels(held.conflicts.as_deref().unwrap_or_default()),
        }))
    })
    .collect()
}

/// All critiques, with how they were answered.
pub(super) fn critiques(log: &Log<'_>) -> Vec<Value> {
    let critiques = log.critiques.iter();
    critiques
        .map(|critique| {
            json!({
                "id": critique.id,
                "round": critique.round,
                "from": critique.from(log),
                "to": log.label(critique.to),
                "severity": critique.severity,
                "issues": critique.issues,
                "suggestions": critique.suggestions,
                "addressed": critique.answer(log),
            })
        })
        .collect()
}

/// Every phase: who was there, and what it came to.
pub(super) fn rounds(log: &Log<'_>) -> Vec<Value> {
    let (mut stages, mut checks, mut polls, mut trials) =
        (log.stages.iter(), log.checks.iter(), log.polls.iter(), log.trials.iter());
    let mut rounds = Vec::new();
    for turn in &log.debate.turns {
        let mut round = attendance(log, turn);
        let more = match turn.phase.name.as_str() {
            "propose" | "revise" | "refine" | "challenge" => {
                stages.next().map(|stage| json!({"positions": positions(log, stage)}))
            }
            "compare" => checks.next().map(|check| {
                json!({"agreement_min": check.agreement.map(|agreement| agreement.min), "converged": check.converged})
            }),
            "vote" => polls.next().map(|poll| {
                let (votes, tally) = (verdict::ballots(log, poll), verdict::tally(log, poll));
                json!({"votes": votes, "tally": tally, "reached": poll.winning().is_some(), "hollow": poll.hollow})
            }),
            "judge" => trials.next().map(|trial| {
                let judged = trial.judged.as_ref();
                let scores = judged.map(|judged| {
                    let scores = judged.scores.iter();
                    scores.map(|(place, score)| json!({"label": log.label(*place), "score": score})).collect::<Vec<_>>()
                });
                json!({
                    "judge_top": judged.and_then(|judged| Some(log.label(judged.top?))),
                    "margin": judged.map(|judged| judged.margin),
                    "scores": scores,
                })
            }),
            _ => None,
        };
        if let (Value::Object(round), Some(Value::Object(more))) = (&mut round, more) {
            round.extend(more);
        }
        rounds.push(round);
    }
    rounds
}

/// Who answered in a phase and who did not: by label, or by seat for those who have none.
fn attendance(log: &Log<'_>, turn: &Turn) -> Value {
    let (mut present, mut absent) = (Vec::new(), Vec::new());
    for (asked, reply) in turn.settled() {
        let agent = log.agents.iter().find(|agent| agent.seat.id == asked.seat);
        let who = agent.map_or(asked.seat.as_str(), |agent| agent.label.as_str());
        let name = asked.about.as_ref().map_or(who.to_owned(), |about| format!("{who} on {about}"));
        if reply.text().is_some() { present.push(name) } else { absent.push(name) }
    }
    json!({"round": turn.phase.round, "phase": turn.phase.name, "present": present, "absent": absent})
}

fn positions(log: &Log<'_>, stage: &Stage) -> Vec<Value> {
    let held = stage.held.iter().zip(&log.agents);
    held.filter_map(|(held, agent)| {
        let held = held.as_ref()?;
        let (position, confidence) = (held.said.position.trim(), held.said.confidence);
        Some(json!({"label": agent.label, "position": position, "confidence": confidence, "carried": held.carried}))
    })
    .collect()
}

/// What the observer finds in every argument, in the order in which they were made.
pub(super) fn observed(log: &Log<'_>) -> Vec<Value> {
    let threshold = log.debate.brief.float("observer_threshold");
    let mut found = Vec::new();
    let mut observe = |round: u32, phase: &str, label: &str, text: &str| {
        let seen = rhetoric::observe(text, threshold).into_iter();
        found.extend(seen.map(|seen| {
            json!({
                "round": round, "phase": phase, "label": label, "kind": seen.kind, "name": seen.name,
                "quote": seen.quote, "start": seen.start, "score": seen.score,
            })
        }));
    };
    let (mut stages, mut polls) = (log.stages.iter(), log.polls.iter());
    for turn in &log.debate.turns {
        let (name, round) = (turn.phase.name.as_str(), turn.phase.round);
        match name {
            "propose" | "revise" | "refine" | "challenge" => {
                let said = stages.next().into_iter().flat_map(|stage| stage.held.iter().zip(&log.agents));
                for (held, agent) in said.filter_map(|(held, agent)| Some((held.as_ref()?, agent))) {
                    if held.is_new {
                        observe(round, name, &agent.label, &held.said.text());
                    }
                }
            }
            "critique" => {
                for critique in log.critiques.iter().filter(|one| matches!(one.from, Critic::Peer(_))) {
                    observe(round, name, critique.from(log), &critique.issues.join("\n"));
                }
            }
            "vote" => {
                let said = polls.next().into_iter().flat_map(|poll| poll.ballots.iter().zip(&log.agents));
                for (ballot, agent) in said.filter_map(|(ballot, agent)| Some((ballot.as_ref()?, agent))) {
                    observe(round, name, &agent.label, &ballot.reason);
                }
            }
            _ => {}
        }
    }
    found
}
