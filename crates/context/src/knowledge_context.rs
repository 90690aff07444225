//! `context/knowledge` and `context/memory`: what the store has about the question.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agon_engine::{CallFault, CallFaultKind, DeltaSink, Model, ModelCall, ModelCompletion, ModelPrice};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::errands::{ContextItem, Errand, ErrandAnswer};

/// How long a search waits for the query's embedding. Words alone find most entries, and the debate is waiting.
pub const EMBEDDING_TIMEOUT: Duration = Duration::from_secs(2);
/// How many texts are embedded at once.
const EMBEDDING_BATCH: usize = 32;

/// What the store offers to this crate. Every method may block; it is called on a thread where that does no harm.
/// Errors are sentences for the user.
pub trait KnowledgeSource: Send + Sync {
    /// The knowledge entries that match the query best, by words and, if `vector` is given, by embedding. `vector` is
    /// the name of the embedding model and the query's embedding.
    fn knowledge(
        &self,
        query: &str,
        vector: Option<(&str, &[f32])>,
        limit: usize,
    ) -> Result<Vec<ContextItem>, String>;

    /// The memories of these agents that match the query best, at most `limit` per agent.
    fn memories(
        &self,
        agents: &[String],
        query: &str,
        vector: Option<(&str, &[f32])>,
        limit: usize,
    ) -> Result<Vec<ContextItem>, String>;

    /// The ids and texts of entries that this model has not embedded yet.
    fn unindexed(&self, model: &str, limit: usize) -> Result<Vec<(String, String)>, String>;

    /// Stores embeddings, each with the id and text from [`unindexed`](Self::unindexed). An embedding is dropped if the
    /// entry's text has changed since.
    fn index(&self, model: &str, vectors: Vec<(String, String, Vec<f32>)>) -> Result<(), String>;
}

/// Turns texts into vectors so that similar texts point in similar directions.
pub trait ContextEmbedder: Send + Sync {
    /// The name of the embedding model. Vectors of different models cannot be compared.
    fn name(&self) -> &str;

    /// One vector per text, in order and all of the same length. Errors are sentences for the user.
    fn of<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, String>>;
}

/// A model that answers errands from the store.
pub struct ContextSearch {
    kind: ContextKind,
    source: Arc<dyn KnowledgeSource>,
    embedder: Option<Arc<dyn ContextEmbedder>>,
    embedding_timeout: Duration,
}

#[derive(Clone, Copy)]
enum ContextKind {
    Knowledge,
    Memory,
}

/// Embeds up to `limit` entries that have no embedding of this model yet, and returns how many that were.
pub async fn embed_missing_entries(
    source: &Arc<dyn KnowledgeSource>,
    embedder: &dyn ContextEmbedder,
    limit: usize,
) -> Result<usize, String> {
    let mut done = 0;
    while done < limit {
        let model = embedder.name().to_owned();
        let batch = EMBEDDING_BATCH.min(limit - done);
        let entries = run_blocking(source, move |source| source.unindexed(&model, batch)).await?;
        if entries.is_empty() {
            break;
        }
        let (ids, texts): (Vec<String>, Vec<String>) = entries.into_iter().unzip();
        let vectors = check_vectors(embedder, texts.len(), embedder.of(&texts).await?)?;
        done += ids.len();
        let vectors =
            ids.into_iter().zip(texts).zip(vectors).map(|((id, text), vector)| (id, text, vector)).collect();
        let model = embedder.name().to_owned();
        run_blocking(source, move |source| source.index(&model, vectors)).await?;
    }
    Ok(done)
}

impl ContextSearch {
    /// `context/knowledge`: earlier decisions, their evidence, and how they turned out.
    pub fn knowledge(source: Arc<dyn KnowledgeSource>, embedder: Option<Arc<dyn ContextEmbedder>>) -> Self {
        Self { kind: ContextKind::Knowledge, source, embedder, embedding_timeout: EMBEDDING_TIMEOUT }
    }

    /// `context/memory`: what the debate's agents remember.
    pub fn memories(source: Arc<dyn KnowledgeSource>, embedder: Option<Arc<dyn ContextEmbedder>>) -> Self {
        Self { kind: ContextKind::Memory, source, embedder, embedding_timeout: EMBEDDING_TIMEOUT }
    }

    /// Replaces [`EMBEDDING_TIMEOUT`].
    pub fn embedding_timeout(mut self, timeout: Duration) -> Self {
        self.embedding_timeout = timeout;
        self
    }

