//! The ways that a result can go.

mod mask;
pub(crate) mod post;
pub(crate) mod program;
mod retry_after;

use crate::deliveries::visible::hides;

/// One line of what a server or a program said, not longer than a person reads.
fn one_line(text: &str) -> String {
    const CHARS_MAX: usize = 200;
    let plain: String = text.chars().map(|c| if hides(c) { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(CHARS_MAX).collect()
}
