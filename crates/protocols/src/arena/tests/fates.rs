//! "Dissent is conserved": every position of round 1 is adopted, refuted with a reason, or in the dissent.

use super::*;

/// A debate in which agent-2 has this position from a round on.
fn moved(position: &'static str, from: u32, votes: [usize; 3]) -> Outcome {
    ScriptedArena {
        votes: &move |_| votes.to_vec(),
        with: &move |ask: &Ask, phase: &str, round: u32, said: &mut Value| {
            if ["revise", "refine"].contains(&phase) && ask.seat == "agent-2" && round >= from {
                said["position"] = json!(position);
            }
        },
        ..ScriptedArena::default()
    }
    .outcome()
}

fn fate(outcome: &Outcome, seat: &str) -> (Fate, String) {
    let position = outcome.positions.iter().find(|position| position.seat == seat).unwrap();
    (position.fate, position.reason.clone())
}

#[test]
fn the_decision_is_adopted_and_the_others_dissent_with_the_voters_reasons() {
    let outcome = ScriptedArena { votes: &|_| vec![1, 1, 2], ..ScriptedArena::default() }.outcome();
    assert_eq!(fate(&outcome, "agent-1").0, Fate::Adopted);
    for seat in ["agent-2", "agent-3"] {
        let (fate, reason) = fate(&outcome, seat);
        assert_eq!(fate, Fate::Minority);
        assert!(
            reason.contains("held to the end") && reason.contains("agent-1 finds it the best"),
            "{reason}"
        );
    }
    assert_eq!(outcome.dissent.len(), 2);
    for entry in &outcome.dissent {
        let position = POSITIONS[number(entry["seat"].as_str().unwrap()) - 1];
        assert_eq!((&entry["position"], &entry["opening"]), (&json!(position), &json!(position)));
        assert!(entry["label"].is_string() && !entry["reason"].as_str().unwrap().is_empty());
    }
    let second = outcome.dissent.iter().find(|entry| entry["seat"] == "agent-2").unwrap();
    assert_eq!(second["votes"], 1);
}

/// "refuted (its author changed it: reason = what it addressed)".
#[test]
fn who_came_over_to_the_decision_gave_its_position_up() {
    let same = ScriptedArena {
        with: &|ask, phase, round, said| {
            if ["revise", "refine"].contains(&phase) && ask.seat == "agent-2" && round >= 4 {
                said["position"] = json!(POSITIONS[0]);
                said["proposal"] =
                    json!(format!("{} That is the plan of 1. As of round {round}.", POSITIONS[0]));
            }
        },
        ..ScriptedArena::default()
    }
    .outcome();
    let (fate, reason) = fate(&same, "agent-2");
    assert_eq!(fate, Fate::Refuted);
    assert!(reason.contains("changed in round 4") && reason.contains(": the costs are named"), "{reason}");
    assert_eq!(same.dissent.len(), 1);
}

/// "Who is not on the winning side in the end dissents, also after it moved": what it says in the end is as visible as the winner.
#[test]
fn who_moved_and_was_outvoted_dissents_with_its_last_words() {
    let outcome = moved("Rent machines by the hour instead.", 5, [1, 1, 1]);
    let (fate, reason) = fate(&outcome, "agent-2");
    assert_eq!(fate, Fate::Minority);
    assert!(reason.contains("changed in round 5"), "{reason}");
    let entry = outcome.dissent.iter().find(|entry| entry["seat"] == "agent-2").unwrap();
    assert_eq!(
        (&entry["position"], &entry["opening"]),
        (&json!("Rent machines by the hour instead."), &json!(POSITIONS[1]))
    );
}

/// A winner that was reworded is adopted; one that says the opposite of what it said at first has given it up.
#[test]
fn a_winner_who_says_the_opposite_has_given_its_first_position_up() {
    let reworded = moved("Watch cron closely and keep it.", 3, [2, 2, 2]);
    assert_eq!(fate(&reworded, "agent-2").0, Fate::Adopted);
    let more = moved(
        "Keep cron and watch it closely, with an alert for every late job and a weekly look.",
        3,
        [2, 2, 2],
    );
    assert_eq!(fate(&more, "agent-2").0, Fate::Adopted);
    assert!(fate(&more, "agent-2").1.contains("changed in round 3"), "{}", fate(&more, "agent-2").1);
    let other = moved("Rent machines by the hour.", 3, [2, 2, 2]);
    assert_eq!(fate(&other, "agent-2").0, Fate::Refuted);
    assert!(fate(&other, "agent-2").1.contains("changed in round 3"));
    let opposite = moved("Do not keep cron and watch it closely.", 3, [2, 2, 2]);
    assert_eq!(fate(&opposite, "agent-2").0, Fate::Refuted);
}

