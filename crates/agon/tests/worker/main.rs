//! Debates on workers: the real program, a real Restate server, and a mock of the models' server that counts.
//!
//! Without a Restate server (`AGON_RESTATE` names its program) the tests say so and pass; with `AGON_WORKERS=required` they fail.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

#[allow(dead_code, reason = "the benchmark uses the rest")]
mod cluster;
mod people;
mod submitting;
