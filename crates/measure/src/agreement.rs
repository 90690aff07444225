//! How far raters of the same things agree: Krippendorff's alpha, Kendall's W, entropy.

/// What the difference between two ratings means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasurementLevel {
    /// Ratings are the same or not: names, verdicts.
    Nominal,
    /// Ratings have an order: ranks, grades. Their distance is the number of ratings between them.
    Ordinal,
    /// Ratings have a distance: scores.
    Interval,
}

/// Krippendorff's alpha: 1 if all raters agree, 0 if they agree as often as by chance, negative if they oppose each other.
///
/// A unit is one rated thing with one value per rater, in any order; `None` is a missing value. The result is `None` if the
/// units with at least two values do not have two different values: agreement cannot be told from chance then.
pub fn krippendorff_alpha(units: &[Vec<Option<f64>>], level: MeasurementLevel) -> Option<f64> {
    let mut values: Vec<f64> = units.iter().flatten().flatten().copied().collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let mut tally = AlphaTally::new(values);
    for unit in units {
        tally.add(unit, 1.0);
    }
    tally.alpha(level)
}

/// Computes alpha from units that are added one by one. A unit can count several times, as it does in a resample.
#[derive(Debug, Clone)]
pub struct AlphaTally {
    /// All values, sorted.
    values: Vec<f64>,
    /// How often each value occurs beside each other one in a unit, as rows of `values.len()`.
    coincidences: Vec<f64>,
}

impl AlphaTally {
    /// `values` are all possible ratings, sorted and without duplicates.
    pub fn new(values: Vec<f64>) -> Self {
        let cells = values.len() * values.len();
        Self { values, coincidences: vec![0.0; cells] }
    }

