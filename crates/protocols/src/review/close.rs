//! How `review` ends: the outcome, the footer, the fate of every first verdict.

use std::collections::BTreeMap;

use agon_core::{
    Absence, Corrupt, Debate, Fate, Fidelity, Outcome, Position, Status, Step, Summary, Termination,
};
use serde_json::{Map, Value, json};

use super::log::{Judge, Log};
use super::reply::{Severity, Verdict};
use super::verdict::{self, Ruling};
use super::{debates, findings, packet};
use crate::heard;

/// Closes the debate.
pub(super) fn close(log: &Log<'_>) -> Result<Step, Corrupt> {
    let (termination, status) = ending(log);
    let ruling = verdict::ruling(log);
    let positions = fates(log, ruling);
    let whole = log.debate.absences().next().is_none()
        && heard::cut_off(log.debate).is_empty()
        && termination != Termination::Budget
        && status == Status::Complete;
    let fidelity = if whole { Fidelity::Full } else { Fidelity::Degraded };
    let dissent = dissent(log, &positions);
    let outcome = Outcome {
        status,
        termination,
        rounds_completed: rounds_completed(log),
        verdict: document(log, ruling, fidelity),
        dissent,
        fidelity,
        warnings: warnings(log, termination),
        labels: BTreeMap::new(),
        positions,
        passed: ruling.map(|ruling| ruling.passes(log.brief().text("fail_on"))),
        lesson: None,
    };
    Ok(Step::Close(Box::new(outcome)))
}

fn ending(log: &Log<'_>) -> (Termination, Status) {
    let cut = log.debate.turns.iter().any(|turn| log.limits().was_cut(turn));
    match (log.survivors().count(), cut) {
        (0, true) => (Termination::Budget, Status::Incomplete),
        (0, false) => (Termination::Failed, Status::Failed),
        (_, true) => (Termination::Budget, Status::Complete),
        // The second round was wanted and possible, and a limit left no room for it.
        _ if log.has_second_round() && log.debate.turn("r2", 2).is_none() && log.unheard_restatements() => {
            (Termination::Budget, Status::Complete)
        }
        _ => (Termination::AllRoundsComplete, Status::Complete),
    }
}

impl Log<'_> {
    /// Whether it was not for want of restatements that there is no second verdict.
    fn unheard_restatements(&self) -> bool {
        self.debate.turn("restate", 2).is_none() || self.restated().next().is_some()
    }
}

fn rounds_completed(log: &Log<'_>) -> u32 {
    match (log.survivors().count(), log.judges.iter().any(|judge| judge.second.is_some())) {
        (0, _) => 0,
        (_, false) => 1,
        (_, true) => 2,
    }
}

/// "{K}/{N} R1, {M}/{K} R2", and the fidelity.
fn footer(log: &Log<'_>, fidelity: Fidelity) -> String {
    let (n, k) = (log.judges.len(), log.survivors().count());
    let m = log.judges.iter().filter(|judge| judge.second.is_some()).count();
    let fidelity = if fidelity == Fidelity::Full { "full" } else { "degraded" };
    format!("{k}/{n} R1, {m}/{k} R2, fidelity {fidelity}")
}

