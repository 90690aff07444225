//! The verdict of a gate for a pipeline.
//!
//! Annotations, reports and a comment are ways to write one [`PipelineReport`], in which all text is cleaned and the findings are
//! sorted.

mod comment;
mod github;
mod gitlab;
mod junit;
mod sarif;

use agon_core::view::{absence_words, is_troubled};
use agon_core::wording::{joined, seat_name};
use agon_core::{Debate, GateFinding, GateJudge, GateReport};
use agon_host::{clean_line, clean_text};

use crate::report_source::ReportSource;
use crate::unshown_files::unshown_files_warning;

/// A format that a pipeline reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateFormat {
    /// Commands that a GitHub workflow shows as annotations, and a few lines for the log.
    Github,
    /// A code quality report, which GitLab shows in a merge request.
    Gitlab,
    /// A SARIF 2.1.0 file, for code scanning.
    Sarif,
    /// A JUnit report: one test for the verdict and one for each judge.
    Junit,
    /// A summary in Markdown, short enough for a comment on a pull request.
    Comment,
}

impl GateFormat {
    /// The names of the formats on the command line.
    pub const NAMES: [&str; 5] = ["github", "gitlab", "sarif", "junit", "comment"];

    /// The format of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "github" => Some(Self::Github),
            "gitlab" => Some(Self::Gitlab),
            "sarif" => Some(Self::Sarif),
            "junit" => Some(Self::Junit),
            "comment" => Some(Self::Comment),
            _ => None,
        }
    }
}

/// The debate has no verdict for a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the formats {} need a verdict that a pipeline can follow, and this debate ({protocol}) gives none: choose another format, \
     such as json",
    GateFormat::NAMES.join(", ")
)]
pub struct NotAGate {
    /// The protocol of the debate.
    pub protocol: String,
}

/// A gate's verdict in a format that a pipeline reads. If there is no verdict, the report says so.
pub fn gate_report(source: &ReportSource<'_>, format: GateFormat) -> Result<String, NotAGate> {
    let brief = &source.debate.brief;
    let not_a_gate = || NotAGate { protocol: clean_line(&brief.protocol) };
    let gate = source.view.gate.as_ref().ok_or_else(not_a_gate)?;
    let report = PipelineReport::new(source, gate);
    Ok(match format {
        GateFormat::Github => github::annotations(&report),
        GateFormat::Gitlab => gitlab::report(&report),
        GateFormat::Sarif => sarif::file(&report),
        GateFormat::Junit => junit::report(&report),
        GateFormat::Comment => comment::summary(source, &report),
    })
}

/// What the formats write.
struct PipelineReport {
    id: String,
    /// The command that was run, which names the suite and the annotations.
    command: String,
    gate: GateReport,
    /// For each judge of the gate, the model that spoke, else the one that was asked, else its provider.
    models: Vec<String>,
    /// The verdict, or "no verdict".
    verdict: String,
    /// The verdict and what it means.
    meaning: String,
    is_degraded: bool,
    elapsed_ms: u64,
    absences: Vec<String>,
    warnings: Vec<String>,
}

impl PipelineReport {
    fn new(source: &ReportSource<'_>, gate: &GateReport) -> Self {
        let debate = source.debate;
        let models = gate.judges.iter().map(|judge| judge_model(debate, judge)).collect();
        let gate = cleaned(gate);
        let verdict = gate.verdict.as_deref();
        let meaning = match verdict {
            Some(verdict) => format!("{verdict}: {}", gate.meaning),
            None => gate.meaning.clone(),
        };
        let absences = debate.absences().map(|(phase, ask, why, detail)| {
            let round = if phase.round > 0 { format!(" in round {}", phase.round) } else { String::new() };
            let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
            clean_line(&format!("{} {}{round}{detail}", seat_name(&ask.seat), absence_words(why)))
        });
        let outcome = debate.outcome.as_ref();
        let warnings = outcome.into_iter().flat_map(|outcome| &outcome.warnings).cloned();
        let warnings = warnings.chain(unshown_files_warning(&debate.brief));
        Self {
            id: clean_line(&debate.brief.id),
            command: format!("agon {}", source.info.name),
            verdict: verdict.unwrap_or("no verdict").to_owned(),
            meaning,
            is_degraded: outcome.is_some_and(is_troubled),
            elapsed_ms: debate.at_ms,
            absences: absences.collect(),
            warnings: warnings.map(|warning| clean_line(&warning)).collect(),
            models,
            gate,
        }
    }

    /// The judges, each with its model in brackets, to stand after its name.
    fn judges(&self) -> impl Iterator<Item = (String, &GateJudge)> {
        let in_brackets =
            |model: &String| if model.is_empty() { String::new() } else { format!(" ({model})") };
        self.models.iter().map(in_brackets).zip(&self.gate.judges)
    }
}

