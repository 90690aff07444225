//! Simulated seats as models of the engine.
//!
//! A simulated model keeps nothing between two calls. It reads in its prompt what it holds, and it draws from the debate's seed and the
//! name of the call. So the order of the calls makes no difference, and a resumed debate continues as it would have.

use std::sync::Arc;

use agon_core::simulation::{
    SimulatedAsk, SimulatedMove, SimulatedPlay, SimulatedSeat, SimulatedSide, SimulatedSpeaker,
};
use agon_core::{CallUsage, Invalid, SeededDraw};
use agon_engine::{
    CallFault, CallFaultKind, DeltaSink, FinishReason, Model, ModelCall, ModelCompletion, ModelPrice,
    ModelSource,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;

use super::prompt_reading::PromptReading;
use super::seat_behaviour::{HeardViews, MoveCause, SimulatedPopulation};

/// The provider of all simulated seats.
const PROVIDER: &str = "population";
/// The provider of models that compare texts, for protocols that look that up.
const EMBEDDINGS: &str = "embeddings";

/// The model of the seat at this place, counted from 0.
pub(super) fn model_of_seat(place: usize) -> String {
    format!("{PROVIDER}/{}", place + 1)
}

/// The model of a role that holds no position: a moderator, a chair, a judge.
pub(super) fn model_of_role(role: &str) -> String {
    format!("{PROVIDER}/{role}")
}

/// What is true in one debate: the right answer, who is right at first, and what moves the seats.
#[derive(Debug)]
pub(super) struct SimulatedTrial {
    play: &'static dyn SimulatedPlay,
    population: SimulatedPopulation,
    seed: u64,
    /// Each side is right in half of the trials, so that a protocol that favours one side does not look good for it.
    pub(super) truth: SimulatedSide,
    first_views: Vec<bool>,
    adversary: Option<usize>,
}

impl SimulatedTrial {
    pub(super) fn new(play: &'static dyn SimulatedPlay, population: &SimulatedPopulation, seed: u64) -> Self {
        let is_yes = SeededDraw::new(seed, "truth").below(2) == 0;
        Self {
            play,
            truth: if is_yes { SimulatedSide::Yes } else { SimulatedSide::No },
            first_views: population.first_views(seed),
            adversary: population.adversary_place(seed),
            population: population.clone(),
            seed,
        }
    }

    fn side(&self, is_right: bool) -> SimulatedSide {
        if is_right { self.truth } else { self.truth.other() }
    }
}

/// The models of one trial.
pub(super) struct SimulatedModels {
    pub(super) trial: Arc<SimulatedTrial>,
}

impl ModelSource for SimulatedModels {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        if name.split_once('/').is_some_and(|(provider, _)| provider == EMBEDDINGS) {
            return Ok(Arc::new(SideSimilarity { name: name.to_owned() }));
        }
        let who = name.strip_prefix(PROVIDER).and_then(|rest| rest.strip_prefix('/'));
        let who = who.ok_or_else(|| Invalid(format!("{name} has no part in simulated debates")))?;
        let place = who.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        Ok(Arc::new(SimulatedModel { name: name.to_owned(), place, trial: self.trial.clone() }))
    }
}

/// The model of one seat.
struct SimulatedModel {
    name: String,
    /// `None` for a role that holds no position.
    place: Option<usize>,
    trial: Arc<SimulatedTrial>,
}

impl Model for SimulatedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        PROVIDER
    }

    fn uses_tokens(&self) -> bool {
        false
    }

    fn price(&self) -> ModelPrice {
        ModelPrice::Free
    }

    fn call<'a>(
        &'a self,
        call: &'a ModelCall,
        _: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>> {
        let ask = SimulatedAsk {
            phase: &call.phase,
            label: call.label.as_deref(),
            about: call.about.as_deref(),
            prompt: call.messages.last().map_or("", |message| message.text.as_str()),
            schema: call.schema.as_deref(),
        };
        let seat =
            SeatTurn { trial: &self.trial, place: self.place, call, reading: PromptReading::new(call) };
        let result = match self.trial.play.answer(&ask, &seat) {
            Some(text) => Ok(completion(text, &self.name)),
            None => {
                let phase = &call.phase.name;
                Err(CallFault::new(
                    CallFaultKind::Rejected,
                    format!("a simulated seat has no answer in {phase}"),
                ))
            }
        };
        async move { result }.boxed()
    }
}

fn completion(text: String, model: &str) -> ModelCompletion {
    let usage = CallUsage { output_tokens: text.len() as u64 / 4, ..CallUsage::default() };
    ModelCompletion { text, model: model.to_owned(), usage, finish: FinishReason::End, shortened: None }
}

