//! What a vote would do by chance alone: closed forms to hold measurements against.

/// How likely the majority of `voters` is right when each is right with probability `p`, independently (Condorcet's
/// theorem). A tie of an even number is decided by a coin.
pub fn majority(voters: u32, p: f64) -> f64 {
    majority_correlated(voters, p, 0.0)
}

/// The same for voters whose answers are correlated by `rho`: how many are right has a beta-binomial distribution.
pub fn majority_correlated(voters: u32, p: f64, rho: f64) -> f64 {
    let (p, rho) = (p.clamp(0.0, 1.0), rho.clamp(0.0, 1.0));
    // Voters that always agree are one voter, and one that is always right or always wrong needs no distribution.
    if voters == 0 || rho >= 1.0 || p <= 0.0 || p >= 1.0 {
        return if voters == 0 { 0.5 } else { p };
    }
    let right = if rho > 0.0 { beta_binomial(voters, p, rho) } else { binomial(voters, p) };
    let voters = u64::from(voters);
    let wins = |(right, share): (u64, f64)| match (2 * right).cmp(&voters) {
        std::cmp::Ordering::Greater => share,
        std::cmp::Ordering::Equal => share / 2.0,
        std::cmp::Ordering::Less => 0.0,
    };
    (0..).zip(right).map(wins).sum::<f64>().min(1.0)
}

/// The probabilities of 0, 1, 2, ... successes in `n` tries; `p` is neither 0 nor 1.
pub(crate) fn binomial(n: u32, p: f64) -> Vec<f64> {
    let odds = (p / (1.0 - p)).ln();
    distribution(n, f64::from(n) * (1.0 - p).ln(), |k| ((f64::from(n) - k) / (k + 1.0)).ln() + odds)
}

fn beta_binomial(n: u32, p: f64, rho: f64) -> Vec<f64> {
    let weight = 1.0 / rho - 1.0;
    let (alpha, beta) = (p * weight, (1.0 - p) * weight);
    let none = (0..n).map(|i| ((beta + f64::from(i)) / (weight + f64::from(i))).ln()).sum();
    let n_f = f64::from(n);
    distribution(n, none, |k| ((n_f - k) / (k + 1.0) * (k + alpha) / (n_f - k - 1.0 + beta)).ln())
}

/// In logarithms, because the first of many tries is too small for a float long before the middle is.
fn distribution(n: u32, none: f64, step: impl Fn(f64) -> f64) -> Vec<f64> {
    let further = (0..n).scan(none, |ln, k| {
        *ln += step(f64::from(k));
        Some(ln.exp())
    });
    std::iter::once(none.exp()).chain(further).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn to_three_digits(value: f64) -> String {
        format!("{value:.3}")
    }

    /// "Condorcet p=0.6: 0.648 / 0.683 / 0.710 / 0.733 for N = 3, 5, 7, 9".
    #[test]
    fn condorcet() {
        let found = [3, 5, 7, 9].map(|voters| to_three_digits(majority(voters, 0.6)));
        assert_eq!(found, ["0.648", "0.683", "0.710", "0.733"]);
    }

    /// "Beta-binomial N=9, p=0.8: 0.980 independent, 0.834 at rho 0.44".
    #[test]
    fn nine_voters_that_err_together() {
        assert_eq!(to_three_digits(majority_correlated(9, 0.8, 0.0)), "0.980");
        assert_eq!(to_three_digits(majority_correlated(9, 0.8, 0.44)), "0.834");
    }

    #[test]
    fn many_voters_and_the_ends() {
        assert!(majority(20_001, 0.51) > 0.99);
        assert_eq!((majority(0, 0.9), majority(1, 1.0), majority(5, 0.0)), (0.5, 1.0, 0.0));
        assert!((majority(2, 0.7) - 0.7).abs() < 1e-12, "two voters and a coin are one voter");
        assert_eq!(majority_correlated(9, 0.8, 1.0), 0.8);
        assert!((majority_correlated(9, 0.8, 1e-9) - majority(9, 0.8)).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn a_majority_is_a_probability_and_correlation_takes_from_it(
            half in 1_u32..40, p in 0.5..1.0_f64, rho in 0.0..1.0_f64
        ) {
            let voters = 2 * half + 1;
            let (together, apart) = (majority_correlated(voters, p, rho), majority(voters, p));
            prop_assert!((0.0..=1.0).contains(&together));
            prop_assert!(together <= apart + 1e-9, "{together} {apart}");
            prop_assert!(together >= p - 1e-9, "{together} {p}");
        }

        #[test]
        fn the_wrong_win_as_often_as_the_right_do_at_the_opposite_chance(
            voters in 1_u32..60, p in 0.0..=1.0_f64, rho in 0.0..=1.0_f64
        ) {
            let sum = majority_correlated(voters, p, rho) + majority_correlated(voters, 1.0 - p, rho);
            prop_assert!((sum - 1.0).abs() < 1e-9);
        }
    }
}
