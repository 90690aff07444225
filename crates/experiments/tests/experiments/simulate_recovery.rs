//! "tests recover planted flips, conformity, persuadability and position bias within their intervals": whole debates, held by the
//! engine, read from their logs alone. Seeds are fixed and printed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use agon_simulate::measure::{Estimate, Estimates, estimates};
use agon_simulate::{Population, Sitting};

fn played(protocol: &str, trials: usize, seed: u64, population: &Population) -> Estimates {
    let held = Sitting::new(protocol, population, None, false).unwrap().hold(trials, seed).unwrap();
    estimates(&held, seed)
}

fn holds(what: &str, found: &Estimate, planted: f64) {
    println!("{what}: planted {planted}, found {found:?}");
    let [low, high] = found.interval.unwrap();
    assert!((low..=high).contains(&planted), "{what}: planted {planted}, found {found:?}");
    assert!(found.cases >= 30, "{what}: {found:?}");
}

/// Plays populations of three kinds and holds what is found against what was planted.
fn check(protocol: &str, seats: usize, trials: usize) {
    for (seed, flips, conformity, persuadable) in
        [(1, 0.05, 0.2, 0.3), (2, 0.15, 0.0, 0.6), (3, 0.0, 0.5, 0.1)]
    {
        let population = Population { seats, flips, conformity, persuadable, ..Population::default() };
        let found = played(protocol, trials, seed, &population);
        let what = |name: &str| format!("{protocol}, seed {seed}, {name}");
        holds(&what("flips"), &found.flips, flips);
        holds(&what("conformity"), &found.conformity, conformity);
        holds(&what("persuadable"), &found.persuadable, persuadable);
    }
}

#[test]
fn review_shows_flips_conformity_and_persuadability() {
    check("review", 5, 150);
}

#[test]
fn deep_shows_flips_conformity_and_persuadability() {
    check("deep", 4, 100);
}

#[test]
fn panel_shows_flips_conformity_and_persuadability() {
    check("panel", 5, 120);
}

#[test]
fn council_shows_flips_conformity_and_persuadability() {
    check("council", 4, 40);
}

#[test]
fn arena_shows_flips_conformity_and_persuadability() {
    check("arena", 4, 60);
}

#[test]
fn the_judge_of_an_arena_shows_its_position_bias() {
    for (seed, position_bias) in [(1, 0.0), (2, 0.2), (3, 0.5)] {
        let still =
            Population { seats: 2, flips: 0.0, conformity: 0.0, persuadable: 0.0, ..Population::default() };
        let found = played("arena", 100, seed, &Population { position_bias, ..still });
        holds(&format!("arena, seed {seed}"), &found.position_bias, position_bias);
    }
}

/// What nobody planted is not found.
#[test]
fn nothing_is_found_where_nothing_is_planted() {
    let still = Population { flips: 0.0, conformity: 0.0, persuadable: 0.0, ..Population::default() };
    let found = played("review", 60, 7, &still);
    for estimate in [found.flips, found.conformity, found.persuadable] {
        assert_eq!(estimate.value, Some(0.0));
    }
}
