//! EVIDENCE.md over panels: which score each judge gave in each round, what changed it, and each round's ruling.

use agon_core::{PositionGrouping, PositionHistory, RoundPositions};

use super::*;

fn history(debate: &Debate) -> PositionHistory {
    Panel.view(debate).unwrap().positions
}

fn positions(held: &RoundPositions) -> Vec<&str> {
    held.stands.iter().map(|stand| stand.position.as_str()).collect()
}

/// The positions of a panel with these scores. `with` may change what a judge says.
fn held(scores: &[&[f64]], with: &dyn Fn(&Ask, u32, &mut Value)) -> PositionHistory {
    let models = MODELS.repeat(3);
    let answer = |ask: &Ask, _: &str, round: u32| {
        let mut said = plain(scores[place(ask)], round);
        with(ask, round, &mut said);
        Some(said)
    };
    history(&run_brief(brief(&models[..scores.len()], &[]), &answer))
}

const AS_IT_IS: &dyn Fn(&Ask, u32, &mut Value) = &|_, _, _| {};

/// "where a reply has a discrete one (... score) that is what is compared"; the ruling is the panel's own after each round.
#[test]
fn each_round_has_its_scores_and_its_ruling() {
    let stands = held(&[&[2.0, 3.0, 4.0], &[4.0], &[4.5, 4.5, 4.25]], AS_IT_IS);
    let rounds: Vec<_> =
        stands.rounds.iter().map(|held| (held.round, positions(held), held.ruling.as_deref())).collect();
    assert_eq!(
        rounds,
        [
            (1, vec!["2", "4", "4.5"], Some("majority 4.25")),
            (2, vec!["3", "4", "4.5"], Some("majority 4.25")),
            (3, vec!["4", "4", "4.25"], Some("consensus 4.08")),
        ]
    );
    assert_eq!(
        (stands.grouping, stands.decided.name()),
        (PositionGrouping::Discrete, Some("consensus 4.08"))
    );
    assert_eq!(stands.rounds[2].stands[2].value, Some(4.25));
    let none = held(&[&[1.0], &[3.0], &[5.0]], AS_IT_IS);
    assert_eq!(none.rounds[0].ruling.as_deref(), Some("no majority"));
    assert_eq!(none.decided, none.rounds[2].ruling);
}

/// Scores that are near enough for a consensus count as one position.
#[test]
fn scores_within_the_consensus_range_count_as_one_position() {
    let scores = [4.0, 4.5, 2.0];
    for (range, groups) in [("0.5", [1, 1, 0]), ("0.25", [1, 2, 0])] {
        let brief = brief(&MODELS.repeat(3)[..3], &[("consensus_range", range)]);
        let debate = run_brief(brief, &|ask, _, round| Some(plain(&[scores[place(ask)]], round)));
        let stands = history(&debate);
        assert_eq!(stands.rounds[0].grouped(stands.near), groups, "{range}");
    }
}

/// "toward the majority or away": nearer to the mean of the others, or further from it.
#[test]
fn a_score_can_move_toward_the_others_or_away() {
    let flips = held(&[&[2.0, 3.0, 1.0], &[4.0], &[4.0, 4.0, 4.5]], AS_IT_IS).flips();
    let seen: Vec<_> = flips
        .iter()
        .map(|f| (f.round, f.seat.as_str(), f.from.as_str(), f.to.as_str(), f.toward_majority))
        .collect();
    assert_eq!(
        seen,
        [(2, "judge-1", "2", "3", true), (3, "judge-1", "3", "1", false), (3, "judge-3", "4", "4.5", false)]
    );
    let tiny = held(&[&[2.001, 2.002], &[4.0], &[5.0]], AS_IT_IS);
    assert!(tiny.flips().is_empty(), "what is written the same is the same");
}

/// "`evidenced`: the change names another seat's point or a piece of evidence"; a panel's reasons, judge by judge.
#[test]
fn a_reason_that_names_a_judge_or_a_place_is_evidence() {
    for (reason, cited) in [
        ("judge-2 is right about line 3", &["judge-2", "line 3"][..]),
        ("Judge 3 showed what the rollback costs.", &["judge-3"]),
        ("The challenger is right that nothing is rolled back.", &["the challenger"]),
        ("docs/queue-plan.md:3 has no rollback.", &["docs/queue-plan.md:3"]),
        ("F1 stands.", &["[F1]"]),
        ("I was persuaded.", &[]),
        ("The others are lower, and I judge for myself against the rubric.", &[]),
        ("judge-1 was too harsh.", &[]),
        ("The neutral judge would say so.", &[]),
        ("F2 was mine.", &[]),
        ("judge-2 is wrong, but so was I.", &[]),
    ] {
        let stands = held(&[&[2.0, 3.0], &[4.0], &[5.0]], &|ask, round, said| match (round, place(ask)) {
            (1, 0) => said["critical_findings"] = json!([{"finding": "no owner", "severity": "CRITICAL"}]),
            (1, 2) => said["critical_findings"] = json!([{"finding": "no rollback", "severity": "CRITICAL"}]),
            (2, 0) => {
                said["change_reason"] =
                    json!(reason.replace("F1", "F9").replace("F2", "F1").replace("F9", "F2"))
            }
            _ => {}
        });
        let flips = stands.flips();
        let [flip] = flips.as_slice() else { panic!("{flips:?}") };
        let shown: Vec<String> = cited.iter().map(|one| one.replace("F1", "F2")).collect();
        assert_eq!((flip.evidenced, &flip.cited), (!cited.is_empty(), &shown), "{reason}");
    }
}

