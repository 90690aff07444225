//! The critical findings: their ids, which of them the judges declare the same, who holds them, and whether their evidence verifies.

use std::collections::BTreeSet;

use agon_core::wording::sentence;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::consensus::{self, FindingState};
use super::log::{JudgeStanding, PanelJudge, PanelLog};
use super::replies::{FindingHold, FindingPosition, FindingSeverity, RaisedFinding};
use super::{PanelPhase, wire_name};
use crate::packet_lines::{PacketLines, PacketLocation};
use crate::quotes::{is_same_text, quoted_and_other_words};

/// A finding of round 1 or 2, critical or not.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NumberedFinding {
    /// `F1`, `F2`... for critical findings and `L1`, `L2`... for lesser ones, in seat order, those of round 2 after those of round 1.
    pub(super) id: String,
    pub(super) severity: FindingSeverity,
    pub(super) finding: String,
    pub(super) evidence: String,
    pub(super) fix: String,
    pub(super) is_unverified: bool,
    /// The judges who raised it, by place, and in which round: several where their texts are equal.
    pub(super) raised: Vec<(usize, u32)>,
}

impl NumberedFinding {
    /// The places of the judges who raised it.
    pub(super) fn raisers(&self) -> Vec<usize> {
        self.raised.iter().map(|(place, _)| *place).collect()
    }

    /// The round in which it was first raised.
    pub(super) fn round(&self) -> u32 {
        self.raised.first().map_or(0, |(_, round)| *round)
    }
}

/// What a judge says of a critical finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FindingStand {
    /// It has not said anything.
    Unknown,
    /// It raised or adopted it and has not given it up since.
    Holds,
    /// It lowers, disputes or withdrew it.
    Rejects,
}

impl FindingStand {
    /// What a judge says of a finding with these ids after a round; what it said before counts where it says nothing.
    pub(super) fn after(self, ids: &[&str], positions: &[FindingPosition]) -> Self {
        match ids.iter().find_map(|id| positions.iter().find(|said| said.finding_id == *id)) {
            Some(said) if said.position.is_held() => Self::Holds,
            Some(_) => Self::Rejects,
            None => self,
        }
    }
}

