//! What debate does by itself, to seats that only count the answers they hear: it leaves belief as it is, and makes a vote worse.
//!
//! Each seat begins with a belief that weighs as much as one round of answers. It answers by a draw from its belief, hears all
//! answers and adds them to its count. Under this model debate is a martingale. With 5 seats at 0.6, everybody begins with three right
//! counts and two wrong ones. A vote before the debate is then right with probability 0.683, and one after five rounds with 0.656,
//! though the mean belief stays 0.6, because the voices are no longer independent. If a right answer weighs 30% more than a wrong one,
//! the vote after five rounds is right with probability 0.772. All three figures are exact sums over the states of the urn.

use agon_core::SeededDraw;
use serde::{Deserialize, Serialize};

use super::seat_behaviour::{HeardViews, SimulatedPopulation};

/// Belief and vote by round, over many tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NeutralUpdating {
    /// The number of tables.
    pub trials: usize,
    /// How much more a right answer weighs.
    pub drift: f64,
    /// From before the first round to after the last.
    pub rounds: Vec<RoundBelief>,
}

/// Belief and vote after a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RoundBelief {
    /// 0 is before the seats read each other.
    pub round: u32,
    /// The mean of all seats' belief in the truth.
    pub mean_belief: f64,
    /// How often most seats are right; a tie is right half of the time.
    pub majority_accuracy: f64,
}

/// Lets `trials` tables update by counting for `rounds` rounds.
pub fn neutral_updating(
    population: &SimulatedPopulation,
    rounds: u32,
    trials: usize,
    seed: u64,
) -> NeutralUpdating {
    let counting = SimulatedPopulation { neutral: true, ..population.clone() };
    let mut sums = vec![(0.0, 0.0); rounds as usize + 1];
    for trial in 0..trials {
        let seed = SeededDraw::new(seed, &format!("table {trial}")).next_u64();
        for (sum, (belief, vote)) in sums.iter_mut().zip(one_table(&counting, rounds, seed)) {
            *sum = (sum.0 + belief, sum.1 + vote);
        }
    }
    let mean = |sum: f64| sum / trials.max(1) as f64;
    let rounds = sums.iter().zip(0..).map(|((belief, vote), round)| RoundBelief {
        round,
        mean_belief: mean(*belief),
        majority_accuracy: mean(*vote),
    });
    NeutralUpdating { trials, drift: counting.drift, rounds: rounds.collect() }
}

/// One table: for each round, the belief with which everybody answers and how right the vote on the answers is.
fn one_table(population: &SimulatedPopulation, rounds: u32, seed: u64) -> Vec<(f64, f64)> {
    let mut draw = SeededDraw::new(seed, "updates");
    let mut views = population.first_views(seed);
    let (mut right_said, mut wrong_said) = (0, 0);
    let mut by_round = Vec::with_capacity(rounds as usize + 1);
    for round in 0..=rounds {
        let belief = population.belief(right_said, wrong_said);
        let right = views.iter().filter(|view| **view).count();
        by_round.push((belief, vote_accuracy(right, views.len())));
        if round == rounds {
            break;
        }
        right_said += right;
        wrong_said += views.len() - right;
        for view in &mut views {
            let others = right - usize::from(*view);
            let wrong = population.seats.saturating_sub(1 + others);
            let heard = HeardViews { right: others, wrong, fabricated: false, right_said, wrong_said };
            *view = population.update(*view, &heard, &mut draw).right;
        }
    }
    by_round
}

/// How right a plain vote is: 1, 0, or 0.5 if it is tied.
pub(super) fn vote_accuracy(right: usize, seats: usize) -> f64 {
    match (2 * right).cmp(&seats) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIALS: usize = 20_000;

    fn ends(drift: f64, seed: u64) -> (RoundBelief, RoundBelief, Vec<RoundBelief>) {
        let population = SimulatedPopulation { drift, ..SimulatedPopulation::default() };
        let rounds = neutral_updating(&population, 5, TRIALS, seed).rounds;
        (rounds[0], rounds[5], rounds)
    }

    /// The mean belief of 0.600 stays within 0.002 over 5 rounds and 20,000 trials, while the vote falls from about 0.69 to 0.66.
    #[test]
    fn counting_keeps_the_mean_belief_and_makes_the_vote_worse() {
        for seed in [1, 2, 3] {
            let (before, after, rounds) = ends(0.0, seed);
            println!("seed {seed}: {rounds:?}");
            assert!(rounds.iter().all(|round| (round.mean_belief - 0.6).abs() <= 0.002), "seed {seed}");
            assert!((before.majority_accuracy - 0.69).abs() < 0.015, "seed {seed}: {before:?}");
            assert!((after.majority_accuracy - 0.66).abs() < 0.015, "seed {seed}: {after:?}");
            assert!(before.majority_accuracy - after.majority_accuracy > 0.015, "seed {seed}");
        }
    }

    /// A drift of 30% lifts the vote to about 0.78.
    #[test]
    fn a_drift_to_the_truth_improves_belief_and_vote() {
        for seed in [1, 2, 3] {
            let (before, after, rounds) = ends(0.3, seed);
            println!("seed {seed}: {rounds:?}");
            assert!((after.majority_accuracy - 0.78).abs() < 0.015, "seed {seed}: {after:?}");
            assert!(after.mean_belief > before.mean_belief + 0.05, "seed {seed}");
        }
    }

    /// The exact figures of the module's documentation.
    #[test]
    fn the_trials_agree_with_the_exact_sum_over_the_urn() {
        for drift in [0.0, 0.3] {
            let (_, _, rounds) = ends(drift, 1);
            let exact = exact(&SimulatedPopulation { drift, ..SimulatedPopulation::default() });
            for (found, exact) in rounds.iter().zip(&exact) {
                assert!((found.majority_accuracy - exact).abs() < 0.011, "{found:?} for {exact}");
            }
            let last = if drift > 0.0 { 0.772 } else { 0.656 };
            assert!((exact[0] - 0.683).abs() < 0.0005 && (exact[5] - last).abs() < 0.0005, "{exact:?}");
        }
    }

    /// The probability that the vote of each round is right. A state is the number of right answers so far.
    fn exact(population: &SimulatedPopulation) -> Vec<f64> {
        let n = population.seats;
        let ways = |k: usize| (0..k).fold(1.0, |ways, at| ways * (n - at) as f64 / (at + 1) as f64);
        let mut states = vec![1.0];
        let mut votes = Vec::new();
        for _ in 0..=5 {
            let heard = states.len() - 1;
            let (mut next, mut right) = (vec![0.0; states.len() + n], 0.0);
            for (said, weight) in states.iter().enumerate() {
                let belief = population.belief(said, heard - said);
                for k in 0..=n {
                    let chance = ways(k) * belief.powi(k as i32) * (1.0 - belief).powi((n - k) as i32);
                    next[said + k] += weight * chance;
                    right += weight * chance * vote_accuracy(k, n);
                }
            }
            votes.push(right);
            states = next;
        }
        votes
    }
}
