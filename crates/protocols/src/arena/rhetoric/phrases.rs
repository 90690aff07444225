//! Words, sentences and phrases, each with its place in the text.

use std::ops::Range;

/// A word as it is compared, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::arena) struct Word {
    /// In bytes.
    pub(in crate::arena) place: Range<usize>,
    /// In small letters, with a straight apostrophe.
    pub(in crate::arena) folded: String,
}

/// The words of a text. A percent sign is one, and so is each sign of a script that puts no space between words: there a phrase is a
/// row of signs.
pub(in crate::arena) fn words(text: &str) -> Vec<Word> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or_default();
        let length = match first {
            _ if is_letter(first) => rest.find(|c| !is_letter(c) && !is_apostrophe(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        if is_letter(first) || is_unspaced(first) || first == '%' {
            found.extend(word(text, at..at + length));
        }
        at += length;
    }
    found
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && !is_unspaced(c)
}

fn word(text: &str, place: Range<usize>) -> Option<Word> {
    let shown = text.get(place.clone())?;
    // An apostrophe after the last letter closes a quotation.
    let kept = shown.trim_end_matches(is_apostrophe);
    let folded = kept.to_lowercase().replace('\u{2019}', "'");
    Some(Word { place: place.start..place.start + kept.len(), folded })
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}')
}

/// Thai, Japanese and Chinese.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
        && c.is_alphanumeric()
}

/// Where the sentences of a text stand, without the space around them. A line's end is a sentence's end.
pub(in crate::arena) fn sentences(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut begin) = (Vec::new(), 0);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let mut end = at + c.len_utf8();
        if !is_end(text, begin, at, c) {
            continue;
        }
        while let Some((at, c)) = chars.next_if(|(_, c)| is_closer(*c) || is_stop(*c)) {
            end = at + c.len_utf8();
        }
        found.extend(trimmed(text, begin..end));
        begin = end;
    }
    found.extend(trimmed(text, begin..text.len()));
    found
}

/// Whether a sentence asks: it ends with a question mark, whatever closes or follows it.
pub(in crate::arena) fn asks(sentence: &str) -> bool {
    let open = sentence.trim_end_matches(|c: char| is_closer(c) || matches!(c, '!' | '.' | '\u{ff01}'));
    open.ends_with(['?', '\u{ff1f}'])
}

fn is_stop(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '\u{2026}' | '\u{3002}' | '\u{ff01}' | '\u{ff1f}')
}

fn is_closer(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '\u{2019}' | '\u{201d}' | '\u{bb}' | '\u{300d}')
}

/// A stop ends a sentence where a space follows, and not after an abbreviation, nor where the next word is a small one: `v1.2`,
/// `Dr. X`, `e.g. this`.
fn is_end(text: &str, begin: usize, at: usize, c: char) -> bool {
    const ABBREVIATIONS: &[&str] = &["dr", "mr", "mrs", "ms", "prof", "st", "no", "vs", "cf", "e.g", "i.e"];
    if !matches!(c, '.' | '!' | '?') {
        return c == '\n' || is_stop(c);
    }
    let after = text.get(at + 1..).unwrap_or_default().trim_start_matches(is_closer);
    if !after.chars().next().is_none_or(char::is_whitespace) {
        return false;
    }
    let before = text.get(begin..at).unwrap_or_default();
    let last = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let is_small = after.trim_start().chars().next().is_some_and(char::is_lowercase);
    c != '.' || !(is_small || ABBREVIATIONS.contains(&last.to_lowercase().as_str()))
}

fn trimmed(text: &str, place: Range<usize>) -> Option<Range<usize>> {
    let whole = text.get(place.clone())?;
    let start = place.start + whole.len() - whole.trim_start().len();
    let kept = whole.trim();
    (!kept.is_empty()).then(|| start..start + kept.len())
}

/// A row of words that is looked for.
///
/// Written as words with spaces between them: `*` stands for one to three words, `#` for a word that begins with a digit, and `?` at
/// the end wants a sentence that asks. It begins with a word or a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::arena) struct Phrase {
    parts: Vec<Part>,
    asks: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Word(String),
    Number,
    Some,
}

/// What [`Phrase::first`] says of a phrase that begins with a number.
pub(in crate::arena) const NUMBER: &str = "#";

/// The most words for which a `*` stands.
const SOME_MAX: usize = 3;

impl Phrase {
    /// The phrase, or `None` where nothing could ever be found by it.
    pub(in crate::arena) fn parse(written: &str) -> Option<Self> {
        let (written, asks) = match written.trim_end().strip_suffix(" ?") {
            Some(rest) => (rest, true),
            None => (written, false),
        };
        let mut parts = Vec::new();
        for piece in written.split_whitespace() {
            match piece {
                "*" => parts.push(Part::Some),
                NUMBER => parts.push(Part::Number),
                _ => parts.extend(words(piece).into_iter().map(|word| Part::Word(word.folded))),
            }
        }
        (!matches!(parts.first(), None | Some(Part::Some))).then_some(Self { parts, asks })
    }

    /// The word that it begins with, or [`NUMBER`].
    pub(in crate::arena) fn first(&self) -> &str {
        match self.parts.first() {
            Some(Part::Word(word)) => word,
            _ => NUMBER,
        }
    }

    /// Whether it is only found where a sentence asks.
    pub(in crate::arena) fn wants_question(&self) -> bool {
        self.asks
    }

    /// How many of these words it takes, beginning with the first of them.
    pub(in crate::arena) fn begins(&self, words: &[Word]) -> Option<usize> {
        taken(&self.parts, words)
    }
}

fn taken(parts: &[Part], words: &[Word]) -> Option<usize> {
    let Some((part, rest)) = parts.split_first() else { return Some(0) };
    let after = |skipped: usize| Some(skipped + taken(rest, words.get(skipped..)?)?);
    match part {
        Part::Word(word) => words.first().filter(|first| first.folded == *word).and_then(|_| after(1)),
        Part::Number => words.first().filter(|first| first.is_number()).and_then(|_| after(1)),
        Part::Some => (1..=SOME_MAX).find_map(after),
    }
}

impl Word {
    /// Whether it begins with a digit.
    pub(in crate::arena) fn is_number(&self) -> bool {
        self.folded.starts_with(char::is_numeric)
    }
}
