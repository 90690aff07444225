//! Tests of seed 002 and the decisions about it. The README says which test shows which sentence.

use agon_core::{Fate, Fidelity, Outcome, RecordBody, Status};
use serde_json::json;

use super::*;
use crate::testing::{self, Answer};

mod absences;
mod cross_examination;
mod economy;
mod invariants;
mod minutes;
mod moderation;
mod positions;
mod prompts;
mod reply_rules;
mod report;
mod setup;
mod verdict;

const MODELS: &[&str] = &["a/x", "b/y", "c/z"];
const SEATS: [&str; 4] = ["visionary", "critic", "pragmatist", "innovator"];

fn brief(set: &[(&str, &str)]) -> Brief {
    let request = testing::request(&Council, "Should we adopt the queue?", &[], MODELS, set).unwrap();
    testing::brief(&Council, request).unwrap()
}

fn run(set: &[(&str, &str)], answer: Answer<'_>) -> Debate {
    testing::run(&Council, brief(set), answer).1
}

fn outcome(set: &[(&str, &str)], answer: Answer<'_>) -> Outcome {
    run(set, answer).outcome.unwrap()
}

fn view(debate: &Debate) -> DebateView {
    Council.view(debate).unwrap()
}

/// `session.md`.
fn session(debate: &Debate) -> String {
    let [saved] = view(debate).records.try_into().unwrap();
    assert_eq!((saved.stem.as_str(), saved.ending, saved.grows), ("session", ".md", true));
    match saved.body {
        RecordBody::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

/// The councillor `steps` seats further on.
fn next(seat: &str, steps: usize) -> &'static str {
    let place = SEATS.iter().position(|other| *other == seat).unwrap();
    SEATS[(place + steps) % SEATS.len()]
}

/// The values that a schema allows at a pointer.
fn allowed(ask: &Ask, pointer: &str) -> Vec<String> {
    let schema = &ask.schema.as_ref().unwrap().json;
    let values = schema.pointer(&format!("{pointer}/enum")).and_then(Value::as_array);
    values.into_iter().flatten().map(|value| value.as_str().unwrap().to_owned()).collect()
}

/// The challenges that this ask must address.
fn due(ask: &Ask) -> Vec<String> {
    allowed(ask, "/properties/responses/items/properties/challenge_id")
}

fn opening(seat: &str) -> Value {
    json!({
        "position": format!("The {seat} says that the queue is worth a trial."),
        "arguments": [format!("{seat} argues from load"), format!("{seat} argues from cost"), format!("{seat} argues from time")],
        "confidence": "MEDIUM",
        "questions": [{"to": next(seat, 1), "question": format!("What does the {seat} overlook?")}],
    })
}

/// Two challenges, an answer to everything, no message, no change, a new argument.
fn examination(ask: &Ask, round: u32) -> Value {
    let seat = ask.seat.as_str();
    let challenge = |steps: usize| {
        let to = next(seat, steps);
        json!({"to": to, "claim": format!("{to} argues from load"), "reason": format!("{seat} sees no figures in round {round}."),
            "question": format!("Which figures, asks the {seat}?")})
    };
    let responses: Vec<Value> = due(ask)
        .iter()
        .map(|id| json!({"challenge_id": id, "stance": "disagree", "response": format!("On {id} the {seat} has measured it twice.")}))
        .collect();
    json!({
        "challenges": [challenge(1), challenge(2)],
        "responses": responses,
        "position": format!("The {seat} says that the queue is worth a trial."),
        "changed": false,
        "because": "No change - my arguments hold",
        "new_arguments": [format!("In round {round} the {seat} brings the figures of spring.")],
        "confidence": "MEDIUM",
    })
}

/// A moderator who finds one new argument and nothing else.
fn moderation(round: u32) -> Value {
    json!({
        "shared_points": [],
        "evasions": [],
        "new_arguments": [{"councillor": "visionary", "argument": format!("In round {round} the visionary brings the figures of spring")}],
        "reframing_question": "",
    })
}

fn last(vote: &str) -> Value {
    json!({
        "final_position": "A trial, then we see.",
        "key_argument": "The load halves.",
        "strongest_opposing_point": "It costs a month.",
        "remaining_concern": "Nobody knows the queue.",
        "vote": vote,
        "conditions": [],
        "risks": [],
    })
}

/// What everybody says when nothing happens.
fn plain(ask: &Ask, phase: &str, round: u32) -> Value {
    match (phase, ask.schema.as_ref().unwrap().name.as_str()) {
        ("opening", _) => opening(&ask.seat),
        ("challenge", _) => examination(ask, round),
        ("exchange", _) => {
            let ids = allowed(ask, "/properties/replies/items/properties/message_id");
            let replies: Vec<Value> = ids
                .iter()
                .map(|id| json!({"message_id": id, "text": format!("{} answers {id}.", ask.seat)}))
                .collect();
            json!({"replies": replies})
        }
        ("moderate", _) => {
            let mut said = moderation(round);
            if ask.schema.as_ref().unwrap().json["properties"].get("evasions").is_none() {
                said.as_object_mut().unwrap().remove("evasions");
            }
            said
        }
        ("intervene", "second_response") => {
            let id = allowed(ask, "/properties/challenge_id").remove(0);
            json!({"challenge_id": id, "stance": "modified", "response": "Seen in that light the point needs a figure, here is one: 12%."})
        }
        ("intervene", "steelman") => json!({
            "counter_argument": "The trial itself could be the trap.",
            "must_be_true": "That a trial cannot be undone.",
            "would_change_my_mind": "A trial that was undone.",
            "blind_spots": "We all like new things.",
        }),
        ("intervene", _) => {
            json!({"effect": "It changes little.", "position": "", "changed": false, "because": ""})
        }
        _ => last("PROCEED"),
    }
}

/// The same with one change.
fn with(ask: &Ask, phase: &str, round: u32, change: &dyn Fn(&mut Value)) -> Option<Value> {
    let mut said = plain(ask, phase, round);
    change(&mut said);
    Some(said)
}

fn phases(debate: &Debate) -> Vec<(String, u32)> {
    debate.turns.iter().map(|turn| (turn.phase.name.clone(), turn.phase.round)).collect()
}

fn warned(outcome: &Outcome, words: &str) -> bool {
    outcome.warnings.iter().any(|warning| warning.contains(words))
}

/// The entry of a list of the verdict in which a field has this value.
fn entry<'a>(outcome: &'a Outcome, list: &str, field: &str, value: &str) -> &'a Value {
    let list_value = outcome.verdict[list].as_array().unwrap();
    list_value
        .iter()
        .find(|entry| entry[field] == value)
        .unwrap_or_else(|| panic!("{list} has no {value}: {list_value:#?}"))
}

