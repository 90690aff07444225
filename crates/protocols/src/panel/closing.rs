//! How `panel` ends: the outcome, what became of every first position, and the warnings.

use std::collections::BTreeMap;

use agon_core::{Corrupt, Fate, Fidelity, Outcome, PositionFate, Status, Step, Termination};
use serde::Serialize;

use super::consensus::{PanelDecision, TOLERANCE};
use super::log::{JudgeStance, PanelJudge, PanelLog, PanelRound};
use super::{PanelPhase, figure, verdict};
use crate::participation::{cut_off_warnings, shortened_warnings};

/// A judge's overall score may differ by this much from its weighted dimensions before a warning says so.
const SCORE_GAP_MAX: f64 = 0.25;

/// A judge who dissents, with what it says in the end. The position's fate has what it said at first.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct DissentingJudge<'a> {
    judge_id: &'a str,
    seat: &'a str,
    stance: JudgeStance,
    score: f64,
    position: &'a str,
    reason: &'a str,
}

/// Closes the debate.
pub(super) fn close(log: &PanelLog<'_>, termination: Termination) -> Result<Step, Corrupt> {
    let decision = PanelDecision::of(log, termination);
    let status = if decision == PanelDecision::None { Status::Incomplete } else { Status::Complete };
    let judges = log.judges.iter().enumerate();
    let positions: Vec<PositionFate> =
        judges.map(|(place, judge)| position_fate(log, &decision, place, judge)).collect();
    let whole = log.debate.absences().next().is_none()
        && cut_off_warnings(log.debate).is_empty()
        && termination != Termination::Budget
        && status == Status::Complete;
    let dissent =
        dissenting_judges(log, &positions).iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
    let outcome = Outcome {
        status,
        termination,
        rounds_completed: log.rounds_completed(),
        verdict: verdict::verdict(log, &decision).to_json()?,
        dissent,
        fidelity: if whole { Fidelity::Full } else { Fidelity::Degraded },
        warnings: warnings(log, &decision, termination),
        labels: BTreeMap::new(),
        positions,
        passed: None,
        lesson: None,
    };
    Ok(Step::Close(Box::new(outcome)))
}

/// What became of a judge's first position. A judge who is not on the verdict's side in the end dissents, even if it moved. One on
/// the verdict's side who moved by more than `consensus_range` gave its first position up.
fn position_fate(
    log: &PanelLog<'_>,
    decision: &PanelDecision,
    place: usize,
    judge: &PanelJudge<'_>,
) -> PositionFate {
    let first = judge.statement.overall_score;
    let last = log.last_standings().get(place).map_or(first, |standing| standing.score);
    let moved = (last - first).abs() > log.options.consensus_range + TOLERANCE;
    let scores = match (last - first).abs() > TOLERANCE {
        true => format!("its score went from {} to {}", figure(first), figure(last)),
        false => format!("its score stayed at {}", figure(first)),
    };
    let fate = match decision.is_with(place) {
        true if moved => Fate::Refuted,
        true => Fate::Adopted,
        false => Fate::Minority,
    };
    let why = match decision {
        _ if fate == Fate::Refuted => format!("given up: {}", change_reasons(log, place, judge)),
        PanelDecision::Consensus => "it is in the consensus".to_owned(),
        PanelDecision::Majority { .. } if fate == Fate::Adopted => "it is the majority's".to_owned(),
        PanelDecision::Majority { .. } if moved => {
            format!("its judge moved and is still in the minority: {}", change_reasons(log, place, judge))
        }
        PanelDecision::Majority { .. } => "it is the minority's".to_owned(),
        PanelDecision::NoMajority => "there is no majority that could adopt it".to_owned(),
        PanelDecision::None => "there is no verdict that could adopt it".to_owned(),
    };
    PositionFate {
        seat: judge.id.to_owned(),
        label: None,
        position: judge.first_position().to_owned(),
        fate,
        reason: format!("{why}; {scores}"),
    }
}

/// Why a judge changed its score, round by round, in its own words.
fn change_reasons(log: &PanelLog<'_>, place: usize, judge: &PanelJudge<'_>) -> String {
    let changes = log.rounds.iter().filter(|round| log.score_change(place, round.number).is_some());
    let reasons = changes
        .map(|round| format!("in round {} {}", round.number, verdict::change_reason(judge, round.phase)));
    reasons.collect::<Vec<_>>().join("; ")
}

