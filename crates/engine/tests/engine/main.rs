//! The engine at the level of its library: a store in memory, made-up models and a protocol of a few lines. Clocks are paused
//! where they matter, so that no test depends on how fast the machine is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod calls;
mod chains;
mod closing;
mod durability;
mod limits;
mod memory;
mod patience;
mod simulation;
mod stage;
mod warm_up;
