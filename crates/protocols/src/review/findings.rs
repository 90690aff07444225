//! The union of what all judges found in both rounds, each finding once.

use super::log::ReviewLog;
use super::packet::packet_lines;
use super::replies::{FindingSeverity, JudgeFinding};
use super::verdict::{OtherWording, ReviewFinding};
use crate::lexical;
use crate::packet_lines::{PacketLines, PacketLocation};

/// Descriptions that are this much alike are the same finding, unless something says otherwise.
const SAME_FROM: f64 = 0.8;
/// The same for two findings about the same line.
const SAME_LINE_FROM: f64 = 0.7;
/// Two judges may count the lines of one place a little differently.
const LINES_APART_MAX: u64 = 3;
/// Comparisons with thresholds allow for rounding.
const TOLERANCE: f64 = 1e-9;

/// A finding with everybody who reported it.
#[derive(Debug)]
struct MergedFinding {
    finding: JudgeFinding,
    location: Option<PacketLocation>,
    /// The judges who reported it, in seat order.
    judges: Vec<String>,
    rounds: Vec<u32>,
    /// Each report of it: by which judge, in which round, how severe.
    reports: Vec<(String, u32, FindingSeverity)>,
    /// What others called it, and where they saw it.
    also: Vec<OtherWording>,
    /// The judges who did not repeat it in a round 2 that counts.
    dropped_by: Vec<String>,
}

/// Everything that was found, the most severe first.
pub(super) fn merged_findings(log: &ReviewLog<'_>) -> Vec<ReviewFinding> {
    let paths = packet_lines(log.brief());
    let mut all: Vec<MergedFinding> = Vec::new();
    for judge in &log.judges {
        let first = judge.first.iter().flat_map(|first| &first.findings);
        let second = judge.second.iter().flat_map(|(second, _)| &second.findings);
        let found = first.map(|finding| (1, finding)).chain(second.map(|finding| (2, finding)));
        for (round, finding) in found {
            add(&mut all, &paths, &judge.seat.id, round, finding);
        }
    }
    for merged in &mut all {
        merged.mark_dropped(log);
        merged.finding.severity = merged.counted_severity(log);
    }
    all.sort_by_key(|merged| merged.finding.severity);
    all.into_iter().zip(1..).map(|(merged, number)| merged.numbered(number)).collect()
}

/// Adds a finding to the one that it repeats. Of several, that is the one with the nearest words.
fn add(all: &mut Vec<MergedFinding>, paths: &PacketLines, judge: &str, round: u32, finding: &JudgeFinding) {
    let location = finding.location.as_deref().and_then(|location| paths.locate(location));
    let same = all.iter_mut().rev().filter(|other| other.accepts(judge, round, finding, location.as_ref()));
    match same.max_by(|one, other| one.likeness(finding).total_cmp(&other.likeness(finding))) {
        Some(same) => same.add(judge, round, finding, location),
        None => all.push(MergedFinding {
            finding: finding.clone(),
            location,
            judges: vec![judge.to_owned()],
            rounds: vec![round],
            reports: vec![(judge.to_owned(), round, finding.severity)],
            also: Vec::new(),
            dropped_by: Vec::new(),
        }),
    }
}

impl MergedFinding {
    /// Whether a report can be of this finding. Two findings of one judge in one round are two, unless they are identical.
    fn accepts(
        &self,
        judge: &str,
        round: u32,
        finding: &JudgeFinding,
        location: Option<&PacketLocation>,
    ) -> bool {
        let is_repeated = self.reports.iter().any(|(by, when, _)| by == judge && *when == round);
        match is_repeated {
            true => {
                self.finding.description.trim() == finding.description.trim()
                    && self.location.as_ref() == location
            }
            false => self.is_same(finding, location),
        }
    }

    fn is_same(&self, finding: &JudgeFinding, location: Option<&PacketLocation>) -> bool {
        if self.is_elsewhere(location) {
            return false;
        }
        let (ours, theirs) = (&self.finding.description, &finding.description);
        if ours.trim().eq_ignore_ascii_case(theirs.trim()) {
            return true;
        }
        let line = |location: &PacketLocation| location.line.map(|line| (location.file.clone(), line));
        let own_line = self.location.as_ref().and_then(line);
        let is_same_line = own_line.is_some() && location.and_then(line) == own_line;
        let enough = if is_same_line { SAME_LINE_FROM } else { SAME_FROM };
        lexical::similarity(ours, theirs) + TOLERANCE >= enough
            && !lexical::opposed(ours, theirs)
            && lexical::figures(ours) == lexical::figures(theirs)
    }

