//! Where the candidates come from: the configuration, the store and the models on this machine. Nothing here fails or writes.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agon_models::ModelCatalogue;
use agon_store::{DebateStore, KnowledgeEntry, ListedDebate, MemoryHit};

use crate::cli::app::model_catalogue;
use crate::cli::clock;
use crate::cli::configuration::{Configuration, ConfigurationSource};
use crate::cli::paths::{process_env, store_address};
use crate::cli::runtime::block_on;
use crate::cli::seat_models;

/// Nobody reads more candidates than this.
const LISTED_MAX: usize = 100;
/// How long an Ollama on this machine may take. A person waits.
const OLLAMA_TIMEOUT: Duration = Duration::from_millis(40);

/// What the words on the command line say about where to look.
#[derive(Debug, Default)]
pub struct CompletionSources {
    config: Option<PathBuf>,
    has_no_config: bool,
    store: Option<OsString>,
    configuration: OnceLock<Configuration>,
    catalogue: OnceLock<Arc<ModelCatalogue>>,
}

impl CompletionSources {
    /// Reads `--config`, `--no-config` and `--db`, wherever they are.
    pub fn of_words(words: &[OsString]) -> Self {
        Self {
            config: option_value(words, "--config").map(PathBuf::from),
            has_no_config: words.iter().any(|word| word == "--no-config"),
            store: option_value(words, "--db"),
            ..Self::default()
        }
    }

    /// The configuration; the default if it is wrong.
    pub fn configuration(&self) -> &Configuration {
        self.configuration.get_or_init(|| {
            let source = match &self.config {
                Some(file) => ConfigurationSource::Named(file),
                None if self.has_no_config => ConfigurationSource::Nothing,
                None => ConfigurationSource::Usual,
            };
            Configuration::load(source, &process_env).unwrap_or_default()
        })
    }

    /// The models that the configuration and the environment give.
    pub fn catalogue(&self) -> &ModelCatalogue {
        self.catalogue.get_or_init(|| model_catalogue(self.configuration()))
    }

    /// The debates whose ids begin so, newest first.
    pub fn debates(&self, prefix: &str) -> Vec<ListedDebate> {
        self.read_store(|store| store.debates_with_prefix(prefix, LISTED_MAX).ok())
    }

    /// The entries of the knowledge store, newest first.
    pub fn knowledge(&self) -> Vec<KnowledgeEntry> {
        self.read_store(|store| store.knowledge_list(LISTED_MAX).ok())
    }

    /// What agents remember, the last changed first.
    pub fn memories(&self) -> Vec<MemoryHit> {
        self.read_store(|store| store.list_memories(None, clock::store_seconds(), LISTED_MAX).ok())
    }

    /// Only a file is read: a server may be far away.
    fn read_store<T>(&self, read: impl FnOnce(&DebateStore) -> Option<Vec<T>>) -> Vec<T> {
        let address = store_address(self.store.as_deref(), &process_env).ok();
        let file = address.as_ref().and_then(|address| address.file()).filter(|file| file.is_file());
        let store = file.and_then(|file| DebateStore::open_to_read(file).ok());
        store.and_then(|store| read(&store)).unwrap_or_default()
    }

    /// The models of an Ollama that runs on this machine.
    pub fn ollama_models(&self) -> Vec<String> {
        let is_here = |base: &str| ["127.0.0.1", "localhost", "[::1]"].iter().any(|host| base.contains(host));
        let provider = self.catalogue().providers().into_iter().find(|provider| provider.name == "ollama");
        if !provider.and_then(|provider| provider.base_url).is_some_and(|base| is_here(&base)) {
            return Vec::new();
        }
        let probe = block_on(self.catalogue().probe_one("ollama", OLLAMA_TIMEOUT)).ok().flatten();
        let models = probe.and_then(|probe| probe.models).unwrap_or_default();
        models.into_iter().filter(|name| seat_models::can_chat(name)).collect()
    }
}

/// The value of an option: `--db FILE` or `--db=FILE`.
fn option_value(words: &[OsString], option: &str) -> Option<OsString> {
    let joined = format!("{option}=");
    let after =
        words.iter().position(|word| word == OsStr::new(option)).and_then(|place| words.get(place + 1));
    let value = |word: &OsString| word.to_str()?.strip_prefix(&joined).map(OsString::from);
    let found = after.cloned().or_else(|| words.iter().find_map(value));
    found.filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_in_both_spellings() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let sources = CompletionSources::of_words(&words("agon show --db a.db --config=b.toml 1"));
        assert_eq!((sources.store, sources.config), (Some("a.db".into()), Some("b.toml".into())));
        let sources = CompletionSources::of_words(&words("agon show --no-config --db"));
        assert!(sources.has_no_config && sources.store.is_none() && sources.config.is_none());
    }
}
