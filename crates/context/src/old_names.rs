//! Names that other crates still use.
#![allow(missing_docs)]

use std::sync::Arc;

use crate::{ContextItem, ContextSearch, DecisionResolution, ErrandAnswer, PulseSource};

#[doc(hidden)]
pub use crate::{KnowledgeSource as Shelf, TextEmbedder as Vectors, embed_missing_entries as index};

#[doc(hidden)]
pub type Answer = ErrandAnswer;
#[doc(hidden)]
pub type Item = ContextItem;
#[doc(hidden)]
pub type TurnedOut = DecisionResolution;
#[doc(hidden)]
pub type Pulse = PulseSource;

#[doc(hidden)]
#[derive(Debug)]
pub struct Knowledge;

impl Knowledge {
    #[allow(clippy::new_ret_no_self)]
    pub fn new(source: Arc<dyn Shelf>, embedder: Option<Arc<dyn Vectors>>) -> ContextSearch {
        ContextSearch::knowledge(source, embedder)
    }
}

#[doc(hidden)]
#[derive(Debug)]
pub struct Memory;

impl Memory {
    #[allow(clippy::new_ret_no_self)]
    pub fn new(source: Arc<dyn Shelf>, embedder: Option<Arc<dyn Vectors>>) -> ContextSearch {
        ContextSearch::memories(source, embedder)
    }
}
