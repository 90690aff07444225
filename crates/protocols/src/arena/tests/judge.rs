//! "Judge: Single designated agent scores and ranks in round 8": scores, ranking, margin, two orders, and a judge that fails.

use crate::arena::judging::{JudgeResult, JudgeSheet};
use crate::arena::replies::{JudgementReply, ScoreReasons, ScoreReply};
use super::*;

/// What a judge says of A, B, C... with these scores and this ranking.
fn sheet(scores: &[f64], ranking: &str) -> JudgeSheet {
    let scored = |(score, label): (&f64, char)| ScoreReply {
        label: label.to_string(),
        score: *score,
        reasons: ScoreReasons::Text(format!("{label} is clear")),
    };
    let said = JudgementReply {
        scores: scores.iter().zip('A'..).map(scored).collect(),
        ranking: ranking.chars().map(String::from).collect(),
        margin_comment: None,
    };
    let order = (0..scores.len()).collect();
    JudgeSheet::read(said, order, "d/w".into(), |label| Some((label.as_bytes()[0] - b'A') as usize))
}

/// "margin = best - second (one proposal: its score). Equal best scores: ranking decides top, margin 0".
#[test]
fn the_margin_is_between_the_best_two_and_ties_go_by_the_ranking() {
    for (scores, ranking, top, margin) in [
        (&[8.0, 6.0, 7.0][..], "ACB", 0, 1.0),
        (&[6.0, 8.5, 7.0], "BCA", 1, 1.5),
        (&[7.0, 7.0, 3.0], "BAC", 1, 0.0),
        (&[7.0, 7.0, 3.0], "ABC", 0, 0.0),
        (&[4.5], "A", 0, 4.5),
        (&[0.0, 0.0], "BA", 1, 0.0),
    ] {
        let judged = JudgeResult::of(vec![sheet(scores, ranking)]).unwrap();
        assert_eq!((judged.top, judged.margin, judged.consistent), (Some(top), margin, None), "{scores:?}");
        assert_eq!(judged.ranking[0], top);
    }
    assert!(JudgeResult::of(Vec::new()).is_none(), "no judge, no figure");
}

/// "Two orders: mean scores; consistent = the same top in both; inconsistent = a tie: top null, margin 0".
#[test]
fn two_orders_give_mean_scores_and_disagreeing_ones_a_tie() {
    let judged = JudgeResult::of(vec![sheet(&[8.0, 6.0, 3.0], "ABC"), sheet(&[7.0, 5.0, 6.0], "ACB")]).unwrap();
    assert_eq!(judged.scores, [(0, 7.5), (1, 5.5), (2, 4.5)]);
    assert_eq!((judged.top, judged.margin, judged.consistent), (Some(0), 2.0, Some(true)));
    let torn = JudgeResult::of(vec![sheet(&[8.0, 6.0, 3.0], "ABC"), sheet(&[5.0, 9.0, 3.0], "BAC")]).unwrap();
    assert_eq!((torn.top, torn.margin, torn.consistent), (None, 0.0, Some(false)));
    assert_eq!(torn.score(1), Some(7.5));
}

/// Figures are without the noise of binary fractions: 0.1 and 0.2 have the mean 0.15.
#[test]
fn margin_and_means_have_no_binary_noise() {
    let judged = JudgeResult::of(vec![sheet(&[0.1, 8.1, 7.9], "BCA"), sheet(&[0.2, 8.1, 7.9], "BCA")]).unwrap();
    assert_eq!(judged.scores, [(0, 0.15), (1, 8.1), (2, 7.9)]);
    assert_eq!(judged.margin, 0.2);
    let single = JudgeResult::of(vec![sheet(&[8.3, 8.1], "AB")]).unwrap();
    assert_eq!(single.margin, 0.2);
}

