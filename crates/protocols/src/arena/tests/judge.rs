//! What the judge's scores come to, and the ratings that follow.

use agon_core::lesson::AgentStanding;
use proptest::prelude::*;

use super::*;
use crate::arena::replies::{CriteriaScores, JudgementReply, ScoreReasons, ScoreReply};
use crate::arena::voting::{JudgeResult, JudgeSheet};
use crate::arena::voting::{expected_score, rating_changes};

/// A judge's sheet with these scores of A, B, C... on every criterion, and this ranking.
fn sheet(scores: &[f64], ranking: &str) -> JudgeSheet {
    let all: Vec<[f64; 5]> = scores.iter().map(|score| [*score; 5]).collect();
    weighed(&all, ranking, [1.0; 5])
}

fn weighed(scores: &[[f64; 5]], ranking: &str, weights: [f64; 5]) -> JudgeSheet {
    let scored = |(criteria, label): (&[f64; 5], char)| ScoreReply {
        label: label.to_string(),
        criteria: CriteriaScores::from_list(*criteria),
        reasons: ScoreReasons::Text(format!("{label} is clear")),
    };
    let said = JudgementReply {
        analysis: String::new(),
        scores: scores.iter().zip('A'..).map(scored).collect(),
        ranking: ranking.chars().map(String::from).collect(),
        margin_comment: None,
    };
    let order = scores.iter().zip('A'..).map(|(_, label)| label.to_string()).collect();
    JudgeSheet::read(said, order, "d/w".into(), weights)
}

/// The mean score of each proposal.
fn means(judged: &JudgeResult) -> Vec<(&str, f64)> {
    judged.scores.iter().map(|one| (one.label.as_str(), one.score)).collect()
}

/// "scores every proposal 0 to 10 on each of five criteria; weights configurable, equal by default; the weighted score is arithmetic".
#[test]
fn the_score_is_the_weighted_mean_of_five_criteria() {
    let scores = [[10.0, 0.0, 5.0, 5.0, 5.0], [5.0, 6.0, 5.0, 5.0, 5.0]];
    let equal = JudgeResult::of(vec![weighed(&scores, "AB", [1.0; 5])]).unwrap();
    assert_eq!(means(&equal), [("A", 5.0), ("B", 5.2)]);
    assert_eq!((equal.top.as_deref(), equal.margin), (Some("B"), 0.2));
    let heavy = JudgeResult::of(vec![weighed(&scores, "AB", [3.0, 1.0, 0.0, 0.0, 0.0])]).unwrap();
    assert_eq!((means(&heavy), heavy.top.as_deref()), (vec![("A", 7.5), ("B", 5.25)], Some("A")));
    assert_eq!(heavy.scores[1].criteria.list(), [5.0, 6.0, 5.0, 5.0, 5.0]);
    let set = [BARE, &[("weights.correctness", "0"), ("weights.evidence", "4")]].concat();
    let with = |_: &Ask, phase: &str, _: u32, said: &mut Value| {
        if phase == "judge" {
            said["scores"][0]["criteria"]["evidence"] = json!(1.0);
        }
    };
    let outcome = ScriptedArena { set: &set, with: &with, ..ScriptedArena::default() }.outcome();
    let scored = outcome.verdict["judge"]["scores"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["seat"] == "agent-1")
        .unwrap();
    assert_eq!(
        (&scored["score"], &scored["criteria"]["evidence"]),
        (&json!(4.0), &json!(1.0)),
        "(4 + 3 x 8) / 7"
    );
    let zero: Vec<(String, &str)> =
        CriteriaScores::NAMES.iter().map(|name| (format!("weights.{name}"), "0")).collect();
    let zero: Vec<(&str, &str)> = zero.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let request = testing::request(&Arena, "How?", &[], MODELS, &zero).unwrap();
    assert!(Arena.seats(&request).unwrap_err().0.contains("weights"));
}

