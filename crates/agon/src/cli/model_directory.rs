//! Everything that a debate can ask: the models of the catalogue, the store's knowledge and memories, and topics.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_context::{ContextSearch, KnowledgeSource, PulseConfig, PulseSource, Toolbox};
use agon_core::Invalid;
use agon_engine::{Model, ModelSource};
use agon_models::ModelCatalogue;
use agon_store::DebateStore;

use super::configuration::names_or_none;
use super::knowledge_index::{StoreKnowledge, local_embedder};

/// The models of the catalogue, and beside them the errands that look up a debate's context.
pub struct ModelDirectory {
    catalogue: Arc<ModelCatalogue>,
    knowledge: Arc<dyn Model>,
    memories: Arc<dyn Model>,
    pulse: BTreeMap<String, PulseConfig>,
    tools: Toolbox,
}

impl ModelDirectory {
    /// The models of `catalogue`, the knowledge of `store`, these sources of topics, and these tools.
    pub fn new(
        catalogue: Arc<ModelCatalogue>,
        store: &DebateStore,
        pulse: BTreeMap<String, PulseConfig>,
        tools: Toolbox,
    ) -> Self {
        let source: Arc<dyn KnowledgeSource> = Arc::new(StoreKnowledge(store.clone()));
        let embedder = local_embedder(&catalogue);
        Self {
            knowledge: Arc::new(ContextSearch::knowledge(Arc::clone(&source), embedder.clone())),
            memories: Arc::new(ContextSearch::memories(source, embedder)),
            catalogue,
            pulse,
            tools,
        }
    }

    fn pulse_source(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        let config = self.pulse.get(name).ok_or_else(|| unknown_pulse_source(name, &self.pulse))?;
        Ok(Arc::new(PulseSource::new(name, config.clone(), &|name| std::env::var(name).ok())?))
    }
}

impl ModelSource for ModelDirectory {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        match name.split_once('/') {
            Some(("context", "knowledge")) => Ok(Arc::clone(&self.knowledge)),
            Some(("context", "memory")) => Ok(Arc::clone(&self.memories)),
            Some(("pulse", source)) => self.pulse_source(source),
            Some(("tool", tool)) => self.tools.model(tool),
            _ => self.catalogue.model(name),
        }
    }
}

/// The protocols' demos as scripts: `demo-NAME` for each, and `demo` for the first.
pub fn demo_scripts() -> impl Iterator<Item = (String, &'static str)> {
    let demos =
        || agon_protocols::all().filter_map(|protocol| Some((protocol.info().name, protocol.info().demo?)));
    let first = demos().next().map(|(_, text)| ("demo".to_owned(), text));
    first.into_iter().chain(demos().map(|(name, text)| (format!("demo-{name}"), text)))
}

/// The error for a source of topics that is not configured.
pub fn unknown_pulse_source(name: &str, configured: &BTreeMap<String, PulseConfig>) -> Invalid {
    Invalid(format!(
        "there is no pulse source {name:?} (there is {}): add [pulse.{name}] with url = \"...\" or file = \"...\" to agon.toml",
        names_or_none(configured.keys())
    ))
}
