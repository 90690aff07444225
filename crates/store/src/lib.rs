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
//! - `kept`: what the store keeps beside the logs, as the rest of the program asks for it.
//! - `closing`: what a debate leaves behind when it closes, in the transaction that closes it.
//! - `knowledge`: what is known, and its search: `words`, `meaning`, and `hybrid`, which merges the two.
//! - `vectors`: what texts mean, in a quarter of the size.
//! - `memory`: what agents remember of the debates that they were in.
//! - `ratings`: how agents stand. `resolutions`: what became known after a debate.
//! - `deliveries`: results that are to go back to where their debates came from.
//! - `rebuild`: what is kept of debates, made again from their logs.
//! - `place`: where the store is, and what to tell a person when it cannot be used.
//!
//! What is absent: no debate is changed or judged here, and no clock is read. The store keeps bytes; the chain over them is
//! [`agon_core::event`]'s. What it keeps of a debate beside them comes from the outcome's lesson alone.

#![warn(missing_docs)]

mod catalog;
mod closing;
mod deliveries;
mod kept;
mod knowledge;
mod log;
mod memory;
mod owner;
mod place;
mod ratings;
mod rebuild;
mod resolutions;
mod schema;
mod search;
mod sqlite;
mod vectors;
mod writer;

pub use agon_evidence::calibration::{Resolution, Truth};
pub use agon_evidence::memory::Tier;
pub use agon_evidence::ratings::{Glicko, Point, Rating};
pub use catalog::{Health, Listed};
pub use closing::Receipt;
pub use deliveries::{Delivery, DeliveryState, NewDelivery, Next};
pub use knowledge::hybrid::{By, KnowledgeHit};
pub use knowledge::{Kind, Knowledge, NewKnowledge};
pub use memory::MemoryHit;
pub use ratings::Rated;
pub use rebuild::Rebuilt;
pub use resolutions::Resolved;
pub use search::{HIT_END, HIT_START, Hit};
pub use sqlite::{Answer, Sqlite};