/// A seat that has read the prompt of one call.
struct SeatTurn<'a> {
    trial: &'a SimulatedTrial,
    place: Option<usize>,
    call: &'a ModelCall,
    reading: PromptReading,
}

impl SimulatedSeat for SeatTurn<'_> {
    fn number(&self) -> Option<usize> {
        Some(self.place? + 1)
    }

    fn first_side(&self) -> Option<SimulatedSide> {
        let is_right = self.trial.first_views.get(self.place?)?;
        Some(self.trial.side(*is_right))
    }

    fn current_side(&self) -> Option<SimulatedSide> {
        self.reading.own_side.or_else(|| self.first_side())
    }

    fn moved(&self) -> Option<SimulatedMove> {
        let (place, trial, own) = (self.place?, self.trial, self.current_side()?);
        let others = self.others();
        let holders = |side: SimulatedSide| others.iter().filter(|other| other.side == side).count();
        let heard = HeardViews {
            right: holders(trial.truth),
            wrong: holders(trial.truth.other()),
            fabricated: self.reading.has_fabricated_evidence(),
            right_said: self.reading.count(trial.truth),
            wrong_said: self.reading.count(trial.truth.other()),
        };
        let (side, cause) = if self.is_adversary() {
            (own, MoveCause::Stayed)
        } else {
            let phase = &self.call.phase;
            let mut draw = self.draw(&format!("{place} {} {}", phase.name, phase.round));
            let update = trial.population.update(own == trial.truth, &heard, &mut draw);
            (trial.side(update.right), update.cause)
        };
        let first = |side: SimulatedSide| {
            others.iter().find(|other| other.side == side).map(|other| other.name.clone())
        };
        let ally = first(side);
        Some(SimulatedMove {
            side,
            is_changed: cause != MoveCause::Stayed,
            convinced_by: ally.clone().filter(|_| cause == MoveCause::Evidence),
            ally,
            opponent: first(side.other()),
        })
    }

    fn others(&self) -> Vec<SimulatedSpeaker> {
        self.reading.others()
    }

    fn statements(&self) -> Vec<SimulatedSpeaker> {
        self.reading.statements()
    }

    fn is_adversary(&self) -> bool {
        self.place.is_some() && self.place == self.trial.adversary
    }

    fn impartial_side(&self, purpose: &str) -> SimulatedSide {
        self.trial.side(self.draw(purpose).unit() < self.trial.population.accuracy)
    }

    fn prefers_first(&self, purpose: &str) -> bool {
        self.draw(purpose).unit() < self.trial.population.position_bias
    }

    fn draw(&self, purpose: &str) -> SeededDraw {
        SeededDraw::new(self.trial.seed, purpose)
    }
}

/// Compares texts by the side that they are on. It is an errand, as in a real debate.
struct SideSimilarity {
    name: String,
}

impl Model for SideSimilarity {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        EMBEDDINGS
    }

    fn uses_tokens(&self) -> bool {
        false
    }

    fn price(&self) -> ModelPrice {
        ModelPrice::Free
    }

    fn is_errand(&self) -> bool {
        true
    }

    fn call<'a>(
        &'a self,
        call: &'a ModelCall,
        _: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>> {
        let prompt = call.messages.last().map_or("", |message| message.text.as_str());
        let result = match serde_json::from_str::<Vec<String>>(prompt) {
            Ok(texts) => Ok(completion(side_similarities(&texts), &self.name)),
            Err(why) => {
                let message = format!("the texts to compare are not a JSON list of strings: {why}");
                Err(CallFault::new(CallFaultKind::Rejected, message))
            }
        };
        async move { result }.boxed()
    }
}

/// The reply of a model that compares texts: 1 for two texts on the same side, else 0.
fn side_similarities(texts: &[String]) -> String {
    let sides: Vec<Option<SimulatedSide>> = texts.iter().map(|text| SimulatedSide::find_in(text)).collect();
    let is_same = |one: usize, other: usize| {
        let same_side = sides.get(one) == sides.get(other) && sides.get(one).is_some_and(Option::is_some);
        same_side || texts.get(one) == texts.get(other)
    };
    let row = |one: usize| -> Vec<f64> {
        (0..texts.len()).map(|other| if is_same(one, other) { 1.0 } else { 0.0 }).collect()
    };
    json!({"similarity": (0..texts.len()).map(row).collect::<Vec<_>>()}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_similar_if_they_are_on_the_same_side() {
        let (yes, no) = (SimulatedSide::Yes, SimulatedSide::No);
        let texts = [yes.text(), format!("I agree. {}", yes.text()), no.text(), "It depends.".to_owned()];
        let reply: serde_json::Value = serde_json::from_str(&side_similarities(&texts)).unwrap();
        let rows = [[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
        assert_eq!(reply, json!({"similarity": rows}));
    }
}
