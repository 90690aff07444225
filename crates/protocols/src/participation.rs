//! How the seats took part: who could not finish or read everything, and how many calls were answered.

use agon_core::{Debate, PhaseTurn, Reply};

/// How many judges must be heard before their verdict counts: two thirds.
pub fn judges_quorum(judges: usize) -> usize {
    (2 * judges).div_ceil(3)
}

/// A warning for every reply that the limit on output tokens cut off.
pub fn cut_off_warnings(debate: &Debate) -> Vec<String> {
    let said = debate.turns.iter().flat_map(|turn| turn.settled().map(move |said| (&turn.phase, said)));
    let cut = said.filter(|(_, (_, reply))| matches!(reply, Reply::Said { cut_off: true, .. }));
    cut.map(|(phase, (ask, _))| {
        format!(
            "{}, round {}: {} was cut off by the limit on output tokens",
            phase.name, phase.round, ask.seat
        )
    })
    .collect()
}

/// A warning for every seat whose model could not read its whole prompt.
pub fn shortened_warnings(debate: &Debate) -> Vec<String> {
    let said = debate.turns.iter().flat_map(|turn| turn.settled().map(move |said| (&turn.phase, said)));
    said.filter_map(|(phase, (ask, reply))| {
        let Reply::Said { shortened: Some(shortened), .. } = reply else { return None };
        let (left_out, tokens) = (shortened.left_out_of(), shortened.context_tokens);
        Some(format!(
            "{}, round {}: {} could not read {left_out} (its model reads {tokens} tokens)",
            phase.name, phase.round, ask.seat
        ))
    })
    .collect()
}

/// How many calls of these phases came back: every answer, and every attempt that failed and was repeated. Calls lost in an
/// interruption do not count, so a resumed debate reports the same number. Replies that a branch copied have no attempts of
/// their own and count once each.
pub fn answered_calls<'a>(turns: impl IntoIterator<Item = &'a PhaseTurn>) -> usize {
    let mut calls = 0;
    for turn in turns {
        for (attempts, reply) in turn.attempts.iter().zip(&turn.replies) {
            let said = matches!(reply, Some(Reply::Said { .. }));
            let answer = attempts.last().is_some_and(|attempt| attempt.fault.is_none());
            calls += attempts.iter().filter(|attempt| attempt.fault.is_some()).count();
            calls += usize::from(said && (turn.inherited || answer));
        }
    }
    calls
}
