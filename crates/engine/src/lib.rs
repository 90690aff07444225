//! The driver: makes the calls that a protocol asks for, within the limits, and writes what happens to the log.
//!
//! The engine knows no vendor and no protocol by name. A tour, in reading order:
//!
//! - `model`: the [`Model`] trait. A call goes in; a completion or a fault comes out. Prices are here too.
//! - `store`: the [`Store`] trait. Records go in; when the store returns, they are durable.
//! - `run_control`: how a caller follows a running debate, speaks to it and stops it.
//! - `engine`: opens, starts and resumes debates; the settings and errors of all of them.
//! - `debate_run`: runs one debate, from the log it has so far to its end, in one task.
//! - `attempts`: takes one ask through its attempts: plan, reserve, send, handle the result, retry or settle.
//! - `ask_task`: the state of one ask, and how it becomes a call.
//! - `retry`: decides what follows an attempt, as a pure function of the attempts in the log.
//! - `model_chains`: the fallback models of a seat, and which of them are down.
//! - `answer_parsing`: turns a model's text into a value that conforms to the ask's schema.
//! - `budget`: reserves the worst case of every call before it starts, and keeps a share for the closing phases.
//! - `shared_budget`: the same for many debates together.
//! - `call_limits`: how many calls run at once. `warm_up`: which call of a phase starts first.
//! - `log_writer`: sends records to the store in few appends, and holds the lease of the debate.

mod answer_parsing;
mod ask_task;
mod attempts;
mod budget;
mod call_limits;
mod debate_run;
mod engine;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod log_writer;
mod model;
mod model_chains;
mod prepared_schema;
mod retry;
mod run_control;
mod shared_budget;
mod store;
mod warm_up;

pub use answer_parsing::answer_value;
pub use budget::deadline_left_ms;
pub use call_limits::{CallShares, PlaceClaim, PlaceGrant};
pub use engine::{Engine, EngineError, EngineSettings};
pub use model::{
    CallFault, CallFaultKind, CallMessage, DeltaSink, FinishReason, MessageRole, Model, ModelCall,
    ModelCompletion, ModelPrice, ModelSource,
};
pub use run_control::{DebateInbox, DebateWatch, StopSignal, TextDelta};
pub use shared_budget::{BudgetUse, SharedBudget, SharedLimits};
pub use store::{Store, StoreError};
