//! The union of what all judges found in both rounds, each thing once.

use serde_json::{Value, json};

use super::log::{Judge, Log};
use super::packet::{Paths, Place};
use super::reply::{Finding, Severity};
use crate::lexical;

/// Descriptions this much alike are of one thing, if nothing says otherwise.
const SAME: f64 = 0.8;
/// It takes less where they are of the same line.
const SAME_LINE: f64 = 0.7;
/// Judges may count the lines of one place a little differently.
const LINES_OFF_MAX: u64 = 3;
/// Likeness is computed with roots, which are never quite what they should be.
const TOLERANCE: f64 = 1e-9;

/// A finding, by whomever and whenever it was made.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) finding: Finding,
    pub(super) place: Option<Place>,
    /// The judges who made it, in seat order.
    pub(super) judges: Vec<String>,
    pub(super) rounds: Vec<u32>,
    /// Who made it when, and how grave: two findings of one judge in one round are two.
    made: Vec<(String, u32, Severity)>,
    /// What others called it, and where they saw it.
    also: Vec<Value>,
    /// Those of them who did not repeat it in a round 2 that counts.
    pub(super) dropped_by: Vec<String>,
}

impl Merged {
    /// Whether nobody who made it holds it any more.
    pub(super) fn is_dropped(&self) -> bool {
        self.judges.iter().all(|judge| self.dropped_by.contains(judge))
    }

    pub(super) fn document(&self, number: usize) -> Value {
        let place = self.place.as_ref();
        json!({
            "id": format!("F{number}"),
            "severity": self.finding.severity,
            "description": self.finding.description,
            "category": self.finding.category,
            "location": self.finding.location,
            "recommendation": self.finding.recommendation,
            "file": place.map(|place| &place.file),
            "line": place.and_then(|place| place.line),
            "end_line": place.and_then(|place| place.end_line),
            "judges": self.judges,
            "rounds": self.rounds,
            "also": self.also,
            "dropped": self.is_dropped(),
            "dropped_by": self.dropped_by,
        })
    }

    /// The gravest that a judge calls it in its verdict that counts; of those who dropped it, in the one before.
    fn severity(&self, log: &Log<'_>) -> Severity {
        let last = |judge: &String| {
            let reverted = log.judges.iter().any(|other| other.seat.id == *judge && other.is_reverted());
            let own = self.made.iter().filter(|(by, round, _)| by == judge && !(reverted && *round == 2));
            own.max_by_key(|(_, round, _)| *round).map(|(.., severity)| *severity)
        };
        self.judges.iter().filter_map(last).min().unwrap_or(self.finding.severity)
    }

    fn is_same(&self, finding: &Finding, place: Option<&Place>) -> bool {
        if self.is_elsewhere(place) {
            return false;
        }
        let (ours, theirs) = (&self.finding.description, &finding.description);
        if ours.trim().eq_ignore_ascii_case(theirs.trim()) {
            return true;
        }
        let alike = lexical::similarity(ours, theirs) + TOLERANCE;
        let line = |place: &Place| place.line.map(|line| (place.file.clone(), line));
        let same_line =
            self.place.as_ref().and_then(line).is_some_and(|own| place.and_then(line) == Some(own));
        let enough = if same_line { SAME_LINE } else { SAME };
        alike >= enough
            && !lexical::opposed(ours, theirs)
            && lexical::figures(ours) == lexical::figures(theirs)
    }

    /// How near its words are to another's; the same words are nearest.
    fn likeness(&self, finding: &Finding) -> f64 {
        let (ours, theirs) = (self.finding.description.trim(), finding.description.trim());
        if ours.eq_ignore_ascii_case(theirs) { f64::INFINITY } else { lexical::similarity(ours, theirs) }
    }

    /// Whether two places are known, and too far apart to be one.
    fn is_elsewhere(&self, place: Option<&Place>) -> bool {
        let Some((own, other)) = self.place.as_ref().zip(place) else { return false };
        let apart = own.line.zip(other.line).is_some_and(|(own, other)| own.abs_diff(other) > LINES_OFF_MAX);
        own.file != other.file || apart
    }

