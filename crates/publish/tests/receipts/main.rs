//! Receipts through the public API: what they contain, what changes are noticed, and how keys are kept.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod canonical_json;
mod changes;
mod issuing;
mod keyring;
mod other_versions;
#[path = "../played_debate/mod.rs"]
mod played_debate;
mod sample_debate;
mod tampering;
