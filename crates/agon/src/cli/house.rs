//! Everybody that a debate can ask: the models, and what is known here.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_context::{Item, Knowledge, Memory, Pulse, PulseConfig, Shelf, TurnedOut, Vectors};
use agon_core::Invalid;
use agon_engine::{Model, Models};
use agon_evidence::calibration::Truth;
use agon_models::{Catalogue, Embed};
use agon_store::{KnowledgeHit, MemoryHit, Sqlite};
use futures_util::future::BoxFuture;

use super::clock;

/// The models of the catalogue, and beside them the errands of a debate's context.
pub struct House {
    catalogue: Arc<Catalogue>,
    knowledge: Arc<dyn Model>,
    memory: Arc<dyn Model>,
    pulse: BTreeMap<String, PulseConfig>,
}

impl House {
    /// What the catalogue has, what the store knows, and these sources.
    pub fn new(catalogue: Arc<Catalogue>, store: &Sqlite, pulse: BTreeMap<String, PulseConfig>) -> Self {
        let shelf: Arc<dyn Shelf> = Arc::new(Kept(store.clone()));
        let vectors = vectors(&catalogue);
        Self {
            knowledge: Arc::new(Knowledge::new(Arc::clone(&shelf), vectors.clone())),
            memory: Arc::new(Memory::new(shelf, vectors)),
            catalogue,
            pulse,
        }
    }
}

impl Models for House {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        match name.split_once('/') {
            Some(("context", "knowledge")) => Ok(Arc::clone(&self.knowledge)),
            Some(("context", "memory")) => Ok(Arc::clone(&self.memory)),
            Some(("pulse", source)) => self.source(source),
            _ => self.catalogue.model(name),
        }
    }
}

impl House {
    fn source(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        match self.pulse.get(name) {
            Some(config) => Ok(Arc::new(Pulse::new(name, config.clone(), &|name| std::env::var(name).ok())?)),
            None => Err(no_source(name, self.pulse.keys())),
        }
    }
}

/// The sentence for a source that nobody configured.
pub fn no_source<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> Invalid {
    let known: Vec<&str> = known.map(String::as_str).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Invalid(format!(
        "there is no pulse source {name:?} (there is {known}): add [pulse.{name}] with url = \"...\" or file = \"...\" to agon.toml"
    ))
}

/// What makes vectors of texts here, where something better than words does. A provider's embeddings cost money, and what is
/// looked up here is no call that anybody counts: they are not used for it.
pub fn vectors(catalogue: &Catalogue) -> Option<Arc<dyn Vectors>> {
    let embed = catalogue.vectors(&catalogue.embeddings_in_use().model).ok()??;
    embed.is_errand().then(|| Arc::new(Embeddings(embed)) as Arc<dyn Vectors>)
}

struct Embeddings(Arc<dyn Embed>);

impl Vectors for Embeddings {
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

/// The store as a shelf.
pub struct Kept(pub Sqlite);

impl Shelf for Kept {
    fn knowledge(
        &self,
        query: &str,
        vector: Option<(&str, &[f32])>,
        limit: usize,
    ) -> Result<Vec<Item>, String> {
        let hits = self.0.knowledge_search(query, vector, limit).map_err(|why| why.to_string())?;
        Ok(hits.into_iter().map(known).collect())
    }

    fn memories(
        &self,
        agents: &[String],
        query: &str,
        vector: Option<(&str, &[f32])>,
        limit: usize,
    ) -> Result<Vec<Item>, String> {
        let now_s = i64::try_from(clock::now_s()).unwrap_or(i64::MAX);
        let hits = self.0.recall(agents, query, vector, now_s, limit).map_err(|why| why.to_string())?;
        Ok(hits.into_iter().map(remembered).collect())
    }

    fn unindexed(&self, model: &str, limit: usize) -> Result<Vec<(String, String)>, String> {
        self.0.unindexed(model, limit).map_err(|why| why.to_string())
    }

    fn index(&self, model: &str, vectors: Vec<(String, String, Vec<f32>)>) -> Result<(), String> {
        // Called on a thread that may block.
        let runtime = tokio::runtime::Handle::try_current().map_err(|why| why.to_string())?;
        runtime.block_on(self.0.index_vectors(model, vectors)).map_err(|why| why.to_string())
    }
}

fn known(hit: KnowledgeHit) -> Item {
    let source = hit.source.unwrap_or_else(|| match &hit.debate {
        Some(debate) => format!("debate {debate}"),
        None => format!("knowledge {}", hit.id),
    });
    Item {
        title: hit.title,
        text: hit.text,
        source,
        at: Some(hit.at),
        debate: hit.debate,
        turned_out: hit.turned_out.map(turned_out),
        agent: None,
        score: Some(hit.score),
    }
}

fn remembered(hit: MemoryHit) -> Item {
    Item {
        title: String::new(),
        text: hit.text,
        source: format!("debate {}", hit.debate),
        at: Some(hit.at),
        debate: Some(hit.debate),
        turned_out: hit.turned_out.map(turned_out),
        agent: Some(hit.agent),
        score: Some(hit.score),
    }
}

fn turned_out(truth: Truth) -> TurnedOut {
    match truth {
        Truth::Right => TurnedOut::Right,
        Truth::Wrong => TurnedOut::Wrong,
    }
}
