//! How alike texts are, asked as any model is.
//!
//! An embedding is not a pure function of the log, so a protocol asks for it, and the log has the answer: the ask is a JSON
//! list of texts, the answer the matrix of their likeness. The vectors themselves are in no log: they are long, and of no use
//! without the model that made them.

use std::fmt;
use std::sync::Arc;

use agon_core::Usage;
use agon_engine::{Call, Completion, Deltas, Fault, FaultKind, Finish, Model, Price};
use futures_util::future::BoxFuture;
use serde_json::json;

mod in_use;
mod lexical;
pub(crate) mod minilm;
mod server;

pub use in_use::EmbeddingsInUse;
pub(crate) use in_use::in_use;
pub use lexical::Lexical;
pub use minilm::MiniLm;
pub(crate) use server::Server;

/// Something that makes a vector of a text, such that like texts have vectors of like directions.
pub trait Embed: Send + Sync {
    /// As the user names it, with `embeddings/` in front.
    fn name(&self) -> &str;

    /// The provider, by which concurrency is limited.
    fn provider(&self) -> &str;

    /// What it costs.
    fn price(&self) -> Price {
        Price::Free
    }

    /// Whether it is computed here, so that no limit on calls counts it.
    fn is_errand(&self) -> bool {
        false
    }

    /// How many calls of it can be under way at once, where it knows.
    fn at_once(&self) -> Option<usize> {
        None
    }

    /// A vector for each text, in order and all of one length. Makes one request at most and never retries.
    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embedded, Fault>>;
}

/// Texts as vectors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Embedded {
    /// One for each text.
    pub vectors: Vec<Vec<f32>>,
    /// What it used.
    pub usage: Usage,
}

/// A model whose answers say how alike texts are: the last message is a JSON list of texts, the answer
/// `{"similarity": [[1.0, 0.83], [0.83, 1.0]]}`.
#[derive(Clone)]
pub struct EmbeddingModel {
    embed: Arc<dyn Embed>,
}

impl EmbeddingModel {
    /// A model of anything that embeds.
    pub fn new(embed: impl Embed + 'static) -> Self {
        Self::of(Arc::new(embed))
    }

    pub(crate) fn of(embed: Arc<dyn Embed>) -> Self {
        Self { embed }
    }

    async fn answer(&self, call: &Call, deltas: Option<Deltas<'_>>) -> Result<Completion, Fault> {
        let texts = texts(call.messages.last().map_or("", |last| &last.text))?;
        let Embedded { vectors, usage } = self.embed.embed(&texts).await?;
        let length = vectors.first().map_or(0, Vec::len);
        if vectors.len() != texts.len() || vectors.iter().any(|vector| vector.len() != length) {
            let what = format!("{} gave no vector of the same length for each text", self.embed.name());
            return Err(Fault { usage, ..Fault::new(FaultKind::Garbled, what) });
        }
        let text = answer(&similarity(&vectors));
        if let Some(deltas) = deltas {
            deltas(&text);
        }
        let model = self.embed.name().to_owned();
        Ok(Completion { text, model, usage, finish: Finish::End, shortened: None })
    }
}

impl Model for EmbeddingModel {
    fn name(&self) -> &str {
        self.embed.name()
    }

    fn provider(&self) -> &str {
        self.embed.provider()
    }

    fn price(&self) -> Price {
        self.embed.price()
    }

    fn is_errand(&self) -> bool {
        self.embed.is_errand()
    }

    fn at_once(&self) -> Option<usize> {
        self.embed.at_once()
    }

    fn call<'a>(
        &'a self,
        call: &'a Call,
        deltas: Option<Deltas<'a>>,
    ) -> BoxFuture<'a, Result<Completion, Fault>> {
        Box::pin(self.answer(call, deltas))
    }
}

impl fmt::Debug for EmbeddingModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EmbeddingModel").field(&self.embed.name()).finish()
    }
}

/// The texts of an ask.
pub fn texts(ask: &str) -> Result<Vec<String>, Fault> {
    let texts: Result<Vec<String>, _> = serde_json::from_str(ask);
    texts.map_err(|_| {
        Fault::new(
            FaultKind::Rejected,
            "embeddings are asked for with a JSON list of texts: [\"one\", \"another\"]",
        )
    })
}

/// The cosine of each pair: 1 for the same direction, 0 for nothing in common. To four places, so that logs are small. A text
/// without a direction, such as one without words, is like none but itself.
pub fn similarity(vectors: &[Vec<f32>]) -> Vec<Vec<f64>> {
    let lengths: Vec<f64> = vectors.iter().map(|vector| dot(vector, vector).sqrt()).collect();
    let cosine = |(i, a): (usize, &Vec<f32>), (j, b): (usize, &Vec<f32>)| {
        let scale = lengths.get(i).copied().unwrap_or_default() * lengths.get(j).copied().unwrap_or_default();
        let cosine = if scale > 0.0 && scale.is_finite() { dot(a, b) / scale } else { 0.0 };
        if i == j { 1.0 } else { rounded(cosine.clamp(-1.0, 1.0)) }
    };
    let row = |a| vectors.iter().enumerate().map(|b| cosine(a, b)).collect();
    vectors.iter().enumerate().map(row).collect()
}

/// The text of an answer.
pub fn answer(similarity: &[Vec<f64>]) -> String {
    json!({"similarity": similarity}).to_string()
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

fn rounded(cosine: f64) -> f64 {
    let rounded = (cosine * 1e4).round() / 1e4;
    // A zero with a sign would be another text in the log.
    if rounded == 0.0 { 0.0 } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_is_symmetric_and_whole_on_the_diagonal() {
        let vectors = [vec![1.0, 0.0], vec![3.0, 4.0], vec![-2.0, 0.0], vec![0.0, 0.0]];
        let found = similarity(&vectors);
        assert_eq!(
            found,
            [[1.0, 0.6, -1.0, 0.0], [0.6, 1.0, -0.6, 0.0], [-1.0, -0.6, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
        );
        assert_eq!(answer(&similarity(&vectors[..2])), r#"{"similarity":[[1.0,0.6],[0.6,1.0]]}"#);
        assert_eq!(similarity(&[vec![2.0, 1.0], vec![1.0, 0.0]])[0][1], 0.8944);
        assert_eq!(answer(&similarity(&[])), r#"{"similarity":[]}"#);
    }

    #[test]
    fn an_ask_that_is_no_list_of_texts_is_rejected() {
        assert_eq!(texts(r#"["a", "b"]"#).unwrap(), ["a", "b"]);
        for ask in ["", "a", "{}", "[1]", "[\"a\"", "null"] {
            let fault = texts(ask).unwrap_err();
            assert_eq!(fault.kind, FaultKind::Rejected, "{ask}");
            assert!(fault.message.contains("JSON list"), "{}", fault.message);
        }
    }
}
