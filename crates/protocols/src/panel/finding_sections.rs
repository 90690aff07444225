//! What readers see of the findings of a `panel`: whose they are, who holds or accepts them, and what shows them.

use agon_core::wording::{capitalized, sentence};
use agon_core::{ReportItem, ReportSection};

use super::consensus::FindingState;
use super::findings::{CriticalFindingRecord, FindingPositionRecord};
use super::report::PanelReport;
use super::verdict::PanelFinding;
use super::wire_name;
use crate::report_sections::list_section;

impl PanelReport<'_> {
    /// Those that all judges hold first, withdrawn ones last.
    pub(super) fn critical_findings(&self) -> Option<ReportSection> {
        let states =
            [FindingState::Adopted, FindingState::Disputed, FindingState::Lowered, FindingState::Withdrawn];
        let findings = states.iter().flat_map(|state| {
            self.verdict.critical_findings.iter().filter(move |finding| finding.state == *state)
        });
        list_section("Critical findings", findings.map(|finding| self.critical_item(finding)))
    }

    /// What judges say of an open finding stands in what needs attention.
    fn critical_item(&self, finding: &CriticalFindingRecord) -> ReportItem {
        let mut ids: Vec<&str> = finding.ids().map(String::as_str).collect();
        let lesser = self.other_findings.iter().filter(|other| other.same_as.contains(&finding.finding_id));
        ids.extend(lesser.map(|other| other.id.as_str()));
        let mut note = vec![self.state(finding)];
        note.extend(self.ground(&ids, (&finding.evidence, finding.unverified), &finding.fix));
        let is_settled = finding.state != FindingState::Disputed;
        note.extend(finding.positions.iter().filter(|_| is_settled).map(FindingPositionRecord::told));
        item(&ids, &finding.finding, &note)
    }

    /// What became of a finding, and what each judge thinks of it in the end.
    pub(super) fn state(&self, finding: &CriticalFindingRecord) -> String {
        format!("{}: {}.", capitalized(&wire_name(finding.state)), finding.stands(&self.log.judges))
    }

    /// The findings below CRITICAL. What is the same as a critical one stands there.
    pub(super) fn other_findings(&self) -> Option<ReportSection> {
        let is_critical = |id: &String| self.log.findings.iter().any(|critical| critical.id == *id);
        let lesser = self.other_findings.iter().filter(|other| !other.same_as.iter().any(is_critical));
        list_section("Other findings", lesser.map(|finding| self.other_item(finding)))
    }

    fn other_item(&self, finding: &PanelFinding) -> ReportItem {
        let ids = finding.ids();
        let mut note: Vec<String> =
            finding.stands.words().map(|stand| sentence(&capitalized(&stand))).collect();
        note.extend(self.ground(&ids, (&finding.evidence, finding.unverified), &finding.fix));
        item(&ids, &finding.finding, &note)
    }

    /// Whose a finding is and how severe each calls it, its evidence and fix, and its other texts, each with its id.
    fn ground(&self, ids: &[&str], (evidence, is_unverified): (&str, bool), fix: &str) -> Vec<String> {
        let raised = self.log.judges.iter().filter_map(|judge| {
            let own = judge.raised().filter_map(|(_, raised)| Some((raised.id.as_deref()?, raised.severity)));
            // A judge may list it again with better evidence.
            let (id, worst) = own.filter(|(id, _)| ids.contains(id)).min_by_key(|(_, severity)| *severity)?;
            Some(format!("{} ({id}, {})", judge.id, wire_name(worst)))
        });
        let raised = raised.collect::<Vec<_>>().join(", ");
        let mut told = vec![format!("Raised by {raised}.")];
        told.extend(evidence_and_fix(evidence, is_unverified, fix));
        for other in ids.iter().skip(1).filter_map(|id| self.log.finding(id)) {
            told.push(format!("[{}] {}", other.id, sentence(&other.finding)));
            told.extend(evidence_and_fix(&other.evidence, other.is_unverified, &other.fix));
        }
        told
    }
}

fn item(ids: &[&str], text: &str, note: &[String]) -> ReportItem {
    ReportItem {
        who: Some(format!("[{}]", ids.join(", "))),
        text: text.to_owned(),
        note: Some(note.join(" ")),
    }
}

fn evidence_and_fix(evidence: &str, is_unverified: bool, fix: &str) -> impl Iterator<Item = String> {
    let mark = if is_unverified { " (unverified)" } else { "" };
    let evidence = evidence.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = format!("Evidence{mark}: {}", sentence(if evidence.is_empty() { "none" } else { &evidence }));
    let fix = (!fix.is_empty()).then(|| format!("Fix: {}", sentence(fix)));
    std::iter::once(shown).chain(fix)
}
