//! Names of the first edition, until their last users are gone.
#![allow(missing_docs)]

pub mod eval {
    pub use crate::eval::{
        ArmKind as Kind, EvalArm as Arm, EvalDataset as Dataset, EvalFindings as Findings, EvalPlan as Plan,
        EvalQuestion as Question, EvalRequest as Wanted, EvalTrial as Trial, ResultRow as Row,
        StoredResults as Kept,
    };
}

pub mod simulate {
    pub use crate::simulate::{
        SimulatedAdversary as Adversary, SimulatedPopulation as Population, SimulationFindings as Findings,
        SimulationPlan as Plan,
    };
}