fn document(log: &Log<'_>, ruling: Option<Ruling>, fidelity: Fidelity) -> Value {
    let brief = log.brief();
    let mode = brief.text("mode");
    let mut document = Map::from_iter([
        ("verdict".to_owned(), json!(ruling.map(Ruling::as_str))),
        ("mode".to_owned(), json!(mode)),
        ("target".to_owned(), json!(packet::slug(brief))),
        ("paths".to_owned(), json!(packet::Paths::of(brief).all())),
    ]);
    if mode != "validate" {
        let answers: Vec<Value> = log.survivors().map(super::asks::full_verdict).collect();
        document.extend([
            ("answers".to_owned(), json!(answers)),
            ("footer".to_owned(), json!(footer(log, fidelity))),
        ]);
        return Value::Object(document);
    }
    let found = findings::union(log);
    let found: Vec<Value> = found.iter().zip(1..).map(|(merged, number)| merged.document(number)).collect();
    let vendors = verdict::by_vendor(log).into_iter();
    let vendors: Vec<Value> =
        vendors.map(|(vendor, verdict)| json!({"vendor": vendor, "verdict": verdict})).collect();
    document.extend([
        ("fail_on".to_owned(), json!(brief.text("fail_on"))),
        ("debate".to_owned(), json!(brief.flag("debate"))),
        ("branch".to_owned(), json!(log.branch().filter(|_| log.debate.turn("r2", 2).is_some()))),
        ("judges".to_owned(), log.judges.iter().map(|judge| judge_document(log, judge)).collect()),
        ("vendors".to_owned(), json!(vendors)),
        ("findings".to_owned(), json!(found)),
        ("shifts".to_owned(), json!(verdict::shifts(log))),
        ("recommendations".to_owned(), json!(recommendations(log))),
        ("footer".to_owned(), json!(footer(log, fidelity))),
    ]);
    Value::Object(document)
}

fn judge_document(log: &Log<'_>, judge: &Judge<'_>) -> Value {
    let used = judge.used();
    json!({
        "judge": judge.seat.id,
        "seat": judge.seat.id,
        "vendor": judge.vendor,
        "perspective": judge.perspective.as_ref().map(|perspective| &perspective.name),
        "mixed": judge.mixed,
        "r1": judge.answer,
        "r2": judge.second.as_ref().map(|(_, value)| value),
        "weak_flip": judge.is_weak_flip(),
        "reverted": judge.is_reverted(),
        "used": used.map(|(round, _)| format!("r{round}")),
        "verdict": used.map(|(_, verdict)| verdict),
        "note": note(log, judge),
    })
}

/// What a reader of the table should know about a judge.
fn note(log: &Log<'_>, judge: &Judge<'_>) -> Option<String> {
    if judge.answer.is_none() {
        let why = log.absence("r1", &judge.seat.id).map_or("absent", |(why, _)| said(why));
        return Some(format!("no R1 verdict ({why}), so no R2 for it"));
    }
    if judge.is_reverted() {
        return Some("changed without specific evidence: reverted to R1".into());
    }
    if judge.is_weak_flip() {
        return Some("weak flip: changed without specific evidence".into());
    }
    let missed = log.absence("restate", &judge.seat.id).or_else(|| log.absence("r2", &judge.seat.id));
    match missed {
        Some((Absence::TimedOut, _)) => {
            Some(format!("no R2 within {} s: its R1 verdict is used", log.r2_within_ms() as f64 / 1000.0))
        }
        Some((why, _)) => Some(format!("no R2 ({}): its R1 verdict is used", said(why))),
        None if judge.mixed && debates(log.brief()) => Some("of the second vendor: round 1 only".into()),
        None => None,
    }
}

fn said(why: Absence) -> &'static str {
    match why {
        Absence::TimedOut => "timed out",
        Absence::Refused => "would not answer",
        Absence::Malformed => "no usable answer",
        Absence::Unreachable => "could not be reached",
        Absence::OverBudget => "did not fit the budget",
        Absence::Cancelled => "cancelled",
    }
}

fn recommendations(log: &Log<'_>) -> Vec<Value> {
    let of = |judge: &Judge<'_>| {
        let text = match judge.used()? {
            (2, _) => &judge.second.as_ref()?.0.recommendation,
            _ => &judge.first.as_ref()?.recommendation,
        };
        let text = text.trim();
        (!text.is_empty()).then(|| json!({"judge": judge.seat.id, "recommendation": text}))
    };
    log.judges.iter().filter_map(of).collect()
}