/// "a pair of which the orders disagree is a tie in the ratings".
#[test]
fn a_pair_of_which_the_orders_disagree_is_a_tie() {
    let judged = JudgeResult::of(vec![sheet(&[8.0, 6.0, 3.0], "ABC"), sheet(&[7.0, 7.5, 3.0], "BAC")]).unwrap();
    assert_eq!((judged.result(0, 1), judged.result(1, 0)), (0.5, 0.5));
    assert_eq!((judged.result(0, 2), judged.result(2, 0)), (1.0, 0.0));
    let even = JudgeResult::of(vec![sheet(&[8.0, 8.0], "AB"), sheet(&[8.0, 7.0], "AB")]).unwrap();
    assert_eq!((even.result(0, 1), even.result(1, 0)), (1.0, 0.0), "a tie and a win are a win");
    let same = JudgeResult::of(vec![sheet(&[8.0, 8.000_000_000_1], "AB")]).unwrap();
    assert_eq!(same.result(0, 1), 0.5);
}

/// "one judge, not a proposer by default, scores every proposal on criteria 0 to 10 with reasons and ranks them".
#[test]
fn the_judge_scores_and_ranks_every_proposal() {
    let outcome = ScriptedArena::default().outcome();
    let (judge, brief) = (&outcome.verdict["judge"], ScriptedArena::default().brief());
    assert_eq!((&judge["model"], &judge["top"]), (&json!("a/x"), &json!(label(&brief, 1))));
    assert_eq!((&judge["margin"], &judge["consistent"]), (&json!(2.0), &Value::Null));
    assert_eq!(judge["scores"].as_array().unwrap().len(), 3);
    let ranking: Vec<String> = (1..=3).map(|n| label(&brief, n)).collect();
    assert_eq!(judge["ranking"], json!(ranking));
    for scored in judge["scores"].as_array().unwrap() {
        let label = scored["label"].as_str().unwrap();
        assert_eq!(outcome.labels[label], scored["seat"].as_str().unwrap());
        assert_eq!(scored["reasons"], json!([format!("{label} is clear")]));
    }
    assert_eq!((&judge["agrees_with_vote"], &judge["margin_comment"]), (&json!(true), &json!("it is plain")));
    assert_eq!(judge["orders"].as_array().unwrap().len(), 1);
}

