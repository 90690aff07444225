//! Deliveries through the public API: an outbox in memory, and receivers on loopback, on the disk and in programs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod callbacks;
mod chats;
mod files;
mod hooks;
mod memory_outbox;
#[path = "../played_debate/mod.rs"]
mod played_debate;
#[cfg(unix)]
mod programs;
mod test_server;
