//! What all judges conclude, what some of them share, and where they differ.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::consensus::{State, TOLERANCE, column, extremes, mean};
use super::disputes::{self, dated};
use super::figure;
use super::ledger;
use super::log::Log;
use super::points::{Point, points, same_point};
use super::reply::Severity;

/// The three lists.
pub(super) struct Findings {
    pub(super) convergent: Vec<Value>,
    pub(super) shared: Vec<Value>,
    pub(super) divergent: Vec<Value>,
}

impl Findings {
    pub(super) fn of(log: &Log<'_>) -> Self {
        let points = points(log);
        Self {
            convergent: convergent(log, &points),
            shared: shared(log, &points),
            divergent: divergent(log, &points),
        }
    }
}

/// "A conclusion all judges agree on": critical findings that all hold, points that all share, and the dimensions that all see
/// alike.
fn convergent(log: &Log<'_>, points: &[Point<'_>]) -> Vec<Value> {
    let held = log.findings.iter().enumerate();
    let held = held.filter(|(place, _)| ledger::state(log, *place) == State::Adopted);
    let mut found: Vec<Value> = held
        .map(|(_, finding)| record(&finding.finding, Severity::Critical, &json!(["all"]), true))
        .collect();
    // A critical finding that all share in words, too, is there already.
    let all = |point: &&Point<'_>| point.shared_by.len() == log.judges.len() && point.findings.is_empty();
    let points = points.iter().filter(all);
    found.extend(points.map(|point| agreed(log, point, Severity::Medium, &json!(["all"]))));
    found.extend(dimensions(log, true));
    found
}

/// What several judges share, but not all.
fn shared(log: &Log<'_>, points: &[Point<'_>]) -> Vec<Value> {
    // What nobody is known to share is not agreed on, even if somebody conceded it.
    let some = 2..log.judges.len();
    let adopted = |at: &usize| ledger::state(log, *at) == State::Adopted;
    let is_shared =
        |point: &&Point<'_>| some.contains(&point.shared_by.len()) && !point.findings.iter().any(adopted);
    let mut points: Vec<&Point<'_>> = points.iter().filter(is_shared).collect();
    points.sort_by_key(|point| std::cmp::Reverse(point.shared_by.len()));
    points.iter().map(|point| agreed(log, point, Severity::Low, &ids(log, &point.shared_by))).collect()
}

/// "A conclusion where judges disagree": disputed critical findings, dimensions that are seen too differently, what judges leave
/// open, and points that some accept and others deny.
fn divergent(log: &Log<'_>, points: &[Point<'_>]) -> Vec<Value> {
    let disputed = log.findings.iter().enumerate();
    let disputed = disputed.filter(|(place, _)| ledger::state(log, *place) == State::Disputed);
    let mut found: Vec<Value> = disputed
        .map(|(place, finding)| {
            let sides = ids(log, &about(log, place));
            record(&format!("[{}] {}", finding.id, finding.finding), Severity::Critical, &sides, true)
        })
        .collect();
    found.extend(dimensions(log, false));
    for (place, issue) in disputes::issues(log).iter().enumerate() {
        let severity = if issue.flagged { Severity::High } else { Severity::Medium };
        let mut judges: BTreeSet<usize> = issue.both_sides().into_iter().collect();
        let same = points.iter().filter(|point| point.issues.contains(&place));
        judges.extend(same.flat_map(|point| &point.accepted_by));
        found.push(dated(record(&issue.text, severity, &ids(log, &judges), issue.flagged), issue));
    }
    found.extend(denied(log, points));
    found
}

/// The judges who hold a critical finding, or say that they do not.
fn about(log: &Log<'_>, place: usize) -> BTreeSet<usize> {
    let id = log.findings.get(place).map_or("", |finding| finding.id.as_str());
    let spoke = log.judges.iter().enumerate();
    let spoke = spoke.filter(|(_, judge)| ledger::last_position(judge, id).is_some()).map(|(at, _)| at);
    ledger::holders(log, place).into_iter().chain(spoke).collect()
}

/// Points of which judges accepted one and others its denial, unless a judge names one as open.
fn denied(log: &Log<'_>, points: &[Point<'_>]) -> Vec<Value> {
    let mut found = Vec::new();
    for (place, one) in points.iter().enumerate() {
        let others = one.denials.iter().filter(|at| **at > place).filter_map(|at| points.get(*at));
        for other in others.filter(|other| one.issues.is_empty() && other.issues.is_empty()) {
            let judges: BTreeSet<usize> = one.accepted_by.union(&other.accepted_by).copied().collect();
            let text = format!("{} (others: {})", one.text, other.text);
            found.push(record(&text, Severity::Medium, &ids(log, &judges), false));
        }
    }
    found
}

fn record(finding: &str, priority: Severity, source: &Value, action: bool) -> Value {
    json!({"finding": finding, "priority": priority, "source_judges": source, "action_required": action})
}

fn ids(log: &Log<'_>, judges: &BTreeSet<usize>) -> Value {
    let places: Vec<usize> = judges.iter().copied().collect();
    json!(log.ids(&places))
}

/// A point that is also somebody's ordinary finding is as urgent as that; otherwise it counts by how many share it.
fn agreed(log: &Log<'_>, point: &Point<'_>, otherwise: Severity, source: &Value) -> Value {
    let raised = log.judges.iter().flat_map(|judge| &judge.statement.critical_findings);
    let severity =
        raised.filter(|raised| same_point(&raised.finding, point.text)).map(|raised| raised.severity).min();
    let action = severity.is_some_and(|severity| severity <= Severity::High);
    record(point.text, severity.unwrap_or(otherwise), source, action)
}

/// The dimensions whose scores are within the range, or those that are not. How urgent each is follows from its average.
fn dimensions(log: &Log<'_>, within: bool) -> Vec<Value> {
    let standings = log.last().map_or(&[][..], |round| &round.standings);
    if standings.is_empty() {
        return Vec::new();
    }
    let most = log.debate.brief.float("dimension_range") + TOLERANCE;
    let dimensions = log.rubric.dimensions.iter().enumerate();
    let shown = dimensions.map(|(place, dimension)| (&dimension.key, column(standings, place)));
    shown
        .filter(|(_, scores)| {
            let (low, high) = extremes(scores);
            (high - low <= most) == within
        })
        .map(|(key, scores)| {
            let (low, high) = extremes(&scores);
            let spread = high - low > TOLERANCE;
            let [low, high] = [low, high].map(figure);
            let text = match (within, spread) {
                (true, true) => format!("{key}: all judges between {low} and {high}"),
                (true, false) => format!("{key}: all judges at {low}"),
                (false, _) => format!("{key}: the judges are between {low} and {high}"),
            };
            let (priority, action) = match log.band(mean(&scores)) {
                "RED" => (Severity::High, true),
                "YELLOW" => (Severity::Medium, true),
                _ => (Severity::Low, false),
            };
            record(&text, priority, &json!(["all"]), action)
        })
        .collect()
}
