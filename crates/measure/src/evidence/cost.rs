//! What each phase took.

use std::collections::BTreeMap;

use agon_core::{Debate, PhaseTurn, Reply};
use serde::Serialize;

/// What each phase took, and how well the cache was used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostEvidence {
    /// The phases, in order.
    pub rounds: Vec<PhaseCost>,
    /// The share of the input that came from a provider's cache.
    pub cached_share: Option<f64>,
    /// The share that could have.
    pub predicted_cached_share: Option<f64>,
}

/// What one phase took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PhaseCost {
    /// The phase.
    pub phase: String,
    /// Its round.
    pub round: u32,
    /// Calls, every attempt counted.
    pub calls: u32,
    /// Tokens read.
    pub input_tokens: u64,
    /// Of those, tokens from a provider's cache.
    pub cached_input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// US dollars; null where a price is unknown.
    pub usd: Option<f64>,
}

pub(super) fn cost(debate: &Debate) -> CostEvidence {
    let phases = paid(debate).map(|turn| {
        let spent = debate.spent_where(|other| std::ptr::eq(other, turn));
        PhaseCost {
            phase: turn.phase.name.clone(),
            round: turn.phase.round,
            calls: spent.calls,
            input_tokens: spent.input_tokens,
            cached_input_tokens: spent.cached_input_tokens,
            output_tokens: spent.output_tokens,
            usd: spent.usd_known.then_some(spent.usd),
        }
    });
    let all = debate.spent();
    let share = |tokens: u64| (all.input_tokens > 0).then(|| tokens as f64 / all.input_tokens as f64);
    CostEvidence {
        rounds: phases.collect(),
        cached_share: share(all.cached_input_tokens),
        predicted_cached_share: share(cacheable(debate).min(all.input_tokens)),
    }
}

fn paid(debate: &Debate) -> impl Iterator<Item = &PhaseTurn> {
    debate.turns.iter().filter(|turn| !turn.inherited)
}

/// The input tokens that a perfect cache would already have had.
///
/// A prompt begins with what is the same for all seats, and a phase's prompts begin with those of the phase before. So all
/// but the first call of a model in a phase share the shortest prompt of that phase, and the first call shares the shortest of
/// the phase before. The private part at the end of a prompt makes this an upper bound.
fn cacheable(debate: &Debate) -> u64 {
    let mut known: BTreeMap<&str, u64> = BTreeMap::new();
    let mut tokens = 0;
    for turn in paid(debate) {
        let mut read: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for (_, reply) in turn.settled() {
            if let Reply::Said { model, usage, .. } = reply {
                read.entry(model).or_default().push(usage.input_tokens);
            }
        }
        for (model, inputs) in read {
            let least = inputs.iter().copied().min().unwrap_or_default();
            let first = known.get(model).copied().unwrap_or_default().min(least);
            tokens += first + least * (inputs.len() as u64 - 1);
            known.insert(model, least);
        }
    }
    tokens
}