/// Every verdict of round 1, and what became of it.
fn fates(log: &Log<'_>, ruling: Option<Ruling>) -> Vec<Position> {
    let position = |judge: &Judge<'_>| {
        let (position, fate, reason) = match (&judge.first, judge.answer) {
            (Some(first), _) => {
                let (fate, reason) = fate(judge, ruling);
                (format!("{}: {}", first.verdict.as_str(), first.key_insight.trim()), fate, reason)
            }
            (None, Some(answer)) => {
                let insight = answer.get("key_insight").and_then(Value::as_str).unwrap_or_default();
                (insight.trim().to_owned(), Fate::Adopted, "all answers are in the result".to_owned())
            }
            (None, None) => return None,
        };
        Some(Position { seat: judge.seat.id.clone(), label: None, position, fate, reason })
    };
    log.judges.iter().filter_map(position).collect()
}

fn fate(judge: &Judge<'_>, ruling: Option<Ruling>) -> (Fate, String) {
    let first = judge.first.as_ref().map(|first| first.verdict);
    let used = judge.used().map(|(_, verdict)| verdict);
    let because = judge.second.as_ref().and_then(|(second, _)| second.changed_because.as_ref());
    let because = match because.map(|because| because.citation.trim()).filter(|_| !judge.is_weak_flip()) {
        Some(citation) => format!(": {citation}"),
        None => " without specific evidence (a weak flip)".into(),
    };
    match (ruling, used) {
        (Some(Ruling::Is(verdict)), Some(own)) if verdict == own && used == first => {
            (Fate::Adopted, "it is the verdict".into())
        }
        (Some(Ruling::Is(verdict)), Some(own)) if verdict == own => {
            (Fate::Refuted, format!("its judge gave it up in round 2{because}"))
        }
        (Some(Ruling::Is(verdict)), _) if used == first => (
            Fate::Minority,
            format!("held to the end; the gravest verdict counts, which is {}", verdict.as_str()),
        ),
        (Some(Ruling::Is(verdict)), Some(own)) => {
            let (own, verdict) = (own.as_str(), verdict.as_str());
            (Fate::Minority, format!("moved to {own} in round 2 and not to {verdict}, which counts{because}"))
        }
        _ => (Fate::Minority, "the vendors disagree, and the user decides".into()),
    }
}

/// The verdicts that are not the one that counts, as their judges hold them at the end.
fn dissent(log: &Log<'_>, positions: &[Position]) -> Vec<Value> {
    let minority = positions.iter().filter(|position| position.fate == Fate::Minority);
    let entry = |position: &Position| {
        let judge = log.judges.iter().find(|judge| judge.seat.id == position.seat);
        let last = judge.and_then(|judge| match judge.used()? {
            (2, verdict) => Some((verdict, judge.second.as_ref()?.0.key_insight.as_str())),
            (_, verdict) => Some((verdict, judge.first.as_ref()?.key_insight.as_str())),
        });
        let held = last.map(|(verdict, insight)| format!("{}: {}", verdict.as_str(), insight.trim()));
        let held = held.unwrap_or_else(|| position.position.clone());
        json!({"judge": position.seat, "seat": position.seat, "position": held, "reason": position.reason})
    };
    minority.map(entry).collect()
}