/// "equal scores are a tie, not a win", whatever the ranking.
#[test]
fn the_margin_is_between_the_best_two_and_equal_scores_are_a_tie() {
    for (scores, ranking, first, margin) in [
        (&[8.0, 6.0, 7.0][..], "ACB", &["A"][..], 1.0),
        (&[6.0, 8.5, 7.0], "BCA", &["B"], 1.5),
        (&[7.0, 7.0, 3.0], "BAC", &["A", "B"], 0.0),
        (&[7.0, 3.0, 7.0], "CAB", &["A", "C"], 0.0),
        (&[4.5], "A", &["A"], 4.5),
        (&[0.0, 0.0], "BA", &["A", "B"], 0.0),
    ] {
        let judged = JudgeResult::of(vec![sheet(scores, ranking)]).unwrap();
        assert_eq!(judged.first, first, "{scores:?}");
        assert_eq!((judged.margin, judged.consistent), (margin, None), "{scores:?}");
        assert_eq!(judged.top.as_deref(), if first.len() == 1 { Some(first[0]) } else { None });
    }
    assert!(JudgeResult::of(Vec::new()).is_none(), "no judge, no figure");
}

/// "Two orders: mean scores; consistent = the same top in both; inconsistent = a tie: top null, margin 0".
#[test]
fn two_orders_give_mean_scores_and_disagreeing_ones_a_tie() {
    let judged =
        JudgeResult::of(vec![sheet(&[8.0, 6.0, 3.0], "ABC"), sheet(&[7.0, 5.0, 6.0], "ACB")]).unwrap();
    assert_eq!(means(&judged), [("A", 7.5), ("B", 5.5), ("C", 4.5)]);
    assert_eq!((judged.top.as_deref(), judged.margin, judged.consistent), (Some("A"), 2.0, Some(true)));
    let torn = JudgeResult::of(vec![sheet(&[8.0, 6.0, 3.0], "ABC"), sheet(&[5.0, 9.0, 3.0], "BAC")]).unwrap();
    assert_eq!(torn.first, ["A", "B"]);
    assert_eq!((torn.top.as_deref(), torn.margin, torn.consistent), (None, 0.0, Some(false)));
    assert_eq!(torn.score("B"), Some(7.5));
}

/// Figures have no noise of binary fractions: the mean of 0.1 and 0.2 is 0.15.
#[test]
fn margin_and_means_have_no_binary_noise() {
    let judged =
        JudgeResult::of(vec![sheet(&[0.1, 8.1, 7.9], "BCA"), sheet(&[0.2, 8.1, 7.9], "BCA")]).unwrap();
    assert_eq!(means(&judged), [("A", 0.15), ("B", 8.1), ("C", 7.9)]);
    assert_eq!(judged.margin, 0.2);
    let single = JudgeResult::of(vec![sheet(&[8.3, 8.1], "AB")]).unwrap();
    assert_eq!(single.margin, 0.2);
}

/// "a pair of which the orders disagree is a tie in the ratings".
#[test]
fn a_pair_is_a_tie_if_the_orders_disagree_about_it() {
    let judged =
        JudgeResult::of(vec![sheet(&[8.0, 6.0, 3.0], "ABC"), sheet(&[7.0, 7.5, 3.0], "BAC")]).unwrap();
    assert_eq!((judged.result("A", "B"), judged.result("B", "A")), (0.5, 0.5));
    assert_eq!((judged.result("A", "C"), judged.result("C", "A")), (1.0, 0.0));
    let even = JudgeResult::of(vec![sheet(&[8.0, 8.0], "AB"), sheet(&[8.0, 7.0], "AB")]).unwrap();
    assert_eq!((even.result("A", "B"), even.result("B", "A")), (1.0, 0.0), "a tie and a win are a win");
    let same = JudgeResult::of(vec![sheet(&[8.0, 8.000_000_000_1], "AB")]).unwrap();
    assert_eq!(same.result("A", "B"), 0.5);
}

/// "one judge, not a proposer by default, scores every proposal on criteria 0 to 10 with reasons and ranks them".
#[test]
fn the_judge_scores_and_ranks_every_proposal() {
    let outcome = ScriptedArena::default().outcome();
    let (judge, brief) = (&outcome.verdict["judge"], ScriptedArena::default().brief());
    assert_eq!((&judge["model"], &judge["top"]), (&json!("d/w"), &json!(label(&brief, 1))));
    assert_eq!((&judge["margin"], &judge["consistent"]), (&json!(2.0), &Value::Null));
    assert_eq!(judge["scores"].as_array().unwrap().len(), 3);
    let ranking: Vec<String> = (1..=3).map(|n| label(&brief, n)).collect();
    assert_eq!(judge["ranking"], json!(ranking));
    for scored in judge["scores"].as_array().unwrap() {
        let label = scored["label"].as_str().unwrap();
        assert_eq!(outcome.labels[label], scored["seat"].as_str().unwrap());
        assert_eq!(scored["reasons"], json!([format!("Agent {label} is clear")]));
    }
    assert_eq!((&judge["agrees_with_vote"], &judge["margin_comment"]), (&json!(true), &json!("it is plain")));
    assert_eq!(judge["orders"].as_array().unwrap().len(), 1);
}

