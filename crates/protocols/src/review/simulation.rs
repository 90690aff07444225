//! How simulated seats play `review`: judges who rule PASS for one side and FAIL for the other.

use agon_core::simulation::{SimulatedAsk, SimulatedPlay, SimulatedSeat, SimulatedSide, SimulationSetup};
use agon_core::{Corrupt, Headline, Invalid, Outcome, SeatPosition};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug)]
pub(super) struct ReviewSimulation;

impl SimulatedPlay for ReviewSimulation {
    fn seat_counts(&self) -> &'static [usize] {
        &[2, 3, 4, 5, 6, 7]
    }

    fn options(&self, setup: &SimulationSetup) -> Result<Vec<(String, String)>, Invalid> {
        setup.fixed_rounds("two")?;
        Ok(vec![("count".into(), setup.seats.to_string()), ("debate".into(), "true".into())])
    }

    fn answer(&self, ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<String> {
        let reply = match ask.phase.name.as_str() {
            "r1" => first_verdict(seat, seat.first_side()?),
            "restate" => json!({"restatement": restatement(seat.first_side()?)}),
            "r2" => second_verdict(ask, seat)?,
            _ => return None,
        };
        Some(reply.to_string())
    }

    fn side_of_position(&self, position: &SeatPosition) -> Option<SimulatedSide> {
        side_of_verdict(&position.position)
    }

    fn side_of_decision(&self, headline: &Headline) -> Option<SimulatedSide> {
        headline.verdict.as_deref().and_then(side_of_verdict)
    }

    fn evidence_rule(&self) -> Option<(&'static str, &'static str)> {
        Some(("strict_anchoring", "true"))
    }

    fn reverted_changes(&self, outcome: &Outcome) -> Result<usize, Corrupt> {
        let shifts = Option::<ReviewShifts>::deserialize(&outcome.verdict)?.unwrap_or_default().shifts;
        Ok(shifts.iter().filter(|shift| shift.reverted).count())
    }
}

/// The part of the verdict that says which changed verdicts were taken back.
#[derive(Deserialize, Default)]
struct ReviewShifts {
    #[serde(default)]
    shifts: Vec<RevertedShift>,
}

#[derive(Deserialize)]
struct RevertedShift {
    #[serde(default)]
    reverted: bool,
}

fn word(side: SimulatedSide) -> &'static str {
    match side {
        SimulatedSide::Yes => "PASS",
        SimulatedSide::No => "FAIL",
    }
}

fn side_of_verdict(verdict: &str) -> Option<SimulatedSide> {
    match verdict {
        "PASS" => Some(SimulatedSide::Yes),
        "WARN" | "FAIL" => Some(SimulatedSide::No),
        _ => None,
    }
}

fn restatement(side: SimulatedSide) -> String {
    format!("My verdict was {}. {}", word(side), side.ground())
}

fn first_verdict(seat: &dyn SimulatedSeat, side: SimulatedSide) -> Value {
    let findings = match side {
        SimulatedSide::Yes => json!([]),
        SimulatedSide::No => {
            json!([{"severity": "significant", "description": side.ground(), "location": "survey.txt:12"}])
        }
    };
    json!({
        "verdict": word(side),
        "confidence": seat.confidence_word(),
        "key_insight": seat.stated(side),
        "findings": findings,
        "recommendation": "",
    })
}

fn second_verdict(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<Value> {
    let moved = seat.moved()?;
    let judges = ask.allowed_words("/properties/challenges/items/properties/judge");
    let challenged = moved.opponent.as_ref().or(judges.first())?;
    let opposite = moved.side.other();
    let evidence = moved
        .convinced_by
        .is_some()
        .then(|| json!({"kind": "code_location", "citation": format!("I missed {}", moved.side.citation())}));
    let mut reply = first_verdict(seat, moved.side);
    let more = json!({
        "restatement": restatement(seat.first_side()?),
        "steel_man": opposite.ground(),
        "challenges": [{"judge": challenged, "claim": opposite.claim(), "response": "That is too little."}],
        "acknowledgments": [],
        "changed_because": evidence,
    });
    if let (Value::Object(reply), Value::Object(more)) = (&mut reply, more) {
        reply.extend(more);
    }
    Some(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pass_is_on_the_side_of_yes() {
        for (verdict, side) in [
            ("PASS", Some(SimulatedSide::Yes)),
            ("WARN", Some(SimulatedSide::No)),
            ("FAIL", Some(SimulatedSide::No)),
            ("DISAGREE", None),
        ] {
            let headline = Headline { verdict: Some(verdict.to_owned()), ..Headline::default() };
            assert_eq!(ReviewSimulation.side_of_decision(&headline), side, "{verdict}");
        }
    }
}
