//! A text with what is compared of it, each worked out once: who compares one with many has not to read it again.

use std::cell::OnceCell;
use std::sync::OnceLock;

use super::contrary::{self, Signs};
use super::{EMPTY, Wording, figures, parts, tokens};

/// A text that is compared with others.
#[derive(Debug, Clone)]
pub struct Text {
    raw: String,
    /// The hashes of its words, as they stand.
    words: Vec<u64>,
    /// How often it has each word that says anything, by the word's hash, in order.
    counts: Vec<(u64, f64)>,
    norm: f64,
    signs: OnceCell<Signs>,
    wording: OnceCell<Wording>,
}

impl Text {
    /// Reads a text.
    pub fn of(text: &str) -> Self {
        static NOTHING: OnceLock<Vec<u64>> = OnceLock::new();
        let nothing = NOTHING.get_or_init(|| hashes_of(EMPTY));
        let words: Vec<u64> = hashes(text).collect();
        let mut telling: Vec<u64> =
            words.iter().filter(|word| nothing.binary_search(word).is_err()).copied().collect();
        telling.sort_unstable();
        let runs = telling.chunk_by(|a, b| a == b);
        let counts: Vec<(u64, f64)> =
            runs.filter_map(|run| Some((*run.first()?, run.len() as f64))).collect();
        let norm = counts.iter().map(|(_, n)| n * n).sum::<f64>().sqrt();
        let (signs, wording) = (OnceCell::new(), OnceCell::new());
        Self { raw: text.to_owned(), words, counts, norm, signs, wording }
    }

    /// As it was written.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// As [`super::similarity`].
    pub fn similarity(&self, other: &Self) -> f64 {
        let (mut left, mut right) = (self.counts.iter().peekable(), other.counts.iter().peekable());
        let mut dot = 0.0;
        while let (Some((a, n)), Some((b, m))) = (left.peek(), right.peek()) {
            match a.cmp(b) {
                std::cmp::Ordering::Less => left.next(),
                std::cmp::Ordering::Greater => right.next(),
                std::cmp::Ordering::Equal => {
                    dot += n * m;
                    right.next();
                    left.next()
                }
            };
        }
        let scale = self.norm * other.norm;
        if scale > 0.0 { dot / scale } else { 0.0 }
    }

    /// As [`super::same_words`].
    pub fn same_words(&self, other: &Self) -> bool {
        self.words == other.words && figures(&self.raw) == figures(&other.raw)
    }

    /// As [`super::contrary`].
    pub fn contrary(&self, other: &Self) -> bool {
        contrary::is_contrary(self, other)
    }

    /// As [`super::alternative`].
    pub fn alternative(&self, other: &Self) -> bool {
        self.wording().is_alternative(other.wording())
    }

    /// Whether it is so short that every word counts.
    pub fn is_short(&self) -> bool {
        self.words.len() <= super::SHORT
    }

    pub(super) fn signs(&self) -> &Signs {
        self.signs.get_or_init(|| Signs::of(&self.raw, self.wording().all()))
    }

    fn wording(&self) -> &Wording {
        self.wording.get_or_init(|| Wording::of(&self.raw))
    }
}

/// The hashes of a text's words in small letters, as they stand.
pub fn hashes(text: &str) -> impl Iterator<Item = u64> {
    parts(text).map(|word| match word.is_ascii() {
        true => hash(word.bytes().map(|byte| byte.to_ascii_lowercase())),
        false => hash(tokens(word).collect::<String>().bytes()),
    })
}

/// Those of a list of words, in order, so that one can be looked up.
pub fn hashes_of(words: &[&str]) -> Vec<u64> {
    let mut hashes: Vec<u64> = words.iter().flat_map(|word| hashes(word)).collect();
    hashes.sort_unstable();
    hashes
}

/// The 64-bit FNV-1a hash.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical;

    #[test]
    fn a_text_that_is_read_once_compares_as_the_words_do() {
        let texts = [
            "",
            "Adopt the queue, and adopt it now.",
            "adopt the QUEUE and adopt it NOW",
            "Do not adopt the queue now.",
            "Adopt the log now.",
            "Pay 10 percent.",
            "Pay 90 percent.",
            "\u{c4}ndert es, don\u{2019}t!",
            "\u{e4}ndert es don't!",
        ];
        for one in texts {
            for other in texts {
                let (a, b) = (Text::of(one), Text::of(other));
                assert!(
                    (a.similarity(&b) - lexical::similarity(one, other)).abs() < 1e-12,
                    "{one} | {other}"
                );
                assert_eq!(a.same_words(&b), lexical::same_words(one, other), "{one} | {other}");
            }
        }
    }
}
