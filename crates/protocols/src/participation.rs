//! How the seats took part: who could not finish or read everything, and how many calls were answered.

use agon_core::{AskRecord, Debate, Fidelity, Phase, PhaseTurn, Reply};

/// How many judges must be heard before their verdict counts: two thirds.
pub fn judges_quorum(judges: usize) -> usize {
    (2 * judges).div_ceil(3)
}

/// Whether a debate went as planned: nobody was absent or cut off, and `is_whole` by the protocol's own rules.
pub fn fidelity(debate: &Debate, is_whole: bool) -> Fidelity {
    match is_whole && debate.absences().next().is_none() && cut_off_warnings(debate).is_empty() {
        true => Fidelity::Full,
        false => Fidelity::Degraded,
    }
}

/// A warning for every reply that the limit on output tokens cut off.
pub fn cut_off_warnings(debate: &Debate) -> Vec<String> {
    warnings_of_replies(debate, |reply| {
        let is_cut_off = matches!(reply, Reply::Said { cut_off: true, .. });
        is_cut_off.then(|| "was cut off by the limit on output tokens".to_owned())
    })
}

/// A warning for every seat whose model could not read its whole prompt.
pub fn shortened_warnings(debate: &Debate) -> Vec<String> {
    warnings_of_replies(debate, |reply| {
        let Reply::Said { shortened: Some(shortened), .. } = reply else { return None };
        let (left_out, tokens) = (shortened.left_out_of(), shortened.context_tokens);
        Some(format!("could not read {left_out} (its model reads {tokens} tokens)"))
    })
}

fn warnings_of_replies(debate: &Debate, what: impl Fn(&Reply) -> Option<String>) -> Vec<String> {
    let said = debate.turns.iter().flat_map(|turn| turn.settled().map(move |said| (&turn.phase, said)));
    let warning = |(phase, (ask, reply)): (&Phase, (&AskRecord, &Reply))| {
        Some(format!("{}, round {}: {} {}", phase.name, phase.round, ask.seat, what(reply)?))
    };
    said.filter_map(warning).collect()
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
