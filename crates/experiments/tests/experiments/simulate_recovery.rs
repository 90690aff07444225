//! The measures recover what was planted, within their intervals. The debates are held by the engine and read from their logs alone.
//! Seeds are fixed and printed.

use agon_experiments::simulate::estimates::{PlantedEstimate, PlantedEstimates, estimates};
use agon_experiments::simulate::{SimulatedDebates, SimulatedPopulation};

async fn played(
    protocol: &str,
    trials: usize,
    seed: u64,
    population: &SimulatedPopulation,
) -> PlantedEstimates {
    let held = SimulatedDebates::new(protocol, population, None).unwrap().hold(trials, seed).await.unwrap();
    estimates(&held, seed)
}

fn assert_recovered(what: &str, found: &PlantedEstimate, planted: f64) {
    println!("{what}: planted {planted}, found {found:?}");
    let [low, high] = found.interval.unwrap();
    assert!((low..=high).contains(&planted), "{what}: planted {planted}, found {found:?}");
    assert!(found.cases >= 30, "{what}: {found:?}");
}

/// Plays three populations and compares what is found with what was planted.
async fn check(protocol: &str, seats: usize, trials: usize) {
    for (seed, flips, conformity, persuadable) in
        [(1, 0.05, 0.2, 0.3), (2, 0.15, 0.0, 0.6), (3, 0.0, 0.5, 0.1)]
    {
        let population =
            SimulatedPopulation { seats, flips, conformity, persuadable, ..SimulatedPopulation::default() };
        let found = played(protocol, trials, seed, &population).await;
        let what = |name: &str| format!("{protocol}, seed {seed}, {name}");
        assert_recovered(&what("flips"), &found.flips, flips);
        assert_recovered(&what("conformity"), &found.conformity, conformity);
        assert_recovered(&what("persuadable"), &found.persuadable, persuadable);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn review_shows_flips_conformity_and_persuadability() {
    check("review", 5, 150).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deep_shows_flips_conformity_and_persuadability() {
    check("deep", 4, 100).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn panel_shows_flips_conformity_and_persuadability() {
    check("panel", 5, 120).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn council_shows_flips_conformity_and_persuadability() {
    check("council", 4, 100).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arena_shows_flips_conformity_and_persuadability() {
    check("arena", 4, 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_judge_of_an_arena_shows_its_position_bias() {
    for (seed, position_bias) in [(1, 0.0), (2, 0.2), (3, 0.5)] {
        let population = SimulatedPopulation { seats: 2, position_bias, ..still() };
        let found = played("arena", 100, seed, &population).await;
        assert_recovered(&format!("arena, seed {seed}"), &found.position_bias, position_bias);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_found_where_nothing_is_planted() {
    let found = played("review", 60, 7, &still()).await;
    for estimate in [found.flips, found.conformity, found.persuadable] {
        assert_eq!(estimate.value, Some(0.0));
    }
}

/// Seats that never change their minds.
fn still() -> SimulatedPopulation {
    SimulatedPopulation { flips: 0.0, conformity: 0.0, persuadable: 0.0, ..SimulatedPopulation::default() }
}
