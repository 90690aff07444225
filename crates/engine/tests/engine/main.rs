//! Tests of the engine through its public API: a store in memory, scripted models and a protocol of a few lines. The clock is
//! paused where time matters, so no test depends on the speed of the machine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod ask_time_limits;
mod budget_limits;
mod calls;
mod closing_phases;
mod durability;
mod fallback_chains;
mod memory_store;
mod rounds_protocol;
mod scripted_models;
mod shared_budgets;
mod warm_up;
