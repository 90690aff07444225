//! How many calls a part of a debate came to.

use agon_core::{Reply, Turn};

/// The calls that were made and came to something: every answer, and every attempt that was answered and had to be repeated. A call
/// that was lost in an interruption is not among them, so that a debate that was resumed tells the same. What a branch took over has
/// no attempts of its own: there each answer is one.
pub fn calls<'a>(turns: impl IntoIterator<Item = &'a Turn>) -> usize {
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
