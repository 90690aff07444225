//! What each phase took.

use std::collections::BTreeMap;

use agon_core::{Debate, Reply, Turn};
use serde_json::{Value, json};

/// Calls, tokens and dollars by phase, in order; the share of the input that came from a provider's cache, and the share
/// that could have.
pub(super) fn cost(debate: &Debate) -> Value {
    let phases: Vec<Value> = paid(debate)
        .map(|turn| {
            let spent = debate.spent_where(|other| std::ptr::eq(other, turn));
            json!({
                "phase": turn.phase.name,
                "round": turn.phase.round,
                "calls": spent.calls,
                "input_tokens": spent.input_tokens,
                "cached_input_tokens": spent.cached_input_tokens,
                "output_tokens": spent.output_tokens,
                "usd": spent.usd_known.then_some(spent.usd),
            })
        })
        .collect();
    let all = debate.spent();
    let share = |tokens: u64| (all.input_tokens > 0).then(|| tokens as f64 / all.input_tokens as f64);
    json!({
        "rounds": phases,
        "cached_share": share(all.cached_input_tokens),
        "predicted_cached_share": share(cacheable(debate).min(all.input_tokens)),
    })
}

fn paid(debate: &Debate) -> impl Iterator<Item = &Turn> {
    debate.turns.iter().filter(|turn| !turn.inherited)
}

/// The input tokens that a perfect cache would have had already.
///
/// Prompts begin with what is the same for all seats, and each phase's with what the one before read. So of the answers
/// that one model gave in a phase, all but the first share what the shortest read, and the first shares what the shortest of
/// the phase before it read. What only one seat reads comes last, and is short: it makes this a bound from above.
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
