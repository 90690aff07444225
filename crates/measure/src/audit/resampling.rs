//! The intervals of all figures, on all cores, the same on any number of them.

use std::collections::BTreeMap;

use crate::interval::{RESAMPLES, percentiles, resample, wilson};
use serde::Serialize;

/// 95% intervals by the name of the figure. One that cannot be measured has none.
pub type Intervals = BTreeMap<String, (f64, f64)>;

/// What intervals are drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Bootstrap {
    /// How many times all questions are drawn anew.
    pub resamples: u32,
    /// Where chance comes from: the same seed gives the same intervals.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { resamples: RESAMPLES, seed: 0 }
    }
}

impl Bootstrap {
    /// The interval of each figure that `figures` gives, in its order, when it is told how often each of `items` is in a
    /// resample. A figure that a resample says nothing of is `NaN` there.
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
                resample(self.seed, number, &mut counts);
                figures(&counts)
            };
            numbers.map(one).collect::<Vec<_>>()
        };
        let found: Vec<Vec<f64>> = std::thread::scope(|scope| {
            let firsts = (0..self.resamples).step_by(share as usize);
            let running: Vec<_> = firsts.map(|first| scope.spawn(move || run(first))).collect();
            let ended = running.into_iter().map(|thread| thread.join());
            ended.flat_map(|found| found.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        let figures = found.first().map_or(0, Vec::len);
        let of = |figure: usize| found.iter().filter_map(|found| found.get(figure).copied()).collect();
        (0..figures).map(|figure| percentiles(of(figure))).collect()
    }
}

/// As many threads as the machine has cores, unless told.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    asked.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1).max(1)
}

/// The interval of a share of `n`. Of one that is nothing or all, every resample says the same, however few there are: then
/// it is Wilson's.
pub(crate) fn of_share(drawn: Option<(f64, f64)>, share: f64, n: usize) -> Option<(f64, f64)> {
    match share {
        0.0 => drawn.map(|_| wilson(0, n as u64)),
        1.0 => drawn.map(|_| wilson(n as u64, n as u64)),
        _ => drawn,
    }
}

/// Fewer than this say little, and an interval drawn from them is rough.
const FEW: usize = 30;

/// What to say of so few.
pub(crate) fn few(n: usize, what: &str) -> Option<String> {
    (n < FEW).then(|| format!("Only {n} {what}: all figures are rough, their intervals too."))
}

/// The names of those figures that have an interval, with it.
pub(crate) fn named<'a>(
    names: impl IntoIterator<Item = &'a str>,
    intervals: impl IntoIterator<Item = Option<(f64, f64)>>,
) -> Intervals {
    let pair = |(name, interval): (&str, Option<(f64, f64)>)| Some((name.to_owned(), interval?));
    names.into_iter().zip(intervals).filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_is_nothing_or_all_is_not_certain() {
        let drawn = Some((1.0, 1.0));
        assert_eq!(of_share(drawn, 1.0, 4), Some(wilson(4, 4)));
        assert_eq!((of_share(Some((0.0, 0.0)), 0.0, 4), of_share(None, 1.0, 4)), (Some(wilson(0, 4)), None));
        assert_eq!(of_share(Some((0.2, 0.6)), 0.4, 10), Some((0.2, 0.6)));
    }

    #[test]
    fn intervals_are_the_same_on_any_number_of_threads() {
        let values: Vec<f64> = (0..50).map(f64::from).collect();
        let mean = |counts: &[u32]| {
            vec![
                values.iter().zip(counts).map(|(value, count)| value * f64::from(*count)).sum::<f64>() / 50.0,
                f64::NAN,
            ]
        };
        let bootstrap = Bootstrap { resamples: 101, seed: 5 };
        let alone = bootstrap.intervals(50, 1, mean);
        assert!(matches!(alone[..], [Some((low, high)), None] if low < 24.5 && high > 24.5), "{alone:?}");
        for threads in [0, 2, 3, 7, 200] {
            assert_eq!(bootstrap.intervals(50, threads, mean), alone, "{threads} threads");
        }
        assert_eq!(Bootstrap { resamples: 0, seed: 5 }.intervals(50, 2, mean), []);
    }
}
