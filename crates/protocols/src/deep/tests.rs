//! The rules of seed 000 and of its part of PROTOCOLS.md. Each test quotes the sentence that it checks.

use std::collections::BTreeMap;

use agon_core::play::play;
use agon_core::{
    AbsenceReason, Brief, CallUsage, DebateLimits, Fidelity, LogRecord, Outcome, Reply, Status, Termination,
};
use serde_json::json;

use super::*;
use crate::testing::{self, Answer};

fn request(models: &[&str], set: &[(&str, &str)]) -> Result<Request, Invalid> {
    testing::request(&Deep, "Tabs or spaces?", &[], models, set)
}

fn brief(models: &[&str], set: &[(&str, &str)]) -> Brief {
    testing::brief(&Deep, request(models, set).unwrap()).unwrap()
}

fn run_brief(brief: Brief, answer: Answer<'_>) -> (Vec<LogRecord>, Debate) {
    testing::run(&Deep, brief, answer)
}

fn run(set: &[(&str, &str)], answer: Answer<'_>) -> Outcome {
    run_brief(brief(MODELS, set), answer).1.outcome.unwrap()
}

const MODELS: &[&str] = &["a/x", "b/y", "c/z"];

/// Plays a debate like the engine after its repairs: a declaration that does not verify is accepted, and what breaks a rule is an
/// absence.
fn play_unverified(brief: Brief, answer: Answer<'_>) -> Debate {
    let mut reply = |debate: &Debate, ask: &Ask| {
        let phase = debate.last_phase().unwrap();
        let absent = |why| Reply::Absent { why, detail: "test".into() };
        let Some(value) = answer(ask, &phase.name, phase.round) else {
            return absent(AbsenceReason::TimedOut);
        };
        let (text, value) = match value {
            Value::String(text) => (text, None),
            value => {
                let is_valid = jsonschema::is_valid(&ask.schema.as_ref().unwrap().json, &value);
                if !is_valid || matches!(Deep.check(debate, ask, &value), Err(ReplyFault::Invalid(_))) {
                    return absent(AbsenceReason::Malformed);
                }
                (value.to_string(), Some(value))
            }
        };
        let (model, usage) = (ask.model.clone(), CallUsage::default());
        Reply::Said { text, value, model, usage, cut_off: false, shortened: None }
    };
    let records = play(&Deep, vec![Debate::open(brief).unwrap().1], &mut reply, &mut |_| {}).unwrap();
    Debate::from_records(&records).unwrap()
}

/// What the rules say to a reply at this point of a debate.
fn check_at(
    set: &[(&str, &str)],
    at: (&str, u32, &str),
    answer: Answer<'_>,
    value: &Value,
) -> Result<(), ReplyFault> {
    let checked = std::cell::RefCell::new(None);
    let mut reply = |debate: &Debate, ask: &Ask| {
        let phase = debate.last_phase().unwrap();
        if (phase.name.as_str(), phase.round, ask.seat.as_str()) == at {
            *checked.borrow_mut() = Some(Deep.check(debate, ask, value));
        }
        let value = answer(ask, &phase.name, phase.round).unwrap();
        let (text, value) = match value {
            Value::String(text) => (text, None),
            value => (value.to_string(), Some(value)),
        };
        let (model, usage) = (ask.model.clone(), CallUsage::default());
        Reply::Said { text, value, model, usage, cut_off: false, shortened: None }
    };
    let opened = Debate::open(brief(MODELS, set)).unwrap().1;
    play(&Deep, vec![opened], &mut reply, &mut |_| {}).unwrap();
    checked.into_inner().expect("the debate comes to this point")
}

/// A chair's reply whose `P1`, `P2`... name the positions in the order in which the chair reads them. Their ids are numbered in seat
/// order over the whole debate.
fn with_listed_ids(ask: &Ask, mut value: Value) -> Value {
    let listed =
        ask.schema.as_ref().unwrap().json.pointer("/properties/fates/items/properties/position/anyOf/0/enum");
    let listed = listed.unwrap().as_array().unwrap();
    for ruling in value.get_mut("fates").and_then(Value::as_array_mut).into_iter().flatten() {
        let number: usize = ruling["position"].as_str().unwrap().trim_start_matches('P').parse().unwrap();
        ruling["position"] = listed.get(number - 1).cloned().unwrap_or_else(|| json!("P99"));
    }
    value
}

fn argument(revision: &str) -> Value {
    let position = (revision != "no_change").then_some("tabs, revised");
    json!({"stance": "maintain", "key_points": ["width"], "counterpoints": [], "revision": revision,
           "revised_position": position, "confidence": 0.5})
}

