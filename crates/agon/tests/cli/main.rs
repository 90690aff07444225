//! The command line from outside: the real binary, a store of its own for each test, and scripts for models.
//!
//! - `manual`: what a person sees, as snapshots that read as a manual.
//! - `wrong_input`: wrong input of every kind.
//! - `streams`: what goes to stdout and what to stderr.
//! - `kept`: debates that are kept: export, verify, replay, branch, save.
//! - `forged`: verify on what somebody changed; `branches`: what a branch takes over; `stores`: stores that are named,
//!   full, or only to be read.
//! - `interruption`: Ctrl-C, kill -9, two processes, and going on afterwards.
//! - `batch`: many debates.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod batch;
mod branches;
mod forged;
#[cfg(unix)]
mod interruption;
mod kept;
mod manual;
mod stores;
mod streams;
mod support;
mod wrong_input;
