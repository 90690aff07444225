//! What a debate did, measured over its log.
//!
//! Every figure here is arithmetic over the log; none is a model's opinion of itself. [`mod@section`] is the `evidence`
//! section of the outcome. What is kept over many debates is measured by
//!
//! - [`past`]: what became of the first positions, once it is known what was right.
//! - [`ratings`]: who does well against whom.
//! - [`calibration`]: whether those who were sure were right.
//! - [`memory`]: how long something is remembered.

#![warn(missing_docs)]

pub mod calibration;
pub mod memory;
pub mod past;
pub mod ratings;
pub mod section;

pub use section::section;
