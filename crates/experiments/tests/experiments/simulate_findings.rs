//! What whole debates of simulated seats show: the martingale, the evidence bar, an adversary.

use std::sync::atomic::{AtomicUsize, Ordering};

use agon_experiments::simulate::findings::{adversary_curve, measure_evidence_bar};
use agon_experiments::simulate::{SimulatedDebates, SimulatedPopulation, SimulationPlan, simulate};

#[tokio::test(flavor = "multi_thread")]
async fn the_evidence_bar_blocks_every_bare_change_and_no_evidenced_one() {
    for seed in [1, 2] {
        let population = SimulatedPopulation {
            seats: 4,
            flips: 0.1,
            conformity: 0.4,
            persuadable: 0.4,
            ..SimulatedPopulation::default()
        };
        let bar = measure_evidence_bar("review", &population, 60, seed, &|| {}).await.unwrap();
        println!("seed {seed}: {bar:?}");
        let blocked = (bar.bare_blocked.share, bar.evidenced_blocked.share);
        assert_eq!(blocked, (Some(1.0), Some(0.0)), "seed {seed}");
        assert!(bar.bare_blocked.of >= 30 && bar.evidenced_blocked.of >= 30, "seed {seed}: {bar:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_evidence_rule_bare_changes_stand() {
    let population =
        SimulatedPopulation { seats: 4, flips: 0.3, persuadable: 0.0, ..SimulatedPopulation::default() };
    let held = SimulatedDebates::new("review", &population, None).unwrap().hold(20, 1).await.unwrap();
    assert!(held.iter().map(|seen| seen.flips.flips).sum::<usize>() > 0);
    assert_eq!(held.iter().map(|seen| seen.reverted).sum::<usize>(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_protocol_without_an_evidence_rule_has_no_evidence_bar() {
    let population = SimulatedPopulation::default();
    assert!(SimulatedDebates::with_evidence_rule("deep", &population).unwrap().is_none());
    let why = measure_evidence_bar("deep", &population, 1, 1, &|| {}).await.unwrap_err().to_string();
    assert_eq!(why, "deep has no rule that a change of mind needs evidence");
}

/// Seats that play do what the pure population does. The figures are the exact ones of the urn.
#[tokio::test(flavor = "multi_thread")]
async fn debates_of_seats_that_count_follow_the_urn() {
    let population = SimulatedPopulation { neutral: true, ..SimulatedPopulation::default() };
    let plan =
        SimulationPlan { rounds: Some(5), trials: 150, seed: 1, population, ..SimulationPlan::default() };
    let counted = AtomicUsize::new(0);
    let count = || {
        counted.fetch_add(1, Ordering::Relaxed);
    };
    let findings = simulate(&plan, &count).await.unwrap();
    assert_eq!(counted.into_inner(), plan.debates());
    assert!(findings.recovered.iter().all(|one| one.within != Some(false)), "{:?}", findings.recovered);
    let votes = [0.683, 0.667, 0.662, 0.659, 0.657, 0.656];
    assert_eq!(findings.rounds.len(), votes.len());
    for (round, vote) in findings.rounds.iter().zip(votes) {
        println!("{round:?}");
        let [low, high] = round.majority_accuracy.interval;
        assert!((low..=high).contains(&vote), "{round:?}");
        let [low, high] = round.mean_belief.interval;
        assert!((low..=high).contains(&0.6), "{round:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_adversary_makes_the_verdicts_worse() {
    let population = SimulatedPopulation { accuracy: 0.8, ..SimulatedPopulation::default() };
    for (protocol, expected) in
        [("review", &[2, 3, 4, 5, 6, 7][..]), ("deep", &[2, 3, 4, 5, 6, 7]), ("panel", &[3, 5, 7])]
    {
        let curve = adversary_curve(protocol, &population, 16, 1, &|| {}).await.unwrap();
        let seats: Vec<usize> = curve.points.iter().map(|point| point.seats).collect();
        assert_eq!(seats, expected);
        let lost: f64 = curve.points.iter().map(|point| point.loss()).sum();
        println!("{curve:?}");
        assert!(lost > 0.0, "{curve:?}");
    }
}

/// An adversary sits in every debate, and no seat is ever without an answer.
#[tokio::test(flavor = "multi_thread")]
async fn every_protocol_is_played_to_a_verdict_and_is_the_same_for_the_same_seed() {
    for (protocol, seats) in [("deep", 3), ("panel", 3), ("council", 6), ("arena", 3), ("review", 3)] {
        let adversary = Some(Default::default());
        let population = SimulatedPopulation { seats, adversary, ..SimulatedPopulation::default() };
        let debates = SimulatedDebates::new(protocol, &population, None).unwrap();
        let held = debates.hold(6, 5).await.unwrap();
        assert_eq!(held, debates.hold(6, 5).await.unwrap(), "{protocol}");
        assert_ne!(held, debates.hold(6, 6).await.unwrap(), "{protocol}");
        assert!(held.iter().all(|seen| seen.rounds.first().is_some_and(|first| first.seats.len() == seats)));
        assert!(held.iter().any(|seen| seen.verdict.is_some()), "{protocol}");
    }
}

#[test]
fn a_debate_that_cannot_be_simulated_is_refused_with_what_is_possible() {
    let simulated = "the protocols that can be are deep, panel, council, arena, review";
    for (protocol, seats, rounds, expected) in [
        ("panel", 4, None, "panel cannot be simulated with 4 seats: use one of 3, 5, 7"),
        ("council", 7, None, "use one of 3, 4, 5, 6"),
        ("arena", 3, Some(2), "arena always has nine rounds: omit --rounds"),
        ("panel", 3, Some(3), "panel can be simulated for 1 to 2 rounds, not 3"),
        ("poll", 3, None, simulated),
        ("chess", 3, None, simulated),
    ] {
        let population = SimulatedPopulation { seats, ..SimulatedPopulation::default() };
        let why = SimulatedDebates::new(protocol, &population, rounds).unwrap_err();
        assert!(why.0.contains(expected), "{why}");
    }
}
