//! Measures over logs and tables.
//!
//! Every figure is arithmetic over a log or a table. None comes from a model's opinion of itself.
//!
//! One debate:
//!
//! - [`mod@evidence`]: the `evidence` section of the outcome.
//!
//! Many debates:
//!
//! - [`resolved`]: which first positions were right, once a person says what was right.
//! - [`calibration`]: whether confidence is justified.
//! - [`ratings`]: how agents do against each other.
//! - [`memory`]: how long a memory lasts.
//!
//! Tables of answers, from debates or anywhere else:
//!
//! - [`audit`]: what a table of answers or rulings says about the models or judges in it.
//!
//! The statistics that these share:
//!
//! - [`agreement`]: how far raters agree.
//! - [`independence`]: how many independent voices a panel has.
//! - [`intervals`]: how certain a figure is.
//! - [`majority_vote`]: how often a majority vote is right, as closed forms.

#![warn(missing_docs)]

pub mod agreement;
pub mod audit;
pub mod calibration;
pub mod evidence;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod independence;
pub mod intervals;
pub mod majority_vote;
pub mod memory;
pub mod ratings;
pub mod resolved;

pub use evidence::{Evidence, evidence};
