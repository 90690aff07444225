//! Deliveries, from outside: parcels in an outbox, and what becomes of them over loopback, on the disk and with programs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod callbacks;
mod chats;
mod files;
mod hooks;
#[cfg(unix)]
mod programs;
mod server;
mod things;
