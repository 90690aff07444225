//! Who the majority is, and what happens to the minority.

use super::*;
use crate::panel::consensus::majority;

/// "of the contiguous groups in score order that hold more than half of the judges, the one with the smallest range, of equal
/// ranges the largest"; "Two groups of the same size and range are `no_majority`, never a guess".
#[test]
fn the_majority_is_the_nearest_group_of_more_than_half() {
    for (scores, places) in [
        (&[4.0, 4.5, 2.0][..], Some(&[0, 1][..])),
        (&[2.0, 4.0, 4.5], Some(&[1, 2])),
        (&[4.5, 2.0, 4.0], Some(&[0, 2])),
        (&[3.0, 4.0, 5.0], None),
        (&[5.0, 3.0, 4.0], None),
        (&[3.0, 4.0, 5.000_000_000_1], None),
        (&[3.0, 4.0, 5.000_001], Some(&[0, 1])),
        (&[4.0, 4.0, 4.0], Some(&[0, 1, 2])),
        (&[4.0, 4.0, 5.0], Some(&[0, 1])),
        (&[1.0, 5.0], Some(&[0, 1])),
        (&[3.0, 3.0], Some(&[0, 1])),
        (&[1.0, 2.0, 3.0, 5.0], Some(&[0, 1, 2])),
        (&[1.0, 2.0, 3.0, 4.0], None),
        (&[1.0, 4.0, 4.2, 4.4, 5.0], Some(&[1, 2, 3])),
        (&[4.0, 4.0, 4.0, 4.0, 1.0], Some(&[0, 1, 2, 3])),
        (&[3.0, 3.0, 3.5, 4.0, 4.0], None),
        (&[3.0, 3.0, 3.0, 4.0, 4.0], Some(&[0, 1, 2])),
        (&[1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 5.0], Some(&[3, 4, 5, 6])),
        (&[1.0, 2.0, 4.5, 4.0, 5.0, 4.0, 4.0], Some(&[2, 3, 5, 6])),
        (&[1.0, 2.0, 3.0, 4.0, 5.0, 4.0, 4.0], None),
        (&[1.0, 2.0, 3.0, 4.0, 5.0, 2.0, 4.0], Some(&[1, 2, 3, 5, 6])),
    ] {
        assert_eq!(majority(scores).as_deref(), places, "{scores:?}");
    }
}

/// "Majority Verdict: decision made by 2/3 judges when consensus fails"; "`majority_score` and `minority_score` are means".
#[test]
fn a_majority_of_two_thirds_decides_and_the_minority_is_kept() {
    let outcome = scored(&[], &[&[4.0], &[4.5], &[2.0]]);
    let verdict = &outcome.verdict;
    assert_eq!(outcome.termination, Termination::Majority);
    assert_eq!((&verdict["majority_score"], &verdict["minority_score"]), (&json!(4.25), &json!(2.0)));
    assert_eq!((&verdict["score_gap"], &verdict["confidence"]), (&json!(2.25), &json!("MEDIUM")));
    assert_eq!(verdict["majority_judges"], json!(["judge-1", "judge-2"]));
    assert_eq!(verdict["minority_judges"], json!(["judge-3"]));
}

/// "equal scores with an open critical are a majority of all; `minority_score`, `minority_opinion` and `score_gap` null".
#[test]
fn equal_scores_with_an_open_critical_are_a_majority_of_all() {
    let outcome = run(&[], &|ask, _, round| {
        let mut said = plain(&[4.0], round);
        if round == 1 && place(ask) == 0 {
            said["critical_findings"] = json!([{"finding": "no rollback", "severity": "CRITICAL", "evidence": "docs/queue-plan.md:3"}]);
        }
        Some(said)
    });
    let verdict = &outcome.verdict;
    assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::Majority, 3));
    assert_eq!((&verdict["majority_score"], &verdict["confidence"]), (&json!(4.0), &json!("MEDIUM")));
    assert_eq!(verdict["majority_judges"].as_array().unwrap().len(), 3);
    assert_eq!(verdict["minority_judges"], json!([]));
    for field in ["minority_score", "minority_opinion", "score_gap"] {
        assert!(verdict.get(field).unwrap().is_null(), "{field}");
    }
    assert_eq!(verdict["user_attention_needed"].as_array().unwrap().len(), 1);
    let attention = &verdict["user_attention_needed"][0];
    assert_eq!(attention["issue"], "[F1] no rollback");
    assert_eq!(attention["majority_view"], "judge-1: critical. judge-2: no position. judge-3: no position.");
    assert!(attention["minority_view"].is_null());
    assert!(outcome.dissent.is_empty(), "nobody is in a minority");
}

