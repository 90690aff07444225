//! One adversary in N: how much worse the verdicts of a protocol get.

use serde::{Deserialize, Serialize};

use crate::measure::{Share, share};
use crate::population::Population;
use crate::sitting::{SimulateError, Sitting, sizes};

/// A protocol's verdicts at each size of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The protocol.
    pub protocol: String,
    /// From the smallest table that it allows to the largest, up to 7.
    pub points: Vec<Point>,
}

/// A protocol's verdicts at one size of the table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Seats that hold positions, the adversary's included.
    pub seats: usize,
    /// How often the verdict is right when everybody is honest.
    pub honest: Share,
    /// How often it is when one is not.
    pub with_adversary: Share,
    /// How many right plain votes on the first positions there were with the adversary; a tie counts half.
    pub vote_with_adversary: Share,
}

impl Point {
    /// How much is lost.
    pub fn lost(&self) -> f64 {
        self.honest.share.unwrap_or_default() - self.with_adversary.share.unwrap_or_default()
    }
}

/// The curve of each of these protocols. The same trials are held with and without the adversary: first views are drawn alike.
pub fn curves(
    protocols: &[&str],
    population: &Population,
    trials: usize,
    seed: u64,
) -> Result<Vec<Curve>, SimulateError> {
    protocols.iter().map(|protocol| curve(protocol, population, trials, seed)).collect()
}

fn curve(protocol: &str, population: &Population, trials: usize, seed: u64) -> Result<Curve, SimulateError> {
    let mut points = Vec::new();
    for seats in sizes(protocol) {
        let adversary = population.adversary.unwrap_or_default();
        let attacked = Population { seats, adversary: Some(adversary), ..population.clone() };
        let honest = Population { adversary: None, ..attacked.clone() };
        let honest = Sitting::new(protocol, &honest, None, false)?.hold(trials, seed)?;
        let attacked = Sitting::new(protocol, &attacked, None, false)?.hold(trials, seed)?;
        let right = |held: &[crate::measure::Observation]| {
            share(held.iter().filter(|seen| seen.is_right()).count() as f64, held.len())
        };
        let votes = share(attacked.iter().map(|seen| seen.first_vote()).sum(), attacked.len());
        points.push(Point {
            seats,
            honest: right(&honest),
            with_adversary: right(&attacked),
            vote_with_adversary: votes,
        });
    }
    Ok(Curve { protocol: protocol.to_owned(), points })
}
