//! Former names of public items, for crates that do not use the new ones yet.

pub use crate::engine::EngineSettings as Settings;
pub use crate::model::{
    CallFault as Fault, CallFaultKind as FaultKind, CallMessage as Message, DeltaSink as Deltas,
    FinishReason as Finish, MessageRole as Role, ModelCall as Call, ModelCompletion as Completion,
    ModelPrice as Price, ModelSource as Models,
};
pub use crate::run_control::{DebateWatch as Watch, StopSignal as Stop, TextDelta as Delta};

impl Price {
    #[doc(hidden)]
    pub fn of(&self, usage: &agon_core::Usage) -> Option<f64> {
        self.cost_usd(usage)
    }
}

impl Stop {
    #[doc(hidden)]
    pub fn is_asked(&self) -> bool {
        self.is_stopped()
    }
}
