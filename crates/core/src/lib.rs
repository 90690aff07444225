//! What a debate is.
//!
//! A debate is its log, and a [`Protocol`] is a pure function from the log to the next [`Step`]. This crate
//! holds both ideas and nothing else: it never waits, and it reads no clock, no environment and no file. A
//! test fails if its dependency tree gains a runtime, an HTTP client or a database.
//!
//! A tour, in reading order:
//!
//! - [`brief`]: what a debate is opened with: question, seats, options, limits.
//! - [`ask`]: one question to one seat, with its prompt and the schema of its answer.
//! - [`reply`]: what came back: words, or an absence with its reason; what it cost.
//! - [`event`]: the log's events and the hash chain over them.
//! - [`debate`]: the log folded into what protocols and reports read.
//! - [`protocol`]: the contract of a protocol, and how a debate advances.
//! - [`stand`]: who held what in each round, and what follows from that for every protocol alike.
//! - [`lesson`]: what later debates may know of one; [`history`]: how those who sit did in earlier ones.
//! - [`options`]: the table of a protocol's options and how a user's values are checked against it.
//! - [`fence`]: how untrusted text is quoted, and how anonymity is kept.
//! - [`calendar`]: dates by arithmetic.
//! - [`seed`]: shuffles and draws that are the same every time.
//! - [`play`]: a whole debate without any I/O: replay, branches, dry runs and the laws.
//! - [`document`]: the JSON outcome that every face of Agon prints.

#![warn(missing_docs)]

pub mod ask;
pub mod brief;
pub mod calendar;
pub mod debate;
pub mod document;
pub mod event;
pub mod fence;
pub mod history;
pub mod lesson;
pub mod options;
pub mod play;
pub mod protocol;
pub mod reply;
pub mod seed;
pub mod stand;

pub use ask::{Ask, Asked, Exchange, Phase, Prompt, Schema, Thread};
pub use brief::{Artifact, Brief, LOG_VERSION, Limits, Parent, Request, Seat};
pub use debate::{Debate, Interjection, Spent, Turn};
pub use event::{Event, Record};
pub use fence::{Fence, Quotation, quotations};
pub use lesson::Lesson;
pub use options::{Invalid, Kind, Opt};
pub use protocol::{
    Advance, Body, Check, Corrupt, Fate, Fidelity, Outcome, Position, Protocol, Saved, Status, Step, Summary,
    Template, Termination, advance,
};
pub use reply::{Absence, Reply, Shortened, Usage};
pub use stand::{Change, Flip, Grouping, Held, Marks, Stand, Stands};