    /// How near its words are to those of another finding. Identical words are nearest.
    fn likeness(&self, finding: &JudgeFinding) -> f64 {
        let (ours, theirs) = (self.finding.description.trim(), finding.description.trim());
        if ours.eq_ignore_ascii_case(theirs) { f64::INFINITY } else { lexical::similarity(ours, theirs) }
    }

    /// Whether both locations are known and too far apart to be the same.
    fn is_elsewhere(&self, location: Option<&PacketLocation>) -> bool {
        let Some((own, other)) = self.location.as_ref().zip(location) else { return false };
        let lines = own.line.zip(other.line);
        own.file != other.file || lines.is_some_and(|(own, other)| own.abs_diff(other) > LINES_APART_MAX)
    }

    /// Adds another report. The words of the most severe one stand for all, and the others are kept beside them.
    fn add(&mut self, judge: &str, round: u32, finding: &JudgeFinding, location: Option<PacketLocation>) {
        self.reports.push((judge.to_owned(), round, finding.severity));
        let own = &mut self.finding;
        let is_worse = finding.severity < own.severity;
        let (by, other) = match is_worse {
            true => (self.judges.first().map_or(judge, String::as_str), &*own),
            false => (judge, finding),
        };
        let other = OtherWording {
            judge: by.to_owned(),
            description: other.description.clone(),
            location: other.location.clone(),
        };
        let words = |text: &str| text.trim().to_lowercase();
        let is_same =
            words(&own.description) == words(&finding.description) && own.location == finding.location;
        if !is_same && !self.also.contains(&other) {
            self.also.push(other);
        }
        if is_worse {
            own.description.clone_from(&finding.description);
            own.severity = finding.severity;
        }
        for (ours, theirs) in [
            (&mut own.category, &finding.category),
            (&mut own.location, &finding.location),
            (&mut own.recommendation, &finding.recommendation),
        ] {
            if ours.is_none() {
                ours.clone_from(theirs);
            }
        }
        if !self.judges.iter().any(|other| other == judge) {
            self.judges.push(judge.to_owned());
        }
        if !self.rounds.contains(&round) {
            self.rounds.push(round);
            self.rounds.sort_unstable();
        }
        if self.location.as_ref().is_none_or(|own| own.line.is_none()) && location.is_some() {
            self.location = location;
        }
    }

    /// Marks the judges who reported it in round 1 and no longer do in a round 2 that counts.
    fn mark_dropped(&mut self, log: &ReviewLog<'_>) {
        for judge in log.revised().filter(|judge| !judge.is_reverted) {
            let id = &judge.seat.id;
            let is_repeated = self.reports.iter().any(|(by, round, _)| by == id && *round == 2);
            if self.judges.contains(id) && !is_repeated {
                self.dropped_by.push(id.clone());
            }
        }
    }

    /// The highest severity that a judge gives it in the verdict that counts, or gave it before dropping it.
    fn counted_severity(&self, log: &ReviewLog<'_>) -> FindingSeverity {
        let last = |judge: &String| {
            let is_reverted = log.judges.iter().any(|other| other.seat.id == *judge && other.is_reverted);
            let own =
                self.reports.iter().filter(|(by, round, _)| by == judge && !(is_reverted && *round == 2));
            own.max_by_key(|(_, round, _)| *round).map(|(.., severity)| *severity)
        };
        self.judges.iter().filter_map(last).min().unwrap_or(self.finding.severity)
    }

    fn numbered(self, number: usize) -> ReviewFinding {
        let Self { finding, location, judges, rounds, also, dropped_by, .. } = self;
        ReviewFinding {
            id: format!("F{number}"),
            finding,
            line: location.as_ref().and_then(|location| location.line),
            end_line: location.as_ref().and_then(|location| location.end_line),
            file: location.map(|location| location.file),
            dropped: judges.iter().all(|judge| dropped_by.contains(judge)),
            judges,
            rounds,
            also,
            dropped_by,
        }
    }
}