/// `--judge-orders 2`: two asks, the second with the proposals reversed.
#[test]
fn two_orders_are_two_asks_and_the_second_is_reversed() {
    let set = [BARE, &[("judge_orders", "2")]].concat();
    let orders = std::cell::RefCell::new(Vec::new());
    let look = |ask: &Ask, phase: &str, _: u32, _: &mut Value| {
        if phase == "judge" {
            let text = ask.prompt.tail.clone();
            let mut seen: Vec<(usize, char)> = ('A'..='C')
                .map(|label| (text.find(&format!("\nAgent {label}:\n")).unwrap(), label))
                .collect();
            seen.sort_unstable();
            orders.borrow_mut().push(seen.into_iter().map(|(_, label)| label).collect::<String>());
        }
    };
    let debate = ScriptedArena { set: &set, with: &look, ..ScriptedArena::default() }.run();
    assert_eq!(calls(&debate).0, 30);
    let orders = orders.into_inner();
    assert_eq!(orders[0], orders[1].chars().rev().collect::<String>());
    let judge = &debate.outcome.as_ref().unwrap().verdict["judge"];
    for (shown, order) in orders.iter().zip(judge["orders"].as_array().unwrap()) {
        let labels: Vec<String> = shown.chars().map(String::from).collect();
        assert_eq!(order["order"], json!(labels));
    }
    assert_eq!(judge["consistent"], true);
}

/// "inconsistent orders: a tie": nobody is the judge's best, and the report says so.
#[test]
fn inconsistent_orders_are_reported_as_a_tie() {
    let set = [BARE, &[("judge_orders", "2"), ("max_extended_rounds", "0"), ("decide", "judge")]].concat();
    let scores = |_: u32, order: usize| if order == 0 { vec![9.0, 5.0, 1.0] } else { vec![5.0, 9.0, 1.0] };
    let outcome = ScriptedArena { set: &set, scores: &scores, ..ScriptedArena::default() }.outcome();
    let judge = &outcome.verdict["judge"];
    assert_eq!(
        (&judge["top"], &judge["margin"], &judge["consistent"]),
        (&Value::Null, &json!(0.0), &json!(false))
    );
    assert_eq!(outcome.verdict["decided_by"], "vote", "a tie decides nothing");
    assert!(warned(&outcome, "depends on the order"));
    assert_eq!(judge["agrees_with_vote"], true, "a tie that includes the winner of the vote agrees with it");
    assert_eq!(judge["first"].as_array().unwrap().len(), 2);
}

/// "One of two orders absent: the other counts, degraded, consistent null".
#[test]
fn one_of_two_orders_counts_alone() {
    let set = [BARE, &[("judge_orders", "2")]].concat();
    let outcome = ScriptedArena {
        set: &set,
        absent: &|ask, _, _| ask.about.as_deref() == Some("order 1"),
        ..ScriptedArena::default()
    }
    .outcome();
    let judge = &outcome.verdict["judge"];
    assert_eq!((&judge["consistent"], judge["orders"].as_array().unwrap().len()), (&Value::Null, 1));
    assert_eq!((outcome.status, outcome.fidelity), (Status::Complete, Fidelity::Degraded));
    assert!(warned(&outcome, "only one of two orders"));
    assert_eq!(judge["scores"].as_array().unwrap().len(), 3);
}

/// "A ranking that contradicts the scores is not refused: the scores count, a warning says so".
#[test]
fn the_scores_count_if_the_ranking_contradicts_them() {
    let outcome = ScriptedArena {
        with: &|_, phase, _, said| {
            if phase == "judge" {
                said["ranking"].as_array_mut().unwrap().reverse();
            }
        },
        ..ScriptedArena::default()
    }
    .outcome();
    assert_eq!(outcome.verdict["judge"]["top"], label(&ScriptedArena::default().brief(), 1));
    assert!(warned(&outcome, "the judge's ranking differs from its scores, which decide"));
    assert!(!warned(&ScriptedArena::default().outcome(), "ranking"));
}

