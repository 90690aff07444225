//! The `evidence` section of an outcome: what the debate did, according to its log.
//!
//! The protocol tells who held which position in each round ([`PositionHistory`]). Everything here is computed from that and
//! from the calls in the log.
//!
//! - `movement`: the first positions, who changed, how far the seats agreed, what an earlier end would have decided.
//! - `track_record`: how independent and how well calibrated the agents are, according to earlier debates.
//! - `judging`: whether judges agree with each other, and with themselves when the order changes.
//! - `cost`: what each phase cost, and how much of the input came from a cache.

use agon_core::{Debate, PositionFate, PositionFlip, PositionGrouping, PositionHistory};
use serde::Serialize;

mod cost;
mod judging;
mod movement;
#[cfg(test)]
mod tests;
mod track_record;

pub use cost::{CostEvidence, PhaseCost};
pub use judging::{JudgeEvidence, OrderConsistency};
pub use movement::{
    CounterfactualVerdicts, FirstRound, HeldPosition, PositionCount, RoundAgreement, RoundVerdict, SeatFlips,
    SeatTrajectory,
};
pub use track_record::{
    AgentPair, CalibrationEvidence, IndependenceEvidence, SeatCalibration, SharedFamily, SharedModel,
};

/// What a debate did. This is the `evidence` object of the JSON outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// How it is known which positions are the same; null if no positions were taken.
    pub grouping: Option<PositionGrouping>,
    /// The first positions and a plain vote on them; null if no positions were taken.
    pub first_round: Option<FirstRound>,
    /// Every change of position.
    pub flips: Vec<PositionFlip>,
    /// How often each seat changed its position.
    pub flips_by_seat: Vec<SeatFlips>,
    /// How far the seats agreed after each round.
    pub agreement: Vec<RoundAgreement>,
    /// What each seat held after each round.
    pub trajectory: Vec<SeatTrajectory>,
    /// How independent the seats are.
    pub independence: IndependenceEvidence,
    /// Every first-round position and what became of it.
    pub dissent: Vec<PositionFate>,
    /// What the verdict would have been after each round.
    pub counterfactual: CounterfactualVerdicts,
    /// Whether judges agree; null without judges.
    pub judge: Option<JudgeEvidence>,
    /// Whether the seats' confidence is justified.
    pub calibration: CalibrationEvidence,
    /// What each phase cost.
    pub cost: CostEvidence,
}

/// Computes the evidence of a debate from its log and its positions.
pub fn evidence(debate: &Debate, positions: &PositionHistory) -> Evidence {
    let flips = positions.flips();
    Evidence {
        grouping: (!positions.rounds.is_empty()).then(|| positions.grouping()),
        first_round: movement::first_round(debate, positions),
        flips_by_seat: movement::flips_by_seat(debate, positions, &flips),
        agreement: movement::agreement_by_round(positions),
        trajectory: movement::trajectories(debate, positions),
        independence: track_record::independence(debate, positions),
        dissent: debate.outcome.as_ref().map(|outcome| outcome.positions.clone()).unwrap_or_default(),
        counterfactual: movement::counterfactual(debate, positions),
        judge: judging::judge_evidence(positions),
        calibration: track_record::calibration(debate, positions),
        cost: cost::cost(debate),
        flips,
    }
}