fn assessment(agreement: f64, new_points: f64) -> Value {
    json!({"should_stop": false, "agreement_score": agreement, "new_points_ratio": new_points, "consensus_answer": "tabs",
           "remaining_disagreements": ["width"], "next_round_focus": "the width"})
}

fn evaluation(score: f64, factual_error: bool, fabrication: bool) -> Value {
    json!({"scores": {"accuracy": score, "completeness": score, "verifiability": score, "reasoning": score,
           "clarity": score, "usefulness": score}, "factual_error": factual_error, "fabrication": fabrication, "comment": ""})
}

/// A reply when no seat is absent. `revisions` and `scores` have the debaters' revision and the moderator's scores of each round;
/// their last entries count for later rounds.
fn plain(phase: &str, round: u32, revisions: &[&str], scores: &[(f64, f64)]) -> Option<Value> {
    let at = (round as usize).saturating_sub(1);
    Some(match phase {
        "answer" => json!("Tabs, because of width."),
        "debate" => argument(revisions.get(at).or(revisions.last()).unwrap()),
        "moderate" => {
            let (agreement, new_points) = scores.get(at).or(scores.last()).unwrap();
            assessment(*agreement, *new_points)
        }
        "evaluate" => evaluation(7.0, false, false),
        "ratify" => json!({"assent": "accept", "statement": "So be it."}),
        _ => json!({"answer": "Tabs.", "why": "Width.", "contested": ["spaces"]}),
    })
}

/// "Convergence conditions (exit when ANY is true)", with `min_rounds` 2 and `max_rounds` 3: values on both sides of each threshold.
#[test]
fn exits_at_the_thresholds_and_not_before() {
    const REVISED: &[&str] = &["minor_update"];
    const UNCHANGED: &[&str] = &["no_change"];
    for (revisions, scores, termination, rounds) in [
        (REVISED, &[(0.8, 0.15)][..], Termination::Converged, 2),
        (REVISED, &[(0.799_999_999_99, 0.150_000_000_01)], Termination::Converged, 2),
        (REVISED, &[(0.799_999, 0.15)], Termination::MaxRounds, 3),
        (REVISED, &[(0.8, 0.150_001)], Termination::MaxRounds, 3),
        (REVISED, &[(1.0, 0.0)], Termination::Converged, 2),
        (REVISED, &[(0.0, 1.0), (0.0, 1.0), (0.9, 0.1)], Termination::Converged, 3),
        (UNCHANGED, &[(0.1, 0.9)], Termination::Stable, 2),
        (UNCHANGED, &[(0.8, 0.15)], Termination::Converged, 2),
        (&["minor_update", "minor_update", "no_change"], &[(0.1, 0.9)], Termination::Stable, 3),
    ] {
        let outcome = run(&[], &|_, phase, round| plain(phase, round, revisions, scores));
        let case = format!("{revisions:?} {scores:?}");
        assert_eq!((outcome.termination, outcome.rounds_completed), (termination, rounds), "{case}");
        assert_eq!((outcome.status, outcome.fidelity), (Status::Complete, Fidelity::Full), "{case}");
    }
}

/// "`min_rounds` gates every exit but the limits: all-`no_change` in round 1 does not stop."
#[test]
fn min_rounds_gates_every_exit_except_max_rounds() {
    for (min, max, rounds, termination) in [
        ("1", "3", 1, Termination::Converged),
        ("2", "3", 2, Termination::Converged),
        ("3", "3", 3, Termination::Converged),
        ("2", "1", 1, Termination::MaxRounds),
    ] {
        let set = [("min_rounds", min), ("max_rounds", max)];
        let outcome = run(&set, &|_, phase, round| plain(phase, round, &["no_change"], &[(1.0, 0.0)]));
        assert_eq!(
            (outcome.rounds_completed, outcome.termination),
            (rounds, termination),
            "min {min} max {max}"
        );
    }
}

/// "thresholds ... all configurable".
#[test]
fn the_thresholds_are_configurable() {
    let set = [("agreement_score", "0.5"), ("new_points_ratio", "0.5")];
    let outcome = run(&set, &|_, phase, round| plain(phase, round, &["minor_update"], &[(0.5, 0.5)]));
    assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::Converged, 2));
}

