//! How many independent voices a panel has.
//!
//! Voices that make the same errors count for less than their number. `K` voices whose errors have a mean correlation of
//! `rho` are worth `n_eff = K / (1 + (K - 1) rho)` independent voices.

use serde::Serialize;

/// A correlation for each pair; `None` if one of the two is always right or always wrong, which leaves no correlation.
pub type CorrelationMatrix = Vec<Vec<Option<f64>>>;

/// How the errors of a panel are correlated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PanelIndependence {
    /// The error correlation of each pair, with 1 on the diagonal.
    pub correlation: CorrelationMatrix,
    /// The mean over all pairs that have a correlation.
    pub mean_rho: Option<f64>,
    /// The number of independent voices that the panel is worth.
    pub n_eff: Option<f64>,
}

impl PanelIndependence {
    /// Takes one list per voice: whether it was wrong about each question. Lists of who was right give the same result.
    pub fn from_errors(errors: &[Vec<bool>]) -> Self {
        let cell = |row: usize, column: usize, a: &[bool], b: &[bool]| {
            if row == column { Some(1.0) } else { phi_coefficient(a, b) }
        };
        let correlation: CorrelationMatrix = errors
            .iter()
            .enumerate()
            .map(|(row, a)| errors.iter().enumerate().map(|(column, b)| cell(row, column, a, b)).collect())
            .collect();
        let mean_rho = mean_correlation(&correlation);
        let n_eff = mean_rho.and_then(|rho| effective_voices(errors.len(), rho));
        Self { correlation, mean_rho, n_eff }
    }
}

/// The correlation of two lists of yes and no. If one list is longer, its rest is ignored.
pub fn phi_coefficient(a: &[bool], b: &[bool]) -> Option<f64> {
    let (mut n, mut in_a, mut in_b, mut in_both) = (0_u64, 0_u64, 0_u64, 0_u64);
    for (a, b) in a.iter().zip(b) {
        n += 1;
        in_a += u64::from(*a);
        in_b += u64::from(*b);
        in_both += u64::from(*a && *b);
    }
    phi_from_counts(n, in_a, in_b, in_both)
}

/// The correlation from counts: of `n` cases, how many are in `a`, in `b`, and in both.
pub fn phi_from_counts(n: u64, a: u64, b: u64, both: u64) -> Option<f64> {
    let (n, a, b, both) = (n as f64, a as f64, b as f64, both as f64);
    let spread = (a * (n - a)) * (b * (n - b));
    (spread > 0.0).then(|| ((n * both - a * b) / spread.sqrt()).clamp(-1.0, 1.0))
}

/// The mean over the pairs above the diagonal that have a value; `None` if none has.
pub fn mean_correlation(matrix: &[Vec<Option<f64>>]) -> Option<f64> {
    let pairs = matrix.iter().enumerate().flat_map(|(row, cells)| cells.iter().skip(row + 1)).flatten();
    let (sum, pairs) = pairs.fold((0.0, 0_u32), |(sum, pairs), rho| (sum + rho, pairs + 1));
    (pairs > 0).then(|| sum / f64::from(pairs))
}

/// How many independent voices `voices` voices with a mean error correlation of `rho` are worth: 1 at `rho` 1, all of them at
/// 0, more than all if their errors cancel out. `None` without voices, and if the errors cancel out completely.
pub fn effective_voices(voices: usize, rho: f64) -> Option<f64> {
    // Below this, the variance is zero except for rounding, and the quotient would be noise.
    const VARIANCE_MIN: f64 = 1e-9;
    let voices = voices as f64;
    // `f64::min` would turn NaN into 1.
    let rho = if rho > 1.0 { 1.0 } else { rho };
    let variance = 1.0 + (voices - 1.0) * rho;
    (voices >= 1.0 && variance > VARIANCE_MIN).then(|| voices / variance)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The panel of five of EVIDENCE.md.
    #[test]
    fn five_correlated_voices_are_worth_less_than_two() {
        assert!((effective_voices(5, 0.458_893_817).unwrap() - 1.763_310_6).abs() < 1e-6);
    }

    #[test]
    fn effective_voices_at_the_limits() {
        assert_eq!(effective_voices(7, 1.0), Some(1.0));
        assert_eq!(effective_voices(7, 1.000_001), Some(1.0), "rounding does not give less than one voice");
        assert_eq!(effective_voices(7, 0.0), Some(7.0));
        assert_eq!(effective_voices(1, 0.3), Some(1.0));
        assert_eq!(effective_voices(0, 0.3), None);
        assert_eq!(effective_voices(3, -0.5), None, "the errors cancel out completely");
        assert_eq!(effective_voices(3, -0.9), None, "impossible for three voices");
        assert_eq!(effective_voices(3, f64::NAN), None);
        assert!(effective_voices(3, -0.1).unwrap() > 3.0);
    }

    #[test]
    fn phi_of_a_table_that_can_be_checked_by_hand() {
        // 10 questions, 4 and 5 errors, 3 of them common: (10*3 - 4*5) / sqrt(4*6*5*5) = 10 / sqrt(600).
        let a = [true, true, true, true, false, false, false, false, false, false];
        let b = [true, true, true, false, true, true, false, false, false, false];
        assert!((phi_coefficient(&a, &b).unwrap() - 10.0 / 600_f64.sqrt()).abs() < 1e-12);
        assert_eq!(phi_coefficient(&a, &[true; 10]), None, "a voice that is always wrong has no correlation");
        assert_eq!(phi_coefficient(&[], &[]), None);
    }

    #[test]
    fn pairs_without_a_correlation_do_not_count_in_the_mean() {
        let errors = [vec![true, false, true, false], vec![true, false, true, false], vec![false; 4]];
        let panel = PanelIndependence::from_errors(&errors);
        assert_eq!((panel.mean_rho, panel.n_eff), (Some(1.0), Some(1.0)));
        assert_eq!(panel.correlation[2], [None, None, Some(1.0)]);
        assert_eq!(PanelIndependence::from_errors(&errors[..1]).mean_rho, None);
    }

    proptest! {
        #[test]
        fn phi_is_bounded_symmetric_and_the_same_for_rights_as_for_errors(
            pairs in proptest::collection::vec(any::<(bool, bool)>(), 0..60)
        ) {
            let (a, b): (Vec<bool>, Vec<bool>) = pairs.into_iter().unzip();
            let rho = phi_coefficient(&a, &b);
            prop_assert_eq!(rho, phi_coefficient(&b, &a));
            prop_assert!(rho.is_none_or(|rho| (-1.0..=1.0).contains(&rho)));
            let negated = |list: &[bool]| list.iter().map(|x| !x).collect::<Vec<_>>();
            let of_negated = phi_coefficient(&negated(&a), &negated(&b));
            prop_assert_eq!(rho.is_some(), of_negated.is_some());
            if let (Some(rho), Some(of_negated)) = (rho, of_negated) {
                prop_assert!((rho - of_negated).abs() < 1e-12);
            }
            if let Some(with_itself) = phi_coefficient(&a, &a) {
                prop_assert!((with_itself - 1.0).abs() < 1e-12);
            }
        }

        #[test]
        fn positively_correlated_voices_are_worth_between_one_and_all(voices in 1_usize..50, rho in 0.0..=1.0_f64) {
            let n = effective_voices(voices, rho).unwrap();
            prop_assert!(n >= 1.0 - 1e-12 && n <= voices as f64 + 1e-12);
        }
    }
}
