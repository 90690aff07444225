//! "Dissent is conserved": every position of round 1 is adopted, refuted with a reason, or in the dissent.

use super::*;

/// A debate in which agent-2 has this position from a round on.
fn moved(position: &'static str, from: u32, votes: [usize; 3]) -> Outcome {
    Table {
        votes: &move |_| votes.to_vec(),
        with: &move |ask: &Ask, phase: &str, round: u32, said: &mut Value| {
            if ["revise", "refine"].contains(&phase) && ask.seat == "agent-2" && round >= from {
                said["position"] = json!(position);
            }
        },
        ..Table::default()
    }
    .outcome()
}

fn fate(outcome: &Outcome, seat: &str) -> (Fate, String) {
    let position = outcome.positions.iter().find(|position| position.seat == seat).unwrap();
    (position.fate, position.reason.clone())
}

#[test]
fn the_decision_is_adopted_and_the_others_dissent_with_the_voters_reasons() {
    let outcome = Table { votes: &|_| vec![1, 1, 2], ..Table::default() }.outcome();
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
    let same = Table {
        with: &|ask, phase, round, said| {
            if ["revise", "refine"].contains(&phase) && ask.seat == "agent-2" && round >= 4 {
                said["position"] = json!(POSITIONS[0]);
                said["proposal"] =
                    json!(format!("{} That is the plan of 1. As of round {round}.", POSITIONS[0]));
            }
        },
        ..Table::default()
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
    let other = moved("Rent machines by the hour.", 3, [2, 2, 2]);
    assert_eq!(fate(&other, "agent-2").0, Fate::Adopted);
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