/// The critical findings and the lesser ones, numbered. Their ids are written into the judges' statements, too, with whether the
/// evidence of findings and claims verifies.
pub(super) fn number_findings(
    judges: &mut [PanelJudge<'_>],
    packet: &PacketLines,
) -> [Vec<NumberedFinding>; 2] {
    for judge in judges.iter_mut() {
        for claim in &mut judge.statement.key_claims {
            claim.unverified = is_unverified(packet, &claim.evidence).then_some(true);
        }
        let rejected = judge.rebuttal.iter_mut().flat_map(|said| &mut said.disagreements);
        let rejected = rejected.map(|point| (&point.my_evidence, &mut point.unverified));
        let maintained = judge.last.iter_mut().flat_map(|said| &mut said.key_points_maintained);
        let maintained = maintained.map(|point| (&point.evidence, &mut point.unverified));
        for (evidence, unverified) in rejected.chain(maintained) {
            // These may do without any.
            let is_given = !evidence.trim().is_empty();
            *unverified = (is_given && is_unverified(packet, evidence)).then_some(true);
        }
    }
    let (mut critical, mut lesser) = (Vec::new(), Vec::new());
    for phase in [PanelPhase::Position, PanelPhase::Rebuttal] {
        for (place, judge) in judges.iter_mut().enumerate() {
            for raised in judge.raised_mut(phase) {
                raised.unverified = is_unverified(packet, &raised.evidence).then_some(true);
                // A critical finding blocks consensus even where its judge did not say so.
                raised.blocks_consensus.get_or_insert(raised.severity == FindingSeverity::Critical);
                let (findings, letter) = match raised.severity {
                    FindingSeverity::Critical => (&mut critical, 'F'),
                    _ => (&mut lesser, 'L'),
                };
                raised.id = Some(number_finding(findings, letter, raised, (place, phase.round())));
            }
        }
    }
    [critical, lesser]
}

fn number_finding(
    findings: &mut Vec<NumberedFinding>,
    letter: char,
    raised: &RaisedFinding,
    by: (usize, u32),
) -> String {
    if let Some(same) = findings.iter_mut().find(|other| is_same_text(&other.finding, &raised.finding)) {
        if !same.raisers().contains(&by.0) {
            same.raised.push(by);
        }
        same.severity = same.severity.min(raised.severity);
        if same.is_unverified && raised.unverified.is_none() {
            (same.evidence, same.is_unverified) = (raised.evidence.trim().to_owned(), false);
        }
        return same.id.clone();
    }
    let id = format!("{letter}{}", findings.len() + 1);
    findings.push(NumberedFinding {
        id: id.clone(),
        severity: raised.severity,
        finding: raised.finding.trim().to_owned(),
        evidence: raised.evidence.trim().to_owned(),
        fix: raised.fix.trim().to_owned(),
        is_unverified: raised.unverified.is_some(),
        raised: vec![by],
    });
    id
}

/// Whether evidence is neither a line of the files nor words of them. Where words in quotation marks stand beside a location, they
/// must be those of its lines, and the location must exist. Without any file nothing can be checked.
fn is_unverified(packet: &PacketLines, evidence: &str) -> bool {
    if packet.paths().next().is_none() {
        return false;
    }
    let (quotes, around) = quoted_and_other_words(evidence);
    let named = || around.iter().filter_map(|text| Some((*text, packet.locate(text)?)));
    let is_missing = |place: &PacketLocation| {
        let is_known = packet.paths().any(|path| path == place.file);
        !place.is_verified && (is_known || place.line.is_some())
    };
    let lines = named().filter(|(_, place)| place.is_verified && place.line.is_some());
    let lines: Vec<&str> = lines.map(|(text, _)| text).collect();
    let is_there = |quote: &&str| match lines.as_slice() {
        [] => packet.contains(quote),
        lines => lines.iter().any(|line| packet.quotes_line(line, quote)),
    };
    let has_any = !quotes.is_empty() || !lines.is_empty();
    let is_shown = has_any && !named().any(|(_, place)| is_missing(&place)) && quotes.iter().all(is_there);
    // To look for words in all files takes longest.
    !is_shown && !packet.contains(evidence)
}

/// The lines that evidence names or, where it names none, those of its first quote: words in quotation marks, or all of it.
pub(super) fn evidence_lines(log: &PanelLog<'_>, evidence: &str) -> Option<PacketLocation> {
    let (quotes, around) = quoted_and_other_words(evidence);
    let mut named = around.into_iter().filter_map(|text| log.packet.locate(text));
    let named = named.find(|place| place.is_verified && place.line.is_some());
    named.or_else(|| quotes.into_iter().chain([evidence]).find_map(|quote| quoted_lines(log, quote)))
}

/// The lines of the files where a quote first occurs.
pub(super) fn quoted_lines(log: &PanelLog<'_>, quote: &str) -> Option<PacketLocation> {
    let packet = &log.packet;
    super::log::judged(&log.debate.brief.files).find_map(|file| {
        let path = file.path.strip_prefix("./").unwrap_or(&file.path);
        let has = |first: usize, last: usize| packet.quotes_line(&format!("{path}:{first}-{last}"), quote);
        let count = file.text.lines().count();
        // More lines never contain less.
        let end = least(count, |last| has(1, last))?;
        let start = end + 1 - least(end, |lines| has(end + 1 - lines, end))?;
        let range = if start < end { format!("{start}-{end}") } else { start.to_string() };
        packet.locate(&format!("{path}:{range}"))
    })
}

/// The smallest number from 1 to `most` from which on something holds.
fn least(most: usize, holds: impl Fn(usize) -> bool) -> Option<usize> {
    if most == 0 || !holds(most) {
        return None;
    }
    let (mut low, mut high) = (0, most);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if holds(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// For each of these things the first one that is the same, as far as judges declared it up to a round. Two are the same where all
/// who raised them declare it, or more than half of the judges.
pub(super) fn declared_groups<'s>(
    judges: &[PanelJudge<'_>],
    things: impl Iterator<Item = (&'s str, Vec<usize>)>,
    last_round: u32,
) -> Vec<usize> {
    let things: Vec<(&str, Vec<usize>)> = things.collect();
    let declares = |judge: &PanelJudge<'_>, one: &str, other: &str| {
        let phases = [PanelPhase::Rebuttal, PanelPhase::Final];
        let phases = phases.into_iter().filter(|phase| phase.round() <= last_round);
        let mut lists = phases.flat_map(|phase| judge.same_as(phase));
        lists.any(|ids| [one, other].iter().all(|id| ids.iter().any(|listed| listed == id)))
    };
    let mut groups: Vec<usize> = (0..things.len()).collect();
    for (at, (other, other_raisers)) in things.iter().enumerate() {
        for (first, (one, raisers)) in things.iter().enumerate().take(at) {
            let declaring = judges.iter().enumerate().filter(|(_, judge)| declares(judge, one, other));
            let declaring: Vec<usize> = declaring.map(|(place, _)| place).collect();
            let mut all = raisers.iter().chain(other_raisers).peekable();
            let by_raisers = all.peek().is_some() && all.all(|place| declaring.contains(place));
            if by_raisers || declaring.len() * 2 > judges.len() {
                let (from, to) = (groups.get(at).copied(), groups.get(first).copied());
                let (Some(from), Some(to)) = (from, to) else { continue };
                let (low, high) = (from.min(to), from.max(to));
                groups.iter_mut().filter(|group| **group == high).for_each(|group| *group = low);
            }
        }
    }
    groups
}

/// What a judge says of a finding and of those that are the same: it holds the group if it holds any of them.
pub(super) fn group_stand(standing: &JudgeStanding, groups: &[usize], finding: usize) -> FindingStand {
    let group = groups.get(finding);
    let members = standing.stands.iter().zip(groups).filter(|(_, of)| Some(*of) == group);
    let stands: Vec<FindingStand> = members.map(|(stand, _)| *stand).collect();
    let wanted = [FindingStand::Holds, FindingStand::Rejects];
    wanted.into_iter().find(|stand| stands.contains(stand)).unwrap_or(FindingStand::Unknown)
}

/// Who accepts, rejects or gave up a claim or a lesser finding in the end, by the last word of each judge.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PointStands {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted_by: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejected_by: Vec<String>,
    /// Those who raised it and do not hold it any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given_up_by: Vec<String>,
}

impl PointStands {
    /// What the judges say of a point with these ids. Whoever raised one of them is heard on that one only: another judge may have put the
    /// same point in a way that it rejects.
    pub(super) fn of(log: &PanelLog<'_>, ids: &[&str]) -> Self {
        let of = |is_raiser: bool, accepts: bool| {
            let mut places = log.places();
            places.retain(|place| {
                let is_own = |id: &&str| log.raisers_of(id).contains(place);
                let own: Vec<&str> = ids.iter().copied().filter(is_own).collect();
                let heard_on = if own.is_empty() { ids } else { &own };
                own.is_empty() != is_raiser && log.accepts(*place, heard_on) == Some(accepts)
            });
            log.ids(&places)
        };
        Self { accepted_by: of(false, true), rejected_by: of(false, false), given_up_by: of(true, false) }
    }

    /// `accepted by judge-1; rejected by judge-2`, as far as somebody does.
    pub(super) fn words(&self) -> impl Iterator<Item = String> {
        let parts = [
            ("accepted by", &self.accepted_by),
            ("rejected by", &self.rejected_by),
            ("given up by", &self.given_up_by),
        ];
        let parts = parts.into_iter().filter(|(_, judges)| !judges.is_empty());
        parts.map(|(what, judges)| format!("{what} {}", judges.join(", ")))
    }
}

/// A critical finding as the verdict shows it. Findings that are the same are one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CriticalFindingRecord {
    pub finding_id: String,
    /// The other ids of the same finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_as: Vec<String>,
    pub finding: String,
    pub evidence: String,
    /// Present where the evidence is neither a line of the files nor words of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
    /// What would fix it, in the judges' words. Empty where nobody said so.
    #[serde(default)]
    pub fix: String,
    pub raised_by: Vec<String>,
    pub held_by: Vec<String>,
    pub state: FindingState,
    /// Everything that was said of it, by round and in seat order.
    pub positions: Vec<FindingPositionRecord>,
}

impl CriticalFindingRecord {
    /// Its id and its text, marked where its evidence does not verify.
    pub(super) fn named(&self) -> String {
        let mark = if self.unverified { " (evidence unverified)" } else { "" };
        format!("[{}] {}{mark}", self.finding_id, self.finding)
    }

    /// All its ids.
    pub(super) fn ids(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.finding_id).chain(&self.same_as)
    }

    /// What a judge thinks of it in the end, in a word or two.
    pub(super) fn stand_of(&self, judge: &str) -> &'static str {
        match self.last_position(judge) {
            _ if self.held_by.iter().any(|id| id == judge) => FindingHold::Hold.spoken(),
            Some(said) => said.position.spoken(),
            None => "no position",
        }
    }

    /// What the judges think of it in the end, with the judges who think so. Those who hold it come first.
    pub(super) fn sides<'j>(&self, judges: &[PanelJudge<'j>]) -> IndexMap<&'static str, Vec<&'j str>> {
        let mut sides: IndexMap<&str, Vec<&str>> = IndexMap::new();
        for judge in judges {
            sides.entry(self.stand_of(judge.id)).or_default().push(judge.id);
        }
        sides.sort_by_key(|stand, _| *stand != FindingHold::Hold.spoken());
        sides
    }

    /// The same in words: `critical (judge-3); real, but not critical (judge-1, judge-2)`.
    pub(super) fn stands(&self, judges: &[PanelJudge<'_>]) -> String {
        let sides = self.sides(judges);
        let told = sides.iter().map(|(stand, judges)| format!("{stand} ({})", judges.join(", ")));
        told.collect::<Vec<_>>().join("; ")
    }

    /// Whether all who held it and do not any more say that it is real, but not critical.
    fn is_lowered(&self) -> bool {
        let held = self.positions.iter().filter(|said| said.position.is_held()).map(|said| &said.judge_id);
        let is_lowered = |judge: &String| {
            self.last_position(judge).is_some_and(|said| said.position == FindingHold::Lower)
        };
        self.state == FindingState::Withdrawn && self.raised_by.iter().chain(held).all(is_lowered)
    }

    /// The same, with the judge's reason.
    pub(super) fn view_of(&self, judge: &str) -> String {
        let reason = self.last_position(judge).map(|said| said.reason.as_str()).filter(|why| !why.is_empty());
        let stand = self.stand_of(judge);
        reason.map_or(stand.to_owned(), |reason| format!("{stand}. {reason}"))
    }

    /// What a judge last said of it.
    pub(super) fn last_position(&self, judge: &str) -> Option<&FindingPositionRecord> {
        self.positions.iter().rev().find(|said| said.judge_id == judge)
    }
}

