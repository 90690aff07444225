//! Reports as people and pipelines read them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod browser;
mod chromium;
mod comments;
mod evidence;
mod excerpts;
mod files;
mod gates;
mod hostile;
mod live;
mod protocols;
mod samples;
mod sentences;
mod terminal;
