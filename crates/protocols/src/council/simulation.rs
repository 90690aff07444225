//! How simulated seats play `council`: councillors who vote for the side they hold, and a moderator who finds nothing wrong.

use agon_core::simulation::{SimulatedAsk, SimulatedPlay, SimulatedSeat, SimulatedSide, SimulationSetup};
use agon_core::{Headline, Invalid, SeatPosition};
use serde_json::{Value, json};

#[derive(Debug)]
pub(super) struct CouncilSimulation;

impl SimulatedPlay for CouncilSimulation {
    fn seat_counts(&self) -> &'static [usize] {
        &[3, 4, 5, 6]
    }

    fn options(&self, setup: &SimulationSetup) -> Result<Vec<(String, String)>, Invalid> {
        let rounds = setup.rounds_up_to(4, 2)?;
        let mut options =
            vec![("rounds".into(), rounds.to_string()), ("councillors".into(), setup.seats.to_string())];
        // The sixth councillor is an expert, who needs a field.
        options.extend((setup.seats == 6).then(|| ("focus".into(), "bridges".into())));
        Ok(options)
    }

    fn answer(&self, ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<String> {
        let reply = match (ask.phase.name.as_str(), ask.schema?.name.as_str()) {
            ("opening", _) => opening(ask, seat)?,
            ("challenge", _) => examination(ask, seat)?,
            ("moderate", _) => {
                json!({"shared_points": [], "evasions": [], "new_arguments": [], "reframing_question": ""})
            }
            ("intervene", "steelman") => json!({"counter_argument": "It could be otherwise."}),
            ("intervene", "second_response") => second_response(ask, seat)?,
            ("intervene", _) => {
                json!({"effect": "It changes nothing.", "position": "", "changed": false, "because": ""})
            }
            ("verdict", _) => vote(seat)?,
            _ => return None,
        };
        Some(reply.to_string())
    }

    /// Before the vote a position is a text; afterwards it is the vote.
    fn side_of_position(&self, position: &SeatPosition) -> Option<SimulatedSide> {
        SimulatedSide::find_in(&position.position).or_else(|| side_of_vote(&position.position))
    }

    fn side_of_decision(&self, headline: &Headline) -> Option<SimulatedSide> {
        headline.verdict.as_deref().and_then(side_of_vote)
    }
}

fn side_of_vote(vote: &str) -> Option<SimulatedSide> {
    match vote {
        "PROCEED" | "PROCEED WITH CONDITIONS" => Some(SimulatedSide::Yes),
        "RECONSIDER" | "DO NOT PROCEED" => Some(SimulatedSide::No),
        _ => None,
    }
}

fn opening(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<Value> {
    let side = seat.first_side()?;
    let to = ask.allowed_words("/properties/questions/items/properties/to").into_iter().next()?;
    Some(json!({
        "position": seat.stated(side),
        "arguments": [side.claim(), "It was looked at twice.", "Others would say so too."],
        "confidence": seat.confidence_word(),
        "questions": [{"to": to, "question": "What do you rest this on?"}],
    }))
}

fn examination(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<Value> {
    let moved = seat.moved()?;
    let citation = moved.side.citation();
    let because = match &moved.convinced_by {
        Some(name) => format!("The {name} is right about {citation}."),
        None => moved.reason("My arguments hold."),
    };
    let to = moved.opponent.as_ref().or(moved.ally.as_ref())?;
    let challenge = |claim: &str, question: &str| json!({"to": to, "claim": claim, "reason": "It was looked at once only.", "question": question});
    let challenged = ask.allowed_words("/properties/responses/items/properties/challenge_id");
    let responses: Vec<Value> = challenged.iter().map(|id| response(id, moved.side)).collect();
    Some(json!({
        "challenges": [
            challenge(moved.side.other().claim(), "Who looked at it?"),
            challenge("It was looked at twice.", "When was that?"),
        ],
        "responses": responses,
        "messages": [],
        "position": seat.stated(moved.side),
        "changed": moved.is_changed,
        "because": because,
        "new_arguments": [],
        "confidence": seat.confidence_word(),
    }))
}

fn response(challenge: &str, side: SimulatedSide) -> Value {
    let rests_on = format!("It rests on {}.", side.citation());
    json!({"challenge_id": challenge, "stance": "disagree", "response": rests_on})
}

fn second_response(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<Value> {
    let challenge = ask.allowed_words("/properties/challenge_id").into_iter().next()?;
    Some(response(&challenge, seat.current_side()?))
}

fn vote(seat: &dyn SimulatedSeat) -> Option<Value> {
    let side = seat.current_side()?;
    let vote = match side {
        SimulatedSide::Yes => "PROCEED",
        SimulatedSide::No => "DO NOT PROCEED",
    };
    Some(json!({"final_position": seat.stated(side), "key_argument": side.ground(), "vote": vote}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_has_a_side_and_a_divided_council_has_none() {
        for (verdict, side) in [
            (Some("PROCEED WITH CONDITIONS"), Some(SimulatedSide::Yes)),
            (Some("RECONSIDER"), Some(SimulatedSide::No)),
            (None, None),
        ] {
            let headline = Headline { verdict: verdict.map(str::to_owned), ..Headline::default() };
            assert_eq!(CouncilSimulation.side_of_decision(&headline), side, "{verdict:?}");
        }
    }
}
