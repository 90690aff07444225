//! Debates that run on workers: `agon worker` serves them, and other verbs submit them.
//!
//! Restate schedules, and the store has the truth. A debate that is submitted becomes a workflow, which runs it in bounded legs on any
//! worker. Nothing but how a leg ended is in Restate's journal, so a worker, the server or a connection may die at any time: the next leg
//! reads the log and goes on.
//!
//! - [`debate_workflow`]: the workflow of a debate. [`legs`]: one leg of it.
//! - [`worker_endpoint`]: where a worker listens, and how it is made known to Restate.
//! - [`restate_client`]: Restate's HTTP interface. [`remote_debates`]: submitting a debate and following it;
//!   [`followed_debates`] finds out when one is over.
//! - [`debate_allowances`]: a budget over many debates.

pub mod debate_allowances;
pub mod debate_workflow;
pub mod followed_debates;
pub mod legs;
pub mod remote_debates;
pub mod restate_client;
pub mod settings;
pub mod worker_endpoint;
