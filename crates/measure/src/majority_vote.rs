//! How often a majority vote is right, as closed forms. Measurements are compared with these.

/// The probability that the majority of `voters` is right if each voter is right with probability `p`, independently of the
/// others (Condorcet's theorem). A coin decides a tie.
pub fn majority_accuracy(voters: u32, p: f64) -> f64 {
    correlated_majority_accuracy(voters, p, 0.0)
}

/// The same for voters whose answers have a correlation of `rho`: the number of right voters is beta-binomial.
pub fn correlated_majority_accuracy(voters: u32, p: f64, rho: f64) -> f64 {
    let (p, rho) = (p.clamp(0.0, 1.0), rho.clamp(0.0, 1.0));
    // Fully correlated voters are one voter. At 0 and 1 the formulas below would divide by zero.
    if voters == 0 || rho >= 1.0 || p <= 0.0 || p >= 1.0 {
        return if voters == 0 { 0.5 } else { p };
    }
    let right = if rho > 0.0 {
        beta_binomial_probabilities(voters, p, rho)
    } else {
        binomial_probabilities(voters, p)
    };
    let voters = u64::from(voters);
    let wins = |(right, probability): (u64, f64)| match (2 * right).cmp(&voters) {
        std::cmp::Ordering::Greater => probability,
        std::cmp::Ordering::Equal => probability / 2.0,
        std::cmp::Ordering::Less => 0.0,
    };
    (0..).zip(right).map(wins).sum::<f64>().min(1.0)
}

/// The probabilities of 0, 1, ..., `n` successes in `n` tries. `p` must not be 0 or 1.
pub(crate) fn binomial_probabilities(n: u32, p: f64) -> Vec<f64> {
    let odds = (p / (1.0 - p)).ln();
    let trials = f64::from(n);
    from_log_steps(n, trials * (1.0 - p).ln(), |k| ((trials - k) / (k + 1.0)).ln() + odds)
}

fn beta_binomial_probabilities(n: u32, p: f64, rho: f64) -> Vec<f64> {
    let weight = 1.0 / rho - 1.0;
    let (alpha, beta) = (p * weight, (1.0 - p) * weight);
    let none = (0..n).map(|i| ((beta + f64::from(i)) / (weight + f64::from(i))).ln()).sum();
    let trials = f64::from(n);
    from_log_steps(n, none, |k| ((trials - k) / (k + 1.0) * (k + alpha) / (trials - k - 1.0 + beta)).ln())
}

/// Adds up logarithms, because with many tries the probability of no success underflows.
fn from_log_steps(n: u32, ln_none: f64, ln_step: impl Fn(f64) -> f64) -> Vec<f64> {
    let further = (0..n).scan(ln_none, |ln, k| {
        *ln += ln_step(f64::from(k));
        Some(ln.exp())
    });
    std::iter::once(ln_none.exp()).chain(further).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn three_digits(value: f64) -> String {
        format!("{value:.3}")
    }

    /// "Condorcet p=0.6: 0.648 / 0.683 / 0.710 / 0.733 for N = 3, 5, 7, 9" (EVIDENCE.md).
    #[test]
    fn independent_voters_follow_condorcet() {
        let found = [3, 5, 7, 9].map(|voters| three_digits(majority_accuracy(voters, 0.6)));
        assert_eq!(found, ["0.648", "0.683", "0.710", "0.733"]);
    }

    /// "Beta-binomial N=9, p=0.8: 0.980 independent, 0.834 at rho 0.44" (EVIDENCE.md).
    #[test]
    fn correlated_voters_are_right_less_often() {
        assert_eq!(three_digits(correlated_majority_accuracy(9, 0.8, 0.0)), "0.980");
        assert_eq!(three_digits(correlated_majority_accuracy(9, 0.8, 0.44)), "0.834");
    }

    #[test]
    fn limits_and_large_numbers() {
        assert!(majority_accuracy(20_001, 0.51) > 0.99);
        let limits = (majority_accuracy(0, 0.9), majority_accuracy(1, 1.0), majority_accuracy(5, 0.0));
        assert_eq!(limits, (0.5, 1.0, 0.0));
        assert!((majority_accuracy(2, 0.7) - 0.7).abs() < 1e-12, "two voters and a coin are like one voter");
        assert_eq!(correlated_majority_accuracy(9, 0.8, 1.0), 0.8);
        let nearly_independent = correlated_majority_accuracy(9, 0.8, 1e-9);
        assert!((nearly_independent - majority_accuracy(9, 0.8)).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn correlation_lowers_the_accuracy_of_a_majority(half in 1_u32..40, p in 0.5..1.0_f64, rho in 0.0..1.0_f64) {
            let voters = 2 * half + 1;
            let (correlated, independent) =
                (correlated_majority_accuracy(voters, p, rho), majority_accuracy(voters, p));
            prop_assert!((0.0..=1.0).contains(&correlated));
            prop_assert!(correlated <= independent + 1e-9, "{correlated} {independent}");
            prop_assert!(correlated >= p - 1e-9, "{correlated} {p}");
        }

        #[test]
        fn right_and_wrong_are_symmetric(voters in 1_u32..60, p in 0.0..=1.0_f64, rho in 0.0..=1.0_f64) {
            let sum = correlated_majority_accuracy(voters, p, rho)
                + correlated_majority_accuracy(voters, 1.0 - p, rho);
            prop_assert!((sum - 1.0).abs() < 1e-9);
        }
    }
}
