//! Measures over logs and tables.
//!
//! Every figure is arithmetic over a log or a table; none is a model's opinion of itself.
//!
//! Over one debate: [`mod@evidence`], the `evidence` section of the outcome.
//!
//! Over many debates:
//!
//! - [`resolved`]: how first positions did, once it is known what was right.
//! - [`ratings`]: who does well against whom.
//! - [`calibration`]: whether confidence was earned.
//! - [`memory`]: how long something is remembered.
//!
//! Over many answers, from debates or any table:
//!
//! - [`audit`]: what a table of answers or rulings says about those who gave them.
//! - [`independence`]: how many independent voices a panel has.
//! - [`agreement`]: how far judges of the same things agree.
//! - [`chance`]: what a vote would do by chance alone.
//! - [`interval`]: how far a figure can be trusted.

#![warn(missing_docs)]

pub mod agreement;
pub mod audit;
pub mod calibration;
pub mod chance;
pub mod evidence;
pub mod independence;
pub mod interval;
pub mod memory;
pub mod ratings;
pub mod resolved;

pub use evidence::{Evidence, evidence};
