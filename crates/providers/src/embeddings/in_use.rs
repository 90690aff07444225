//! Which embeddings are used where nobody names any.

use agon_embedded::Shelf;

use super::{lexical, minilm};
use crate::config::EmbeddingsConfig;

/// The embeddings that are in use, for `agon doctor` and for seats that need some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingsInUse {
    /// As a seat names it: `embeddings/minilm`.
    pub model: String,
    /// Why this one, in a sentence without a full stop.
    pub why: String,
    /// Why it cannot be asked as things are; only of one that the person chose, for the others are chosen by what there is.
    pub problem: Option<String>,
}

/// What the person chose, else the best that needs no key: MiniLM where its files are, or the words alone.
pub(crate) fn in_use(config: &EmbeddingsConfig, shelf: Option<&Shelf>) -> EmbeddingsInUse {
    let (model, why) = match (config.named(), shelf.map(minilm::folder)) {
        (Some(model), _) => (model, "agon.toml says so under [embeddings]".to_owned()),
        (None, Some(Ok(_))) => (minilm::NAME.to_owned(), "its files are here".to_owned()),
        (None, Some(Err(why))) => (lexical::NAME.to_owned(), minilm::fault(&why).message),
        (None, None) => (lexical::NAME.to_owned(), format!("{}: {}", minilm::NAME, minilm::NO_SHELF)),
    };
    EmbeddingsInUse { model, why, problem: None }
}
