//! What a review leaves for others: the report, one file for each judge and round, and the verdict as a gate for a pipeline.

use agon_core::timestamps::day;
use agon_core::wording::{heading, spoken};
use agon_core::{
    GateFinding, GateJudge, GateReport, GateRuling, GateSeverity, RecordBody, SavedRecord, Status,
};
use serde_json::Value;

use super::findings::ReviewFinding;
use super::log::{ReviewJudge, ReviewLog};
use super::replies::{FindingSeverity, JudgeFinding, JudgeVerdict};
use super::report::{disputes, non_empty};
use super::verdict::{JudgeRecord, JudgedResult, ReviewRuling, ReviewVerdict, footer_line};
use super::{ReviewFailOn, packet};
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
            let text = answer_text(judge, 1, judge.first.as_ref().map(|first| first.verdict), answer);
            files.push(record(own.clone(), ".md", RecordBody::Text(text)));
        }
        if let Some((second, value)) = &judge.second {
            let text = answer_text(judge, 2, Some(second.now.verdict), value);
            files.push(record(own, "-r2.md", RecordBody::Text(text)));
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

/// Everything that a judge said in a round, field by field, and the answer as it was given.
fn answer_text(judge: &ReviewJudge<'_>, round: u32, verdict: Option<JudgeVerdict>, answer: &Value) -> String {
    let verdict = verdict.map_or(String::new(), |verdict| format!(": {}", verdict.as_str()));
    let perspective = judge.perspective.as_ref();
    let perspective =
        perspective.map_or(String::new(), |own| format!("\nPerspective: {}. {}\n", own.name, own.about));
    let head =
        format!("# {}, round {round}{verdict}\n\nModel: {}\n{perspective}", judge.seat.id, judge.seat.model);
    let fields = answer.as_object().into_iter().flatten();
    let sections: String = fields.map(|(field, value)| section(field, value)).collect();
    format!("{head}{sections}{}", json_block(answer))
}

/// A field under a heading, or nothing if there is nothing in it.
fn section(field: &str, value: &Value) -> String {
    let body = match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => items.iter().map(|item| format!("- {}\n", one_line(&words(item)))).collect(),
        Value::Object(_) => format!("- {}\n", one_line(&words(value))),
        _ => String::new(),
    };
    if body.is_empty() { body } else { format!("\n## {}\n\n{body}", one_line(&heading(field))) }
}

/// A value in a line: the fields of an object with their names.
pub(super) fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            fields
                .map(|(key, value)| format!("{}: {}", spoken(key), words(value)))
                .collect::<Vec<_>>()
                .join("; ")
        }
        other => other.to_string(),
    }
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

/// The verdict for a pipeline.
pub(super) fn gate_report(log: &ReviewLog<'_>, verdict: &ReviewVerdict, judged: &JudgedResult) -> GateReport {
    let ruling = gate_ruling(log, verdict.verdict);
    let mut findings: Vec<GateFinding> = judged.findings.iter().map(gate_finding).collect();
    findings.sort_by_key(|finding| (finding.dropped, finding.severity));
    let word = verdict.verdict.filter(|_| ruling != GateRuling::Missing);
    let judges = log.judges.iter().zip(&judged.judges);
    GateReport {
        ruling,
        verdict: word.map(|ruling| ruling.as_str().to_owned()),
        meaning: format!("{}{}", meaning(log, judged, ruling, word), remarks(log, judged, word)),
        target: verdict.target.clone(),
        path: verdict.paths.first().cloned(),
        fails_on_warn: log.options.fail_on == ReviewFailOn::Warn,
        footer: log.debate.outcome.as_ref().map(|_| footer_line(log, verdict)),
        judges: judges.map(|(judge, record)| gate_judge(log, judge, record)).collect(),
        findings,
    }
}

fn gate_ruling(log: &ReviewLog<'_>, ruling: Option<ReviewRuling>) -> GateRuling {
    let is_complete = log.debate.outcome.as_ref().is_some_and(|outcome| outcome.status == Status::Complete);
    match ruling.filter(|_| is_complete) {
        None => GateRuling::Missing,
        Some(ruling) if !ruling.passes(log.options.fail_on) => GateRuling::Blocked,
        Some(ReviewRuling::Pass) => GateRuling::Passed,
        Some(_) => GateRuling::Warned,
    }
}

