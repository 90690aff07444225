//! Judges that ruled on the same pairs of answers in both orders: does the order decide, are they right, do they err together?
//!
//! A judge NAME has two columns: `NAME_ab`, where the first answer of the pair is shown first, and `NAME_ba`, where the second
//! is. A cell names the preferred answer, with the same name in both columns: `1` or `2`, `A` or `B`, or any other two words,
//! of which the first in alphabetical order is the first answer. Other cells:
//!
//! | cell | meaning | consistent with | right |
//! |---|---|---|---|
//! | `None`, `tie`, `neither`, `draw`, `equal` | a ruling for neither | another ruling for neither | no, unless gold says so |
//! | empty | no ruling | nothing | no |
//! | `-` | not asked | the item does not count for this judge | |
//!
//! Figures between judges compare rulings on the same pair in the same order: an error is a ruling that is not right in its
//! order. Errors are compared on items that all judges were asked; alpha uses all rulings.

use serde::Serialize;

use super::judge_figures::measure_rulings;
use super::ruling_table::RulingTable;
use super::{AuditError, AuditTable, BootstrapOptions, FigureIntervals, small_sample_note};
use crate::independence::CorrelationMatrix;
use crate::intervals::thread_count;

/// Audits a table of rulings.
pub fn audit_judges(table: &AuditTable, options: &JudgeOptions) -> Result<JudgeAudit, AuditError> {
    let rulings = RulingTable::read(table, options)?;
    let threads = thread_count(options.threads);
    let measure = |items: &[usize]| measure_rulings(&rulings, items, options.bootstrap, threads);
    let all = measure(&rulings.items);
    if let Some(idle) = all.judges.iter().find(|judge| judge.items == 0) {
        return Err(AuditError::NeverAsked(idle.judge.clone()));
    }
    let subsets = rulings.subsets.iter();
    let subsets =
        subsets.map(|(subset, items)| RulingSubset { subset: subset.clone(), rulings: measure(items) });
    Ok(JudgeAudit {
        gold: rulings.gold.as_ref().map(|(name, _)| name.clone()),
        all,
        subsets: subsets.collect(),
        bootstrap: options.bootstrap,
        notes: small_sample_note(rulings.items.len(), "items").into_iter().chain(rulings.notes).collect(),
    })
}

/// What to audit, and how.
#[derive(Debug, Clone)]
pub struct JudgeOptions {
    /// The column of the better answers. Default: `gold`, if it exists.
    pub gold: Option<String>,
    /// The column that divides the items into subsets, which are also audited separately. Default: `subset`, if it exists.
    pub subset: Option<String>,
    /// The ending of the columns where the first answer is shown first.
    pub first_suffix: String,
    /// The ending of the columns where the second answer is shown first.
    pub second_suffix: String,
    /// How intervals are drawn.
    pub bootstrap: BootstrapOptions,
    /// How many threads to use. Default: one per core. The result does not depend on it.
    pub threads: Option<usize>,
}

impl Default for JudgeOptions {
    fn default() -> Self {
        Self {
            gold: None,
            subset: None,
            first_suffix: "_ab".into(),
            second_suffix: "_ba".into(),
            bootstrap: BootstrapOptions::default(),
            threads: None,
        }
    }
}

/// The audit of judges.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeAudit {
    /// The column of the better answers.
    pub gold: Option<String>,
    /// The figures over all items.
    #[serde(flatten)]
    pub all: RulingFigures,
    /// The figures of each subset, in the order of their first items.
    pub subsets: Vec<RulingSubset>,
    /// How the intervals were drawn.
    pub bootstrap: BootstrapOptions,
    /// What else a reader should know.
    pub notes: Vec<String>,
}

/// The items with the same value in the `subset` column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RulingSubset {
    /// That value.
    pub subset: String,
    /// The figures over these items.
    #[serde(flatten)]
    pub rulings: RulingFigures,
}

/// The figures over some items.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RulingFigures {
    /// The number of items.
    pub items: usize,
    /// The number of items that all judges were asked in both orders.
    pub common_items: usize,
    /// The judges, in the order of the matrices.
    pub judges: Vec<JudgeFigures>,
    /// Krippendorff's nominal alpha: how far the judges agree beyond chance.
    pub alpha: Option<f64>,
    /// The mean error correlation of two judges, if the better answers are known.
    pub mean_rho: Option<f64>,
    /// How many independent judges they are worth.
    pub n_eff: Option<f64>,
    /// The error correlation of each pair; empty if the better answers are unknown.
    pub correlation: CorrelationMatrix,
    /// For each pair, the share of rulings that are the same.
    pub agreement: Vec<Vec<Option<f64>>>,
    /// 95% intervals of `alpha`, `mean_rho` and `n_eff`.
    pub intervals: FigureIntervals,
}

