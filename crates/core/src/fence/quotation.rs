//! What a prompt quotes, for readers that have nothing but the prompt.

use std::ops::Range;

/// A quotation as it stands in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FencedQuotation<'a> {
    /// What it is, by its opening line: "Debater A".
    pub what: &'a str,
    /// The quoted text, defused as it was.
    pub text: &'a str,
    /// Where all of it stands, its two lines included.
    pub range: Range<usize>,
}

const BEGIN: &str = "<<BEGIN ";
/// As many hex digits as [`Fence::new`](super::Fence::new) draws.
const MARKER_DIGITS: usize = 24;

/// The quotations of a prompt, in order: the inverse of [`Fence::quote`](super::Fence::quote), whatever the fence. They do not
/// nest, for quoted text cannot hold its own marker.
pub fn quotations(prompt: &str) -> Vec<FencedQuotation<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = prompt.get(from..).and_then(|rest| rest.find(BEGIN)).map(|at| from + at) {
        let opens_line = prompt.get(..at).is_some_and(|before| before.is_empty() || before.ends_with('\n'));
        match quotation(prompt, at).filter(|_| opens_line) {
            Some(quotation) => {
                from = quotation.range.end;
                found.push(quotation);
            }
            None => from = at + BEGIN.len(),
        }
    }
    found
}

/// The quotation that begins here.
fn quotation(prompt: &str, at: usize) -> Option<FencedQuotation<'_>> {
    let (marker, rest) = prompt.get(at + BEGIN.len()..)?.split_at_checked(MARKER_DIGITS)?;
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if !marker.bytes().all(is_digit) {
        return None;
    }
    let (line, body) = rest.split_once('\n')?;
    let what = line.strip_prefix(' ')?.strip_suffix(">>")?;
    let end = format!("\n<<END {marker}>>");
    let length = body.find(&end)?;
    let text = body.get(..length)?;
    let closes_line = body.get(length + end.len()..)?.chars().next().is_none_or(|next| next == '\n');
    let start = prompt.len() - body.len();
    closes_line.then(|| FencedQuotation { what, text, range: at..start + length + end.len() })
}
