//! Protocols tried on questions with known answers: does a debate answer better than one model, than many samples of it, than a
//! plain vote, and at what cost?
//!
//! Nothing here makes a call or touches a file: the caller holds each trial as a debate and gives back its outcome document. A
//! tour, in reading order:
//!
//! - [`dataset`]: questions with gold answers, from lines of JSON.
//! - [`arms`]: what is tried: `single`, `self-consistency`, `vote`, and any protocol.
//! - [`plan`]: every arm on every question, in an order in which a part is fair too.
//! - [`grade`]: the answer in an outcome document, and whether it is right.
//! - [`results`]: the file of results, by which a run that was broken off goes on.
//! - [`findings`]: accuracy and cost with 95% intervals, paired tests, and whether debating helped.

#![warn(missing_docs)]

pub mod arms;
pub mod dataset;
pub mod findings;
pub mod grade;
pub mod plan;
pub mod results;

pub use arms::{Arm, Kind, Wanted};
pub use dataset::{Dataset, Question};
pub use findings::Findings;
pub use grade::grade;
pub use plan::{Plan, Trial};
pub use results::{Kept, Row};
