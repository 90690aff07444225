//! How `ask` ends: the outcome, with what each step cost and why it was taken.

use std::collections::BTreeMap;

use agon_core::{Debate, Fate, Fidelity, Outcome, Position, Status, Step, Termination};
use serde_json::{Value, json};

use super::asks::labelled;
use super::climb::{Climb, Rung};
use super::decision::{By, Decision, decide};
use super::divided;
use super::firsts::{Agreement, First};
use super::part::in_whole_limits;
use super::risk::risk;
use crate::calls::calls;
use crate::heard;

/// Closes the debate.
pub(super) fn close(climb: &Climb<'_>) -> Step {
    let decision = decide(climb);
    let (status, termination) = ending(climb, &decision);
    let labels = labels(climb);
    let positions = positions(climb, &decision, &labels);
    let warnings = warnings(climb, &decision);
    let whole = climb.debate.absences().next().is_none()
        && heard::cut_off(climb.debate).is_empty()
        && climb.stopped.is_none()
        && parts(climb).all(|(_, outcome)| outcome.fidelity == Fidelity::Full)
        && status == Status::Complete;
    Step::Close(Box::new(Outcome {
        status,
        termination,
        rounds_completed: parts(climb).map(|(_, outcome)| outcome.rounds_completed).sum(),
        verdict: verdict(climb, &decision, &labels),
        dissent: dissent(&positions),
        fidelity: if whole { Fidelity::Full } else { Fidelity::Degraded },
        warnings,
        labels,
        positions,
        passed: None,
        lesson: None,
    }))
}

/// The debate and the panel, as far as they were held.
fn parts<'c>(climb: &'c Climb<'_>) -> impl Iterator<Item = &'c (Debate, Outcome)> {
    climb.deep.iter().chain(&climb.panel)
}

/// How far it got and why it ended: by the last step that came to something.
fn ending(climb: &Climb<'_>, decision: &Decision) -> (Status, Termination) {
    let ruled = climb.panel.as_ref().filter(|(_, panel)| panel.status == Status::Complete);
    match (&climb.deep, ruled) {
        _ if decision.by == Some(By::Agreement) => (Status::Complete, Termination::Consensus),
        (_, Some((_, panel))) => (Status::Complete, panel.termination),
        (Some((_, deep)), None) => (deep.status, deep.termination),
        (None, None) => (Status::Incomplete, Termination::Budget),
    }
}

/// Anonymous labels and the seats behind them.
fn labels(climb: &Climb<'_>) -> BTreeMap<String, String> {
    match climb.deep_outcome() {
        Some(deep) => deep.labels.clone(),
        None => {
            let pair = labelled(climb.debate, &climb.firsts);
            pair.into_iter().map(|(label, first)| (label.to_owned(), first.seat.to_owned())).collect()
        }
    }
}

fn label_of<'l>(labels: &'l BTreeMap<String, String>, seat: &str) -> Option<&'l String> {
    labels.iter().find(|(_, behind)| *behind == seat).map(|(label, _)| label)
}

fn verdict(climb: &Climb<'_>, decision: &Decision, labels: &BTreeMap<String, String>) -> Value {
    let answers: Vec<Value> = climb.firsts.all.iter().map(|first| answer(first, labels)).collect();
    let agreed = decision.by == Some(By::Agreement);
    json!({
        "answer": decision.answer,
        "why": decision.why,
        "decided_by": decision.by.map(By::as_str),
        "position": decision.position,
        "steps": steps(climb, decision),
        "answers": answers,
        "contested": contested(climb),
        "risk": if agreed { risk(climb.debate) } else { Value::Null },
        "never_worse": decision.never_worse.as_ref().map(|weighed| weighed.record()),
    })
}

fn answer(first: &First<'_>, labels: &BTreeMap<String, String>) -> Value {
    let given = &first.given;
    json!({"label": label_of(labels, first.seat), "seat": first.seat, "answer": given.answer.trim(),
        "why": given.why.trim(), "confidence": given.confidence, "position": first.position})
}

