//! What the formats for pipelines say, before it is known how they say it.

use serde_json::Value;

use crate::clean::{clean, one_line};
use crate::outline::{at, heading_id, list, why_absent, words};

/// A review, cleaned.
pub(super) struct Review {
    pub(super) id: String,
    pub(super) target: String,
    /// The first file that was judged.
    pub(super) path: Option<String>,
    pub(super) ruling: Ruling,
    /// The verdict's own word, or what stands in its place.
    pub(super) verdict: String,
    /// The verdict and what it means, in a sentence or two.
    pub(super) told: String,
    pub(super) fail_on_warn: bool,
    pub(super) degraded: bool,
    pub(super) footer: Option<String>,
    pub(super) elapsed_ms: u64,
    pub(super) judges: Vec<Judge>,
    /// The worst first, what was dropped last.
    pub(super) findings: Vec<Finding>,
    /// Who was missing.
    pub(super) absences: Vec<String>,
    pub(super) warnings: Vec<String>,
}

/// What a verdict does to a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ruling {
    Passed,
    Warned,
    Blocked,
    /// There is no verdict, or the debate was cut short and its exit status says so.
    Missing,
}

pub(super) struct Judge {
    pub(super) name: String,
    pub(super) vendor: Option<String>,
    /// The verdict that counts.
    pub(super) verdict: Option<String>,
    pub(super) confidence: Option<String>,
    pub(super) key_insight: Option<String>,
    pub(super) recommendation: Option<String>,
    /// The round whose answer counts.
    pub(super) round: Option<u8>,
    /// What that answer found.
    pub(super) findings: Vec<Finding>,
    pub(super) notes: Vec<String>,
    /// Why nothing was heard of it.
    pub(super) absence: Option<String>,
}

/// How bad a finding is, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    Critical,
    Significant,
    Minor,
}

pub(super) struct Finding {
    pub(super) severity: Severity,
    pub(super) description: String,
    pub(super) category: Option<String>,
    pub(super) recommendation: Option<String>,
    /// Where it is, in the judge's words.
    pub(super) location: Option<String>,
    pub(super) file: Option<String>,
    pub(super) line: Option<u64>,
    pub(super) end_line: Option<u64>,
    pub(super) judges: Vec<String>,
    pub(super) dropped: bool,
    pub(super) dropped_by: Vec<String>,
}

/// What the verdict of a review does to a pipeline. It agrees with the exit status.
pub(crate) fn ruling(document: &Value) -> Ruling {
    if words(document, "/status").is_some_and(|status| status != "complete") {
        return Ruling::Missing;
    }
    match words(document, "/verdict/verdict") {
        Some("PASS") => Ruling::Passed,
        Some("WARN") if fail_on_warn(document) => Ruling::Blocked,
        Some("WARN") => Ruling::Warned,
        Some("FAIL" | "DISAGREE") => Ruling::Blocked,
        _ => Ruling::Missing,
    }
}

fn fail_on_warn(document: &Value) -> bool {
    words(document, "/verdict/fail_on") == Some("warn")
}

/// What the verdict of a review means, in a sentence or two.
pub(crate) fn meaning(document: &Value) -> String {
    let judges = list(document, "/verdict/judges");
    let verdicts: Vec<&str> = judges.iter().filter_map(|judge| words(judge, "/verdict")).collect();
    let heard = verdicts.len();
    let who = if heard < judges.len() { " that was heard" } else { "" };
    let whose = if heard < judges.len() { " that were heard" } else { "" };
    let share = |verdict: &str, one: &str, more: &str| {
        let with = verdicts.iter().filter(|other| **other == verdict).count();
        match (with, heard) {
            (_, 0) => format!("The judges {more}"),
            (1, 1) => format!("The judge{who} {one}"),
            (2, 2) => format!("Both judges{whose} {more}"),
            (with, _) if with == heard => format!("All {heard} judges{whose} {more}"),
            (with, _) => format!("{with} of {heard} judges{whose} {}", if with == 1 { one } else { more }),
        }
    };
    match (ruling(document), words(document, "/verdict/verdict")) {
        (Ruling::Missing, verdict) => without_verdict(document, verdict),
        (_, Some("PASS")) => format!("{}.", share("PASS", "passes it", "pass it")),
        (ruling, Some("WARN")) => {
            let gate = if ruling == Ruling::Blocked { " WARN counts as failing here." } else { "" };
            format!("{}, nobody fails it.{gate}", share("WARN", "has reservations", "have reservations"))
        }
        (_, Some("DISAGREE")) => format!("The vendors split: {}. You decide.", sides(document)),
        _ => format!("{}.", share("FAIL", "fails it", "fail it")),
    }
}

