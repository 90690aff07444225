//! Ratings from the judge's scores: every two rated seats have played each other (Elo, 1978).

use agon_core::lesson::RATING_INITIAL;

use super::log::Log;
use super::{ending, team};

/// The most that a rating changes in one debate.
const K: f64 = 32.0;
/// A difference in rating that makes a win ten times as likely as a loss.
const SCALE: f64 = 400.0;

/// A change below this is the noise of binary fractions.
const NOISE: f64 = 1e-9;

/// The score that is expected of `rating` against `other`, from 0 to 1.
pub(super) fn expected(rating: f64, other: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf((other - rating) / SCALE))
}

/// By how much each rating changes. `result` says how one did against another: 1 for a win, 0.5 for a tie, 0 for a loss. Each
/// plays all the others, so that a game counts for one part in as many of what a debate may change; the changes sum to 0.
pub(super) fn changes(ratings: &[f64], result: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let games = ratings.len().saturating_sub(1).max(1) as f64;
    let change = |(one, rating): (usize, &f64)| {
        let others = ratings.iter().enumerate().filter(|(other, _)| *other != one);
        let over: f64 = others.map(|(other, theirs)| result(one, other) - expected(*rating, *theirs)).sum();
        let change = K / games * over;
        if change.abs() < NOISE { 0.0 } else { change }
    };
    ratings.iter().enumerate().map(change).collect()
}

/// What a debate means for the rating of the agent of one seat.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rated {
    pub(super) place: usize,
    pub(super) agent: String,
    pub(super) before: f64,
    pub(super) change: f64,
    /// The judge's score.
    pub(super) score: f64,
    /// How it did against each other rated seat, by place.
    pub(super) against: Vec<(usize, f64)>,
}

/// Those who are rated, in seat order: whose proposals have a score and were made by one and the same. Without a judge, and without
/// anybody to be compared with, nobody is; nor in a branch: a debate is one game, however often it is branched.
pub(super) fn rated(log: &Log<'_>) -> Vec<Rated> {
    let Some(judged) = ending::judged(log).filter(|_| !log.is_branch()) else { return Vec::new() };
    let entrants = log.in_seat_order().into_iter().filter_map(|place| {
        let agent = log.speaker(&log.agents.get(place)?.seat.id)?;
        let before = team::standing(&log.standings, &agent).map_or(RATING_INITIAL, |known| known.rating);
        Some((place, agent, before, judged.score(place)?))
    });
    let entrants: Vec<(usize, String, f64, f64)> = entrants.collect();
    if entrants.len() < 2 {
        return Vec::new();
    }
    let places: Vec<usize> = entrants.iter().map(|(place, ..)| *place).collect();
    let before: Vec<f64> = entrants.iter().map(|(_, _, before, _)| *before).collect();
    let result = |one: usize, other: usize| match (places.get(one), places.get(other)) {
        (Some(one), Some(other)) => judged.result(*one, *other),
        _ => 0.5,
    };
    let changes = changes(&before, result);
    let against = |one: usize| {
        let others = places.iter().filter(|other| **other != one);
        others.map(|other| (*other, judged.result(one, *other))).collect()
    };
    let rated = entrants.into_iter().zip(changes);
    rated
        .map(|((place, agent, before, score), change)| Rated {
            place,
            agent,
            before,
            change,
            score,
            against: against(place),
        })
        .collect()
}
