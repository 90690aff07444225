//! Annotations for a GitHub workflow.
//!
//! The runner reads a step's output line by line. A line that begins with `::` is a command, and in any other line
//! `##[` begins one of the old form, wherever it stands. So every annotation is one line with its text escaped, and
//! every other line begins with words of ours and holds no `##[`.

use super::review::{Finding, Judge, Review, Ruling, Severity};
use crate::clean::one_line;

/// Commands for the findings, the worst first, and one for the verdict; then a summary for the log.
pub(super) fn annotations(review: &Review) -> String {
    let ruled = verdict_level(review);
    let mut shown = [0_usize; Level::ALL.len()];
    let mut out = String::new();
    let mut left = Vec::new();
    for finding in &review.findings {
        let level = level(finding);
        let room = SHOWN_MAX - usize::from(level == ruled);
        match shown.get_mut(level as usize) {
            Some(count) if *count < room => {
                *count += 1;
                out.push_str(&command(level, &properties(finding), &finding.told()));
            }
            _ => left.push(finding),
        }
    }
    let title = format!("agon review {}: {}", review.target, review.verdict);
    out.push_str(&command(ruled, &[("title", title)], &verdict_message(review)));
    out.push_str(&summary(review, &left));
    out
}

/// GitHub shows this many annotations of a kind for a step and drops the others. The verdict must be among them, so
/// the findings leave it a place, and what finds none is in the summary.
const SHOWN_MAX: usize = 10;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
    Notice,
}

impl Level {
    const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Notice];

    fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
        }
    }
}

fn level(finding: &Finding) -> Level {
    match finding.severity {
        _ if finding.dropped => Level::Notice,
        Severity::Critical => Level::Error,
        Severity::Significant => Level::Warning,
        Severity::Minor => Level::Notice,
    }
}

fn verdict_level(review: &Review) -> Level {
    match review.ruling {
        Ruling::Blocked | Ruling::Missing => Level::Error,
        Ruling::Warned => Level::Warning,
        Ruling::Passed if review.degraded => Level::Warning,
        Ruling::Passed => Level::Notice,
    }
}

fn properties(finding: &Finding) -> Vec<(&'static str, String)> {
    let mut properties = Vec::new();
    if let Some(file) = &finding.file {
        properties.push(("file", file.trim_start_matches("./").to_owned()));
        properties.extend(finding.line.map(|line| ("line", line.to_string())));
        properties.extend(finding.end_line.map(|line| ("endLine", line.to_string())));
    }
    properties.push(("title", title(finding)));
    properties
}

fn title(finding: &Finding) -> String {
    let category = finding.category.as_ref().map_or(String::new(), |category| format!(", {category}"));
    let dropped = if finding.dropped { ", dropped in round 2" } else { "" };
    format!("agon: {}{category}{dropped}", finding.severity.name())
}

fn verdict_message(review: &Review) -> String {
    let mut message = vec![review.told.clone()];
    let degraded = "Degraded: not everything that the protocol wants was done.";
    message.extend(review.degraded.then(|| degraded.to_owned()));
    message.extend(review.absences.iter().chain(&review.warnings).cloned());
    message.extend(review.footer.clone());
    message.join("\n")
}

fn command(level: Level, properties: &[(&str, String)], message: &str) -> String {
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

fn summary(review: &Review, left: &[&Finding]) -> String {
    let mut lines = vec![format!("agon review {}: {}", review.target, review.told)];
    lines.extend(review.judges.iter().map(judge_line));
    if !left.is_empty() {
        lines.push(format!("Also found; GitHub shows only {SHOWN_MAX} annotations of a kind:"));
    }
    for finding in left {
        let place = finding.place().map_or(String::new(), |place| format!(" ({place})"));
        lines.push(format!("- {}{place}: {}", title(finding), finding.told()));
    }
    lines.extend(review.footer.as_ref().map(|footer| format!("Heard: {footer}")));
    lines.iter().map(|line| format!("{}\n", inert(line))).collect()
}

fn judge_line(judge: &Judge) -> String {
    let vendor = judge.vendor.as_ref().map_or(String::new(), |vendor| format!(" ({vendor})"));
    let said = match (&judge.verdict, &judge.absence) {
        (Some(verdict), _) => verdict.as_str(),
        (None, Some(absence)) => absence.as_str(),
        (None, None) => "absent",
    };
    let insight = judge.key_insight.as_ref().map_or(String::new(), |insight| format!(": {insight}"));
    format!("- {}{vendor}: {said}{insight}", judge.name)
}

/// A line in which the runner finds no command of the old form: that needs `##[`. Whether the runner overlooks
/// invisible characters in between depends on its locale, so the brackets go, not the neighbourhood.
fn inert(text: &str) -> String {
    let line = one_line(text);
    if line.contains('#') { line.replace('[', "(").replace(']', ")") } else { line }
}
