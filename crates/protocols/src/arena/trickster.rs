//! The trickster: whether a consensus is hollow, that is, whether many agree on little.
//!
//! Four signals, each the share of what was said that is weak in one way, with the words that it rests on:
//!
//! - `uncited`: of the claims, those without evidence, which a number or a link alone is not. Who makes no claim asserts its whole text without any, so that it counts as one.
//! - `unspecific`: of the evidence that is given, what nobody could check ([`specific`] has the rules).
//! - `near_copies`: of the pairs of texts, those that are near copies: four fifths of their rows of five words are the same, or the
//!   similarity that was measured is at least 0.98.
//! - `no_reasons`: of the arguments, those that give none: no claim, and no "because", neither in the text nor in an answer to a critique.
//!
//! A signal fires at its threshold and above, never at 0. So many as `trickster_signals` make a consensus hollow.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use agon_core::{Brief, Kind, Opt};
use serde_json::Value;

use super::rhetoric::phrases::{Phrase, Word, sentences, words};

mod specific;

/// The thresholds as options; whether there is a trickster at all is the protocol's own.
pub const OPTIONS: &[Opt] = &[
    Opt {
        key: "trickster_uncited",
        kind: Kind::Float(0.0, 1.0),
        default: "0.5",
        help: "the share of claims without evidence from which the trickster objects",
    },
    Opt {
        key: "trickster_unspecific",
        kind: Kind::Float(0.0, 1.0),
        default: "0.6",
        help: "the share of evidence that nobody could check from which the trickster objects",
    },
    Opt {
        key: "trickster_near_copies",
        kind: Kind::Float(0.0, 1.0),
        default: "0.5",
        help: "the share of pairs of proposals that are near copies from which the trickster objects",
    },
    Opt {
        key: "trickster_no_reasons",
        kind: Kind::Float(0.0, 1.0),
        default: "0.5",
        help: "the share of proposals without a reason from which the trickster objects",
    },
    Opt {
        key: "trickster_signals",
        kind: Kind::Int(1, 4),
        default: "2",
        help: "how many of the four objections make a consensus hollow",
    },
];

/// What one agent argues.
#[derive(Debug, Clone)]
pub struct Argument<'a> {
    /// The agent's label.
    pub label: &'a str,
    /// What it says in full.
    pub text: &'a str,
    /// Its claims, each with its evidence, which may be empty.
    pub claims: Vec<(&'a str, &'a str)>,
    /// How it answers critiques, one by one.
    pub addressed: Vec<&'a str>,
    /// The ids that it was shown, so that it could cite them.
    pub shown: Vec<&'a str>,
}

/// From where on each signal fires, and how many make a consensus hollow.
#[derive(Debug, Clone, PartialEq)]
pub struct Thresholds {
    /// For claims without evidence.
    pub uncited: f64,
    /// For evidence that nobody could check.
    pub unspecific: f64,
    /// For pairs that are near copies.
    pub near_copies: f64,
    /// For arguments without a reason.
    pub no_reasons: f64,
    /// How many signals make it hollow.
    pub signals: u32,
}

impl Thresholds {
    /// The options of a debate.
    pub fn read(brief: &Brief) -> Self {
        Self {
            uncited: brief.float("trickster_uncited"),
            unspecific: brief.float("trickster_unspecific"),
            near_copies: brief.float("trickster_near_copies"),
            no_reasons: brief.float("trickster_no_reasons"),
            signals: brief.int("trickster_signals"),
        }
    }
}

/// What the trickster found.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Whether the consensus is hollow.
    pub hollow: bool,
    /// All four signals, in the order above.
    pub signals: Vec<Signal>,
}

/// One way in which arguments are weak.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    /// Its name.
    pub signal: &'static str,
    /// How much of what was said is so, from 0 to 1.
    pub value: f64,
    /// From where on it fires.
    pub threshold: f64,
    /// Whether it does.
    pub fired: bool,
    /// The words that it rests on: label and quotation. Each stands in that agent's text, claims or evidence.
    pub quotes: Vec<(String, String)>,
}

