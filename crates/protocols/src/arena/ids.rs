//! The ids by which context and critiques are cited: `[K1]`, `[Q2]`, or the same as a word without brackets.

use std::ops::Range;

/// How an id is marked that is another debate's.
pub(super) const OF_DEBATE: &str = " of that debate";
/// How an id is marked that somebody else wrote.
pub(super) const OF_SOURCE: &str = " of that source";

/// An id that stands in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cited<'t> {
    /// As it is written, without brackets.
    pub(super) id: &'t str,
    /// Where, in bytes.
    pub(super) place: Range<usize>,
    /// Whether brackets are around it, others perhaps with it in them.
    pub(super) bracketed: bool,
    /// Whether it is marked as none of this debate's.
    pub(super) foreign: bool,
}

impl Cited<'_> {
    /// Whether it may be a quarter of a year: "sales rose in Q3" cites nothing.
    pub(super) fn is_quarter(&self) -> bool {
        !self.bracketed
            && ["Q1", "Q2", "Q3", "Q4"].iter().any(|quarter| quarter.eq_ignore_ascii_case(self.id))
    }
}

/// Every id of a text, in order.
pub(super) fn cited(text: &str) -> Vec<Cited<'_>> {
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(start) = position(text, from, char::is_alphanumeric) {
        let end = position(text, start, |c| !c.is_alphanumeric()).unwrap_or(text.len());
        let id = text.get(start..end).unwrap_or_default();
        let (before, after) = (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default());
        if is_id(id) {
            let foreign = [OF_DEBATE, OF_SOURCE].iter().any(|mark| after.starts_with(mark));
            let bracketed = before.rfind('[') > before.rfind(']') && after.contains(']');
            found.push(Cited { id, place: start..end, bracketed, foreign });
        }
        from = end;
    }
    found
}

/// A text from elsewhere with its ids marked, so that nobody takes them for those of this debate: `[K1]` is `(K1 of that debate)`. Without
/// brackets only what `bare` says is one.
pub(super) fn marked(text: &str, mark: &str, bare: bool) -> String {
    let (mut written, mut from) = (String::new(), 0);
    for one in cited(text) {
        if one.foreign || one.is_quarter() || !(one.bracketed || bare) {
            continue;
        }
        let before = text.get(from..one.place.start).unwrap_or_default();
        let after = text.get(one.place.end..).unwrap_or_default();
        // Brackets around one id alone are an id's; around several, a list's.
        match before.strip_suffix('[').filter(|_| after.starts_with(']')) {
            Some(before) => {
                written.push_str(&format!("{before}({}{mark})", one.id));
                from = one.place.end + 1;
            }
            None => {
                written.push_str(&format!("{before}{}{mark}", one.id));
                from = one.place.end;
            }
        }
    }
    written + text.get(from..).unwrap_or_default()
}

fn is_id(word: &str) -> bool {
    let number = word.strip_prefix(['K', 'Q', 'k', 'q']).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit())
}

fn position(text: &str, from: usize, is_wanted: impl Fn(char) -> bool) -> Option<usize> {
    Some(from + text.get(from..)?.find(is_wanted)?)
}
