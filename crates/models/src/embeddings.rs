//! How similar texts are, asked like any model.
//!
//! An embedding is not a pure function of the log, so a protocol asks for it and the answer goes into the log. The ask is a
//! JSON list of texts, the answer the matrix of their similarities. The vectors themselves are not logged: they are long, and
//! useless without the model that made them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use agon_core::CallUsage;
use agon_engine::{
    CallFault, CallFaultKind, DeltaSink, FinishReason, Model, ModelCall, ModelCompletion, ModelPrice,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;

use crate::config::EmbeddingsConfig;
use crate::embedded_models::ModelFileStore;

#[cfg_attr(not(feature = "embedded"), path = "embeddings/minilm_absent.rs")]
mod minilm;
mod server;

#[cfg(feature = "embedded")]
pub use minilm::MiniLmEmbedder;
pub(crate) use minilm::make_minilm;
pub(crate) use server::ServerEmbedder;

/// Turns texts into vectors, such that similar texts have vectors of similar directions.
pub trait TextEmbedder: Send + Sync {
    /// The name that a user writes, such as `embeddings/minilm`.
    fn name(&self) -> &str;

    /// The provider, by which concurrency is limited.
    fn provider(&self) -> &str;

    /// What it costs.
    fn price(&self) -> ModelPrice {
        ModelPrice::Free
    }

    /// Whether it runs in this process, so that limits on calls do not count it.
    fn is_errand(&self) -> bool {
        false
    }

    /// How many calls may run at once, if it knows.
    fn at_once(&self) -> Option<usize> {
        None
    }

    /// One vector per text, in order, all of the same length. Makes at most one request and does not retry.
    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<TextVectors, CallFault>>;
}

/// The vectors of some texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextVectors {
    /// One per text.
    pub vectors: Vec<Vec<f32>>,
    /// What the call used.
    pub usage: CallUsage,
}

/// A model that answers how similar texts are. The last message is a JSON list of texts, the answer
/// `{"similarity": [[1.0, 0.83], [0.83, 1.0]]}`.
#[derive(Clone)]
pub struct EmbeddingModel {
    embedder: Arc<dyn TextEmbedder>,
}

impl EmbeddingModel {
    /// Makes a model from an embedder.
    pub fn new(embedder: impl TextEmbedder + 'static) -> Self {
        Self { embedder: Arc::new(embedder) }
    }

    async fn answer(
        &self,
        call: &ModelCall,
        deltas: Option<DeltaSink<'_>>,
    ) -> Result<ModelCompletion, CallFault> {
        let texts = parse_texts(call.messages.last().map_or("", |last| &last.text))?;
        let TextVectors { vectors, usage } = self.embedder.embed(&texts).await?;
        let length = vectors.first().map_or(0, Vec::len);
        if vectors.len() != texts.len() || vectors.iter().any(|vector| vector.len() != length) {
            let what = format!("{} gave no vector of the same length for each text", self.embedder.name());
            return Err(CallFault { usage, ..CallFault::new(CallFaultKind::Garbled, what) });
        }
        let text = answer_text(&similarity(&vectors));
        if let Some(deltas) = deltas {
            deltas(&text);
        }
        let model = self.embedder.name().to_owned();
        Ok(ModelCompletion { text, model, usage, finish: FinishReason::End, shortened: None })
    }
}

impl From<Arc<dyn TextEmbedder>> for EmbeddingModel {
    fn from(embedder: Arc<dyn TextEmbedder>) -> Self {
        Self { embedder }
    }
}

impl Model for EmbeddingModel {
    fn name(&self) -> &str {
        self.embedder.name()
    }

    fn provider(&self) -> &str {
        self.embedder.provider()
    }

    fn price(&self) -> ModelPrice {
        self.embedder.price()
    }

    fn is_errand(&self) -> bool {
        self.embedder.is_errand()
    }

    fn at_once(&self) -> Option<usize> {
        self.embedder.at_once()
    }

    fn call<'a>(
        &'a self,
        call: &'a ModelCall,
        deltas: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>> {
        Box::pin(self.answer(call, deltas))
    }
}

impl fmt::Debug for EmbeddingModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EmbeddingModel").field(&self.embedder.name()).finish()
    }
}

fn parse_texts(ask: &str) -> Result<Vec<String>, CallFault> {
    serde_json::from_str(ask).map_err(|_| {
        let message = "an embedding model must be asked with a JSON list of texts: [\"one\", \"another\"]";
        CallFault::new(CallFaultKind::Rejected, message)
    })
}

/// The cosine of each pair of vectors: 1 for the same direction, 0 for nothing in common. Rounded to four places, to keep
/// logs small. A zero vector, such as that of a text without words, is similar only to itself.
pub fn similarity(vectors: &[Vec<f32>]) -> Vec<Vec<f64>> {
    let lengths: Vec<f64> = vectors.iter().map(|vector| dot(vector, vector).sqrt()).collect();
    let cosine = |(i, a): (usize, &Vec<f32>), (j, b): (usize, &Vec<f32>)| {
        let scale = lengths.get(i).copied().unwrap_or_default() * lengths.get(j).copied().unwrap_or_default();
        let cosine = if scale > 0.0 && scale.is_finite() { dot(a, b) / scale } else { 0.0 };
        if i == j { 1.0 } else { round(cosine.clamp(-1.0, 1.0)) }
    };
    let row = |a| vectors.iter().enumerate().map(|b| cosine(a, b)).collect();
    vectors.iter().enumerate().map(row).collect()
}

