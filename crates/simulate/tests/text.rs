//! How findings are read by a person.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use agon_simulate::bar::EvidenceBar;
use agon_simulate::curve::{Curve, Point};
use agon_simulate::findings::{Findings, Plan, Recovered, RoundFigures};
use agon_simulate::measure::{Estimate, Flips, share};
use agon_simulate::neutral::{Belief, Neutral};
use agon_simulate::text::text;

fn findings() -> Findings {
    let found = |name: &str, planted: f64, value: f64, interval: [f64; 2]| Recovered {
        name: name.into(),
        planted: Some(planted),
        found: Estimate { value: Some(value), interval: Some(interval), cases: 420 },
        within: Some((interval[0]..=interval[1]).contains(&planted)),
    };
    let unseen = Recovered {
        name: "position-bias".into(),
        planted: Some(0.2),
        found: Estimate { value: None, interval: None, cases: 0 },
        within: None,
    };
    let belief = |round, mean_belief, majority_accuracy| Belief { round, mean_belief, majority_accuracy };
    let neutral = |drift, last| Neutral {
        trials: 20_000,
        drift,
        rounds: vec![belief(0, 0.6, 0.683), belief(1, 0.6, 0.67), belief(2, 0.6 + drift / 4.0, last)],
    };
    let point = |seats, honest, attacked| Point {
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
    Findings {
        plan: Plan { protocol: "review".into(), trials: 100, ..Plan::default() },
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
        flips: Flips { flips: 90, evidenced: 60, toward_majority: 55 },
        evidence_bar: Some(EvidenceBar { bare_blocked: share(40.0, 40), evidenced_blocked: share(0.0, 50) }),
        neutral: neutral(0.0, 0.656),
        drifting: Some(neutral(0.3, 0.772)),
        curves: vec![Curve {
            protocol: "deep".into(),
            points: vec![point(3, 70.0, 40.0), point(5, 75.0, 60.0)],
        }],
    }
}

#[test]
fn findings_are_told_first_in_words_then_in_tables() {
    insta::assert_snapshot!(text(&findings()), @"");
}

/// What is printed with `--json` can be read back.
#[test]
fn findings_survive_as_json() {
    let written = serde_json::to_string(&findings()).unwrap();
    assert_eq!(serde_json::from_str::<Findings>(&written).unwrap(), findings());
    assert!(written.contains("\"within\":false"), "{written}");
}
