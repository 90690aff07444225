//! `agon mcp` from outside: the real binary, a client that speaks JSON-RPC, and scripts or a mock server for models.
//!
//! - `conversation`: the protocol: what there is, results, resources, prompts, tasks, cancellation.
//! - `lasting_debates`: calls that return early, clients that die, and what the next process finds.
//! - `seats`: the calling agent and people take seats.
//! - `served`: the same tools at `/mcp` of `agon serve`, behind its checks.
//! - `setup`: the configuration of clients.
//! - `official_clients`: the Python SDK and the inspector.
//! - `many_debates`: a hundred debates over one connection. Its figure is in `bench/README.md`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod conversation;
mod lasting_debates;
mod many_debates;
mod official_clients;
mod seats;
mod served;
mod setup;
mod support;
