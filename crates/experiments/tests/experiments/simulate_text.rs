//! The text of a simulation's findings.

use agon_experiments::simulate::estimates::{PlantedEstimate, ShareEstimate};
use agon_experiments::simulate::findings::{
    AdversaryCurve, CurvePoint, EvidenceBar, RecoveredFigure, RoundFigures, SimulationFindings,
    SimulationPlan,
};
use agon_experiments::simulate::neutral::{NeutralUpdating, RoundBelief};
use agon_experiments::simulate::observation::FlipCounts;
use agon_experiments::simulate::text;

fn share(count: f64, of: usize) -> ShareEstimate {
    ShareEstimate::of_count(count, of)
}

fn findings() -> SimulationFindings {
    let found = |name: &str, planted: f64, value: f64, interval: [f64; 2]| RecoveredFigure {
        name: name.into(),
        planted: Some(planted),
        found: PlantedEstimate { value: Some(value), interval: Some(interval), cases: 420 },
        within: Some((interval[0]..=interval[1]).contains(&planted)),
    };
    let unseen = RecoveredFigure {
        name: "position-bias".into(),
        planted: Some(0.2),
        found: PlantedEstimate { value: None, interval: None, cases: 0 },
        within: None,
    };
    let belief =
        |round, mean_belief, majority_accuracy| RoundBelief { round, mean_belief, majority_accuracy };
    let neutral = |drift, last| NeutralUpdating {
        trials: 20_000,
        drift,
        rounds: vec![belief(0, 0.6, 0.683), belief(1, 0.6, 0.67), belief(2, 0.6 + drift / 4.0, last)],
    };
    let point = |seats, honest, attacked| CurvePoint {
        seats,
        honest: share(honest, 100),
        with_adversary: share(attacked, 100),
        vote_with_adversary: share(50.0, 100),
    };
    let round = |round, right, votes| RoundFigures {
        round,
        mean_belief: share(right, 500),
        majority_accuracy: share(votes, 100),
    };
    SimulationFindings {
        plan: SimulationPlan { protocol: "example".into(), trials: 100, ..SimulationPlan::default() },
        first_round_vote: share(68.5, 100),
        verdict: share(61.0, 100),
        wrong_to_right: 4,
        right_to_wrong: 11,
        recovered: vec![
            found("flips", 0.05, 0.048, [0.03, 0.07]),
            found("conformity", 0.2, 0.3, [0.22, 0.38]),
            unseen,
        ],
        rounds: vec![round(1, 300.0, 68.5), round(2, 298.0, 65.0)],
        flips: FlipCounts { flips: 90, evidenced: 60, toward_majority: 55 },
        evidence_bar: Some(EvidenceBar { bare_blocked: share(40.0, 40), evidenced_blocked: share(0.0, 50) }),
        neutral: neutral(0.0, 0.656),
        drifting: Some(neutral(0.3, 0.772)),
        curves: vec![AdversaryCurve {
            protocol: "deep".into(),
            points: vec![point(3, 70.0, 40.0), point(5, 75.0, 60.0)],
        }],
    }
}

#[test]
fn the_findings_come_first_in_sentences_and_then_in_tables() {
    insta::assert_snapshot!(text(&findings()), @"
    100 debates of example with 5 seats, seed 1: held by the engine, read from their logs.

    The verdict is right in 61.0% [51.2, 70.0].
    A plain vote on the first positions is right in 68.5% [59.4, 77.2].
    Debate made 4 wrong votes right and 11 right votes wrong.
    Seats changed their minds 90 times: 60 times with evidence, 55 times toward the majority of the others.
    The evidence rule takes back 100.0% [91.2, 100.0] of the changes without evidence,
    and 0.0% [0.0, 7.1] of those with evidence.

    What was planted, and what the logs show
                     planted  found  95% interval    cases
      flips          0.050    0.048  0.030 to 0.070  420    within
      conformity     0.200    0.300  0.220 to 0.380  420    outside
      position-bias  0.200    -      not seen        0

    Round by round
      round  seats that are right  a vote would be right
      1      60.0% [55.6, 64.2]    68.5% [59.4, 77.2]
      2      59.6% [55.2, 63.8]    65.0% [55.3, 73.6]

    One adversary in N: deep
      seats  honest              one adversary       lost   first vote  # with one, + without
      3      70.0% [60.4, 78.1]  40.0% [30.9, 49.8]  -30.0  50.0%       ############+++++++++
      5      75.0% [65.7, 82.5]  60.0% [50.2, 69.1]  -15.0  50.0%       ##################+++++

    If the same seats only counted what they hear (20000 tables, 2 rounds):
      mean belief from 0.600 to 0.600, a vote right from 0.683 to 0.656.
    If right answers weighed 30% more:
      mean belief from 0.600 to 0.675, a vote right from 0.683 to 0.772.
    ");
}

#[test]
fn findings_can_be_read_back_from_json() {
    let written = serde_json::to_string(&findings()).unwrap();
    assert_eq!(serde_json::from_str::<SimulationFindings>(&written).unwrap(), findings());
    assert!(written.contains("\"within\":false"), "{written}");
}