/// "`should_stop` is advisory: recorded, and the report warns when it contradicts the arithmetic." "The contradiction of `should_stop`
/// is told once, and not for the last round."
#[test]
fn should_stop_is_recorded_and_decides_nothing() {
    let outcome = run(&[], &|_, phase, round| {
        let mut value = plain(phase, round, &["minor_update"], &[(0.3, 0.9)])?;
        if phase == "moderate" {
            value["should_stop"] = json!(true);
        }
        Some(value)
    });
    assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::MaxRounds, 3));
    assert_eq!(outcome.verdict["rounds"][0]["should_stop"], true);
    let told: Vec<&String> = outcome.warnings.iter().filter(|warning| warning.contains("would")).collect();
    assert_eq!(told, ["round 1: the moderator would stop, but its own scores do not reach the thresholds"]);

    // In the last round the advice decides nothing, so nothing is told.
    let outcome = run(&[], &|_, phase, round| plain(phase, round, &["minor_update"], &[(0.9, 0.1)]));
    assert!(!outcome.warnings.iter().any(|warning| warning.contains("would")), "{:?}", outcome.warnings);
}

/// "Seeded shuffle, labels A, B, C... kept for all rounds."
#[test]
fn labels_come_from_a_seeded_shuffle_and_never_change() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let mut brief = brief(&["a/x", "b/y", "c/z"], &[]);
        brief.seed = seed;
        let (_, debate) =
            run_brief(brief, &|_, phase, round| plain(phase, round, &["minor_update"], &[(0.1, 0.9)]));
        let labels = debate.outcome.as_ref().unwrap().labels.clone();
        assert_eq!(labels.keys().collect::<Vec<_>>(), ["A", "B", "C"]);
        for turn in debate.turns_of("debate") {
            for ask in &turn.asks {
                let label = ask.label.as_ref().unwrap().trim_start_matches("Debater ");
                assert_eq!(labels[label], ask.seat);
            }
        }
        seen.insert(labels.into_values().collect::<Vec<_>>());
    }
    assert_eq!(seen.len(), 6, "every order occurs");
}

/// "`revised_position` is required when `revision` is not `no_change`."
#[test]
fn a_revision_requires_a_revised_position() {
    let empty = |revision: &str| {
        let mut value = argument(revision);
        value["revised_position"] = json!(" ");
        let at = ("debate", 1, "debater-2");
        check_at(&[], at, &|_, phase, round| plain(phase, round, &["no_change"], &[(0.9, 0.1)]), &value)
    };
    for revision in ["minor_update", "major_revision"] {
        let Err(ReplyFault::Invalid(why)) = empty(revision) else { panic!("{revision}") };
        assert!(why.contains("revised_position"), "{why}");
    }
    assert_eq!(empty("no_change"), Ok(()));
}

/// "else the last position carries forward, else the Stage 1 answer."
#[test]
fn positions_carry_forward() {
    let outcome = run(&[], &|ask, phase, round| match (phase, ask.seat.as_str(), round) {
        ("answer", seat, _) => Some(json!(format!("first of {seat}"))),
        ("debate", "debater-1", 1) => Some(argument("minor_update")),
        ("debate", _, _) => Some(argument("no_change")),
        _ => plain(phase, round, &[], &[(0.1, 0.9)]),
    });
    let stances = outcome.verdict["synthesis_input"]["final_stances"].as_array().unwrap();
    for stance in stances {
        let seat = &outcome.labels[stance["debater"].as_str().unwrap()];
        let expected = if seat == "debater-1" { "tabs, revised".into() } else { format!("first of {seat}") };
        assert_eq!(stance["revised_position"], expected);
    }
}

/// "`concede` with `no_change` is flagged in the report, not rejected."
#[test]
fn a_concession_without_a_change_is_flagged() {
    let outcome = run(&[], &|_, phase, round| {
        let mut value = plain(phase, round, &["no_change"], &[(0.1, 0.9)])?;
        if phase == "debate" {
            value["stance"] = json!("concede");
        }
        Some(value)
    });
    assert_eq!(outcome.warnings.iter().filter(|w| w.contains("concedes but changes nothing")).count(), 6);
}

/// "`counterpoints[].target` must be another debater's label."
#[test]
fn a_counterpoint_must_target_another_debater() {
    let seen = std::cell::RefCell::new(None);
    run(&[], &|ask, phase, round| {
        if ask.label.as_deref() == Some("Debater B") {
            *seen.borrow_mut() = ask.schema.clone();
        }
        plain(phase, round, &["no_change"], &[(0.9, 0.1)])
    });
    let schema = seen.into_inner().unwrap();
    for (target, is_valid) in [
        ("Debater A", true),
        ("Debater C", true),
        ("A", true),
        ("Debater B", false),
        ("Debater D", false),
        ("debater-1", false),
        ("", false),
    ] {
        let mut value = argument("no_change");
        value["counterpoints"] = json!([{"target": target, "point": "p", "evidence": "e"}]);
        assert_eq!(jsonschema::is_valid(&schema.json, &value), is_valid, "{target}");
    }
}

