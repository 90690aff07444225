//! What a review leaves for others: the report, one file for each judge and round, and the verdict as a gate for a pipeline.

use agon_core::timestamps::day;
use agon_core::wording::{heading, joined, spoken};
use agon_core::{
    GateFinding, GateJudge, GateReport, GateRuling, GateSeverity, RecordBody, SavedRecord, Status,
};
use serde_json::Value;

use super::findings::{ReviewFinding, others_answers};
use super::log::{ReviewJudge, ReviewLog};
use super::replies::{FindingSeverity, JudgeFinding, JudgeVerdict, OtherStatus};
use super::report::{answer_words, non_empty};
use super::verdict::{self, ReviewQuorum, ReviewRuling, by_vendor, footer_line, is_without_finding};
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
        if let Some((second, value)) = judge.second.as_ref().zip(log.second_answer(judge)) {
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
    let entry = |value: &Value| format!("- {}\n", one_line(&words(value)));
    let body = match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => items.iter().map(entry).collect(),
        Value::Object(_) => entry(value),
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
            let named = fields.map(|(key, value)| format!("{}: {}", spoken(key), words(value)));
            named.collect::<Vec<_>>().join("; ")
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
    let escape = |text: String, mark: char| text.replace(mark, &format!("\\{mark}"));
    ['<', '`', '[', '!'].into_iter().fold(text.to_owned(), escape)
}

/// The answer as it was given, in a fence with more ticks than any run of them inside.
fn json_block(value: &Value) -> String {
    let text = format!("{value:#}");
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or_default();
    let ticks = "`".repeat(longest.max(2) + 1);
    format!("\n{ticks}json\n{text}\n{ticks}\n")
}

/// The verdict for a pipeline.
pub(super) fn gate_report(log: &ReviewLog<'_>, found: &[ReviewFinding]) -> GateReport {
    let outcome = log.debate.outcome.as_ref();
    let is_complete = outcome.is_some_and(|outcome| outcome.status == Status::Complete);
    let decided = verdict::decided(log).filter(|_| is_complete);
    let mut findings: Vec<GateFinding> = found.iter().map(|found| gate_finding(log, found)).collect();
    findings.sort_by_key(|finding| finding.dropped);
    GateReport {
        ruling: match decided {
            None => GateRuling::Missing,
            Some(ruling) if !ruling.passes(log.options.fail_on) => GateRuling::Blocked,
            Some(ReviewRuling::Pass) => GateRuling::Passed,
            Some(_) => GateRuling::Warned,
        },
        verdict: decided.map(|ruling| ruling.as_str().to_owned()),
        meaning: match (decided, outcome) {
            (Some(ruling), _) => meaning(log, found, ruling),
            (None, None) => "There is no verdict: the review has not ended.".to_owned(),
            (None, Some(_)) => {
                format!("There is no verdict: {}.", ReviewQuorum::of(log).sentence(log.judges.len()))
            }
        },
        target: packet::slug(log.brief()),
        path: log.packet().paths().next().map(str::to_owned),
        fails_on_warn: log.options.fail_on == ReviewFailOn::Warn,
        footer: outcome.map(|_| footer_line(log)),
        judges: log.judges.iter().map(|judge| gate_judge(log, judge)).collect(),
        findings,
    }
}

/// Who says what, the worst verdict first, and the rule that makes a ruling of it.
fn meaning(log: &ReviewLog<'_>, found: &[ReviewFinding], ruling: ReviewRuling) -> String {
    let verdicts = [Some(JudgeVerdict::Fail), Some(JudgeVerdict::Warn), Some(JudgeVerdict::Pass), None];
    let said = verdicts.into_iter().filter_map(|verdict| {
        let who = log.judges.iter().filter(|judge| judge.counted_verdict() == verdict);
        let reverted = |judge: &ReviewJudge<'_>| if judge.is_reverted { " (reverted to R1)" } else { "" };
        let who: Vec<String> = who.map(|judge| format!("{}{}", judge.seat.id, reverted(judge))).collect();
        let s = if who.len() == 1 { "s" } else { "" };
        let what = verdict.map_or("gave no verdict".to_owned(), |said| format!("say{s} {}", said.as_str()));
        (!who.is_empty()).then(|| format!("{} {what}", joined(&who)))
    });
    let said: Vec<String> = said.collect();
    let critical = found.iter().filter(|found| !found.dropped);
    let critical = critical.filter(|found| found.finding.severity == FindingSeverity::Critical).count();
    let rule = match ruling {
        ReviewRuling::Fail => " One FAIL is enough.".to_owned(),
        ReviewRuling::Disagree => {
            let sides = by_vendor(log, ReviewJudge::counted_verdict).into_iter();
            let sides = sides.map(|side| format!("{} {}", side.vendor, side.verdict.as_str()));
            format!(" The providers split: {}. You decide.", sides.collect::<Vec<_>>().join(", "))
        }
        ReviewRuling::Warn if !ruling.passes(log.options.fail_on) => {
            " WARN counts as failing here.".to_owned()
        }
        _ if critical > 0 => format!(" Critical findings that stand: {critical}."),
        _ => String::new(),
    };
    format!("{}.{rule}", said.join("; "))
}

fn gate_judge(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>) -> GateJudge {
    let (counted, note) = (judge.counted().map(|(_, counted)| counted), verdict::note(log, judge));
    let mut notes: Vec<String> = note.iter().cloned().collect();
    notes.extend(is_without_finding(log, judge).then(|| "it holds no finding".to_owned()));
    let no_verdict = || note.unwrap_or_else(|| "gave no verdict".into());
    GateJudge {
        name: judge.seat.id.clone(),
        seat: judge.seat.id.clone(),
        vendor: Some(judge.vendor.clone()),
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

fn gate_finding(log: &ReviewLog<'_>, found: &ReviewFinding) -> GateFinding {
    let said = others_answers(log, |id| found.ids.iter().any(|own| own == id)).into_iter();
    let disputes = said.filter(|(_, said)| said.status == OtherStatus::Dispute);
    GateFinding {
        file: found.file.clone(),
        line: found.line,
        end_line: found.end_line,
        unverified: found.unverified,
        judges: found.judges.clone(),
        remarks: disputes.map(|(judge, said)| answer_words(judge, said)).collect(),
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
