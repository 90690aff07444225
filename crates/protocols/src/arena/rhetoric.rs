//! The rhetorical observer: which patterns and fallacies an argument shows, each with the sentence that shows it.
//!
//! `rhetoric.toml` has the cues: names, and under each the phrases that suggest it, with a weight. The observer matches words and
//! understands nothing, so its findings are hints for a reader and decide nothing. It knows the phrases of one language
//! ([`LANGUAGES`]) and finds nothing in others.
//!
//! The second half of this file finds words, sentences and phrases in a text.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A pattern or fallacy in an argument.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RhetoricFinding {
    pub(super) kind: RhetoricKind,
    /// Its name in `rhetoric.toml`.
    pub(super) name: String,
    /// The sentence with the first cue.
    pub(super) quote: String,
    /// Where the quotation begins, in bytes.
    pub(super) start: usize,
    /// How sure that is, from 0 to 1.
    pub(super) score: f64,
}

/// The tables of `rhetoric.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RhetoricKind {
    Pattern,
    Fallacy,
}

/// The findings in an argument that reach the threshold, in the order of the text. Without a cue there is no finding, whatever
/// the threshold.
pub(super) fn observe(text: &str, threshold: f64) -> Vec<RhetoricFinding> {
    static CUES: OnceLock<RhetoricCues> = OnceLock::new();
    CUES.get_or_init(|| RhetoricCues::parse(RHETORIC_CUES)).observe(text, threshold)
}

/// The languages whose phrases the observer knows.
pub(super) const LANGUAGES: &str = "English";

pub(super) const RHETORIC_CUES: &str = include_str!("rhetoric.toml");

/// A longer sentence is quoted only around its cue.
const QUOTE_CHARS_MAX: usize = 320;

/// All that is looked for.
pub(super) struct RhetoricCues {
    pub(super) lists: Vec<CueList>,
}

/// The cues of one pattern or fallacy.
pub(super) struct CueList {
    pub(super) kind: RhetoricKind,
    pub(super) name: String,
    /// Phrases with their weights, from 0 to 1.
    pub(super) cues: Vec<(PhrasePattern, f64)>,
}

/// A sentence of an argument with its words.
struct ArgumentSentence<'w> {
    place: Range<usize>,
    words: &'w [TextWord],
    is_question: bool,
}

impl RhetoricCues {
    /// Parses a file of cues: a table of names for each kind, a table of weights for each name, a list of phrases for each weight.
    pub(super) fn parse(file: &str) -> Self {
        let data: Value = toml::from_str(file).unwrap_or_default();
        let mut lists = Vec::new();
        for (key, kind) in [("pattern", RhetoricKind::Pattern), ("fallacy", RhetoricKind::Fallacy)] {
            for (name, weights) in data.get(key).and_then(Value::as_object).into_iter().flatten() {
                let cues = weights.as_object().into_iter().flatten().flat_map(weighted_cues).collect();
                lists.push(CueList { kind, name: name.clone(), cues });
            }
        }
        Self { lists }
    }

    pub(super) fn observe(&self, text: &str, threshold: f64) -> Vec<RhetoricFinding> {
        let words = words(text);
        let mut rest = words.as_slice();
        let mut argument = Vec::new();
        for place in sentences(text) {
            let (words, later) = rest.split_at(rest.partition_point(|word| word.place.start < place.end));
            let is_question = is_question(text.get(place.clone()).unwrap_or_default());
            argument.push(ArgumentSentence { place, words, is_question });
            rest = later;
        }
        // Few cues begin with a word of the text, so the others are left out at once.
        let mut vocabulary: HashSet<&str> = words.iter().map(|word| word.folded.as_str()).collect();
        vocabulary.extend(words.iter().any(TextWord::is_number).then_some(NUMBER));
        let found = self.lists.iter().filter_map(|list| list.observe(text, &argument, &vocabulary));
        let mut findings: Vec<RhetoricFinding> = found.filter(|finding| finding.score >= threshold).collect();
        findings.sort_by_key(|finding| finding.start);
        findings
    }
}

