//! "Stale Debate Detection": when a round brings nothing, and when it does.

use super::interventions::{asked, finds, intervened};
use super::*;

/// "If a round produces no position changes and no new arguments: inject a reframing question", to all.
#[test]
fn a_stale_round_gets_a_reframing_question() {
    let debate = finds(&json!({"new_arguments": [], "reframing_question": "What if it were free?"}));
    let seats: Vec<String> = asked(&debate, 1).into_iter().map(|(seat, _)| seat).collect();
    assert_eq!(seats, SEATS);
    let outcome = debate.outcome.unwrap();
    let done = &outcome.verdict["interventions"][0];
    assert_eq!(
        (&done["kind"], &done["to"], &done["question"]),
        (&json!("stale"), &json!("all"), &json!("What if it were free?"))
    );
    assert_eq!(done["outcome"], "0 of 4 changed their position");
    assert_eq!(done["replies"].as_array().unwrap().len(), 4);
}

#[test]
fn without_a_question_of_the_moderators_own_one_of_the_seeds_is_drawn() {
    let debate = finds(&json!({"new_arguments": []}));
    let question =
        debate.outcome.unwrap().verdict["interventions"][0]["question"].as_str().unwrap().to_owned();
    assert!(super::super::moderation::REFRAMINGS.contains(&question.as_str()), "{question}");
}

/// A reframing can move a position; then that is where its holder stands.
#[test]
fn a_reframing_can_move_a_position() {
    let debate = intervened(&|ask, phase, round, said| match (phase, round) {
        ("moderate", 1) => said["new_arguments"] = json!([]),
        ("intervene", 1) if ask.seat == "pragmatist" => {
            *said = json!({"effect": "All of it.", "position": "Wait a year.", "changed": true, "because": "time is the question"});
        }
        _ => {}
    });
    let outcome = debate.outcome.unwrap();
    let step = &outcome.verdict["position_evolution"]["pragmatist"][1];
    assert_eq!((&step["position"], &step["changed"]), (&json!("Wait a year."), &json!(true)));
    assert_eq!(outcome.verdict["interventions"][0]["outcome"], "1 of 4 changed their position");
}

/// A changed position or a new argument is enough: the round is not stale.
#[test]
fn a_round_with_a_change_or_a_new_argument_is_not_stale() {
    let debate = intervened(&|ask, phase, round, said| match (phase, round) {
        ("moderate", 1) => said["new_arguments"] = json!([]),
        ("challenge", 1) if ask.seat == "critic" => {
            said["changed"] = json!(true);
            said["because"] = json!("the figures");
            said["position"] = json!("Not before the figures are in.");
        }
        _ => {}
    });
    assert_eq!(asked(&debate, 1), []);
    let found = finds(&json!({"new_arguments": [{"councillor": "critic", "argument": "Dragons!"}]}));
    assert_eq!(asked(&found, 1).len(), 4, "an argument that nobody made is none: the round is stale");
    let outcome = found.outcome.unwrap();
    assert!(!outcome.verdict["rounds"][0]["findings"]["new_arguments"].to_string().contains("Dragons"));
    assert!(warned(
        &outcome,
        "the new argument of Critic does not count: no words of theirs in this round make it"
    ));
}

/// "Each round must produce NEW insights, not repeat previous arguments": words that were said before are not new, whoever says so.
#[test]
fn words_that_were_said_before_are_no_new_argument() {
    let repeated = "Visionary: argues from LOAD";
    let found = finds(&json!({"new_arguments": [{"councillor": "critic", "argument": repeated}]}));
    assert_eq!(asked(&found, 1).len(), 4, "the round is stale");
    assert!(warned(&found.outcome.unwrap(), "its words were said in an earlier round"));
    let same = intervened(&|_, phase, _, said| match phase {
        "moderate" => {
            said["new_arguments"] = json!([{"councillor": "visionary", "argument": "figures of spring"}])
        }
        "challenge" => said["new_arguments"] = json!(["The figures of spring."]),
        _ => {}
    });
    assert_eq!((asked(&same, 1).len(), asked(&same, 2).len()), (0, 4), "new in round 1 and not in round 2");
    let alone = run(&[], &|ask, phase, round| {
        let said = with(ask, phase, round, &|said| {
            if phase == "challenge" {
                said["new_arguments"] = json!(["The figures of spring."]);
            }
        });
        said.filter(|_| phase != "moderate")
    });
    assert_eq!((asked(&alone, 1).len(), asked(&alone, 2).len()), (0, 4), "without a moderator too");
}
