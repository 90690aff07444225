//! The driver: makes the calls that a protocol asks for, within the limits, and writes what happens to the log.
//!
//! The engine knows no vendor and no protocol by name. A tour, in reading order:
//!
//! - [`model`]: what a model is to the engine: a call goes in, a completion or a fault comes out.
//! - [`store`]: what a store is to the engine: records go in, and are durable when it answers.
//! - [`watch`]: how a face follows a debate while it runs, without ever slowing it.

pub mod model;
pub mod store;
pub mod watch;

pub use model::{Call, Completion, Deltas, Fault, FaultKind, Finish, Message, Model, Models, Price, Role};
pub use store::{Store, StoreError};
pub use watch::{Delta, Watch};
