//! What the log says of the models that were called: which are down, and which have answered.

use std::collections::BTreeSet;

use agon_core::debate::Attempt;
use agon_core::{Absence, Debate, Protocol, Reply, Turn};

use crate::allowance::Allowance;

/// The models on which an ask of an earlier phase gave up because they could not be reached or did not answer in time. One
/// that has answered in a later phase is up again.
///
/// The phase under way has no say: which of its calls ends first is chance, and a resume must choose the same models.
pub(crate) fn down<'a>(protocol: &dyn Protocol, debate: &'a Debate) -> BTreeSet<&'a str> {
    let mut down = BTreeSet::new();
    let Some((_, earlier)) = debate.turns.split_last() else { return down };
    for turn in earlier {
        for model in calls(turn).filter_map(|(attempts, reply)| answered_by(attempts, reply)) {
            down.remove(model);
        }
        let limits = &debate.brief.limits;
        let deadline_ms = Allowance::of_phase(protocol, limits, Some(&turn.phase)).deadline_ms;
        // The deadline ends calls that might have been answered yet: it says nothing about a model.
        let late = deadline_ms.is_some_and(|deadline_ms| turn.ended_at_ms >= deadline_ms);
        for (attempts, reply) in calls(turn) {
            let given_up = !late && reply.is_some_and(is_unheard);
            down.extend(left_behind(attempts, given_up));
        }
    }
    down
}

/// Whether an answer of this model has been taken in this debate.
pub(crate) fn has_answered(debate: &Debate, model: &str) -> bool {
    let mut calls = debate.turns.iter().flat_map(calls);
    calls.any(|(attempts, reply)| answered_by(attempts, reply) == Some(model))
}

fn calls(turn: &Turn) -> impl Iterator<Item = (&[Attempt], Option<&Reply>)> {
    turn.attempts.iter().map(Vec::as_slice).zip(turn.replies.iter().map(Option::as_ref))
}

fn answered_by<'a>(attempts: &'a [Attempt], reply: Option<&Reply>) -> Option<&'a str> {
    let said = matches!(reply, Some(Reply::Said { .. }));
    attempts.last().filter(|_| said).map(|attempt| attempt.model.as_str())
}

fn is_unheard(reply: &Reply) -> bool {
    matches!(reply, Reply::Absent { why: Absence::Unreachable | Absence::TimedOut, .. })
}

/// The models from which an ask went on to another one, or which it had last and has given up, because of silence. A refusal
/// or a malformed answer is an answer.
fn left_behind(attempts: &[Attempt], given_up: bool) -> impl Iterator<Item = &str> {
    attempts.iter().enumerate().filter_map(move |(place, attempt)| {
        let left = attempts.get(place + 1).map_or(given_up, |next| next.model != attempt.model);
        let silent = matches!(attempt.fault.as_ref()?.why, Absence::Unreachable | Absence::TimedOut);
        (left && silent).then_some(attempt.model.as_str())
    })
}