fn without_verdict(document: &Value, verdict: Option<&str>) -> String {
    let ended = match words(document, "/status") {
        Some("incomplete") => "The review was cut short",
        Some("interrupted" | "running") => "The review has not ended",
        _ => "The review failed",
    };
    match verdict {
        Some(verdict) => format!("{ended}: its {verdict} is not the verdict of a whole review."),
        None => format!("{ended}: there is no verdict."),
    }
}

fn sides(document: &Value) -> String {
    let sides = list(document, "/verdict/vendors")
        .iter()
        .filter_map(|side| Some(format!("{} says {}", words(side, "/vendor")?, words(side, "/verdict")?)));
    let sides: Vec<String> = sides.collect();
    if sides.is_empty() { "some say PASS, some FAIL".into() } else { sides.join(", ") }
}

impl Review {
    pub(super) fn read(document: &Value) -> Self {
        let ruling = ruling(document);
        let verdict = line(document, "/verdict/verdict").filter(|_| ruling != Ruling::Missing);
        let meaning = one_line(&meaning(document));
        let mut findings: Vec<Finding> =
            list(document, "/verdict/findings").iter().filter_map(Finding::read).collect();
        findings.sort_by_key(|finding| (finding.dropped, finding.severity));
        let absences = list(document, "/absences").iter().map(absence);
        Self {
            id: line(document, "/id").unwrap_or_default(),
            target: line(document, "/verdict/target").unwrap_or_else(|| "review".into()),
            path: line(document, "/verdict/paths/0"),
            ruling,
            told: verdict.as_ref().map_or(meaning.clone(), |verdict| format!("{verdict}: {meaning}")),
            verdict: verdict.unwrap_or_else(|| "no verdict".into()),
            fail_on_warn: fail_on_warn(document),
            degraded: words(document, "/fidelity") == Some("degraded"),
            footer: line(document, "/verdict/footer"),
            elapsed_ms: at(document, "/elapsed_ms").as_u64().unwrap_or_default(),
            judges: list(document, "/verdict/judges")
                .iter()
                .map(|judge| Judge::read(document, judge))
                .collect(),
            findings,
            absences: absences.collect(),
            warnings: lines(document, "/warnings"),
        }
    }
}

impl Judge {
    fn read(document: &Value, judge: &Value) -> Self {
        let round = match words(judge, "/used") {
            Some("r1") => Some(1),
            Some("r2") => Some(2),
            _ => None,
        };
        let said = round.map_or(&Value::Null, |round| at(judge, &format!("/r{round}")));
        let seat = words(judge, "/seat").or_else(|| words(judge, "/judge"));
        let absent = list(document, "/absences").iter().find(|absence| words(absence, "/seat") == seat);
        let verdict = line(judge, "/verdict");
        let flag = |pointer: &str| at(judge, pointer).as_bool() == Some(true);
        let mut notes: Vec<String> = line(judge, "/note").into_iter().collect();
        if flag("/weak_flip") {
            let reverted = if flag("/reverted") { ", so that round 1 counts" } else { "" };
            notes.push(format!("WEAK FLIP: changed its verdict without evidence{reverted}"));
        }
        Self {
            name: line(judge, "/judge").or_else(|| line(judge, "/seat")).unwrap_or_else(|| "judge".into()),
            vendor: line(judge, "/vendor"),
            absence: verdict.is_none().then(|| match (line(judge, "/note"), absent) {
                (Some(note), _) => note,
                (None, Some(absent)) => absence(absent),
                (None, None) => "gave no verdict".into(),
            }),
            verdict,
            confidence: line(said, "/confidence"),
            key_insight: text(said, "/key_insight"),
            recommendation: text(said, "/recommendation"),
            round,
            findings: list(said, "/findings").iter().filter_map(Finding::read).collect(),
            notes,
        }
    }
}

