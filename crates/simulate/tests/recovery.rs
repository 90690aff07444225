//! "tests recover planted flips, conformity, persuadability and position bias within their intervals": whole debates, held by the
//! engine, read from their logs alone. Seeds are fixed and printed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use agon_simulate::findings::{Findings, Plan, Recovered};
use agon_simulate::{Population, simulate};

fn played(protocol: &str, trials: usize, seed: u64, population: Population) -> Findings {
    let plan = Plan { protocol: protocol.into(), trials, seed, population, ..Plan::default() };
    simulate(&plan).unwrap()
}

fn of<'f>(findings: &'f Findings, name: &str) -> &'f Recovered {
    findings.recovered.iter().find(|one| one.name == name).unwrap()
}

/// Plays populations of three kinds and holds what is found against what was planted.
fn check(protocol: &str, seats: usize, trials: usize, names: &[&str]) {
    let kinds = [(1, 0.05, 0.2, 0.3), (2, 0.15, 0.0, 0.6), (3, 0.0, 0.5, 0.1)];
    for (seed, flips, conformity, persuadable) in kinds {
        let population = Population { seats, flips, conformity, persuadable, ..Population::default() };
        let findings = played(protocol, trials, seed, population);
        for name in names {
            let found = of(&findings, name);
            println!("{protocol}, seed {seed}: {found:?}");
            assert_eq!(found.within, Some(true), "{protocol}, seed {seed}: {found:?}");
            assert!(found.found.cases >= 30, "{protocol}, seed {seed}: {found:?}");
        }
    }
}

const MOVED: &[&str] = &["flips", "conformity", "persuadable"];

#[test]
fn review_shows_flips_conformity_and_persuadability() {
    check("review", 5, 150, MOVED);
}

#[test]
fn deep_shows_flips_conformity_and_persuadability() {
    check("deep", 4, 100, MOVED);
}

#[test]
fn panel_shows_flips_conformity_and_persuadability() {
    check("panel", 5, 120, MOVED);
}

#[test]
fn council_shows_flips_conformity_and_persuadability() {
    check("council", 4, 40, MOVED);
}

#[test]
fn the_judge_of_an_arena_shows_its_position_bias() {
    for (seed, position_bias) in [(1, 0.0), (2, 0.2), (3, 0.5)] {
        let still =
            Population { seats: 2, flips: 0.0, conformity: 0.0, persuadable: 0.0, ..Population::default() };
        let findings = played("arena", 100, seed, Population { position_bias, ..still });
        let found = of(&findings, "position-bias");
        println!("arena, seed {seed}: {found:?}");
        assert_eq!(found.within, Some(true), "seed {seed}: {found:?}");
    }
}

/// What nobody planted is not found: the intervals of a population that nothing moves end at nothing.
#[test]
fn nothing_is_found_where_nothing_is_planted() {
    let still = Population { flips: 0.0, conformity: 0.0, persuadable: 0.0, ..Population::default() };
    let findings = played("review", 60, 7, still);
    assert_eq!(findings.flips.flips, 0);
    for name in MOVED {
        assert_eq!(of(&findings, name).found.value, Some(0.0), "{name}");
    }
}
