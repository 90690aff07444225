//! Whole experiments: runs of `eval` with scripted replies, and simulations through the real engine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod eval_report;
mod eval_run;
mod simulate_findings;
mod simulate_recovery;
mod simulate_text;
