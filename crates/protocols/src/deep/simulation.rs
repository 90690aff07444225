//! The seats of `deep`: debaters, a moderator who counts, a chair who goes with most of them.

use agon_core::quotations;
use agon_engine::Call;
use serde_json::{Value, json};

use super::Player;
use crate::population::Cause;
use crate::reading::Shown;
use crate::words::Side;

pub(super) fn answer(player: &Player, call: &Call) -> Option<String> {
    let value = match call.phase.name.as_str() {
        "answer" => return player.first().map(|side| player.stated(side)),
        "debate" => argument(player, call)?,
        "moderate" => assessment(call),
        "synthesis" => synthesis(player, call),
        _ => return None,
    };
    Some(value.to_string())
}

fn argument(player: &Player, call: &Call) -> Option<Value> {
    let moved = player.world.moved(player.place?, call);
    let reason = match (moved.cause, moved.convinced_by()) {
        (_, Some(who)) => format!("{who} is right about {}.", moved.side.citation()),
        (Cause::Stayed, None) => format!("See {}.", moved.side.citation()),
        _ => "On second thoughts I see it differently.".to_owned(),
    };
    let counterpoints: Vec<Value> = moved
        .against
        .iter()
        .map(|who| json!({"target": who, "point": "That was looked at once only.", "evidence": "A second look gave another result."}))
        .collect();
    let (stance, revision) = match moved.is_changed() {
        true => ("concede", "major_revision"),
        false => ("maintain", "no_change"),
    };
    Some(json!({
        "stance": stance,
        "key_points": [reason, player.stated(moved.side)],
        "counterpoints": counterpoints,
        "revision": revision,
        "revised_position": moved.is_changed().then(|| player.stated(moved.side)),
        "confidence": player.confidence(),
    }))
}

/// The share of the debaters who hold what most of them hold, and no opinion of its own.
fn assessment(call: &Call) -> Value {
    let held = Shown::read(call).others();
    let yes = held.iter().filter(|other| other.side == Side::Yes).count();
    let most = yes.max(held.len() - yes);
    let agreement = most as f64 / held.len().max(1) as f64;
    let new = if call.phase.round == 1 { 1.0 } else { 0.1 };
    json!({
        "should_stop": false,
        "agreement_score": agreement,
        "new_points_ratio": new,
        "consensus_answer": null,
        "remaining_disagreements": [],
        "next_round_focus": null,
    })
}

/// What most of the final stances say; where they are tied, what the chair thinks.
fn synthesis(player: &Player, call: &Call) -> Value {
    let prompt = call.messages.last().map_or("", |message| message.text.as_str());
    let quoted = quotations(prompt).into_iter().find(|quoted| quoted.what == "the debate");
    let input: Value = quoted.and_then(|quoted| serde_json::from_str(quoted.text).ok()).unwrap_or_default();
    let stances = input.get("final_stances").and_then(Value::as_array).into_iter().flatten();
    let held: Vec<Side> =
        stances.filter_map(|stance| Side::of(stance.get("revised_position")?.as_str()?)).collect();
    let yes = held.iter().filter(|side| **side == Side::Yes).count();
    let side = match (2 * yes).cmp(&held.len()) {
        std::cmp::Ordering::Greater => Side::Yes,
        std::cmp::Ordering::Less => Side::No,
        std::cmp::Ordering::Equal => player.world.onlooker("chair"),
    };
    json!({"answer": side.text(), "why": "Most of the debaters hold it.", "contested": []})
}