/// `--judge-orders 2`: two asks, the second with the proposals reversed.
#[test]
fn two_orders_are_two_asks_of_which_one_is_the_reverse() {
    let set = [BARE, &[("judge_orders", "2")]].concat();
    let orders = std::cell::RefCell::new(Vec::new());
    let look = |ask: &Ask, phase: &str, _: u32, _: &mut Value| {
        if phase == "judge" {
            let text = ask.prompt.tail.clone();
            let mut seen: Vec<(usize, char)> = ('A'..='C')
                .map(|label| (text.find(&format!("#### Agent {label}\n")).unwrap(), label))
                .collect();
            seen.sort_unstable();
            orders.borrow_mut().push(seen.into_iter().map(|(_, label)| label).collect::<String>());
        }
    };
    let debate = ScriptedArena { set: &set, with: &look, ..ScriptedArena::default() }.run();
    assert_eq!(calls(&debate).0, 26);
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
fn inconsistent_orders_are_a_tie_and_said_to_be() {
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
    assert_eq!(judge["agrees_with_vote"], Value::Null);
}

/// "One of two orders absent: the other counts, degraded, consistent null".
#[test]
fn one_of_two_orders_counts_alone() {
    let set = [BARE, &[("judge_orders", "2")]].concat();
    let outcome =
        ScriptedArena { set: &set, absent: &|ask, _, _| ask.about.as_deref() == Some("order 1"), ..ScriptedArena::default() }
            .outcome();
    let judge = &outcome.verdict["judge"];
    assert_eq!((&judge["consistent"], judge["orders"].as_array().unwrap().len()), (&Value::Null, 1));
    assert_eq!((outcome.status, outcome.fidelity), (Status::Complete, Fidelity::Degraded));
    assert!(warned(&outcome, "only one of two orders"));
    assert_eq!(judge["scores"].as_array().unwrap().len(), 3);
}

/// "A ranking that contradicts the scores is not refused: the scores count, a warning says so".
#[test]
fn the_scores_count_where_the_ranking_contradicts_them() {
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
    assert!(warned(&outcome, "the judge's ranking contradicts its scores"));
    assert!(!warned(&ScriptedArena::default().outcome(), "contradicts"));
}

/// "A failed judge: no ratings change, `judge` null; with a vote that reached consensus the winner stands: termination `consensus`,
/// status `incomplete`, exit 3, no extended round; without one `failed`, exit 3".
#[test]
fn a_failed_judge_is_a_distinct_ending_without_any_figure() {
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

    let split = ScriptedArena { absent: &absent, votes: &|_| SPLIT.to_vec(), ..ScriptedArena::default() }.run();
    assert_eq!(phases(&split).last().unwrap(), &("judge".to_owned(), 8), "no extended round");
    let outcome = split.outcome.unwrap();
    assert_eq!((outcome.termination, outcome.status), (Termination::Failed, Status::Failed));
    assert_eq!((&outcome.verdict["winner"], &outcome.verdict["judge"]), (&Value::Null, &Value::Null));
    assert!(warned(&outcome, "the judge was absent"));

    let early = ScriptedArena { absent: &absent, alike: &|_| 0.9, ..ScriptedArena::default() }.outcome();
    assert_eq!(
        (early.termination, early.status),
        (Termination::Consensus, Status::Incomplete),
        "also when converged"
    );
}

/// "then the report warns that the judge also proposes".
#[test]
fn a_judge_who_also_proposes_is_named() {
    assert!(warned(&ScriptedArena::default().outcome(), "the judge's model also makes a proposal"));
    let set = [BARE, &[("team", "2"), ("explore", "0")]].concat();
    let apart = ScriptedArena { set: &set, ..ScriptedArena::default() };
    assert_eq!(apart.brief().seat("judge").unwrap().model, "c/z");
    let outcome = apart.outcome();
    assert!(!warned(&outcome, "also makes a proposal"));
    assert_eq!(outcome.verdict["judge"]["model"], "c/z");
}

/// "compares who really spoke": links that two chains have in common are nothing, until both speak by them.
#[test]
fn a_judge_who_fell_back_to_a_proposers_model_is_named() {
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
        assert_eq!(
            warned(&outcome, "also makes a proposal"),
            outcome.verdict["judge"]["also_proposes"] == true
        );
        outcome.verdict["judge"]["also_proposes"] == true
    };
    assert!(spoken("d/w", "d/w"), "both fell back to the same");
    assert!(!spoken("a/x", "d/w") && !spoken("d/w", "e/v") && !spoken("a/x", "e/v"));
    brief.seats.iter_mut().find(|seat| seat.role == "judge").unwrap().model = "e/v|b/y".to_owned();
    let fell = respoken(&table, brief.clone(), &|asked, _| (asked == "e/v|b/y").then_some("b/y"));
    assert!(warned(&fell, "also makes a proposal") && fell.verdict["judge"]["also_proposes"] == true);
}

/// Proposals that say the same may change places in the judge's eyes: it still agrees with the vote for them.
#[test]
fn orders_that_disagree_about_the_same_thing_agree_with_the_vote() {
    let set = [BARE, &[("judge_orders", "2")]].concat();
    let scores = |_: u32, order: usize| if order == 0 { vec![9.0, 8.0, 7.0] } else { vec![7.0, 9.0, 8.0] };
    let debate = ScriptedArena { set: &set, alike: &|_| 0.9, scores: &scores, ..ScriptedArena::default() }.run();
    assert_eq!(phases(&debate).last().unwrap(), &("judge".to_owned(), 8), "no extended round");
    let outcome = debate.outcome.unwrap();
    assert_eq!(outcome.termination, Termination::Converged);
    let judge = &outcome.verdict["judge"];
    assert_eq!((&judge["top"], &judge["agrees_with_vote"]), (&Value::Null, &json!(true)));
}