fn warnings(log: &Log<'_>, termination: Termination) -> Vec<String> {
    let mut warnings = Vec::new();
    let brief = log.brief();
    let seconds = log.judges.iter().filter(|judge| judge.second.is_some()).count();
    if termination == Termination::Budget {
        // A round that was begun needs no more calls.
        let begun = log.debate.turn("r2", 2).is_some();
        let calls = if begun { 0 } else { log.second_calls() };
        warnings.extend(log.limits().met(calls).map(|limit| format!("a limit was reached: {limit}")));
        if log.has_second_round() && seconds == 0 {
            warnings.push("there was no room for round 2: the verdicts of round 1 are used".into());
        }
    }
    if debates(brief) && log.survivors().count() == 1 {
        warnings.push("only one judge gave a verdict in round 1, so there was no round 2".into());
    } else if debates(brief) && log.survivors().count() > 1 && log.revisers().next().is_none() {
        warnings
            .push("no judge of the first vendor gave a verdict in round 1, so there was no round 2".into());
    } else if log.debate.turns.iter().any(|turn| turn.phase.round == 2) && seconds == 0 {
        warnings.push("all judges failed in round 2: the verdict rests on round 1 only".into());
    }
    for judge in log.judges.iter().filter(|judge| judge.is_weak_flip()) {
        let reverted = if judge.is_reverted() { "; its verdict of round 1 is used" } else { "" };
        warnings.push(format!(
            "weak flip: {} changed its verdict in round 2 without specific evidence{reverted}",
            judge.seat.id
        ));
    }
    let mut second_vendor = log.judges.iter().filter(|judge| judge.mixed).peekable();
    if second_vendor.peek().is_some() && second_vendor.all(|judge| judge.answer.is_none()) {
        warnings.push("no judge of the second vendor was heard: this review is not mixed".into());
    }
    for judge in &log.judges {
        let models = log.debate.spoke(&judge.seat.id);
        if let [first, .., last] = models.as_slice() {
            let id = &judge.seat.id;
            warnings.push(format!(
                "{id} was {first} in one call and {last} in another: not the same judge went on"
            ));
        }
    }
    for judge in log.judges.iter().filter(|judge| passes_something_critical(judge)) {
        warnings.push(format!("{} says PASS and reports a critical finding", judge.seat.id));
    }
    if verdict::has_converged(log) {
        let heard = log.judges.iter().filter(|judge| judge.second.is_some()).count();
        let who = if heard == log.judges.len() { "all" } else { "all who had a second round" };
        warnings.push(format!(
            "convergence: the judges differed in round 1 and {who} agree after round 2; see the shifts for what moved them"
        ));
    }
    if brief.flag("strict_anchoring") && !debates(brief) {
        warnings.push("strict_anchoring does nothing without debate: there is no round 2".into());
    }
    warnings.extend(heard::cut_off(log.debate));
    warnings.extend(heard::shortened(log.debate));
    warnings
}

/// Whether a judge's verdict and its own findings contradict each other.
fn passes_something_critical(judge: &Judge<'_>) -> bool {
    let found = match judge.used() {
        Some((2, Verdict::Pass)) => judge.second.as_ref().map(|(second, _)| &second.findings),
        Some((1, Verdict::Pass)) => judge.first.as_ref().map(|first| &first.findings),
        _ => None,
    };
    found.is_some_and(|found| found.iter().any(|finding| finding.severity == Severity::Critical))
}

/// The table after a round.
pub(super) fn round_table(debate: &Debate) -> Option<Summary> {
    let phase = debate.last_phase().filter(|phase| matches!(phase.name.as_str(), "r1" | "r2"))?;
    let log = Log::read(debate).ok().filter(|log| log.brief().text("mode") == "validate")?;
    let mut rows = vec![["Judge", "Verdict", "Confidence", "Key insight"].map(String::from).to_vec()];
    for judge in &log.judges {
        let cells = match (phase.round, &judge.first, &judge.second) {
            (1, Some(first), _) => {
                [first.verdict.as_str(), first.confidence.as_str(), first.key_insight.as_str()]
                    .map(String::from)
            }
            (2, Some(first), Some((second, _))) => {
                let shift = match first.verdict == second.verdict {
                    true => second.verdict.as_str().to_owned(),
                    false => format!("{} -> {}", first.verdict.as_str(), second.verdict.as_str()),
                };
                let weak = if judge.is_weak_flip() { "(weak flip) " } else { "" };
                [shift, second.confidence.as_str().to_owned(), format!("{weak}{}", second.key_insight)]
            }
            (2, Some(first), None) => [
                format!("{} (R1)", first.verdict.as_str()),
                "-".into(),
                note(&log, judge).unwrap_or_default(),
            ],
            _ => ["absent".into(), "-".into(), String::new()],
        };
        rows.push(std::iter::once(judge.seat.id.clone()).chain(cells).collect());
    }
    let ruling = verdict::ruling(&log).map_or("no verdict", Ruling::as_str);
    let so_far = if phase.round == 1 && log.has_second_round() { " so far" } else { "" };
    Some(Summary { title: format!("Round {}: {ruling}{so_far}", phase.round), rows, notes: Vec::new() })
}