    /// Whether it can be what this judge finds in this round: it has not found it in the same round already.
    fn takes(&self, judge: &str, round: u32, finding: &Finding, place: Option<&Place>) -> bool {
        let again = self.made.iter().any(|(by, when, _)| by == judge && *when == round);
        match again {
            true => {
                self.finding.description.trim() == finding.description.trim() && self.place.as_ref() == place
            }
            false => self.is_same(finding, place),
        }
    }

    fn add(&mut self, judge: &str, round: u32, finding: &Finding, place: Option<Place>) {
        self.made.push((judge.to_owned(), round, finding.severity));
        // The gravest one's words stand for all; the others are kept beside them.
        let graver = finding.severity < self.finding.severity;
        let own = &mut self.finding;
        let other = match graver {
            true => {
                json!({"judge": self.judges.first(), "description": own.description, "location": own.location})
            }
            false => {
                json!({"judge": judge, "description": finding.description, "location": finding.location})
            }
        };
        let words = |text: &str| text.trim().to_lowercase();
        let same = words(&own.description) == words(&finding.description) && own.location == finding.location;
        if !same && !self.also.contains(&other) {
            self.also.push(other);
        }
        if graver {
            own.description.clone_from(&finding.description);
        }
        if !self.judges.iter().any(|other| other == judge) {
            self.judges.push(judge.to_owned());
        }
        if !self.rounds.contains(&round) {
            self.rounds.push(round);
            self.rounds.sort_unstable();
        }
        self.finding.severity = self.finding.severity.min(finding.severity);
        let own = &mut self.finding;
        for (ours, theirs) in [
            (&mut own.category, &finding.category),
            (&mut own.location, &finding.location),
            (&mut own.recommendation, &finding.recommendation),
        ] {
            if ours.is_none() {
                ours.clone_from(theirs);
            }
        }
        if self.place.as_ref().is_none_or(|own| own.line.is_none()) && place.is_some() {
            self.place = place;
        }
    }
}

/// Everything that was found, the gravest first.
pub(super) fn union(log: &Log<'_>) -> Vec<Merged> {
    let paths = Paths::of(log.brief());
    let mut all: Vec<Merged> = Vec::new();
    for judge in &log.judges {
        let first = judge.first.as_ref().map_or(&[][..], |first| &first.findings);
        let second = judge.second.as_ref().map_or(&[][..], |(second, _)| &second.findings);
        let made = first.iter().map(|finding| (1, finding)).chain(second.iter().map(|finding| (2, finding)));
        for (round, finding) in made {
            let place = finding.location.as_deref().and_then(|location| paths.place(location));
            let fits = all
                .iter_mut()
                .rev()
                .filter(|other| other.takes(&judge.seat.id, round, finding, place.as_ref()));
            match fits.max_by(|one, other| one.likeness(finding).total_cmp(&other.likeness(finding))) {
                Some(same) => same.add(&judge.seat.id, round, finding, place),
                None => all.push(Merged {
                    finding: finding.clone(),
                    place,
                    judges: vec![judge.seat.id.clone()],
                    rounds: vec![round],
                    made: vec![(judge.seat.id.clone(), round, finding.severity)],
                    also: Vec::new(),
                    dropped_by: Vec::new(),
                }),
            }
        }
    }
    for judge in &log.judges {
        mark_dropped(judge, &mut all);
    }
    for merged in &mut all {
        merged.finding.severity = merged.severity(log);
    }
    all.sort_by_key(|merged| merged.finding.severity);
    all
}

/// Marks what a judge found in round 1 and, in a round 2 that counts, no longer does.
fn mark_dropped(judge: &Judge<'_>, all: &mut [Merged]) {
    if judge.second.is_none() || judge.is_reverted() {
        return;
    }
    let id = &judge.seat.id;
    for merged in all.iter_mut().filter(|merged| merged.judges.contains(id)) {
        if !merged.made.iter().any(|(by, round, _)| by == id && *round == 2) {
            merged.dropped_by.push(id.clone());
        }
    }
}
