//! Models that answered the same questions: how many independent voices they are, what a vote gains, when two are enough.
//!
//! Only questions count that all chosen models were asked. `-` in a cell is a question that was not asked; an empty cell is
//! an answer that was not given: it does not vote, counts as wrong, agrees with nobody, and breaks unanimity. The plurality
//! is the answer that most give. Of several it is that of the best single model, if it gave one of them, else the first in
//! alphabetical order. The best single model is the one that is right most often, by name among equals.
//!
//! Intervals draw questions. Who the best single model is stays as it is in the whole table.

mod ballots;
mod figures;
mod gates;
mod packed;

use std::collections::BTreeMap;

use crate::independence::Correlations;
use serde::Serialize;

use crate::audit::resampling::threads;
use crate::audit::{Bootstrap, Intervals, Table, Trouble};

pub use gates::{AskedGate, Gate};

/// What to audit, and how.
#[derive(Debug, Clone, Default)]
pub struct VoteOptions {
    /// The column of the right answers; without a name, `gold` if there is one.
    pub gold: Option<String>,
    /// The columns of the models; without any, every column but that of the right answers and those that say which
    /// question it is. Those are: a column without a name, one that ends in `_id`, and, in any case, [`NO_MODELS`].
    pub models: Vec<String>,
    /// Two models whose agreement ends the asking.
    pub gate: Vec<String>,
    /// What intervals are drawn from.
    pub bootstrap: Bootstrap,
    /// How many threads draw them; all cores unless told. The result does not depend on it.
    pub threads: Option<usize>,
}

/// The column of the right answers, unless another is named.
pub const GOLD: &str = "gold";

/// Names of columns that are not taken for models, in any case of letters.
pub const NO_MODELS: [&str; 23] = [
    "id",
    "item",
    "index",
    "idx",
    "row",
    "number",
    "no",
    "key",
    "question",
    "prompt",
    "task",
    "subset",
    "category",
    "subject",
    "topic",
    "split",
    "source",
    "difficulty",
    "gold",
    "answer",
    "label",
    "target",
    "truth",
];

/// The audit of a vote. Without right answers there is no [`Accuracy`], and a gate has no accuracy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Votes {
    /// How many questions count.
    pub questions: usize,
    /// How many rows the table has.
    pub rows: usize,
    /// The models, in the order of all lists and matrices.
    pub models: Vec<String>,
    /// The column of the right answers.
    pub gold: Option<String>,
    /// How often they are right, alone and together.
    #[serde(flatten)]
    pub right: Option<Accuracy>,
    /// The share of questions to which all gave the same answer.
    pub unanimous: f64,
    /// The share of pairs that gave the same answer, over all questions.
    pub pairwise_agreement: f64,
    /// The mean entropy of the answers to a question, in bits.
    pub entropy: f64,
    /// The share of questions where several answers have most votes.
    pub tied: f64,
    /// The share of questions to which both gave the same answer; with itself, to which it gave one at all.
    pub agreement: Vec<Vec<f64>>,
    /// What it would do to ask each pair first, and the others only when it disagrees.
    pub gates: Vec<Gate>,
    /// The one that was asked for.
    pub gate: Option<AskedGate>,
    /// 95% intervals of all figures above by name, but those of the gates.
    pub intervals: Intervals,
    /// What the intervals are drawn from.
    pub bootstrap: Bootstrap,
    /// What else a reader should know.
    pub notes: Vec<String>,
}

/// What can be said where the right answers are known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Accuracy {
    /// The mean error correlation of two models; `None` where all but one are always right or always wrong.
    pub mean_rho: Option<f64>,
    /// How many independent voices they count for.
    pub n_eff: Option<f64>,
    /// How often the best of them is right.
    pub best_single: f64,
    /// Which one that is.
    pub best_single_model: String,
    /// How often their plurality is right.
    pub plurality: f64,
    /// How much more often than the best.
    pub gain: f64,
    /// How likely a difference at least so great is if both are equally good: McNemar's exact test.
    pub gain_p: f64,
    /// How often at least one of them is right.
    pub oracle: f64,
    /// How often a unanimous answer is right; `None` where none is unanimous.
    pub correct_when_unanimous: Option<f64>,
    /// How often each is right.
    pub accuracy: BTreeMap<String, f64>,
    /// 95% intervals of these.
    pub accuracy_intervals: Intervals,
    /// The error correlation of each pair; `None` where one of the two is always right or always wrong.
    pub correlation: Correlations,
}

/// Audits a table of answers.
pub fn votes(table: &Table, options: &VoteOptions) -> Result<Votes, Trouble> {
    let ballots = ballots::Ballots::read(table, options)?;
    let asked = gates::asked(&ballots.models, &options.gate)?;
    Ok(figures::audit(ballots, asked, options.bootstrap, threads(options.threads)))
}
