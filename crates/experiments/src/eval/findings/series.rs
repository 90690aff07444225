//! The results of one arm, question by question.

use std::collections::BTreeMap;

use super::CostIn;
use crate::arms::{Arm, Kind};
use crate::plan::Plan;
use crate::results::{Row, Usage};

/// The results of one arm by question.
pub(super) struct Series<'a> {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) arm: &'a Arm,
    pub(super) points: BTreeMap<&'a str, Point>,
}

/// One result.
pub(super) struct Point {
    pub(super) correct: bool,
    pub(super) failed: bool,
    pub(super) unread: bool,
    /// `None` where it is not known.
    pub(super) usage: Option<Usage>,
}

/// Every arm, and behind each debate the vote on its first positions, where the results have one.
pub(super) fn series<'a>(plan: &'a Plan, rows: &'a [Row]) -> Vec<Series<'a>> {
    let mut all = Vec::new();
    for arm in &plan.arms {
        let own = || rows.iter().filter(|row| row.arm == arm.name);
        let verdict = |row: &'a Row| {
            let (failed, unread) = (row.is_failed(), row.unread);
            (row.id.as_str(), Point { correct: row.correct, failed, unread, usage: Some(row.usage) })
        };
        all.push(Series {
            name: arm.name.clone(),
            kind: arm.kind,
            arm,
            points: own().map(verdict).collect(),
        });
        let vote = |row: &'a Row| {
            let first = row.first_round.as_ref()?;
            // A tie is no answer, and no failure either.
            let point = Point { correct: first.correct, failed: false, unread: false, usage: first.usage };
            Some((row.id.as_str(), point))
        };
        let points: BTreeMap<&str, Point> = own().filter_map(vote).collect();
        if arm.kind == Kind::Protocol && !points.is_empty() {
            let name = format!("{}, first round", arm.name);
            all.push(Series { name, kind: Kind::FirstRound, arm, points });
        }
    }
    all
}

/// What was used, in one measure.
pub(super) fn cost(usage: Usage, measure: CostIn) -> Option<f64> {
    match measure {
        CostIn::Usd => usage.usd,
        CostIn::Tokens => Some((usage.input_tokens + usage.output_tokens) as f64),
        CostIn::Calls => Some(usage.calls as f64),
    }
}
