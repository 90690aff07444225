//! What whole debates of simulated seats show: the martingale, the evidence bar, an adversary.

use agon_experiments::simulate::findings::{adversary_curve, measure_evidence_bar};
use agon_experiments::simulate::{
    SimulatedDebates, SimulatedPopulation, SimulationPlan, simulate, simulated_protocols,
};

/// The names of the protocols that can be simulated and have a rule that a change of mind needs evidence.
fn protocols_with_evidence_rule() -> Vec<&'static str> {
    let with_rule = simulated_protocols().filter(|(_, play)| play.evidence_rule().is_some());
    with_rule.map(|(protocol, _)| protocol.info().name).collect()
}

#[test]
fn the_evidence_bar_blocks_every_bare_change_and_no_evidenced_one() {
    for protocol in protocols_with_evidence_rule() {
        for seed in [1, 2] {
            let population = SimulatedPopulation {
                seats: 4,
                flips: 0.1,
                conformity: 0.4,
                persuadable: 0.4,
                ..SimulatedPopulation::default()
            };
            let bar = measure_evidence_bar(protocol, &population, 60, seed).unwrap();
            println!("{protocol}, seed {seed}: {bar:?}");
            let blocked = (bar.bare_blocked.share, bar.evidenced_blocked.share);
            assert_eq!(blocked, (Some(1.0), Some(0.0)), "{protocol}, seed {seed}");
            assert!(
                bar.bare_blocked.of >= 30 && bar.evidenced_blocked.of >= 30,
                "{protocol}, seed {seed}: {bar:?}"
            );
        }
    }
}

#[test]
fn without_the_evidence_rule_bare_changes_stand() {
    for protocol in protocols_with_evidence_rule() {
        let population =
            SimulatedPopulation { seats: 4, flips: 0.3, persuadable: 0.0, ..SimulatedPopulation::default() };
        let held = SimulatedDebates::new(protocol, &population, None).unwrap().hold(20, 1).unwrap();
        assert!(held.iter().map(|seen| seen.flips.flips).sum::<usize>() > 0);
        assert_eq!(held.iter().map(|seen| seen.reverted).sum::<usize>(), 0);
    }
}

/// Seats that play do what the pure population does. The figures are the exact ones of the urn.
#[test]
fn debates_of_seats_that_count_follow_the_urn() {
    let population = SimulatedPopulation { neutral: true, ..SimulatedPopulation::default() };
    let plan =
        SimulationPlan { rounds: Some(5), trials: 150, seed: 1, population, ..SimulationPlan::default() };
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

#[test]
fn one_adversary_makes_the_verdicts_worse() {
    let population = SimulatedPopulation { accuracy: 0.8, ..SimulatedPopulation::default() };
    for (protocol, play) in simulated_protocols() {
        let name = protocol.info().name;
        // The curves of these two take minutes.
        if matches!(name, "council" | "arena") {
            continue;
        }
        let curve = adversary_curve(name, &population, 16, 1).unwrap();
        let seats: Vec<usize> = curve.points.iter().map(|point| point.seats).collect();
        assert_eq!(seats, play.seat_counts());
        let lost: f64 = curve.points.iter().map(|point| point.loss()).sum();
        println!("{curve:?}");
        assert!(lost > 0.0, "{curve:?}");
    }
}

/// An adversary sits in every debate, and no seat is ever without an answer.
#[test]
fn every_protocol_is_played_to_a_verdict_and_is_the_same_for_the_same_seed() {
    for (protocol, play) in simulated_protocols() {
        let (name, seats) = (protocol.info().name, *play.seat_counts().last().unwrap());
        for seats in [3, seats.min(6)].into_iter().filter(|seats| play.seat_counts().contains(seats)) {
            let adversary = Some(Default::default());
            let population = SimulatedPopulation { seats, adversary, ..SimulatedPopulation::default() };
            let debates = SimulatedDebates::new(name, &population, None).unwrap();
            let held = debates.hold(6, 5).unwrap();
            assert_eq!(held, debates.hold(6, 5).unwrap(), "{name}");
            assert_ne!(held, debates.hold(6, 6).unwrap(), "{name}");
            let all_seated =
                |seats: usize| held.iter().all(|seen| seen.rounds.first().unwrap().seats.len() == seats);
            assert!(all_seated(seats), "{name}");
            assert!(held.iter().any(|seen| seen.verdict.is_some()), "{name}");
        }
    }
}

#[test]
fn a_debate_that_cannot_be_simulated_is_refused_with_what_is_possible() {
    let population = |seats| SimulatedPopulation { seats, ..SimulatedPopulation::default() };
    let names: Vec<&str> = simulated_protocols().map(|(protocol, _)| protocol.info().name).collect();
    let all = format!("the protocols that can be are {}", names.join(", "));
    for (protocol, seats, rounds, expected) in [
        ("panel", 4, None, "panel cannot be simulated with 4 seats: use one of 3, 5, 7"),
        ("council", 7, None, "use one of 3, 4, 5, 6"),
        ("arena", 3, Some(2), "arena always has nine rounds: omit --rounds"),
        ("panel", 3, Some(3), "panel can be simulated for 1 to 2 rounds, not 3"),
        ("deep", 9, None, "use one of 2, 3, 4, 5, 6, 7"),
        ("deep", 3, Some(21), "deep can be simulated for 1 to 20 rounds, not 21"),
        ("poll", 3, None, &all),
        ("chess", 3, None, &all),
    ] {
        let expected = if names.contains(&protocol) { expected } else { &all };
        let why = SimulatedDebates::new(protocol, &population(seats), rounds).unwrap_err();
        assert!(why.0.contains(expected), "{why}");
    }
}
