//! What a debate did, measured over its log.
//!
//! Every figure here is arithmetic over the log; none is a model's opinion of itself. [`mod@section`] is the `evidence`
//! section of the outcome. What is kept over many debates is measured by
//!
//! - [`past`]: what became of the first positions, once it is known what was right.
//! - [`ratings`]: who does well against whom.
//! - [`calibration`]: whether those who were sure were right.
//! - [`memory`]: how long something is remembered.
//!
//! and what is measured over many answers, here and wherever else people or models answered the same questions, by
//!
//! - [`independence`]: how many voices a panel really has.
//! - [`agreement`]: how far those who judged the same things agree.
//! - [`chance`]: what a vote would do by chance alone.
//! - [`interval`]: how far a figure can be trusted.

#![warn(missing_docs)]

pub mod agreement;
pub mod calibration;
pub mod chance;
pub mod independence;
pub mod interval;
pub mod memory;
pub mod past;
pub mod ratings;
pub mod section;

pub use section::section;
