//! The store, as issue 2 describes it: "SQLite in one file, created on first use; events hash-chained; durable; a single
//! writer with group commit; a lease; a schema version, and migrations."

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod catalog;
mod debates;
mod file;
mod group;
mod interleaving;
mod lease;
mod log;
mod processes;
mod search;
