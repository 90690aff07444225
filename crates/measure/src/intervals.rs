//! How certain a figure is: 95% intervals and a paired test.
//!
//! All random draws come from a seed, and each resample has its own stream, so the result does not depend on the number of
//! threads.
//!
//! The distributions are written by hand: a crate such as `statrs` would replace about ten lines here and in
//! [`majority_vote`](crate::majority_vote), and has no beta-binomial distribution.

use std::collections::BTreeMap;

use agon_core::SeededDraw;
use serde::Serialize;

use crate::majority_vote::binomial_probabilities;

/// Enough resamples for the ends of a 95% interval.
pub const RESAMPLES: u32 = 1_000;

/// The two-sided 95% quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;
/// The share outside the interval at each end.
const TAIL: f64 = 0.025;

/// 95% intervals by the name of the figure. A figure that could not be measured has none.
pub type FigureIntervals = BTreeMap<String, (f64, f64)>;

/// How bootstrap intervals are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BootstrapOptions {
    /// How many resamples are drawn.
    pub resamples: u32,
    /// The same seed gives the same intervals.
    pub seed: u64,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        Self { resamples: RESAMPLES, seed: 0 }
    }
}

impl BootstrapOptions {
    /// The intervals of all figures that `figures` returns, in the same order. `figures` gets how often each of the `items` is
    /// in a resample, and returns `NaN` for a figure that this resample does not determine.
    pub(crate) fn intervals(
        &self,
        items: usize,
        threads: usize,
        figures: impl Fn(&[u32]) -> Vec<f64> + Sync,
    ) -> Vec<Option<(f64, f64)>> {
        let share = self.resamples.div_ceil(u32::try_from(threads.max(1)).unwrap_or(1)).max(1);
        let run = |first: u32| {
            let mut counts = vec![0; items];
            let numbers = first..first.saturating_add(share).min(self.resamples);
            let one = |number| {
                draw_resample(self.seed, number, &mut counts);
                figures(&counts)
            };
            numbers.map(one).collect::<Vec<_>>()
        };
        let rows: Vec<Vec<f64>> = std::thread::scope(|scope| {
            let firsts = (0..self.resamples).step_by(share as usize);
            let running: Vec<_> = firsts.map(|first| scope.spawn(move || run(first))).collect();
            let finished = running.into_iter().map(|thread| thread.join());
            finished.flat_map(|rows| rows.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        let figures = rows.first().map_or(0, Vec::len);
        let values_of = |figure: usize| rows.iter().filter_map(|row| row.get(figure).copied()).collect();
        (0..figures).map(|figure| percentile_interval(values_of(figure))).collect()
    }
}

/// The requested number of threads, or one per core.
pub(crate) fn thread_count(requested: Option<usize>) -> usize {
    requested.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1).max(1)
}

/// The interval of a share of `n`. If the share is 0 or 1, every resample gives the same value however small `n` is, so
/// Wilson's interval is used.
pub(crate) fn share_interval(drawn: Option<(f64, f64)>, share: f64, n: usize) -> Option<(f64, f64)> {
    match share {
        0.0 => drawn.map(|_| wilson(0, n as u64)),
        1.0 => drawn.map(|_| wilson(n as u64, n as u64)),
        _ => drawn,
    }
}

/// Pairs names with intervals and drops the names that have none.
pub(crate) fn name_intervals<'a>(
    names: impl IntoIterator<Item = &'a str>,
    intervals: impl IntoIterator<Item = Option<(f64, f64)>>,
) -> FigureIntervals {
    let pair = |(name, interval): (&str, Option<(f64, f64)>)| Some((name.to_owned(), interval?));
    names.into_iter().zip(intervals).filter_map(pair).collect()
}

/// Wilson's interval for a share of `successes` in `n`; 0 to 1 if `n` is 0.
pub fn wilson(successes: u64, n: u64) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let (n, share) = (n as f64, successes.min(n) as f64 / n as f64);
    let scale = 1.0 + Z * Z / n;
    let centre = share + Z * Z / (2.0 * n);
    let reach = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    // At 0 and 1 the two terms are equal except for rounding.
    let low = if successes == 0 { 0.0 } else { (centre - reach) / scale };
    let high = if share >= 1.0 { 1.0 } else { (centre + reach) / scale };
    (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0))
}

