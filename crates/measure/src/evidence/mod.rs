//! The `evidence` section of an outcome: what the debate did, from its log alone.
//!
//! The protocol says who held what in each round ([`PositionHistory`]). Everything here is arithmetic over that and over
//! the calls in the log.
//!
//! - `movement`: the first positions, who changed, how far the seats agreed, what an earlier end would have decided.
//! - `voices`: how independent the seats are, and how well calibrated.
//! - `judging`: whether judges agree, with themselves in another order and with each other.
//! - `cost`: what each phase took, and how much of the input a cache could have had and had.

use agon_core::{Debate, PositionFate, PositionFlip, PositionGrouping, PositionHistory};
use serde::Serialize;

mod cost;
mod judging;
mod movement;
#[cfg(test)]
mod tests;
mod voices;

pub use cost::{CostEvidence, PhaseCost};
pub use judging::{JudgeEvidence, OrderConsistency};
pub use movement::{
    Counterfactual, FirstRound, HeldPosition, PositionCount, RoundAgreement, RoundVerdict, SeatFlips,
    SeatTrajectory,
};
pub use voices::{
    AgentPair, CalibrationEvidence, IndependenceEvidence, SeatCalibration, SharedFamily, SharedModel,
};

/// What a debate did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// How it is known which positions are the same; null where none were taken.
    pub grouping: Option<PositionGrouping>,
    /// The first positions and what a plain vote on them gives; null where none were taken.
    pub first_round: Option<FirstRound>,
    /// Every change of position.
    pub flips: Vec<PositionFlip>,
    /// How often each seat changed.
    pub flips_by_seat: Vec<SeatFlips>,
    /// How far the seats agreed after each round.
    pub agreement: Vec<RoundAgreement>,
    /// What each seat held after each round.
    pub trajectory: Vec<SeatTrajectory>,
    /// How independent the voices are.
    pub independence: IndependenceEvidence,
    /// Every first-round position and what became of it.
    pub dissent: Vec<PositionFate>,
    /// What an earlier end would have decided.
    pub counterfactual: Counterfactual,
    /// Whether judges agree; null where nobody judged.
    pub judge: Option<JudgeEvidence>,
    /// How well confidence was earned.
    pub calibration: CalibrationEvidence,
    /// What each phase took.
    pub cost: CostEvidence,
}

/// Measures a debate by who held what in it.
pub fn evidence(debate: &Debate, positions: &PositionHistory) -> Evidence {
    let flips = positions.flips();
    Evidence {
        grouping: (!positions.rounds.is_empty()).then_some(positions.grouping),
        first_round: movement::first_round(debate, positions),
        flips_by_seat: movement::flips_by_seat(positions, &flips),
        agreement: movement::agreement_by_round(positions),
        trajectory: movement::trajectories(positions),
        independence: voices::independence(debate, positions),
        dissent: debate.outcome.as_ref().map(|outcome| outcome.positions.clone()).unwrap_or_default(),
        counterfactual: movement::counterfactual(debate, positions, &flips),
        judge: judging::judge_evidence(positions),
        calibration: voices::calibration(debate, positions),
        cost: cost::cost(debate),
        flips,
    }
}
