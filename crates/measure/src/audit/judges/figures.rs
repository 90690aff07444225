//! The figures over some items.

use crate::agreement::{Level, Reliability};
use crate::independence::{Correlations, effective_voices, mean_rho, phi_of_counts};

use super::rulings::{Read, Ruling};
use super::{Accuracy, Judge, Rulings};
use crate::audit::Bootstrap;
use crate::audit::resampling::{named, of_share};

/// The figures of a judge, in the order in which [`Seen::of_judge`] gives them.
const OF_JUDGE: [&str; 6] = [
    "order_consistency",
    "position_bias",
    "accuracy.first_order",
    "accuracy.second_order",
    "accuracy.mean",
    "accuracy.both",
];
/// Those between judges, in the order in which [`Seen::between`] gives them.
const BETWEEN: [&str; 3] = ["alpha", "mean_rho", "n_eff"];

pub(super) fn audit(read: &Read, items: &[usize], bootstrap: Bootstrap, threads: usize) -> Rulings {
    let seen = Seen::of(read, items);
    let whole = vec![1; items.len()];
    let intervals = bootstrap.intervals(items.len(), threads, |counts| seen.figures(counts));
    let mut intervals = intervals.into_iter();
    let judge = |(name, cells): (&&String, &Vec<Option<Cell>>)| {
        let of_judge = seen.of_judge(cells, &whole);
        let items = cells.iter().flatten().count();
        let drawn = intervals.by_ref().take(OF_JUDGE.len()).zip(of_judge).zip(OF_JUDGE);
        let intervals = drawn.map(|((drawn, value), name)| match name {
            "position_bias" => drawn,
            _ => of_share(drawn, value, items),
        });
        let intervals = named(OF_JUDGE, intervals);
        described(name, cells, &of_judge, intervals)
    };
    let judges: Vec<Judge> = seen.names.iter().zip(&seen.cells).map(judge).collect();
    let between = seen.between(&whole);
    let known = |place: usize| between.get(place).copied().filter(|value| value.is_finite());
    Rulings {
        items: items.len(),
        common_items: seen.common.len(),
        judges,
        alpha: known(0),
        mean_rho: known(1),
        n_eff: known(2),
        correlation: if seen.gold { seen.correlations(&whole) } else { Vec::new() },
        agreement: seen.agreements(),
        intervals: named(BETWEEN, intervals),
    }
}

fn described(
    name: &str,
    cells: &[Option<Cell>],
    of_judge: &[f64],
    intervals: crate::audit::Intervals,
) -> Judge {
    let figure = |place: usize| of_judge.get(place).copied().filter(|value| value.is_finite());
    let how_many = |wanted: Ruling| {
        cells.iter().flatten().flat_map(|cell| cell.rulings).filter(|ruling| *ruling == wanted).count()
    };
    let accuracy = || {
        Some(Accuracy {
            first_order: figure(2)?,
            second_order: figure(3)?,
            mean: figure(4)?,
            both: figure(5)?,
        })
    };
    Judge {
        judge: name.to_owned(),
        items: cells.iter().flatten().count(),
        order_consistency: figure(0),
        position_bias: figure(1),
        accuracy: accuracy(),
        neither: how_many(Ruling::Neither),
        missing: how_many(Ruling::Missing),
        intervals,
    }
}

/// A judge's rulings on an item in both orders, and whether each is right.
#[derive(Clone, Copy)]
struct Cell {
    rulings: [Ruling; 2],
    right: [bool; 2],
}

impl Cell {
    fn consistent(&self) -> bool {
        let [first, second] = self.rulings;
        first == second && first != Ruling::Missing
    }

    /// How many of the two prefer what was shown first, less those that prefer what was shown second.
    fn toward_first_shown(&self) -> f64 {
        let [first, second] = self.rulings;
        let lean = |ruling: Ruling| match ruling {
            Ruling::First => 1.0,
            Ruling::Second => -1.0,
            Ruling::Neither | Ruling::Missing => 0.0,
        };
        // In the other order the second answer is shown first.
        lean(first) - lean(second)
    }
}

/// The items that are looked at, judge by judge.
struct Seen<'a> {
    names: Vec<&'a String>,
    cells: Vec<Vec<Option<Cell>>>,
    /// The places of the items that all were asked.
    common: Vec<usize>,
    gold: bool,
}

impl<'a> Seen<'a> {
    fn of(read: &'a Read, items: &[usize]) -> Self {
        let gold = |row: usize| read.gold.as_ref().and_then(|(_, gold)| gold.get(row).copied().flatten());
        let cell = |rulings: &[Option<[Ruling; 2]>], row: usize| {
            let rulings = rulings.get(row).copied().flatten()?;
            Some(Cell { rulings, right: rulings.map(|ruling| Some(ruling) == gold(row)) })
        };
        let cells: Vec<Vec<Option<Cell>>> = read
            .judges
            .iter()
            .map(|(_, rulings)| items.iter().map(|row| cell(rulings, *row)).collect())
            .collect();
        let asked = |place: &usize| cells.iter().all(|cells| cells.get(*place).is_some_and(Option::is_some));
        let common = (0..items.len()).filter(asked).collect();
        Self {
            names: read.judges.iter().map(|(name, _)| name).collect(),
            cells,
            common,
            gold: read.gold.is_some(),
        }
    }