/// A judge that takes up somebody else's finding names it; one that only disputes it does not.
#[test]
fn adopting_the_finding_of_another_judge_is_evidence() {
    for (position, reason, cited) in [
        ("adopt", "", &["[F1]"][..]),
        ("adopt", "see docs/queue-plan.md:3", &["[F1]", "docs/queue-plan.md:3"]),
        ("dispute", "see docs/queue-plan.md:3", &[]),
    ] {
        let stands = held(&[&[2.0, 3.0], &[4.0], &[5.0]], &|ask, round, said| match (round, place(ask)) {
            (1, 1) => said["critical_findings"] = json!([{"finding": "no rollback", "severity": "CRITICAL"}]),
            (2, 0) => {
                said["change_reason"] = json!("I was persuaded.");
                said["critical_positions"] =
                    json!([{"finding_id": "F1", "position": position, "reason": reason}]);
            }
            _ => {}
        });
        assert_eq!(stands.flips()[0].cited, cited, "{position} {reason}");
    }
    // A judge who withdraws its own finding says why.
    let stands = held(&[&[2.0, 3.0], &[4.0], &[5.0]], &|ask, round, said| match (round, place(ask)) {
        (1, 0) => said["critical_findings"] = json!([{"finding": "no rollback", "severity": "CRITICAL"}]),
        (2, 0) => {
            said["change_reason"] = json!("I was persuaded.");
            said["critical_positions"] =
                json!([{"finding_id": "F1", "position": "withdraw", "reason": "judge-3 found it on page 2"}]);
        }
        _ => {}
    });
    assert_eq!(stands.flips()[0].cited, ["judge-3", "page 2"]);
}

/// "What do you now accept that you first rejected?": round 3 has no other reason.
#[test]
fn in_round_3_the_concessions_are_the_reason() {
    for (by, cited) in [("judge-2, who named the rollback", &["judge-2"][..]), ("the mood at the table", &[])]
    {
        let stands = held(&[&[2.0, 2.0, 3.0], &[4.0], &[5.0]], &|ask, round, said| {
            if (round, place(ask)) == (3, 0) {
                said["concessions_made"] = json!([{"point": "it can be undone", "convinced_by": by}]);
            }
        });
        let flips = stands.flips();
        assert_eq!(
            (flips.len(), flips[0].round, flips[0].cited.as_slice()),
            (1, 3, &cited.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>()[..])
        );
    }
}

/// "who was absent keeps its last stand"; who gave no statement has none; a lost quorum decides nothing.
#[test]
fn an_absent_judge_keeps_its_score() {
    let stands = history(&run_brief(brief(&["a/x", "b/y", "c/z", "d/w", "e/v"], &[]), &|ask, _, round| {
        let out = (round, place(ask)) == (2, 0) || place(ask) == 1;
        (!out).then(|| plain(&[2.0 + place(ask) as f64 / 2.0, 3.0], round))
    }));
    let seats: Vec<&str> = stands.rounds[0].stands.iter().map(|stand| stand.seat.as_str()).collect();
    assert_eq!(seats, ["judge-1", "judge-3", "judge-4", "judge-5"]);
    assert_eq!((positions(&stands.rounds[1])[0], &stands.rounds[1].stands[0].change), ("2", &None));
    let alone = history(&run_brief(brief(MODELS, &[]), &|ask, _, round| {
        (round == 1 || place(ask) == 0).then(|| plain(&[2.0 + 1.5 * place(ask) as f64, 3.0], round))
    }));
    assert_eq!(alone.rounds[0].ruling.as_deref(), Some("no majority"));
    assert_eq!((alone.rounds.len(), alone.rounds[1].ruling.as_deref(), alone.decided), (2, None, None));
}

/// "the judge's scores": the last that each gave, whatever was carried since.
#[test]
fn marks_are_the_dimensions_that_each_judge_scored_last() {
    let stands = history(&run_brief(brief(MODELS, &[]), &|ask, _, round| {
        let mut said = plain([&[2.0, 2.5][..], &[3.0], &[5.0, 5.0, 4.5]][place(ask)], round);
        if round == 3 && place(ask) == 1 {
            said["dimension_scores"] = json!(null);
        }
        (round != 3 || place(ask) != 0).then_some(said)
    }));
    let seen: Vec<_> = stands
        .marks
        .iter()
        .map(|m| (m.judge.as_str(), m.round, m.order, m.scores[0].1, m.scores.len()))
        .collect();
    assert_eq!(seen, [("judge-1", 2, 0, 2.5, 5), ("judge-2", 2, 0, 3.0, 5), ("judge-3", 3, 0, 4.5, 5)]);
    let items: Vec<&str> = stands.marks[0].scores.iter().map(|(item, _)| item.as_str()).collect();
    assert_eq!(items, KEYS);
    assert!(stands.marks.iter().all(|marks| marks.ranking.is_empty()));
}

/// A debate that is not over has the rounds that there are and no verdict.
#[test]
fn a_debate_that_is_not_over_has_rounds_and_no_verdict() {
    let (records, _) = testing::run(&Panel, brief(MODELS, &[]), &|ask, _, round| {
        Some(plain([&[2.0][..], &[3.0], &[5.0]][place(ask)], round))
    });
    let mut seen = Vec::new();
    for length in 1..records.len() {
        let stands = history(&Debate::from_records(&records[..length]).unwrap());
        assert_eq!(stands.decided, None);
        seen.push(stands.rounds.iter().map(|held| held.stands.len()).collect::<Vec<_>>());
    }
    seen.dedup();
    assert_eq!(seen, [vec![], vec![1], vec![2], vec![3], vec![3, 3], vec![3, 3, 3]]);
}