/// What a judge said of a critical finding in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingPositionRecord {
    pub round: u32,
    pub judge_id: String,
    pub position: FindingHold,
    pub reason: String,
}

impl FindingPositionRecord {
    /// `judge-1 in round 2: lower. It is rare.`
    pub(super) fn told(&self) -> String {
        let (judge, word) = (&self.judge_id, wire_name(self.position));
        format!("{judge} in round {}: {word}. {}", self.round, sentence(&self.reason)).trim_end().to_owned()
    }
}

/// The critical findings after the last round.
pub(super) fn finding_records(log: &PanelLog<'_>) -> Vec<CriticalFindingRecord> {
    let groups = log.groups();
    let firsts = log.findings.iter().enumerate().filter(|(place, _)| groups.get(*place) == Some(place));
    firsts.map(|(first, finding)| finding_record(log, groups, first, finding)).collect()
}

fn finding_record(
    log: &PanelLog<'_>,
    groups: &[usize],
    first: usize,
    finding: &NumberedFinding,
) -> CriticalFindingRecord {
    let members = log.findings.iter().zip(groups).filter(|(_, group)| **group == first);
    let members: Vec<&NumberedFinding> = members.map(|(member, _)| member).collect();
    let raised_by: BTreeSet<usize> = members.iter().flat_map(|member| member.raisers()).collect();
    let holders = consensus::holders(log.last_standings(), groups, first);
    // Where one of the texts verifies, its words speak for all.
    let shown = members.iter().find(|member| !member.is_unverified).copied().unwrap_or(finding);
    let mut fixes = members.iter().map(|member| &member.fix);
    let mut record = CriticalFindingRecord {
        finding_id: finding.id.clone(),
        same_as: members.iter().skip(1).map(|member| member.id.clone()).collect(),
        finding: finding.finding.clone(),
        evidence: shown.evidence.clone(),
        unverified: shown.is_unverified,
        fix: fixes.find(|fix| !fix.is_empty()).cloned().unwrap_or_default(),
        raised_by: log.ids(&raised_by.into_iter().collect::<Vec<_>>()),
        held_by: log.ids(&holders),
        state: FindingState::of(&holders, log.judges.len()),
        positions: finding_positions(log, &members),
    };
    if record.is_lowered() {
        record.state = FindingState::Lowered;
    }
    record
}

fn finding_positions(log: &PanelLog<'_>, members: &[&NumberedFinding]) -> Vec<FindingPositionRecord> {
    let mut records = Vec::new();
    for phase in [PanelPhase::Rebuttal, PanelPhase::Final] {
        for (place, judge) in log.judges.iter().enumerate() {
            let said = members.iter().filter_map(|member| {
                let mut positions = judge.finding_positions(phase).iter();
                Some((member, positions.find(|said| said.finding_id == member.id)?))
            });
            // One word of each judge in each round: where it says several things of one finding, that it holds it counts, and first
            // what it says of the one that it raised itself.
            let counted = said
                .min_by_key(|(member, said)| (!said.position.is_held(), !member.raisers().contains(&place)));
            records.extend(counted.map(|(_, said)| FindingPositionRecord {
                round: phase.round(),
                judge_id: judge.id.to_owned(),
                position: said.position,
                reason: said.reason.trim().to_owned(),
            }));
        }
    }
    records
}
