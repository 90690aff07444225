//! What holds whatever is said and whoever is absent.

use std::collections::BTreeSet;

use agon_core::play::{invent, play};
use agon_core::seed::SeededDraw;
use agon_core::{AbsenceReason, Reply};

use super::*;

fn texts<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().filter_map(|entry| entry[field].as_str()).collect()
}

/// A debate of made-up answers in which one ask in `absent` is without a reply.
fn made_up(set: &[(&str, &str)], seed: u64, absent: usize) -> Debate {
    let mut draw = SeededDraw::new(seed, "absences");
    let mut answer = |debate: &Debate, ask: &Ask| match absent > 0 && draw.below(absent) == 0 {
        true => Reply::Absent { why: AbsenceReason::TimedOut, detail: "test".into() },
        false => invent(&Council, debate, ask, seed),
    };
    let brief = Brief { seed, ..brief(set) };
    let records = play(&Council, vec![Debate::open(brief).unwrap().1], &mut answer, &mut |_| {}).unwrap();
    Debate::from_records(&records).unwrap()
}

fn balanced(debate: &Debate) {
    let outcome = debate.outcome.as_ref().unwrap();
    let verdict = &outcome.verdict;
    let challenges = verdict["challenges"].as_array().unwrap();
    for (challenge, number) in challenges.iter().zip(1..) {
        assert_eq!(challenge["id"], format!("C{number}"));
        assert_ne!(challenge["from"], challenge["to"]);
    }
    let of_fate = |fate: &str| -> BTreeSet<&str> {
        challenges.iter().filter(|c| c["fate"] == fate).map(|c| c["id"].as_str().unwrap()).collect()
    };
    let (answered, evaded, open) = (of_fate("answered"), of_fate("evaded"), of_fate("open"));
    assert_eq!(answered.len() + evaded.len() + open.len(), challenges.len(), "each has one fate");
    let violations: Vec<&str> = texts(&verdict["violations"], "challenge_id");
    assert_eq!(violations.iter().copied().collect::<BTreeSet<_>>(), evaded);
    assert_eq!(violations.len(), evaded.len(), "each is violated once");
    let listed: BTreeSet<&str> = texts(&verdict["open_questions"], "challenge_id").into_iter().collect();
    assert_eq!(listed, open);
    for challenge in challenges.iter().filter(|c| c["fate"] == "answered") {
        assert!(
            challenge["stance"].is_string() && !challenge["response"].as_str().unwrap().is_empty(),
            "{challenge}"
        );
    }
    let put = verdict["interventions"].as_array().unwrap();
    for round in 1..=4 {
        assert!(put.iter().filter(|done| done["round"] == round).count() <= 3);
    }
    let again: Vec<&str> = put
        .iter()
        .filter(|done| done["kind"] == "evasion")
        .filter_map(|done| done["about"].as_str())
        .collect();
    assert_eq!(again.iter().collect::<BTreeSet<_>>().len(), again.len(), "each is put again once at most");
    let rounds = verdict["rounds"].as_array().unwrap().len();
    for steps in verdict["position_evolution"].as_object().unwrap().values() {
        assert_eq!(steps.as_array().unwrap().len(), rounds + 1);
    }
    assert_eq!(view(debate).checks.len(), 14);
    assert!(session(debate).contains("## Verdict"));
}

#[test]
fn the_records_add_up_whatever_is_said_and_whoever_is_absent() {
    let (mut evaded, mut re_asked) = (0, 0);
    for seed in 0..8 {
        for set in
            [&[("rounds", "3")][..], &[("economy", "true")], &[("councillors", "3"), ("exchanges", "5")]]
        {
            for absent in [0, 3, 8] {
                let debate = made_up(set, seed, absent);
                balanced(&debate);
                let verdict = &debate.outcome.as_ref().unwrap().verdict;
                evaded += verdict["violations"].as_array().unwrap().len();
                re_asked += verdict["interventions"].as_array().unwrap().len();
            }
        }
    }
    assert!(
        evaded > 20 && re_asked > 20,
        "{evaded} violations, {re_asked} interventions: too little happened"
    );
}

#[test]
fn malformed_fields_that_were_not_asked_for_are_ignored() {
    for messages in [json!([{"to": "critic", "text": "no topic"}]), Value::Null, json!("words")] {
        let debate = run(&[("economy", "true")], &|ask, phase, round| {
            with(ask, phase, round, &|said| {
                if phase == "challenge" {
                    said["messages"] = messages.clone();
                    if due(ask).is_empty() {
                        said["responses"] = json!([{"challenge_id": "C1"}]);
                    }
                }
                if phase == "opening" && ask.seat == "visionary" {
                    said["questions"][0]["to"] = json!("pragmatist");
                }
            })
        });
        let outcome = debate.outcome.unwrap();
        assert_eq!((outcome.status, &outcome.verdict["exchanges"]), (Status::Complete, &json!([])));
    }
}

/// "Extra fields are ignored": responses where nothing was to be answered, and messages in economy mode.
#[test]
fn fields_that_were_not_asked_for_are_ignored() {
    let debate = run(&[("economy", "true")], &|ask, phase, round| {
        assert!(!ask.prompt.user().contains("Nobody asked me this"), "{phase} {round}");
        with(ask, phase, round, &|said| {
            if phase == "challenge" && due(ask).is_empty() {
                said["responses"] =
                    json!([{"challenge_id": "C99", "stance": "agree", "response": "Nobody asked me this."}]);
            }
            if phase == "challenge" {
                said["messages"] = json!([{"to": "nobody", "topic": "x", "text": "Nobody asked me this."}]);
            }
            if phase == "opening" && ask.seat == "visionary" {
                said["questions"][0]["to"] = json!("pragmatist");
            }
        })
    });
    let outcome = debate.outcome.as_ref().unwrap();
    assert_eq!(outcome.verdict["exchanges"], json!([]));
    assert_eq!(outcome.status, Status::Complete);
    assert!(!session(&debate).contains("Nobody asked me this"));
}
