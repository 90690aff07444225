//! A judge of `panel`: a high score for one side, a low one for the other, the same in every dimension.

use agon_engine::Call;
use serde_json::{Map, Value, json};

use super::Player;
use crate::population::Cause;
use crate::words::Side;
use crate::world::Moved;

pub(super) fn answer(player: &Player, call: &Call) -> Option<Value> {
    match call.phase.name.as_str() {
        "position" => player.first().map(|side| statement(player, call, side)),
        "rebuttal" => player.place.map(|place| rebuttal(player, call, &player.world.moved(place, call))),
        "final" => player.place.map(|place| last(player, call, &player.world.moved(place, call))),
        _ => None,
    }
}

fn dimensions(call: &Call, side: Side) -> Value {
    let schema = call.schema.as_ref().map(|schema| &schema.json);
    let keys = schema.and_then(|json| json.pointer("/properties/dimension_scores/properties")?.as_object());
    let scores = keys.into_iter().flatten().map(|(key, _)| (key.clone(), json!(side.score())));
    Value::Object(scores.collect::<Map<_, _>>())
}

fn statement(player: &Player, call: &Call, side: Side) -> Value {
    json!({
        "overall_score": side.score(),
        "dimension_scores": dimensions(call, side),
        "position_statement": player.stated(side),
        "key_claims": [{"claim": side.claim(), "evidence": side.citation(), "confidence": player.confidence_word()}],
        "critical_findings": [],
    })
}

/// Why a judge holds what it holds now: a bare change names nobody and nothing.
fn reason(moved: &Moved) -> String {
    match (moved.cause, moved.convinced_by()) {
        (_, Some(who)) => format!("{who} is right about {}.", moved.side.citation()),
        (Cause::Stayed, None) => "Nothing that I read speaks against it.".to_owned(),
        _ => "On second thoughts I see it differently.".to_owned(),
    }
}

fn rebuttal(player: &Player, call: &Call, moved: &Moved) -> Value {
    let before = if moved.is_changed() { moved.side.other() } else { moved.side };
    json!({
        "previous_score": before.score(),
        "new_score": moved.side.score(),
        "score_changed": moved.is_changed(),
        "change_reason": reason(moved),
        "agreements": [],
        "disagreements": [],
        "position_revision": player.stated(moved.side),
        "unresolved_disputes": [],
        "dimension_scores": dimensions(call, moved.side),
    })
}

fn last(player: &Player, call: &Call, moved: &Moved) -> Value {
    let concession = moved.convinced_by().map(|who| {
        json!({"point": moved.side.claim(), "convinced_by": format!("{who}: {}", moved.side.citation()), "impact": ""})
    });
    json!({
        "final_score": moved.side.score(),
        "final_position": player.stated(moved.side),
        "key_points_maintained": [],
        "concessions_made": concession.into_iter().collect::<Vec<_>>(),
        "unresolved_disagreements": [],
        "dimension_scores": dimensions(call, moved.side),
    })
}
