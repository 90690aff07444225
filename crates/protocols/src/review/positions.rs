//! Who held which verdict in each round, and what the changes cite.

use agon_core::{DecidedPosition, PositionChange, PositionHistory, RoundPositions, SeatPosition};

use super::log::{ReviewJudge, ReviewLog};
use super::replies::JudgeVerdict;
use super::verdict::{self, ReviewRuling};
use crate::grouping;

/// The verdicts as the judges gave them. A change that strict anchoring reverted is still a change; only the rulings go by
/// the verdicts that count. A review without verdicts has no rounds.
pub(super) fn positions(log: &ReviewLog<'_>) -> PositionHistory {
    let name = |ruling: ReviewRuling| ruling.as_str().to_owned();
    let firsts = || log.judges.iter().filter_map(|judge| Some((judge, judge.first.as_ref()?.verdict)));
    let mut rounds = Vec::new();
    if firsts().next().is_some() {
        let stands = firsts().map(|(judge, verdict)| position(judge, verdict, None)).collect();
        let ruling = verdict::first_ruling(log).map(name);
        rounds.push(RoundPositions { round: 1, stands, ruling, ..RoundPositions::default() });
    }
    if log.revised().next().is_some() {
        let stands = firsts().map(|(judge, first)| second_position(judge, first)).collect();
        let ruling = verdict::ruling(log).map(name);
        rounds.push(RoundPositions { round: 2, stands, ruling, ..RoundPositions::default() });
    }
    let decided = log.debate.outcome.as_ref().and_then(|_| verdict::ruling(log)).map(name);
    PositionHistory {
        rounds,
        decided: decided.map_or(DecidedPosition::Nothing, DecidedPosition::Held),
        ..PositionHistory::default()
    }
}

/// The verdict of a judge after round 2. A judge without a second verdict keeps its first.
fn second_position(judge: &ReviewJudge<'_>, first: JudgeVerdict) -> SeatPosition {
    let Some((second, _)) = judge.second.as_ref().filter(|(second, _)| second.verdict != first) else {
        return position(judge, first, None);
    };
    let reason = second.changed_because.as_ref().filter(|_| !judge.is_weak_flip);
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cited = reason.map(|reason| grouping::cut(&one_line(&reason.citation))).into_iter().collect();
    position(judge, second.verdict, Some(PositionChange { cited, reason: None }))
}

fn position(judge: &ReviewJudge<'_>, verdict: JudgeVerdict, change: Option<PositionChange>) -> SeatPosition {
    let position = verdict.as_str().to_owned();
    SeatPosition { seat: judge.seat.id.clone(), position, change, ..SeatPosition::default() }
}
