//! The store, as issue 2 describes it: "SQLite in one file, created on first use; events hash-chained; durable; a single
//! writer with group commit; a lease; a schema version, and migrations."
//!
//! And what it keeps after a debate, as issue 6 describes it: "one transaction for outcome, memory, knowledge and ratings."

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod catalog;
mod closing;
mod debates;
mod deliveries;
mod file;
mod group;
mod interleaving;
mod knowledge;
mod lease;
mod lessons;
mod log;
mod meaning;
mod memory;
mod processes;
mod ratings;
mod rebuild;
mod resolutions;
mod search;
