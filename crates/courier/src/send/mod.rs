//! The ways that a result can go.

mod mask;
pub(crate) mod post;
pub(crate) mod program;
mod retry_after;

/// One line of what a server or a program said, not longer than a person reads.
fn one_line(text: &str) -> String {
    const CHARS_MAX: usize = 200;
    let hidden = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let plain: String = text.chars().map(|c| if hidden(c) { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(CHARS_MAX).collect()
}
