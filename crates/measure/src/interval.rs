//! How far a measured figure can be trusted: 95% intervals and paired tests.
//!
//! Whatever is drawn comes from a seed, and each resample has a stream of its own, so that the work can be shared by any
//! number of threads and comes out the same.

use agon_core::SeededDraw;

use crate::chance::binomial;

/// How many resamples are enough for the ends of a 95% interval.
pub const RESAMPLES: u32 = 1_000;

/// The normal quantile of 95%, both sides.
const Z: f64 = 1.959_963_984_540_054;
/// What is left out at each end.
const TAIL: f64 = 0.025;

/// Wilson's interval for a share: `successes` of `n`. Of nothing, everything is possible.
pub fn wilson(successes: u64, n: u64) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let (n, share) = (n as f64, successes.min(n) as f64 / n as f64);
    let scale = 1.0 + Z * Z / n;
    let centre = share + Z * Z / (2.0 * n);
    let reach = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    // At the ends the two terms are equal but for rounding.
    let low = if successes == 0 { 0.0 } else { (centre - reach) / scale };
    let high = if share >= 1.0 { 1.0 } else { (centre + reach) / scale };
    (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0))
}

/// The exact interval of Clopper and Pearson for a share: never too narrow, often too wide.
pub fn clopper_pearson(successes: u32, n: u32) -> (f64, f64) {
    let successes = successes.min(n);
    let at_least = |k: u32, p: f64| binomial(n, p).iter().skip(k as usize).sum::<f64>();
    let low = if successes == 0 { 0.0 } else { crossing(|p| at_least(successes, p) < TAIL) };
    let high = if successes == n { 1.0 } else { crossing(|p| at_least(successes + 1, p) < 1.0 - TAIL) };
    (low, high)
}

