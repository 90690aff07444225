//! A judge of `review`: PASS for one side, FAIL for the other.

use agon_engine::Call;
use serde_json::{Value, json};

use super::Player;
use crate::reading::allowed;
use crate::words::Side;

pub(super) fn answer(player: &Player, call: &Call) -> Option<Value> {
    match call.phase.name.as_str() {
        "r1" => player.first().map(|side| verdict(player, side)),
        "restate" => Some(json!({"restatement": restatement(player.first()?)})),
        "r2" => second(player, call),
        _ => None,
    }
}

fn word(side: Side) -> &'static str {
    match side {
        Side::Yes => "PASS",
        Side::No => "FAIL",
    }
}

fn restatement(side: Side) -> String {
    format!("My verdict was {}. {}", word(side), side.ground())
}

fn verdict(player: &Player, side: Side) -> Value {
    let findings = match side {
        Side::Yes => json!([]),
        Side::No => {
            json!([{"severity": "significant", "description": side.ground(), "location": "survey.txt:12"}])
        }
    };
    json!({
        "verdict": word(side),
        "confidence": player.confidence_word(),
        "key_insight": player.stated(side),
        "findings": findings,
        "recommendation": "",
    })
}

fn second(player: &Player, call: &Call) -> Option<Value> {
    let moved = player.world.moved(player.place?, call);
    let judges = allowed(call, "/properties/challenges/items/properties/judge");
    let disputed = moved.against.clone().or_else(|| judges.first().cloned())?;
    let mut answer = verdict(player, moved.side);
    let because = moved
        .convinced_by()
        .map(|_| json!({"kind": "code_location", "citation": format!("I missed {}", moved.side.citation())}));
    let more = json!({
        "restatement": restatement(player.first()?),
        "steel_man": moved.side.other().ground(),
        "challenges": [{"judge": disputed, "claim": moved.side.other().claim(), "response": "That is too little."}],
        "acknowledgments": [],
        "changed_because": because,
    });
    if let (Value::Object(answer), Value::Object(more)) = (&mut answer, more) {
        answer.extend(more);
    }
    Some(answer)
}