/// "Two groups of the same size and range (3.0/4.0/5.0) are `no_majority`: all scores and positions listed, `score_range`,
/// confidence LOW, everything in `user_attention_needed`."
#[test]
fn no_majority_is_never_a_guess() {
    let outcome = run(&[], &|ask, _, round| {
        let mut said = plain([&[3.0][..], &[4.0], &[5.0]][place(ask)], round);
        if round == 3 && place(ask) == 1 {
            said["unresolved_disagreements"] = json!([{"issue": "who is on call", "my_final_view": "nobody", "user_attention_needed": false}]);
        }
        Some(said)
    });
    let verdict = &outcome.verdict;
    assert_eq!((outcome.termination, outcome.status), (Termination::NoMajority, Status::Complete));
    assert_eq!((&verdict["verdict_type"], &verdict["confidence"]), (&json!("no_majority"), &json!("LOW")));
    assert_eq!((&verdict["scores"], &verdict["score_range"]), (&json!([3.0, 4.0, 5.0]), &json!([3.0, 5.0])));
    assert_eq!(verdict["consensus_reached"], false);
    let positions = verdict["positions"].as_array().unwrap();
    assert_eq!(positions.len(), 3);
    assert_eq!(positions[2]["position"], "In the end 5.");
    let issues: Vec<&str> = verdict["user_attention_needed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["issue"].as_str().unwrap())
        .collect();
    assert_eq!(issues.len(), 7, "five dimensions, what nobody flagged, and the scores: {issues:?}");
    assert_eq!((issues[0], issues[5]), ("How good is its problem understanding?", "who is on call"));
    assert!(issues[6].starts_with("The overall score"));
    assert!(verdict.get("majority_score").is_none() && verdict.get("consensus_score").is_none());
}

/// Five and seven judges: more than half, not two.
#[test]
fn five_and_seven_judges_need_more_than_half() {
    let outcome = scored(&[], &[&[4.0], &[4.0], &[4.0], &[2.0], &[2.0]]);
    assert_eq!(outcome.verdict["majority_judges"], json!(["judge-1", "judge-2", "judge-3"]));
    assert_eq!(outcome.verdict["minority_score"], 2.0);
    let outcome = scored(&[], &[&[5.0], &[4.0], &[4.0], &[4.0], &[4.2], &[1.0], &[2.0]]);
    assert_eq!(outcome.verdict["majority_judges"], json!(["judge-2", "judge-3", "judge-4", "judge-5"]));
    assert_eq!(outcome.verdict["minority_judges"], json!(["judge-1", "judge-6", "judge-7"]));
}

/// Open points have the views of both sides and what is at stake. The person reads all of them, flagged or not.
#[test]
fn user_attention_has_the_views_of_both_sides() {
    let outcome = run(&[], &|ask, _, round| {
        let mut said = plain([&[4.0][..], &[4.5], &[2.0]][place(ask)], round);
        let open = |issue: &str, mine: &str, flagged: bool| {
            json!({"issue": issue, "my_final_view": mine, "opposing_view": "the other view", "stakes": format!("{mine} is wrong"),
                "user_attention_needed": flagged})
        };
        if round == 3 {
            said["unresolved_disagreements"] = match place(ask) {
                0 => json!([
                    open("Is one retry enough?", "one is enough", true),
                    open("colour of the page", "blue", false)
                ]),
                2 => json!([
                    open("is one retry  enough?", "three are needed", false),
                    open("who pays", "unclear", true)
                ]),
                _ => json!([]),
            };
        }
        Some(said)
    });
    let entries = outcome.verdict["user_attention_needed"].as_array().unwrap();
    assert_eq!(entries.len(), 4, "{entries:?}");
    assert_eq!(entries[0]["issue"], "Is one retry enough?");
    assert_eq!(entries[0]["majority_view"], "judge-1: one is enough.");
    assert_eq!(entries[0]["minority_view"], "judge-3: three are needed.");
    assert_eq!(entries[0]["stakes"], "judge-1: one is enough is wrong. judge-3: three are needed is wrong.");
    assert_eq!(entries[1]["issue"], "colour of the page");
    assert_eq!(entries[2]["majority_view"], json!(null), "a paraphrase of the other side is nobody's view");
    assert_eq!(entries[2]["recommendation"], json!(null), "nobody recommends anything about it");
    assert_eq!(entries[3]["issue"], "The overall score");
    assert_eq!(entries[3]["minority_view"], "2.0 (judge-3)");
    assert_eq!(entries[3]["stakes"], "The majority's weighted score is GREEN, the minority's RED.");
    let same = scored(&[], &[&[2.0], &[2.2], &[2.9]]);
    assert_eq!(same.verdict["verdict_type"], "majority");
    assert_eq!(
        same.verdict["user_attention_needed"],
        json!([]),
        "RED on both sides, and nobody asks for more"
    );
}

/// If two judges are left and are far apart, both are the majority by the rule, and the verdict says how far apart they are.
#[test]
fn two_judges_who_are_left_are_a_majority() {
    let with = |scores: [f64; 2]| {
        let answer = |ask: &Ask, _: &str, round: u32| {
            (place(ask) < 2).then(|| plain(&[scores[place(ask) % 2]], round))
        };
        run_brief(brief(MODELS, &[]), &answer)
    };
    let apart = with([1.5, 5.0]);
    let why = Panel.view(&apart).unwrap().headline.why.unwrap();
    let told = "Majority of 2 of 2 judges (judge-1, judge-2): 3.25 of 5. No consensus: scores 3.5 apart, ";
    assert!(why.starts_with(told), "{why}");
    let apart = apart.outcome.unwrap();
    assert_eq!((apart.termination, &apart.verdict["majority_score"]), (Termination::Majority, &json!(3.25)));
    let near = with([4.0, 4.5]).outcome.unwrap();
    assert_eq!((near.termination, &near.verdict["confidence"]), (Termination::Consensus, &json!("MEDIUM")));
}

proptest::proptest! {
    /// "more than half", "the smallest range", "never a guess", whoever sits where.
    #[test]
    fn no_other_group_of_more_than_half_is_nearer_together(tenths in proptest::collection::vec(10_u8..=50, 2..8), turn in 0_usize..7) {
        let scores: Vec<f64> = tenths.iter().map(|tenth| f64::from(*tenth) / 10.0).collect();
        let of = |scores: &[f64]| {
            let mut group: Vec<f64> = majority(scores)?.into_iter().map(|place| scores[place]).collect();
            group.sort_by(f64::total_cmp);
            Some(group)
        };
        let mut turned = scores.clone();
        turned.rotate_left(turn % scores.len());
        proptest::prop_assert_eq!(of(&scores), of(&turned));
        let mut order = scores.clone();
        order.sort_by(f64::total_cmp);
        let nearest = order.windows(scores.len() / 2 + 1).map(|group| group.last().unwrap() - group[0]).fold(f64::MAX, f64::min);
        if let Some(group) = of(&scores) {
            proptest::prop_assert!(group.len() * 2 > scores.len());
            proptest::prop_assert!(group.last().unwrap() - group[0] <= nearest + 1e-9);
        }
    }
}

/// With equal scores and one dimension too far apart, the verdict names what prevents consensus.
#[test]
fn user_attention_names_the_dimension_that_blocks_consensus() {
    for (score, told) in [(4.0, false), (4.01, true)] {
        let outcome = run(&[], &|ask, _, round| {
            let mut said = plain(&[3.0], round);
            if place(ask) == 2 && !said["dimension_scores"].is_null() {
                said["dimension_scores"]["feasibility"] = json!(score);
            }
            Some(said)
        });
        let attention = &outcome.verdict["user_attention_needed"];
        assert_eq!(outcome.verdict["verdict_type"] == "majority", told);
        assert_eq!(attention.to_string().contains("How good is its feasibility?"), told, "{attention}");
    }
}
