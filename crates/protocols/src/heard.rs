//! What a reader must know about how well the seats could speak and read, whatever the protocol.

use agon_core::{Debate, Reply};

/// Who could not finish.
pub fn cut_off(debate: &Debate) -> Vec<String> {
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

/// Who could not read everything.
pub fn shortened(debate: &Debate) -> Vec<String> {
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
