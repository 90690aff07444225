//! Protocols on questions with known answers: does a debate answer better than one model, than many samples of it, or than a plain
//! vote, and at what cost?
//!
//! Nothing here makes a call or touches a file. The caller holds each trial as a debate and passes what was read from its log. A tour,
//! in reading order:
//!
//! - [`dataset`]: questions with gold answers, from lines of JSON.
//! - [`arms`]: what is compared: `single`, `self-consistency`, `vote`, and any protocol.
//! - [`plan`]: every arm on every question.
//! - [`mod@grade`]: the answer of a debate, and whether it is right. [`grading`]: how a clerk grades what arithmetic cannot.
//! - [`results`]: the results file, from which an interrupted run continues.
//! - [`findings`]: accuracy and cost with 95% intervals, paired tests, and whether debate helped.
//! - [`report`]: the findings as text and as a plot.

pub mod arms;
pub mod dataset;
pub mod findings;
pub mod grade;
pub mod grading;
pub mod plan;
pub mod report;
pub mod results;

pub use arms::{ArmKind, EvalArm, EvalRequest, default_arms};
pub use dataset::{EvalDataset, EvalQuestion};
pub use findings::EvalFindings;
pub use grade::TrialGrade;
pub use grading::{GRADING, find_grading, grading_brief};
pub use plan::{EvalPlan, EvalTrial};
pub use report::{eval_report, eval_svg};
pub use results::{ResultRow, StoredResults};
