//! The log on disk: SQLite in one file.
//!
//! [`Sqlite`] is the store that the engine writes to. When an append has answered, its records are on the disk, all of
//! them or none, and they stay there whatever happens to the process. A tour, in reading order:
//!
//! - `sqlite`: the store: opening, appending, loading, and the questions that the command line has.
//! - `schema`: the tables, and how a file of an earlier version becomes one of this version.
//! - `writer`: the one thread that writes. It commits all that is queued in one go, so that a thousand debates do not
//!   mean a thousand waits for the disk.
//! - `log`: what one append, lease or release does to the tables.
//! - `owner`: whose a debate is. An owner is alive as long as the system holds its file lock, so a process that is
//!   killed gives back all it has, at once and without any clock.
//! - `catalog`: which debates there are, and how the file is.
//! - `search`: full-text search. Its index catches up when somebody searches, so that a debate never waits for it.
//! - `place`: where the store is, and what to tell a person when it cannot be used.
//!
//! What is absent: no debate is read, changed or judged here. The store keeps bytes; the chain over them is
//! [`agon_core::event`]'s.

#![warn(missing_docs)]

mod catalog;
mod log;
mod owner;
mod place;
mod schema;
mod search;
mod sqlite;
mod writer;

pub use catalog::{Health, Listed};
pub use search::{HIT_END, HIT_START, Hit};
pub use sqlite::Sqlite;