fn answer_text(similarity: &[Vec<f64>]) -> String {
    json!({"similarity": similarity}).to_string()
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

fn round(cosine: f64) -> f64 {
    let rounded = (cosine * 1e4).round() / 1e4;
    // Avoids -0.0, which the log would print differently.
    if rounded == 0.0 { 0.0 } else { rounded }
}

/// The embeddings that are used if a debate does not name any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingsInUse {
    /// The name that a seat would use, such as `embeddings/minilm`.
    pub model: String,
    /// Why this model, in a sentence without a full stop.
    pub why: String,
    /// Why it cannot be asked now. Only a model that the user configured can have a problem.
    pub problem: Option<String>,
}

/// The configured embeddings, else the best that need no key: MiniLM if its files are present, or shared words.
pub(crate) fn choose_embeddings(
    config: &EmbeddingsConfig,
    files: Option<&ModelFileStore>,
) -> EmbeddingsInUse {
    let (model, why) = match (config.named(), minilm::problem(files)) {
        (Some(model), _) => (model, "agon.toml says so under [embeddings]".to_owned()),
        (None, None) => (minilm::NAME.to_owned(), "its files are here".to_owned()),
        (None, Some(problem)) => (LEXICAL.to_owned(), problem),
    };
    EmbeddingsInUse { model, why, problem: None }
}

const LEXICAL: &str = "embeddings/lexical";

/// `embeddings/lexical`: counts each word of a text, in lower case. A word is a run of letters and digits. It does not know
/// meanings: "cheap" and "inexpensive" have nothing in common, "is safe" and "is not safe" almost everything.
#[derive(Debug, Clone, Copy)]
pub struct LexicalEmbedder;

impl TextEmbedder for LexicalEmbedder {
    fn name(&self) -> &str {
        LEXICAL
    }

    fn is_errand(&self) -> bool {
        true
    }

    fn provider(&self) -> &str {
        "lexical"
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<TextVectors, CallFault>> {
        let counted = TextVectors { vectors: word_counts(texts), usage: CallUsage::default() };
        async { Ok(counted) }.boxed()
    }
}

/// One dimension for each word of all the texts.
fn word_counts(texts: &[String]) -> Vec<Vec<f32>> {
    let texts: Vec<Vec<String>> = texts.iter().map(|text| words(text)).collect();
    let mut dimensions = BTreeMap::new();
    for word in texts.iter().flatten() {
        let next = dimensions.len();
        dimensions.entry(word.as_str()).or_insert(next);
    }
    let vector = |words: &Vec<String>| {
        let mut vector = vec![0.0; dimensions.len()];
        for dimension in words.iter().filter_map(|word| dimensions.get(word.as_str())) {
            if let Some(count) = vector.get_mut(*dimension) {
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

    #[test]
    fn similarity_is_symmetric_and_one_on_the_diagonal() {
        let vectors = [vec![1.0, 0.0], vec![3.0, 4.0], vec![-2.0, 0.0], vec![0.0, 0.0]];
        assert_eq!(
            similarity(&vectors),
            [[1.0, 0.6, -1.0, 0.0], [0.6, 1.0, -0.6, 0.0], [-1.0, -0.6, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
        );
        assert_eq!(answer_text(&similarity(&vectors[..2])), r#"{"similarity":[[1.0,0.6],[0.6,1.0]]}"#);
        assert_eq!(similarity(&[vec![2.0, 1.0], vec![1.0, 0.0]])[0][1], 0.8944);
        assert_eq!(answer_text(&similarity(&[])), r#"{"similarity":[]}"#);
    }

    #[test]
    fn an_ask_that_is_not_a_list_of_texts_is_rejected() {
        assert_eq!(parse_texts(r#"["a", "b"]"#).unwrap(), ["a", "b"]);
        for ask in ["", "a", "{}", "[1]", "[\"a\"", "null"] {
            let fault = parse_texts(ask).unwrap_err();
            assert_eq!(fault.kind, CallFaultKind::Rejected, "{ask}");
            assert!(fault.message.contains("JSON list"), "{}", fault.message);
        }
    }

    #[test]
    fn lexical_similarity_depends_on_shared_words() {
        let similar = |a: &str, b: &str| similarity(&word_counts(&[a.to_owned(), b.to_owned()]))[0][1];
        assert_eq!(similar("Measure first!", "first, measure"), 1.0);
        assert_eq!(similar("Ärger und Öl", "ärger UND öl"), 1.0);
        assert_eq!(similar("cheap", "inexpensive"), 0.0);
        assert_eq!(similar("a b", "b c"), 0.5);
        assert_eq!(similar("a a b", "a b b"), 0.8);
        assert_eq!(similar("", "words"), 0.0);
        assert_eq!(similar("...", "???"), 0.0);
    }
}
