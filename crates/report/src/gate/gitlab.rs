//! A code quality report for GitLab: a list of findings, which a merge request shows beside its lines.

use std::collections::BTreeMap;

use agon_core::{GateFinding, GateSeverity};
use serde_json::{Value, json};

use super::sarif::{fingerprint, rule_of};
use super::{PipelineReport, placed_text, shown_place};

/// The findings as a JSON list.
pub(super) fn report(review: &PipelineReport) -> String {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let findings = review.gate.findings.iter();
    let entries: Vec<Value> = findings.filter_map(|finding| entry(review, finding, &mut seen)).collect();
    format!("{:#}\n", Value::from(entries))
}

/// Without any file GitLab cannot show a finding.
fn entry(
    review: &PipelineReport,
    finding: &GateFinding,
    seen: &mut BTreeMap<String, usize>,
) -> Option<Value> {
    let place = shown_place(review, finding)?;
    // GitLab shows only the first of two with the same fingerprint.
    let print = fingerprint(finding);
    let count = seen.entry(print.clone()).or_default();
    *count += 1;
    let print = if *count == 1 { print } else { format!("{print}-{count}") };
    Some(json!({
        "description": placed_text(finding, Some(&place)),
        "check_name": format!("agon/{}", rule_of(finding).0),
        "fingerprint": print,
        "severity": severity(finding),
        "location": {"path": place.path.trim_start_matches("./"), "lines": {"begin": place.begin, "end": place.end}},
    }))
}

fn severity(finding: &GateFinding) -> &'static str {
    match finding.severity {
        _ if finding.dropped => "info",
        GateSeverity::Critical => "critical",
        GateSeverity::Significant => "major",
        GateSeverity::Minor => "minor",
    }
}