/// "A failed judge: no ratings change, `judge` null; with a vote that reached consensus the winner stands: termination `consensus`,
/// status `incomplete`, exit 3, no extended round; without one `failed`, exit 3".
#[test]
fn a_failed_judge_is_an_ending_of_its_own_without_figures() {
    let absent = |_: &Ask, phase: &str, _: u32| phase == "judge";
    let reached = ScriptedArena { absent: &absent, ..ScriptedArena::default() }.run();
    assert_eq!(phases(&reached).last().unwrap(), &("judge".to_owned(), 8));
    let outcome = reached.outcome.unwrap();
    assert_eq!((outcome.termination, outcome.status), (Termination::Consensus, Status::Incomplete));
    let verdict = &outcome.verdict;
    assert_eq!((&verdict["judge"], &verdict["ratings"]), (&Value::Null, &json!([])));
    assert_eq!((&verdict["winner_seat"], &verdict["decided_by"]), (&json!("agent-1"), &json!("vote")));
    assert!(
        outcome
            .lesson
            .as_ref()
            .unwrap()
            .parts
            .iter()
            .all(|part| part.rated.is_none() && part.score.is_none())
    );
    assert_eq!(outcome.rounds_completed, 7);

    let split =
        ScriptedArena { absent: &absent, votes: &|_| SPLIT.to_vec(), ..ScriptedArena::default() }.run();
    assert_eq!(phases(&split).last().unwrap(), &("judge".to_owned(), 8), "no extended round");
    let outcome = split.outcome.unwrap();
    assert_eq!((outcome.termination, outcome.status), (Termination::Failed, Status::Failed));
    assert_eq!((&outcome.verdict["winner"], &outcome.verdict["judge"]), (&Value::Null, &Value::Null));

    let early = ScriptedArena { absent: &absent, alike: &|_| 0.9, ..ScriptedArena::default() }.outcome();
    assert_eq!(
        (early.termination, early.status),
        (Termination::Consensus, Status::Incomplete),
        "also when converged"
    );
}

/// "when every model proposes, the judge is the first model, two orders are asked, and no rating changes".
#[test]
fn a_judge_that_also_proposes_is_asked_in_two_orders_and_rates_nobody() {
    let table = ScriptedArena::default();
    let mut brief = table.brief();
    for role in ["judge", "clerk"] {
        brief.seats.iter_mut().find(|seat| seat.role == role).unwrap().model = "a/x".to_owned();
    }
    let debate = table.run_brief(brief);
    assert_eq!(debate.turn("judge", 8).unwrap().asks.len(), 2);
    let outcome = debate.outcome.unwrap();
    assert_eq!(
        (&outcome.verdict["judge"]["consistent"], &outcome.verdict["ratings"]),
        (&json!(true), &json!([]))
    );
    assert!(
        warned(&outcome, "the judge is asked in two orders, and no rating changes"),
        "{:?}",
        outcome.warnings
    );
    let apart = table.outcome();
    assert!(!warned(&apart, "also makes a proposal") && apart.verdict["judge"]["also_proposes"] == false);
    assert_eq!(apart.verdict["ratings"].as_array().unwrap().len(), 3);
}

/// "compares who really spoke": links that two chains have in common are nothing, until both speak by them.
#[test]
fn a_judge_that_fell_back_to_a_proposers_model_is_reported() {
    let table = ScriptedArena { models: &["a/x|d/w", "b/y", "c/z"], ..ScriptedArena::default() };
    let mut brief = table.brief();
    brief.seats.iter_mut().find(|seat| seat.role == "judge").unwrap().model = "e/v|d/w".to_owned();
    let spoken = |agent: &'static str, judge: &'static str| {
        let outcome = respoken(&table, brief.clone(), &|asked, _| match asked {
            "a/x|d/w" => Some(agent),
            "e/v|d/w" => Some(judge),
            _ => None,
        });
        assert_eq!(outcome.verdict["judge"]["model"], judge);
        let is_said = warned(&outcome, "no rating changes");
        assert_eq!(is_said, outcome.verdict["judge"]["also_proposes"] == true);
        assert_eq!(warned(&outcome, "the clerk's model also"), agent == "d/w", "the clerk is d/w");
        outcome.verdict["judge"]["also_proposes"] == true
    };
    assert!(spoken("d/w", "d/w"), "both fell back to the same");
    assert!(!spoken("a/x", "d/w") && !spoken("d/w", "e/v") && !spoken("a/x", "e/v"));
    brief.seats.iter_mut().find(|seat| seat.role == "judge").unwrap().model = "e/v|b/y".to_owned();
    let fell = respoken(&table, brief.clone(), &|asked, _| (asked == "e/v|b/y").then_some("b/y"));
    assert!(
        warned(&fell, "the judge's model also makes a proposal: no rating changes")
            && fell.verdict["judge"]["also_proposes"] == true
    );
}

