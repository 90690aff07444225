//! The critical findings: their ids, which of them the judges declare the same, who holds them, and whether their evidence verifies.

use serde::{Deserialize, Serialize};

use super::PanelPhase;
use super::consensus::{self, FindingState};
use super::log::{JudgeStanding, PanelJudge, PanelLog};
use super::replies::{FindingHold, FindingPosition, FindingSeverity, RaisedFinding};
use crate::packet_lines::PacketLines;
use crate::quotes::is_same_text;

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

/// An id, and the places of the judges whose it is.
pub(super) type RaisedId<'a> = (&'a str, Vec<usize>);

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
    for claim in judges.iter_mut().flat_map(|judge| &mut judge.statement.key_claims) {
        claim.unverified = is_unverified(packet, &claim.evidence).then_some(true);
    }
    let (mut critical, mut lesser) = (Vec::new(), Vec::new());
    for phase in [PanelPhase::Position, PanelPhase::Rebuttal] {
        for (place, judge) in judges.iter_mut().enumerate() {
            for raised in judge.raised_mut(phase) {
                raised.unverified = is_unverified(packet, &raised.evidence).then_some(true);
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

/// Whether evidence is neither a line of the files nor words of them. A location may stand beside words in quotation marks; then
/// these must be in the files, too. Without any file nothing can be checked.
fn is_unverified(packet: &PacketLines, evidence: &str) -> bool {
    if packet.paths().next().is_none() {
        return false;
    }
    let quoted = quoted_parts(evidence);
    let has_line = packet.locate(evidence).is_some_and(|place| place.is_verified && place.line.is_some());
    let is_verified = match quoted.as_slice() {
        [] => has_line || packet.contains(evidence),
        quoted => quoted.iter().all(|part| packet.contains(part)) || packet.contains(evidence),
    };
    !is_verified
}

/// The parts of a text that stand in quotation marks.
fn quoted_parts(text: &str) -> Vec<&str> {
    const MARKS: [(char, &[char]); 6] = [
        ('"', &['"']),
        ('\u{201c}', &['\u{201d}']),
        ('\u{201e}', &['\u{201c}', '\u{201d}']),
        ('\u{ab}', &['\u{bb}']),
        ('\u{bb}', &['\u{ab}']),
        ('\u{300c}', &['\u{300d}']),
    ];
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((at, mark)) = rest.char_indices().find(|(_, c)| MARKS.iter().any(|(open, _)| open == c)) {
        let inner = rest.get(at + mark.len_utf8()..).unwrap_or_default();
        let closing = MARKS.iter().find(|(open, _)| *open == mark).map_or(&[][..], |(_, closing)| closing);
        let Some((end, close)) = inner.char_indices().find(|(_, c)| closing.contains(c)) else { break };
        parts.extend(inner.get(..end));
        rest = inner.get(end + close.len_utf8()..).unwrap_or_default();
    }
    parts
}

/// For each of these things the first one that is the same, as far as judges declared it up to a round. Two are the same where all
/// who raised them declare it, or more than half of the judges.
pub(super) fn declared_groups(
    judges: &[PanelJudge<'_>],
    things: &[(&str, Vec<usize>)],
    last_round: u32,
) -> Vec<usize> {
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

/// What is said of a judge who has said nothing of a finding.
const NO_POSITION: &str = "no position";

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
            None => NO_POSITION,
        }
    }

    /// The sides on it, with the judges who are on each in the end. A side without a judge is left out.
    pub(super) fn sides<'j>(&self, judges: &[PanelJudge<'j>]) -> Vec<(&'static str, Vec<&'j str>)> {
        let side = |judge: &str| match self.stand_of(judge) {
            NO_POSITION => "No position",
            stand if stand == FindingHold::Hold.spoken() => "Critical",
            _ => "Not critical",
        };
        let of = |name| judges.iter().map(|judge| judge.id).filter(|id| side(id) == name).collect();
        let sides = ["Critical", "Not critical", "No position"].map(|name| (name, of(name)));
        sides.into_iter().filter(|(_, judges): &(_, Vec<&str>)| !judges.is_empty()).collect()
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

/// The critical findings after the last round.
pub(super) fn finding_records(log: &PanelLog<'_>) -> Vec<CriticalFindingRecord> {
    let groups = log.groups();
    let firsts = log.findings.iter().enumerate().filter(|(place, _)| groups.get(*place) == Some(place));
    firsts.map(|(first, finding)| finding_record(log, &groups, first, finding)).collect()
}

fn finding_record(
    log: &PanelLog<'_>,
    groups: &[usize],
    first: usize,
    finding: &NumberedFinding,
) -> CriticalFindingRecord {
    let members = log.findings.iter().zip(groups).filter(|(_, group)| **group == first);
    let members: Vec<&NumberedFinding> = members.map(|(member, _)| member).collect();
    let mut raised_by: Vec<usize> = members.iter().flat_map(|member| member.raisers()).collect();
    raised_by.sort_unstable();
    raised_by.dedup();
    let holders = consensus::holders(log.last_standings(), groups, first);
    // Where one of the texts verifies, its words speak for all.
    let shown = members.iter().find(|member| !member.is_unverified).copied().unwrap_or(finding);
    CriticalFindingRecord {
        finding_id: finding.id.clone(),
        same_as: members.iter().skip(1).map(|member| member.id.clone()).collect(),
        finding: finding.finding.clone(),
        evidence: shown.evidence.clone(),
        unverified: shown.is_unverified,
        fix: members
            .iter()
            .map(|member| &member.fix)
            .find(|fix| !fix.is_empty())
            .cloned()
            .unwrap_or_default(),
        raised_by: log.ids(&raised_by),
        held_by: log.ids(&holders),
        state: FindingState::of(&holders, log.judges.len()),
        positions: finding_positions(log, &members),
    }
}

fn finding_positions(log: &PanelLog<'_>, members: &[&NumberedFinding]) -> Vec<FindingPositionRecord> {
    let mut records = Vec::new();
    for phase in [PanelPhase::Rebuttal, PanelPhase::Final] {
        for judge in &log.judges {
            let said = members.iter().filter_map(|member| {
                judge.finding_positions(phase).iter().find(|said| said.finding_id == member.id)
            });
            // One word of each judge in each round: where it says several things of one finding, that it holds it counts.
            let said: Vec<&FindingPosition> = said.collect();
            let counted = said.iter().find(|said| said.position.is_held()).or(said.first());
            records.extend(counted.map(|said| FindingPositionRecord {
                round: phase.round(),
                judge_id: judge.id.to_owned(),
                position: said.position,
                reason: said.reason.trim().to_owned(),
            }));
        }
    }
    records
}
