//! How simulated seats play `panel`: judges who score one side high and the other low, the same in every dimension.

use agon_core::simulation::{
    SimulatedAsk, SimulatedMove, SimulatedPlay, SimulatedSeat, SimulatedSide, SimulationSetup,
};
use agon_core::{BriefFile, Headline, Invalid, SeatPosition};
use serde_json::{Map, Value, json};

#[derive(Debug)]
pub(super) struct PanelSimulation;

impl SimulatedPlay for PanelSimulation {
    fn seat_counts(&self) -> &'static [usize] {
        &[3, 5, 7]
    }

    /// Judges read each other from the second round on.
    fn options(&self, setup: &SimulationSetup) -> Result<Vec<(String, String)>, Invalid> {
        Ok(vec![("max_rounds".into(), (1 + setup.rounds_up_to(2, 2)?).to_string())])
    }

    fn files(&self) -> Vec<BriefFile> {
        let text = "The plan is to open the old bridge to traffic again.".into();
        vec![BriefFile { path: "bridge.md".into(), text, part: None }]
    }

    fn answer(&self, ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<String> {
        let reply = match ask.phase.name.as_str() {
            "position" => statement(ask, seat, seat.first_side()?),
            "rebuttal" => rebuttal(ask, seat, &seat.moved()?),
            "final" => final_position(ask, seat, &seat.moved()?),
            _ => return None,
        };
        Some(reply.to_string())
    }

    fn side_of_position(&self, position: &SeatPosition) -> Option<SimulatedSide> {
        position.value.map(side_of_score)
    }

    fn side_of_decision(&self, headline: &Headline) -> Option<SimulatedSide> {
        headline.score.map(side_of_score)
    }
}

fn score(side: SimulatedSide) -> f64 {
    match side {
        SimulatedSide::Yes => 4.5,
        SimulatedSide::No => 2.0,
    }
}

fn side_of_score(score: f64) -> SimulatedSide {
    if score >= 3.0 { SimulatedSide::Yes } else { SimulatedSide::No }
}

fn dimension_scores(ask: &SimulatedAsk<'_>, side: SimulatedSide) -> Value {
    let schema = ask.schema.and_then(|schema| schema.json.pointer("/properties/dimension_scores/properties"));
    let keys = schema.and_then(Value::as_object).into_iter().flat_map(Map::keys);
    Value::Object(keys.map(|key| (key.clone(), json!(score(side)))).collect())
}

fn statement(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat, side: SimulatedSide) -> Value {
    json!({
        "overall_score": score(side),
        "dimension_scores": dimension_scores(ask, side),
        "position_statement": seat.stated(side),
        "key_claims": [{"claim": side.claim(), "evidence": side.citation(), "confidence": seat.confidence_word()}],
        "critical_findings": [],
    })
}

fn rebuttal(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat, moved: &SimulatedMove) -> Value {
    let before = if moved.is_changed { moved.side.other() } else { moved.side };
    json!({
        "previous_score": score(before),
        "new_score": score(moved.side),
        "score_changed": moved.is_changed,
        "change_reason": moved.reason("Nothing that I read speaks against it."),
        "agreements": [],
        "disagreements": [],
        "position_revision": seat.stated(moved.side),
        "unresolved_disputes": [],
        "dimension_scores": dimension_scores(ask, moved.side),
    })
}

fn final_position(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat, moved: &SimulatedMove) -> Value {
    let concessions: Vec<Value> = moved
        .convinced_by
        .iter()
        .map(|name| {
            let evidence = format!("{name}: {}", moved.side.citation());
            json!({"point": moved.side.claim(), "convinced_by": evidence, "impact": ""})
        })
        .collect();
    json!({
        "final_score": score(moved.side),
        "final_position": seat.stated(moved.side),
        "key_points_maintained": [],
        "concessions_made": concessions,
        "unresolved_disagreements": [],
        "dimension_scores": dimension_scores(ask, moved.side),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_has_the_side_that_would_give_it_and_no_score_has_none() {
        let headline = |score| Headline { score, ..Headline::default() };
        for side in [SimulatedSide::Yes, SimulatedSide::No] {
            assert_eq!(PanelSimulation.side_of_decision(&headline(Some(score(side)))), Some(side));
        }
        assert_eq!(PanelSimulation.side_of_decision(&headline(None)), None);
    }
}
