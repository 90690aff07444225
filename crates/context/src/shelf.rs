//! What knowledge and memories are to this crate, and what makes vectors of texts.

use futures_util::future::BoxFuture;

use crate::errand::Item;

/// Where knowledge and memories are kept. Every call may block: it is made on a thread where that is no harm. An error is a
/// sentence for the person.
pub trait Shelf: Send + Sync {
    /// The entries nearest to the query, by its words and, where there is one, by its vector, of the model that is named with it.
    fn knowledge(
        &self,
        query: &str,
        vector: Option<(&str, &[f32])>,
        limit: usize,
    ) -> Result<Vec<Item>, String>;

    /// What these agents remember that is nearest to the query: of each agent its best `limit`.
    fn memories(
        &self,
        agents: &[String],
        query: &str,
        vector: Option<(&str, &[f32])>,
        limit: usize,
    ) -> Result<Vec<Item>, String>;

    /// Entries that have no vector of this model yet: each with its id and its text.
    fn unindexed(&self, model: &str, limit: usize) -> Result<Vec<(String, String)>, String>;

    /// Keeps the vectors of entries, each with the id and the text that [`unindexed`](Self::unindexed) gave: one of a text that
    /// the entry no longer has is dropped.
    fn index(&self, model: &str, vectors: Vec<(String, String, Vec<f32>)>) -> Result<(), String>;
}

/// Something that makes a vector of a text, such that like texts have vectors of like directions.
pub trait Vectors: Send + Sync {
    /// The model: vectors of different models cannot be compared.
    fn name(&self) -> &str;

    /// A vector for each text, in order and all of one length. An error is a sentence for the person.
    fn of<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, String>>;
}
