//! What readers see of the findings and claims of a `panel`: who raised them in which words, who holds or accepts them, and why.

use agon_core::wording::joined;
use agon_core::{ReportItem, ReportSection};
use indexmap::IndexMap;

use super::PanelPhase;
use super::asks;
use super::consensus::FindingState;
use super::findings::{CriticalFindingRecord, NumberedFinding};
use super::follow_up::sentence;
use super::replies::{FindingHold, FindingSeverity};
use super::report::{PanelReport, section, stop};
use super::verdict::PanelFinding;
use crate::quotes::is_same_text;

impl PanelReport<'_> {
    /// Those that all judges hold first, withdrawn ones last.
    pub(super) fn critical_findings(&self) -> Option<ReportSection> {
        let states = [FindingState::Adopted, FindingState::Disputed, FindingState::Withdrawn];
        let findings = states.iter().flat_map(|state| {
            self.verdict.critical_findings.iter().filter(move |finding| finding.state == *state)
        });
        section("Critical findings", findings.map(|finding| self.critical_item(finding)).collect())
    }

    fn critical_item(&self, finding: &CriticalFindingRecord) -> ReportItem {
        let lesser = self.lesser_of(finding);
        let by = finding.raised_by.join(", ");
        let raised = match lesser.as_slice() {
            [] => format!("raised by {by}"),
            lesser => {
                let lesser = lesser.iter().map(|same| {
                    let by = self.log.ids(&same.raisers()).join(", ");
                    format!(", by {by} as {} ({})", severity(same.severity).to_lowercase(), same.id)
                });
                format!("raised by {by} as critical{}", lesser.collect::<String>())
            }
        };
        let state = match finding.state {
            FindingState::Adopted => format!("All judges hold it; {raised}."),
            FindingState::Disputed => format!("Open: {}; {raised}.", self.stands(finding)),
            FindingState::Withdrawn => {
                format!("Nobody holds it any more: {}; {raised}.", self.stands(finding))
            }
        };
        let mut note = vec![state];
        note.extend(self.adoptions(finding));
        match (finding.evidence.as_str(), finding.unverified) {
            ("", _) => note.push("No evidence was given (unverified).".to_owned()),
            (evidence, true) => note.push(format!("Evidence (unverified): {}.", stop(evidence))),
            (evidence, false) => note.push(format!("Evidence: {}.", stop(evidence))),
        }
        if !finding.fix.is_empty() {
            note.push(format!("Fix: {}.", stop(&finding.fix)));
        }
        let lesser = lesser.iter().map(|same| &same.id);
        note.extend(self.other_wordings(&finding.finding, finding.same_as.iter().chain(lesser)));
        let same = finding.same_as.iter().map(|id| format!(", {id}")).collect::<String>();
        ReportItem {
            who: Some(format!("[{}{same}]", finding.finding_id)),
            text: finding.finding.clone(),
            note: Some(note.join(" ")),
        }
    }

    /// The findings below CRITICAL that are the same as a critical one.
    fn lesser_of(&self, finding: &CriticalFindingRecord) -> Vec<&NumberedFinding> {
        let (all, groups) = self.log.all_findings();
        let pairs = || all.iter().copied().zip(&groups);
        let own: Vec<&usize> = pairs()
            .filter(|(one, _)| finding.ids().any(|id| *id == one.id))
            .map(|(_, group)| group)
            .collect();
        let same = pairs().skip(self.log.findings.len()).filter(|(_, group)| own.contains(group));
        same.map(|(same, _)| same).collect()
    }

    /// What a finding is called by those who raised it under another id: `judge-3 puts it so (L10): ...`.
    fn other_wordings<'i>(&self, shown: &str, ids: impl Iterator<Item = &'i String>) -> Vec<String> {
        let all = || self.log.findings.iter().chain(&self.log.lesser);
        let others = ids.filter_map(|id| all().find(|finding| finding.id == *id));
        let others = others.filter(|other| !is_same_text(&other.finding, shown));
        let told = others.map(|other| {
            let (who, puts) =
                (self.log.ids(&other.raisers()), if other.raised.len() == 1 { "puts" } else { "put" });
            format!("{} {puts} it so ({}): {}", joined(&who), other.id, sentence(&other.finding))
        });
        told.collect()
    }

    /// Who adopted a finding that others raised, when, and because of which points.
    fn adoptions(&self, finding: &CriticalFindingRecord) -> Vec<String> {
        let judges = self.log.judges.iter().enumerate();
        let others = judges.filter(|(_, judge)| finding.raised_by.iter().all(|id| id != judge.id));
        let told = others.filter_map(|(place, judge)| {
            let mut said = finding.positions.iter().filter(|said| said.judge_id == judge.id);
            let adopted = said.find(|said| said.position.is_held())?;
            let cited = self.log.cited_ids(&adopted.reason, adopted.round, Some(place));
            let cited = cited.iter().filter(|id| finding.ids().all(|own| own != *id));
            let cited: Vec<String> = cited.map(|id| format!("[{id}]")).collect();
            let because =
                if cited.is_empty() { String::new() } else { format!(" because of {}", joined(&cited)) };
            let given_up = said.find(|said| !said.position.is_held());
            let given_up = given_up.map(|said| format!(" and gave it up in round {}", said.round));
            let (round, given_up) = (adopted.round, given_up.unwrap_or_default());
            Some(format!("{} adopted it in round {round}{because}{given_up}.", judge.id))
        });
        told.collect()
    }

    /// What the judges think of a finding in the end: `critical (judge-3); real, but not critical (judge-1, judge-2)`.
    fn stands(&self, finding: &CriticalFindingRecord) -> String {
        let mut stands: IndexMap<&str, Vec<&str>> = IndexMap::new();
        for judge in &self.log.judges {
            stands.entry(finding.stand_of(judge.id)).or_default().push(judge.id);
        }
        // Who holds it comes first.
        stands.sort_by_key(|stand, _| *stand != FindingHold::Hold.spoken());
        let told = stands.iter().map(|(stand, judges)| format!("{stand} ({})", judges.join(", ")));
        told.collect::<Vec<_>>().join("; ")
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
        let others = self.log.judges.iter();
        let others = others.filter(|judge| finding.source_judges.iter().all(|raiser| raiser != judge.id));
        let accepted = others.filter_map(|judge| {
            let phases = [PanelPhase::Rebuttal, PanelPhase::Final].into_iter();
            let id = phases.flat_map(|phase| judge.conceded(phase)).find(|id| ids.contains(id))?;
            // Where several became one, a judge accepts it in the words of one of them.
            Some(if ids.len() == 1 { judge.id.to_owned() } else { format!("{} ({id})", judge.id) })
        });
        let accepted: Vec<String> = accepted.collect();
        let mut facts = vec![severity(finding.priority).to_owned()];
        facts.push(format!("raised by {}", finding.source_judges.join(", ")));
        facts.extend((!accepted.is_empty()).then(|| format!("accepted by {}", accepted.join(", "))));
        facts.extend(finding.unverified.then(|| "evidence unverified".to_owned()));
        let mut note = vec![format!("{}.", facts.join("; "))];
        note.extend(self.other_wordings(&finding.finding, finding.same_as.iter()));
        ReportItem {
            who: Some(format!("[{}]", ids.join(", "))),
            text: finding.finding.clone(),
            note: Some(note.join(" ")),
        }
    }

    /// The claims that a judge cites in rounds 2 and 3, so that a reader can look up the ids, and those whose evidence does not verify.
    pub(super) fn claims(&self) -> Option<ReportSection> {
        let phases = [PanelPhase::Rebuttal, PanelPhase::Final];
        let said = self.log.judges.iter().flat_map(|judge| phases.map(|phase| judge.said(phase)));
        let said = said.flatten().filter_map(|said| self.log.fields(&said).ok());
        let said = said.map(|fields| asks::written(&fields)).collect::<Vec<_>>().join("\n");
        let cited = self.log.cited_ids(&said, u32::MAX, None);
        let mut items = Vec::new();
        for (judge, claim) in
            self.log.judges.iter().flat_map(|j| j.statement.key_claims.iter().map(move |c| (j, c)))
        {
            let Some(id) = claim.id.as_ref().filter(|id| cited.contains(id) || claim.unverified.is_some())
            else {
                continue;
            };
            let mark = if claim.unverified.is_some() { " (unverified)" } else { "" };
            let note = format!("{}. Evidence{mark}: {}.", judge.id, stop(&claim.evidence));
            items.push(ReportItem {
                who: Some(format!("[{id}]")),
                text: claim.claim.clone(),
                note: Some(note),
            });
        }
        section("Claims that are cited or unverified", items)
    }
}

/// A severity as a list shows it.
fn severity(severity: FindingSeverity) -> &'static str {
    match severity {
        FindingSeverity::Critical => "Critical",
        FindingSeverity::High => "High",
        FindingSeverity::Medium => "Medium",
        FindingSeverity::Low => "Low",
    }
}
