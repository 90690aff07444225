//! From what many debates show to what was planted, each figure with its 95% interval.

use agon_evidence::interval::{RESAMPLES, bootstrap, bootstrap_mean, wilson};
use serde::{Deserialize, Serialize};

use super::{Observation, Round};

/// A share of something, with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// How many.
    pub count: f64,
    /// Of how many.
    pub of: usize,
    /// The share; `None` of nothing.
    pub share: Option<f64>,
    /// Where it lies with 95% confidence.
    pub interval: [f64; 2],
}

/// The share of `count` in `of`, with Wilson's interval. Half a case is one that is right half of the time.
pub fn share(count: f64, of: usize) -> Share {
    let (low, high) = wilson(count.round() as u64, of as u64);
    Share { count, of, share: (of > 0).then(|| count / of as f64), interval: [low, high] }
}

/// The mean of one share for each debate. Those who sit together are not independent, so that whole debates are drawn again for its
/// interval.
pub fn mean(shares: &[f64], seed: u64) -> Share {
    let (count, of) = (shares.iter().sum::<f64>(), shares.len());
    let (low, high) = bootstrap_mean(shares, RESAMPLES, seed).unwrap_or((0.0, 1.0));
    Share { count, of, share: (of > 0).then(|| count / of as f64), interval: [low, high] }
}

/// An estimate of something that was planted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure; `None` where the debates say nothing about it.
    pub value: Option<f64>,
    /// Where it lies with 95% confidence.
    pub interval: Option<[f64; 2]>,
    /// From how many cases.
    pub cases: usize,
}

/// What the debates say of those who held them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimates {
    /// `s`.
    pub flips: Estimate,
    /// `c`.
    pub conformity: Estimate,
    /// `q`.
    pub persuadable: Estimate,
    /// `b`.
    pub position_bias: Estimate,
}

/// What a debate adds to the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Counts {
    /// Those against whom no majority stood and who named no evidence; of those, who changed all the same.
    unpressed: usize,
    unpressed_flips: usize,
    /// Those against whom a majority stood and who named no evidence; of those, who changed.
    pressed: usize,
    pressed_flips: usize,
    /// Those who read the other view; of those, who changed and named evidence.
    exposed: usize,
    evidenced: usize,
}

/// What these debates say of `s`, `c`, `q` and `b`. The seed is that of the resamples.
pub fn estimates(observations: &[Observation], seed: u64) -> Estimates {
    let counts: Vec<Counts> = observations.iter().map(count).collect();
    let sum = |of: fn(&Counts) -> usize| counts.iter().map(of).sum::<usize>();
    let plain = |hits: usize, cases: usize| {
        let share = share(hits as f64, cases);
        Estimate { value: share.share, interval: (cases > 0).then_some(share.interval), cases }
    };
    Estimates {
        flips: plain(sum(|c| c.unpressed_flips), sum(|c| c.unpressed)),
        persuadable: plain(sum(|c| c.evidenced), sum(|c| c.exposed)),
        conformity: conformity(&counts, seed),
        position_bias: position_bias(observations, seed),
    }
}

fn count(observation: &Observation) -> Counts {
    let mut counts = Counts::default();
    for (before, after) in observation.rounds.iter().zip(observation.rounds.iter().skip(1)) {
        add(&mut counts, before, after);
    }
    counts
}

fn add(counts: &mut Counts, before: &Round, after: &Round) {
    for then in &before.seats {
        let Some(now) = after.seats.iter().find(|now| now.seat == then.seat) else { continue };
        let others = || before.seats.iter().filter(|other| other.seat != then.seat);
        let with = others().filter(|other| other.side == then.side).count();
        let against = others().count() - with;
        let changed = now.side != then.side;
        let evidenced = changed && now.evidenced == Some(true);
        if against > 0 {
            counts.exposed += 1;
            counts.evidenced += usize::from(evidenced);
        }
        match (evidenced, against > with) {
            (true, _) => {}
            (false, true) => {
                counts.pressed += 1;
                counts.pressed_flips += usize::from(changed);
            }
            (false, false) => {
                counts.unpressed += 1;
                counts.unpressed_flips += usize::from(changed);
            }
        }
    }
}

