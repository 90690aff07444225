//! What a debate did, measured over its log.
//!
//! Every figure here is arithmetic over the log; none is a model's opinion of itself. [`section`] is the `evidence`
//! section of the outcome. What is kept over many debates is measured by
//!
//! - [`ratings`]: who does well against whom.
//! - [`calibration`]: whether those who were sure were right.
//! - [`memory`]: how long something is remembered.
//!
//! and what is measured over many answers, here and wherever else people or models answered the same questions, by
//!
//! - [`independence`]: how many voices a panel really has.
//! - [`agreement`]: how far those who judged the same things agree.
//! - [`chance`]: what a vote would do by chance alone.
//! - [`interval`]: how far a figure can be trusted.

#![warn(missing_docs)]

pub mod agreement;
pub mod calibration;
pub mod chance;
pub mod independence;
pub mod interval;
pub mod memory;
pub mod ratings;

use agon_core::Debate;
use serde_json::{Value, json};

/// The `evidence` section of a debate's outcome: the fate of every first-round position, and what each phase cost.
pub fn section(debate: &Debate) -> Value {
    json!({
        "dissent": debate.outcome.as_ref().map_or(&[][..], |outcome| &outcome.positions),
        "cost": cost(debate),
    })
}

/// Calls, tokens and dollars by phase, in order, and the share of the input that came from a provider's cache.
fn cost(debate: &Debate) -> Value {
    let phases: Vec<Value> = debate
        .turns
        .iter()
        .filter(|turn| !turn.inherited)
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
    let share = (all.input_tokens > 0).then(|| all.cached_input_tokens as f64 / all.input_tokens as f64);
    json!({"rounds": phases, "cached_share": share})
}
