//! "Debate Metrics": the rounds in figures, how the positions moved, and what it cost.

use agon_core::calendar;
use serde_json::{Map, Value, json};

use super::consensus::TOLERANCE;
use super::log::{Judge, Log, Round, feature_of};
use super::verdict::Verdict;
use super::{disputes, tidy};
use crate::calls::calls;

/// The seed's record.
pub(super) fn record(log: &Log<'_>, verdict: &Verdict) -> Value {
    let brief = &log.debate.brief;
    let last = log.last().map_or(0, |round| round.number);
    let shown = log.rounds.iter().filter(|round| round.number <= last);
    let rounds: Map<String, Value> = shown
        .map(|round| (format!("round_{}", round.number), round_record(log, round, verdict, last)))
        .collect();
    // Of a branch, too, all the calls that its figures rest on.
    let spent = log.debate.spent_where(|_| true);
    json!({
        "feature": feature_of(brief),
        "start_time": brief.created_at,
        "end_time": calendar::later(&brief.created_at, log.debate.at_ms),
        "rounds": rounds,
        "position_evolution": {
            "agreements_formed": agreements(log),
            "disputes_resolved": concessions(log),
            "disputes_remaining": disputes::remaining(log),
        },
        "cost": {
            "judge_calls": calls(&log.debate.turns),
            "estimated_usd": spent.usd_known.then(|| tidy(spent.usd)),
        },
    })
}

fn agreements(log: &Log<'_>) -> usize {
    log.judges.iter().flat_map(|judge| &judge.rebuttal).map(|rebuttal| rebuttal.agreements.len()).sum()
}

fn concessions(log: &Log<'_>) -> usize {
    log.judges.iter().flat_map(|judge| &judge.last).map(|last| last.concessions_made.len()).sum()
}

fn round_record(log: &Log<'_>, round: &Round, verdict: &Verdict, last: u32) -> Value {
    let mut fields = Map::new();
    fields.insert("scores".into(), json!(round.scores()));
    fields.insert("range".into(), json!(tidy(round.check.range)));
    fields.insert("consensus_check".into(), json!(round.check.reached));
    if round.number > 1 {
        fields.insert("score_changes".into(), json!(score_changes(log, round)));
        let carried = log.judges.iter().zip(&round.standings).filter(|(_, standing)| !standing.present);
        fields.insert("carried".into(), carried.map(|(judge, _)| judge.id).collect());
    }
    if round.number == last {
        fields.insert("final_verdict".into(), json!(verdict.as_str()));
    }
    Value::Object(fields)
}

/// Who changed its score in a round, by how much and why.
pub(super) fn score_changes(log: &Log<'_>, round: &Round) -> Vec<Value> {
    let mut changes = Vec::new();
    for (place, judge) in log.judges.iter().enumerate() {
        let Some(delta) = delta(log, place, round.number) else { continue };
        let reason = change_reason(judge, round.number);
        changes.push(json!({"judge": judge.id, "delta": delta, "reason": reason}));
    }
    changes
}

/// By how much a judge's score differs from the round before, if it does.
pub(super) fn delta(log: &Log<'_>, place: usize, round: u32) -> Option<f64> {
    let delta = log.score(place, round)? - log.score(place, round.checked_sub(1)?)?;
    (delta.abs() > TOLERANCE).then(|| tidy(delta))
}

/// Why a judge changed its score in a round, in its own words; the seed has no such field in round 3, but the concessions.
pub(super) fn change_reason(judge: &Judge<'_>, round: u32) -> String {
    let reason = match round {
        2 => judge.rebuttal.as_ref().map(|rebuttal| rebuttal.change_reason.trim().to_owned()),
        _ => judge.last.as_ref().and_then(|last| last.concessions_made.first()).map(|concession| {
            let (point, by) = (concession.point.trim(), concession.convinced_by.trim());
            if by.is_empty() { format!("concedes: {point}") } else { format!("persuaded by {by}: {point}") }
        }),
    };
    reason.filter(|reason| !reason.is_empty()).unwrap_or_else(|| "gives no reason".to_owned())
}
