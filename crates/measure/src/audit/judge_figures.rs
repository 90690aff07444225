//! The figures of judges, over some items and over resamples of them.

use super::judges::{JudgeAccuracy, JudgeFigures, RulingFigures};
use super::ruling_table::{JudgeRuling, RulingTable};
use super::{BootstrapOptions, FigureIntervals};
use crate::agreement::{AlphaTally, MeasurementLevel};
use crate::independence::{CorrelationMatrix, effective_voices, mean_correlation, phi_from_counts};
use crate::intervals::{name_intervals, share_interval};

/// The figures of one judge, in the order of [`ItemRulings::judge_values`].
const JUDGE_FIGURES: [&str; 6] = [
    "order_consistency",
    "position_bias",
    "accuracy.first_order",
    "accuracy.second_order",
    "accuracy.mean",
    "accuracy.both",
];
/// The figures between judges, in the order of [`ItemRulings::panel_values`].
const PANEL_FIGURES: [&str; 3] = ["alpha", "mean_rho", "n_eff"];

pub(super) fn measure_rulings(
    table: &RulingTable,
    items: &[usize],
    bootstrap: BootstrapOptions,
    threads: usize,
) -> RulingFigures {
    let rulings = ItemRulings::new(table, items);
    let whole = vec![1; items.len()];
    let mut drawn =
        bootstrap.intervals(items.len(), threads, |counts| rulings.all_values(counts)).into_iter();
    let judge = |(name, pairs): (&&str, &Vec<Option<RulingPair>>)| {
        let values = rulings.judge_values(pairs, &whole);
        let asked = pairs.iter().flatten().count();
        let drawn = drawn.by_ref().take(JUDGE_FIGURES.len()).zip(values).zip(JUDGE_FIGURES);
        let intervals = drawn.map(|((drawn, value), name)| match name {
            "position_bias" => drawn,
            _ => share_interval(drawn, value, asked),
        });
        judge_figures(name, pairs, values, name_intervals(JUDGE_FIGURES, intervals))
    };
    let judges: Vec<JudgeFigures> = rulings.names.iter().zip(&rulings.pairs).map(judge).collect();
    let [alpha, mean_rho, n_eff] = rulings.panel_values(&whole).map(known);
    RulingFigures {
        items: items.len(),
        common_items: rulings.common.len(),
        judges,
        alpha,
        mean_rho,
        n_eff,
        correlation: if rulings.has_gold { rulings.correlation_matrix(&whole) } else { Vec::new() },
        agreement: rulings.agreement_matrix(),
        intervals: name_intervals(PANEL_FIGURES, drawn),
    }
}

fn judge_figures(
    name: &str,
    pairs: &[Option<RulingPair>],
    values: [f64; JUDGE_FIGURES.len()],
    intervals: FigureIntervals,
) -> JudgeFigures {
    let [order_consistency, position_bias, first_order, second_order, mean, both] = values.map(known);
    let accuracy = || {
        let (first_order, second_order) = (first_order?, second_order?);
        Some(JudgeAccuracy { first_order, second_order, mean: mean?, both: both? })
    };
    let count_of = |wanted: JudgeRuling| {
        pairs.iter().flatten().flat_map(|pair| pair.rulings).filter(|ruling| *ruling == wanted).count()
    };
    JudgeFigures {
        judge: name.to_owned(),
        items: pairs.iter().flatten().count(),
        order_consistency,
        position_bias,
        accuracy: accuracy(),
        neither: count_of(JudgeRuling::Neither),
        missing: count_of(JudgeRuling::Missing),
        intervals,
    }
}

fn known(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// A judge's rulings on one item in both orders, and whether each is right.
#[derive(Clone, Copy)]
struct RulingPair {
    rulings: [JudgeRuling; 2],
    right: [bool; 2],
}

impl RulingPair {
    fn is_consistent(&self) -> bool {
        let [first, second] = self.rulings;
        first == second && first != JudgeRuling::Missing
    }

    /// The number of rulings for the answer shown first minus the number for the answer shown second.
    fn lean_to_first_shown(&self) -> f64 {
        let [first, second] = self.rulings;
        let lean = |ruling: JudgeRuling| match ruling {
            JudgeRuling::First => 1.0,
            JudgeRuling::Second => -1.0,
            JudgeRuling::Neither | JudgeRuling::Missing => 0.0,
        };
        // In the second order, the second answer is shown first.
        lean(first) - lean(second)
    }
}

/// The rulings on some of the items.
struct ItemRulings<'a> {
    names: Vec<&'a str>,
    /// For each judge, its rulings on each item; `None` if it was not asked.
    pairs: Vec<Vec<Option<RulingPair>>>,
    /// The places of the items that all judges were asked.
    common: Vec<usize>,
    has_gold: bool,
}

impl<'a> ItemRulings<'a> {
    fn new(table: &'a RulingTable, items: &[usize]) -> Self {
        let gold = |row: usize| table.gold.as_ref().and_then(|(_, gold)| gold.get(row).copied().flatten());
        let pair = |rulings: &[Option<[JudgeRuling; 2]>], row: usize| {
            let rulings = rulings.get(row).copied().flatten()?;
            Some(RulingPair { rulings, right: rulings.map(|ruling| Some(ruling) == gold(row)) })
        };
        let pairs: Vec<Vec<Option<RulingPair>>> = table
            .judges
            .iter()
            .map(|(_, rulings)| items.iter().map(|row| pair(rulings, *row)).collect())
            .collect();
        let all_asked =
            |place: &usize| pairs.iter().all(|pairs| pairs.get(*place).is_some_and(Option::is_some));
        Self {
            names: table.judges.iter().map(|(name, _)| name.as_str()).collect(),
            common: (0..items.len()).filter(all_asked).collect(),
            pairs,
            has_gold: table.gold.is_some(),
        }
    }