/// McNemar's exact test for two that answered the same questions: only the first was right `b` times, only the second `c`
/// times. Returns the probability of a difference at least this large if both are equally good.
pub fn mcnemar_exact(b: u64, c: u64) -> f64 {
    let (Ok(all), fewer) = (u32::try_from(b.saturating_add(c)), b.min(c)) else {
        return 0.0;
    };
    let fewer = usize::try_from(fewer).unwrap_or(usize::MAX);
    (2.0 * binomial_probabilities(all, 0.5).iter().take(fewer.saturating_add(1)).sum::<f64>()).min(1.0)
}

/// The bootstrap interval of a statistic over `items` items. The statistic gets how often each item is in a resample; a
/// resample for which it returns `None` does not count. `None` if that is true of all resamples.
pub fn bootstrap(
    items: usize,
    resamples: u32,
    seed: u64,
    statistic: impl Fn(&[u32]) -> Option<f64>,
) -> Option<(f64, f64)> {
    let mut counts = vec![0; items];
    let values = (0..resamples).filter_map(|number| {
        draw_resample(seed, number, &mut counts);
        statistic(&counts)
    });
    percentile_interval(values.collect())
}

/// The bootstrap interval of a mean.
pub fn bootstrap_mean(values: &[f64], resamples: u32, seed: u64) -> Option<(f64, f64)> {
    bootstrap(values.len(), resamples, seed, |counts| {
        let sum: f64 = values.iter().zip(counts).map(|(value, count)| value * f64::from(*count)).sum();
        (!values.is_empty()).then(|| sum / values.len() as f64)
    })
}

/// The bootstrap interval of the mean difference `a - b` of two that did the same things. Every resample takes the same things
/// from both.
pub fn paired_difference(a: &[f64], b: &[f64], resamples: u32, seed: u64) -> Option<(f64, f64)> {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    bootstrap_mean(&differences, resamples, seed)
}

/// Fills `counts` with how often each item is in resample number `number`: as many draws as there are items, with replacement.
fn draw_resample(seed: u64, number: u32, counts: &mut [u32]) {
    let mut draw = SeededDraw::new(seed, &format!("bootstrap {number}"));
    counts.fill(0);
    for _ in 0..counts.len() {
        if let Some(count) = counts.get_mut(draw.below(counts.len())) {
            *count += 1;
        }
    }
}

/// The middle 95% of the values, without those that are not finite.
fn percentile_interval(mut values: Vec<f64>) -> Option<(f64, f64)> {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    Some((quantile(&values, TAIL)?, quantile(&values, 1.0 - TAIL)?))
}

