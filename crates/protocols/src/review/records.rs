//! The files of a review: the report, and one file for each judge and round.

use agon_core::timestamps::day;
use agon_core::{RecordBody, SavedRecord};
use serde_json::Value;

use super::log::{ReviewJudge, ReviewLog};
use super::packet;
use super::replies::{JudgeConfidence, JudgeFinding, SecondVerdict};
use crate::named_lists::name_key;

/// `YYYY-MM-DD-<target>-<vendor>-<perspective>.md`, the same with `-r2.md` for round 2, and the report.
pub(super) fn records(log: &ReviewLog<'_>) -> Vec<SavedRecord> {
    let brief = log.brief();
    let stem = format!("{}-{}", day(&brief.created_at), packet::slug(brief));
    let mut files = vec![record(format!("{stem}-report"), ".md", RecordBody::Report)];
    for judge in &log.judges {
        let perspective = judge.perspective.as_ref().map_or(&judge.seat.id, |perspective| &perspective.name);
        let mut own = format!("{stem}-{}-{perspective}", name_key(&judge.vendor));
        // Two judges have the same name where the model of one was replaced by a model of the other's vendor.
        while files.iter().any(|file| is_named(file, &own)) {
            own.push_str("-2");
        }
        if let Some(answer) = judge.answer {
            files.push(record(own.clone(), ".md", RecordBody::Text(first_round(judge, answer))));
        }
        if let Some((second, value)) = &judge.second {
            files.push(record(own, "-r2.md", RecordBody::Text(second_round(judge, second, value))));
        }
    }
    files
}

fn record(stem: String, ending: &'static str, body: RecordBody) -> SavedRecord {
    SavedRecord { stem, ending, body, grows: false }
}

/// Whether a file has one of the names that the files of a judge would have.
fn is_named(file: &SavedRecord, stem: &str) -> bool {
    let name = format!("{}{}", file.stem, file.ending);
    name.strip_prefix(stem).is_some_and(|ending| matches!(ending, ".md" | "-r2.md"))
}

fn header(judge: &ReviewJudge<'_>, round: u32, verdict: Option<&str>) -> String {
    let verdict = verdict.map_or(String::new(), |verdict| format!(": {verdict}"));
    let perspective = judge.perspective.as_ref();
    let perspective =
        perspective.map_or(String::new(), |own| format!("\nPerspective: {}. {}\n", own.name, own.about));
    format!("# {}, round {round}{verdict}\n\nModel: {}\n{perspective}", judge.seat.id, judge.seat.model)
}

fn first_round(judge: &ReviewJudge<'_>, answer: &Value) -> String {
    let Some(first) = &judge.first else {
        return header(judge, 1, None) + &json_block(answer);
    };
    [
        header(judge, 1, Some(first.verdict.as_str())),
        insight(first.confidence, &first.key_insight),
        findings(&first.findings),
        words("Recommendation", &first.recommendation),
        json_block(answer),
    ]
    .concat()
}

fn second_round(judge: &ReviewJudge<'_>, second: &SecondVerdict, value: &Value) -> String {
    let reason = second.changed_because.as_ref().map_or("", |reason| &reason.citation);
    let challenges = second.challenges.iter();
    let challenges = challenges.map(|said| {
        format!("{}: {} {}", one_line(&said.judge), one_line(&said.claim), one_line(&said.response))
    });
    let accepted = second.acknowledgments.iter();
    let accepted = accepted.map(|said| format!("{}: {}", one_line(&said.judge), one_line(&said.point)));
    [
        header(judge, 2, Some(second.verdict.as_str())),
        words("Restatement of round 1", &second.restatement),
        insight(second.confidence, &second.key_insight),
        words("Changed because", reason),
        findings(&second.findings),
        words("Steel man", &second.steel_man),
        list("Challenges", challenges.collect()),
        list("Acknowledgments", accepted.collect()),
        words("Recommendation", &second.recommendation),
        json_block(value),
    ]
    .concat()
}

fn insight(confidence: JudgeConfidence, key_insight: &str) -> String {
    format!("\nConfidence: {}\n\n{}", confidence.as_str(), quoted(key_insight))
}

/// A judge's own words under a heading.
fn words(title: &str, text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!("\n## {title}\n\n{}", quoted(text)),
    }
}

fn list(title: &str, lines: Vec<String>) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("- {line}\n")).collect();
    format!("\n## {title}\n\n{lines}")
}

fn findings(found: &[JudgeFinding]) -> String {
    let line = |finding: &JudgeFinding| {
        let place =
            finding.location.as_ref().map_or(String::new(), |place| format!(" ({})", one_line(place)));
        let advice = finding.recommendation.as_ref();
        let advice = advice.map_or(String::new(), |advice| format!("\n  {}", one_line(advice)));
        format!("{}: {}{place}{advice}", finding.severity.as_str(), one_line(&finding.description))
    };
    list("Findings", found.iter().map(line).collect())
}

/// The text as a Markdown quotation, so that headings, fences and lists in it stay inside.
fn quoted(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control() || *c == '\n').collect();
    text.trim().lines().map(|line| format!("> {}\n", escaped(line))).collect()
}

fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    escaped(&words.collect::<Vec<_>>().join(" "))
}

/// Escapes the characters that would open code, a link, a picture or a tag.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '<' | '`' | '[' | '!') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// The answer as it was given, in a fence with more ticks than any run of them inside.
fn json_block(value: &Value) -> String {
    let text = format!("{value:#}");
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or_default();
    let ticks = "`".repeat(longest.max(2) + 1);
    format!("\n{ticks}json\n{text}\n{ticks}\n")
}
