//! How simulated seats play `panel`: judges who score one side high and the other low, the same in every dimension. A judge who is
//! convinced by evidence cites the claim of the judge who convinced it.

use std::collections::BTreeMap;

use agon_core::simulation::{
    SimulatedAsk, SimulatedMove, SimulatedPlay, SimulatedSeat, SimulatedSide, SimulationSetup,
};
use agon_core::{BriefFile, Headline, Invalid, SeatPosition, quotations};
use serde::Serialize;
use serde_json::{Map, Value};

use super::PanelPhase;
use super::replies::{
    ConfidenceLevel, FinalStatement, JudgeQuote, KeyClaim, PositionStatement, RapporteurSummary,
    RebuttalStatement,
};

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
        match PanelPhase::of(ask.phase).ok()? {
            PanelPhase::Position => json(&statement(ask, seat, seat.first_side()?)),
            PanelPhase::Rebuttal => json(&rebuttal(ask, seat, &seat.moved()?)),
            PanelPhase::Final => json(&final_position(ask, seat, &seat.moved()?)),
            PanelPhase::Summary => json(&summary(ask)),
        }
    }

    fn side_of_position(&self, position: &SeatPosition) -> Option<SimulatedSide> {
        position.value.map(side_of_score)
    }

    fn side_of_decision(&self, headline: &Headline) -> Option<SimulatedSide> {
        headline.score.map(side_of_score)
    }
}

fn json(reply: &impl Serialize) -> Option<String> {
    serde_json::to_string(reply).ok()
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

fn dimension_scores(ask: &SimulatedAsk<'_>, side: SimulatedSide) -> BTreeMap<String, f64> {
    let schema = ask.schema.and_then(|schema| schema.json.pointer("/properties/dimension_scores/properties"));
    let keys = schema.and_then(Value::as_object).into_iter().flat_map(Map::keys);
    keys.map(|key| (key.clone(), score(side))).collect()
}

fn statement(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat, side: SimulatedSide) -> PositionStatement {
    let confidence = if seat.is_adversary() { ConfidenceLevel::High } else { ConfidenceLevel::Medium };
    PositionStatement {
        overall_score: score(side),
        dimension_scores: dimension_scores(ask, side),
        position_statement: seat.stated(side),
        key_claims: vec![KeyClaim {
            claim: side.claim().to_owned(),
            evidence: side.citation().to_owned(),
            confidence,
            ..KeyClaim::default()
        }],
        ..PositionStatement::default()
    }
}

fn rebuttal(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat, moved: &SimulatedMove) -> RebuttalStatement {
    let before = if moved.is_changed { moved.side.other() } else { moved.side };
    RebuttalStatement {
        previous_score: score(before),
        new_score: score(moved.side),
        score_changed: Some(moved.is_changed),
        change_reason: reason(ask, moved),
        position_revision: seat.stated(moved.side),
        dimension_scores: Some(dimension_scores(ask, moved.side)),
        ..RebuttalStatement::default()
    }
}

fn final_position(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat, moved: &SimulatedMove) -> FinalStatement {
    FinalStatement {
        final_score: score(moved.side),
        final_position: seat.stated(moved.side),
        change_reason: reason(ask, moved),
        dimension_scores: Some(dimension_scores(ask, moved.side)),
        ..FinalStatement::default()
    }
}

/// Why the judge holds what it holds, with the id of the claim that convinced it, if one did.
fn reason(ask: &SimulatedAsk<'_>, moved: &SimulatedMove) -> String {
    let said = moved.reason("Nothing that I read speaks against it.");
    let claim = moved.convinced_by.as_deref().and_then(|judge| claim_id(ask.prompt, judge));
    claim.map_or(said.clone(), |id| format!("[{id}] {said}"))
}

/// The id of a judge's claim, as the prompt shows it.
fn claim_id<'p>(prompt: &'p str, judge: &str) -> Option<&'p str> {
    let quoted =
        quotations(prompt).into_iter().find(|quoted| quoted.what == judge && quoted.text.contains("[A"))?;
    let (_, rest) = quoted.text.split_once("[A")?;
    let at = prompt.find(&format!("[A{}", rest.split(']').next()?))?;
    prompt.get(at + 1..)?.split(']').next()
}

/// The first words of every judge, and a sentence.
pub(super) fn summary(ask: &SimulatedAsk<'_>) -> RapporteurSummary {
    let judges = ask.allowed_words("/properties/quotes/items/properties/judge");
    let said = quotations(ask.prompt);
    let quotes = judges.iter().filter_map(|judge| {
        let words = said.iter().find(|quoted| quoted.what == *judge)?;
        Some(JudgeQuote { judge: judge.clone(), quote: words.text.lines().next()?.to_owned() })
    });
    let text = "The judges say whether the bridge is safe.".to_owned();
    let wanted = |field: &str| {
        let found = ask.schema.and_then(|schema| schema.json.get("properties")?.get(field));
        found.map(|_| text.clone())
    };
    RapporteurSummary {
        quotes: quotes.collect(),
        assessment: wanted("assessment"),
        majority: wanted("majority"),
        minority: wanted("minority"),
        merged: Vec::new(),
    }
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

    #[test]
    fn a_claim_is_cited_by_the_id_that_the_prompt_shows() {
        let prompt = "<<BEGIN 0123456789abcdef01234567 judge-2>>\nkey_claims:\n- [A2] claim: One\n<<END 0123456789abcdef01234567>>";
        assert_eq!(claim_id(prompt, "judge-2"), Some("A2"));
        assert_eq!(claim_id(prompt, "judge-1"), None);
    }
}
