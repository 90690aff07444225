//! How `arena` ends: the outcome.

use agon_core::{Corrupt, Fidelity, Outcome, Status, Step};

use super::log::Log;
use super::{ending, fates, lessons, verdict, warnings};
use crate::heard;

/// Closes the debate.
pub(super) fn close(log: &Log<'_>) -> Result<Step, Corrupt> {
    let (termination, status) = ending::ending(log);
    let positions = fates::positions(log);
    let whole = log.debate.absences().next().is_none()
        && heard::cut_off(log.debate).is_empty()
        && !ending::is_limited(log)
        && status == Status::Complete;
    let labels = log.agents.iter().map(|agent| (agent.label.clone(), agent.seat.id.clone()));
    let outcome = Outcome {
        status,
        termination,
        rounds_completed: rounds_completed(log),
        verdict: verdict::verdict(log),
        dissent: fates::dissent(log, &positions),
        fidelity: if whole { Fidelity::Full } else { Fidelity::Degraded },
        warnings: warnings::warnings(log),
        labels: labels.collect(),
        lesson: lessons::lesson(log, &positions),
        positions,
        passed: None,
    };
    Ok(Step::Close(Box::new(outcome)))
}

/// How many of the numbered rounds were held: those in which somebody who sits answered.
fn rounds_completed(log: &Log<'_>) -> u32 {
    let brief = &log.debate.brief;
    let held = log.debate.turns.iter().filter(|turn| {
        let mut said = turn
            .settled()
            .filter(|(asked, reply)| brief.seat(&asked.seat).is_some() && reply.text().is_some());
        turn.phase.round > 0 && said.next().is_some()
    });
    let mut rounds: Vec<u32> = held.map(|turn| turn.phase.round).collect();
    rounds.dedup();
    u32::try_from(rounds.len()).unwrap_or(u32::MAX)
}
