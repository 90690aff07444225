//! A SARIF 2.1.0 file.
//!
//! Code scanning on GitHub needs more than the standard: every result must have a location with a line, or the whole file is
//! rejected; and suppressions are ignored there, so a dropped finding is also only a note.

use agon_core::event::sha256;
use agon_core::{GateFinding, GateRuling, GateSeverity};
use serde_json::{Value, json};

use super::{PipelineReport, ShownPlace, dropped_sentence, placed_text, shown_place};

pub(super) fn file(review: &PipelineReport) -> String {
    let mut rules: Vec<Value> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    let mut results: Vec<Value> = Vec::new();
    for finding in &review.gate.findings {
        let (id, name) = rule_of(finding);
        let place = ids.iter().position(|other| *other == id).unwrap_or_else(|| {
            rules.push(rule(&id, &name));
            ids.push(id.clone());
            rules.len() - 1
        });
        results.push(result(review, finding, &id, place));
    }
    let sarif = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "agon",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "invocations": [invocation(review)],
            "results": results,
            "properties": {
                "debate": review.id,
                "target": review.gate.target,
                "verdict": review.verdict,
                "meaning": review.meaning,
                "fidelity": if review.is_degraded { "degraded" } else { "full" },
                "footer": review.gate.footer,
            },
        }],
    });
    format!("{sarif:#}\n")
}

/// A finding's rule is its category, so that viewers can filter by it; without a category, its severity.
pub(super) fn rule_of(finding: &GateFinding) -> (String, String) {
    let severity = finding.severity.as_str();
    let category = finding.category.as_ref().map(|category| (folded(category).replace(' ', "-"), category));
    match category {
        Some((id, category)) if !id.is_empty() => (id, category.clone()),
        _ => (severity.to_owned(), severity.to_owned()),
    }
}

fn rule(id: &str, name: &str) -> Value {
    let what = format!("Findings of the judges: {name}");
    let help = "A judge found this. The report says what the other judges say about it.";
    json!({"id": id, "shortDescription": {"text": what}, "fullDescription": {"text": what}, "help": {"text": help}})
}

fn result(review: &PipelineReport, finding: &GateFinding, rule: &str, rule_index: usize) -> Value {
    // If one result has `suppressions`, all results must have it.
    let suppression = |why| json!({"kind": "external", "status": "accepted", "justification": why});
    let suppressions: Vec<Value> = dropped_sentence(finding).map(suppression).into_iter().collect();
    let place = shown_place(review, finding);
    json!({
        "ruleId": rule,
        "ruleIndex": rule_index,
        "level": level(finding),
        "message": {"text": no_link(&placed_text(finding, place.as_ref()))},
        "locations": place.iter().map(location).collect::<Vec<_>>(),
        "partialFingerprints": {"agonFinding/v1": fingerprint(finding)},
        "properties": {
            "severity": finding.severity.as_str(),
            "category": finding.category,
            "location": finding.location,
            "unverified": finding.unverified,
            "judges": finding.judges,
            "dropped": finding.dropped,
            "droppedBy": finding.dropped_by,
        },
        "suppressions": suppressions,
    })
}

fn level(finding: &GateFinding) -> &'static str {
    match finding.severity {
        _ if finding.dropped => "note",
        GateSeverity::Critical => "error",
        GateSeverity::Significant => "warning",
        GateSeverity::Minor => "note",
    }
}

/// Where a finding is shown. The judge's own words for its place are in the result's properties.
fn location(place: &ShownPlace<'_>) -> Value {
    json!({"physicalLocation": {
        "artifactLocation": {"uri": uri(place.path)},
        "region": {"startLine": place.begin, "endLine": place.end},
    }})
}

/// A path as a URI with forward slashes, relative to the root of the checkout unless it is absolute.
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let drive = matches!(path.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic());
    let relative = path.trim_start_matches("./");
    if drive {
        format!("file:///{}", encoded(&path).replacen("%3A", ":", 1))
    } else if path.starts_with('/') {
        format!("file:///{}", encoded(path.trim_start_matches('/')))
    } else if relative.is_empty() {
        ".".into()
    } else {
        encoded(relative)
    }
}

fn encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte as char)
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The same for the same finding in the next run, even if its line or punctuation differs.
pub(super) fn fingerprint(finding: &GateFinding) -> String {
    let file = finding.file.as_ref().map_or(String::new(), |file| uri(file));
    sha256(&format!("{file}\n{}", folded(&finding.description)))
}

/// Words in lower case with single spaces, without punctuation.
fn folded(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Breaks `[text](target)`, which is a link in a SARIF message.
fn no_link(text: &str) -> String {
    text.replace("](", "] (")
}

/// A debate with a verdict was executed successfully, whatever the verdict is.
fn invocation(review: &PipelineReport) -> Value {
    let (code, what) = match review.gate.ruling {
        GateRuling::Passed | GateRuling::Warned => (0, "the gate is open"),
        GateRuling::Blocked => (1, "the gate is closed"),
        GateRuling::Missing => (3, "the debate could not be completed"),
    };
    let notification = |level: &'static str| move |text: &String| json!({"level": level, "message": {"text": no_link(text)}});
    let absences = review.absences.iter().map(notification("warning"));
    let notifications: Vec<Value> =
        absences.chain(review.warnings.iter().map(notification("note"))).collect();
    json!({
        "executionSuccessful": review.gate.ruling != GateRuling::Missing,
        "exitCode": code,
        "exitCodeDescription": format!("{}: {what}", review.verdict),
        "toolExecutionNotifications": notifications,
    })
}
