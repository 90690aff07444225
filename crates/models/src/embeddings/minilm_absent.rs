//! What takes the place of `embeddings/minilm` in a build without the feature `embedded`.

use std::sync::Arc;

use agon_core::Invalid;

use super::TextEmbedder;
use crate::embedded_models::{BUILT_WITHOUT, ModelFileStore};

pub(super) const NAME: &str = "embeddings/minilm";

/// Why the model cannot be used.
pub(super) fn problem(_: Option<&ModelFileStore>) -> Option<String> {
    Some(format!("{NAME}: {BUILT_WITHOUT}"))
}

/// Refuses to make the embedder.
pub(crate) fn make_minilm(_: Option<ModelFileStore>) -> Result<Arc<dyn TextEmbedder>, Invalid> {
    Err(Invalid(format!("{NAME}: {BUILT_WITHOUT}; use embeddings/lexical or embeddings/PROVIDER/MODEL")))
}