/// "Do NOT cut rounds short - complete all {rounds} rounds": whatever is said, "there is no early exit".
#[test]
fn all_rounds_always_run() {
    for rounds in 1..=4_u32 {
        let debate =
            run(&[("rounds", &rounds.to_string())], &|ask, phase, round| Some(plain(ask, phase, round)));
        let mut want = vec![("opening".to_owned(), 0)];
        for round in 1..=rounds {
            want.extend([("challenge".to_owned(), round), ("moderate".to_owned(), round)]);
        }
        want.push(("verdict".to_owned(), rounds));
        assert_eq!(phases(&debate), want);
        let outcome = debate.outcome.unwrap();
        assert_eq!((outcome.status, outcome.termination), (Status::Complete, Termination::AllRoundsComplete));
        assert_eq!((outcome.rounds_completed, outcome.fidelity), (rounds, Fidelity::Full));
        assert_eq!(outcome.passed, None);
        assert_eq!(outcome.verdict["rounds"].as_array().unwrap().len(), rounds as usize);
    }
}

/// "all asks of a phase at once": in standard mode everybody is asked in parallel.
#[test]
fn in_standard_mode_all_are_asked_at_once() {
    let debate = run(&[], &|ask, phase, round| Some(plain(ask, phase, round)));
    for turn in &debate.turns {
        let seats: Vec<&str> = turn.asks.iter().map(|ask| ask.seat.as_str()).collect();
        match turn.phase.name.as_str() {
            "moderate" => assert_eq!(seats, ["moderator"]),
            _ => assert_eq!(seats, SEATS),
        }
    }
}

/// "Every distinct first-round position ends up adopted, refuted with a reason, or in the dissent section".
#[test]
fn every_opening_position_is_adopted_refuted_or_dissent() {
    let outcome = outcome(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| match (phase, round, ask.seat.as_str()) {
            ("challenge", 1, "innovator") => {
                said["changed"] = json!(true);
                said["because"] = json!("the Critic counted");
                said["position"] = json!("No queue for now.");
            }
            ("verdict", _, "critic") => said["vote"] = json!("DO NOT PROCEED"),
            _ => {}
        })
    });
    let fates: Vec<(&str, Fate)> = outcome.positions.iter().map(|p| (p.seat.as_str(), p.fate)).collect();
    let want = [Fate::Adopted, Fate::Minority, Fate::Adopted, Fate::Refuted];
    assert_eq!(fates, SEATS.iter().copied().zip(want).collect::<Vec<_>>());
    assert!(
        outcome.positions[3].reason.contains("round 1: the Critic counted"),
        "{}",
        outcome.positions[3].reason
    );
    assert_eq!(outcome.dissent.len(), 1);
    assert_eq!(outcome.dissent[0]["councillor"], "critic");
    assert_eq!(outcome.dissent[0]["vote"], "DO NOT PROCEED");
    assert_eq!(outcome.dissent[0]["opening"], "The critic says that the queue is worth a trial.");
    assert_eq!(outcome.dissent[0]["position"], "A trial, then we see.", "where it ended");
}
