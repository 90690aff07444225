//! What all judges conclude, and what they do not.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::attention;
use super::consensus::{State, TOLERANCE, column, extremes, mean};
use super::ledger::{self, same_words};
use super::log::Log;
use super::reply::Severity;
use crate::lexical;

/// Two points whose words are so much alike, and of which neither denies the other, are one.
const SAME_FROM: f64 = 0.8;

/// Whether two points say the same.
pub(super) fn same_point(one: &str, other: &str) -> bool {
    same_words(one, other) || (lexical::similarity(one, other) >= SAME_FROM && !lexical::opposed(one, other))
}

/// "A conclusion all judges agree on": critical findings that all hold, points on which judges agreed, and the dimensions that
/// all see alike.
pub(super) fn convergent(log: &Log<'_>) -> Vec<Value> {
    let held = log.findings.iter().enumerate();
    let held = held.filter(|(place, _)| ledger::state(log, *place) == State::Adopted);
    let mut found: Vec<Value> = held
        .map(|(_, finding)| record(&finding.finding, Severity::Critical, &json!(["all"]), true))
        .collect();
    // What nobody is known to share is not agreed on, even if somebody conceded it.
    let mut points: Vec<Point<'_>> = points(log).into_iter().filter(|point| point.judges.len() > 1).collect();
    points.sort_by_key(|point| std::cmp::Reverse(point.judges.len()));
    found.extend(points.iter().map(|point| agreed(log, point)));
    found.extend(dimensions(log, true));
    found
}

/// "A conclusion where judges disagree": disputed critical findings, dimensions that are seen too differently, and what judges
/// say is open.
pub(super) fn divergent(log: &Log<'_>) -> Vec<Value> {
    let disputed = log.findings.iter().enumerate();
    let disputed = disputed.filter(|(place, _)| ledger::state(log, *place) == State::Disputed);
    let mut found: Vec<Value> = disputed
        .map(|(place, finding)| {
            let holders = json!(log.ids(&ledger::holders(log, place)));
            record(&format!("[{}] {}", finding.id, finding.finding), Severity::Critical, &holders, true)
        })
        .collect();
    found.extend(dimensions(log, false));
    for issue in attention::issues(log) {
        let severity = if issue.flagged { Severity::High } else { Severity::Medium };
        found.push(record(&issue.text, severity, &json!(log.ids(&issue.judges())), issue.flagged));
    }
    found
}

fn record(finding: &str, priority: Severity, source: &Value, action: bool) -> Value {
    json!({"finding": finding, "priority": priority, "source_judges": source, "action_required": action})
}

/// A point with the judges who share it.
struct Point<'a> {
    text: &'a str,
    judges: BTreeSet<usize>,
}

/// What judges came to agree on, by the agreements of round 2 and the concessions of round 3.
fn points<'a>(log: &'a Log<'_>) -> Vec<Point<'a>> {
    let place = |id: &str| log.judges.iter().position(|judge| judge.id == id);
    let mut points: Vec<Point<'a>> = Vec::new();
    let mut add = |text: &'a str, judges: Vec<usize>| {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        match points.iter_mut().find(|point| same_point(point.text, text)) {
            Some(point) => point.judges.extend(judges),
            None => points.push(Point { text, judges: judges.into_iter().collect() }),
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
            let named =
                named.filter(|(_, other)| names(&concession.convinced_by, other.id)).map(|(at, _)| at);
            add(&concession.point, std::iter::once(own).chain(named).collect());
        }
    }
    points
}

/// Whether a text names a judge: `judge-1` is not in `judge-12`.
fn names(text: &str, id: &str) -> bool {
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    words.any(|word| word.trim_matches('-').eq_ignore_ascii_case(id))
}

/// A point that is also somebody's ordinary finding is as urgent as that; otherwise it counts by how many share it.
fn agreed(log: &Log<'_>, point: &Point<'_>) -> Value {
    let all = point.judges.len() == log.judges.len();
    let raised = log.judges.iter().flat_map(|judge| &judge.statement.critical_findings);
    let severity =
        raised.filter(|raised| same_point(&raised.finding, point.text)).map(|raised| raised.severity).min();
    let places: Vec<usize> = point.judges.iter().copied().collect();
    let source = if all { json!(["all"]) } else { json!(log.ids(&places)) };
    let action = severity.is_some_and(|severity| severity <= Severity::High);
    record(
        point.text,
        severity.unwrap_or(if all { Severity::Medium } else { Severity::Low }),
        &source,
        action,
    )
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
            let text = match (within, high - low > TOLERANCE) {
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
