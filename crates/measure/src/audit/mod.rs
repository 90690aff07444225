//! What a table of answers or rulings says about the models or judges in it.
//!
//! Models that make the same errors are worth less than their number, and so is a judge whose ruling depends on the order in
//! which it reads the answers. Both can be measured on any table of what they said.
//!
//! - [`AuditTable`]: a CSV file, gzipped or not.
//! - [`votes`]: models that answered the same questions. How many independent voices are they, what does a vote gain, and
//!   when are two of them enough?
//! - [`judges`]: judges that ruled on the same pairs in both orders.
//! - [`AuditError`]: what can be wrong with a table.
//!
//! The statistics are in the other modules of this crate.

mod answer_table;
mod audit_error;
mod audit_table;
mod bit_columns;
mod judge_figures;
pub mod judges;
mod ruling_table;
mod vote_figures;
pub mod votes;

pub use crate::intervals::{BootstrapOptions, FigureIntervals};
pub use audit_error::AuditError;
pub use audit_table::AuditTable;
pub use judges::{JudgeAudit, JudgeOptions, audit_judges};
pub use votes::{VoteAudit, VoteOptions, audit_votes};

/// The name of the column of right answers, unless the caller names another.
pub const GOLD_COLUMN: &str = "gold";

/// The cell of a question that was not asked. An empty cell is a question that was not answered.
const NOT_ASKED: &str = "-";

/// A warning if a table is too small for reliable figures.
fn small_sample_note(n: usize, what: &str) -> Option<String> {
    const FEW: usize = 30;
    (n < FEW).then(|| format!("Only {n} {what}: all figures and intervals are rough."))
}
