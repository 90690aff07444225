//! Tests of seed 002 and the decisions about it. The README says which test shows which sentence.

use agon_core::play::play;
use agon_core::{AbsenceReason, CallUsage, Fate, Fidelity, Outcome, RecordBody, Reply, Status};
use serde_json::json;

use super::*;
use crate::testing::{self, Answer};

mod absences;
mod economy;
mod meaning;
mod minutes;
mod moderation;
mod prompts;
mod reply_rules;
mod report;
mod rounds;
mod setup;
mod verdict;

const MODELS: &[&str] = &["a/x", "b/y", "c/z"];
const SEATS: [&str; 4] = ["visionary", "critic", "pragmatist", "innovator"];

fn brief(set: &[(&str, &str)]) -> Brief {
    let request = testing::request(&Council, "Should we adopt the queue?", &[], MODELS, set).unwrap();
    testing::brief(&Council, request).unwrap()
}

fn run(set: &[(&str, &str)], answer: Answer<'_>) -> Debate {
    run_brief(brief(set), answer)
}

/// Plays a debate. Replies must keep their schema and the rules, but need not verify: after one time back they count without what
/// does not verify.
fn run_brief(brief: Brief, answer: Answer<'_>) -> Debate {
    let mut reply = |debate: &Debate, ask: &Ask| {
        let phase = debate.last_phase().unwrap();
        let Some(value) = answer(ask, &phase.name, phase.round) else {
            return Reply::Absent { why: AbsenceReason::TimedOut, detail: "test".into() };
        };
        // Null stands for words that nobody can read.
        if value.is_null() {
            return Reply::Absent { why: AbsenceReason::Malformed, detail: "test".into() };
        }
        jsonschema::validate(&ask.schema.as_ref().unwrap().json, &value)
            .unwrap_or_else(|why| panic!("{} {}: {why}", phase.name, ask.seat));
        match Council.check(debate, ask, &value) {
            Ok(()) | Err(ReplyFault::Unverified(_)) => {}
            Err(fault) => panic!("{} {}: {fault:?}", phase.name, ask.seat),
        }
        let usage = CallUsage { usd: Some(0.01), ..CallUsage::default() };
        Reply::Said {
            text: value.to_string(),
            value: Some(value),
            model: ask.model.clone(),
            usage,
            cut_off: false,
            shortened: None,
        }
    };
    let records = play(&Council, vec![Debate::open(brief).unwrap().1], &mut reply, &mut |_| {}).unwrap();
    Debate::from_records(&records).unwrap()
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

/// The debate as it was after this many phases.
fn until(debate: &Debate, turns: usize) -> Debate {
    let mut before = debate.clone();
    before.turns.truncate(turns);
    before.outcome = None;
    before
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
        "vote": "PROCEED",
        "questions": [{"to": next(seat, 1), "question": format!("What does the {seat} overlook?")}],
    })
}

/// Two challenges that quote the others.
fn examination(ask: &Ask, round: u32) -> Value {
    let seat = ask.seat.as_str();
    let challenge = |steps: usize| {
        let to = next(seat, steps);
        json!({"to": to, "claim": format!("{to} argues from load"), "reason": format!("{seat} sees no figures in round {round}."),
            "question": format!("Which figures, asks the {seat}?")})
    };
    let mut said = json!({"analysis": "Figures are missing.", "challenges": [challenge(1), challenge(2)]});
    if seat == "visionary" && !allowed(ask, "/properties/messages/items/properties/to").is_empty() {
        said["messages"] =
            json!([{"to": "Critic", "topic": "the load", "text": format!("Which load in round {round}?")}]);
    }
    said
}

