//! The `evidence` section of an outcome: what the debate did, from its log alone.
//!
//! The protocol says who held what in each round ([`Protocol::stands`]); everything here is arithmetic over that and over
//! the calls in the log.
//!
//! - `movement`: the first positions, who changed, how far the seats agreed, what an earlier end would have said.
//! - `voices`: how independent those who sat are, and how well calibrated.
//! - `judging`: whether judges agree, with themselves in another order and with each other.
//! - `cost`: what each phase took, and how much of the input a cache could have had and had.

use agon_core::{Debate, Protocol, Stands};
use serde_json::{Value, json};

mod cost;
mod judging;
mod movement;
mod voices;

/// The `evidence` section of a debate's outcome.
pub fn section(protocol: &dyn Protocol, debate: &Debate) -> Value {
    // A log that the protocol cannot read has no outcome to measure either; what it cost is still known.
    let stands = protocol.stands(debate).unwrap_or_default();
    of_stands(debate, &stands)
}

/// The same where it is known already who held what.
pub fn of_stands(debate: &Debate, stands: &Stands) -> Value {
    let flips = stands.flips();
    let taken = !stands.rounds.is_empty();
    json!({
        "grouping": taken.then_some(stands.grouping),
        "first_round": movement::first_round(debate, stands),
        "flips": &flips,
        "flips_by_seat": movement::by_seat(stands, &flips),
        "agreement": movement::agreed(stands),
        "trajectory": movement::trajectory(stands),
        "independence": voices::independence(debate, stands),
        "dissent": debate.outcome.as_ref().map_or(&[][..], |outcome| &outcome.positions),
        "counterfactual": movement::counterfactual(debate, stands, &flips),
        "judge": judging::judge(stands),
        "calibration": voices::calibration(debate, stands),
        "cost": cost::cost(debate),
    })
}

#[cfg(test)]
mod tests;
