//! The measure that needs no model: which words two texts have in common.

use std::collections::BTreeMap;

use agon_engine::Fault;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::{Embed, Embedded};

/// `embeddings/lexical`: how often each word stands in a text, lower-cased; a word is a run of letters and digits. It knows no
/// meaning: "cheap" and "inexpensive" have nothing in common, and "is safe" and "is not safe" have nearly all.
#[derive(Debug, Clone, Copy)]
pub struct Lexical;

pub(super) const NAME: &str = "embeddings/lexical";

impl Embed for Lexical {
    fn name(&self) -> &str {
        NAME
    }

    fn is_errand(&self) -> bool {
        true
    }

    fn provider(&self) -> &str {
        "lexical"
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embedded, Fault>> {
        let embedded = Embedded { vectors: vectors(texts), ..Embedded::default() };
        async { Ok(embedded) }.boxed()
    }
}

/// A place for each word of all the texts, and in each text's vector how often it stands there.
fn vectors(texts: &[String]) -> Vec<Vec<f32>> {
    let texts: Vec<Vec<String>> = texts.iter().map(|text| words(text)).collect();
    let mut places = BTreeMap::new();
    for word in texts.iter().flatten() {
        let next = places.len();
        places.entry(word.as_str()).or_insert(next);
    }
    let vector = |words: &Vec<String>| {
        let mut vector = vec![0.0; places.len()];
        for place in words.iter().filter_map(|word| places.get(word.as_str())) {
            if let Some(count) = vector.get_mut(*place) {
                *count += 1.0;
            }
        }
        vector
    };
    texts.iter().map(vector).collect()
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embeddings::similarity;

    fn like(a: &str, b: &str) -> f64 {
        similarity(&vectors(&[a.to_owned(), b.to_owned()]))[0][1]
    }

    #[test]
    fn texts_are_alike_by_the_words_they_share() {
        assert_eq!(like("Measure first!", "first, measure"), 1.0);
        assert_eq!(like("Ärger und Öl", "ärger UND öl"), 1.0);
        assert_eq!(like("cheap", "inexpensive"), 0.0);
        assert_eq!(like("a b", "b c"), 0.5);
        assert_eq!(like("a a b", "a b b"), 0.8);
        assert_eq!(like("", "words"), 0.0);
        assert_eq!(like("...", "???"), 0.0);
    }
}
