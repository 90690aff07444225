//! The driver: makes the calls that a protocol asks for, within the limits, and writes what happens to the log.
//!
//! The engine knows no vendor and no protocol by name. A tour, in reading order:
//!
//! - [`model`]: what a model is to the engine: a call goes in, a completion or a fault comes out.
//! - [`store`]: what a store is to the engine: records go in, and are durable when it answers.
//! - [`watch`]: how a face follows a debate while it runs, without ever slowing it.
//! - `engine`: opens, starts and resumes debates; what holds for all of them.
//! - `run`: one debate from its log so far to its end, in one task.
//! - `attempt`: what happens to one ask: plan, reserve, send, judge what came, try again or settle. `slot` is the ask on its way.
//! - `retry`: what to do after an attempt, as a pure function of the attempts in the log; `standing`: which models are down.
//! - `repair`: from a model's words to a value of the ask's schema.
//! - `budget`: the worst case of a call is reserved before it leaves; `allowance`: how much of the limits a phase may use.
//! - `gate`: how many calls are under way at once; `warm_up`: which of them goes ahead; `chain`: the models behind a seat.
//! - `journal`: the way of records to the store, in few appends; `lease`: a debate that this process has to itself.
//! - `stop`: how a person ends a debate in order; `error`: why one did not get to its end.

mod allowance;
mod attempt;
mod budget;
mod chain;
mod charge;
mod engine;
mod error;
mod gate;
mod journal;
mod lease;
pub mod model;
mod patience;
mod repair;
mod retry;
mod run;
mod slot;
mod standing;
mod stop;
pub mod store;
mod warm_up;
pub mod watch;

pub use engine::{Engine, Settings};
pub use error::EngineError;

pub use model::{Call, Completion, Deltas, Fault, FaultKind, Finish, Message, Model, Models, Price, Role};
pub use stop::Stop;
pub use store::{Store, StoreError};
pub use watch::{Delta, Watch};
