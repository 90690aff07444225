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
            (1, vec!["2.0", "4.0", "4.5"], Some("GO WITH CHANGES (YELLOW) by majority")),
            (2, vec!["3.0", "4.0", "4.5"], Some("GO WITH CHANGES (YELLOW) by majority")),
            (3, vec!["4.0", "4.0", "4.25"], Some("GO (GREEN) by consensus")),
        ]
    );
    assert_eq!(
        (stands.grouping(), stands.decided.name()),
        (PositionGrouping::Discrete, Some("GO (GREEN) by consensus"))
    );
    assert_eq!(stands.rounds[2].stands[2].value, Some(4.25));
    let nudged = held(&[&[3.0, 3.1], &[3.5], &[2.1]], AS_IT_IS);
    assert_eq!(nudged.decided.name(), nudged.rounds[0].ruling.as_deref(), "a tenth is no other verdict");
    // The dissenter is another judge after round 3, and the verdict is the same.
    let other = held(&[&[3.2, 3.0], &[4.1, 4.1, 3.7], &[2.2, 2.2, 3.2]], AS_IT_IS);
    assert_eq!(other.rounds[0].ruling.as_deref(), Some("GO WITH CHANGES (YELLOW) by majority"));
    assert_eq!(other.decided.name(), other.rounds[0].ruling.as_deref());
    let finding = held(&[&[3.5], &[3.5], &[3.5]], &|ask, round, said| match (round, place(ask)) {
        (1, 0) => {
            said["critical_findings"] = json!([{"finding": "no rollback", "severity": "CRITICAL"}]);
        }
        (2, 0) => said["critical_positions"] = json!([{"finding_id": "F1", "position": "withdraw"}]),
        _ => {}
    });
    let rulings: Vec<_> = finding.rounds.iter().filter_map(|held| held.ruling.as_deref()).collect();
    assert_eq!(rulings, ["NO GO (YELLOW) by majority", "GO WITH CHANGES (YELLOW) by consensus"]);
    let none = held(&[&[1.0], &[3.0], &[5.0]], AS_IT_IS);
    assert_eq!(none.rounds[0].ruling.as_deref(), Some("no majority"));
    assert_eq!(none.decided.name(), none.rounds[2].ruling.as_deref());
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
        [
            (2, "judge-1", "2.0", "3.0", Some(true)),
            (3, "judge-1", "3.0", "1.0", Some(false)),
            (3, "judge-3", "4.0", "4.5", Some(false))
        ]
    );
    let tiny = held(&[&[2.001, 2.002], &[4.0], &[5.0]], AS_IT_IS);
    assert!(tiny.flips().is_empty(), "what is written the same is the same");
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
    assert_eq!((positions(&stands.rounds[1])[0], &stands.rounds[1].stands[0].change), ("2.0", &None));
    let alone = history(&run_brief(brief(MODELS, &[]), &|ask, _, round| {
        (round == 1 || place(ask) == 0).then(|| plain(&[2.0 + 1.5 * place(ask) as f64, 3.0], round))
    }));
    assert_eq!(alone.rounds[0].ruling.as_deref(), Some("no majority"));
    assert_eq!(
        (alone.rounds.len(), alone.rounds[1].ruling.as_deref(), alone.decided.name()),
        (2, None, None)
    );
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
    let (records, _) = run_log(brief(MODELS, &[]), &|ask, _, round| {
        Some(plain([&[2.0][..], &[3.0], &[5.0]][place(ask)], round))
    });
    let mut seen = Vec::new();
    for length in 1..records.len() {
        let stands = history(&Debate::from_records(&records[..length]).unwrap());
        assert_eq!(stands.decided.name(), None);
        seen.push(stands.rounds.iter().map(|held| held.stands.len()).collect::<Vec<_>>());
    }
    seen.dedup();
    assert_eq!(seen, [vec![], vec![1], vec![2], vec![3], vec![3, 3], vec![3, 3, 3]]);
}
