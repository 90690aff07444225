//! The errands of a debate, from outside: an ask goes in, an answer or a fault comes out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod context;
mod faults;
mod formats;
mod hostile;
mod server;
mod things;
