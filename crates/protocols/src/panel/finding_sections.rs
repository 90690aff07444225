//! What readers see of the findings and claims of a `panel`: who raised them in which words, who holds or accepts them, and why.

use std::collections::BTreeMap;

use agon_core::wording::{capitalized, joined, sentence, without_stop};
use agon_core::{ReportItem, ReportSection};

use super::PanelPhase;
use super::asks;
use super::consensus::FindingState;
use super::findings::{CriticalFindingRecord, NumberedFinding, PointStands};
use super::replies::FindingSeverity;
use super::report::{PanelReport, section};
use super::verdict::PanelFinding;
use crate::quotes::is_same_text;

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

    fn critical_item(&self, finding: &CriticalFindingRecord) -> ReportItem {
        let lesser = self.lesser_of(finding);
        let ids: Vec<&str> =
            finding.ids().chain(lesser.iter().map(|same| &same.id)).map(String::as_str).collect();
        let mut note = vec![format!("{}; {}.", self.state(finding), self.raised(&ids, false))];
        note.extend(finding.moves(self.log, "it"));
        note.extend(finding.limits(self.log));
        let lesser = lesser.iter().map(|same| &same.id);
        let others = finding.same_as.iter().chain(lesser);
        note.extend(self.ground(
            &finding.finding,
            (&finding.evidence, finding.unverified),
            &finding.fix,
            others,
        ));
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

    /// Who raised a finding with these ids and, where they differ or it is asked for, how severe each calls it: `raised by judge-3 as
    /// critical, by judge-1 as high (L1)`. The first id needs no mention.
    fn raised(&self, ids: &[&str], shows_severity: bool) -> String {
        // The severities in order, each with its judges and their ids for it.
        let mut levels: BTreeMap<FindingSeverity, (Vec<&str>, Vec<&str>)> = BTreeMap::new();
        for judge in &self.log.judges {
            let second = judge.rebuttal.iter().flat_map(|said| &said.critical_findings);
            let said = judge.statement.critical_findings.iter().chain(second);
            let said = said.filter_map(|raised| Some((raised.severity, raised.id.as_deref()?)));
            let worst = said.filter(|(_, id)| ids.contains(id)).min_by_key(|(severity, _)| *severity);
            if let Some((severity, id)) = worst {
                let (judges, own) = levels.entry(severity).or_default();
                judges.push(judge.id);
                own.push(id);
            }
        }
        let shows_severity = shows_severity || levels.len() > 1;
        let told = levels.iter().map(|(severity, (judges, own))| {
            let is_first = ids.first().is_some_and(|first| own.contains(first));
            let id = own.first().filter(|_| !is_first).map(|id| format!(" ({id})")).unwrap_or_default();
            let level = shows_severity.then(|| format!(" as {}{id}", severity.spoken()));
            format!("by {}{}", judges.join(", "), level.unwrap_or_default())
        });
        format!("raised {}", told.collect::<Vec<_>>().join(", "))
    }

    /// Evidence and fix of a finding, and what those who raised it under another id say of it: `judge-3 puts it so (L10): ...`.
    fn ground<'i>(
        &self,
        text: &str,
        (evidence, unverified): (&str, bool),
        fix: &str,
        others: impl Iterator<Item = &'i String>,
    ) -> Vec<String> {
        let fix_words = |fix: &str| (!fix.is_empty()).then(|| format!("Fix: {}", sentence(fix)));
        let mut told = vec![self.evidence(evidence, unverified)];
        told.extend(fix_words(fix));
        let all = || self.log.findings.iter().chain(&self.log.lesser);
        for other in others.filter_map(|id| all().find(|finding| finding.id == *id)) {
            let (who, id) = (joined(&self.log.ids(&other.raisers())), &other.id);
            let puts = if other.raised.len() == 1 { "puts" } else { "put" };
            let is_new = |own: &str, shown: &str| !own.is_empty() && !is_same_text(own, shown);
            let words = is_new(&other.finding, text).then(|| sentence(&other.finding));
            let shown = is_new(&other.evidence, evidence)
                .then(|| self.evidence(&other.evidence, other.is_unverified));
            let other_fix = is_new(&other.fix, fix).then(|| fix_words(&other.fix)).flatten();
            let said: Vec<String> = words.into_iter().chain(shown).chain(other_fix).collect();
            if !said.is_empty() {
                told.push(format!("{who} {puts} it so ({id}): {}", said.join(" ")));
            }
        }
        told
    }

    /// A sentence with what shows something. Words of the files stand in quotation marks.
    fn evidence(&self, evidence: &str, is_unverified: bool) -> String {
        let mark = if is_unverified { " (unverified)" } else { "" };
        let packet = &self.log.packet;
        let is_line = packet.locate(evidence).is_some_and(|place| place.line.is_some());
        match evidence {
            "" => "No evidence was given (unverified).".to_owned(),
            words if !is_line && packet.contains(words) => {
                let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
                format!("Evidence: \"{}\".", without_stop(&words))
            }
            words => format!("Evidence{mark}: {}", sentence(words)),
        }
    }

    /// What became of a finding, and what each judge thinks of it in the end.
    pub(super) fn state(&self, finding: &CriticalFindingRecord) -> String {
        let state = match finding.state {
            FindingState::Adopted => return "All judges hold it".to_owned(),
            FindingState::Disputed => "Open",
            FindingState::Lowered | FindingState::Withdrawn => "Nobody holds it any more",
        };
        format!("{state}: {}", finding.stands(&self.log.judges))
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
        let level = finding.priority.map_or("", FindingSeverity::spoken);
        let (is_given_up, state) = (finding.is_given_up(), "Nobody holds it any more".to_owned());
        let state = if is_given_up { state } else { capitalized(level) };
        let mut facts = vec![state, self.raised(&ids, is_given_up)];
        facts.extend(finding.stands.words());
        let mut note = vec![format!("{}.", facts.join("; "))];
        let (evidence, others) = ((finding.evidence.as_str(), finding.unverified), finding.same_as.iter());
        note.extend(self.ground(&finding.finding, evidence, &finding.fix, others));
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
            let stands = PointStands::of(self.log, &[id]);
            let who: Vec<String> = std::iter::once(judge.id.to_owned()).chain(stands.words()).collect();
            let evidence = self.evidence(claim.evidence.trim(), claim.unverified.is_some());
            let note = format!("{}. {evidence}", who.join("; "));
            items.push(ReportItem {
                who: Some(format!("[{id}]")),
                text: claim.claim.clone(),
                note: Some(note),
            });
        }
        items.extend(self.unverified_evidence());
        section("Claims that are cited or unverified", items)
    }

    /// The points of rounds 2 and 3 whose evidence does not verify.
    fn unverified_evidence(&self) -> Vec<ReportItem> {
        let mut items = Vec::new();
        for judge in &self.log.judges {
            let rejected = judge.rebuttal.iter().flat_map(|said| &said.disagreements);
            let rejected = rejected.map(|said| (2, &said.on_point, &said.my_evidence, said.unverified));
            let maintained = judge.last.iter().flat_map(|said| &said.key_points_maintained);
            let maintained = maintained.map(|said| (3, &said.point, &said.evidence, said.unverified));
            let points = rejected.chain(maintained).filter(|(.., unverified)| unverified.is_some());
            items.extend(points.map(|(round, point, evidence, _)| ReportItem {
                who: Some(format!("{} in round {round}", judge.id)),
                text: point.clone(),
                note: Some(self.evidence(evidence.trim(), true)),
            }));
        }
        items
    }
}
