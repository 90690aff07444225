//! Seeded populations that play whole debates through the real engine, to see whether what is measured is what is there.
//!
//! Who simulates knows the truth and what moves each seat: how often it is right, changes its mind for no reason, follows the others
//! or evidence, and how often a judge takes what it is shown first. What the measures find in the logs of such debates can be held
//! against that. A tour, in reading order:
//!
//! - [`population`]: what is planted in the seats, and the one function by which a seat changes its mind.
//! - [`neutral`]: what debate does by itself to seats that only count what they hear.
//! - [`words`]: the question, its two answers, and how both are said.
//! - `reading`: what a seat sees, which is its prompt and nothing else; `world`: one trial; `player`: a seat as a model of the
//!   engine, with a file for each protocol.
//! - `sitting`: many debates of one kind, held by the engine; `shelf`: their logs.
//! - [`measure`]: from logs back to what was planted, each figure with its interval.
//! - [`bar`]: what the evidence bar of `review` stops.
//! - [`curve`]: how much one adversary costs each protocol.
//! - [`findings`]: all of it by one plan; [`mod@text`]: as a person reads it.

#![warn(missing_docs)]

pub mod bar;
pub mod curve;
pub mod findings;
pub mod measure;
pub mod neutral;
mod player;
pub mod population;
mod reading;
mod shelf;
mod sitting;
pub mod text;
pub mod words;
mod world;

pub use findings::{Findings, Plan, simulate};
pub use population::{Adversary, Population};
pub use sitting::{SimulateError, Sitting};
pub use text::text;
