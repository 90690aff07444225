//! What each phase cost.

use std::collections::BTreeMap;

use agon_core::{Debate, PhaseTurn, Reply};
use serde::Serialize;

/// What each phase cost, and how well the cache was used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostEvidence {
    /// The phases, in order.
    pub rounds: Vec<PhaseCost>,
    /// The share of the input that came from a provider's cache.
    pub cached_share: Option<f64>,
    /// The share that a perfect cache would have served.
    pub predicted_cached_share: Option<f64>,
}

/// What one phase cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PhaseCost {
    /// The phase.
    pub phase: String,
    /// Its round.
    pub round: u32,
    /// The number of calls, including failed attempts.
    pub calls: u32,
    /// Input tokens.
    pub input_tokens: u64,
    /// Input tokens that came from a provider's cache.
    pub cached_input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// US dollars; null if a price is unknown.
    pub usd: Option<f64>,
}

pub(super) fn cost(debate: &Debate) -> CostEvidence {
    let phases = own_turns(debate).map(|turn| {
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
        predicted_cached_share: share(cacheable_tokens(debate).min(all.input_tokens)),
    }
}

/// The turns that this debate paid for: a branch inherits the others from its parent.
fn own_turns(debate: &Debate) -> impl Iterator<Item = &PhaseTurn> {
    debate.turns.iter().filter(|turn| !turn.inherited)
}

/// The input tokens that a perfect cache would have served.
///
/// All prompts of a phase begin with the same text, which begins with the text of the phase before. So a model's first call in a
/// phase can reuse at most the shortest prompt of the phase before, and each further call the shortest prompt of this phase. This
/// is an upper bound, because the end of each prompt is private.
fn cacheable_tokens(debate: &Debate) -> u64 {
    let mut shortest_before: BTreeMap<&str, u64> = BTreeMap::new();
    let mut tokens = 0_u64;
    for turn in own_turns(debate) {
        let mut inputs_of: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        // A call that was answered badly is repeated with the same beginning.
        let repeated = turn.attempts.iter().flat_map(|attempts| attempts.iter().rev().skip(1));
        let repeated = repeated.filter_map(|attempt| attempt.fault.as_ref());
        tokens = repeated.fold(tokens, |sum: u64, fault| sum.saturating_add(fault.usage.input_tokens));
        for (_, reply) in turn.settled() {
            if let Reply::Said { model, usage, .. } = reply {
                inputs_of.entry(model).or_default().push(usage.input_tokens);
            }
        }
        for (model, inputs) in inputs_of {
            let shortest = inputs.iter().copied().min().unwrap_or_default();
            let first = shortest_before.get(model).copied().unwrap_or_default().min(shortest);
            let further = shortest.saturating_mul(inputs.len() as u64 - 1);
            tokens = tokens.saturating_add(first).saturating_add(further);
            shortest_before.insert(model, shortest);
        }
    }
    tokens
}