/// What is still in dispute: between the debaters, or between the two where there was no debate.
fn contested(climb: &Climb<'_>) -> Vec<String> {
    match (climb.deep_outcome(), &climb.firsts.agreement) {
        (Some(deep), _) => divided::contested(deep),
        (None, Agreement::Divided(reasons)) => reasons.clone(),
        (None, _) => Vec::new(),
    }
}

/// Each step that was taken: why, what it cost, what it came to.
fn steps(climb: &Climb<'_>, decision: &Decision) -> Vec<Value> {
    let mut steps = vec![step(climb.debate, Rung::Pair, why_pair(climb), Value::Null, pair_verdict(climb))];
    if let Some((_, deep)) = &climb.deep {
        let reason = why_deep(&climb.firsts.agreement);
        steps.push(step(climb.debate, Rung::Deep, reason, json!(deep.termination), deep.verdict.clone()));
    }
    if let Some((_, panel)) = &climb.panel {
        let reason = climb.why_panel().unwrap_or_default();
        let mut record =
            step(climb.debate, Rung::Panel, reason, json!(panel.termination), panel.verdict.clone());
        let ruling = decision.ruling.as_ref();
        let ruling = ruling.map(|ruling| json!({"stands": ruling.stands, "why": ruling.why}));
        record.as_object_mut().map(|record| record.insert("ruling".into(), json!(ruling)));
        steps.push(record);
    }
    steps
}

fn step(debate: &Debate, rung: Rung, reason: String, termination: Value, verdict: Value) -> Value {
    let of = |turn: &agon_core::Turn| Rung::of(&turn.phase.name) == rung;
    // Of a branch, too, all that the answer rests on.
    let spent = debate.spent_where(of);
    json!({
        "step": rung.as_str(),
        "reason": reason,
        "calls": calls(debate.turns.iter().filter(|turn| of(turn))),
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "usd": spent.usd_known.then_some(spent.usd),
        "termination": termination,
        "verdict": verdict,
    })
}

fn why_pair(climb: &Climb<'_>) -> String {
    match one_model(climb.debate) {
        Some(model) => {
            format!("two answers are the least that can differ; only {model} is named, so that it gives both")
        }
        None => "two different models are the least that can disagree".to_owned(),
    }
}

fn why_deep(agreement: &Agreement) -> String {
    match agreement {
        Agreement::Missing(absent) => {
            format!("there was nothing to compare: no answer came from {}", absent.join(" and "))
        }
        Agreement::Divided(reasons) => format!("the two answers differ: {}", reasons.join("; ")),
        Agreement::Same | Agreement::Open | Agreement::Declared => "the two answers differ".to_owned(),
    }
}

/// Whether the two agree, and by what that is known.
fn pair_verdict(climb: &Climb<'_>) -> Value {
    let compared = climb.debate.turn(super::firsts::COMPARE, 0).is_some();
    let (agreed, by, differences) = match &climb.firsts.agreement {
        Agreement::Same => (Some(true), Some("arithmetic"), &[][..]),
        Agreement::Declared => (Some(true), Some("both_say_so"), &[][..]),
        Agreement::Divided(reasons) if compared => (Some(false), Some("comparison"), &reasons[..]),
        Agreement::Divided(reasons) => (Some(false), Some("arithmetic"), &reasons[..]),
        Agreement::Missing(_) | Agreement::Open => (None, None, &[][..]),
    };
    json!({"agreed": agreed, "by": by, "differences": differences})
}

/// The model of both of the first step, where it is one.
fn one_model(debate: &Debate) -> Option<&str> {
    let mut sit = debate.brief.seats_of("debater").map(|seat| seat.model.as_str());
    let (one, other) = (sit.next()?, sit.next()?);
    (one == other).then_some(one)
}