/// "`consensus_answer` is kept only when `agreement_score > 0.6`."
#[test]
fn a_consensus_answer_is_kept_only_above_an_agreement_of_0_6() {
    for (agreement, kept) in [(0.6, false), (0.600_001, true), (0.59, false), (1.0, true)] {
        let outcome =
            run(&[], &|_, phase, round| plain(phase, round, &["minor_update"], &[(agreement, 0.9)]));
        let answer = &outcome.verdict["synthesis_input"]["convergence_status"]["consensus_answer"];
        assert_eq!(answer.is_string(), kept, "{agreement}");
    }
}

/// "Stage 3 input is exactly the seed's JSON."
#[test]
fn the_synthesis_input_is_exactly_the_seeds_json() {
    let outcome = run(&[], &|_, phase, round| plain(phase, round, &["minor_update"], &[(0.85, 0.1)]));
    let input = &outcome.verdict["synthesis_input"];
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        keys(input),
        ["mode", "rounds_completed", "final_stances", "convergence_status", "debate_log"]
    );
    assert_eq!(keys(&input["final_stances"][0]), ["debater", "stance", "confidence", "revised_position"]);
    assert_eq!(
        keys(&input["convergence_status"]),
        ["agreement_score", "new_points_ratio", "consensus_answer", "remaining_disagreements"]
    );
    assert_eq!((&input["mode"], &input["rounds_completed"]), (&json!("deep"), &json!(2)));
    assert_eq!(input["debate_log"].as_array().unwrap().len(), 2);
    assert!(
        input["debate_log"][0]
            .as_str()
            .unwrap()
            .starts_with("Round 1: A: maintain, minor_update, confidence 0.50")
    );
    assert!(input["debate_log"][0].as_str().unwrap().ends_with("new points 0.10; 1 open disagreement"));
}

/// "Quick and standard: `rounds_completed` 0, termination `all_rounds_complete`, ... `stance` null, `convergence_status`
/// null, `debate_log` `[]`."
#[test]
fn quick_and_standard_have_no_rounds() {
    for (mode, asks) in [("quick", 4), ("standard", 10)] {
        let (_, debate) =
            run_brief(brief(&["a/x"], &[("mode", mode)]), &|_, phase, round| plain(phase, round, &[], &[]));
        let outcome = debate.outcome.as_ref().unwrap();
        let input = &outcome.verdict["synthesis_input"];
        assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::AllRoundsComplete, 0));
        assert_eq!(input["mode"], mode);
        assert_eq!((&input["convergence_status"], &input["debate_log"]), (&Value::Null, &json!([])));
        assert_eq!(input["final_stances"][0]["stance"], Value::Null);
        assert_eq!(input["final_stances"][0]["revised_position"], "Tabs, because of width.");
        assert_eq!(outcome.verdict.get("ranking").is_some(), mode == "standard");
        assert_eq!(debate.asks(), asks);
    }
}

/// "2 to 7 debaters, default 3"; rule 11.
#[test]
fn the_number_of_models_sets_the_number_of_debaters() {
    for (models, debaters) in [(1, Some(3)), (2, Some(2)), (7, Some(7)), (8, None), (0, None)] {
        let seats = Deep.seats(&request(&vec!["a/x"; models], &[]).unwrap());
        let count = seats.ok().map(|seats| seats.iter().filter(|seat| seat.role == "debater").count());
        assert_eq!(count, debaters, "{models} models");
    }
}

/// "by default the first model plays both".
#[test]
fn the_first_model_plays_moderator_and_chair_unless_named() {
    let mut request = request(&["a/x", "b/y"], &[]).unwrap();
    let model = |request: &Request, id: &str| {
        Deep.seats(request).unwrap().into_iter().find(|s| s.id == id).unwrap().model
    };
    assert_eq!((model(&request, "moderator"), model(&request, "chair")), ("a/x".into(), "a/x".into()));
    request.roles.insert("moderator".into(), "m/m".into());
    request.roles.insert("chair".into(), "c/c".into());
    assert_eq!((model(&request, "moderator"), model(&request, "chair")), ("m/m".into(), "c/c".into()));
}

#[test]
fn contradictory_requests_are_rejected() {
    for (set, words) in [
        (&[("min_rounds", "4")][..], "min_rounds"),
        (&[("min_rounds", "3"), ("max_rounds", "2")], "max_rounds"),
        (&[("weights.accuracy", "31")], "sum to 100"),
    ] {
        let why = Deep.seats(&request(&["a/x"], set).unwrap()).unwrap_err().0;
        assert!(why.contains(words), "{why}");
    }
    let mut empty = request(&["a/x"], &[]).unwrap();
    empty.question = " \n".into();
    assert!(Deep.seats(&empty).unwrap_err().0.contains("empty"));
}

mod absences;
mod degradation;
mod evaluations;
mod meaning;
mod prompts;
mod ratification;
mod real_debates;
