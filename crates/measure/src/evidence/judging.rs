//! Whether judges agree with each other, and with themselves when the order changes.

use std::collections::BTreeMap;

use agon_core::{JudgeMarks, PositionHistory};
use serde::Serialize;

use crate::agreement::{MeasurementLevel, kendall_w, krippendorff_alpha};

/// Whether judges agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeEvidence {
    /// The number of judges.
    pub judges: usize,
    /// Whether judges preferred the same in two orders; null if no judge was asked in two orders.
    pub order_consistency: Option<OrderConsistency>,
    /// Krippendorff's alpha over the scores; null with one judge.
    pub alpha: Option<f64>,
    /// Kendall's W over the scores as rankings; null with one judge.
    pub w: Option<f64>,
}

/// Whether judges that were asked in two orders preferred the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OrderConsistency {
    /// How often a judge was asked in two orders.
    pub asked: usize,
    /// How often it ranked the same first in both.
    pub same_top: usize,
    /// `same_top` divided by `asked`.
    pub share: f64,
    /// Kendall's tau of its two sets of scores, from -1 to 1, on average.
    pub kendall_tau: Option<f64>,
}

pub(super) fn judge_evidence(history: &PositionHistory) -> Option<JudgeEvidence> {
    let marks = &history.marks;
    if marks.is_empty() {
        return None;
    }
    let mut judges: Vec<&str> = marks.iter().map(|marks| marks.judge.as_str()).collect();
    judges.sort_unstable();
    judges.dedup();
    Some(JudgeEvidence {
        judges: judges.len(),
        order_consistency: order_consistency(marks),
        alpha: between_judges(marks, scores_alpha),
        w: between_judges(marks, scores_concordance),
    })
}

fn order_consistency(marks: &[JudgeMarks]) -> Option<OrderConsistency> {
    let twice: Vec<(&JudgeMarks, &JudgeMarks)> = marks
        .iter()
        .filter(|one| one.order == 0)
        .filter_map(|one| {
            let other = |other: &&JudgeMarks| {
                other.judge == one.judge && other.round == one.round && other.order == 1
            };
            Some((one, marks.iter().find(other)?))
        })
        .collect();
    if twice.is_empty() {
        return None;
    }
    let same = twice
        .iter()
        .filter(|(one, other)| preferred(one).is_some() && preferred(one) == preferred(other))
        .count();
    let taus: Vec<f64> = twice.iter().filter_map(|(one, other)| kendall_tau(one, other)).collect();
    Some(OrderConsistency {
        asked: twice.len(),
        same_top: same,
        share: same as f64 / twice.len() as f64,
        kendall_tau: (!taus.is_empty()).then(|| taus.iter().sum::<f64>() / taus.len() as f64),
    })
}

/// What a judge preferred: the first in its ranking, or without a ranking the single best score.
fn preferred(marks: &JudgeMarks) -> Option<&str> {
    if let Some(first) = marks.ranking.first() {
        return Some(first);
    }
    let best = marks.scores.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
    let mut tops = marks.scores.iter().filter(|(_, score)| *score == best);
    match (tops.next(), tops.next()) {
        (Some((item, _)), None) => Some(item),
        _ => None,
    }
}

/// Kendall's tau over the things scored in both orders: 1 if the two orders of scores are the same, -1 if they are opposite.
fn kendall_tau(one: &JudgeMarks, other: &JudgeMarks) -> Option<f64> {
    let theirs: BTreeMap<&str, f64> =
        other.scores.iter().map(|(item, score)| (item.as_str(), *score)).collect();
    let both: Vec<(f64, f64)> =
        one.scores.iter().filter_map(|(item, score)| Some((*score, *theirs.get(item.as_str())?))).collect();
    let mut sum = 0.0;
    let mut pairs = 0_u32;
    for (place, a) in both.iter().enumerate() {
        for b in both.iter().skip(place + 1) {
            let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
            sum += sign(a.0 - b.0) * sign(a.1 - b.1);
            pairs += 1;
        }
    }
    (pairs > 0).then(|| sum / f64::from(pairs))
}

/// Applies a measure to the table of judges and scores. Each judge counts with its last scores in its first order. `None` with
/// one judge.
fn between_judges(marks: &[JudgeMarks], measure: fn(&[Vec<Option<f64>>]) -> Option<f64>) -> Option<f64> {
    let mut last: BTreeMap<&str, &JudgeMarks> = BTreeMap::new();
    for marks in marks.iter().filter(|marks| marks.order == 0) {
        last.insert(&marks.judge, marks);
    }
    let mut items: Vec<&str> =
        last.values().flat_map(|marks| &marks.scores).map(|(item, _)| item.as_str()).collect();
    items.sort_unstable();
    items.dedup();
    let row = |marks: &&JudgeMarks| {
        let score = |item: &&str| marks.scores.iter().find(|(own, _)| own == item).map(|(_, score)| *score);
        items.iter().map(score).collect::<Vec<_>>()
    };
    let table: Vec<Vec<Option<f64>>> = last.values().map(row).collect();
    if table.len() < 2 { None } else { measure(&table) }
}

fn scores_alpha(table: &[Vec<Option<f64>>]) -> Option<f64> {
    let columns = table.first()?.len();
    let unit = |column: usize| table.iter().map(|row| row.get(column).copied().flatten()).collect::<Vec<_>>();
    krippendorff_alpha(&(0..columns).map(unit).collect::<Vec<_>>(), MeasurementLevel::Interval)
}

/// Over the things that every judge scored.
fn scores_concordance(table: &[Vec<Option<f64>>]) -> Option<f64> {
    let columns = table.first()?.len();
    let is_complete = |column: &usize| table.iter().all(|row| row.get(*column).is_some_and(Option::is_some));
    let kept: Vec<usize> = (0..columns).filter(is_complete).collect();
    let row =
        |row: &Vec<Option<f64>>| kept.iter().filter_map(|column| *row.get(*column)?).collect::<Vec<f64>>();
    kendall_w(&table.iter().map(row).collect::<Vec<_>>())
}
