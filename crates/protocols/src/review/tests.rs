//! Seed 004 and its part of PROTOCOLS.md, sentence by sentence: who sits, what each seat reads, what becomes of its verdict.

use std::cell::RefCell;

use agon_core::{
    AbsenceReason, CallUsage, DebateLimits, Fate, Fidelity, Outcome, Reply, SeatThread, Status, Termination,
};
use serde_json::json;

use super::*;
use crate::testing::{self, Answer};
use crate::tools::WithTools;

mod anchoring;
mod consolidation;
mod declarations;
mod failures;
mod findings;
mod modes;
mod packet;
mod positions;
mod prompts;
mod real;
mod records;
mod report;
mod rounds;
mod seats;

/// The file that is judged by default: 50 lines.
fn target() -> String {
    (1..=50).map(|n| format!("statement_{n}()\n")).collect()
}

const DEBATE: (&str, &str) = ("debate", "true");
const STRICT: (&str, &str) = ("strict_anchoring", "true");

fn request(models: &[&str], set: &[(&str, &str)]) -> Result<Request, Invalid> {
    testing::request(&Review, "", &[("src/auth.py", &target())], models, set)
}

/// The seats of a request, or why there are none.
fn seated(models: &[&str], set: &[(&str, &str)]) -> Result<Vec<Seat>, String> {
    request(models, set).and_then(|request| Review.seats(&request)).map_err(|why| why.0)
}

fn brief(models: &[&str], set: &[(&str, &str)]) -> Brief {
    testing::brief(&Review, request(models, set).unwrap()).unwrap()
}

/// Plays a debate as the engine does: what does not verify is accepted in the end.
fn play(brief: Brief, answer: Answer<'_>) -> Debate {
    play_replies(brief, |debate, ask| {
        let phase = debate.last_phase().unwrap();
        let Some(value) = answer(ask, &phase.name, phase.round) else {
            return Reply::Absent { why: AbsenceReason::TimedOut, detail: "test".into() };
        };
        jsonschema::validate(&ask.schema.as_ref().unwrap().json, &value).unwrap();
        if let Err(ReplyFault::Invalid(why)) = Review.check(debate, ask, &value) {
            panic!("{}: {why}", ask.seat);
        }
        spoken(&ask.model, value)
    })
}

/// A debate with replies that are made by hand.
fn play_replies(brief: Brief, mut reply: impl FnMut(&Debate, &Ask) -> Reply) -> Debate {
    let opened = vec![Debate::open(brief).unwrap().1];
    let records = agon_core::play::play(&WithTools(Review), opened, &mut reply, &mut |_| {}).unwrap();
    Debate::from_records(&records).unwrap()
}

/// The reply of a model.
fn spoken(model: &str, value: Value) -> Reply {
    Reply::Said {
        text: value.to_string(),
        value: Some(value),
        model: model.to_owned(),
        usage: CallUsage { usd: Some(0.01), ..CallUsage::default() },
        cut_off: false,
        shortened: None,
    }
}

fn view(debate: &Debate) -> DebateView {
    Review.view(debate).unwrap()
}

/// Every ask of a run, with its phase.
fn asks(brief: Brief, answer: Answer<'_>) -> Vec<(String, Ask)> {
    let seen = RefCell::new(Vec::new());
    play(brief, &|ask, phase, round| {
        seen.borrow_mut().push((phase.to_owned(), ask.clone()));
        answer(ask, phase, round)
    });
    seen.into_inner()
}

fn finding(severity: &str, description: &str, location: &str) -> Value {
    json!({"severity": severity, "description": description, "location": location})
}

/// A first verdict. One that is not PASS has a finding.
fn first(verdict: &str) -> Value {
    let findings = match verdict {
        "PASS" => vec![],
        _ => vec![finding("significant", &format!("It is a {verdict} here."), "src/auth.py:7")],
    };
    json!({"verdict": verdict, "confidence": "HIGH", "key_insight": format!("It is a {verdict}."), "findings": findings,
           "recommendation": "Fix it."})
}

