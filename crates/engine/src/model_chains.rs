//! The models of a seat: one, or a fallback chain `a/x|b/y`. And what the log says about them: which are down, and which
//! have answered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_core::debate::CallAttempt;
use agon_core::{AbsenceReason, Ask, Debate, DebateLimits, Invalid, PhaseTurn, Protocol, Reply};

use crate::ask_task::AskTask;
use crate::budget::PhaseLimits;
use crate::call_limits::{CallLimiter, ProviderLimit};
use crate::{Model, ModelPrice, ModelSource};

/// The models of a seat, in the order in which they are tried. Never empty.
pub(crate) type ModelChain = Arc<[Arc<ChainModel>]>;

pub(crate) struct ChainModel {
    /// The name in the log.
    pub(crate) name: String,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) limit: ProviderLimit,
}

/// Resolves the model names of one debate, each name once.
pub(crate) struct ChainResolver<'a> {
    models: &'a dyn ModelSource,
    limiter: &'a CallLimiter,
    needs_prices: bool,
    resolved: BTreeMap<String, ModelChain>,
}

impl<'a> ChainResolver<'a> {
    pub(crate) fn new(models: &'a dyn ModelSource, limiter: &'a CallLimiter, limits: &DebateLimits) -> Self {
        Self { models, limiter, needs_prices: limits.usd.is_some(), resolved: BTreeMap::new() }
    }

    /// The chain with this name, or a sentence that says why there is none.
    pub(crate) fn resolve(&mut self, name: &str) -> Result<ModelChain, Invalid> {
        if let Some(chain) = self.resolved.get(name) {
            return Ok(chain.clone());
        }
        let mut models: Vec<Arc<ChainModel>> = Vec::new();
        for part in name.split('|').map(str::trim) {
            if part.is_empty() {
                return Err(Invalid(format!(
                    "{name:?} is not a model: write provider/model, or a chain like openai/x|ollama/y"
                )));
            }
            if !models.iter().any(|model| model.name == part) {
                models.push(Arc::new(self.resolve_one(part)?));
            }
        }
        let chain: ModelChain = models.into();
        self.resolved.insert(name.to_owned(), chain.clone());
        Ok(chain)
    }

    /// Adds the models to asks, each of which comes with its index in the phase.
    pub(crate) fn resolve_asks(
        &mut self,
        asks: impl Iterator<Item = (usize, Ask)>,
    ) -> Result<Vec<AskTask>, Invalid> {
        asks.map(|(index, ask)| self.resolve(&ask.model).map(|chain| AskTask::new(ask, index, chain)))
            .collect()
    }

    fn resolve_one(&self, name: &str) -> Result<ChainModel, Invalid> {
        let model = self.models.model(name)?;
        if self.needs_prices && model.price() == ModelPrice::Unknown {
            return Err(Invalid(format!(
                "the price of {name} is unknown, so a budget in dollars cannot be enforced: {}, or omit the budget",
                how_to_set_price(name)
            )));
        }
        let limit = self.limiter.provider(model.provider(), model.at_once());
        Ok(ChainModel { name: name.to_owned(), model, limit })
    }
}

/// How the user sets the price of a model. The tokens of a command are not counted, so it can only be declared free.
fn how_to_set_price(name: &str) -> String {
    match name.strip_prefix("command/") {
        Some(command) => {
            format!("if it costs nothing, set `free = true` under [commands.{command}] in agon.toml")
        }
        None => format!(
            "add it to [prices] in agon.toml (\"{name}\" = {{ input = 1.0, output = 4.0 }}, US dollars per million tokens)"
        ),
    }
}

/// The models that an ask of an earlier phase gave up on, because they were unreachable or did not answer in time. A model
/// that has answered in a later phase is no longer down.
///
/// The current phase does not count. Which of its calls ends first is chance, and a resumed debate must choose the same
/// models.
pub(crate) fn models_down<'a>(protocol: &dyn Protocol, debate: &'a Debate) -> BTreeSet<&'a str> {
    let mut down = BTreeSet::new();
    let Some((_, earlier)) = debate.turns.split_last() else { return down };
    for turn in earlier {
        for model in asks_of(turn).filter_map(|(attempts, reply)| answering_model(attempts, reply)) {
            down.remove(model);
        }
        let limits = &debate.brief.limits;
        let deadline_ms = PhaseLimits::of_phase(protocol, limits, Some(&turn.phase)).deadline_ms;
        // At the deadline, calls end that might have been answered. That says nothing about their models.
        let met_deadline = deadline_ms.is_some_and(|deadline_ms| turn.ended_at_ms >= deadline_ms);
        for (attempts, reply) in asks_of(turn) {
            let no_response = matches!(
                reply,
                Some(Reply::Absent { why: AbsenceReason::Unreachable | AbsenceReason::TimedOut, .. })
            );
            down.extend(silent_models(attempts, no_response && !met_deadline));
        }
    }
    down
}

/// Whether an answer of this model was accepted in this debate.
pub(crate) fn has_answered(debate: &Debate, model: &str) -> bool {
    let mut asks = debate.turns.iter().flat_map(asks_of);
    asks.any(|(attempts, reply)| answering_model(attempts, reply) == Some(model))
}

fn asks_of(turn: &PhaseTurn) -> impl Iterator<Item = (&[CallAttempt], Option<&Reply>)> {
    turn.attempts.iter().map(Vec::as_slice).zip(turn.replies.iter().map(Option::as_ref))
}

fn answering_model<'a>(attempts: &'a [CallAttempt], reply: Option<&Reply>) -> Option<&'a str> {
    let has_reply = matches!(reply, Some(Reply::Said { .. }));
    attempts.last().filter(|_| has_reply).map(|attempt| attempt.model.as_str())
}

/// The models that gave no response before the ask moved to another model, or before it gave up. A refusal or a malformed
/// answer is a response.
fn silent_models(attempts: &[CallAttempt], gave_up: bool) -> impl Iterator<Item = &str> {
    attempts.iter().enumerate().filter_map(move |(index, attempt)| {
        let moved_on = attempts.get(index + 1).map_or(gave_up, |next| next.model != attempt.model);
        let silent =
            matches!(attempt.fault.as_ref()?.why, AbsenceReason::Unreachable | AbsenceReason::TimedOut);
        (moved_on && silent).then_some(attempt.model.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_where_to_set_the_price() {
        assert!(how_to_set_price("openai/x").contains("[prices] in agon.toml (\"openai/x\""));
        let command = how_to_set_price("command/agent");
        assert!(command.contains("`free = true` under [commands.agent]") && !command.contains("[prices]"));
    }
}