fn dissenting_judges<'a>(log: &'a PanelLog<'_>, positions: &'a [PositionFate]) -> Vec<DissentingJudge<'a>> {
    let scores = log.last_scores(&log.places());
    let judged = log.judges.iter().zip(scores).zip(positions);
    let minority = judged.filter(|(_, position)| position.fate == Fate::Minority);
    minority
        .map(|((judge, score), position)| DissentingJudge {
            judge_id: judge.id,
            seat: judge.id,
            stance: judge.stance,
            score,
            position: judge.position(),
            reason: &position.reason,
        })
        .collect()
}

fn warnings(log: &PanelLog<'_>, decision: &PanelDecision, termination: Termination) -> Vec<String> {
    let mut warnings = Vec::new();
    if termination == Termination::Budget || log.was_cut_short() {
        warnings.push(limit_warning(log, decision));
    }
    warnings.extend(cut_off_warnings(log.debate));
    warnings.extend(shortened_warnings(log.debate));
    warnings.extend(missing_judge_warnings(log, decision));
    // Without a verdict, nothing that was carried forward counts.
    let counted = log.rounds.iter().filter(|_| *decision != PanelDecision::None);
    for round in counted.filter(|round| round.phase != PanelPhase::Position && round.present() > 0) {
        warnings.extend(carried_warnings(log, round));
    }
    warnings.extend(score_gap_warnings(log));
    warnings
}

fn limit_warning(log: &PanelLog<'_>, decision: &PanelDecision) -> String {
    let limit = log.limits().reached(log.judges.len().max(1));
    let limit = limit.unwrap_or_else(|| "a limit of the debate".to_owned());
    let rounds = log.rounds_completed();
    let s = if rounds == 1 { "" } else { "s" };
    match decision {
        PanelDecision::None => {
            format!("there is no verdict, because a limit left fewer than two position statements: {limit}")
        }
        PanelDecision::Consensus | PanelDecision::Majority { .. } | PanelDecision::NoMajority => {
            format!("the verdict is made from {rounds} round{s}, because a limit was reached: {limit}")
        }
    }
}

/// What it means for the verdict that fewer judges gave a statement than sit.
fn missing_judge_warnings(log: &PanelLog<'_>, decision: &PanelDecision) -> Vec<String> {
    let mut warnings = Vec::new();
    let out = log.debate.brief.seats_of("judge").map(|seat| seat.id.as_str());
    let out: Vec<&str> = out.filter(|id| log.judges.iter().all(|judge| judge.id != *id)).collect();
    if !out.is_empty() && *decision != PanelDecision::None {
        warnings.push(format!("no position statement, so no say in the verdict: {}", out.join(", ")));
    }
    if let (PanelDecision::Majority { majority, minority }, 2) = (decision, log.judges.len())
        && minority.is_empty()
    {
        let apart = figure(log.last().map_or(0.0, |round| round.check.range));
        let both = log.ids(majority).join(" and ");
        warnings.push(format!(
            "only {both} are left: by the rule both together are the majority, although their scores are {apart} apart"
        ));
    }
    warnings
}

/// What counts in a round although nobody said it there.
fn carried_warnings(log: &PanelLog<'_>, round: &PanelRound) -> Vec<String> {
    let phase = round.phase;
    let judges = || log.judges.iter().zip(&round.standings);
    let absent: Vec<&str> = judges().filter(|(_, s)| !s.present).map(|(judge, _)| judge.id).collect();
    let silent = |says: &dyn Fn(&PanelJudge<'_>) -> bool| -> Vec<&str> {
        judges().filter(|(judge, s)| s.present && !says(judge)).map(|(judge, _)| judge.id).collect()
    };
    let unscored = silent(&|judge| log.rubric.keys().any(|key| judge.dimension(phase, key).is_some()));
    let unsaid = silent(&|judge| log.findings.is_empty() || !judge.finding_positions(phase).is_empty());
    let mut warnings = Vec::new();
    for (who, what) in [
        (absent, "absent, so the last score and positions count"),
        (unscored, "no dimension scores, so those of the round before count"),
        (unsaid, "no position on the critical findings, so those of the round before count"),
    ] {
        if !who.is_empty() {
            warnings.push(format!("round {}: {what}: {}", round.number, who.join(", ")));
        }
    }
    warnings
}

/// The judges whose overall score is far from their weighted dimension scores.
fn score_gap_warnings(log: &PanelLog<'_>) -> Vec<String> {
    let judged = log.judges.iter().zip(log.last_standings());
    judged
        .filter_map(|(judge, standing)| {
            let weighted = log.rubric.weighted(&standing.dimensions);
            let gap = (standing.score - weighted).abs();
            let (score, weighted) = (figure(standing.score), figure(weighted));
            (gap > SCORE_GAP_MAX + TOLERANCE).then(|| {
                format!("{} gives {score} overall, but its dimension scores weigh to {weighted}", judge.id)
            })
        })
        .collect()
}
