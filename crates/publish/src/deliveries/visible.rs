//! What was written by somebody, as it may be shown: a name of a file can hold what a terminal would obey.

use std::path::Path;

/// A text in which nothing controls, hides or reorders. What would is shown as a mark, so that two names are not taken for one.
pub(crate) fn visible(text: &str) -> String {
    text.chars().map(|c| if hides(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// A path as it may be shown.
pub(crate) fn path(path: &Path) -> String {
    visible(&path.to_string_lossy())
}

/// Whether a character controls, hides or reorders.
pub(crate) fn hides(c: char) -> bool {
    let invisible = matches!(c, '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
    let reorders = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || invisible || reorders || matches!(c, '\u{2028}' | '\u{2029}')
}