/// What the ruling means, in a sentence or two.
fn meaning(
    log: &ReviewLog<'_>,
    judged: &JudgedResult,
    gate: GateRuling,
    ruling: Option<ReviewRuling>,
) -> String {
    let verdicts: Vec<JudgeVerdict> = judged.judges.iter().filter_map(|judge| judge.verdict).collect();
    let heard = verdicts.len();
    let is_short = heard < judged.judges.len();
    let (who, whose) = if is_short { (" that was heard", " that were heard") } else { ("", "") };
    let share = |verdict: JudgeVerdict, one: &str, more: &str| {
        let with = verdicts.iter().filter(|other| **other == verdict).count();
        match (with, heard) {
            (1, 1) => format!("The judge{who} {one}"),
            (2, 2) => format!("Both judges{whose} {more}"),
            (with, heard) if with == heard => format!("All {heard} judges{whose} {more}"),
            (with, heard) => {
                format!("{with} of {heard} judges{whose} {}", if with == 1 { one } else { more })
            }
        }
    };
    match ruling {
        None => {
            let why = match log.debate.outcome.as_ref().map(|outcome| outcome.status) {
                None => "the review has not ended".to_owned(),
                Some(_) if heard == 0 => "no judge gave one".to_owned(),
                Some(_) => judged.quorum.sentence(judged.judges.len()),
            };
            format!("There is no verdict: {why}.")
        }
        Some(ReviewRuling::Pass) => format!("{}.", share(JudgeVerdict::Pass, "passes it", "pass it")),
        Some(ReviewRuling::Warn) => {
            let fails = if gate == GateRuling::Blocked { " WARN counts as failing here." } else { "" };
            let share = share(JudgeVerdict::Warn, "has reservations", "have reservations");
            format!("{share}, nobody fails it.{fails}")
        }
        Some(ReviewRuling::Fail) => {
            let is_split = verdicts.iter().any(|verdict| *verdict != JudgeVerdict::Fail);
            let rule = if is_split { " One is enough." } else { "" };
            format!("{}.{rule}", share(JudgeVerdict::Fail, "fails it", "fail it"))
        }
        Some(ReviewRuling::Disagree) => {
            let sides = judged.vendors.iter();
            let sides = sides.map(|side| format!("{} says {}", side.vendor, side.verdict.as_str()));
            format!("The vendors split: {}. You decide.", sides.collect::<Vec<_>>().join(", "))
        }
    }
}

/// What a reader must know beside a ruling: verdicts that were reverted, and critical findings that do not block.
fn remarks(log: &ReviewLog<'_>, judged: &JudgedResult, ruling: Option<ReviewRuling>) -> String {
    let reverted = log.judges.iter().filter(|judge| judge.is_reverted && ruling.is_some());
    let reverted = reverted.filter_map(|judge| {
        let (first, last) = (judge.first.as_ref()?.verdict.as_str(), judge.last()?.verdict.as_str());
        let name = &judge.seat.id;
        Some(format!(" {name} counts with its {first} of round 1: its move to {last} was not verified."))
    });
    let is_open = matches!(ruling, Some(ReviewRuling::Pass | ReviewRuling::Warn));
    let critical = judged.findings.iter().filter(|found| is_open && !found.dropped);
    let critical = critical.filter(|found| found.finding.severity == FindingSeverity::Critical);
    let critical = match critical.count() {
        0 => None,
        1 => Some(" One critical finding stands.".to_owned()),
        n => Some(format!(" {n} critical findings stand.")),
    };
    reverted.chain(critical).collect()
}

fn gate_judge(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>, record: &JudgeRecord) -> GateJudge {
    let counted = judge.counted().map(|(_, counted)| counted);
    let mut notes: Vec<String> = record.note.clone().into_iter().collect();
    notes.extend(record.without_finding.then(|| "it holds no finding".to_owned()));
    let no_verdict = || record.note.clone().unwrap_or_else(|| "gave no verdict".into());
    GateJudge {
        name: record.judge.clone(),
        seat: record.seat.clone(),
        vendor: Some(record.vendor.clone()),
        verdict: counted.map(|counted| counted.verdict.as_str().to_owned()),
        confidence: counted.map(|counted| counted.confidence.as_str().to_owned()),
        key_insight: counted.and_then(|counted| non_empty(&counted.key_insight)),
        recommendation: counted.and_then(|counted| non_empty(&counted.recommendation)),
        round: judge.counted().map(|(round, _)| round as u8),
        findings: log.standing(judge).map(own_finding).collect(),
        notes,
        absence: counted.is_none().then(no_verdict),
    }
}

fn gate_finding(found: &ReviewFinding) -> GateFinding {
    GateFinding {
        file: found.file.clone(),
        line: found.line,
        end_line: found.end_line,
        unverified: found.unverified,
        judges: found.judges.clone(),
        remarks: disputes(found).collect(),
        dropped_by: found.dropped_by.clone(),
        dropped: found.dropped,
        ..own_finding(&found.finding)
    }
}

/// A finding as one judge reported it.
fn own_finding(finding: &JudgeFinding) -> GateFinding {
    let words = |text: &Option<String>| text.as_deref().and_then(non_empty);
    GateFinding {
        severity: match finding.severity {
            FindingSeverity::Critical => GateSeverity::Critical,
            FindingSeverity::Significant => GateSeverity::Significant,
            FindingSeverity::Minor => GateSeverity::Minor,
        },
        description: finding.description.trim().to_owned(),
        category: words(&finding.category),
        recommendation: words(&finding.recommendation),
        location: words(&finding.location),
        file: None,
        line: None,
        end_line: None,
        unverified: false,
        judges: Vec::new(),
        remarks: Vec::new(),
        dropped_by: Vec::new(),
        dropped: false,
    }
}