/// The model of a judge's seat; its provider if the debate has no such seat.
fn judge_model(debate: &Debate, judge: &GateJudge) -> String {
    let spoke: Vec<String> = debate.spoke(&judge.seat).into_iter().map(str::to_owned).collect();
    let seat = debate.brief.seat(&judge.seat).map(|seat| seat.model.clone());
    let model = if spoke.is_empty() { seat } else { Some(joined(&spoke)) };
    clean_line(&model.or_else(|| judge.vendor.clone()).unwrap_or_default())
}

/// Where a format shows a finding that needs a line.
struct ShownPlace<'g> {
    path: &'g str,
    begin: u64,
    end: u64,
    /// Says that the judge did not name this line.
    remark: Option<&'static str>,
}

/// A finding without a file is shown in the first judged file, one without a line on line 1. Nothing without any file.
fn shown_place<'g>(review: &'g PipelineReport, finding: &'g GateFinding) -> Option<ShownPlace<'g>> {
    let path = finding.file.as_ref().or(review.gate.path.as_ref())?;
    Some(match (&finding.file, finding.line) {
        (Some(_), Some(begin)) => {
            ShownPlace { path, begin, end: finding.end_line.unwrap_or(begin), remark: None }
        }
        (Some(_), None) => {
            let remark = "It names no line of this file that could be found, so it is shown on line 1.";
            ShownPlace { path, begin: 1, end: 1, remark: Some(remark) }
        }
        (None, _) => {
            let remark = "It names no file, so it is shown on line 1 of the first file that was judged.";
            ShownPlace { path, begin: 1, end: 1, remark: Some(remark) }
        }
    })
}

/// The same with all text cleaned and the findings sorted.
fn cleaned(gate: &GateReport) -> GateReport {
    let mut gate = gate.clone();
    gate.verdict.iter_mut().chain(&mut gate.path).chain(&mut gate.footer).for_each(clean_in_place);
    [&mut gate.meaning, &mut gate.target].into_iter().for_each(clean_in_place);
    gate.judges.iter_mut().for_each(clean_judge);
    gate.findings.iter_mut().for_each(clean_finding);
    gate.findings.sort_by_key(|finding| (finding.dropped, finding.severity));
    gate
}

fn clean_in_place(line: &mut String) {
    *line = clean_line(line);
}

fn clean_text_in_place(text: &mut String) {
    *text = clean_text(text).trim().to_owned();
}

fn clean_judge(judge: &mut GateJudge) {
    let GateJudge { name, seat, vendor, verdict, confidence, notes, absence, .. } = judge;
    let optional = [vendor, verdict, confidence, absence].into_iter().flatten();
    [name, seat].into_iter().chain(optional).chain(notes).for_each(clean_in_place);
    judge.key_insight.iter_mut().chain(&mut judge.recommendation).for_each(clean_text_in_place);
    judge.findings.iter_mut().for_each(clean_finding);
}

fn clean_finding(finding: &mut GateFinding) {
    let GateFinding { category, location, file, judges, remarks, dropped_by, .. } = finding;
    let optional = [category, location, file].into_iter().flatten();
    optional.chain(judges).chain(remarks).chain(dropped_by).for_each(clean_in_place);
    finding.recommendation.iter_mut().chain([&mut finding.description]).for_each(clean_text_in_place);
}

/// Says that a finding was dropped, and which judges dropped it.
fn dropped_sentence(finding: &GateFinding) -> Option<String> {
    let by = match finding.dropped_by.as_slice() {
        [] => String::new(),
        judges => format!(" by {}", judges.join(", ")),
    };
    finding.dropped.then(|| format!("Dropped in round 2{by}."))
}

/// Says that the place which a finding names is not in what was judged. The file may be: so the place is named.
fn unverified_sentence(finding: &GateFinding) -> Option<String> {
    let place = finding.location.as_ref();
    let place = place.map_or("its place".to_owned(), |place| format!("\u{201c}{place}\u{201d}"));
    finding.unverified.then(|| format!("Unverified: {place} is not in what was judged."))
}

/// A finding with its recommendation and judges, one per line.
fn finding_text(finding: &GateFinding) -> String {
    let mut lines = vec![finding.description.clone()];
    lines.extend(finding.recommendation.as_ref().map(|advice| format!("Recommendation: {advice}")));
    lines.extend(
        (!finding.judges.is_empty()).then(|| format!("Raised or accepted by {}.", finding.judges.join(", "))),
    );
    lines.extend(finding.remarks.iter().cloned());
    lines.extend(unverified_sentence(finding));
    lines.extend(dropped_sentence(finding));
    lines.join("\n")
}

/// The same where a format shows it at a place, with a remark if the judge did not name that place.
fn placed_text(finding: &GateFinding, place: Option<&ShownPlace<'_>>) -> String {
    let remark = place.and_then(|place| place.remark).map_or(String::new(), |remark| format!("\n{remark}"));
    format!("{}{remark}", finding_text(finding))
}