/// Looks at the arguments of those who agree. `similarity` is what was measured between two of them, by their places; who says nothing
/// counts for nothing.
pub fn look(
    arguments: &[Argument<'_>],
    similarity: &dyn Fn(usize, usize) -> Option<f64>,
    thresholds: &Thresholds,
) -> Finding {
    let said: Vec<(usize, &Argument<'_>)> =
        arguments.iter().enumerate().filter(|(_, argument)| says_something(argument)).collect();
    let signals = vec![
        uncited(&said).judged("uncited", thresholds.uncited),
        unspecific(&said).judged("unspecific", thresholds.unspecific),
        near_copies(&said, similarity).judged("near_copies", thresholds.near_copies),
        no_reasons(&said).judged("no_reasons", thresholds.no_reasons),
    ];
    let fired = signals.iter().filter(|signal| signal.fired).count();
    let hollow = fired > 0 && u32::try_from(fired).is_ok_and(|fired| fired >= thresholds.signals);
    Finding { hollow, signals }
}

/// Texts with at least this share of their rows of words in common are near copies.
const COPIED_FROM: f64 = 0.8;
/// So are texts that were measured to be this similar.
const ALIKE_FROM: f64 = 0.98;
/// The length of a row.
const ROW_WORDS: usize = 5;
/// So many quotations of one agent show a signal; all of them would be its whole proposal.
const QUOTES_MAX: usize = 3;
/// A quotation ends here at the latest.
const QUOTE_CHARS_MAX: usize = 240;

type Said<'a, 'b> = [(usize, &'b Argument<'a>)];

/// How many are weak, of how many.
#[derive(Default)]
struct Share {
    weak: usize,
    of: usize,
    quotes: Vec<(String, String)>,
}

impl Share {
    fn count(&mut self, is_weak: bool, label: &str, quote: &str) {
        self.of += 1;
        if is_weak {
            self.weak += 1;
            self.quote(label, quote);
        }
    }

    fn quote(&mut self, label: &str, quote: &str) {
        let cut = quote.char_indices().nth(QUOTE_CHARS_MAX).map_or(quote.len(), |(at, _)| at);
        let quote = quote.get(..cut).unwrap_or_default().trim();
        let own = self.quotes.iter().filter(|(other, _)| other == label);
        let is_new = own.clone().all(|(_, other)| other != quote);
        if is_new && own.count() < QUOTES_MAX && !quote.is_empty() {
            self.quotes.push((label.to_owned(), quote.to_owned()));
        }
    }

    fn judged(self, signal: &'static str, threshold: f64) -> Signal {
        let value = if self.of == 0 { 0.0 } else { self.weak as f64 / self.of as f64 };
        Signal { signal, value, threshold, fired: value > 0.0 && value >= threshold, quotes: self.quotes }
    }
}

fn says_something(argument: &Argument<'_>) -> bool {
    let claims = argument.claims.iter().flat_map(|(claim, evidence)| [*claim, *evidence]);
    claims.chain([argument.text]).any(|text| text.chars().any(char::is_alphanumeric))
}

fn claims<'a>(argument: &Argument<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let is_made = |(claim, evidence): &(&str, &str)| !claim.trim().is_empty() || is_given(evidence);
    argument.claims.iter().copied().filter(is_made)
}

fn uncited(said: &Said<'_, '_>) -> Share {
    let mut share = Share::default();
    for (_, argument) in said {
        for (claim, evidence) in claims(argument) {
            share.count(!is_given(evidence), argument.label, claim);
        }
        if claims(argument).next().is_none() {
            share.count(true, argument.label, first_sentence(argument.text));
        }
    }
    share
}

/// Whether there is any evidence: to say that there is none is to give none, and so is a number of nobody knows what.
fn is_given(evidence: &str) -> bool {
    let words = words(evidence);
    let is_all = |phrase: &Phrase| phrase.begins(&words) == Some(words.len());
    !words.is_empty() && !lists().no_evidence.iter().any(is_all) && !specific::is_bare(evidence)
}

fn unspecific(said: &Said<'_, '_>) -> Share {
    let mut share = Share::default();
    for (_, argument) in said {
        for (_, evidence) in claims(argument).filter(|(_, evidence)| is_given(evidence)) {
            share.count(!specific::is_specific(evidence, &argument.shown), argument.label, evidence);
        }
    }
    share
}

fn near_copies(said: &Said<'_, '_>, similarity: &dyn Fn(usize, usize) -> Option<f64>) -> Share {
    let rows: Vec<BTreeSet<Vec<String>>> = said.iter().map(|(_, argument)| rows(argument.text)).collect();
    let mut share = Share::default();
    let all = || said.iter().zip(&rows).enumerate();
    for (place, ((one, first), ours)) in all() {
        for (_, ((other, second), theirs)) in all().skip(place + 1) {
            let is_copy = common(ours, theirs) >= COPIED_FROM
                || similarity(*one, *other).is_some_and(|alike| alike >= ALIKE_FROM);
            share.count(is_copy, first.label, first_sentence(first.text));
            if is_copy {
                share.quote(second.label, first_sentence(second.text));
            }
        }
    }
    share
}

/// Every row of five words; of a shorter text the one row that it is.
fn rows(text: &str) -> BTreeSet<Vec<String>> {
    let words: Vec<String> = words(text).into_iter().map(|word| word.folded).collect();
    match words.len() {
        0 => BTreeSet::new(),
        1..ROW_WORDS => BTreeSet::from([words]),
        _ => words.windows(ROW_WORDS).map(<[String]>::to_vec).collect(),
    }
}

/// The share of all rows that are in both (Jaccard).
fn common(a: &BTreeSet<Vec<String>>, b: &BTreeSet<Vec<String>>) -> f64 {
    let both = a.intersection(b).count();
    let all = a.len() + b.len() - both;
    if all == 0 { 0.0 } else { both as f64 / all as f64 }
}

fn no_reasons(said: &Said<'_, '_>) -> Share {
    let mut share = Share::default();
    for (_, argument) in said {
        let has_reason = claims(argument).next().is_some()
            || reasons(argument.text)
            || argument.addressed.iter().any(|how| reasons(how));
        share.count(!has_reason, argument.label, first_sentence(argument.text));
    }
    share
}

/// Whether a text gives a reason. "Since 2019" is a date.
fn reasons(text: &str) -> bool {
    let words = words(text);
    let is_date = |at: usize| {
        words.get(at).is_some_and(|word| word.folded == "since")
            && words.get(at + 1).is_none_or(Word::is_number)
    };
    (0..words.len()).filter(|at| !is_date(*at)).any(|at| {
        let rest = words.get(at..).unwrap_or_default();
        lists().reasons.iter().any(|phrase| phrase.begins(rest).is_some())
    })
}

fn first_sentence(text: &str) -> &str {
    sentences(text).into_iter().next().and_then(|place| text.get(place)).unwrap_or_default()
}

/// The words of `trickster.toml`.
struct Lists {
    no_evidence: Vec<Phrase>,
    reasons: Vec<Phrase>,
    boilerplate: Vec<Phrase>,
    numbers: Vec<Phrase>,
}

fn lists() -> &'static Lists {
    static LISTS: OnceLock<Lists> = OnceLock::new();
    LISTS.get_or_init(|| {
        let data: Value = toml::from_str(include_str!("trickster.toml")).unwrap_or_default();
        let list = |key: &str| {
            let written = data.get(key).and_then(Value::as_array).into_iter().flatten();
            written.filter_map(|written| Phrase::parse(written.as_str()?)).collect()
        };
        Lists {
            no_evidence: list("no_evidence"),
            reasons: list("reasons"),
            boilerplate: list("boilerplate"),
            numbers: list("numbers"),
        }
    })
}
