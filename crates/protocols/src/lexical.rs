//! A measure of how much two texts have in common, by their words.
//!
//! It says what texts are about, not what they say: a sentence and its contradiction score high. Where it decides
//! anything, [`same_side`] must hold as well.

use std::collections::BTreeMap;

/// The cosine of the two texts' word counts, from 0 (no word in common) to 1.
pub fn similarity(a: &str, b: &str) -> f64 {
    let (a, b) = (words(a), words(b));
    let dot: f64 = a.iter().filter_map(|(word, n)| Some(n * b.get(word)?)).sum();
    let norm = |counts: &BTreeMap<String, f64>| counts.values().map(|n| n * n).sum::<f64>().sqrt();
    let scale = norm(&a) * norm(&b);
    if scale > 0.0 { dot / scale } else { 0.0 }
}

/// Whether the two texts deny equally often: an even number of denials between them.
pub fn same_side(a: &str, b: &str) -> bool {
    (denials(a) + denials(b)).is_multiple_of(2)
}

fn denials(text: &str) -> usize {
    const DENIALS: &[&str] =
        &["not", "no", "never", "none", "neither", "nor", "cannot", "without", "against"];
    tokens(text).filter(|word| DENIALS.contains(&word.as_str()) || word.ends_with("n't")).count()
}

fn words(text: &str) -> BTreeMap<String, f64> {
    let mut counts = BTreeMap::new();
    for word in tokens(text).filter(|word| word.chars().count() > 3 || word.chars().any(char::is_numeric)) {
        *counts.entry(word).or_insert(0.0) += 1.0;
    }
    counts
}

fn tokens(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '\u{2019}'))
        .filter(|word| !word.is_empty())
        .map(|word| word.to_lowercase().replace('\u{2019}', "'"))
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
    fn a_contradiction_is_similar_but_not_on_the_same_side() {
        let (claim, denial) =
            ("We should adopt the queue this year", "We should not adopt the queue this year");
        assert!(similarity(claim, denial) > 0.9);
        assert!(!same_side(claim, denial));
        assert!(same_side(claim, claim));
        assert!(!same_side(claim, "We shouldn\u{2019}t adopt the queue this year"));
    }
}