/// Interpolates between neighbours.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted.get(place.floor() as usize)?, sorted.get(place.ceil() as usize)?);
    Some(low + (high - low) * place.fract())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    #[test]
    fn wilson_intervals_are_as_published() {
        for (successes, n, (low, high)) in [
            (81, 263, (0.2553, 0.3662)),
            (15, 148, (0.0624, 0.1605)),
            (0, 20, (0.0, 0.1611)),
            (1, 29, (0.0061, 0.1718)),
        ] {
            let interval = wilson(successes, n);
            assert!((interval.0 - low).abs() < 5e-5 && (interval.1 - high).abs() < 5e-5, "{interval:?}");
        }
        assert_eq!((wilson(0, 0), wilson(7, 7).1), ((0.0, 1.0), 1.0));
    }

    #[test]
    fn mcnemar_of_cases_that_can_be_checked_by_hand() {
        // 2 * (1 + 10 + 45) / 2^10.
        assert!((mcnemar_exact(8, 2) - 0.109_375).abs() < 1e-12);
        assert!((mcnemar_exact(2, 8) - 0.109_375).abs() < 1e-12);
        assert_eq!((mcnemar_exact(0, 0), mcnemar_exact(4, 4)), (1.0, 1.0));
        assert!((mcnemar_exact(10, 0) - 2.0 / 1024.0).abs() < 1e-12);
        assert!(mcnemar_exact(9_000, 8_000) < 1e-9, "many pairs do not underflow");
        assert!((mcnemar_exact(9_000, 9_001) - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_bootstrap_depends_on_its_seed_and_is_close_to_wilson() {
        let values: Vec<f64> = (0..1_000).map(|n| f64::from(u8::from(n % 10 < 3))).collect();
        let (low, high) = bootstrap_mean(&values, RESAMPLES, 7).unwrap();
        assert_eq!(bootstrap_mean(&values, RESAMPLES, 7), Some((low, high)));
        assert_ne!(bootstrap_mean(&values, RESAMPLES, 8), Some((low, high)));
        let closed = wilson(300, 1_000);
        assert!((low - closed.0).abs() < 0.005 && (high - closed.1).abs() < 0.005, "{low} {high} {closed:?}");
        assert_eq!((bootstrap_mean(&[], 10, 7), bootstrap_mean(&[1.0], 0, 7)), (None, None));
    }

    #[test]
    fn variance_common_to_both_does_not_widen_the_interval_of_a_difference() {
        let a: Vec<f64> = (0..200).map(|n| f64::from(n % 7)).collect();
        let b: Vec<f64> = a.iter().map(|value| value - 0.5).collect();
        assert_eq!(paired_difference(&a, &b, RESAMPLES, 7), Some((0.5, 0.5)));
    }

    #[test]
    fn percentiles_interpolate_and_skip_nan() {
        let values = (0..=1_000).map(f64::from).chain([f64::NAN]).collect();
        let (low, high) = percentile_interval(values).unwrap();
        assert!((low - 25.0).abs() < 1e-9 && (high - 975.0).abs() < 1e-9, "{low} {high}");
        assert_eq!(percentile_interval(vec![f64::NAN]), None);
    }

    #[test]
    fn a_share_of_zero_or_one_has_a_wilson_interval() {
        assert_eq!(share_interval(Some((1.0, 1.0)), 1.0, 4), Some(wilson(4, 4)));
        assert_eq!(share_interval(Some((0.0, 0.0)), 0.0, 4), Some(wilson(0, 4)));
        assert_eq!(share_interval(None, 1.0, 4), None);
        assert_eq!(share_interval(Some((0.2, 0.6)), 0.4, 10), Some((0.2, 0.6)));
    }

    #[test]
    fn intervals_do_not_depend_on_the_number_of_threads() {
        let values: Vec<f64> = (0..50).map(f64::from).collect();
        let figures = |counts: &[u32]| {
            let sum: f64 = values.iter().zip(counts).map(|(value, count)| value * f64::from(*count)).sum();
            vec![sum / 50.0, f64::NAN]
        };
        let bootstrap = BootstrapOptions { resamples: 101, seed: 5 };
        let alone = bootstrap.intervals(50, 1, figures);
        assert!(matches!(alone[..], [Some((low, high)), None] if low < 24.5 && high > 24.5), "{alone:?}");
        for threads in [0, 2, 3, 7, 200] {
            assert_eq!(bootstrap.intervals(50, threads, figures), alone, "{threads} threads");
        }
        assert_eq!(BootstrapOptions { resamples: 0, seed: 5 }.intervals(50, 2, figures), []);
    }

    proptest! {
        #[test]
        fn a_wilson_interval_contains_its_share_and_mirrors_that_of_the_failures(
            n in 1_u64..400, part in 0.0..=1.0_f64
        ) {
            let successes = (n as f64 * part) as u64;
            let share = successes as f64 / n as f64;
            let ((low, high), (mirrored_low, mirrored_high)) = (wilson(successes, n), wilson(n - successes, n));
            prop_assert!(0.0 <= low && low <= share && share <= high && high <= 1.0, "{low} {share} {high}");
            prop_assert!((low - (1.0 - mirrored_high)).abs() < 1e-6 && (high - (1.0 - mirrored_low)).abs() < 1e-6);
        }

        #[test]
        fn a_resample_is_as_large_as_the_sample(items in 0_usize..300, seed: u64, number: u32) {
            let mut counts = vec![9; items];
            draw_resample(seed, number, &mut counts);
            prop_assert_eq!(counts.iter().sum::<u32>() as usize, items);
        }

        #[test]
        fn mcnemar_is_a_two_sided_probability(b in 0_u64..300, c in 0_u64..300) {
            let p = mcnemar_exact(b, c);
            prop_assert!(p > 0.0 && p <= 1.0);
            prop_assert_eq!(p, mcnemar_exact(c, b));
            prop_assert!(mcnemar_exact(b + 1, c) <= p || b < c);
        }
    }
}
