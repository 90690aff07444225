//! How `council` ends: the outcome, the fate of every opening position, and what a reader should know.

use std::collections::BTreeMap;

use agon_core::{Corrupt, Fate, Fidelity, Outcome, PositionFate, Status, Termination};
use serde::{Deserialize, Serialize};

use super::log::CouncilLog;
use super::replies::CouncilVote;
use super::verdict::{CouncilVerdict, decide, merged_conditions};
use super::{CouncilPhase, QUORUM};
use crate::participation::{cut_off_warnings, shortened_warnings};

/// An opening position that the decision did not adopt and its holder did not give up.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CouncilDissent {
    pub(super) seat: String,
    pub(super) councillor: String,
    pub(super) opening: String,
    /// The final position, or the opening where the councillor gave no final statement.
    pub(super) position: String,
    vote: Option<CouncilVote>,
    key_argument: Option<String>,
    pub(super) reason: String,
}

/// Why a debate ended in which the councillors were asked for their votes.
pub(super) fn termination(log: &CouncilLog<'_>) -> Termination {
    match (log.was_cut(), log.finals.len()) {
        (true, _) => Termination::Budget,
        (false, 0) => Termination::Failed,
        (false, votes) if votes < QUORUM => Termination::QuorumLost,
        (false, _) => Termination::AllRoundsComplete,
    }
}

/// The outcome of a debate that is over.
pub(super) fn close(log: &CouncilLog<'_>, termination: Termination) -> Result<Outcome, Corrupt> {
    let is_complete = termination == Termination::AllRoundsComplete;
    let all_heard = log.debate.absences().next().is_none() && cut_off_warnings(log.debate).is_empty();
    let positions: Vec<PositionFate> =
        log.openings.iter().map(|(seat, opening)| fate(log, seat, &opening.position)).collect();
    let minority = positions.iter().filter(|held| held.fate == Fate::Minority);
    let dissent = minority.map(|held| serde_json::to_value(dissent(log, held)));
    Ok(Outcome {
        status: if is_complete { Status::Complete } else { Status::Incomplete },
        termination,
        rounds_completed: log.rounds_completed(),
        verdict: serde_json::to_value(CouncilVerdict::from_log(log))?,
        dissent: dissent.collect::<Result<_, _>>()?,
        fidelity: if is_complete && all_heard { Fidelity::Full } else { Fidelity::Degraded },
        warnings: warnings(log, termination),
        labels: BTreeMap::new(),
        positions,
        passed: None,
        lesson: None,
    })
}

/// What became of an opening position: given up, on the side of the decision, or dissent.
fn fate(log: &CouncilLog<'_>, seat: &str, opening: &str) -> PositionFate {
    let mut standings = log.rounds.iter().rev().filter_map(|round| round.after.get(seat));
    let change = standings.find(|standing| standing.changed);
    let own = log.finals.get(seat).map(|last| last.vote);
    let (fate, reason) = match (change, own, decide(&log.votes())) {
        (change, Some(own), Some(decision)) if own.is_in_favour() != decision.vote.is_in_favour() => {
            let held = change.map(|changed| format!("moved in round {}", changed.round));
            let held = held.unwrap_or_else(|| "held to the end".to_owned());
            let (own, decided) = (own.as_str(), decision.vote.as_str());
            (Fate::Minority, format!("{held}; voted {own}, and the decision is {decided}"))
        }
        (Some(changed), _, _) => {
            (Fate::Refuted, format!("given up in round {}: {}", changed.round, changed.because))
        }
        (None, Some(own), Some(_)) => {
            (Fate::Adopted, format!("held to the end; voted {} with the decision's side", own.as_str()))
        }
        (None, None, Some(_)) => (Fate::Minority, "held to the end, but without a vote".to_owned()),
        (None, _, None) => (Fate::Minority, "there is no decision that could adopt it".to_owned()),
    };
    PositionFate { seat: seat.to_owned(), label: None, position: opening.to_owned(), fate, reason }
}

fn dissent(log: &CouncilLog<'_>, held: &PositionFate) -> CouncilDissent {
    let last = log.finals.get(held.seat.as_str());
    CouncilDissent {
        seat: held.seat.clone(),
        councillor: held.seat.clone(),
        opening: held.position.clone(),
        position: last.map_or(&held.position, |last| &last.final_position).clone(),
        vote: last.map(|last| last.vote),
        key_argument: last.map(|last| last.key_argument.clone()),
        reason: held.reason.clone(),
    }
}

fn warnings(log: &CouncilLog<'_>, termination: Termination) -> Vec<String> {
    let held = format!("{} of {} rounds were held", log.rounds_completed(), log.options.rounds);
    let mut warnings = Vec::new();
    let not_asked = log.names(log.never_asked(CouncilPhase::Opening, 0));
    if log.was_cut() || !not_asked.is_empty() {
        let limit = log.limits().reached(log.active.len());
        let limit = limit.unwrap_or_else(|| "a limit of the debate".to_owned());
        warnings.push(format!("the debate is incomplete because a limit was reached ({limit}); {held}"));
    }
    if !not_asked.is_empty() {
        warnings.push(format!("not asked for an opening, because a limit was reached: {not_asked}"));
    }
    if termination == Termination::QuorumLost {
        warnings.push(match log.finals.len() {
            0 => format!("fewer than {QUORUM} councillors were left, so there was no vote; {held}"),
            _ => format!("fewer than {QUORUM} councillors voted, so nothing is decided; {held}"),
        });
    }
    if log.options.economy {
        let economy = "economy mode: one call at a time on one model, and no messages between councillors";
        warnings.push(economy.to_owned());
    }
    warnings.extend(cut_off_warnings(log.debate));
    warnings.extend(shortened_warnings(log.debate));
    let out = log.members.iter().filter(|member| member.opening.is_none());
    let out = log.names(out.map(|member| member.seat.id.as_str()));
    if !out.is_empty() {
        warnings.push(format!("gave no opening and took no part: {out}"));
    }
    warnings.extend(round_warnings(log));
    let silent = log.names(log.active.iter().copied().filter(|seat| !log.finals.contains_key(seat)));
    if !silent.is_empty() && log.debate.turns_of(CouncilPhase::Vote.as_str()).next().is_some() {
        warnings.push(format!("did not vote: {silent}"));
    }
    let is_conditional = decide(&log.votes()).is_some_and(|it| it.vote == CouncilVote::WithConditions);
    if is_conditional && merged_conditions(log).is_empty() {
        warnings.push("the decision is PROCEED WITH CONDITIONS, but nobody named a condition".to_owned());
    }
    warnings
}

fn round_warnings(log: &CouncilLog<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    for round in &log.rounds {
        let number = round.number;
        let not_asked = log.never_asked(CouncilPhase::Challenge, number);
        let absent = |seat: &&str| !round.is_present(seat) && !not_asked.contains(seat);
        let absent = log.names(log.active.iter().copied().filter(absent));
        if !not_asked.is_empty() && !round.said.is_empty() {
            let names = log.names(not_asked);
            warnings.push(format!("round {number}: not asked, because a limit was reached: {names}"));
        }
        if !absent.is_empty() && !round.said.is_empty() {
            warnings.push(format!("round {number}: absent, so the last position counts: {absent}"));
        }
        if round.is_moderated && round.moderator.is_none() {
            warnings.push(format!(
                "round {number}: the moderator was absent, so only what can be counted was found"
            ));
        }
        warnings.extend(round.findings.set_aside.iter().map(|why| format!("round {number}: {why}")));
    }
    warnings
}
