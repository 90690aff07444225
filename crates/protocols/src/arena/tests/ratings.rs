//! "ELO ratings are updated based on judge scores": pairwise, divided by n-1, K 32, initial 1500, zero-sum.

use agon_core::lesson::AgentStanding;
use proptest::prelude::*;

use crate::arena::judging::{expected_score, rating_changes};
use super::*;

/// A published example: 1613 plays 1609, 1477, 1388, 1586 and 1720 with 0, 0.5, 1, 1 and 0; 2.867 points are expected of it, and with
/// K 32 it is 1601 afterwards.
#[test]
fn a_published_example_comes_out_as_published() {
    let others = [1609.0, 1477.0, 1388.0, 1586.0, 1720.0];
    let points: f64 = others.iter().map(|other| expected_score(1613.0, *other)).sum();
    // The example rounds each expectation to three places: .506, .686, .785, .539, .351.
    for (other, published) in others.iter().zip([0.506, 0.686, 0.785, 0.539, 0.351]) {
        assert!((expected_score(1613.0, *other) - published).abs() < 0.0006, "{other}");
    }
    assert!((points - 2.867).abs() < 0.001);
    let results = [0.0, 0.5, 1.0, 1.0, 0.0];
    let ratings: Vec<f64> = [&[1613.0][..], &others].concat();
    let change = rating_changes(&ratings, |one, other| match (one, other) {
        (0, other) => results[other - 1],
        (one, 0) => 1.0 - results[one - 1],
        _ => 0.5,
    })[0];
    // Five games in one debate count a fifth each; one by one they are the published figure.
    assert!((change * 5.0 - 32.0 * (2.5 - points)).abs() < 1e-9);
    assert_eq!((1613.0 + change * 5.0).round(), 1601.0);
}

/// Two more that are easily checked by hand: 400 points make ten to one, and equals gain half of K.
#[test]
fn examples_by_hand_come_out() {
    assert!((expected_score(1900.0, 1500.0) - 10.0 / 11.0).abs() < 1e-12);
    assert_eq!(expected_score(1500.0, 1500.0), 0.5);
    assert_eq!(rating_changes(&[1500.0, 1500.0], |one, _| if one == 0 { 1.0 } else { 0.0 }), [16.0, -16.0]);
    assert_eq!(rating_changes(&[1500.0; 2], |_, _| 0.5), [0.0, 0.0]);
    // Of three equals the best wins two games and the last loses two, each for half of 32 / 2.
    let ranked = rating_changes(&[1500.0; 3], |one, other| if one < other { 1.0 } else { 0.0 });
    assert_eq!(ranked, [16.0, 0.0, -16.0]);
    let favourite = rating_changes(&[1900.0, 1500.0], |one, _| if one == 0 { 1.0 } else { 0.0 });
    assert!((favourite[0] - 32.0 / 11.0).abs() < 1e-9);
    assert_eq!(rating_changes(&[1500.0], |_, _| 0.5), [0.0], "nobody to play");
}

proptest! {
    /// "zero-sum to 1e-9", and nobody changes by more than K.
    #[test]
    fn changes_sum_to_zero(ratings in proptest::collection::vec(100.0..3500.0_f64, 2..9),
                           scores in proptest::collection::vec(0_u32..5, 9)) {
        let result = |one: usize, other: usize| match scores[one].cmp(&scores[other]) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        };
        let changed = rating_changes(&ratings, result);
        prop_assert!(changed.iter().sum::<f64>().abs() < 1e-9);
        prop_assert!(changed.iter().all(|change| change.abs() <= 32.0));
        for (one, a) in changed.iter().enumerate() {
            for (other, b) in changed.iter().enumerate() {
                if ratings[one] == ratings[other] && scores[one] > scores[other] {
                    prop_assert!(a > b);
                }
            }
        }
    }
}

fn sum(outcome: &Outcome) -> f64 {
    outcome.verdict["ratings"].as_array().unwrap().iter().map(|rated| rated["change"].as_f64().unwrap()).sum()
}

/// The verdict: `[{seat, agent, before, after, change, score}]` in seat order.
#[test]
fn a_debate_changes_ratings_by_the_judges_scores() {
    let outcome = ScriptedArena::default().outcome();
    let rated = outcome.verdict["ratings"].as_array().unwrap();
    let row = |place: usize, seat: &str, agent: &str, change: f64, score: f64| {
        let want = json!({"seat": seat, "agent": agent, "before": 1500.0, "after": 1500.0 + change, "change": change, "score": score});
        assert_eq!(rated[place], want);
    };
    row(0, "agent-1", "a/x", 16.0, 8.0);
    row(1, "agent-2", "b/y", 0.0, 6.0);
    row(2, "agent-3", "c/z", -16.0, 4.0);
    assert!(sum(&outcome).abs() < 1e-9);
}

