//! What a table of answers, or of rulings, says about those who gave them.
//!
//! A panel is worth less than its number where its members err together, and a judge less where it rules by the order in
//! which it is shown things. Both can be measured on any table of what they said, whoever made it. A tour, in reading order:
//!
//! - [`Table`]: a CSV file, also a gzipped one.
//! - [`votes`]: models that answered the same questions. How many independent voices they are, what a vote gains, when two
//!   of them are enough.
//! - [`judges`]: judges that ruled on the same pairs in both orders.
//! - `resampling`: the intervals of all figures, on all cores, the same on any number of them.
//! - [`Trouble`]: what can be wrong with a table, in sentences.
//!
//! The statistics themselves are in the other modules of this crate.

pub mod judges;
mod resampling;
mod table;
mod trouble;
pub mod votes;

pub use judges::{JudgeOptions, Judges, judges};
pub use resampling::{Bootstrap, Intervals};
pub use table::Table;
pub use trouble::Trouble;
pub use votes::{VoteOptions, Votes, votes};
