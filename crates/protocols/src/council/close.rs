//! How `council` ends: the outcome, the fate of every opening position, what a reader should know.

use std::collections::BTreeMap;

use agon_core::{Fate, Fidelity, Outcome, Position, Status, Termination};
use serde_json::{Value, json};

use super::log::{Log, QUORUM};
use super::reply::Vote;
use super::verdict;
use super::votes::decide;
use crate::heard;

/// Why a debate ended in which the councillors were asked for their votes.
pub(super) fn termination(log: &Log<'_>) -> Termination {
    match (log.was_cut(), log.finals.iter().flatten().count()) {
        (true, _) => Termination::Budget,
        (false, 0) => Termination::Failed,
        (false, votes) if votes < QUORUM => Termination::QuorumLost,
        (false, _) => Termination::AllRoundsComplete,
    }
}

/// The outcome of a debate that is over.
pub(super) fn close(log: &Log<'_>, termination: Termination) -> Outcome {
    let complete = termination == Termination::AllRoundsComplete;
    let active = log.active();
    let positions: Vec<Position> = active.iter().map(|place| fate(log, *place)).collect();
    let whole = log.debate.absences().next().is_none() && heard::cut_off(log.debate).is_empty() && complete;
    Outcome {
        status: if complete { Status::Complete } else { Status::Incomplete },
        termination,
        rounds_completed: log.completed(),
        verdict: verdict::record(log),
        dissent: dissent(log, &active, &positions),
        fidelity: if whole { Fidelity::Full } else { Fidelity::Degraded },
        warnings: warnings(log, termination),
        labels: BTreeMap::new(),
        positions,
        passed: None,
        lesson: None,
    }
}

/// What became of an opening position: given up, on the side that decided, or dissent.
fn fate(log: &Log<'_>, place: usize) -> Position {
    let opening = log.opening_standings().into_iter().nth(place).unwrap_or_default();
    let changes = log.rounds.iter().filter_map(|round| Some((round.number, round.after.get(place)?)));
    let change = changes.rev().find(|(_, standing)| standing.changed);
    let votes = verdict::votes(log);
    let decision = decide(&votes);
    let own = log.finals.get(place).and_then(Option::as_ref).map(|last| last.vote);
    let (fate, reason) = match (change, own, decision) {
        (change, Some(own), Some(decision)) if own.is_in_favour() != decision.vote.is_in_favour() => {
            let held =
                change.map_or("held to the end".to_owned(), |(round, _)| format!("moved in round {round}"));
            let (own, decided) = (own.as_str(), decision.vote.as_str());
            (Fate::Minority, format!("{held}; voted {own}, and the decision is {decided}"))
        }
        (Some((round, standing)), _, _) => {
            (Fate::Refuted, format!("given up in round {round}: {}", standing.because))
        }
        (None, Some(own), Some(_)) => {
            (Fate::Adopted, format!("held to the end; voted {} with the decision's side", own.as_str()))
        }
        (None, None, Some(_)) => (Fate::Minority, "held to the end, but without a vote".to_owned()),
        (None, _, None) => (Fate::Minority, "there is no decision that could adopt it".to_owned()),
    };
    Position { seat: log.id(place).to_owned(), label: None, position: opening.position, fate, reason }
}

fn dissent(log: &Log<'_>, active: &[usize], positions: &[Position]) -> Vec<Value> {
    let minority = active.iter().zip(positions).filter(|(_, position)| position.fate == Fate::Minority);
    minority
        .map(|(place, position)| {
            let last = log.finals.get(*place).and_then(Option::as_ref);
            json!({
                "seat": log.id(*place),
                "councillor": log.id(*place),
                "opening": position.position,
                "position": last.map_or(position.position.as_str(), |last| last.final_position.as_str()),
                "vote": last.map(|last| last.vote.as_str()),
                "key_argument": last.map(|last| last.key_argument.as_str()),
                "reason": position.reason,
            })
        })
        .collect()
}

fn warnings(log: &Log<'_>, termination: Termination) -> Vec<String> {
    let (completed, rounds) = (log.completed(), log.debate.brief.int("rounds"));
    let mut warnings = Vec::new();
    let unheard = log.names(log.unasked("opening", 0));
    if log.was_cut() || !unheard.is_empty() {
        let limits = log.limits();
        let limit = limits.met(log.active().len()).unwrap_or_else(|| "a limit of the debate".to_owned());
        warnings.push(format!(
            "the debate is incomplete, {completed} of {rounds} rounds were held, because a limit was reached: {limit}"
        ));
    }
    if !unheard.is_empty() {
        warnings.push(format!("not asked for an opening any more: {unheard}"));
    }
    if termination == Termination::QuorumLost {
        let held = format!("{completed} of {rounds} rounds were held");
        warnings.push(match log.finals.iter().flatten().count() {
            0 => format!("fewer than {QUORUM} councillors were left, so that there was no vote; {held}"),
            _ => format!("fewer than {QUORUM} councillors voted, so that nothing is decided; {held}"),
        });
    }
    if log.is_economy() {
        warnings.push(
            "economy mode: one call at a time on one model, and no messages between councillors".to_owned(),
        );
    }
    warnings.extend(heard::cut_off(log.debate));
    warnings.extend(heard::shortened(log.debate));
    let out = (0..log.members.len()).filter(|place| !log.active().contains(place));
    let out = log.names(out);
    if !out.is_empty() {
        warnings.push(format!("without an opening and so without a say: {out}"));
    }
    for round in &log.rounds {
        let never: Vec<usize> = log.unasked("challenge", round.number).collect();
        if !never.is_empty() && round.present() > 0 {
            let names = log.names(never.iter().copied());
            warnings.push(format!(
                "round {}: not asked any more, because a limit was reached: {names}",
                round.number
            ));
        }
        let absent = |place: &usize| !round.is_present(*place) && !never.contains(place);
        let carried = log.names(log.active().into_iter().filter(absent));
        let number = round.number;
        if !carried.is_empty() && round.present() > 0 {
            warnings.push(format!("round {number}: absent, so that the last position counts: {carried}"));
        }
        if round.moderated && round.moderation.is_none() {
            warnings.push(format!(
                "round {number}: the moderator was absent, so that only what can be counted was found"
            ));
        }
        warnings.extend(round.findings.set_aside.iter().map(|why| format!("round {number}: {why}")));
    }
    let silent = log.active().into_iter().filter(|place| log.finals.get(*place).is_none_or(Option::is_none));
    let silent = log.names(silent);
    if !silent.is_empty() && log.debate.turns_of("verdict").next().is_some() {
        warnings.push(format!("without a vote: {silent}"));
    }
    let votes = verdict::votes(log);
    let conditional = decide(&votes).is_some_and(|decision| decision.vote == Vote::WithConditions);
    if conditional && verdict::conditions(log).is_empty() {
        warnings.push("the decision is PROCEED WITH CONDITIONS, but nobody named a condition".to_owned());
    }
    warnings
}