impl Finding {
    fn read(finding: &Value) -> Option<Self> {
        let start = at(finding, "/line").as_u64().filter(|line| *line > 0);
        let last = at(finding, "/end_line").as_u64();
        Some(Self {
            severity: match words(finding, "/severity") {
                Some("critical") => Severity::Critical,
                Some("minor") => Severity::Minor,
                // A word that nobody knows must not make a finding look harmless.
                _ => Severity::Significant,
            },
            description: text(finding, "/description")?,
            category: line(finding, "/category"),
            recommendation: text(finding, "/recommendation"),
            location: line(finding, "/location"),
            file: line(finding, "/file"),
            line: start,
            end_line: start.and_then(|start| last.filter(|last| *last >= start)),
            judges: lines(finding, "/judges"),
            dropped: at(finding, "/dropped").as_bool() == Some(true),
            dropped_by: lines(finding, "/dropped_by"),
        })
    }

    /// Where it is, for a reader.
    pub(super) fn place(&self) -> Option<String> {
        let place = match (&self.file, self.line, self.end_line) {
            (None, ..) => return self.location.clone(),
            (Some(file), None, _) => file.clone(),
            (Some(file), Some(line), Some(last)) if last > line => format!("{file}:{line}-{last}"),
            (Some(file), Some(line), _) => format!("{file}:{line}"),
        };
        Some(place)
    }

    /// That it was dropped, and by whom.
    pub(super) fn dropping(&self) -> Option<String> {
        let by = match self.dropped_by.as_slice() {
            [] => String::new(),
            judges => format!(" by {}", judges.join(", ")),
        };
        self.dropped.then(|| format!("Dropped in round 2{by}."))
    }

    /// The description and everything that belongs to it, each on a line of its own.
    pub(super) fn told(&self) -> String {
        let mut told = vec![self.description.clone()];
        told.extend(self.recommendation.as_ref().map(|advice| format!("Recommendation: {advice}")));
        told.extend((!self.judges.is_empty()).then(|| format!("Found by {}.", self.judges.join(", "))));
        told.extend(self.dropping());
        told.join("\n")
    }
}

impl Severity {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Significant => "significant",
            Self::Minor => "minor",
        }
    }
}

fn absence(absence: &Value) -> String {
    let seat = words(absence, "/seat").map_or_else(|| "A judge".into(), heading_id);
    let round = at(absence, "/round").as_u64().filter(|round| *round > 0);
    let round = round.map_or(String::new(), |round| format!(" in round {round}"));
    let detail = words(absence, "/detail").map_or(String::new(), |detail| format!(": {detail}"));
    let why = why_absent(words(absence, "/why").unwrap_or("absent"));
    one_line(&format!("{seat} {why}{round}{detail}"))
}

/// The words at a pointer as one clean line.
fn line(value: &Value, pointer: &str) -> Option<String> {
    words(value, pointer).map(one_line).filter(|line| !line.is_empty())
}

/// The words at a pointer, clean, with their line breaks.
fn text(value: &Value, pointer: &str) -> Option<String> {
    words(value, pointer).map(|text| clean(text).trim().to_owned()).filter(|text| !text.is_empty())
}

fn lines(value: &Value, pointer: &str) -> Vec<String> {
    let lines = list(value, pointer).iter().filter_map(Value::as_str).map(one_line);
    lines.filter(|line| !line.is_empty()).collect()
}
