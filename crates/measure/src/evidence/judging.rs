//! Whether judges agree: with themselves when they are asked in another order, and with each other.

use std::collections::BTreeMap;

use agon_core::{JudgeMarks, PositionHistory};
use serde::Serialize;

use crate::agreement::{self, Level};

/// Whether judges agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeEvidence {
    /// How many judged.
    pub judges: usize,
    /// Where judges were asked in two orders: whether they preferred the same.
    pub order_consistency: Option<OrderConsistency>,
    /// Krippendorff's alpha over the scores of several judges.
    pub alpha: Option<f64>,
    /// Kendall's W over the rankings of several judges.
    pub w: Option<f64>,
}

/// Whether judges who were asked in two orders preferred the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OrderConsistency {
    /// How often a judge was asked in two orders.
    pub asked: usize,
    /// How often it put the same first.
    pub same_top: usize,
    /// The share of those.
    pub share: f64,
    /// How far its two rankings agree, from -1 to 1, on average.
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
        alpha: between(marks, alpha),
        w: between(marks, concordance),
    })
}

/// How often a judge that was asked in two orders preferred the same, and how far its two rankings agree.
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
    let same = twice.iter().filter(|(one, other)| top(one).is_some() && top(one) == top(other)).count();
    let taus: Vec<f64> = twice.iter().filter_map(|(one, other)| tau(one, other)).collect();
    Some(OrderConsistency {
        asked: twice.len(),
        same_top: same,
        share: same as f64 / twice.len() as f64,
        kendall_tau: (!taus.is_empty()).then(|| taus.iter().sum::<f64>() / taus.len() as f64),
    })
}

/// What a judge preferred: the head of its ranking, else the only best score.
fn top(marks: &JudgeMarks) -> Option<&str> {
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

/// Kendall's tau over the pairs that both orders scored: 1 for the same order of all, -1 for the opposite.
fn tau(one: &JudgeMarks, other: &JudgeMarks) -> Option<f64> {
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

/// A measure over the table of judges and things, each judge's last word in its first order; `None` with one judge.
fn between(marks: &[JudgeMarks], measure: fn(&[Vec<Option<f64>>]) -> Option<f64>) -> Option<f64> {
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

/// Krippendorff's alpha for scores.
fn alpha(table: &[Vec<Option<f64>>]) -> Option<f64> {
    let columns = table.first()?.len();
    let unit = |column: usize| table.iter().map(|row| row.get(column).copied().flatten()).collect::<Vec<_>>();
    agreement::alpha(&(0..columns).map(unit).collect::<Vec<_>>(), Level::Interval)
}

/// Kendall's W over the things that every judge scored.
fn concordance(table: &[Vec<Option<f64>>]) -> Option<f64> {
    let columns = table.first()?.len();
    let whole = |column: &usize| table.iter().all(|row| row.get(*column).is_some_and(Option::is_some));
    let kept: Vec<usize> = (0..columns).filter(whole).collect();
    let row =
        |row: &Vec<Option<f64>>| kept.iter().filter_map(|column| *row.get(*column)?).collect::<Vec<f64>>();
    agreement::kendall_w(&table.iter().map(row).collect::<Vec<_>>())
}