/// Where a condition that holds for small shares ceases to.
fn crossing(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if holds(middle) { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// McNemar's exact test of two that answered the same questions: `b` times only the one was right, `c` times only the
/// other. The probability of a difference at least so great if both are equally good.
pub fn mcnemar_exact(b: u64, c: u64) -> f64 {
    let (Ok(all), fewer) = (u32::try_from(b.saturating_add(c)), b.min(c)) else {
        return 0.0;
    };
    let fewer = usize::try_from(fewer).unwrap_or(usize::MAX);
    (2.0 * binomial(all, 0.5).iter().take(fewer.saturating_add(1)).sum::<f64>()).min(1.0)
}

/// How often each of `counts.len()` items is in resample number `resample`: as many are drawn as there are items, each
/// draw from all of them.
pub fn resample(seed: u64, resample: u32, counts: &mut [u32]) {
    let mut draw = SeededDraw::new(seed, &format!("bootstrap {resample}"));
    counts.fill(0);
    for _ in 0..counts.len() {
        if let Some(count) = counts.get_mut(draw.below(counts.len())) {
            *count += 1;
        }
    }
}

/// The percentile interval of a statistic over `items` items, which is told how often each of them is in a resample. A
/// resample of which the statistic says nothing is left out; `None` where it says nothing of any.
pub fn bootstrap(
    items: usize,
    resamples: u32,
    seed: u64,
    statistic: impl Fn(&[u32]) -> Option<f64>,
) -> Option<(f64, f64)> {
    let mut counts = vec![0; items];
    let found = (0..resamples).filter_map(|number| {
        resample(seed, number, &mut counts);
        statistic(&counts)
    });
    percentiles(found.collect())
}

/// The percentile interval of a mean.
pub fn bootstrap_mean(values: &[f64], resamples: u32, seed: u64) -> Option<(f64, f64)> {
    bootstrap(values.len(), resamples, seed, |counts| mean(values, counts))
}

/// The percentile interval of the mean difference `a - b` of two that did the same things: the same ones are drawn of both.
pub fn paired_difference(a: &[f64], b: &[f64], resamples: u32, seed: u64) -> Option<(f64, f64)> {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    bootstrap_mean(&differences, resamples, seed)
}

fn mean(values: &[f64], counts: &[u32]) -> Option<f64> {
    let sum: f64 = values.iter().zip(counts).map(|(value, count)| value * f64::from(*count)).sum();
    (!values.is_empty()).then(|| sum / values.len() as f64)
}

/// The middle 95% of what resamples gave; what is no number is left out.
pub fn percentiles(mut found: Vec<f64>) -> Option<(f64, f64)> {
    found.retain(|value| value.is_finite());
    found.sort_by(f64::total_cmp);
    Some((quantile(&found, TAIL)?, quantile(&found, 1.0 - TAIL)?))
}

/// Between two values the quantile is in proportion between them.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted.get(place.floor() as usize)?, sorted.get(place.ceil() as usize)?);
    Some(low + (high - low) * place.fract())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(found: (f64, f64), expected: (f64, f64)) {
        let close = (found.0 - expected.0).abs() < 5e-5 && (found.1 - expected.1).abs() < 5e-5;
        assert!(close, "{found:?} is not {expected:?}");
    }

    /// Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    #[test]
    fn the_published_intervals_of_wilson_and_of_clopper_and_pearson() {
        for (successes, n, by_score, exact) in [
            (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
            (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
            (0, 20, (0.0, 0.1611), (0.0, 0.1684)),
            (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
        ] {
            near(wilson(successes, n), by_score);
            near(clopper_pearson(successes as u32, n as u32), exact);
        }
        assert_eq!((wilson(0, 0), wilson(7, 7).1, clopper_pearson(0, 0)), ((0.0, 1.0), 1.0, (0.0, 1.0)));
    }

    #[test]
    fn the_exact_test_of_mcnemar() {
        // By hand: 2 * (1 + 10 + 45) / 2^10.
        assert!((mcnemar_exact(8, 2) - 0.109_375).abs() < 1e-12);
        assert!((mcnemar_exact(2, 8) - 0.109_375).abs() < 1e-12);
        assert_eq!((mcnemar_exact(0, 0), mcnemar_exact(4, 4)), (1.0, 1.0));
        assert!((mcnemar_exact(10, 0) - 2.0 / 1024.0).abs() < 1e-12);
        assert!(mcnemar_exact(9_000, 8_000) < 1e-9, "many pairs do not underflow");
        assert!((mcnemar_exact(9_000, 9_001) - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_bootstrap_comes_from_its_seed_and_is_near_the_closed_form() {
        let values: Vec<f64> = (0..1_000).map(|n| f64::from(u8::from(n % 10 < 3))).collect();
        let found = bootstrap_mean(&values, RESAMPLES, 7).unwrap();
        assert_eq!(bootstrap_mean(&values, RESAMPLES, 7), Some(found));
        assert_ne!(bootstrap_mean(&values, RESAMPLES, 8), Some(found));
        let closed = wilson(300, 1_000);
        assert!(
            (found.0 - closed.0).abs() < 0.005 && (found.1 - closed.1).abs() < 0.005,
            "{found:?} {closed:?}"
        );
        assert_eq!((bootstrap_mean(&[], 10, 7), bootstrap_mean(&[1.0], 0, 7)), (None, None));
    }

    #[test]
    fn what_two_share_does_not_widen_the_interval_of_their_difference() {
        let a: Vec<f64> = (0..200).map(|n| f64::from(n % 7)).collect();
        let b: Vec<f64> = a.iter().map(|value| value - 0.5).collect();
        assert_eq!(paired_difference(&a, &b, RESAMPLES, 7), Some((0.5, 0.5)));
    }

    #[test]
    fn percentiles_are_in_proportion_and_leave_out_what_is_no_number() {
        let found = (0..=1_000).map(f64::from).chain([f64::NAN]).collect();
        let (low, high) = percentiles(found).unwrap();
        assert!((low - 25.0).abs() < 1e-9 && (high - 975.0).abs() < 1e-9, "{low} {high}");
        assert_eq!(percentiles(vec![f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn an_interval_holds_its_share_and_is_mirrored_by_that_of_the_failures(n in 1_u32..400, part in 0.0..=1.0_f64) {
            let successes = (f64::from(n) * part) as u32;
            let share = f64::from(successes) / f64::from(n);
            let both = [wilson(successes.into(), n.into()), clopper_pearson(successes, n)];
            let turned = [wilson((n - successes).into(), n.into()), clopper_pearson(n - successes, n)];
            for ((low, high), (turned_low, turned_high)) in both.into_iter().zip(turned) {
                prop_assert!(0.0 <= low && low <= share && share <= high && high <= 1.0, "{low} {share} {high}");
                prop_assert!((low - (1.0 - turned_high)).abs() < 1e-6 && (high - (1.0 - turned_low)).abs() < 1e-6);
            }
        }

        #[test]
        fn a_resample_has_as_many_as_there_are(items in 0_usize..300, seed: u64, number: u32) {
            let mut counts = vec![9; items];
            resample(seed, number, &mut counts);
            prop_assert_eq!(counts.iter().sum::<u32>() as usize, items);
        }

        #[test]
        fn a_paired_test_is_a_probability_and_has_two_sides(b in 0_u64..300, c in 0_u64..300) {
            let p = mcnemar_exact(b, c);
            prop_assert!(p > 0.0 && p <= 1.0);
            prop_assert_eq!(p, mcnemar_exact(c, b));
            prop_assert!(mcnemar_exact(b + 1, c) <= p || b < c);
        }
    }
}