/// An answer to everything, no change, a new argument. The Visionary grants something, so that not all votes are uncontested.
fn response(ask: &Ask, round: u32) -> Value {
    let seat = ask.seat.as_str();
    let responses: Vec<Value> = due(ask)
        .iter()
        .map(|id| json!({"challenge_id": id, "stance": if seat == "visionary" { "modified" } else { "disagree" }, "response": format!("On {id} the {seat} has measured it twice.")}))
        .collect();
    let replies: Vec<Value> = allowed(ask, "/properties/replies/items/properties/message_id")
        .iter()
        .map(|id| json!({"message_id": id, "text": format!("{seat} answers {id}.")}))
        .collect();
    json!({
        "responses": responses,
        "replies": replies,
        "position": "",
        "changed": false,
        "because": "My arguments hold.",
        "new_arguments": [format!("In round {round} the {seat} brings the figures of spring.")],
        "confidence": "MEDIUM",
        "vote": "PROCEED",
    })
}

/// A moderator who finds one new argument and nothing else.
fn moderation(round: u32) -> Value {
    json!({
        "shared_points": [],
        "evasions": [],
        "new_arguments": [{"councillor": "visionary", "argument": format!("In round {round} the visionary brings the figures of spring")}],
        "key_exchanges": [],
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
        ("respond", _) => response(ask, round),
        ("moderate", _) => moderation(round),
        ("conclude", _) => json!({"agreed": "", "quotes": [], "merged": [], "facts_needed": []}),
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

/// A declared change of position.
fn change(said: &mut Value, position: &str, because: &str) {
    said["changed"] = json!(true);
    said["position"] = json!(position);
    said["because"] = json!(because);
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
            let phases = ["challenge", "respond", "moderate"];
            want.extend(phases.map(|phase| (phase.to_owned(), round)));
        }
        want.extend([("verdict".to_owned(), rounds), ("conclude".to_owned(), rounds)]);
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
            "moderate" | "conclude" => assert_eq!(seats, ["moderator"]),
            _ => assert_eq!(seats, SEATS),
        }
    }
}

/// "Every distinct first-round position ends up adopted, given up by its holder with a reason, or in the dissent section". A position
/// that its holder gave up is not the one in the dissent, and one that it replaced is adopted in its vote only.
#[test]
fn every_opening_position_is_adopted_refuted_or_dissent() {
    let outcome = outcome(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| match (phase, round, ask.seat.as_str()) {
            ("opening", _, "innovator") => said["vote"] = json!("RECONSIDER"),
            ("respond", 1, "innovator") => change(said, "A trial it is.", "the Critic counted"),
            ("respond", 1, "pragmatist") => change(said, "A shorter trial.", "it is dear"),
            ("respond", 2, "pragmatist") => change(said, "A trial of a week.", "it is still dear"),
            ("verdict", _, "critic") => {
                (said["vote"], said["because"]) = (json!("DO NOT PROCEED"), json!("[C1] has no answer"));
            }
            ("verdict", _, "innovator") => {
                (said["vote"], said["because"]) =
                    (json!("PROCEED WITH CONDITIONS"), json!("[C2] asks for a limit."));
            }
            _ => {}
        })
    });
    let fates: Vec<(&str, Fate, &str)> =
        outcome.positions.iter().map(|held| (held.seat.as_str(), held.fate, held.reason.as_str())).collect();
    let want = [
        ("visionary", Fate::Adopted, "voted PROCEED; the decision is PROCEED WITH CONDITIONS"),
        ("critic", Fate::Refuted, "PROCEED became DO NOT PROCEED in the vote: [C1] has no answer"),
        ("pragmatist", Fate::Adopted, "voted PROCEED; the decision is PROCEED WITH CONDITIONS"),
        (
            "innovator",
            Fate::Refuted,
            "RECONSIDER became PROCEED in round 1: the Critic counted. PROCEED became PROCEED WITH CONDITIONS in the vote: [C2] asks \
             for a limit.",
        ),
    ];
    assert_eq!(fates, want);
    let [dissent] = outcome.dissent.as_slice() else { panic!("{:?}", outcome.dissent) };
    for (field, want) in [
        ("councillor", "critic"),
        ("vote", "DO NOT PROCEED"),
        ("opening", "The critic says that the queue is worth a trial."),
        ("position", "A trial, then we see."),
        ("reason", "voted DO NOT PROCEED; the decision is PROCEED WITH CONDITIONS"),
    ] {
        assert_eq!(dissent[field], want);
    }
}
