//! A model that answers as a member of a population would, in the words and fields of the protocol that asks.
//!
//! It keeps nothing between two calls: what it holds, it reads in its prompt, and what it draws comes from the trial's seed and the
//! name of the call. So the order in which calls are made cannot matter, and a debate that is resumed goes on as it would have.

use std::sync::Arc;

use agon_core::{Invalid, Usage};
use agon_engine::{Call, Completion, Fault, FaultKind, Finish, Model, Models, Price};
use agon_protocols::lexical;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::words::{FABRICATED, Side};
use crate::world::World;

mod arena;
mod council;
mod deep;
mod panel;
mod review;

/// The provider of all simulated seats.
const PROVIDER: &str = "population";
/// Where `arena` looks up how alike proposals are.
const LIKENESS: &str = "embeddings/lexical";

/// The model of the seat at this place, counted from 0.
pub(crate) fn model_of(place: usize) -> String {
    format!("{PROVIDER}/{}", place + 1)
}

/// The model of somebody who holds no position: a moderator, a chair, a judge.
pub(crate) fn model_of_role(role: &str) -> String {
    format!("{PROVIDER}/{role}")
}

/// Everybody who plays in one trial.
pub(crate) struct Cast {
    pub(crate) world: Arc<World>,
}

impl Models for Cast {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        if name == LIKENESS {
            return Ok(Arc::new(Likeness));
        }
        let who = name.strip_prefix(PROVIDER).and_then(|rest| rest.strip_prefix('/'));
        let who = who.ok_or_else(|| Invalid(format!("{name} does not play in simulated debates")))?;
        let place = who.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        Ok(Arc::new(Player { name: name.to_owned(), place, world: self.world.clone() }))
    }
}

/// One seat.
pub(crate) struct Player {
    name: String,
    /// `None` for those who hold no position.
    place: Option<usize>,
    world: Arc<World>,
}

impl Player {
    /// What it says to this call; `None` where it does not know what is asked.
    fn answer(&self, call: &Call) -> Option<String> {
        let said = match self.world.protocol {
            "deep" => return deep::answer(self, call),
            "panel" => panel::answer(self, call),
            "council" => council::answer(self, call),
            "arena" => arena::answer(self, call),
            _ => review::answer(self, call),
        };
        said.map(|value| value.to_string())
    }

    /// What the seat holds before it has read anybody.
    fn first(&self) -> Option<Side> {
        Some(self.world.first(self.place?))
    }

    fn is_adversary(&self) -> bool {
        self.place.is_some_and(|place| self.world.is_adversary(place))
    }

    /// The position as this seat states it.
    fn stated(&self, side: Side) -> String {
        match self.is_adversary() {
            true => format!("{} {FABRICATED}", side.text()),
            false => side.text(),
        }
    }

    /// How sure it says it is: one figure for all, so that nobody is heard by his tone but the adversary.
    fn confidence(&self) -> f64 {
        if self.is_adversary() { 0.99 } else { 0.7 }
    }

    fn confidence_word(&self) -> &'static str {
        if self.is_adversary() { "HIGH" } else { "MEDIUM" }
    }
}

impl Model for Player {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        PROVIDER
    }

    fn price(&self) -> Price {
        Price::Free
    }

    fn call<'a>(
        &'a self,
        call: &'a Call,
        _: Option<agon_engine::Deltas<'a>>,
    ) -> BoxFuture<'a, Result<Completion, Fault>> {
        let answer = self.answer(call);
        let unknown = || {
            let (phase, protocol) = (&call.phase.name, self.world.protocol);
            Fault::new(
                FaultKind::Rejected,
                format!("a simulated seat has no answer to {phase} of {protocol}"),
            )
        };
        let result = answer.ok_or_else(unknown).map(|text| completion(text, &self.name));
        async move { result }.boxed()
    }
}

fn completion(text: String, model: &str) -> Completion {
    let usage = Usage { output_tokens: text.len() as u64 / 4, ..Usage::default() };
    Completion { text, model: model.to_owned(), usage, finish: Finish::End, shortened: None }
}

/// How alike texts are, by their words: an errand, as it is where debates are held in earnest.
struct Likeness;

impl Model for Likeness {
    fn name(&self) -> &str {
        LIKENESS
    }

    fn provider(&self) -> &str {
        "embeddings"
    }

    fn price(&self) -> Price {
        Price::Free
    }

    fn is_errand(&self) -> bool {
        true
    }

    fn call<'a>(
        &'a self,
        call: &'a Call,
        _: Option<agon_engine::Deltas<'a>>,
    ) -> BoxFuture<'a, Result<Completion, Fault>> {
        let asked = call.messages.last().map_or("", |message| message.text.as_str());
        let texts: Vec<String> = serde_json::from_str(asked).unwrap_or_default();
        let row = |one: &String| -> Vec<f64> { texts.iter().map(|other| alike(one, other)).collect() };
        let rows: Vec<Vec<f64>> = texts.iter().map(row).collect();
        let answer: Value = json!({"similarity": rows});
        let result = Ok(completion(answer.to_string(), LIKENESS));
        async move { result }.boxed()
    }
}

fn alike(one: &str, other: &str) -> f64 {
    if one == other { 1.0 } else { lexical::similarity(one, other).clamp(0.0, 1.0) }
}
