//! How far those who judged the same things agree.

/// What the difference of two values means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// They are the same or not: names, verdicts.
    Nominal,
    /// One is before the other, by so many that lie between: ranks, grades.
    Ordinal,
    /// They are so far apart: scores.
    Interval,
}

/// Krippendorff's alpha: 1 where all agree, 0 where they agree no more than by chance, less where they oppose each other.
///
/// A unit is what was judged, with a value of each who judged it, in any order; `None` is a value that is missing. Where
/// there are not two different values in units that two have judged, chance cannot be told from agreement: `None`.
pub fn alpha(units: &[Vec<Option<f64>>], level: Level) -> Option<f64> {
    let mut values: Vec<f64> = units.iter().flatten().flatten().copied().collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let mut reliability = Reliability::over(values);
    for unit in units {
        reliability.add(unit, 1.0);
    }
    reliability.alpha(level)
}

/// Alpha while its units are added, each as often as a resample has it.
#[derive(Debug, Clone)]
pub struct Reliability {
    /// All that occur, in order.
    values: Vec<f64>,
    /// How often each value stands beside each other in a unit: rows of `values.len()`.
    coincidences: Vec<f64>,
}

impl Reliability {
    /// For these values, sorted and each once.
    pub fn over(values: Vec<f64>) -> Self {
        let cells = values.len() * values.len();
        Self { values, coincidences: vec![0.0; cells] }
    }

    /// Adds a unit, `times` times. A value that is not one of those that were told is missing.
    pub fn add(&mut self, unit: &[Option<f64>], times: f64) {
        let place = |value: &f64| self.values.iter().position(|known| known == value);
        let places: Vec<usize> = unit.iter().flatten().filter_map(place).collect();
        // A value that stands alone in its unit can be paired with none.
        let Some(others) = places.len().checked_sub(1).filter(|others| *others > 0) else { return };
        let weight = times / others as f64;
        for (one, first) in places.iter().enumerate() {
            for (other, second) in places.iter().enumerate() {
                if one != other
                    && let Some(cell) = self.coincidences.get_mut(first * self.values.len() + second)
                {
                    *cell += weight;
                }
            }
        }
    }

    /// Forgets all units.
    pub fn clear(&mut self) {
        self.coincidences.fill(0.0);
    }

    /// Alpha over what was added.
    pub fn alpha(&self, level: Level) -> Option<f64> {
        let totals: Vec<f64> = self.rows().map(|row| row.iter().sum()).collect();
        let all: f64 = totals.iter().sum();
        let (mut observed, mut expected) = (0.0, 0.0);
        for (one, (row, first)) in self.rows().zip(&totals).enumerate() {
            for (other, (seen, second)) in row.iter().zip(&totals).enumerate() {
                let apart = self.distance(one, other, &totals, level);
                observed += seen * apart;
                expected += first * second * apart;
            }
        }
        (expected > 0.0).then(|| 1.0 - (all - 1.0) * observed / expected)
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.coincidences.chunks(self.values.len().max(1))
    }

    /// The square of how far two values are apart.
    fn distance(&self, one: usize, other: usize, totals: &[f64], level: Level) -> f64 {
        let (low, high) = (one.min(other), one.max(other));
        let apart = match level {
            _ if one == other => 0.0,
            Level::Nominal => 1.0,
            Level::Ordinal => {
                let ends = totals.get(low).into_iter().chain(totals.get(high)).sum::<f64>();
                totals.iter().take(high + 1).skip(low).sum::<f64>() - ends / 2.0
            }
            Level::Interval => {
                self.values.get(high).copied().unwrap_or_default()
                    - self.values.get(low).copied().unwrap_or_default()
            }
        };
        apart * apart
    }
}

/// Kendall's W of several rankings of the same things, corrected for ties: 1 where all rank alike, 0 where nothing is left
/// of an order. A list for each who ranked: ranks or scores, all in the same direction; equal ones share their ranks.
/// `None` for fewer than two rankings or two things, for lists of unequal length, and where everybody ties everything.
pub fn kendall_w(rankings: &[Vec<f64>]) -> Option<f64> {
    let things = rankings.first()?.len();
    if rankings.len() < 2 || things < 2 || rankings.iter().any(|ranking| ranking.len() != things) {
        return None;
    }
    let (judges, n) = (rankings.len() as f64, things as f64);
    let mut sums = vec![0.0; things];
    let mut ties = 0.0;
    for ranking in rankings {
        let (ranks, tied) = ranks(ranking);
        ties += tied;
        for (sum, rank) in sums.iter_mut().zip(ranks) {
            *sum += rank;
        }
    }
    let mean = judges * (n + 1.0) / 2.0;
    let spread: f64 = sums.iter().map(|sum| (sum - mean).powi(2)).sum();
    let greatest = judges * judges * (n.powi(3) - n) - judges * ties;
    (greatest > 0.0).then(|| (12.0 * spread / greatest).clamp(0.0, 1.0))
}

/// Mean ranks, from 1, and the sum of t cubed minus t over groups of t equal ones.
fn ranks(values: &[f64]) -> (Vec<f64>, f64) {
    let rank = |value: &f64| {
        let before = values.iter().filter(|other| *other < value).count() as f64;
        let equal = values.iter().filter(|other| *other == value).count() as f64;
        (before + (equal + 1.0) / 2.0, equal)
    };
    let (ranks, equal): (Vec<f64>, Vec<f64>) = values.iter().map(rank).unzip();
    // Each of t equal ones adds a t-th of its group.
    (ranks, equal.iter().map(|t| t * t - 1.0).sum())
}

/// The share of pairs that hold the same; `None` for fewer than two.
pub fn pairwise<T: PartialEq>(positions: &[T]) -> Option<f64> {
    let alike =
        |(place, one): (usize, &T)| positions.iter().skip(place + 1).filter(|other| *other == one).count();
    let same: usize = positions.iter().enumerate().map(alike).sum();
    let pairs = positions.len() * positions.len().saturating_sub(1) / 2;
    (pairs > 0).then(|| same as f64 / pairs as f64)
}

/// The entropy of positions in bits: 0 where all hold the same, 1 where two are held by half each.
pub fn entropy<T: PartialEq>(positions: &[T]) -> f64 {
    let all = positions.len() as f64;
    let bits = |one: &T| {
        let share = positions.iter().filter(|other| *other == one).count() as f64 / all;
        -share.log2() / all
    };
    // A sum over voices, not over positions: each adds its part of its own position's term.
    positions.iter().map(bits).sum::<f64>().max(0.0)
}

#[cfg(test)]
mod tests;
