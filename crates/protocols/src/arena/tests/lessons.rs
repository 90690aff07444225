//! "Knowledge Mound stores the decision, evidence": what the outcome hands on to later debates.

use agon_core::lesson::EvidencedClaim;

use super::*;

#[test]
fn the_lesson_has_the_decision_and_everybodys_part() {
    let outcome = ScriptedArena { votes: &|_| vec![1, 1, 3], ..ScriptedArena::default() }.outcome();
    let (lesson, brief) = (outcome.lesson.unwrap(), ScriptedArena::default().brief());
    let decision = lesson.decision.unwrap();
    assert_eq!(decision.position, POSITIONS[0]);
    assert_eq!(decision.answer, outcome.verdict["answer"].as_str().unwrap());
    let claim =
        EvidencedClaim { claim: "It halves the delays".into(), evidence: "figures of 2025: 40 s to 20 s".into() };
    assert_eq!(decision.claims, [claim]);
    assert!((decision.share - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(decision.labels, [label(&brief, 1)]);
    let mut dissent = decision.dissent.clone();
    dissent.sort();
    assert_eq!(dissent, [POSITIONS[2], POSITIONS[1]], "in no order");
    let seats: Vec<&str> = lesson.parts.iter().map(|part| part.seat.as_str()).collect();
    assert_eq!(seats, ["agent-1", "agent-2", "agent-3"], "in seat order");
    let first = &lesson.parts[0];
    assert_eq!((first.label.clone(), first.agent.as_deref()), (label(&brief, 1), Some("a/x")));
    assert_eq!((first.won, first.score, first.confidence), (true, Some(8.0), Some(0.6)));
    let rated = first.rated.as_ref().unwrap();
    assert_eq!((rated.before, rated.change), (1500.0, 16.0));
    let mut against = rated.against.clone();
    against.sort_by(|(a, _), (b, _)| a.cmp(b));
    assert_eq!(against, [("agent-2".to_owned(), 1.0), ("agent-3".to_owned(), 1.0)]);
    let ballot = lesson.parts[2].ballot.as_ref().unwrap();
    assert_eq!((ballot.choice.clone(), ballot.confidence), (vec![label(&brief, 3)], 0.7));
    assert!(!lesson.parts[2].won);
}

/// "`Decision.labels` = the winning group; `Part.ballot.choice` = the chosen label's group".
#[test]
fn those_who_say_the_same_have_won_together() {
    let outcome = ScriptedArena { alike: &|_| 0.9, votes: &|_| vec![2, 0, 2], ..ScriptedArena::default() }.outcome();
    let lesson = outcome.lesson.unwrap();
    assert_eq!(lesson.decision.as_ref().unwrap().labels, ["A", "B", "C"]);
    assert!(lesson.parts.iter().all(|part| part.won));
    assert_eq!(lesson.parts[0].ballot.as_ref().unwrap().choice, ["A", "B", "C"]);
    assert!(lesson.parts[1].ballot.is_none(), "an abstention is no forecast");
}

/// "None at all for `quorum_lost`"; without a decision the forecasts are still there.
#[test]
fn without_a_decision_there_are_parts_and_without_a_vote_nothing() {
    let split = ScriptedArena { votes: &|_| SPLIT.to_vec(), ..ScriptedArena::default() }.outcome().lesson.unwrap();
    assert!(split.decision.is_none() && split.parts.iter().all(|part| part.ballot.is_some() && !part.won));
    assert!(ScriptedArena { votes: &|_| vec![0, 0, 0], ..ScriptedArena::default() }.outcome().lesson.is_none());
    let absent = |ask: &Ask, phase: &str, _: u32| phase == "propose" && ask.seat != "agent-1";
    assert!(ScriptedArena { absent: &absent, ..ScriptedArena::default() }.outcome().lesson.is_none());
    let failed =
        ScriptedArena { votes: &|_| SPLIT.to_vec(), absent: &|_, phase, _| phase == "judge", ..ScriptedArena::default() };
    let lesson = failed.outcome().lesson.unwrap();
    assert!(
        lesson.parts.iter().all(|part| part.rated.is_none() && part.score.is_none() && part.ballot.is_some())
    );
}

/// A seat without a proposal has a part without one.
#[test]
fn a_seat_without_a_proposal_has_no_position() {
    let absent = |ask: &Ask, phase: &str, _: u32| phase == "propose" && ask.seat == "agent-3";
    let lesson = ScriptedArena { absent: &absent, ..ScriptedArena::default() }.outcome().lesson.unwrap();
    let third = &lesson.parts[2];
    assert_eq!(
        (third.position.clone(), third.confidence, third.score, third.rated.clone()),
        (None, None, None, None)
    );
    assert_eq!((third.agent.as_deref(), third.ballot.is_some()), (Some("c/z"), true));
}

/// A branch is a what-if: one debate and twelve branches of it are one game, not thirteen.
#[test]
fn a_branch_leaves_no_lesson_and_no_rating() {
    let brief = ScriptedArena::default().brief();
    let parent = agon_core::BranchParent { id: "01parent".into(), at_round: 0, events: 0 };
    let whole = ScriptedArena::default().run_brief(brief.clone());
    let branch = ScriptedArena::default().run_brief(Brief { parent: Some(parent), ..brief });
    assert!(quality_checks(&branch).iter().all(|check| check.met != Some(false)));
    let (whole, mut branch) = (whole.outcome.unwrap(), branch.outcome.unwrap());
    assert!(whole.lesson.is_some() && whole.verdict["ratings"].as_array().unwrap().len() == 3);
    assert_eq!((&branch.lesson, &branch.verdict["ratings"]), (&None, &json!([])));
    assert!(warned(&branch, "a branch of 01parent"), "{:?}", branch.warnings);
    assert!(!warned(&whole, "a branch of"));
    // All the rest is what it would have been.
    branch.verdict["ratings"] = whole.verdict["ratings"].clone();
    branch.warnings.retain(|warning| !warning.contains("a branch of"));
    assert_eq!(branch, Outcome { lesson: None, ..whole });
}
