//! The models behind a seat: one, or a fallback chain `a/x|b/y`.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_core::{Ask, Invalid, Limits};

use crate::gate::{Gate, Lane};
use crate::slot::Slot;
use crate::{Model, Models, Price};

/// One model of a chain.
pub(crate) struct Link {
    /// As the log names it.
    pub(crate) name: String,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) lane: Lane,
}

/// A seat's models, in the order in which they are tried; never empty.
pub(crate) type Chain = Arc<[Arc<Link>]>;

/// The chains of one debate, each resolved once.
pub(crate) struct Chains<'a> {
    models: &'a dyn Models,
    gate: &'a Gate,
    priced: bool,
    known: BTreeMap<String, Chain>,
}

impl<'a> Chains<'a> {
    pub(crate) fn new(models: &'a dyn Models, gate: &'a Gate, limits: &Limits) -> Self {
        Self { models, gate, priced: limits.usd.is_some(), known: BTreeMap::new() }
    }

    /// The chain of this name, or a sentence that says why there is none.
    pub(crate) fn resolve(&mut self, name: &str) -> Result<Chain, Invalid> {
        if let Some(chain) = self.known.get(name) {
            return Ok(chain.clone());
        }
        let mut links: Vec<Arc<Link>> = Vec::new();
        for part in name.split('|').map(str::trim) {
            if part.is_empty() {
                return Err(Invalid(format!(
                    "{name:?} is not a model: write provider/model, or a chain like openai/x|ollama/y"
                )));
            }
            if !links.iter().any(|link| link.name == part) {
                links.push(Arc::new(self.link(part)?));
            }
        }
        let chain: Chain = links.into();
        self.known.insert(name.to_owned(), chain.clone());
        Ok(chain)
    }

    /// The asks of a phase, each with its place there and its models.
    pub(crate) fn seat(&mut self, placed: impl Iterator<Item = (usize, Ask)>) -> Result<Vec<Slot>, Invalid> {
        placed
            .map(|(place, ask)| self.resolve(&ask.model).map(|chain| Slot::new(ask, place, chain)))
            .collect()
    }

    fn link(&self, name: &str) -> Result<Link, Invalid> {
        let model = self.models.model(name)?;
        if self.priced && model.price() == Price::Unknown {
            return Err(Invalid(format!(
                "the price of {name} is not known, so a budget in dollars cannot be kept: {}, or leave the budget away",
                price_told(name)
            )));
        }
        let lane = self.gate.lane(model.provider(), model.at_once());
        Ok(Link { name: name.to_owned(), model, lane })
    }
}

/// How a person says what a model costs. Nobody counts a program's tokens, so that only "nothing" can be said of one.
fn price_told(name: &str) -> String {
    match name.strip_prefix("command/") {
        Some(program) => {
            format!("if it costs nothing, say `free = true` under [commands.{program}] in agon.toml")
        }
        None => format!(
            "add it to [prices] in agon.toml (\"{name}\" = {{ input = 1.0, output = 4.0 }}, US dollars per million tokens)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_says_where_a_price_is_told() {
        assert!(price_told("openai/x").contains("[prices] in agon.toml (\"openai/x\""));
        let program = price_told("command/agent");
        assert!(program.contains("`free = true` under [commands.agent]") && !program.contains("[prices]"));
    }
}
