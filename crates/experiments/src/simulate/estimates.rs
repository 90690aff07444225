//! From what many debates show to what was planted, each figure with its 95% interval.
//!
//! A change of mind that cites another seat's point or a piece of evidence is due to the evidence. Of the others:
//!
//! - Seats that no majority contradicts change their minds by chance: their share is the spontaneous flips `s`.
//! - Seats that most of the others contradict change by chance or by pressure: their share is `r = s + (1 - s) c`, so the
//!   conformity `c` is `(r - s) / (1 - s)`.
//! - The persuadability `q` is the share that changes with evidence, among all seats that read the other view.
//! - A judge that ignores the order likes the first of `n` things best in one of `n` cases. If it does so with frequency `f`, the
//!   position bias is `b = (f - 1/n) / (1 - 1/n)`.

use agon_measure::intervals::{RESAMPLES, bootstrap, bootstrap_mean, wilson};
use serde::{Deserialize, Serialize};

use super::observation::{DebateObservation, ObservedRound};

/// A share with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShareEstimate {
    /// How many.
    pub count: f64,
    /// Of how many.
    pub of: usize,
    /// The share; `None` of nothing.
    pub share: Option<f64>,
    /// The 95% interval.
    pub interval: [f64; 2],
}

impl ShareEstimate {
    /// The share of `count` in `of`, with Wilson's interval. A tied vote counts as half a case.
    pub fn of_count(count: f64, of: usize) -> Self {
        let (low, high) = wilson(count.round() as u64, of as u64);
        Self { count, of, share: (of > 0).then(|| count / of as f64), interval: [low, high] }
    }

    /// The mean of one share for each debate. Seats of one debate are not independent, so the interval resamples whole debates.
    pub fn mean_of(shares: &[f64], seed: u64) -> Self {
        let (count, of) = (shares.iter().sum::<f64>(), shares.len());
        let (low, high) = bootstrap_mean(shares, RESAMPLES, seed).unwrap_or((0.0, 1.0));
        Self { count, of, share: (of > 0).then(|| count / of as f64), interval: [low, high] }
    }
}

/// An estimate of something that was planted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlantedEstimate {
    /// The estimate; `None` where the debates say nothing about it.
    pub value: Option<f64>,
    /// The 95% interval.
    pub interval: Option<[f64; 2]>,
    /// The number of cases it rests on.
    pub cases: usize,
}

/// What the debates say about their seats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlantedEstimates {
    /// `s`.
    pub flips: PlantedEstimate,
    /// `c`.
    pub conformity: PlantedEstimate,
    /// `q`.
    pub persuadable: PlantedEstimate,
    /// `b`.
    pub position_bias: PlantedEstimate,
}

/// Estimates `s`, `c`, `q` and `b`. The seed is that of the resamples.
pub fn estimates(observations: &[DebateObservation], seed: u64) -> PlantedEstimates {
    let counts: Vec<MoveCounts> = observations.iter().map(MoveCounts::of).collect();
    let sum = |of: fn(&MoveCounts) -> usize| counts.iter().map(of).sum::<usize>();
    let plain = |hits: usize, cases: usize| {
        let share = ShareEstimate::of_count(hits as f64, cases);
        PlantedEstimate { value: share.share, interval: (cases > 0).then_some(share.interval), cases }
    };
    PlantedEstimates {
        flips: plain(sum(|c| c.unpressed_flips), sum(|c| c.unpressed)),
        persuadable: plain(sum(|c| c.evidenced), sum(|c| c.exposed)),
        conformity: conformity(&counts, seed),
        position_bias: position_bias(observations, seed),
    }
}

/// What one debate adds to the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct MoveCounts {
    /// Seats that no majority contradicted and that cited no evidence; of those, the ones that changed.
    unpressed: usize,
    unpressed_flips: usize,
    /// Seats that a majority contradicted and that cited no evidence; of those, the ones that changed.
    pressed: usize,
    pressed_flips: usize,
    /// Seats that read the other view; of those, the ones that changed and cited evidence.
    exposed: usize,
    evidenced: usize,
}