/// What became of every first answer. The debate says who gave his up; what the ladder decided says the rest.
fn positions(climb: &Climb<'_>, decision: &Decision, labels: &BTreeMap<String, String>) -> Vec<Position> {
    let fates = climb.firsts.all.iter().map(|first| {
        let debated =
            climb.deep_outcome().and_then(|deep| deep.positions.iter().find(|p| p.seat == first.seat));
        let (fate, reason) = fate(climb, decision, first, debated);
        Position {
            seat: first.seat.to_owned(),
            label: label_of(labels, first.seat).cloned(),
            position: first.given.shown(),
            fate,
            reason,
        }
    });
    fates.collect()
}

fn fate(
    climb: &Climb<'_>,
    decision: &Decision,
    first: &First<'_>,
    debated: Option<&Position>,
) -> (Fate, String) {
    let is_it = decision.position.as_deref() == Some(first.position.as_str());
    match (decision.by, debated) {
        (None, _) => (Fate::Minority, "there is no verdict that could adopt it".to_owned()),
        (Some(By::Agreement), _) if climb.firsts.agreement == Agreement::Same => {
            (Fate::Adopted, "both gave the same answer".to_owned())
        }
        (Some(By::Agreement), _) => (Fate::Adopted, "both say that their answers are the same".to_owned()),
        (Some(By::Vote), _) if is_it => (Fate::Adopted, "it won the vote on the first answers".to_owned()),
        (_, Some(debated)) if debated.fate == Fate::Refuted => (Fate::Refuted, debated.reason.clone()),
        (Some(By::Vote), _) => (Fate::Minority, "the vote on the first answers went against it".to_owned()),
        (_, _) if is_it => (Fate::Adopted, "it is the answer, in substance".to_owned()),
        (_, Some(debated)) if debated.fate == Fate::Minority && decision.position.is_some() => {
            (Fate::Minority, "held to the end; the answer is another one".to_owned())
        }
        (_, Some(debated)) => (debated.fate, debated.reason.clone()),
        (_, None) => (Fate::Minority, "the debate did not take it up".to_owned()),
    }
}

fn dissent(positions: &[Position]) -> Vec<Value> {
    let minority = positions.iter().filter(|position| position.fate == Fate::Minority);
    let entry = |p: &Position| json!({"debater": p.label, "seat": p.seat, "position": p.position, "reason": p.reason});
    minority.map(entry).collect()
}

/// What a reader should know, the ladder's own first, then that of its parts.
fn warnings(climb: &Climb<'_>, decision: &Decision) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(model) = one_model(climb.debate) {
        warnings
            .push(format!("both first answers are from {model}: that it agrees with itself shows little"));
    }
    if let Some(limit) = &climb.stopped {
        let step = match climb.deep {
            Some(_) => "what still divides was put before no panel",
            None => "the two answers were not debated",
        };
        warnings.push(format!("{step}, because a limit was reached: {limit}"));
    }
    warnings.extend(decision.notes.iter().cloned());
    let own = first_step(climb);
    warnings.extend(heard::cut_off(&own).into_iter().chain(heard::shortened(&own)));
    for (part, outcome) in parts(climb) {
        let of_panel = part.brief.protocol == "panel";
        let told = outcome.warnings.iter().map(|warning| {
            let warning = in_whole_limits(warning, &part.brief.limits, &climb.debate.brief.limits);
            if of_panel { format!("panel: {warning}") } else { warning }
        });
        warnings.extend(told);
    }
    warnings
}

/// The phases of the first step that no part of the log has as well.
fn first_step(climb: &Climb<'_>) -> Debate {
    let mut own = climb.debate.clone();
    let debated = climb.deep.is_some();
    own.turns.retain(|turn| {
        let name = turn.phase.name.as_str();
        name == super::firsts::COMPARE || (name == super::firsts::ANSWER && !debated)
    });
    own
}
