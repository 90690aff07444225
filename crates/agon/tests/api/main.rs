//! `agon serve` from outside: the real binary, its own store, and plain HTTP.
//!
//! - `debates`: opening, listing, reading, and what can be done with a debate.
//! - `event_streams`: the log as server-sent events.
//! - `people`: seats of people.
//! - `restarts`: kill -9, SIGTERM, and other processes on the same store.
//! - `chat`: debates as models, in OpenAI's format.
//! - `telemetry`: what a collector receives from a server.
//! - `access`: who may do what, and the limits of the whole server.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod access;
mod chat;
mod debates;
mod event_streams;
#[path = "../cli/otlp_receiver.rs"]
mod otlp_receiver;
mod people;
mod restarts;
mod support;
mod telemetry;