impl MoveCounts {
    fn of(observation: &DebateObservation) -> Self {
        let mut counts = Self::default();
        for (before, after) in observation.rounds.iter().zip(observation.rounds.iter().skip(1)) {
            counts.add(before, after);
        }
        counts
    }

    fn add(&mut self, before: &ObservedRound, after: &ObservedRound) {
        for then in &before.seats {
            let Some(now) = after.seats.iter().find(|now| now.seat == then.seat) else { continue };
            let others = || before.seats.iter().filter(|other| other.seat != then.seat);
            let with = others().filter(|other| other.side == then.side).count();
            let against = others().count() - with;
            let changed = now.side != then.side;
            let evidenced = changed && now.evidenced == Some(true);
            if against > 0 {
                self.exposed += 1;
                self.evidenced += usize::from(evidenced);
            }
            match (evidenced, against > with) {
                (true, _) => {}
                (false, true) => {
                    self.pressed += 1;
                    self.pressed_flips += usize::from(changed);
                }
                (false, false) => {
                    self.unpressed += 1;
                    self.unpressed_flips += usize::from(changed);
                }
            }
        }
    }
}

/// What a majority adds to chance. Both shares in it come from the same debates, so the interval resamples whole debates.
fn conformity(counts: &[MoveCounts], seed: u64) -> PlantedEstimate {
    let of = |weights: &dyn Fn(usize) -> usize| {
        let sum = |of: fn(&MoveCounts) -> usize| -> f64 {
            counts.iter().enumerate().map(|(place, counts)| weights(place) * of(counts)).sum::<usize>() as f64
        };
        let rate = |hits: f64, cases: f64| (cases > 0.0).then(|| hits / cases);
        let chance = rate(sum(|c| c.unpressed_flips), sum(|c| c.unpressed))?;
        let pressed = rate(sum(|c| c.pressed_flips), sum(|c| c.pressed))?;
        (chance < 1.0).then(|| (pressed - chance) / (1.0 - chance))
    };
    let interval = bootstrap(counts.len(), RESAMPLES, seed, |drawn| {
        of(&|place| drawn.get(place).map_or(0, |n| *n as usize))
    });
    let cases = counts.iter().map(|counts| counts.pressed).sum();
    PlantedEstimate { value: of(&|_| 1), interval: interval.map(|(low, high)| [low, high]), cases }
}

/// How much more often than by chance a judge likes the first thing best. The interval resamples whole debates, with all the times
/// that a judge was asked in one.
fn position_bias(observations: &[DebateObservation], seed: u64) -> PlantedEstimate {
    let excess = |shown: usize, first: bool| {
        let chance = 1.0 / shown.max(1) as f64;
        (f64::from(u8::from(first)) - chance) / (1.0 - chance)
    };
    let by_debate: Vec<Vec<f64>> = observations
        .iter()
        .map(|observation| {
            let choices = observation.judged.iter().filter(|(shown, _)| *shown > 1);
            choices.map(|(shown, first)| excess(*shown, *first)).collect()
        })
        .collect();
    let of = |weights: &dyn Fn(usize) -> f64| {
        let sums = by_debate.iter().enumerate().map(|(place, all)| {
            let weight = weights(place);
            (weight * all.iter().sum::<f64>(), weight * all.len() as f64)
        });
        let (sum, cases) = sums.fold((0.0, 0.0), |(sum, cases), (more, n)| (sum + more, cases + n));
        (cases > 0.0).then(|| sum / cases)
    };
    let interval = bootstrap(by_debate.len(), RESAMPLES, seed, |drawn| {
        of(&|place| drawn.get(place).map_or(0.0, |n| f64::from(*n)))
    });
    let cases = by_debate.iter().map(Vec::len).sum();
    PlantedEstimate { value: of(&|_| 1.0), interval: interval.map(|(low, high)| [low, high]), cases }
}