    /// The values of each judge, then those between judges.
    fn all_values(&self, counts: &[u32]) -> Vec<f64> {
        let of_judges = self.pairs.iter().flat_map(|pairs| self.judge_values(pairs, counts));
        of_judges.chain(self.panel_values(counts)).collect()
    }

    /// `NaN` if the resample has no item that this judge was asked, and for figures that need gold if there is none.
    fn judge_values(&self, pairs: &[Option<RulingPair>], counts: &[u32]) -> [f64; JUDGE_FIGURES.len()] {
        let mut sums = [0.0; JUDGE_FIGURES.len()];
        let mut all = 0.0;
        for (pair, count) in
            pairs.iter().zip(counts).filter_map(|(pair, count)| Some((pair.as_ref()?, count)))
        {
            let count = f64::from(*count);
            let number = |yes: bool| if yes { 1.0 } else { 0.0 };
            let [first, second] =
                pair.right.map(|right| if self.has_gold { number(right) } else { f64::NAN });
            let consistent = number(pair.is_consistent());
            let bias = pair.lean_to_first_shown() / 2.0;
            let values = [consistent, bias, first, second, (first + second) / 2.0, first * second];
            all += count;
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value * count);
        }
        sums.map(|sum| sum / all)
    }

    fn panel_values(&self, counts: &[u32]) -> [f64; PANEL_FIGURES.len()] {
        let rho = if self.has_gold { mean_correlation(&self.correlation_matrix(counts)) } else { None };
        let voices = rho.and_then(|rho| effective_voices(self.pairs.len(), rho));
        [self.alpha(counts), rho, voices].map(|figure| figure.unwrap_or(f64::NAN))
    }

    /// A unit is an item in one order, because all judges see the same there.
    fn alpha(&self, counts: &[u32]) -> Option<f64> {
        let value = |ruling: JudgeRuling| match ruling {
            JudgeRuling::Neither => Some(0.0),
            JudgeRuling::First => Some(1.0),
            JudgeRuling::Second => Some(2.0),
            JudgeRuling::Missing => None,
        };
        let mut tally = AlphaTally::new(vec![0.0, 1.0, 2.0]);
        let mut unit = Vec::with_capacity(self.pairs.len());
        for (place, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            for order in 0..2 {
                unit.clear();
                let asked = self.pairs.iter().filter_map(|pairs| pairs.get(place).copied().flatten());
                unit.extend(asked.map(|pair| pair.rulings.get(order).copied().and_then(value)));
                tally.add(&unit, f64::from(*count));
            }
        }
        tally.alpha(MeasurementLevel::Nominal)
    }

    fn correlation_matrix(&self, counts: &[u32]) -> CorrelationMatrix {
        let mut matrix: CorrelationMatrix = vec![vec![Some(1.0); self.pairs.len()]; self.pairs.len()];
        for (row, one) in self.pairs.iter().enumerate() {
            for (column, other) in self.pairs.iter().enumerate().skip(row + 1) {
                let rho = self.error_correlation(one, other, counts);
                for (row, column) in [(row, column), (column, row)] {
                    if let Some(cell) = matrix.get_mut(row).and_then(|cells| cells.get_mut(column)) {
                        *cell = rho;
                    }
                }
            }
        }
        matrix
    }

    fn error_correlation(
        &self,
        one: &[Option<RulingPair>],
        other: &[Option<RulingPair>],
        counts: &[u32],
    ) -> Option<f64> {
        let (mut n, mut a, mut b, mut both) = (0, 0, 0, 0);
        for (one, other, place) in self.common_pairs(one, other) {
            let count = u64::from(counts.get(place).copied().unwrap_or_default());
            for (one, other) in one.right.into_iter().zip(other.right) {
                n += count;
                a += count * u64::from(one);
                b += count * u64::from(other);
                both += count * u64::from(one && other);
            }
        }
        phi_from_counts(n, a, b, both)
    }

    /// Two judges' rulings on the items that all judges were asked, with the places of these items.
    fn common_pairs(
        &self,
        one: &[Option<RulingPair>],
        other: &[Option<RulingPair>],
    ) -> impl Iterator<Item = (RulingPair, RulingPair, usize)> {
        let places = self.common.iter();
        places.filter_map(|place| Some((one.get(*place).copied()??, other.get(*place).copied()??, *place)))
    }

    fn agreement_matrix(&self) -> Vec<Vec<Option<f64>>> {
        let share = |one: &Vec<Option<RulingPair>>, other: &Vec<Option<RulingPair>>| {
            let (mut same, mut all) = (0_u32, 0_u32);
            for (a, b, _) in self.common_pairs(one, other) {
                for (a, b) in a.rulings.into_iter().zip(b.rulings) {
                    same += u32::from(a == b && a != JudgeRuling::Missing);
                    all += 1;
                }
            }
            (all > 0).then(|| f64::from(same) / f64::from(all))
        };
        self.pairs.iter().map(|one| self.pairs.iter().map(|other| share(one, other)).collect()).collect()
    }
}
