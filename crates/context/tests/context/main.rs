//! The errands of a debate, tested from outside: a call goes in, an answer or a fault comes out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod hostile_sources;
mod knowledge_context;
mod pulse_faults;
mod pulse_formats;
mod support;
mod test_server;
mod tools;
