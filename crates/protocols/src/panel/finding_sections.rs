//! What readers see of the findings and claims of a `panel`: whose they are, who holds or accepts them, and what shows them.

use agon_core::wording::{capitalized, sentence};
use agon_core::{ReportItem, ReportSection};

use super::asks;
use super::consensus::FindingState;
use super::findings::{CriticalFindingRecord, FindingPositionRecord, PointStands};
use super::report::{PanelReport, section};
use super::verdict::PanelFinding;
use super::{PanelPhase, wire_name};

impl PanelReport<'_> {
    /// Those that all judges hold first, withdrawn ones last.
    pub(super) fn critical_findings(&self) -> Option<ReportSection> {
        let states =
            [FindingState::Adopted, FindingState::Disputed, FindingState::Lowered, FindingState::Withdrawn];
        let findings = states.iter().flat_map(|state| {
            self.verdict.critical_findings.iter().filter(move |finding| finding.state == *state)
        });
        section("Critical findings", findings.map(|finding| self.critical_item(finding)).collect())
    }

    /// What judges say of an open finding stands in what needs attention.
    fn critical_item(&self, finding: &CriticalFindingRecord) -> ReportItem {
        let mut ids: Vec<&str> = finding.ids().map(String::as_str).collect();
        let lesser =
            self.verdict.other_findings.iter().filter(|other| other.same_as.contains(&finding.finding_id));
        ids.extend(lesser.flat_map(|other| &other.id).map(String::as_str));
        let mut note = vec![self.state(finding)];
        note.extend(self.ground(&ids, (&finding.evidence, finding.unverified), &finding.fix));
        let is_settled = finding.state != FindingState::Disputed;
        note.extend(finding.positions.iter().filter(|_| is_settled).map(FindingPositionRecord::told));
        item(&ids, &finding.finding, &note)
    }

    /// What became of a finding, and what each judge thinks of it in the end.
    pub(super) fn state(&self, finding: &CriticalFindingRecord) -> String {
        format!("{}: {}.", finding.state.spoken(), finding.stands(&self.log.judges))
    }

    /// The findings below CRITICAL. What is the same as a critical one stands there.
    pub(super) fn other_findings(&self) -> Option<ReportSection> {
        let is_critical = |id: &String| self.log.findings.iter().any(|critical| critical.id == *id);
        let lesser =
            self.verdict.other_findings.iter().filter(|other| !other.same_as.iter().any(is_critical));
        section("Other findings", lesser.map(|finding| self.other_item(finding)).collect())
    }

    fn other_item(&self, finding: &PanelFinding) -> ReportItem {
        let ids: Vec<&str> = finding.id.iter().chain(&finding.same_as).map(String::as_str).collect();
        let mut note: Vec<String> =
            finding.stands.words().map(|stand| sentence(&capitalized(&stand))).collect();
        note.extend(self.ground(&ids, (&finding.evidence, finding.unverified), &finding.fix));
        item(&ids, &finding.finding, &note)
    }

    /// Whose a finding is and how severe each calls it, its evidence and fix, and its other texts, each with its id.
    fn ground(&self, ids: &[&str], (evidence, is_unverified): (&str, bool), fix: &str) -> Vec<String> {
        let mut raised: Vec<String> = Vec::new();
        for judge in &self.log.judges {
            let own = judge.raised().filter_map(|(_, raised)| Some((raised.id.as_deref()?, raised.severity)));
            // A judge may list it again with better evidence.
            let worst = own.filter(|(id, _)| ids.contains(id)).min_by_key(|(_, severity)| *severity);
            raised
                .extend(worst.map(|(id, severity)| format!("{} ({id}, {})", judge.id, wire_name(severity))));
        }
        let mut told =
            vec![format!("Raised by {}.", raised.join(", ")), evidence_words(evidence, is_unverified)];
        told.extend(fix_words(fix));
        for other in ids.iter().skip(1).filter_map(|id| self.log.finding(id)) {
            told.push(format!("[{}] {}", other.id, sentence(&other.finding)));
            told.push(evidence_words(&other.evidence, other.is_unverified));
            told.extend(fix_words(&other.fix));
        }
        told
    }

    /// The claims that a judge cites in rounds 2 and 3, so that a reader can look up the ids, and those whose evidence does not verify.
    pub(super) fn claims(&self) -> Option<ReportSection> {
        let phases = [PanelPhase::Rebuttal, PanelPhase::Final];
        let judges = self.log.judges.iter();
        let said = judges.flat_map(|judge| phases.map(|phase| self.log.statement(judge, phase)));
        let said: String = said.flatten().flatten().map(|fields| asks::written(&fields) + "\n").collect();
        let cited = self.log.cited_ids(&said, u32::MAX, None);
        let claims = self
            .log
            .judges
            .iter()
            .flat_map(|judge| judge.statement.key_claims.iter().map(move |c| (judge, c)));
        let items = claims.filter_map(|(judge, claim)| {
            let id = claim.id.as_ref().filter(|id| cited.contains(id) || claim.unverified.is_some())?;
            let who: Vec<String> = std::iter::once(judge.id.to_owned())
                .chain(PointStands::of(self.log, &[id]).words())
                .collect();
            let evidence = evidence_words(claim.evidence.trim(), claim.unverified.is_some());
            Some(item(&[id], &claim.claim, &[format!("{}.", who.join("; ")), evidence]))
        });
        section("Claims that are cited or unverified", items.collect())
    }
}

fn item(ids: &[&str], text: &str, note: &[String]) -> ReportItem {
    ReportItem {
        who: Some(format!("[{}]", ids.join(", "))),
        text: text.to_owned(),
        note: Some(note.join(" ")),
    }
}

fn evidence_words(evidence: &str, is_unverified: bool) -> String {
    let mark = if is_unverified { " (unverified)" } else { "" };
    let evidence = evidence.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("Evidence{mark}: {}", sentence(if evidence.is_empty() { "none" } else { &evidence }))
}

fn fix_words(fix: &str) -> Option<String> {
    (!fix.is_empty()).then(|| format!("Fix: {}", sentence(fix)))
}