impl CueList {
    /// What its cues come to; `None` without any. Repeating a cue adds nothing.
    fn observe(
        &self,
        text: &str,
        argument: &[ArgumentSentence<'_>],
        vocabulary: &HashSet<&str>,
    ) -> Option<RhetoricFinding> {
        let cues = self.cues.iter().filter(|(phrase, _)| vocabulary.contains(phrase.first()));
        let found = cues.filter_map(|(phrase, weight)| {
            let (sentence, cue) = argument.iter().find_map(|one| Some((one, phrase.place_in(one)?)))?;
            Some((sentence, cue, weight))
        });
        let found: Vec<_> = found.collect();
        let (sentence, cue, _) = found.iter().min_by_key(|(_, cue, _)| cue.start)?;
        let quote = quoted_place(text, &sentence.place, cue);
        Some(RhetoricFinding {
            kind: self.kind,
            name: self.name.clone(),
            start: quote.start,
            quote: text.get(quote)?.to_owned(),
            // The probability that not every cue misleads, as if they were independent.
            score: 1.0 - found.iter().map(|(.., weight)| 1.0 - *weight).product::<f64>(),
        })
    }
}

/// The place of the sentence, or of the text around the cue if the sentence is very long.
fn quoted_place(text: &str, sentence: &Range<usize>, cue: &Range<usize>) -> Range<usize> {
    let whole = text.get(sentence.clone()).unwrap_or_default();
    if whole.chars().nth(QUOTE_CHARS_MAX).is_none() {
        return sentence.clone();
    }
    let side = QUOTE_CHARS_MAX / 2;
    let before = text.get(sentence.start..cue.start).unwrap_or_default();
    let after = text.get(cue.end..sentence.end).unwrap_or_default();
    let start = before.char_indices().rev().nth(side).map_or(sentence.start, |(at, _)| sentence.start + at);
    let end = after.char_indices().nth(side).map_or(sentence.end, |(at, _)| cue.end + at);
    trimmed(text, start..end).unwrap_or(start..end)
}

fn weighted_cues((weight, phrases): (&String, &Value)) -> Vec<(PhrasePattern, f64)> {
    let phrases =
        phrases.as_array().into_iter().flatten().filter_map(|phrase| PhrasePattern::parse(phrase.as_str()?));
    let weight = weight.parse::<f64>().unwrap_or_default();
    phrases.map(|phrase| (phrase, weight)).collect()
}

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextWord {
    /// Its place in bytes.
    pub(super) place: Range<usize>,
    /// In lower case, with a straight apostrophe.
    pub(super) folded: String,
}

/// The words of a text. A percent sign is a word, and so is each character of a script that puts no space between words: a phrase
/// is a sequence of characters there.
pub(super) fn words(text: &str) -> Vec<TextWord> {
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

fn word(text: &str, place: Range<usize>) -> Option<TextWord> {
    let shown = text.get(place.clone())?;
    // An apostrophe after the last letter closes a quotation.
    let kept = shown.trim_end_matches(is_apostrophe);
    let folded = kept.to_lowercase().replace('\u{2019}', "'");
    Some(TextWord { place: place.start..place.start + kept.len(), folded })
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}')
}

/// Whether a character is of a script without spaces: Thai, Japanese, Chinese.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
        && c.is_alphanumeric()
}

/// The places of the sentences of a text, without the space around them. The end of a line ends a sentence.
pub(super) fn sentences(text: &str) -> Vec<Range<usize>> {
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

/// Whether a sentence ends with a question mark, apart from closing quotes and further marks.
pub(super) fn is_question(sentence: &str) -> bool {
    let open = sentence.trim_end_matches(|c: char| is_closer(c) || matches!(c, '!' | '.' | '\u{ff01}'));
    open.ends_with(['?', '\u{ff1f}'])
}

fn is_stop(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '\u{2026}' | '\u{3002}' | '\u{ff01}' | '\u{ff1f}')
}

fn is_closer(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '\u{2019}' | '\u{201d}' | '\u{bb}' | '\u{300d}')
}

/// Whether a character ends a sentence. A full stop does if a space follows it, but not after an abbreviation or before a word in
/// lower case: `v1.2`, `Dr. X`, `e.g. this`.
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

/// A sequence of words to look for.
///
/// It is written as words with spaces between them: `*` stands for one to three words, `#` for a word that begins with a digit,
/// and a `?` at the end requires a question. It begins with a word or a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PhrasePattern {
    parts: Vec<PhrasePart>,
    is_question: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PhrasePart {
    Word(String),
    Number,
    AnyWords,
}

/// What [`PhrasePattern::first`] returns for a phrase that begins with a number.
const NUMBER: &str = "#";

/// The most words that a `*` stands for.
const ANY_WORDS_MAX: usize = 3;

impl PhrasePattern {
    /// The phrase, or `None` if it could never match.
    pub(super) fn parse(written: &str) -> Option<Self> {
        let (written, is_question) = match written.trim_end().strip_suffix(" ?") {
            Some(rest) => (rest, true),
            None => (written, false),
        };
        let mut parts = Vec::new();
        for piece in written.split_whitespace() {
            match piece {
                "*" => parts.push(PhrasePart::AnyWords),
                NUMBER => parts.push(PhrasePart::Number),
                _ => parts.extend(words(piece).into_iter().map(|word| PhrasePart::Word(word.folded))),
            }
        }
        (!matches!(parts.first(), None | Some(PhrasePart::AnyWords))).then_some(Self { parts, is_question })
    }

    /// Its first word, or [`NUMBER`].
    fn first(&self) -> &str {
        match self.parts.first() {
            Some(PhrasePart::Word(word)) => word,
            _ => NUMBER,
        }
    }

    /// Where a sentence has it first.
    fn place_in(&self, sentence: &ArgumentSentence<'_>) -> Option<Range<usize>> {
        let words = sentence.words;
        let mut starts = (0..words.len()).filter(|_| sentence.is_question || !self.is_question);
        starts.find_map(|at| {
            let last = words.get(at..)?.get(self.match_len(words.get(at..)?)?.checked_sub(1)?)?;
            Some(words.get(at)?.place.start..last.place.end)
        })
    }

    /// How many of these words it matches, from the first of them on.
    pub(super) fn match_len(&self, words: &[TextWord]) -> Option<usize> {
        match_parts(&self.parts, words)
    }
}

fn match_parts(parts: &[PhrasePart], words: &[TextWord]) -> Option<usize> {
    let Some((part, rest)) = parts.split_first() else { return Some(0) };
    let after = |skipped: usize| Some(skipped + match_parts(rest, words.get(skipped..)?)?);
    match part {
        PhrasePart::Word(word) => words.first().filter(|first| first.folded == *word).and_then(|_| after(1)),
        PhrasePart::Number => words.first().filter(|first| first.is_number()).and_then(|_| after(1)),
        PhrasePart::AnyWords => (1..=ANY_WORDS_MAX).find_map(after),
    }
}

impl TextWord {
    /// Whether it begins with a digit.
    pub(super) fn is_number(&self) -> bool {
        self.folded.starts_with(char::is_numeric)
    }
}
