//! Where the seats stood, and where they went.

use agon_core::{Debate, Flip, Held, Stands, Status};
use serde_json::{Value, json};

use crate::agreement;

/// The first positions, what a plain vote on them gives, and whether the debate said something else.
///
/// The vote is taken by the protocol's own rule where it has one for positions alone, so that the two verdicts can be
/// compared; without a ruling it is the position with the most holders.
pub(super) fn first_round(debate: &Debate, stands: &Stands) -> Option<Value> {
    let first = stands.rounds.first().filter(|first| !first.stands.is_empty())?;
    let all = first.stands.len();
    let positions: Vec<Value> = first
        .distinct()
        .into_iter()
        .map(|(position, holders)| {
            let seats: Vec<&str> = holders.iter().map(|stand| stand.seat.as_str()).collect();
            let labels: Vec<&str> = holders.iter().filter_map(|stand| stand.label.as_deref()).collect();
            let share = holders.len() as f64 / all as f64;
            json!({"position": position, "count": holders.len(), "share": share, "seats": seats, "labels": labels})
        })
        .collect();
    let vote = vote(first);
    let tied = if vote.is_none() { first.foremost() } else { Vec::new() };
    // That a debate broke off is not what it said.
    let over = debate.outcome.as_ref().is_some_and(|outcome| outcome.status == Status::Complete);
    Some(json!({
        "round": first.round,
        "positions": positions,
        "vote": vote,
        "tied": tied,
        "decided": stands.decided,
        "changed_by_debate": over && vote != stands.decided.as_deref(),
    }))
}

fn vote(held: &Held) -> Option<&str> {
    held.ruling.as_deref().or_else(|| held.plurality())
}

/// How often each seat changed, in seat order.
pub(super) fn by_seat(stands: &Stands, flips: &[Flip]) -> Vec<Value> {
    let Some(last) = stands.rounds.last() else { return Vec::new() };
    let total = |seat: &str, counts: fn(&Flip) -> bool| {
        flips.iter().filter(|flip| flip.seat == seat && counts(flip)).count()
    };
    let row = |stand: &agon_core::Stand| {
        json!({
            "seat": stand.seat,
            "label": stand.label,
            "flips": total(&stand.seat, |_| true),
            "evidenced": total(&stand.seat, |flip| flip.evidenced),
            "toward_majority": total(&stand.seat, |flip| flip.toward_majority),
        })
    };
    last.stands.iter().map(row).collect()
}

/// How far the seats agreed after each round.
pub(super) fn agreed(stands: &Stands) -> Vec<Value> {
    let mut before: Option<f64> = None;
    let mut rows = Vec::new();
    for held in &stands.rounds {
        let positions: Vec<&str> = held.stands.iter().map(|stand| stand.position.as_str()).collect();
        let entropy = agreement::entropy(&positions);
        rows.push(json!({
            "round": held.round,
            "positions": held.distinct().len(),
            "pairwise": agreement::pairwise(&positions),
            "entropy": entropy,
            "information_gain": before.map(|before| before - entropy),
        }));
        before = Some(entropy);
    }
    rows
}

/// Each seat's way through the rounds, in seat order.
pub(super) fn trajectory(stands: &Stands) -> Vec<Value> {
    let Some(last) = stands.rounds.last() else { return Vec::new() };
    let way = |seat: &str| {
        let steps = stands.rounds.iter().filter_map(|held| {
            let stand = held.of(seat)?;
            Some(json!({
                "round": held.round,
                "position": stand.position,
                "value": stand.value,
                "confidence": stand.confidence,
                "changed": stand.change.is_some(),
            }))
        });
        steps.collect::<Vec<_>>()
    };
    let row = |stand: &agon_core::Stand| json!({"seat": stand.seat, "label": stand.label, "positions": way(&stand.seat)});
    last.stands.iter().map(row).collect()
}

/// What the verdict had been after each round, and the rounds that changed nothing: nobody's position and not the verdict.
pub(super) fn counterfactual(debate: &Debate, stands: &Stands) -> Value {
    let mut before: Option<Option<&str>> = None;
    let (mut rounds, mut idle) = (Vec::new(), Vec::new());
    for held in &stands.rounds {
        let verdict = vote(held);
        let changed = before.is_some_and(|before| before != verdict);
        let moved = held.stands.iter().any(|stand| stand.change.is_some());
        if before.is_some() && !changed && !moved {
            idle.push(held.round);
        }
        rounds.push(json!({
            "round": held.round,
            "verdict": verdict,
            "changed": changed,
            "as_decided": debate.outcome.is_some() && verdict == stands.decided.as_deref(),
        }));
        before = Some(verdict);
    }
    json!({"rounds": rounds, "idle_rounds": idle})
}
