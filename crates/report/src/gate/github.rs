//! Annotations for a GitHub workflow.
//!
//! The runner reads a step's output line by line. A line that begins with `::` is a command, and `##[` anywhere in a line begins a
//! command of the old form. So every annotation is one line with its text escaped, and every other line begins with fixed words
//! and contains no `##[`.

use agon_core::{GateFinding, GateJudge, GateRuling, GateSeverity};
use agon_host::clean_line;

use super::{PipelineReport, finding_text};

/// Commands for the findings, the worst first, and for the verdict; then a summary for the log.
pub(super) fn annotations(review: &PipelineReport) -> String {
    let ruled = verdict_level(review);
    let mut shown = [0_usize; AnnotationLevel::ALL.len()];
    let mut out = String::new();
    let mut left = Vec::new();
    for finding in &review.gate.findings {
        let level = level(finding);
        let room = SHOWN_MAX - usize::from(level == ruled);
        match shown.get_mut(level as usize) {
            Some(count) if *count < room => {
                *count += 1;
                out.push_str(&command(level, &properties(finding), &finding_text(finding)));
            }
            _ => left.push(finding),
        }
    }
    let title = format!("{} {}: {}", review.command, review.gate.target, review.verdict);
    out.push_str(&command(ruled, &[("title", title)], &verdict_message(review)));
    out.push_str(&summary(review, &left));
    out
}

/// GitHub shows this many annotations of each level for a step. One place is kept for the verdict. Findings that do not fit are in
/// the summary.
const SHOWN_MAX: usize = 10;

#[derive(Clone, Copy, PartialEq, Eq)]
enum AnnotationLevel {
    Error,
    Warning,
    Notice,
}

impl AnnotationLevel {
    const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Notice];

    fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
        }
    }
}

fn level(finding: &GateFinding) -> AnnotationLevel {
    match finding.severity {
        _ if finding.dropped => AnnotationLevel::Notice,
        GateSeverity::Critical => AnnotationLevel::Error,
        GateSeverity::Significant => AnnotationLevel::Warning,
        GateSeverity::Minor => AnnotationLevel::Notice,
    }
}

fn verdict_level(review: &PipelineReport) -> AnnotationLevel {
    match review.gate.ruling {
        GateRuling::Blocked | GateRuling::Missing => AnnotationLevel::Error,
        GateRuling::Warned => AnnotationLevel::Warning,
        GateRuling::Passed if review.is_degraded => AnnotationLevel::Warning,
        GateRuling::Passed => AnnotationLevel::Notice,
    }
}

fn properties(finding: &GateFinding) -> Vec<(&'static str, String)> {
    let mut properties = Vec::new();
    if let Some(file) = &finding.file {
        properties.push(("file", file.trim_start_matches("./").to_owned()));
        properties.extend(finding.line.map(|line| ("line", line.to_string())));
        properties.extend(finding.end_line.map(|line| ("endLine", line.to_string())));
    }
    properties.push(("title", title(finding)));
    properties
}

fn title(finding: &GateFinding) -> String {
    let category = finding.category.as_ref().map_or(String::new(), |category| format!(", {category}"));
    let unverified = if finding.unverified { ", unverified location" } else { "" };
    let dropped = if finding.dropped { ", dropped in round 2" } else { "" };
    format!("agon: {}{category}{unverified}{dropped}", finding.severity.as_str())
}

fn verdict_message(review: &PipelineReport) -> String {
    let mut message = vec![review.meaning.clone()];
    let degraded = "Degraded: some steps of the protocol failed or were skipped.";
    message.extend(review.is_degraded.then(|| degraded.to_owned()));
    message.extend(review.absences.iter().chain(&review.warnings).cloned());
    message.extend(review.gate.footer.clone());
    message.join("\n")
}

fn command(level: AnnotationLevel, properties: &[(&str, String)], message: &str) -> String {
    let properties: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", escape_property(value))).collect();
    format!("::{} {}::{}\n", level.name(), properties.join(","), escape(message))
}

fn escape(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape(text).replace(':', "%3A").replace(',', "%2C")
}

fn summary(review: &PipelineReport, left: &[&GateFinding]) -> String {
    let mut lines = vec![format!("{} {}: {}", review.command, review.gate.target, review.meaning)];
    lines.extend(review.judges().map(|(model, judge)| judge_line(&model, judge)));
    if !left.is_empty() {
        lines.push(format!("Also found; GitHub shows only {SHOWN_MAX} annotations of a level:"));
    }
    for finding in left {
        let place = finding.place().map_or(String::new(), |place| format!(" ({place})"));
        lines.push(format!("- {}{place}: {}", title(finding), finding_text(finding)));
    }
    lines.extend(review.gate.footer.as_ref().map(|footer| format!("Replies: {footer}")));
    lines.iter().map(|line| format!("{}\n", inert(line))).collect()
}

fn judge_line(model: &str, judge: &GateJudge) -> String {
    let said = match (&judge.verdict, &judge.absence) {
        (Some(verdict), _) => verdict.as_str(),
        (None, Some(absence)) => absence.as_str(),
        (None, None) => "absent",
    };
    let insight = judge.key_insight.as_ref().map_or(String::new(), |insight| format!(": {insight}"));
    format!("- {}{model}: {said}{insight}", judge.name)
}

/// Removes commands of the old form, `##[`. The runner may ignore invisible characters inside it, so the brackets are replaced.
fn inert(text: &str) -> String {
    let line = clean_line(text);
    if line.contains('#') { line.replace('[', "(").replace(']', ")") } else { line }
}
