//! How entries of the knowledge store are found: by words, and by meaning where embeddings run on this machine.

use std::sync::Arc;

use agon_context::{
    ContextEmbedder, ContextItem, DecisionResolution, KnowledgeSource, embed_missing_entries,
};
use agon_measure::calibration::OutcomeTruth;
use agon_models::ModelCatalogue;
use agon_store::{DebateStore, KnowledgeHit, MemoryHit};
use futures_util::future::BoxFuture;

use super::clock;
use super::errors::CliError;

/// How many entries get their embedding in one run. The user may be waiting for a search.
const INDEXED_MAX: usize = 2_000;

/// The embeddings that run on this machine, if any are in use. A provider's embeddings cost money, and looking
/// something up is not a call that limits count, so they are not used here.
pub fn local_embedder(catalogue: &ModelCatalogue) -> Option<Arc<dyn ContextEmbedder>> {
    let embedder = catalogue.text_embedder(&catalogue.embeddings_in_use().model).ok()??;
    embedder.is_errand().then(|| Arc::new(CatalogueEmbedder(embedder)) as Arc<dyn ContextEmbedder>)
}

/// Embeds entries that have no embedding yet. Returns the reason if that fails.
pub async fn index_entries(catalogue: &ModelCatalogue, store: &DebateStore) -> Option<String> {
    let embedder = local_embedder(catalogue)?;
    let source: Arc<dyn KnowledgeSource> = Arc::new(StoreKnowledge(store.clone()));
    embed_missing_entries(&source, embedder.as_ref(), INDEXED_MAX).await.err()
}

/// Finds entries by words and by meaning, and says if only one of them was possible.
pub async fn search(
    catalogue: &ModelCatalogue,
    store: &DebateStore,
    words: &str,
    limit: usize,
) -> Result<(Vec<KnowledgeHit>, Option<String>), CliError> {
    let index_note = index_entries(catalogue, store).await;
    let (vector, note) = embed_query(catalogue, words).await;
    let vector = vector.as_ref().map(|(model, vector)| (model.as_str(), vector.as_slice()));
    Ok((store.knowledge_search(words, vector, limit)?, note.or(index_note)))
}

/// A query's embedding with the name of its model, or the reason why there is none.
async fn embed_query(
    catalogue: &ModelCatalogue,
    query: &str,
) -> (Option<(String, Vec<f32>)>, Option<String>) {
    let Some(embedder) = local_embedder(catalogue) else { return (None, None) };
    match embedder.of(&[query.to_owned()]).await {
        Ok(vectors) => (vectors.into_iter().next().map(|vector| (embedder.name().to_owned(), vector)), None),
        Err(why) => (None, Some(format!("found by words alone: {why}"))),
    }
}

/// The catalogue's embeddings as the context crate uses them.
struct CatalogueEmbedder(Arc<dyn agon_models::TextEmbedder>);

impl ContextEmbedder for CatalogueEmbedder {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn of<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, String>> {
        Box::pin(async move {
            let embedded = self.0.embed(texts).await.map_err(|fault| fault.to_string())?;
            Ok(embedded.vectors)
        })
    }
}

/// The store as a source of knowledge and memories.
pub struct StoreKnowledge(pub DebateStore);

impl KnowledgeSource for StoreKnowledge {
    fn knowledge(
        &self,
        query: &str,
        vector: Option<(&str, &[f32])>,
        limit: usize,
    ) -> Result<Vec<ContextItem>, String> {
        let hits = self.0.knowledge_search(query, vector, limit).map_err(|why| why.to_string())?;
        Ok(hits.into_iter().map(knowledge_item).collect())
    }

    fn memories(
        &self,
        agents: &[String],
        query: &str,
        vector: Option<(&str, &[f32])>,
        limit: usize,
    ) -> Result<Vec<ContextItem>, String> {
        let hits = self.0.recall_memories(agents, query, vector, clock::store_seconds(), limit);
        Ok(hits.map_err(|why| why.to_string())?.into_iter().map(memory_item).collect())
    }

    fn unindexed(&self, model: &str, limit: usize) -> Result<Vec<(String, String)>, String> {
        self.0.texts_without_vectors(model, limit).map_err(|why| why.to_string())
    }

    fn index(&self, model: &str, vectors: Vec<(String, String, Vec<f32>)>) -> Result<(), String> {
        // This is called on a thread that may block.
        let runtime = tokio::runtime::Handle::try_current().map_err(|why| why.to_string())?;
        runtime.block_on(self.0.add_vectors(model, vectors)).map_err(|why| why.to_string())
    }
}

fn knowledge_item(hit: KnowledgeHit) -> ContextItem {
    let source = hit.source.unwrap_or_else(|| match &hit.debate {
        Some(debate) => format!("debate {debate}"),
        None => format!("knowledge {}", hit.id),
    });
    ContextItem {
        title: hit.title,
        text: hit.text,
        source,
        at: Some(hit.at),
        debate: hit.debate,
        turned_out: hit.turned_out.map(resolution),
        agent: None,
        score: Some(hit.score),
        provenance: hit.provenance.map(|provenance| provenance.words()),
    }
}

fn memory_item(hit: MemoryHit) -> ContextItem {
    ContextItem {
        title: String::new(),
        text: hit.text,
        source: format!("debate {}", hit.debate),
        at: Some(hit.at),
        debate: Some(hit.debate),
        turned_out: hit.turned_out.map(resolution),
        agent: Some(hit.agent),
        score: Some(hit.score),
        provenance: hit.provenance.map(|provenance| provenance.words()),
    }
}

fn resolution(truth: OutcomeTruth) -> DecisionResolution {
    match truth {
        OutcomeTruth::Right => DecisionResolution::Right,
        OutcomeTruth::Wrong => DecisionResolution::Wrong,
    }
}
