//! The rhetorical observer: which patterns and fallacies an argument shows, each with the sentence that shows it.
//!
//! `rhetoric.toml` has the cues: names, and under each the phrases that suggest it, with a weight. The observer matches words and
//! understands nothing, so its findings are hints for a reader and decide nothing. It knows the phrases of one language
//! ([`LANGUAGES`]) and finds nothing in others.
//!
//! The second half of this file finds words, sentences and phrases in a text.

use std::collections::BTreeMap;
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
    /// List and cue, by the first word of the cue.
    by_word: BTreeMap<String, Vec<(usize, usize)>>,
}

/// The cues of one pattern or fallacy.
pub(super) struct CueList {
    pub(super) kind: RhetoricKind,
    pub(super) name: String,
    /// Phrases with their weights, from 0 to 1.
    pub(super) cues: Vec<(PhrasePattern, f64)>,
}

impl RhetoricCues {
    /// Parses a file of cues: a table of names for each kind, a table of weights for each name, a list of phrases for each weight.
    pub(super) fn parse(file: &str) -> Self {
        let data: Value = toml::from_str(file).unwrap_or_default();
        let mut lists = Vec::new();
        for (key, kind) in [("pattern", RhetoricKind::Pattern), ("fallacy", RhetoricKind::Fallacy)] {
            for (name, weights) in data.get(key).and_then(Value::as_object).into_iter().flatten() {
                let weights = weights.as_object().into_iter().flatten();
                lists.push(CueList {
                    kind,
                    name: name.clone(),
                    cues: weights.flat_map(weighted_cues).collect(),
                });
            }
        }
        let mut by_word: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
        for (place, list) in lists.iter().enumerate() {
            for (cue, (phrase, _)) in list.cues.iter().enumerate() {
                by_word.entry(phrase.first().to_owned()).or_default().push((place, cue));
            }
        }
        Self { lists, by_word }
    }

    pub(super) fn observe(&self, text: &str, threshold: f64) -> Vec<RhetoricFinding> {
        let mut matches: Vec<CueMatches> = self.lists.iter().map(|_| CueMatches::default()).collect();
        let words = words(text);
        let mut rest = words.as_slice();
        for place in sentences(text) {
            let (sentence, later) = rest.split_at(rest.partition_point(|word| word.place.start < place.end));
            self.match_sentence(text, &place, sentence, &mut matches);
            rest = later;
        }
        let mut findings: Vec<RhetoricFinding> = self
            .lists
            .iter()
            .zip(&matches)
            .filter_map(|(list, matched)| {
                let quote = matched.quote.clone()?;
                let score = matched.score(list);
                let (start, quote) = (quote.start, text.get(quote)?.to_owned());
                let name = list.name.clone();
                (score >= threshold).then_some(RhetoricFinding { kind: list.kind, name, quote, start, score })
            })
            .collect();
        findings.sort_by_key(|finding| finding.start);
        findings
    }

    fn match_sentence(
        &self,
        text: &str,
        place: &Range<usize>,
        sentence: &[TextWord],
        matches: &mut [CueMatches],
    ) {
        let is_question = is_question(text.get(place.clone()).unwrap_or_default());
        for (at, word) in sentence.iter().enumerate() {
            let rest = sentence.get(at..).unwrap_or_default();
            let number = word.is_number().then_some(NUMBER);
            let keys = [Some(word.folded.as_str()), number].into_iter().flatten();
            for (list, cue) in keys.filter_map(|key| self.by_word.get(key)).flatten() {
                let phrase =
                    self.lists.get(*list).and_then(|list| list.cues.get(*cue)).map(|(phrase, _)| phrase);
                let phrase = phrase.filter(|phrase| is_question || !phrase.needs_question());
                let matched =
                    phrase.and_then(|phrase| phrase.match_len(rest)).and_then(|len| len.checked_sub(1));
                let last = matched.and_then(|last| rest.get(last));
                if let (Some(last), Some(matches)) = (last, matches.get_mut(*list)) {
                    let cue_place = word.place.start..last.place.end;
                    matches.quote.get_or_insert_with(|| quoted_place(text, place, &cue_place));
                    if !matches.cues.contains(cue) {
                        matches.cues.push(*cue);
                    }
                }
            }
        }
    }
}

/// What was found of one list.
#[derive(Default)]
struct CueMatches {
    /// Each cue once: repeating it adds nothing.
    cues: Vec<usize>,
    quote: Option<Range<usize>>,
}

impl CueMatches {
    /// The probability that not every cue misleads, as if they were independent.
    fn score(&self, list: &CueList) -> f64 {
        let weights = list.cues.iter().enumerate().filter(|(cue, _)| self.cues.contains(cue));
        1.0 - weights.map(|(_, (_, weight))| 1.0 - weight).product::<f64>()
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
    let kept = text.get(start..end).unwrap_or_default();
    let start = start + kept.len() - kept.trim_start().len();
    start..start + kept.trim().len()
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
pub(super) const NUMBER: &str = "#";

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
    pub(super) fn first(&self) -> &str {
        match self.parts.first() {
            Some(PhrasePart::Word(word)) => word,
            _ => NUMBER,
        }
    }

    /// Whether it matches only in a question.
    pub(super) fn needs_question(&self) -> bool {
        self.is_question
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