/// If the orders swap proposals that say the same, the judge still agrees with a vote for them.
#[test]
fn orders_that_swap_equal_proposals_still_agree_with_the_vote() {
    let set = [BARE, &[("judge_orders", "2")]].concat();
    let scores = |_: u32, order: usize| if order == 0 { vec![9.0, 8.0, 7.0] } else { vec![7.0, 9.0, 8.0] };
    let debate =
        ScriptedArena { set: &set, alike: &|_| 0.9, scores: &scores, ..ScriptedArena::default() }.run();
    assert_eq!(phases(&debate).last().unwrap(), &("judge".to_owned(), 8), "no extended round");
    let outcome = debate.outcome.unwrap();
    assert_eq!(outcome.termination, Termination::Converged);
    let judge = &outcome.verdict["judge"];
    assert_eq!((&judge["top"], &judge["agrees_with_vote"]), (&Value::Null, &json!(true)));
}

/// A published example: 1613 plays 1609, 1477, 1388, 1586 and 1720 with 0, 0.5, 1, 1 and 0; 2.867 points are expected of it, and with
/// K 32 it is 1601 afterwards.
#[test]
fn a_published_elo_example_is_reproduced() {
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

/// 400 points make ten to one, and equals gain half of K.
#[test]
fn elo_examples_calculated_by_hand_are_reproduced() {
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
fn ratings_start_from_the_standings() {
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

/// "Debates with a script, and in a folder whose found configuration was used", leave nothing unless the user asks for it.
#[test]
fn what_later_debates_may_not_know_leaves_no_lesson_and_no_rating() {
    use agon_core::{DebateProvenance, ModelKind};
    let held = |found_configuration, kind, remember| {
        let provenance =
            DebateProvenance { folder: "~/x".into(), found_configuration, models: vec![kind], remember };
        let file = provenance.file().unwrap();
        let files = [("provenance:provenance", file.text.as_str())];
        ScriptedArena { files: &files, ..ScriptedArena::default() }.outcome()
    };
    for (found, kind, why) in [
        (false, ModelKind::Script, Some("because a script spoke in it")),
        (false, ModelKind::Simulated, Some("because a script spoke in it")),
        (true, ModelKind::Server, Some("because it used an agon.toml that was found in its folder")),
        (false, ModelKind::Server, None),
        (false, ModelKind::Human, None),
    ] {
        let outcome = held(found, kind, false);
        assert_eq!(outcome.lesson.is_none(), why.is_some(), "{kind:?}");
        assert_eq!(outcome.verdict["ratings"].as_array().unwrap().is_empty(), why.is_some(), "{kind:?}");
        let warned = outcome.warnings.iter().any(|warning| why.is_some_and(|why| warning.contains(why)));
        assert_eq!(warned, why.is_some(), "{:?}", outcome.warnings);
        assert!(held(found, kind, true).lesson.is_some(), "{kind:?}");
    }
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
    let outcome =
        ScriptedArena { models: &["a/x", "b/y", "a/x"], scores: &scores, ..ScriptedArena::default() }
            .outcome();
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

#[test]
fn equal_scores_change_nothing_between_equals() {
    let outcome = ScriptedArena { scores: &|_, _| vec![5.0; 3], ..ScriptedArena::default() }.outcome();
    assert!(outcome.verdict["ratings"].as_array().unwrap().iter().all(|rated| rated["change"] == 0.0));
}

/// "Seats whose proposals were spoken by more than one model have no agent and are not rated"; an agent of the configuration goes by its
/// own name.
#[test]
fn a_seat_with_several_speakers_is_not_rated() {
    let table = ScriptedArena { models: &["agent/keen", "b/y|e/v", "c/z"], ..ScriptedArena::default() };
    // The chain's second link took over in round 5.
    let told = |switch: bool| {
        respoken(&table, table.brief(), &|asked, round| {
            asked.contains('|').then_some(if round >= 5 && switch { "e/v" } else { "b/y" })
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
