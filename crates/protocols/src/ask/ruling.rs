//! What the panel's verdict makes of the debate's answer.

use agon_core::{Outcome, Status};
use serde_json::Value;

/// Comparisons with thresholds allow for rounding.
const TOLERANCE: f64 = 1e-9;

/// Whether the answer stands, and why.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ruling {
    pub(super) stands: bool,
    pub(super) why: String,
}

/// The ruling of a panel that is over; `None` where it came to no verdict.
pub(super) fn ruling(panel: &Outcome, stands_from: f64) -> Option<Ruling> {
    let score = score(panel).filter(|_| panel.status == Status::Complete)?;
    let enough = score >= stands_from - TOLERANCE;
    let held = held_by_all(&panel.verdict);
    let given =
        format!("the panel gives the answer {} of 5, {} is needed", figure(score), figure(stands_from));
    let why = match held {
        Some(finding) => format!("{given}; all judges hold a critical finding: {finding}"),
        None => given,
    };
    Some(Ruling { stands: enough && held.is_none(), why })
}

/// The verdict's score. Where there is neither consensus nor majority, every judge must find it good enough: the least one.
fn score(panel: &Outcome) -> Option<f64> {
    let number = |key: &str| panel.verdict.get(key).and_then(Value::as_f64);
    let scores = panel.verdict.get("scores").and_then(Value::as_array).into_iter().flatten();
    let least = scores.filter_map(Value::as_f64).reduce(f64::min);
    number("consensus_score").or(number("majority_score")).or(least)
}

fn held_by_all(verdict: &Value) -> Option<&str> {
    let findings = verdict.get("critical_findings").and_then(Value::as_array)?;
    let held =
        findings.iter().find(|finding| finding.get("state").and_then(Value::as_str) == Some("adopted"))?;
    held.get("finding").and_then(Value::as_str)
}

fn figure(score: f64) -> String {
    ((score * 100.0).round() / 100.0).to_string()
}