/// Without a decision nothing is adopted, and nothing vanishes.
#[test]
fn without_a_decision_positions_are_dissent_unless_given_up() {
    let outcome = moved("Rent machines by the hour.", 3, SPLIT);
    assert_eq!(outcome.verdict["winner"], Value::Null);
    assert_eq!((fate(&outcome, "agent-1").0, fate(&outcome, "agent-2").0), (Fate::Minority, Fate::Refuted));
    assert!(fate(&outcome, "agent-1").1.contains("no decision"));
}

/// A debate in which agent-2 begins with one position and ends with another; all are `alike`.
fn turned(first: &'static str, last: &'static str, alike: f64, votes: [usize; 3]) -> Outcome {
    ScriptedArena {
        alike: &move |_| alike,
        votes: &move |_| votes.to_vec(),
        with: &move |ask: &Ask, phase: &str, _: u32, said: &mut Value| {
            if ask.seat == "agent-2" && ["propose", "revise", "refine"].contains(&phase) {
                said["position"] = json!(if phase == "propose" { first } else { last });
            }
        },
        ..ScriptedArena::default()
    }
    .outcome()
}

/// "says the same" only where it does: another product, another figure, the opposite are given up, whoever wins.
#[test]
fn another_position_in_nearly_the_same_words_is_given_up() {
    for (first, last) in [
        ("Use Postgres for the queue of jobs.", "Use Redis for the queue of jobs."),
        (
            "Cap what the jobs of each team cost at 10 percent.",
            "Cap what the jobs of each team cost at 90 percent.",
        ),
        (
            "Raise the price of every single late job in spring.",
            "Lower the price of every single late job in spring.",
        ),
    ] {
        for (alike, votes) in [(0.9, [1, 1, 1]), (0.9, [2, 2, 2]), (0.2, [2, 2, 2])] {
            let (fate, reason) = fate(&turned(first, last, alike, votes), "agent-2");
            assert_eq!(fate, Fate::Refuted, "{first} {last} {votes:?}: {reason}");
            assert!(reason.contains("given up") && reason.contains("round 3"), "{reason}");
        }
        let (fate, reason) = fate(&turned(first, last, 0.2, [1, 1, 1]), "agent-2");
        assert_eq!(fate, Fate::Minority);
        assert!(reason.starts_with("changed in round 3") && !reason.contains("held to the end"), "{reason}");
    }
    let same =
        turned("Use Postgres for the queue of jobs.", "use Postgres, for the queue of jobs", 0.9, [1, 1, 1]);
    let (fate, reason) = fate(&same, "agent-2");
    assert_eq!(fate, Fate::Adopted, "{reason}");
    assert!(reason.contains("says the same as the decision"), "{reason}");
}

/// "reason = how it ended plus the one strongest objection": the table of votes has the rest.
#[test]
fn the_reason_of_a_dissent_is_short() {
    let long = "It is the best of all. ".repeat(60);
    let outcome = ScriptedArena {
        votes: &|_| vec![1, 1, 2],
        with: &|ask, phase, _, said| {
            if phase == "vote" {
                said["reason"] = json!(format!("Reason\nof {}: {long}", ask.seat));
            }
            if phase == "revise" && ask.seat == "agent-2" {
                said["position"] = json!("Rent machines by the hour.");
                for answer in said["addressed"].as_array_mut().unwrap() {
                    answer["how"] = json!(long);
                }
            }
        },
        ..ScriptedArena::default()
    }
    .outcome();
    let (_, second) = fate(&outcome, "agent-2");
    let (_, third) = fate(&outcome, "agent-3");
    for (reason, votes) in [(&second, "1 of 3 votes"), (&third, "0 of 3 votes")] {
        assert!(reason.contains(votes) && reason.contains("Reason of agent-1"), "{reason}");
        assert!(!reason.contains("Reason of agent-2") && !reason.contains("Reason of agent-3"), "{reason}");
        assert!(
            !reason.contains('\n') && reason.chars().count() < 700,
            "{}: {reason}",
            reason.chars().count()
        );
    }
    assert_eq!(
        outcome.verdict["votes"][0]["reason"].as_str().unwrap().len(),
        "Reason\nof agent-1: ".len() + long.trim_end().len()
    );
}
