//! The ways to send an outcome.

pub(super) mod chat;
pub(super) mod file;
pub(super) mod http;
mod masking;
pub(super) mod program;

use agon_host::clean_line;

/// What a server or a program said, as one line of at most 200 characters.
fn short_line(text: &str) -> String {
    const CHARS_MAX: usize = 200;
    clean_line(text).chars().take(CHARS_MAX).collect()
}