    async fn answer(
        &self,
        call: &ModelCall,
        deltas: Option<DeltaSink<'_>>,
    ) -> Result<ModelCompletion, CallFault> {
        let errand = Errand::of(call)?;
        let (vector, note) = match &self.embedder {
            Some(embedder) => match self.embed_query(embedder.as_ref(), &errand.query).await {
                Ok(vector) => (Some((embedder.name().to_owned(), vector)), None),
                Err(why) => (None, Some(format!("found by words alone: {why}"))),
            },
            None => (None, None),
        };
        let kind = self.kind;
        let items = run_blocking(&self.source, move |source| {
            let vector = vector.as_ref().map(|(model, vector)| (model.as_str(), vector.as_slice()));
            kind.search(source, &errand, vector)
        });
        // The store may be busy for a moment, so the engine should try again.
        let unavailable = |why| CallFault::new(CallFaultKind::Unavailable, format!("{}: {why}", self.name()));
        let items = items.await.map_err(unavailable)?;
        let completion = ErrandAnswer { items, note }.completion(self.name(), call);
        if let Some(deltas) = deltas {
            deltas(&completion.text);
        }
        Ok(completion)
    }

    async fn embed_query(&self, embedder: &dyn ContextEmbedder, query: &str) -> Result<Vec<f32>, String> {
        let texts = [query.to_owned()];
        let vectors = tokio::time::timeout(self.embedding_timeout, embedder.of(&texts)).await;
        let late = |_| Err(format!("it took longer than {:?}", self.embedding_timeout));
        let vectors = vectors.unwrap_or_else(late);
        let vectors =
            vectors.map_err(|why| format!("{} could not embed the query: {why}", embedder.name()))?;
        Ok(check_vectors(embedder, 1, vectors)?.into_iter().next().unwrap_or_default())
    }
}

impl ContextKind {
    fn search(
        self,
        source: &dyn KnowledgeSource,
        errand: &Errand,
        vector: Option<(&str, &[f32])>,
    ) -> Result<Vec<ContextItem>, String> {
        match self {
            Self::Knowledge => {
                let mut items = source.knowledge(&errand.query, vector, errand.limit)?;
                items.truncate(errand.limit);
                Ok(items)
            }
            Self::Memory => {
                let items = source.memories(&errand.agents, &errand.query, vector, errand.limit)?;
                Ok(interleave_agents(items, errand.limit))
            }
        }
    }
}

/// Every agent's best memory first, then every agent's second, and so on. Items at the end are dropped first when there
/// is no room, so no agent loses its best memory to another agent's second.
fn interleave_agents(items: Vec<ContextItem>, limit: usize) -> Vec<ContextItem> {
    let mut counts: HashMap<Option<String>, usize> = HashMap::new();
    let ranked = items.into_iter().map(|item| {
        let rank = counts.entry(item.agent.clone()).or_default();
        *rank += 1;
        (*rank, item)
    });
    let mut ranked: Vec<(usize, ContextItem)> = ranked.filter(|(rank, _)| *rank <= limit).collect();
    // The sort is stable: items of the same rank keep their order, best first.
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, item)| item).collect()
}

impl Model for ContextSearch {
    fn name(&self) -> &str {
        match self.kind {
            ContextKind::Knowledge => "context/knowledge",
            ContextKind::Memory => "context/memory",
        }
    }

    fn provider(&self) -> &str {
        "context"
    }

    fn price(&self) -> ModelPrice {
        ModelPrice::Free
    }

    fn is_errand(&self) -> bool {
        true
    }

    fn call<'a>(
        &'a self,
        call: &'a ModelCall,
        deltas: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>> {
        self.answer(call, deltas).boxed()
    }
}

impl fmt::Debug for ContextSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ContextSearch").field(&self.name()).finish()
    }
}

/// Checks that there is one vector per text, all of the same length and with finite numbers only.
fn check_vectors(
    embedder: &dyn ContextEmbedder,
    texts: usize,
    vectors: Vec<Vec<f32>>,
) -> Result<Vec<Vec<f32>>, String> {
    let length = vectors.first().map_or(0, Vec::len);
    let usable = |vector: &Vec<f32>| vector.len() == length && vector.iter().all(|number| number.is_finite());
    if vectors.len() == texts && length > 0 && vectors.iter().all(usable) {
        Ok(vectors)
    } else {
        Err(format!("{} did not return one vector of the same length per text", embedder.name()))
    }
}

async fn run_blocking<T: Send + 'static>(
    source: &Arc<dyn KnowledgeSource>,
    work: impl FnOnce(&dyn KnowledgeSource) -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let source = Arc::clone(source);
    let result = tokio::task::spawn_blocking(move || work(source.as_ref())).await;
    result.unwrap_or_else(|_| Err("the search failed; run `agon doctor` to check the store".into()))
}
