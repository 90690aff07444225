//! The seats of `council`: councillors who vote as they think, and a moderator who finds nothing amiss.

use agon_engine::Call;
use serde_json::{Value, json};

use super::Player;
use crate::population::Cause;
use crate::reading::{Shown, allowed};
use crate::words::Side;

pub(super) fn answer(player: &Player, call: &Call) -> Option<Value> {
    match (call.phase.name.as_str(), call.schema.as_ref()?.name.as_str()) {
        ("opening", _) => opening(player, call),
        ("challenge", _) => examination(player, call),
        ("moderate", _) => Some(moderation()),
        ("intervene", "steelman") => Some(json!({"counter_argument": "It could be otherwise."})),
        ("intervene", "second_response") => second_response(player, call),
        ("intervene", _) => {
            Some(json!({"effect": "It changes nothing.", "position": "", "changed": false, "because": ""}))
        }
        ("verdict", _) => verdict(player, call),
        _ => None,
    }
}

fn opening(player: &Player, call: &Call) -> Option<Value> {
    let side = player.first()?;
    let to = allowed(call, "/properties/questions/items/properties/to").into_iter().next()?;
    Some(json!({
        "position": player.stated(side),
        "arguments": [side.claim(), "It was looked at twice.", "Others would say so too."],
        "confidence": player.confidence_word(),
        "questions": [{"to": to, "question": "What do you rest this on?"}],
    }))
}

fn examination(player: &Player, call: &Call) -> Option<Value> {
    let moved = player.world.moved(player.place?, call);
    let because = match (moved.cause, moved.convinced_by()) {
        (_, Some(who)) => format!("The {who} is right about {}.", moved.side.citation()),
        (Cause::Stayed, None) => "My arguments hold.".to_owned(),
        _ => "On second thoughts I see it differently.".to_owned(),
    };
    let to = moved.against.clone().or(moved.with.clone())?;
    let challenge = |claim: &str, question: &str| json!({"to": to, "claim": claim, "reason": "It was looked at once only.", "question": question});
    let responses: Vec<Value> = allowed(call, "/properties/responses/items/properties/challenge_id")
        .iter()
        .map(|id| json!({"challenge_id": id, "stance": "disagree", "response": format!("It rests on {}.", moved.side.citation())}))
        .collect();
    Some(json!({
        "challenges": [
            challenge(moved.side.other().claim(), "Who looked at it?"),
            challenge("It was looked at twice.", "When was that?"),
        ],
        "responses": responses,
        "messages": [],
        "position": player.stated(moved.side),
        "changed": moved.is_changed(),
        "because": because,
        "new_arguments": [],
        "confidence": player.confidence_word(),
    }))
}

fn moderation() -> Value {
    json!({"shared_points": [], "evasions": [], "new_arguments": [], "reframing_question": ""})
}

fn second_response(player: &Player, call: &Call) -> Option<Value> {
    let id = allowed(call, "/properties/challenge_id").into_iter().next()?;
    let side = Shown::read(call).own.or_else(|| player.first())?;
    Some(
        json!({"challenge_id": id, "stance": "disagree", "response": format!("It rests on {}.", side.citation())}),
    )
}

fn verdict(player: &Player, call: &Call) -> Option<Value> {
    let side = Shown::read(call).own.or_else(|| player.first())?;
    let vote = match side {
        Side::Yes => "PROCEED",
        Side::No => "DO NOT PROCEED",
    };
    Some(json!({"final_position": player.stated(side), "key_argument": side.ground(), "vote": vote}))
}
