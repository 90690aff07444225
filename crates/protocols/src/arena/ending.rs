//! When a debate is over, who has won, and why it ended.

use agon_core::{Status, Termination, Turn};

use super::judgement::{Judged, TOLERANCE};
use super::log::{Log, PROPOSALS_MIN};
use super::poll::Poll;
use crate::limits::Limits;

/// The phases that a limit keeps a share for.
pub(super) const CLOSING: &[&str] = &["vote", "judge"];

/// The proposal that is the decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Winner {
    pub(super) place: usize,
    /// All proposals that say the same, it included.
    pub(super) group: Vec<usize>,
    /// `vote` or `judge`.
    pub(super) by: &'static str,
}

/// What the judge made of the proposals that were voted on last; `None` where it was absent or not asked.
pub(super) fn judged<'l>(log: &'l Log<'_>) -> Option<&'l Judged> {
    let asked = log.trials.len() == log.polls.len();
    log.trials.last().filter(|_| asked)?.judged.as_ref()
}

/// Who has won. The vote decides, unless the judge is to, and does.
pub(super) fn winner(log: &Log<'_>) -> Option<Winner> {
    winner_after(log, log.polls.len().checked_sub(1)?)
}

/// Who would have won, had this vote been the last. Every vote but the last has its judge.
pub(super) fn winner_after(log: &Log<'_>, vote: usize) -> Option<Winner> {
    let poll = log.polls.get(vote).filter(|poll| poll.is_quorum())?;
    let judged = log.trials.get(vote).and_then(|trial| trial.judged.as_ref());
    let of = |place: usize, by: &'static str| Winner { place, group: poll.group(place).to_vec(), by };
    let best = judged.and_then(|judged| judged.top).filter(|_| judge_decides(log));
    match best {
        Some(top) => Some(of(top, "judge")),
        None => poll.best_of(poll.winning()?, judged).map(|place| of(place, "vote")),
    }
}

/// Whether the judge is to decide.
pub(super) fn judge_decides(log: &Log<'_>) -> bool {
    log.debate.brief.text("decide") == "judge"
}

/// "Early stop criteria met?": the vote and the judge agree, or the judge is sure.
pub(super) fn is_early_stop(log: &Log<'_>, poll: &Poll, judged: &Judged) -> bool {
    let agree = poll.winning().is_some_and(|group| judged.is_for(group));
    agree || judged.margin > log.debate.brief.float("judge_gap") + TOLERANCE
}

/// Whether an extended round is due by the debate's own rules.
fn is_due(log: &Log<'_>) -> bool {
    let Some((poll, judged)) = log.polls.last().zip(judged(log)) else { return false };
    !is_early_stop(log, poll, judged) && log.extended() < log.debate.brief.int("max_extended_rounds")
}

/// Whether there is an extended round after the last judge.
pub(super) fn goes_on(log: &Log<'_>) -> bool {
    is_due(log) && !was_cut(log) && !log.limits().spent(log.proposers().len() + super::compared(log.debate))
}

/// Whether a limit left somebody out, or rounds.
fn was_cut(log: &Log<'_>) -> bool {
    let cut = |turn: &Turn| {
        let closing = CLOSING.contains(&turn.phase.name.as_str());
        let limits = log.limits();
        Limits { kept: if closing { 0.0 } else { limits.kept }, ..limits }.was_cut(turn)
    };
    let refined = log.stages.iter().any(|stage| stage.name == "refine");
    let skipped = !log.polls.is_empty() && !refined && log.early_consensus().is_none();
    let checked = |poll: &Poll| log.checks.iter().any(|check| check.stage == poll.stage);
    skipped || !log.polls.iter().all(checked) || log.debate.turns.iter().any(cut)
}

/// Whether a limit ended a debate that is to be closed: an extended round that is due and not held is one that did not fit.
pub(super) fn is_limited(log: &Log<'_>) -> bool {
    was_cut(log) || is_due(log)
}

/// Why a debate ended that is to be closed, and how far it got.
pub(super) fn ending(log: &Log<'_>) -> (Termination, Status) {
    let limited = is_limited(log);
    let poll = log.polls.last().filter(|poll| poll.is_quorum());
    let Some(poll) = poll.filter(|_| log.proposers().len() >= PROPOSALS_MIN) else {
        let why = if limited { Termination::Budget } else { Termination::QuorumLost };
        return (why, Status::Incomplete);
    };
    let reached = poll.winning().is_some();
    match (judged(log), reached) {
        (None, _) if limited => (Termination::Budget, Status::Incomplete),
        (None, true) => (Termination::Consensus, Status::Incomplete),
        (None, false) => (Termination::Failed, Status::Failed),
        (Some(_), _) if limited => {
            let status = if winner(log).is_some() { Status::Complete } else { Status::Incomplete };
            (Termination::Budget, status)
        }
        (Some(_), true) if log.early_consensus().is_some() && log.extended() == 0 => {
            (Termination::Converged, Status::Complete)
        }
        (Some(_), true) => (Termination::Consensus, Status::Complete),
        (Some(_), false) => (Termination::NoMajority, Status::Complete),
    }
}
