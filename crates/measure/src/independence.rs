//! How many voices a panel really has.
//!
//! Voices that err together count for less than their number: with `K` of them and a mean error correlation `rho` they are
//! worth `n_eff = K / (1 + (K - 1) rho)` independent ones.

use serde::Serialize;

/// A correlation for each pair; `None` where one of the two never erred or always did, so that nothing can be said.
pub type Correlations = Vec<Vec<Option<f64>>>;

/// How far the errors of some voices go together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Independence {
    /// The error correlation of each pair; 1 of each with itself.
    pub correlation: Correlations,
    /// The mean over all pairs of which something can be said.
    pub mean_rho: Option<f64>,
    /// How many independent voices they count for.
    pub n_eff: Option<f64>,
}

impl Independence {
    /// From who was wrong (or, as well, who was right) about each question: a list for each voice, all equally long.
    pub fn of(errors: &[Vec<bool>]) -> Self {
        let correlation = correlations(errors);
        let mean_rho = mean_rho(&correlation);
        let n_eff = mean_rho.and_then(|rho| effective_voices(errors.len(), rho));
        Self { correlation, mean_rho, n_eff }
    }
}

/// The correlation of two lists of yes and no. Of lists that differ in length the rest is left out.
pub fn phi(a: &[bool], b: &[bool]) -> Option<f64> {
    let (mut n, mut in_a, mut in_b, mut in_both) = (0_u64, 0_u64, 0_u64, 0_u64);
    for (a, b) in a.iter().zip(b) {
        n += 1;
        in_a += u64::from(*a);
        in_b += u64::from(*b);
        in_both += u64::from(*a && *b);
    }
    phi_of_counts(n, in_a, in_b, in_both)
}

/// The same from counts: of `n`, how many are in `a`, in `b`, and in both.
pub fn phi_of_counts(n: u64, a: u64, b: u64, both: u64) -> Option<f64> {
    let (n, a, b, both) = (n as f64, a as f64, b as f64, both as f64);
    let spread = (a * (n - a)) * (b * (n - b));
    (spread > 0.0).then(|| ((n * both - a * b) / spread.sqrt()).clamp(-1.0, 1.0))
}

/// The error correlation of each pair.
pub fn correlations(errors: &[Vec<bool>]) -> Correlations {
    let cell = |row: usize, column: usize, a: &[bool], b: &[bool]| {
        if row == column { Some(1.0) } else { phi(a, b) }
    };
    errors
        .iter()
        .enumerate()
        .map(|(row, a)| errors.iter().enumerate().map(|(column, b)| cell(row, column, a, b)).collect())
        .collect()
}

/// The mean over the pairs of a matrix that have a value; `None` where none has.
pub fn mean_rho(matrix: &[Vec<Option<f64>>]) -> Option<f64> {
    let above = matrix.iter().enumerate().flat_map(|(row, cells)| cells.iter().skip(row + 1)).flatten();
    let (sum, pairs) = above.fold((0.0, 0_u32), |(sum, pairs), rho| (sum + rho, pairs + 1));
    (pairs > 0).then(|| sum / f64::from(pairs))
}

/// How many independent voices `voices` of them count for, whose mean correlation is `rho`: one at `rho` 1, all of them at
/// 0, and more where their errors cancel. `None` for nobody, and where they cancel altogether.
pub fn effective_voices(voices: usize, rho: f64) -> Option<f64> {
    // A variance that is zero but for rounding would make a number of voices out of noise.
    const VANISHING: f64 = 1e-9;
    let voices = voices as f64;
    // `min` would take what is not a number for 1.
    let rho = if rho > 1.0 { 1.0 } else { rho };
    let spread = 1.0 + (voices - 1.0) * rho;
    (voices >= 1.0 && spread > VANISHING).then(|| voices / spread)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// "n_eff = K / (1 + (K-1) rho)", with the panel of five of EVIDENCE.md.
    #[test]
    fn five_voices_that_err_together_count_for_less_than_two() {
        assert!((effective_voices(5, 0.458_893_817).unwrap() - 1.763_310_6).abs() < 1e-6);
    }

    #[test]
    fn the_ends_are_guarded() {
        assert_eq!(effective_voices(7, 1.0), Some(1.0));
        assert_eq!(effective_voices(7, 1.000_001), Some(1.0), "rounding makes no fraction of a voice");
        assert_eq!(effective_voices(7, 0.0), Some(7.0));
        assert_eq!(effective_voices(1, 0.3), Some(1.0));
        assert_eq!(effective_voices(0, 0.3), None);
        assert_eq!(effective_voices(3, -0.5), None, "errors that cancel altogether");
        assert_eq!(effective_voices(3, -0.9), None, "no three voices can be so");
        assert_eq!(effective_voices(3, f64::NAN), None);
        assert!(effective_voices(3, -0.1).unwrap() > 3.0);
    }

    #[test]
    fn phi_of_a_table_that_can_be_checked_by_hand() {
        // 10 questions: 4 and 5 errors, 3 of them common: (10*3 - 4*5) / sqrt(4*6*5*5) = 10 / sqrt(600).
        let a = [true, true, true, true, false, false, false, false, false, false];
        let b = [true, true, true, false, true, true, false, false, false, false];
        assert!((phi(&a, &b).unwrap() - 10.0 / 600_f64.sqrt()).abs() < 1e-12);
        assert_eq!(phi(&a, &[true; 10]), None, "who always errs tells nothing");
        assert_eq!(phi(&[], &[]), None);
    }

    #[test]
    fn pairs_of_which_nothing_can_be_said_are_left_out_of_the_mean() {
        let errors = [vec![true, false, true, false], vec![true, false, true, false], vec![false; 4]];
        let all = Independence::of(&errors);
        assert_eq!((all.mean_rho, all.n_eff), (Some(1.0), Some(1.0)));
        assert_eq!(all.correlation[2], [None, None, Some(1.0)]);
        assert_eq!(Independence::of(&errors[..1]).mean_rho, None);
    }

    proptest! {
        #[test]
        fn phi_is_bounded_symmetric_and_the_same_for_rights_as_for_errors(
            pairs in proptest::collection::vec(any::<(bool, bool)>(), 0..60)
        ) {
            let (a, b): (Vec<bool>, Vec<bool>) = pairs.into_iter().unzip();
            let rho = phi(&a, &b);
            prop_assert_eq!(rho, phi(&b, &a));
            prop_assert!(rho.is_none_or(|rho| (-1.0..=1.0).contains(&rho)));
            let not = |list: &[bool]| list.iter().map(|x| !x).collect::<Vec<_>>();
            let turned = phi(&not(&a), &not(&b));
            prop_assert_eq!(rho.is_some(), turned.is_some());
            if let (Some(rho), Some(turned)) = (rho, turned) {
                prop_assert!((rho - turned).abs() < 1e-12);
            }
            if let Some(same) = phi(&a, &a) {
                prop_assert!((same - 1.0).abs() < 1e-12);
            }
        }

        #[test]
        fn voices_that_go_together_count_for_one_to_all(voices in 1_usize..50, rho in 0.0..=1.0_f64) {
            let n = effective_voices(voices, rho).unwrap();
            prop_assert!(n >= 1.0 - 1e-12 && n <= voices as f64 + 1e-12);
        }
    }
}
