//! A measure of how much two texts have in common, by their words.
//!
//! It says what texts are about, not what they say: a sentence and its contradiction score high. Where it decides
//! anything, [`opposed`] must not hold; where positions are to be one, nor [`contrary`].

use std::collections::BTreeMap;

mod alternative;
mod contrary;
mod text;

pub use alternative::{LITTLE, Wording, alternative, says_little};
pub use contrary::contrary;
pub use text::{Text, hashes, hashes_of};

/// The cosine of the two texts' word counts, from 0 (no word in common) to 1.
pub fn similarity(a: &str, b: &str) -> f64 {
    let (a, b) = (words(a), words(b));
    let dot = a.iter().filter_map(|(word, n)| Some(n * b.get(word)?)).fold(0.0, |sum, product| sum + product);
    let norm = |counts: &BTreeMap<String, f64>| counts.values().map(|n| n * n).sum::<f64>().sqrt();
    let scale = norm(&a) * norm(&b);
    if scale > 0.0 { dot / scale } else { 0.0 }
}

/// Whether one of two short texts denies what the other says: an odd number of denials between them. In long texts
/// denials are about other things as well, and nothing can be said.
pub fn opposed(a: &str, b: &str) -> bool {
    let short = tokens(a).count() <= SHORT && tokens(b).count() <= SHORT;
    short && !(denials(tokens(a)) + denials(tokens(b))).is_multiple_of(2)
}

/// A text of so many words says one thing.
const SHORT: usize = 40;

/// Whether two texts have the same words in the same order, whatever their case and stops, and the same figures.
pub fn same_words(a: &str, b: &str) -> bool {
    tokens(a).eq(tokens(b)) && figures(a) == figures(b)
}

/// Whether every word of a text that says anything, and every figure, is in another as well.
pub fn is_within(a: &str, b: &str) -> bool {
    let (all, figured) = (words(b), figures(b));
    words(a).keys().all(|word| all.contains_key(word)) && figures(a).iter().all(|part| figured.contains(part))
}

/// The numbers and signs of a text, in order: `x < 0` and `x > 0` have the same words.
pub fn figures(text: &str) -> Vec<&str> {
    let plain = |c: char| {
        c.is_alphabetic()
            || c.is_whitespace()
            || matches!(c, '.' | ',' | ';' | ':' | '\'' | '"' | '`' | '(' | ')')
    };
    text.split(plain).filter(|part| !part.is_empty()).collect()
}

fn denials(words: impl Iterator<Item = impl AsRef<str>>) -> usize {
    const DENIALS: &[&str] = &[
        "not", "no", "never", "none", "neither", "nor", "cannot", "without", "against", "refuse", "refuses",
    ];
    // German, French, Spanish and Italian, Dutch; of "ne ... pas" the second word counts.
    const ELSEWHERE: &[&str] = &[
        "nicht", "kein", "keine", "keinen", "keinem", "keiner", "nie", "niemals", "ohne", "pas", "jamais",
        "sans", "nunca", "sin", "non", "mai", "senza", "niet", "geen", "nooit", "zonder",
    ];
    let denies = |word: &str| DENIALS.contains(&word) || ELSEWHERE.contains(&word) || word.ends_with("n't");
    words.filter(|word| denies(word.as_ref())).count()
}

fn words(text: &str) -> BTreeMap<String, f64> {
    let mut counts = BTreeMap::new();
    for word in tokens(text).filter(|word| !EMPTY.contains(&word.as_str())) {
        *counts.entry(word).or_insert(0.0) += 1.0;
    }
    counts
}

/// Words that only hold a sentence together.
const EMPTY: &[&str] = &[
    "the", "a", "an", "and", "or", "of", "to", "in", "on", "at", "for", "with", "as", "by", "is", "are",
    "be", "was", "it", "its", "this", "that", "i", "we", "you", "they", "he", "she", "my", "our", "your",
    "their",
];

fn tokens(text: &str) -> impl Iterator<Item = String> {
    parts(text).map(|word| match word.to_lowercase() {
        word if word.contains('\u{2019}') => word.replace('\u{2019}', "'"),
        word => word,
    })
}

/// The words of a text as they are written.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '\u{2019}'))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_runs_from_nothing_in_common_to_the_same() {
        assert!((similarity("Adopt the queue today", "adopt the QUEUE today!") - 1.0).abs() < 1e-9);
        assert_eq!(similarity("Adopt the queue", "Rewrite everything later"), 0.0);
        assert_eq!(similarity("", "anything"), 0.0);
    }

    #[test]
    fn a_contradiction_is_similar_but_opposed() {
        let (claim, denial) =
            ("We should adopt the queue this year", "We should not adopt the queue this year");
        assert!(similarity(claim, denial) > 0.85);
        assert!(opposed(claim, denial));
        assert!(!opposed(claim, claim));
        assert!(opposed(claim, "We shouldn\u{2019}t adopt the queue this year"));
        assert!(
            !opposed(claim, &format!("{denial} {}", "and so on ".repeat(20))),
            "nothing can be said of long texts"
        );
    }

    #[test]
    fn the_same_words_are_the_same_whatever_their_stops() {
        assert!(same_words("Use Postgres, today!", "use postgres today!"));
        assert!(!same_words("Use Postgres", "Use Redis") && !same_words("x < 5", "x > 5"));
        assert!(!same_words("The price is right", "Right is the price"));
    }

    #[test]
    fn what_is_added_to_leaves_every_word_where_it_was() {
        assert!(is_within("Use a queue.", "Use the queue, with a pilot in May."));
        assert!(!is_within("Use Postgres for jobs", "Use Redis for jobs, in May"));
        assert!(!is_within("Cap it at 10%", "Cap it at 90% in May"));
    }
}