    fn figures(&self, counts: &[u32]) -> Vec<f64> {
        let of_judges = self.cells.iter().flat_map(|cells| self.of_judge(cells, counts));
        of_judges.chain(self.between(counts)).collect()
    }

    /// `NaN` where a resample has none of the items that this judge was asked, and for what cannot be known without gold.
    fn of_judge(&self, cells: &[Option<Cell>], counts: &[u32]) -> [f64; OF_JUDGE.len()] {
        let mut sums = [0.0; OF_JUDGE.len()];
        let mut all = 0.0;
        for (cell, count) in
            cells.iter().zip(counts).filter_map(|(cell, count)| Some((cell.as_ref()?, count)))
        {
            let count = f64::from(*count);
            let yes = |yes: bool| if yes { 1.0 } else { 0.0 };
            let [first, second] = cell.right.map(|right| if self.gold { yes(right) } else { f64::NAN });
            let consistent = yes(cell.consistent());
            let bias = cell.toward_first_shown() / 2.0;
            let of_cell = [consistent, bias, first, second, (first + second) / 2.0, first * second];
            all += count;
            sums.iter_mut().zip(of_cell).for_each(|(sum, value)| *sum += value * count);
        }
        sums.map(|sum| sum / all)
    }

    fn between(&self, counts: &[u32]) -> [f64; BETWEEN.len()] {
        let rho = if self.gold { mean_rho(&self.correlations(counts)) } else { None };
        let voices = rho.and_then(|rho| effective_voices(self.cells.len(), rho));
        [self.alpha(counts), rho, voices].map(|figure| figure.unwrap_or(f64::NAN))
    }

    /// A unit is an item in an order: all see the same there.
    fn alpha(&self, counts: &[u32]) -> Option<f64> {
        let value = |ruling: Ruling| match ruling {
            Ruling::Neither => Some(0.0),
            Ruling::First => Some(1.0),
            Ruling::Second => Some(2.0),
            Ruling::Missing => None,
        };
        let mut reliability = Reliability::over(vec![0.0, 1.0, 2.0]);
        let mut unit = Vec::with_capacity(self.cells.len());
        for (place, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            for order in 0..2 {
                unit.clear();
                let cells = self.cells.iter().filter_map(|cells| cells.get(place).copied().flatten());
                unit.extend(cells.map(|cell| cell.rulings.get(order).copied().and_then(value)));
                reliability.add(&unit, f64::from(*count));
            }
        }
        reliability.alpha(Level::Nominal)
    }

    fn correlations(&self, counts: &[u32]) -> Correlations {
        let mut matrix: Correlations = vec![vec![Some(1.0); self.cells.len()]; self.cells.len()];
        for (row, one) in self.cells.iter().enumerate() {
            for (column, other) in self.cells.iter().enumerate().skip(row + 1) {
                let rho = self.correlation(one, other, counts);
                for (row, column) in [(row, column), (column, row)] {
                    if let Some(cell) = matrix.get_mut(row).and_then(|cells| cells.get_mut(column)) {
                        *cell = rho;
                    }
                }
            }
        }
        matrix
    }

    fn correlation(&self, one: &[Option<Cell>], other: &[Option<Cell>], counts: &[u32]) -> Option<f64> {
        let (mut n, mut a, mut b, mut both) = (0, 0, 0, 0);
        for (one, other, count) in self.pairs(one, other, counts) {
            for (one, other) in one.right.into_iter().zip(other.right) {
                n += count;
                a += count * u64::from(one);
                b += count * u64::from(other);
                both += count * u64::from(one && other);
            }
        }
        phi_of_counts(n, a, b, both)
    }

    /// What two judges said of the items that all were asked.
    fn pairs(
        &self,
        one: &[Option<Cell>],
        other: &[Option<Cell>],
        counts: &[u32],
    ) -> impl Iterator<Item = (Cell, Cell, u64)> {
        self.common.iter().filter_map(|place| {
            let count = u64::from(*counts.get(*place)?);
            Some((one.get(*place).copied()??, other.get(*place).copied()??, count))
        })
    }

    fn agreements(&self) -> Vec<Vec<Option<f64>>> {
        let whole = vec![1; self.cells.first().map_or(0, Vec::len)];
        let share = |one: &Vec<Option<Cell>>, other: &Vec<Option<Cell>>| {
            let rulings =
                self.pairs(one, other, &whole).flat_map(|(a, b, _)| a.rulings.into_iter().zip(b.rulings));
            let (same, all) = rulings.fold((0_u32, 0_u32), |(same, all), (a, b)| {
                (same + u32::from(a == b && a != Ruling::Missing), all + 1)
            });
            (all > 0).then(|| f64::from(same) / f64::from(all))
        };
        self.cells.iter().map(|one| self.cells.iter().map(|other| share(one, other)).collect()).collect()
    }
}

#[cfg(test)]
mod tests;
