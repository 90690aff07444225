//! Where the seats stood, and where they went.

use std::collections::BTreeSet;

use agon_core::{Debate, Flip, Stands, Status};
use serde_json::{Value, json};

use crate::agreement;

/// The first positions, what a plain vote on them gives, and whether the debate said something else.
///
/// The vote counts heads. Whether the debate changed anything is told by the protocol's own rule, the one that the verdict is
/// taken by: where one FAIL among three is FAIL before and after, nothing was changed, whatever most of the heads said.
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
    let vote = first.plurality();
    let tied = if vote.is_none() { first.foremost() } else { Vec::new() };
    // That a debate broke off is not what it said, and where positions were taken once there was none.
    let over = debate.outcome.as_ref().is_some_and(|outcome| outcome.status == Status::Complete);
    let debated = over && stands.rounds.len() > 1;
    Some(json!({
        "round": first.round,
        "positions": positions,
        "vote": vote,
        "tied": tied,
        "ruling": first.ruling,
        "decided": stands.decided,
        "changed_by_debate": debated && first.ruling != stands.decided,
    }))
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
        let positions = held.grouped(stands.near);
        let entropy = agreement::entropy(&positions);
        rows.push(json!({
            "round": held.round,
            "positions": positions.iter().collect::<BTreeSet<_>>().len(),
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
        let mut before: Option<&str> = None;
        let steps = stands.rounds.iter().filter_map(|held| {
            let stand = held.of(seat)?;
            let moved = stand.change.is_some() && before.is_some_and(|before| before != stand.position);
            before = Some(&stand.position);
            Some(json!({
                "round": held.round,
                "position": stand.position,
                "value": stand.value,
                "confidence": stand.confidence,
                "changed": moved,
            }))
        });
        steps.collect::<Vec<_>>()
    };
    let row = |stand: &agon_core::Stand| json!({"seat": stand.seat, "label": stand.label, "positions": way(&stand.seat)});
    last.stands.iter().map(row).collect()
}

/// What the verdict had been after each round by the protocol's own rule, and the rounds that changed nothing: nobody's position and
/// not the verdict.
pub(super) fn counterfactual(debate: &Debate, stands: &Stands, flips: &[Flip]) -> Value {
    let mut before: Option<Option<&str>> = None;
    let (mut rounds, mut idle) = (Vec::new(), Vec::new());
    for held in &stands.rounds {
        let verdict = held.ruling.as_deref();
        let changed = before.is_some_and(|before| before != verdict);
        let moved = flips.iter().any(|flip| flip.round == held.round);
        if before.is_some() && !changed && !moved {
            idle.push(held.round);
        }
        let decided = stands.decided.as_deref().filter(|_| debate.outcome.is_some());
        let as_decided = decided.is_some() && verdict == decided;
        rounds.push(
            json!({"round": held.round, "verdict": verdict, "changed": changed, "as_decided": as_decided}),
        );
        before = Some(verdict);
    }
    json!({"rounds": rounds, "idle_rounds": idle})
}
