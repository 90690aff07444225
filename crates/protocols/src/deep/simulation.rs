//! How simulated seats play `deep`: the debaters argue, the moderator counts positions, the chair follows the majority.

use agon_core::simulation::{SimulatedAsk, SimulatedPlay, SimulatedSeat, SimulatedSide, SimulationSetup};
use agon_core::{Invalid, quotations};
use serde_json::{Value, json};

#[derive(Debug)]
pub(super) struct DeepSimulation;

impl SimulatedPlay for DeepSimulation {
    fn seat_counts(&self) -> &'static [usize] {
        &[2, 3, 4, 5, 6, 7]
    }

    fn options(&self, setup: &SimulationSetup) -> Result<Vec<(String, String)>, Invalid> {
        let rounds = setup.rounds_up_to(20, 3)?.to_string();
        Ok(vec![("min_rounds".into(), rounds.clone()), ("max_rounds".into(), rounds)])
    }

    fn answer(&self, ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<String> {
        let reply = match ask.phase.name.as_str() {
            "answer" => return seat.first_side().map(|side| seat.stated(side)),
            "debate" => argument(seat)?,
            "moderate" => assessment(ask.phase.round, seat),
            "synthesis" => synthesis(ask, seat)?,
            _ => return None,
        };
        Some(reply.to_string())
    }
}

fn argument(seat: &dyn SimulatedSeat) -> Option<Value> {
    let moved = seat.moved()?;
    let reason = moved.reason(&format!("See {}.", moved.side.citation()));
    let counterpoints: Vec<Value> = moved
        .opponent
        .iter()
        .map(|name| json!({"target": name, "point": "That was looked at once only.", "evidence": "A second look gave another result."}))
        .collect();
    let (stance, revision) = match moved.is_changed {
        true => ("concede", "major_revision"),
        false => ("maintain", "no_change"),
    };
    let position = seat.stated(moved.side);
    Some(json!({
        "stance": stance,
        "key_points": [reason, position],
        "counterpoints": counterpoints,
        "revision": revision,
        "revised_position": moved.is_changed.then_some(position),
        "confidence": seat.confidence(),
    }))
}

/// The agreement is the share of the debaters who hold the most common position.
fn assessment(round: u32, moderator: &dyn SimulatedSeat) -> Value {
    let debaters = moderator.others();
    let yes = debaters.iter().filter(|debater| debater.side == SimulatedSide::Yes).count();
    let most = yes.max(debaters.len() - yes);
    json!({
        "should_stop": false,
        "agreement_score": most as f64 / debaters.len().max(1) as f64,
        "new_points_ratio": if round == 1 { 1.0 } else { 0.1 },
        "consensus_answer": null,
        "remaining_disagreements": [],
        "next_round_focus": null,
    })
}

/// The answer is what most of the final stances say. The chair breaks a tie by its own opinion.
fn synthesis(ask: &SimulatedAsk<'_>, chair: &dyn SimulatedSeat) -> Option<Value> {
    let quoted = quotations(ask.prompt).into_iter().find(|quoted| quoted.what == "the debate")?;
    let debate: Value = serde_json::from_str(quoted.text).ok()?;
    let stances = debate.get("final_stances").and_then(Value::as_array)?;
    let sides: Vec<SimulatedSide> = stances
        .iter()
        .filter_map(|stance| SimulatedSide::find_in(stance.get("revised_position")?.as_str()?))
        .collect();
    let yes = sides.iter().filter(|side| **side == SimulatedSide::Yes).count();
    let side = match (2 * yes).cmp(&sides.len()) {
        std::cmp::Ordering::Greater => SimulatedSide::Yes,
        std::cmp::Ordering::Less => SimulatedSide::No,
        std::cmp::Ordering::Equal => chair.impartial_side("chair"),
    };
    Some(json!({"answer": side.text(), "why": "Most of the debaters hold it.", "contested": []}))
}
