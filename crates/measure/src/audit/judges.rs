//! Judges that ruled on the same pairs of answers in both orders: does the order decide, are they right, do they err together?
//!
//! A judge NAME has two columns: `NAME_ab`, when the first answer of the pair was shown first, and `NAME_ba`, when the second
//! was. A cell names the answer that was preferred, by the same name in both columns: `1` or `2`, `A` or `B`, or any other
//! two words, of which the first in the alphabet is the first answer. How the rest is counted:
//!
//! | cell | is | order | right |
//! |---|---|---|---|
//! | `None`, `tie`, `neither`, `draw`, `equal` | a ruling for neither | consistent with another ruling for neither | no, unless it is the gold |
//! | empty | no ruling | consistent with nothing | no |
//! | `-` | not asked | the item does not count for this judge | |
//!
//! What is measured between judges compares rulings on the same pair in the same order: an error is a ruling that is not right in
//! its order. Errors are compared in items that all judges were asked; alpha takes whatever rulings there are.

mod figures;
mod rulings;

use crate::independence::Correlations;
use serde::Serialize;

use crate::audit::resampling::{few, threads};
use crate::audit::{Bootstrap, Intervals, Table, Trouble};

/// What to audit, and how.
#[derive(Debug, Clone)]
pub struct JudgeOptions {
    /// The column of the better answer; without a name, `gold` if there is one.
    pub gold: Option<String>,
    /// The column by which items are also looked at apart; without a name, `subset` if there is one.
    pub subset: Option<String>,
    /// How the column of the order ends in which the first answer was shown first.
    pub first_suffix: String,
    /// How that of the other order ends.
    pub second_suffix: String,
    /// What intervals are drawn from.
    pub bootstrap: Bootstrap,
    /// How many threads draw them; all cores unless told. The result does not depend on it.
    pub threads: Option<usize>,
}

impl Default for JudgeOptions {
    fn default() -> Self {
        Self {
            gold: None,
            subset: None,
            first_suffix: "_ab".into(),
            second_suffix: "_ba".into(),
            bootstrap: Bootstrap::default(),
            threads: None,
        }
    }
}

/// The audit of judges.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judges {
    /// The column of the better answers.
    pub gold: Option<String>,
    /// Over all items.
    #[serde(flatten)]
    pub all: Rulings,
    /// The same for each subset, in the order in which they first occur.
    pub subsets: Vec<Subset>,
    /// What the intervals are drawn from.
    pub bootstrap: Bootstrap,
    /// What else a reader should know.
    pub notes: Vec<String>,
}

/// The items that have the same in the column `subset`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Subset {
    /// What they have there.
    pub subset: String,
    /// What is found in them.
    #[serde(flatten)]
    pub rulings: Rulings,
}

/// What some items say of the judges.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rulings {
    /// How many items there are.
    pub items: usize,
    /// How many of them all judges were asked in both orders.
    pub common_items: usize,
    /// Each judge, in the order of the matrices.
    pub judges: Vec<Judge>,
    /// Krippendorff's alpha of their rulings (nominal): how far they agree beyond chance.
    pub alpha: Option<f64>,
    /// The mean correlation of the errors of two judges, where the better answers are known.
    pub mean_rho: Option<f64>,
    /// How many independent judges they count for.
    pub n_eff: Option<f64>,
    /// The error correlation of each pair; empty where the better answers are not known.
    pub correlation: Correlations,
    /// The share of rulings that are the same, of each pair.
    pub agreement: Vec<Vec<Option<f64>>>,
    /// 95% intervals of `alpha`, `mean_rho` and `n_eff`.
    pub intervals: Intervals,
}

/// What some items say of one judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judge {
    /// Its name.
    pub judge: String,
    /// How many items it was asked in both orders.
    pub items: usize,
    /// The share of them in which it prefers the same answer in both orders; `None` where there are none.
    pub order_consistency: Option<f64>,
    /// The share of rulings that prefer the answer shown first, less the share that prefer the one shown second.
    pub position_bias: Option<f64>,
    /// How often it is right, where that is known.
    pub accuracy: Option<Accuracy>,
    /// How many of its rulings prefer neither.
    pub neither: usize,
    /// How many of its rulings are missing.
    pub missing: usize,
    /// 95% intervals of `order_consistency`, `position_bias` and, as `accuracy.NAME`, of how often it is right.
    pub intervals: Intervals,
}

/// How often a judge is right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Accuracy {
    /// When the first answer is shown first.
    pub first_order: f64,
    /// When the second is.
    pub second_order: f64,
    /// The mean of the two.
    pub mean: f64,
    /// In both orders of an item.
    pub both: f64,
}

/// Audits a table of rulings.
pub fn judges(table: &Table, options: &JudgeOptions) -> Result<Judges, Trouble> {
    let read = rulings::Read::of(table, options)?;
    let threads = threads(options.threads);
    let audit = |items: &[usize]| figures::audit(&read, items, options.bootstrap, threads);
    let all = audit(&read.items);
    if let Some(idle) = all.judges.iter().find(|judge| judge.items == 0) {
        return Err(Trouble::NeverAsked(idle.judge.clone()));
    }
    let subset =
        |(name, items): &(String, Vec<usize>)| Subset { subset: name.clone(), rulings: audit(items) };
    Ok(Judges {
        all,
        subsets: read.subsets.iter().map(subset).collect(),
        bootstrap: options.bootstrap,
        gold: read.gold.as_ref().map(|(name, _)| name.clone()),
        notes: few(read.items.len(), "items").into_iter().chain(read.notes).collect(),
    })
}
