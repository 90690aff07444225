//! What a review leaves for others: the report, one file for each judge and round, and the verdict as a gate for a pipeline.

use agon_core::timestamps::day;
use agon_core::wording::capitalized;
use agon_core::{
    GateFinding, GateJudge, GateReport, GateRuling, GateSeverity, RecordBody, SavedRecord, Status,
};
use serde_json::Value;

use super::log::{ReviewJudge, ReviewLog};
use super::replies::{FindingSeverity, JudgeConfidence, JudgeFinding, JudgeVerdict, SecondVerdict};
use super::report::non_empty;
use super::verdict::{JudgeRecord, JudgedResult, ReviewFinding, ReviewRuling, ReviewVerdict};
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
        words("Analysis", &first.analysis),
        words("Recommendation", &first.recommendation),
        json_block(answer),
    ]
    .concat()
}

fn second_round(judge: &ReviewJudge<'_>, second: &SecondVerdict, value: &Value) -> String {
    let reason = second.changed_because.as_ref().map(|reason| reason.sentence()).unwrap_or_default();
    let own = second.own.iter().map(|own| (&own.id, own.status.as_str(), &own.reason));
    let others = second.others.iter().map(|other| (&other.id, other.status.as_str(), &other.reason));
    let statuses = own.chain(others);
    let statuses =
        statuses.map(|(id, status, reason)| format!("{}: {status}. {}", one_line(id), one_line(reason)));
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
        words("Analysis", &second.analysis),
        words("Changed because", &reason),
        list("Findings of round 1", statuses.collect()),
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
        meaning: meaning(log, judged, ruling, word),
        target: verdict.target.clone(),
        path: verdict.paths.first().cloned(),
        fails_on_warn: log.options.fail_on == ReviewFailOn::Warn,
        footer: log.debate.outcome.as_ref().map(|_| verdict.footer.clone()),
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
            capitalized(&format!("there is no verdict: {why}."))
        }
        Some(ReviewRuling::Pass) => format!("{}.", share(JudgeVerdict::Pass, "passes it", "pass it")),
        Some(ReviewRuling::Warn) => {
            let fails = if gate == GateRuling::Blocked { " WARN counts as failing here." } else { "" };
            let share = share(JudgeVerdict::Warn, "has reservations", "have reservations");
            format!("{share}, nobody fails it.{fails}")
        }
        Some(ReviewRuling::Fail) => format!("{}.", share(JudgeVerdict::Fail, "fails it", "fail it")),
        Some(ReviewRuling::Disagree) => {
            let sides = judged.vendors.iter();
            let sides = sides.map(|side| format!("{} says {}", side.vendor, side.verdict.as_str()));
            format!("The vendors split: {}. You decide.", sides.collect::<Vec<_>>().join(", "))
        }
    }
}

fn gate_judge(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>, record: &JudgeRecord) -> GateJudge {
    let counted = judge.counted();
    let mut notes: Vec<String> = record.note.clone().into_iter().collect();
    notes.extend(record.without_finding.then(|| "it names no finding".to_owned()));
    let no_verdict = || record.note.clone().unwrap_or_else(|| "gave no verdict".into());
    let standing = log.standing(judge);
    GateJudge {
        name: record.judge.clone(),
        seat: record.seat.clone(),
        vendor: Some(record.vendor.clone()),
        verdict: counted.map(|counted| counted.verdict.as_str().to_owned()),
        confidence: counted.map(|counted| counted.confidence.as_str().to_owned()),
        key_insight: counted.and_then(|counted| non_empty(counted.key_insight)),
        recommendation: counted.and_then(|counted| non_empty(counted.recommendation)),
        round: counted.map(|counted| counted.round as u8),
        findings: standing.iter().map(own_finding).collect(),
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
        dropped_by: Vec::new(),
        dropped: false,
    }
}
