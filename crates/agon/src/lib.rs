//! The faces of Agon. There is one so far: the command line.
//!
//! Nothing here knows a rule of debate. Verbs, flags, help, completions and the man page derive from two tables:
//! [`agon_protocols::PROTOCOLS`] and [`cli::verbs::VERBS`]. A tour, in reading order:
//!
//! - [`cli`]: the command, how it is read and how it is run.
//! - [`cli::verbs`]: one verb, one file.
//! - [`cli::args`] and [`cli::limits`]: the options that verbs share; [`cli::config`]: the same from `agon.toml`.
//! - [`cli::opening`]: from what a person asked for to the brief that opens a debate.
//! - [`cli::desk`], [`cli::run`], [`cli::show`]: what a debate is run with, running it, showing it.
//! - [`cli::verify`]: whether a log is as it was written; [`cli::ndjson`]: the log as lines.
//! - [`cli::dry_run`] and [`cli::batch`]: a debate that is only reckoned, and many at once.
//! - [`cli::pull`]: the files of embedded models, fetched; [`cli::machine`]: what is here of them, and which programs.
//! - [`cli::input`], [`cli::output`], [`cli::write`], [`cli::place`], [`cli::signals`], [`cli::aside`], [`cli::clock`],
//!   [`cli::id`]: everything that touches the world outside.
//! - [`cli::failure`]: what can go wrong, in one shape.

#![warn(missing_docs)]

pub mod cli;