/// What a majority adds to chance. Whole debates are drawn again for its interval, for both figures in it come from the same ones.
fn conformity(counts: &[Counts], seed: u64) -> Estimate {
    let of = |weights: &dyn Fn(usize) -> usize| {
        let sum = |of: fn(&Counts) -> usize| -> f64 {
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
    Estimate { value: of(&|_| 1), interval: interval.map(|(low, high)| [low, high]), cases }
}

/// How much oftener than by chance the first one shown is the best. The two orders of a debate are drawn together.
fn position_bias(observations: &[Observation], seed: u64) -> Estimate {
    let excess = |shown: usize, first: bool| {
        let chance = 1.0 / shown.max(1) as f64;
        (f64::from(u8::from(first)) - chance) / (1.0 - chance)
    };
    let asked: Vec<Vec<f64>> = observations
        .iter()
        .map(|observation| {
            let choices = observation.judged.iter().filter(|(shown, _)| *shown > 1);
            choices.map(|(shown, first)| excess(*shown, *first)).collect()
        })
        .collect();
    let of = |weights: &dyn Fn(usize) -> f64| {
        let sums = asked.iter().enumerate().map(|(place, all)| {
            let weight = weights(place);
            (weight * all.iter().sum::<f64>(), weight * all.len() as f64)
        });
        let (sum, cases) = sums.fold((0.0, 0.0), |(sum, cases), (more, n)| (sum + more, cases + n));
        (cases > 0.0).then(|| sum / cases)
    };
    let interval = bootstrap(asked.len(), RESAMPLES, seed, |drawn| {
        of(&|place| drawn.get(place).map_or(0.0, |n| f64::from(*n)))
    });
    let cases = asked.iter().map(Vec::len).sum();
    Estimate { value: of(&|_| 1.0), interval: interval.map(|(low, high)| [low, high]), cases }
}

#[cfg(test)]
mod tests {
    use agon_core::seed::Draw;

    use super::*;
    use crate::measure::{Flips, Held};
    use crate::population::{Cause, Heard, Population};
    use crate::words::Side;

    /// A debate as its log would show it, without one: thousands of them are needed to see how often an interval is right.
    fn observed(population: &Population, rounds: u32, seed: u64) -> Observation {
        let mut draw = Draw::new(seed, "updates");
        let mut views: Vec<(bool, Option<bool>)> =
            population.first(seed).into_iter().map(|view| (view, None)).collect();
        let mut seen = Vec::new();
        for number in 0..=rounds {
            let seats = views.iter().enumerate().map(|(place, (right, evidenced))| Held {
                seat: place.to_string(),
                side: if *right { Side::Yes } else { Side::No },
                evidenced: *evidenced,
            });
            seen.push(Round { number, seats: seats.collect() });
            let all = views.iter().filter(|(right, _)| *right).count();
            for (right, evidenced) in &mut views {
                let others = all - usize::from(*right);
                let wrong = population.seats - 1 - others;
                let heard = Heard { right: others, wrong, ..Heard::default() };
                let update = population.update(*right, &heard, &mut draw);
                *evidenced = (update.right != *right).then_some(update.cause == Cause::Evidence);
                *right = update.right;
            }
        }
        let mut judge = Draw::new(seed, "judge");
        let judged = (0..2).map(|_| {
            let biased = judge.unit() < population.position_bias;
            (population.seats, biased || judge.below(population.seats) == 0)
        });
        let judged = judged.collect();
        Observation {
            truth: Side::Yes,
            rounds: seen,
            verdict: None,
            reverted: 0,
            judged,
            flips: Flips::default(),
        }
    }

    /// A 95% interval is one that holds the truth in 95 of 100 cases, and neither in 80 nor in all.
    #[test]
    fn the_intervals_hold_what_was_planted_as_often_as_they_say() {
        const STUDIES: u64 = 120;
        let population =
            Population { flips: 0.08, conformity: 0.25, persuadable: 0.35, ..Population::default() };
        let mut held = [0_u64; 4];
        for study in 0..STUDIES {
            let seeds = (0..100).map(|trial| Draw::new(study, &format!("trial {trial}")).next_u64());
            let observations: Vec<Observation> = seeds.map(|seed| observed(&population, 2, seed)).collect();
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
        println!("of {STUDIES} intervals for s, c, q and b hold what was planted: {held:?}");
        // Four standard deviations to either side, and never all of them.
        assert!(held.iter().all(|held| (105..STUDIES).contains(held)), "{held:?} of {STUDIES}");
    }

    #[test]
    fn what_nobody_could_show_is_not_estimated() {
        let found = estimates(&[], 1);
        for estimate in [found.flips, found.conformity, found.persuadable, found.position_bias] {
            assert_eq!(estimate, Estimate { value: None, interval: None, cases: 0 });
        }
    }

    #[test]
    fn a_share_of_nothing_is_none() {
        assert_eq!(share(0.0, 0).share, None);
        let half = share(1.5, 3);
        assert_eq!((half.share, half.of), (Some(0.5), 3));
        assert!(half.interval[0] < 0.5 && half.interval[1] > 0.5);
    }
}
