//! How `poll` ends: the outcome, and the fate of every answer.

use std::collections::BTreeMap;

use agon_core::{Corrupt, Fate, Fidelity, Held, Outcome, Position, Stand, Stands, Status, Step, Termination};
use serde_json::{Value, json};

use super::count::{Count, Group};
use crate::heard;
use crate::limits::Limits;

/// Closes the poll.
pub(super) fn close(count: &Count<'_>) -> Result<Step, Corrupt> {
    let (termination, status) = ending(count);
    let positions: Vec<Position> =
        (0..count.votes.len()).filter_map(|place| position(count, place)).collect();
    let minority = positions.iter().filter(|position| position.fate == Fate::Minority);
    let dissent =
        minority.map(|p| json!({"seat": p.seat, "position": p.position, "reason": p.reason})).collect();
    let whole = count.debate.absences().next().is_none()
        && heard::cut_off(count.debate).is_empty()
        && status == Status::Complete;
    let outcome = Outcome {
        status,
        termination,
        rounds_completed: u32::from(!count.votes.is_empty()),
        verdict: verdict(count),
        dissent,
        fidelity: if whole { Fidelity::Full } else { Fidelity::Degraded },
        warnings: warnings(count, termination),
        labels: BTreeMap::new(),
        positions,
        passed: None,
        lesson: None,
    };
    Ok(Step::Close(Box::new(outcome)))
}

fn limits<'a>(count: &'a Count<'_>) -> Limits<'a> {
    Limits { debate: count.debate, kept: 0.0, closing_calls: 0 }
}

fn ending(count: &Count<'_>) -> (Termination, Status) {
    let cut = count.debate.turns.iter().any(|turn| limits(count).was_cut(turn));
    let reached = count.winner().map(|winner| winner.votes.len());
    match (reached, count.votes.len()) {
        (_, 0) if cut => (Termination::Budget, Status::Incomplete),
        (_, 0) => (Termination::QuorumLost, Status::Incomplete),
        _ if cut => (Termination::Budget, Status::Complete),
        (Some(votes), all) if votes == all => (Termination::Consensus, Status::Complete),
        (Some(votes), all) if 2 * votes > all => (Termination::Majority, Status::Complete),
        _ => (Termination::NoMajority, Status::Complete),
    }
}

fn verdict(count: &Count<'_>) -> Value {
    let winner = count.winner();
    let tied = count.foremost().iter().filter(|_| winner.is_none()).map(|group| count.name(group));
    let decided_by = winner.map(|winner| match (winner.votes.len(), count.votes.len()) {
        (votes, all) if votes == all => "consensus",
        (votes, all) if 2 * votes > all => "majority",
        _ => "plurality",
    });
    json!({
        "answer": winner.map(|winner| count.name(winner)),
        "share": winner.map(|winner| count.share(winner)),
        "decided_by": decided_by,
        "tied": tied.collect::<Vec<_>>(),
        "tally": count.groups.iter().map(|group| tally(count, group)).collect::<Vec<_>>(),
        "votes": votes(count),
        "answered": count.votes.len(),
        "seats": count.debate.brief.seats.len(),
    })
}

fn tally(count: &Count<'_>, group: &Group) -> Value {
    let votes = || group.votes.iter().filter_map(|place| count.votes.get(*place));
    let sure: f64 = votes().map(|vote| vote.given.confidence).sum();
    json!({
        "answer": count.name(group),
        "key": votes().next().map(|vote| vote.answer.key()),
        "votes": group.votes.len(),
        "share": count.share(group),
        "confidence": sure / group.votes.len().max(1) as f64,
        "seats": votes().map(|vote| vote.seat).collect::<Vec<_>>(),
    })
}

fn votes(count: &Count<'_>) -> Vec<Value> {
    let votes = count.votes.iter();
    votes
        .map(|vote| {
            json!({"seat": vote.seat, "answer": vote.given.answer, "confidence": vote.given.confidence, "why": vote.given.why})
        })
        .collect()
}

fn position(count: &Count<'_>, place: usize) -> Option<Position> {
    let (vote, group) = (count.votes.get(place)?, count.group_of(place)?);
    let said = count.of_all(group);
    let (fate, reason) = match count.winner() {
        Some(winner) if winner == group => (Fate::Adopted, said),
        Some(winner) => {
            (Fate::Minority, format!("{said}, {} gave {:?}", winner.votes.len(), count.name(winner)))
        }
        None => (Fate::Minority, format!("{said}; the most given are tied, so that none is adopted")),
    };
    let position = vote.given.answer.trim().to_owned();
    Some(Position { seat: vote.seat.to_owned(), label: None, position, fate, reason })
}

fn warnings(count: &Count<'_>, termination: Termination) -> Vec<String> {
    let mut warnings = Vec::new();
    if termination == Termination::Budget {
        let met = limits(count).met(count.debate.brief.seats.len());
        warnings.extend(met.map(|limit| format!("a limit was reached: {limit}")));
    }
    if count.votes.len() > 1 && count.winner().is_none() {
        let tied: Vec<String> =
            count.foremost().iter().map(|group| format!("{:?}", count.name(group))).collect();
        warnings.push(format!("tied, so that there is no answer: {}", tied.join(", ")));
    }
    warnings.extend(heard::cut_off(count.debate));
    warnings.extend(heard::shortened(count.debate));
    warnings
}

/// Who held what: one round, in which the answers that are the same have one name.
pub(super) fn stands(count: &Count<'_>) -> Stands {
    let stand = |(place, vote): (usize, &super::count::Vote<'_>)| Stand {
        seat: vote.seat.to_owned(),
        position: count.group_of(place).map_or("", |group| count.name(group)).to_owned(),
        confidence: Some(vote.given.confidence),
        ..Stand::default()
    };
    let decided = count.winner().map(|winner| count.name(winner).to_owned());
    let held = Held {
        round: super::ROUND,
        stands: count.votes.iter().enumerate().map(stand).collect(),
        ruling: decided.clone(),
        ..Held::default()
    };
    let rounds = if held.stands.is_empty() { Vec::new() } else { vec![held] };
    Stands { rounds, decided, ..Stands::default() }
}
