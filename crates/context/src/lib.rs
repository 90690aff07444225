//! What a debate is told before it begins: what earlier debates found out, what its agents remember, and what is going on.
//!
//! All of it is asked for as any model is, so that the log has what came and a replay needs neither store nor network. Such an
//! ask is an *errand*: it is free, and no limit on calls counts it. What comes is other people's text. It is handed on as
//! data, and whoever puts it into a prompt quotes it.
//!
//! A tour, in reading order:
//!
//! - [`errand`]: the ask and the answer of every errand, as JSON.
//! - [`shelf`]: what knowledge and memories are to this crate, and what makes vectors of texts.
//! - [`context`]: `context/knowledge` and `context/memory`, and the vectors for entries that have none yet.
//! - [`pulse`]: `pulse/NAME`, a feed, a JSON document or a text. `pulse::config` is its section of `agon.toml`; `fetch` brings
//!   the bytes and `charset` makes text of them; `feed`, `json` and `text` find the entries in it, `entry` is one of them,
//!   `plain` makes plain words of HTML, `moment` reads dates, and `nearest` picks what is about the question.

#![warn(missing_docs)]

pub mod context;
pub mod errand;
pub mod pulse;
pub mod shelf;

pub use context::{Knowledge, Memory, index};
pub use errand::{Answer, Errand, Item, TurnedOut};
pub use pulse::{Pulse, PulseConfig};
pub use shelf::{Shelf, Vectors};