#[cfg(test)]
mod tests {
    use agon_core::{SeededDraw, SimulatedSide};

    use super::*;
    use crate::simulate::observation::{FlipCounts, ObservedPosition};
    use crate::simulate::population::{HeardViews, MoveCause, SimulatedPopulation};

    /// A debate as its log would show it. Debates that are really held would take too long: an interval needs thousands.
    fn observed(population: &SimulatedPopulation, rounds: u32, seed: u64) -> DebateObservation {
        let mut draw = SeededDraw::new(seed, "updates");
        let mut views: Vec<(bool, Option<bool>)> =
            population.first_views(seed).into_iter().map(|view| (view, None)).collect();
        let mut seen = Vec::new();
        for number in 0..=rounds {
            let seats = views.iter().enumerate().map(|(place, (right, evidenced))| ObservedPosition {
                seat: place.to_string(),
                side: if *right { SimulatedSide::Yes } else { SimulatedSide::No },
                evidenced: *evidenced,
            });
            seen.push(ObservedRound { number, seats: seats.collect() });
            let all = views.iter().filter(|(right, _)| *right).count();
            for (right, evidenced) in &mut views {
                let others = all - usize::from(*right);
                let wrong = population.seats - 1 - others;
                let heard = HeardViews { right: others, wrong, ..HeardViews::default() };
                let update = population.update(*right, &heard, &mut draw);
                *evidenced = (update.right != *right).then_some(update.cause == MoveCause::Evidence);
                *right = update.right;
            }
        }
        let mut judge = SeededDraw::new(seed, "judge");
        let judged = (0..2).map(|_| {
            let biased = judge.unit() < population.position_bias;
            (population.seats, biased || judge.below(population.seats) == 0)
        });
        let judged = judged.collect();
        DebateObservation {
            truth: SimulatedSide::Yes,
            rounds: seen,
            verdict: None,
            reverted: 0,
            judged,
            flips: FlipCounts::default(),
        }
    }

    /// A 95% interval contains the truth in 95 of 100 cases: not in 80, and not in all.
    #[test]
    fn the_intervals_contain_what_was_planted_as_often_as_they_claim() {
        const STUDIES: u64 = 120;
        let population = SimulatedPopulation {
            flips: 0.08,
            conformity: 0.25,
            persuadable: 0.35,
            ..SimulatedPopulation::default()
        };
        let mut held = [0_u64; 4];
        for study in 0..STUDIES {
            let seeds = (0..100).map(|trial| SeededDraw::new(study, &format!("trial {trial}")).next_u64());
            let observations: Vec<DebateObservation> =
                seeds.map(|seed| observed(&population, 2, seed)).collect();
            let found = estimates(&observations, study);
            let planted = [
                (found.flips, population.flips),
                (found.conformity, population.conformity),
                (found.persuadable, population.persuadable),
                (found.position_bias, population.position_bias),
            ];
            for (count, (estimate, planted)) in held.iter_mut().zip(planted) {
                let [low, high] = estimate.interval.unwrap();
                *count += u64::from((low..=high).contains(&planted));
            }
        }
        println!("of {STUDIES} intervals for s, c, q and b contain what was planted: {held:?}");
        // Four standard deviations below the mean, and fewer than all.
        assert!(held.iter().all(|held| (105..STUDIES).contains(held)), "{held:?} of {STUDIES}");
    }

    #[test]
    fn without_debates_nothing_is_estimated() {
        let found = estimates(&[], 1);
        for estimate in [found.flips, found.conformity, found.persuadable, found.position_bias] {
            assert_eq!(estimate, PlantedEstimate { value: None, interval: None, cases: 0 });
        }
    }

    #[test]
    fn a_share_of_nothing_is_undefined() {
        assert_eq!(ShareEstimate::of_count(0.0, 0).share, None);
        let half = ShareEstimate::of_count(1.5, 3);
        assert_eq!((half.share, half.of), (Some(0.5), 3));
        assert!(half.interval[0] < 0.5 && half.interval[1] > 0.5);
    }
}
