//! What whole debates of simulated seats show: the martingale, the evidence bar, an adversary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use agon_simulate::bar::evidence_bar;
use agon_simulate::curve::curves;
use agon_simulate::findings::Plan;
use agon_simulate::{Population, Sitting, simulate};

/// "The evidence bar of `review` is shown to block bare flips without blocking evidenced ones".
#[test]
fn the_evidence_bar_blocks_every_bare_flip_and_no_evidenced_one() {
    for seed in [1, 2] {
        let population =
            Population { seats: 4, flips: 0.1, conformity: 0.4, persuadable: 0.4, ..Population::default() };
        let bar = evidence_bar(&population, 60, seed).unwrap();
        println!("seed {seed}: {bar:?}");
        assert_eq!(
            (bar.bare_blocked.share, bar.evidenced_blocked.share),
            (Some(1.0), Some(0.0)),
            "seed {seed}"
        );
        assert!(bar.bare_blocked.of >= 30 && bar.evidenced_blocked.of >= 30, "seed {seed}: {bar:?}");
    }
}

/// Without `--strict-anchoring` a bare flip is flagged and stands.
#[test]
fn without_the_bar_bare_flips_stand() {
    let population = Population { seats: 4, flips: 0.3, persuadable: 0.0, ..Population::default() };
    let held = Sitting::new("review", &population, None, false).unwrap().hold(20, 1).unwrap();
    assert!(held.iter().map(|seen| seen.flips.flips).sum::<usize>() > 0);
    assert_eq!(held.iter().map(|seen| seen.reverted).sum::<usize>(), 0);
}

/// "neutral updating keeps mean belief ... while majority accuracy falls": the seats that play do what the pure population does. The
/// figures are the exact ones of the urn.
#[test]
fn played_debates_of_seats_that_count_follow_the_urn() {
    let population = Population { neutral: true, ..Population::default() };
    let plan = Plan { rounds: Some(5), trials: 150, seed: 1, population, ..Plan::default() };
    let findings = simulate(&plan).unwrap();
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

/// "one adversary in N: print the degradation curve of each protocol"
#[test]
fn one_adversary_makes_every_protocol_worse() {
    let population = Population { accuracy: 0.8, ..Population::default() };
    for protocol in ["review", "deep", "panel"] {
        let curve = curves(&[protocol], &population, 16, 1).unwrap().remove(0);
        let sizes: Vec<usize> = curve.points.iter().map(|point| point.seats).collect();
        let expected: &[usize] = if protocol == "panel" { &[3, 5, 7] } else { &[2, 3, 4, 5, 6, 7] };
        assert_eq!(sizes, expected);
        let lost: f64 = curve.points.iter().map(|point| point.lost()).sum();
        println!("{curve:?}");
        assert!(lost > 0.0, "{curve:?}");
    }
}

/// All five protocols are played, with an adversary at the table, and nobody is ever left without an answer.
#[test]
fn every_protocol_is_played_to_a_verdict_and_comes_out_the_same_again() {
    for (protocol, seats) in [("deep", 3), ("panel", 3), ("council", 6), ("arena", 3), ("review", 3)] {
        let population = Population { seats, adversary: Some(Default::default()), ..Population::default() };
        let sitting = Sitting::new(protocol, &population, None, false).unwrap();
        let held = sitting.hold(6, 5).unwrap();
        assert_eq!(held, sitting.hold(6, 5).unwrap(), "{protocol}");
        assert_ne!(held, sitting.hold(6, 6).unwrap(), "{protocol}");
        assert!(held.iter().all(|seen| seen.rounds.first().is_some_and(|first| first.seats.len() == seats)));
        assert!(held.iter().any(|seen| seen.verdict.is_some()), "{protocol}");
    }
}

#[test]
fn what_a_protocol_cannot_seat_or_hold_is_refused_with_what_it_can() {
    let seats = |seats| Population { seats, ..Population::default() };
    for (protocol, population, rounds, said) in [
        ("panel", seats(4), None, "panel cannot seat 4 here: it can seat 3, 5, 7"),
        ("council", seats(7), None, "it can seat 3, 4, 5, 6"),
        ("arena", seats(3), Some(2), "arena has nine rounds of its own"),
        ("panel", seats(3), Some(3), "panel can be simulated for 1 to 2 rounds, not 3"),
        ("chess", seats(3), None, "what can be is: deep, panel, council, arena, review"),
    ] {
        let why = Sitting::new(protocol, &population, rounds, false).unwrap_err();
        assert!(why.0.contains(said), "{why}");
    }
}