/// One judge's figures over some items.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeFigures {
    /// The judge's name.
    pub judge: String,
    /// The number of items that it was asked in both orders.
    pub items: usize,
    /// The share of items on which it prefers the same answer in both orders.
    pub order_consistency: Option<f64>,
    /// The share of rulings for the answer shown first minus the share for the answer shown second.
    pub position_bias: Option<f64>,
    /// How often it is right, if the better answers are known.
    pub accuracy: Option<JudgeAccuracy>,
    /// The number of rulings for neither.
    pub neither: usize,
    /// The number of missing rulings.
    pub missing: usize,
    /// 95% intervals of `order_consistency`, `position_bias` and, as `accuracy.NAME`, of `accuracy`.
    pub intervals: FigureIntervals,
}

/// How often a judge is right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct JudgeAccuracy {
    /// When the first answer is shown first.
    pub first_order: f64,
    /// When the second answer is shown first.
    pub second_order: f64,
    /// The mean of the two.
    pub mean: f64,
    /// In both orders of the same item.
    pub both: f64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn try_audit(text: &str, options: &JudgeOptions) -> Result<JudgeAudit, AuditError> {
        audit_judges(&AuditTable::read(text.as_bytes()).unwrap(), options)
    }

    fn audit(text: &str) -> JudgeAudit {
        try_audit(text, &JudgeOptions::default()).unwrap()
    }

    fn first_judge(text: &str) -> JudgeFigures {
        audit(text).all.judges.remove(0)
    }

    /// The table in the module's documentation.
    #[test]
    fn each_kind_of_cell_counts_as_documented() {
        let consistency = |first: &str, second: &str| {
            first_judge(&format!("gold,J_ab,J_ba\n1,{first},{second}\n2,1,2\n")).order_consistency
        };
        assert_eq!(consistency("1", "1"), Some(0.5));
        assert_eq!(consistency("None", "tie"), Some(0.5), "two rulings for neither are the same");
        assert_eq!(consistency("None", "1"), Some(0.0));
        assert_eq!(consistency("", ""), Some(0.0), "two missing rulings are not consistent");
        let judge = first_judge("gold,J_ab,J_ba\n1,-,1\n2,2,2\n1,None,\n");
        assert_eq!(
            (judge.items, judge.order_consistency, judge.neither, judge.missing),
            (2, Some(0.5), 1, 1)
        );
        let accuracy = judge.accuracy.unwrap();
        assert_eq!((accuracy.first_order, accuracy.second_order, accuracy.both), (0.5, 0.5, 0.5));
    }

    #[test]
    fn a_judge_that_always_prefers_what_is_shown_first_has_a_bias_of_one() {
        let first = first_judge("gold,J_ab,J_ba\n1,1,2\n2,1,2\n1,1,2\n");
        assert_eq!((first.position_bias, first.order_consistency), (Some(1.0), Some(0.0)));
        assert_eq!(first.accuracy.unwrap().both, 0.0);
        let last = first_judge("gold,J_ab,J_ba\n1,2,1\n2,2,1\n");
        assert_eq!(last.position_bias, Some(-1.0));
        let fair = first_judge("gold,J_ab,J_ba\n1,2,2\n2,1,1\n");
        assert_eq!((fair.position_bias, fair.order_consistency), (Some(0.0), Some(1.0)));
    }

    #[test]
    fn answers_may_have_any_two_names() {
        let rows = "1,1,2\n2,2,2\n";
        let expected = audit(&format!("gold,J_ab,J_ba\n{rows}"));
        for (first, second) in [("A", "B"), ("a", "B"), ("alpha", "beta")] {
            // In this order, because no name contains a digit.
            let renamed = rows.replace('1', first).replace('2', second);
            assert_eq!(audit(&format!("gold,J_ab,J_ba\n{renamed}")), expected);
        }
        assert_eq!(first_judge("J_ab,J_ba\nB,B\n").position_bias, Some(0.0));
    }

    #[test]
    fn judges_with_the_same_rulings_are_one_voice() {
        let figures = audit("gold,J_ab,J_ba,K_ab,K_ba\n1,1,2,1,2\n2,2,2,2,2\n1,2,2,2,2\n").all;
        assert_eq!((figures.alpha, figures.mean_rho, figures.n_eff), (Some(1.0), Some(1.0), Some(1.0)));
        assert_eq!(figures.correlation, vec![vec![Some(1.0); 2]; 2]);
        assert_eq!(figures.agreement, vec![vec![Some(1.0); 2]; 2]);
    }

    #[test]
    fn without_gold_only_order_and_agreement_are_measured() {
        let audit = audit("J_ab,J_ba,K_ab,K_ba\n1,2,1,1\n2,2,2,2\n");
        let judge = &audit.all.judges[0];
        assert_eq!((&audit.gold, audit.all.mean_rho, judge.accuracy), (&None, None, None));
        assert!(audit.all.alpha.is_some() && audit.all.correlation.is_empty());
        assert!(audit.notes[1].contains("--gold"));
        assert_eq!(judge.intervals.keys().collect::<Vec<_>>(), ["order_consistency", "position_bias"]);
    }

    #[test]
    fn subsets_keep_their_order_and_items_without_gold_are_skipped() {
        let audit = audit("subset,gold,J_ab,J_ba\nz,1,1,1\na,1,1,2\nz,2,2,2\na,,1,1\n");
        let sizes: Vec<_> = audit.subsets.iter().map(|s| (s.subset.as_str(), s.rulings.items)).collect();
        assert_eq!((sizes, audit.all.items), (vec![("z", 2), ("a", 1)], 3));
        assert_eq!(audit.notes[1..], ["Skipped 1 of 4 rows, which do not say which answer is better."]);
    }

    #[test]
    fn the_column_endings_can_be_changed() {
        let (first_suffix, second_suffix) = (".1".into(), ".2".into());
        let options = JudgeOptions { first_suffix, second_suffix, ..JudgeOptions::default() };
        let audit = try_audit("gold,J.1,J.2\n1,1,2\n", &options).unwrap();
        assert_eq!(audit.all.judges[0].judge, "J");
    }

    #[test]
    fn invalid_requests_are_refused_with_a_reason() {
        let none = JudgeOptions::default;
        for (text, options, sentence) in [
            ("gold,J\n1,1\n", none(), "has no judges: each judge has two columns, NAME_ab"),
            ("gold,J_ab\n1,1\n", none(), "has a column \"J_ab\" and none named \"J_ba\""),
            ("gold,J_ba\n1,1\n", none(), "has a column \"J_ba\" and none named \"J_ab\""),
            ("gold,J_ab,J_ba\n1,2,oops\n", none(), "more than two answers: \"1\", \"2\", \"oops\""),
            ("gold,J_ab,J_ba\nx,x,x\n", none(), "no two answers to rule between, only \"x\""),
            ("gold,J_ab,J_ba,K_ab,K_ba\n1,2,1,-,1\n", none(), "no item that \"K\" was asked in both orders"),
            ("J_ab,J_ba\n1,2\n", JudgeOptions { gold: Some("g".into()), ..none() }, "no column \"g\""),
            ("J_ab,J_ba\n1,2\n", JudgeOptions { subset: Some("s".into()), ..none() }, "no column \"s\""),
            (
                "J_ab,J_ba\n1,2\n",
                JudgeOptions { first_suffix: "_ba".into(), ..none() },
                "two different endings",
            ),
        ] {
            let error = try_audit(text, &options).unwrap_err();
            assert!(error.to_string().contains(sentence), "{error}");
        }
    }

    proptest! {
        #[test]
        fn figures_are_within_bounds_and_do_not_depend_on_threads(
            rows in proptest::collection::vec(
                proptest::collection::vec(proptest::sample::select(vec!["1", "2", "None", "", "-"]), 6), 1..25)
        ) {
            let lines: String = rows.iter().map(|row| format!("1,{}\n", row.join(","))).collect();
            let table = format!("gold,J_ab,J_ba,K_ab,K_ba,L_ab,L_ba\n{lines}2,1,2,1,1,2,1\n");
            let run = |threads| {
                let bootstrap = BootstrapOptions { resamples: 30, seed: 3 };
                let threads = Some(threads);
                try_audit(&table, &JudgeOptions { bootstrap, threads, ..JudgeOptions::default() }).unwrap()
            };
            let audit = run(1);
            prop_assert_eq!(&audit, &run(3));
            for judge in &audit.all.judges {
                let (consistency, bias) = (judge.order_consistency.unwrap(), judge.position_bias.unwrap());
                prop_assert!((0.0..=1.0).contains(&consistency) && bias.abs() <= 1.0 - consistency + 1e-9);
                let accuracy = judge.accuracy.unwrap();
                prop_assert!(accuracy.both <= accuracy.first_order.min(accuracy.second_order) + 1e-12);
            }
        }
    }
}