/// The ids that a judge may use in a field of its second verdict.
fn ids(ask: &Ask, field: &str, key: &str) -> Vec<String> {
    let json = &ask.schema.as_ref().unwrap().json;
    let ids = json.pointer(&format!("/properties/{field}/items/properties/{key}/enum"));
    ids.and_then(Value::as_array).into_iter().flatten().map(|id| id.as_str().unwrap().to_owned()).collect()
}

/// A second verdict with evidence that verifies. The judge keeps its own findings and accepts all others, unless it passes.
fn second(ask: &Ask, verdict: &str) -> Value {
    let own: Vec<Value> =
        ids(ask, "own", "id").iter().map(|id| json!({"id": id, "status": "keep"})).collect();
    let others = ids(ask, "others", "id");
    let others: Vec<Value> = others.iter().map(|id| json!({"id": id, "status": "accept"})).collect();
    let is_bare = verdict != "PASS" && own.is_empty() && others.is_empty();
    let new: Vec<Value> =
        is_bare.then(|| finding("minor", "It is new.", "src/auth.py:9")).into_iter().collect();
    json!({"restatement": "I looked at the error paths. They are unchecked.", "verdict": verdict, "confidence": "MEDIUM",
           "key_insight": format!("It is a {verdict} now."), "own": own, "others": if verdict == "PASS" { vec![] } else { others },
           "findings": new, "recommendation": "Fix it now.", "steel_man": "It may be checked elsewhere.",
           "challenges": [], "acknowledgments": [], "changed_because": evidence()})
}

/// Evidence that verifies: a line of the default file.
fn evidence() -> Value {
    json!({"kind": "code_location", "citation": "src/auth.py:45", "quote": "statement_45()"})
}

/// The same as reports show it.
const EVIDENCE: &str = "src/auth.py:45 \u{201c}statement_45()\u{201d}";

/// Evidence that does not verify.
fn no_evidence() -> Value {
    json!({"kind": "missed_detail", "citation": "Judge 2 made a good point", "quote": ""})
}

/// Seat, verdict of round 1, verdict of round 2. An empty verdict is an absence.
type VerdictLines<'a> = &'a [(&'a str, &'a str, &'a str)];

fn said(ask: &Ask, phase: &str, lines: VerdictLines<'_>) -> Option<Value> {
    let (_, r1, r2) = lines.iter().find(|(seat, ..)| *seat == ask.seat)?;
    match phase {
        "r1" => (!r1.is_empty()).then(|| first(r1)),
        "restate" => Some(json!({"restatement": "I looked at the error paths."})),
        _ => (!r2.is_empty()).then(|| second(ask, r2)),
    }
}

/// A debate in which every judge rules as its line says.
fn ruled(models: &[&str], set: &[(&str, &str)], lines: VerdictLines<'_>) -> Debate {
    play(brief(models, set), &|ask, phase, _| said(ask, phase, lines))
}

fn outcome(models: &[&str], set: &[(&str, &str)], lines: VerdictLines<'_>) -> Outcome {
    ruled(models, set, lines).outcome.unwrap()
}

/// The names of the phases that were asked.
fn phases(debate: &Debate) -> Vec<&str> {
    debate.turns.iter().map(|turn| turn.phase.name.as_str()).collect()
}

/// Who was asked in a phase.
fn asked_in<'a>(debate: &'a Debate, phase: &'a str) -> Vec<&'a str> {
    debate.turns_of(phase).flat_map(|turn| turn.asks.iter().map(|ask| ask.seat.as_str())).collect()
}

fn warns(outcome: &Outcome, words: &str) -> bool {
    outcome.warnings.iter().any(|warning| warning.contains(words))
}

/// A judge of the verdict document.
fn judge<'a>(outcome: &'a Outcome, seat: &str) -> &'a Value {
    outcome.verdict["judges"].as_array().unwrap().iter().find(|judge| judge["judge"] == seat).unwrap()
}
