//! The innermost reason of an error.

use std::error::Error;

/// What the innermost source of an error says, on one printable line.
///
/// The outer layers of an HTTP error name the address, which may contain a key, and add little.
pub fn innermost_reason(error: &dyn Error) -> String {
    let mut reason = error.source();
    while let Some(inner) = reason.and_then(|reason| reason.source()) {
        reason = Some(inner);
    }
    let text = reason.map_or_else(|| "no reason is given".to_owned(), ToString::to_string);
    crate::clean_line(&text)
}
