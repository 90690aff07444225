//! Which score each judge gave after each round, and what a change of score cites.

use agon_core::{DecidedPosition, JudgeMarks, PositionChange, PositionHistory, RoundPositions, SeatPosition};

use super::consensus::PanelDecision;
use super::log::{PanelJudge, PanelLog, PanelRound};
use super::{PanelPhase, figure};
use crate::cited::{self, Known};

/// The scores as the report writes them, for every round in which somebody spoke.
pub(super) fn positions(log: &PanelLog<'_>) -> PositionHistory {
    let mut rounds: Vec<RoundPositions> = Vec::new();
    let mut before: Option<&PanelRound> = None;
    for round in log.rounds.iter().filter(|round| round.present() > 0) {
        let stands = (0..log.judges.len()).filter_map(|place| position(log, place, round, before)).collect();
        let ruling = PanelDecision::after(log, round).label(round);
        rounds.push(RoundPositions { round: round.number, stands, ruling, ..RoundPositions::default() });
        before = Some(round);
    }
    let over = log.debate.outcome.as_ref().zip(log.last());
    let decided = over.and_then(|(outcome, last)| PanelDecision::of(log, outcome.termination).label(last));
    let marks = (0..log.judges.len()).filter_map(|place| marks(log, place)).collect();
    // Scores that would be a consensus count as one position where agreement is counted.
    let near = Some(log.options.consensus_range);
    PositionHistory {
        rounds,
        decided: decided.map_or(DecidedPosition::Nothing, DecidedPosition::Held),
        marks,
        near,
        ..PositionHistory::default()
    }
}

fn position(
    log: &PanelLog<'_>,
    place: usize,
    round: &PanelRound,
    before: Option<&PanelRound>,
) -> Option<SeatPosition> {
    let score = |round: &PanelRound| round.standings.get(place).map(|standing| standing.score);
    let (judge, now) = (log.judges.get(place)?, score(round)?);
    let changed = before.filter(|before| score(before).is_some_and(|then| figure(then) != figure(now)));
    Some(SeatPosition {
        seat: judge.id.to_owned(),
        position: figure(now),
        value: Some(now),
        change: changed.map(|before| PositionChange {
            cited: cited_in_change(log, judge, place, round, before),
            reason: None,
        }),
        ..SeatPosition::default()
    })
}

/// What a judge cites as it changes its score: in its reason, and in what it says of the critical findings that it adopts or gives
/// up. Disputing a finding that it never held is no reason for a change.
fn cited_in_change(
    log: &PanelLog<'_>,
    judge: &PanelJudge<'_>,
    place: usize,
    round: &PanelRound,
    before: &PanelRound,
) -> Vec<String> {
    let holds =
        |round: &PanelRound, at: usize| round.standings.get(place).and_then(|s| s.holds.get(at).copied());
    let (mut found, mut words) = (Vec::new(), vec![reason_text(judge, round.phase)]);
    for (at, finding) in log.findings.iter().enumerate() {
        let (then, now) = (holds(before, at), holds(round, at));
        if then == now {
            continue;
        }
        if now == Some(true) && is_raised_by_others(&finding.raised_by, place) {
            found.push(format!("[{}]", finding.id));
        }
        let positions = judge.finding_positions(round.phase).iter();
        words.extend(positions.filter(|said| said.finding_id == finding.id).map(|said| said.reason.clone()));
    }
    for piece in cited::cited(&words.join("\n"), &citable(log, judge, place)) {
        if !found.contains(&piece) {
            found.push(piece);
        }
    }
    found
}

/// Why a judge changed its score, in its own words. A final statement has no such field; its concessions are the reason.
fn reason_text(judge: &PanelJudge<'_>, phase: PanelPhase) -> String {
    let concessions = || judge.last.iter().flat_map(|last| &last.concessions_made);
    match phase {
        PanelPhase::Position => String::new(),
        PanelPhase::Rebuttal => {
            judge.rebuttal.as_ref().map(|said| said.change_reason.clone()).unwrap_or_default()
        }
        PanelPhase::Final => {
            concessions().map(|conceded| format!("{}\n{}\n", conceded.convinced_by, conceded.point)).collect()
        }
    }
}

/// What a judge can cite: the others by id, or by a stance that is not its own, and the findings that they raised.
fn citable(log: &PanelLog<'_>, judge: &PanelJudge<'_>, place: usize) -> Known {
    let mut known = Known::default();
    for other in log.judges.iter().filter(|other| other.id != judge.id) {
        known = known.name(other.id, other.id);
        if other.stance != judge.stance {
            known = known.name(other.stance.nickname(), other.stance.nickname());
        }
    }
    let findings = log.findings.iter().filter(|finding| is_raised_by_others(&finding.raised_by, place));
    findings.fold(known, |known, finding| known.id(&finding.id))
}

fn is_raised_by_others(raised_by: &[usize], place: usize) -> bool {
    raised_by.iter().any(|by| *by != place)
}

/// A judge's dimension scores after the last round in which it gave any.
fn marks(log: &PanelLog<'_>, place: usize) -> Option<JudgeMarks> {
    let judge = log.judges.get(place)?;
    let scored =
        |round: &&PanelRound| log.rubric.keys().any(|key| judge.dimension(round.phase, key).is_some());
    let round = log.rounds.iter().rev().find(scored)?;
    let dimensions = round.standings.get(place)?.dimensions.iter().copied();
    let scores = log.rubric.keys().map(str::to_owned).zip(dimensions).collect();
    Some(JudgeMarks { judge: judge.id.to_owned(), round: round.number, scores, ..JudgeMarks::default() })
}
