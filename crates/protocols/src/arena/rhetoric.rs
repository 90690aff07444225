//! The rhetorical observer: which patterns and fallacies an argument shows, each with the sentence that shows it.
//!
//! What it looks for is in `rhetoric.toml`: names, and under each the phrases that are cues to it with how much each says. It reads
//! words and understands nothing, so that its findings are hints to a reader and decide nothing.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use agon_core::{Kind, Opt};
use serde_json::Value;

use phrases::{NUMBER, Phrase, Word, asks, sentences, words};

pub(in crate::arena) mod phrases;

/// The observer's threshold as an option; whether there is an observer at all is the protocol's own.
pub const OPTIONS: &[Opt] = &[Opt {
    key: "observer_threshold",
    kind: Kind::Float(0.0, 1.0),
    default: "0.5",
    help: "how surely an argument must show a pattern or fallacy before the observer reports it",
}];

/// A pattern or fallacy that an argument shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// `pattern` or `fallacy`.
    pub kind: &'static str,
    /// Which one, as it is named in `rhetoric.toml`.
    pub name: String,
    /// The sentence around the first cue, as it stands in the text.
    pub quote: String,
    /// Where the quotation begins, in bytes.
    pub start: usize,
    /// How sure that is, from 0 to 1.
    pub score: f64,
}

/// What an argument shows with at least this score, in the order of the text. Where there is no cue there is nothing, whatever the
/// threshold.
pub fn observe(text: &str, threshold: f64) -> Vec<Observed> {
    static CUES: OnceLock<Cues> = OnceLock::new();
    CUES.get_or_init(|| Cues::parse(DATA)).observe(text, threshold)
}

pub(super) const DATA: &str = include_str!("rhetoric.toml");

/// The kinds, by the tables of the file.
const KINDS: [&str; 2] = ["pattern", "fallacy"];
/// A longer sentence is quoted only around its cue.
const QUOTE_CHARS_MAX: usize = 320;

/// What is looked for.
pub(super) struct Cues {
    pub(super) names: Vec<Named>,
    /// Name and cue, by the word that the cue begins with.
    by_word: BTreeMap<String, Vec<(usize, usize)>>,
}

/// One pattern or fallacy.
pub(super) struct Named {
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// Phrases with how much each says, from 0 to 1.
    pub(super) cues: Vec<(Phrase, f64)>,
}

impl Cues {
    /// A file of cues: for each kind a table of names, for each name one of weights, each with its phrases.
    pub(super) fn parse(file: &str) -> Self {
        let data: Value = toml::from_str(file).unwrap_or_default();
        let mut names = Vec::new();
        for kind in KINDS {
            for (name, weights) in data.get(kind).and_then(Value::as_object).into_iter().flatten() {
                let weights = weights.as_object().into_iter().flatten();
                names.push(Named { kind, name: name.clone(), cues: weights.flat_map(cues).collect() });
            }
        }
        let mut by_word: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
        for (place, named) in names.iter().enumerate() {
            for (cue, (phrase, _)) in named.cues.iter().enumerate() {
                by_word.entry(phrase.first().to_owned()).or_default().push((place, cue));
            }
        }
        Self { names, by_word }
    }

    pub(super) fn observe(&self, text: &str, threshold: f64) -> Vec<Observed> {
        let mut found: Vec<Found> = self.names.iter().map(|_| Found::default()).collect();
        let words = words(text);
        let mut rest = words.as_slice();
        for place in sentences(text) {
            let (sentence, later) = rest.split_at(rest.partition_point(|word| word.place.start < place.end));
            self.mark(text, &place, sentence, &mut found);
            rest = later;
        }
        let mut observed: Vec<Observed> = self
            .names
            .iter()
            .zip(&found)
            .filter_map(|(named, found)| {
                let quote = found.quote.clone()?;
                let score = found.score(named);
                let (start, quote) = (quote.start, text.get(quote)?.to_owned());
                let name = named.name.clone();
                (score >= threshold).then_some(Observed { kind: named.kind, name, quote, start, score })
            })
            .collect();
        observed.sort_by_key(|observed| observed.start);
        observed
    }

    /// Marks every cue that a sentence has.
    fn mark(&self, text: &str, place: &Range<usize>, sentence: &[Word], found: &mut [Found]) {
        let is_question = asks(text.get(place.clone()).unwrap_or_default());
        for (at, word) in sentence.iter().enumerate() {
            let rest = sentence.get(at..).unwrap_or_default();
            let numbered = word.is_number().then_some(NUMBER);
            let keys = [Some(word.folded.as_str()), numbered].into_iter().flatten();
            for (name, cue) in keys.filter_map(|key| self.by_word.get(key)).flatten() {
                let phrase =
                    self.names.get(*name).and_then(|named| named.cues.get(*cue)).map(|(phrase, _)| phrase);
                let phrase = phrase.filter(|phrase| is_question || !phrase.wants_question());
                let taken =
                    phrase.and_then(|phrase| phrase.begins(rest)).and_then(|taken| taken.checked_sub(1));
                let last = taken.and_then(|last| rest.get(last));
                if let (Some(last), Some(found)) = (last, found.get_mut(*name)) {
                    let cue_place = word.place.start..last.place.end;
                    found.quote.get_or_insert_with(|| quoted(text, place, &cue_place));
                    if !found.cues.contains(cue) {
                        found.cues.push(*cue);
                    }
                }
            }
        }
    }
}

/// What was found of one name.
#[derive(Default)]
struct Found {
    /// Each cue once: saying it again does not make it surer.
    cues: Vec<usize>,
    quote: Option<Range<usize>>,
}

impl Found {
    /// The chance that not every cue misleads, as if they were independent.
    fn score(&self, named: &Named) -> f64 {
        let weights = named.cues.iter().enumerate().filter(|(cue, _)| self.cues.contains(cue));
        1.0 - weights.map(|(_, (_, weight))| 1.0 - weight).product::<f64>()
    }
}

/// The sentence, or what is around the cue of one that is very long.
fn quoted(text: &str, sentence: &Range<usize>, cue: &Range<usize>) -> Range<usize> {
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

/// The phrases of one weight.
fn cues((weight, written): (&String, &Value)) -> Vec<(Phrase, f64)> {
    let phrases =
        written.as_array().into_iter().flatten().filter_map(|written| Phrase::parse(written.as_str()?));
    let weight = weight.parse::<f64>().unwrap_or_default();
    phrases.map(|phrase| (phrase, weight)).collect()
}