    /// Adds a unit `times` times. A value that was not given to [`AlphaTally::new`] counts as missing.
    pub fn add(&mut self, unit: &[Option<f64>], times: f64) {
        let place = |value: &f64| self.values.iter().position(|known| known == value);
        let places: Vec<usize> = unit.iter().flatten().filter_map(place).collect();
        // A value alone in its unit has no partner.
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

    /// Alpha over the units added so far; see [`krippendorff_alpha`].
    pub fn alpha(&self, level: MeasurementLevel) -> Option<f64> {
        let totals: Vec<f64> = self.rows().map(|row| row.iter().sum()).collect();
        let all: f64 = totals.iter().sum();
        let (mut observed, mut expected) = (0.0, 0.0);
        for (one, (row, first)) in self.rows().zip(&totals).enumerate() {
            for (other, (together, second)) in row.iter().zip(&totals).enumerate() {
                let distance = self.squared_distance(one, other, &totals, level);
                observed += together * distance;
                expected += first * second * distance;
            }
        }
        (expected > 0.0).then(|| 1.0 - (all - 1.0) * observed / expected)
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.coincidences.chunks(self.values.len().max(1))
    }

    fn squared_distance(&self, one: usize, other: usize, totals: &[f64], level: MeasurementLevel) -> f64 {
        let (low, high) = (one.min(other), one.max(other));
        let distance = match level {
            _ if one == other => 0.0,
            MeasurementLevel::Nominal => 1.0,
            MeasurementLevel::Ordinal => {
                let ends = totals.get(low).into_iter().chain(totals.get(high)).sum::<f64>();
                totals.iter().take(high + 1).skip(low).sum::<f64>() - ends / 2.0
            }
            MeasurementLevel::Interval => {
                self.values.get(high).copied().unwrap_or_default()
                    - self.values.get(low).copied().unwrap_or_default()
            }
        };
        distance * distance
    }
}

/// Kendall's W of several rankings of the same things, corrected for ties: 1 if all rankings are the same, 0 if they cancel
/// each other out.
///
/// Each ranking is a list of ranks or scores, all in the same direction; equal values share their ranks. The result is `None`
/// for fewer than two rankings or two things, for lists of different lengths, and if every ranking is one big tie.
pub fn kendall_w(rankings: &[Vec<f64>]) -> Option<f64> {
    let things = rankings.first()?.len();
    if rankings.len() < 2 || things < 2 || rankings.iter().any(|ranking| ranking.len() != things) {
        return None;
    }
    let (raters, n) = (rankings.len() as f64, things as f64);
    let mut rank_sums = vec![0.0; things];
    let mut ties = 0.0;
    for ranking in rankings {
        let (ranks, tied) = mean_ranks(ranking);
        ties += tied;
        for (sum, rank) in rank_sums.iter_mut().zip(ranks) {
            *sum += rank;
        }
    }
    let mean = raters * (n + 1.0) / 2.0;
    let spread: f64 = rank_sums.iter().map(|sum| (sum - mean).powi(2)).sum();
    let greatest = raters * raters * (n.powi(3) - n) - raters * ties;
    (greatest > 0.0).then(|| (12.0 * spread / greatest).clamp(0.0, 1.0))
}

/// Ranks from 1, where ties share the mean of their ranks, and the sum of t³ - t over all ties of t values.
fn mean_ranks(values: &[f64]) -> (Vec<f64>, f64) {
    let rank = |value: &f64| {
        let before = values.iter().filter(|other| *other < value).count() as f64;
        let equal = values.iter().filter(|other| *other == value).count() as f64;
        (before + (equal + 1.0) / 2.0, equal)
    };
    let (ranks, equal): (Vec<f64>, Vec<f64>) = values.iter().map(rank).unzip();
    // Each of the t values of a tie adds its share of t³ - t.
    (ranks, equal.iter().map(|t| t * t - 1.0).sum())
}

/// The entropy of positions in bits: 0 if all are the same, 1 if two positions are held by half each.
pub fn entropy_bits<T: PartialEq>(positions: &[T]) -> f64 {
    let all = positions.len() as f64;
    // The sum runs over holders, so each holder adds its part of its position's term.
    let bits = |one: &T| {
        let share = positions.iter().filter(|other| *other == one).count() as f64 / all;
        -share.log2() / all
    };
    positions.iter().map(bits).sum::<f64>().max(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LEVELS: [MeasurementLevel; 3] =
        [MeasurementLevel::Nominal, MeasurementLevel::Ordinal, MeasurementLevel::Interval];

    /// Krippendorff's own example: four observers, twelve units, some values missing.
    #[test]
    fn alpha_of_four_observers_is_as_krippendorff_published_it() {
        let rows = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."];
        let rows = rows.map(|row| row.chars().collect::<Vec<_>>());
        let units: Vec<Vec<Option<f64>>> = (0..12)
            .map(|unit| rows.iter().map(|row| row[unit].to_digit(10).map(f64::from)).collect())
            .collect();
        let alphas = LEVELS.map(|level| format!("{:.3}", krippendorff_alpha(&units, level).unwrap()));
        assert_eq!(alphas, ["0.743", "0.815", "0.849"]);
    }

    /// Krippendorff (2011), section A: two observers, ten units, two values.
    #[test]
    fn alpha_of_two_observers_is_as_krippendorff_published_it() {
        let (a, b) = ([0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]);
        let units: Vec<_> =
            a.iter().zip(b).map(|(a, b)| vec![Some(f64::from(*a)), Some(f64::from(b))]).collect();
        let alpha = krippendorff_alpha(&units, MeasurementLevel::Nominal).unwrap();
        assert_eq!(format!("{alpha:.3}"), "0.095");
    }

    #[test]
    fn alpha_is_none_without_variation_or_pairs() {
        let [nominal, ordinal, interval] = LEVELS;
        assert_eq!(krippendorff_alpha(&[], nominal), None);
        let equal = [vec![Some(1.0), Some(1.0)], vec![Some(1.0), None]];
        assert_eq!(krippendorff_alpha(&equal, interval), None);
        assert_eq!(krippendorff_alpha(&[vec![Some(1.0), None], vec![Some(2.0)]], nominal), None);
        let unpaired = [vec![Some(1.0), Some(1.0)], vec![Some(2.0), None]];
        assert_eq!(krippendorff_alpha(&unpaired, ordinal), None, "the 2 has no partner");
    }

    /// Siegel (1956), chapter 9: three executives rank six applicants, W = .16; three rankings of ten with ties, W = .828.
    #[test]
    fn w_is_as_siegel_published_it() {
        let executives =
            [vec![1., 6., 3., 2., 5., 4.], vec![1., 5., 6., 4., 2., 3.], vec![6., 3., 2., 5., 4., 1.]];
        assert_eq!(format!("{:.3}", kendall_w(&executives).unwrap()), "0.162");
        let tied = [
            vec![1., 4.5, 2., 4.5, 3., 7.5, 6., 9., 7.5, 10.],
            vec![2.5, 1., 2.5, 4.5, 4.5, 8., 9., 6.5, 10., 6.5],
            vec![2., 1., 4.5, 4.5, 4.5, 4.5, 8., 8., 8., 10.],
        ];
        assert_eq!(format!("{:.3}", kendall_w(&tied).unwrap()), "0.828");
    }

    #[test]
    fn w_is_none_without_an_order() {
        for rankings in [vec![], vec![vec![1.0, 2.0]], vec![vec![1.0], vec![1.0]], vec![vec![3.0; 4]; 2]] {
            assert_eq!(kendall_w(&rankings), None, "{rankings:?}");
        }
        assert_eq!(kendall_w(&[vec![1.0, 2.0], vec![1.0, 2.0, 3.0]]), None);
        assert_eq!(kendall_w(&[vec![1.0, 2.0, 3.0], vec![3.0, 2.0, 1.0]]), Some(0.0));
    }

    #[test]
    fn entropy_of_small_cases() {
        let bits = (entropy_bits(&["a", "b"]), entropy_bits(&["a", "a"]), entropy_bits::<u8>(&[]));
        assert_eq!(bits, (1.0, 0.0, 0.0));
        assert!((entropy_bits(&[1, 1, 1, 2]) - 0.811_278_124_459_132_8).abs() < 1e-12);
        assert!((entropy_bits(&[1, 2, 3, 4, 5]) - 5_f64.log2()).abs() < 1e-12);
    }

    fn any_units() -> impl Strategy<Value = Vec<Vec<Option<f64>>>> {
        let value = proptest::option::of((1_u8..6).prop_map(f64::from));
        proptest::collection::vec(proptest::collection::vec(value, 4), 1..20)
    }

    fn same(one: Option<f64>, other: Option<f64>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => (one - other).abs() < 1e-9,
            (one, other) => one == other,
        }
    }

    proptest! {
        #[test]
        fn alpha_does_not_depend_on_the_order_of_raters_or_units(mut units in any_units()) {
            let before = LEVELS.map(|level| krippendorff_alpha(&units, level));
            units.reverse();
            units.iter_mut().for_each(|unit| unit.rotate_left(1));
            for (level, before) in LEVELS.into_iter().zip(before) {
                prop_assert!(same(krippendorff_alpha(&units, level), before));
                prop_assert!(before.is_none_or(|alpha| alpha <= 1.0 + 1e-12));
            }
        }

        #[test]
        fn alpha_does_not_change_under_the_transformations_that_its_level_allows(units in any_units()) {
            let transformed = |change: fn(f64) -> f64| -> Vec<Vec<Option<f64>>> {
                units.iter().map(|unit| unit.iter().map(|value| value.map(change)).collect()).collect()
            };
            let changes: [fn(f64) -> f64; 3] = [|v| (v * 7.0) % 11.0, |v| v.powi(3), |v| 3.0 * v - 7.0];
            for (level, change) in LEVELS.into_iter().zip(changes) {
                let alpha = krippendorff_alpha(&transformed(change), level);
                prop_assert!(same(alpha, krippendorff_alpha(&units, level)), "{level:?}");
            }
        }

        #[test]
        fn alpha_is_one_if_all_raters_agree(values in proptest::collection::vec(1_u8..6, 2..20)) {
            prop_assume!(values.iter().any(|value| *value != values[0]));
            let units: Vec<_> = values.iter().map(|value| vec![Some(f64::from(*value)); 3]).collect();
            for level in LEVELS {
                prop_assert_eq!(krippendorff_alpha(&units, level), Some(1.0));
            }
        }

        #[test]
        fn w_is_a_share_and_is_one_for_equal_rankings(
            mut rankings in proptest::collection::vec(
                proptest::collection::vec((0_u8..9).prop_map(f64::from), 5), 2..6)
        ) {
            if let Some(w) = kendall_w(&rankings) {
                prop_assert!((0.0..=1.0).contains(&w));
                let reversed: Vec<Vec<f64>> =
                    rankings.iter().map(|ranking| ranking.iter().map(|value| -value * 2.0).collect()).collect();
                prop_assert!(same(kendall_w(&reversed), Some(w)), "reversing all rankings changes nothing");
            }
            let first = rankings[0].clone();
            rankings.fill(first);
            prop_assert!(kendall_w(&rankings).is_none_or(|w| (w - 1.0).abs() < 1e-9));
        }

        #[test]
        fn entropy_is_zero_only_if_all_agree(positions in proptest::collection::vec(0_u8..6, 1..30)) {
            let bits = entropy_bits(&positions);
            prop_assert!(bits >= 0.0 && bits <= 6_f64.log2() + 1e-9);
            prop_assert_eq!(bits < 1e-12, positions.iter().all(|position| *position == positions[0]));
        }
    }
}
