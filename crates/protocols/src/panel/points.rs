//! The points that judges accept from each other: which say the same, which deny each other, and who shares each without dispute.

use std::collections::BTreeSet;

use super::consensus::TOLERANCE;
use super::disputes;
use super::ledger::{self, same_words};
use super::log::Log;
use crate::lexical;

/// Two points whose words are so much alike are one, unless one denies the other.
const SAME_FROM: f64 = 0.8;

/// What one point is to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Same,
    Denial,
    Other,
}

fn relation(one: &str, other: &str) -> Relation {
    match alike(lexical::similarity(one, other)) {
        _ if same_words(one, other) => Relation::Same,
        true if lexical::opposed(one, other) => Relation::Denial,
        true => Relation::Same,
        false => Relation::Other,
    }
}

/// Whether two points say the same.
pub(super) fn same_point(one: &str, other: &str) -> bool {
    relation(one, other) == Relation::Same
}

/// Whether so much likeness is enough.
pub(super) fn alike(similarity: f64) -> bool {
    similarity >= SAME_FROM - TOLERANCE
}

/// A point that somebody accepted.
pub(super) struct Point<'a> {
    pub(super) text: &'a str,
    /// The judges who accepted it and those from whom they have it.
    pub(super) accepted_by: BTreeSet<usize>,
    /// Of those, the ones who do not dispute it: not those who leave the same point open, not those who accepted its denial, and where
    /// it is a critical finding not those who do not hold that.
    pub(super) shared_by: BTreeSet<usize>,
    /// The places of the issues that are about the same.
    pub(super) issues: Vec<usize>,
    /// The places of the points that deny it.
    pub(super) denials: Vec<usize>,
    /// The places of the critical findings that say the same.
    pub(super) findings: Vec<usize>,
}

/// The points of a debate.
pub(super) fn points<'a>(log: &'a Log<'_>) -> Vec<Point<'a>> {
    let accepted = accepted(log);
    accepted.iter().map(|(text, judges)| point(log, &accepted, text, judges)).collect()
}

fn point<'a>(log: &Log<'_>, all: &[Accepted<'_>], text: &'a str, accepted_by: &BTreeSet<usize>) -> Point<'a> {
    let mut disputed_by = BTreeSet::new();
    let (mut issues, mut denials, mut findings) = (Vec::new(), Vec::new(), Vec::new());
    for (at, issue) in disputes::issues(log).iter().enumerate() {
        match relation(&issue.text, text) {
            Relation::Same => {
                issues.push(at);
                disputed_by.extend(issue.judges());
            }
            // Who is contradicted in the denial holds the denial.
            Relation::Denial => disputed_by.extend(issue.opponents()),
            Relation::Other => {}
        }
    }
    for (at, (other, judges)) in all.iter().enumerate() {
        if relation(other, text) == Relation::Denial {
            denials.push(at);
            disputed_by.extend(judges);
        }
    }
    for (at, finding) in log.findings.iter().enumerate() {
        if same_point(&finding.finding, text) {
            findings.push(at);
            let holders = ledger::holders(log, at);
            disputed_by.extend(log.places().into_iter().filter(|judge| !holders.contains(judge)));
        }
    }
    let shared_by = accepted_by.difference(&disputed_by).copied().collect();
    Point { text, accepted_by: accepted_by.clone(), shared_by, issues, denials, findings }
}

/// A point with the judges who accepted it.
type Accepted<'a> = (&'a str, BTreeSet<usize>);

/// What judges came to agree on, by the agreements of round 2 and the concessions of round 3.
fn accepted<'a>(log: &'a Log<'_>) -> Vec<Accepted<'a>> {
    let place = |id: &str| log.judges.iter().position(|judge| judge.id == id);
    let mut points: Vec<Accepted<'a>> = Vec::new();
    let mut add = |text: &'a str, judges: Vec<usize>| {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        match points.iter_mut().find(|(other, _)| same_point(other, text)) {
            Some((_, shared_by)) => shared_by.extend(judges),
            None => points.push((text, judges.into_iter().collect())),
        }
    };
    for (own, judge) in log.judges.iter().enumerate() {
        for agreement in judge.rebuttal.iter().flat_map(|rebuttal| &rebuttal.agreements) {
            add(&agreement.on_point, std::iter::once(own).chain(place(&agreement.with_judge)).collect());
        }
    }
    for (own, judge) in log.judges.iter().enumerate() {
        for concession in judge.last.iter().flat_map(|last| &last.concessions_made) {
            let named = log.judges.iter().enumerate();
            let named = named.filter(|(_, other)| disputes::names(&concession.convinced_by, other.id));
            let named = named.map(|(at, _)| at);
            add(&concession.point, std::iter::once(own).chain(named).collect());
        }
    }
    points
}