/// "before from the standings part", by who speaks.
#[test]
fn ratings_begin_where_the_standings_say() {
    let known = json!([
        AgentStanding { agent: "a/x".into(), rating: 1900.0, deviation: 50.0, games: 9, brier: None },
        AgentStanding { agent: "c/z".into(), rating: 1500.0, deviation: 50.0, games: 9, brier: None },
    ])
    .to_string();
    let files = [("standings:kept", known.as_str())];
    let outcome = ScriptedArena { files: &files, ..ScriptedArena::default() }.outcome();
    let rated = outcome.verdict["ratings"].as_array().unwrap();
    assert_eq!(
        rated.iter().map(|one| one["before"].as_f64().unwrap()).collect::<Vec<_>>(),
        [1900.0, 1500.0, 1500.0]
    );
    // Two expected wins of ten to one.
    assert!((rated[0]["change"].as_f64().unwrap() - 32.0 / 11.0).abs() < 1e-9);
    assert!(sum(&outcome).abs() < 1e-9);
}

/// "Two seats of one agent: each seat has its own change, they cancel between themselves".
#[test]
fn two_seats_of_one_agent_cancel_between_themselves() {
    let outcome = ScriptedArena { models: &["a/x", "b/y", "a/x"], ..ScriptedArena::default() }.outcome();
    let rated = outcome.verdict["ratings"].as_array().unwrap();
    assert_eq!(
        rated.iter().map(|one| one["agent"].as_str().unwrap()).collect::<Vec<_>>(),
        ["a/x", "b/y", "a/x"]
    );
    let own: f64 = [0, 2].map(|place| rated[place]["change"].as_f64().unwrap()).iter().sum();
    assert_eq!((own, rated[1]["change"].as_f64().unwrap()), (0.0, 0.0), "one win and one loss against b/y");
}

/// "`after` is the agent's rating after all its changes", in each of its rows; nothing is nothing, without binary noise.
#[test]
fn an_agent_that_sits_twice_has_one_rating_afterwards() {
    let scores = |_: u32, _: usize| vec![8.0, 4.0, 6.0];
    let outcome = ScriptedArena { models: &["a/x", "b/y", "a/x"], scores: &scores, ..ScriptedArena::default() }.outcome();
    let rated = outcome.verdict["ratings"].as_array().unwrap();
    let of = |place: usize, key: &str| rated[place][key].as_f64().unwrap();
    assert_eq!((of(0, "change"), of(2, "change")), (16.0, 0.0));
    assert_eq!((of(0, "after"), of(2, "after"), of(1, "after")), (1516.0, 1516.0, 1484.0));
    let noisy = rating_changes(&[1500.1, 1499.9, 1500.1, 1499.9], |one, other| {
        expected_score([1500.1, 1499.9][one % 2], [1500.1, 1499.9][other % 2])
    });
    assert_eq!(noisy, [0.0; 4]);
    let tiny = rating_changes(&[1500.0, 1500.0], |one, _| if one == 0 { 0.5 + 1e-12 } else { 0.5 - 1e-12 });
    assert_eq!(tiny, [0.0; 2], "less than a billionth is nothing");
}

/// Equal scores are ties.
#[test]
fn equal_scores_change_nothing_between_equals() {
    let outcome = ScriptedArena { scores: &|_, _| vec![5.0; 3], ..ScriptedArena::default() }.outcome();
    assert!(outcome.verdict["ratings"].as_array().unwrap().iter().all(|rated| rated["change"] == 0.0));
}

/// "Seats whose proposals were spoken by more than one model have no agent and are not rated"; an agent of the configuration goes by its
/// own name.
#[test]
fn who_is_not_one_agent_is_not_rated() {
    let table = ScriptedArena { models: &["agent/keen", "b/y|d/w", "c/z"], ..ScriptedArena::default() };
    // The chain's second link took over in round 5.
    let told = |switch: bool| {
        respoken(&table, table.brief(), &|asked, round| {
            asked.contains('|').then_some(if round >= 5 && switch { "d/w" } else { "b/y" })
        })
    };
    let one = told(false);
    assert_eq!(one.verdict["ratings"].as_array().unwrap().len(), 3);
    assert_eq!(
        (&one.verdict["ratings"][0]["agent"], &one.verdict["ratings"][1]["agent"]),
        (&json!("keen"), &json!("b/y"))
    );
    let two = told(true);
    let rated = two.verdict["ratings"].as_array().unwrap();
    assert_eq!(rated.iter().map(|one| one["agent"].as_str().unwrap()).collect::<Vec<_>>(), ["keen", "c/z"]);
    assert!(sum(&two).abs() < 1e-9 && warned(&two, "not rated, because more than one model spoke for it"));
    let lesson = two.lesson.unwrap();
    assert_eq!((lesson.parts[1].agent.clone(), lesson.parts[1].rated.clone()), (None, None));
}
