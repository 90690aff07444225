//! From a name to a model, or to a sentence that says what to do.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agon_core::Invalid;
use agon_engine::{Model, ModelPrice, ModelSource};

use crate::agents::AgentModel;
use crate::command::CommandModel;
use crate::config::ModelsConfig;
use crate::embedded_models::{ModelFileStore, make_embedded_model};
use crate::embeddings::{
    self, EmbeddingModel, EmbeddingsInUse, LexicalEmbedder, ServerEmbedder, TextEmbedder,
};
use crate::human::{HumanModel, TerminalPrompt};
use crate::prices;
use crate::probe::{self, ProviderProbe};
use crate::provider::{KNOWN_PROVIDERS, ModelProvider};
use crate::script::ScriptModel;
use crate::server::ServerModel;
use crate::server::http::HttpClients;

/// All models by name. Each is made when it is first named, and then shared.
pub struct ModelCatalogue {
    providers: BTreeMap<String, Arc<ModelProvider>>,
    config: ModelsConfig,
    /// What is wrong with the configuration. Then no model can be made.
    problem: Option<Invalid>,
    terminal: Option<Arc<TerminalPrompt>>,
    /// The scripts that need no file, by name.
    scripts: BTreeMap<String, &'static str>,
    clients: Arc<HttpClients>,
    models: Mutex<BTreeMap<String, Arc<dyn Model>>>,
}

/// A provider, as `agon doctor` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderInfo {
    /// The name before the slash.
    pub name: String,
    /// Its address. `None` for scripts, and for an address that is not a URL.
    pub base_url: Option<String>,
    /// The variable that holds its key.
    pub key_env: Option<String>,
    /// Whether that variable is set.
    pub key_present: bool,
    /// Why none of its models can be called now.
    pub problem: Option<String>,
    /// Its models that `[prices]` lists.
    pub models: Vec<String>,
}

impl ModelCatalogue {
    /// Makes a catalogue from the configuration and a function that reads the environment. The function is called only here.
    pub fn new(config: ModelsConfig, env: impl Fn(&str) -> Option<String>) -> Self {
        let env: &dyn Fn(&str) -> Option<String> = &env;
        let known = KNOWN_PROVIDERS.iter().map(|known| ModelProvider::well_known(known, env));
        let configured =
            config.providers.iter().map(|(name, provider)| ModelProvider::configured(name, provider, env));
        let providers = known.chain(configured).map(|provider| (provider.name.clone(), Arc::new(provider)));
        Self {
            providers: providers.collect(),
            problem: config.check().err(),
            config,
            terminal: None,
            scripts: BTreeMap::new(),
            clients: Arc::default(),
            models: Mutex::default(),
        }
    }

    /// Lets people be asked at this terminal. All people of a process share one [`TerminalPrompt`].
    #[must_use]
    pub fn with_terminal(self, terminal: Arc<TerminalPrompt>) -> Self {
        Self { terminal: Some(terminal), ..self }
    }

    /// Adds built-in scripts: each with its name, `demo` for `script/demo`, and its text.
    #[must_use]
    pub fn with_scripts(self, scripts: impl IntoIterator<Item = (String, &'static str)>) -> Self {
        Self { scripts: scripts.into_iter().collect(), ..self }
    }

    /// Makes models although their keys are missing. They have a price, and cannot be called.
    #[must_use]
    pub fn without_keys(mut self) -> Self {
        for provider in self.providers.values_mut().filter_map(Arc::get_mut) {
            provider.key_needed = false;
        }
        self
    }

    /// All providers, for `agon doctor`.
    pub fn providers(&self) -> Vec<ProviderInfo> {
        let servers = self.providers.values().map(|provider| ProviderInfo {
            name: provider.name.clone(),
            base_url: provider.base.as_ref().ok().map(|base| base.shown.clone()),
            key_env: provider.key_env.clone(),
            key_present: provider.key.is_some(),
            problem: provider.check_usable().err().map(|why| why.0),
            models: self.models_in_config_prices(&provider.name),
        });
        let script = ProviderInfo {
            name: "script".into(),
            base_url: None,
            key_env: None,
            key_present: false,
            problem: None,
            models: self.built_in_scripts(),
        };
        servers.chain([script]).collect()
    }

    /// The names of the built-in scripts: `script/demo`.
    pub fn built_in_scripts(&self) -> Vec<String> {
        self.scripts.keys().map(|name| format!("script/{name}")).collect()
    }

    /// Asks every usable provider for its list of models, all at once, each for at most `timeout`.
    pub async fn probe(&self, timeout: Duration) -> Vec<ProviderProbe> {
        let usable = self.providers.values().filter(|provider| provider.check_usable().is_ok());
        let mut probes = probe::probe_all(usable.map(Arc::as_ref), &self.clients, timeout).await;
        for probe in &mut probes {
            let Some(provider) = self.providers.get(&probe.name) else { continue };
            let has_price = |model: &&String| self.price(provider, model) != ModelPrice::Unknown;
            probe.models_priced = probe.models.iter().flatten().filter(has_price).count();
        }
        probes
    }

    /// Asks one provider for its list of models. `None` if there is no usable provider of this name.
    pub async fn probe_one(&self, name: &str, timeout: Duration) -> Option<ProviderProbe> {
        let provider = self.providers.get(name).filter(|provider| provider.check_usable().is_ok())?;
        probe::probe_all(std::iter::once(provider.as_ref()), &self.clients, timeout).await.pop()
    }

    /// The date of the built-in prices, such as `2025-12-31`.
    pub fn prices_as_of(&self) -> &'static str {
        prices::as_of()
    }

    /// The price of a model, whether or not it can be called.
    pub fn price_of(&self, name: &str) -> ModelPrice {
        let (provider, model) = name.split_once('/').unwrap_or((name, ""));
        self.providers.get(provider).map_or(ModelPrice::Unknown, |provider| self.price(provider, model))
    }

    /// The provider's models with a known price: those of `[prices]`, and those of the built-in table if the provider is
    /// the one that sells them.
    pub fn prices_known(&self, provider: &str) -> Vec<String> {
        let seller = self.providers.get(provider).and_then(|provider| provider.seller());
        let built_in =
            seller.into_iter().flat_map(prices::models_of).map(|model| format!("{provider}/{model}"));
        let mut models: Vec<String> =
            self.models_in_config_prices(provider).into_iter().chain(built_in).collect();
        models.sort();
        models.dedup();
        models
    }

    fn models_in_config_prices(&self, provider: &str) -> Vec<String> {
        let matches = |model: &&String| model.split_once('/').is_some_and(|(name, _)| name == provider);
        self.config.prices.keys().filter(matches).cloned().collect()
    }

    /// `[prices]` first, then the built-in table. A server at another host than the provider's own is another seller, so
    /// the built-in prices do not apply to it.
    fn price(&self, provider: &ModelProvider, model: &str) -> ModelPrice {
        let configured = self.config.prices.get(&format!("{}/{model}", provider.name));
        let built_in = || provider.seller().and_then(|seller| prices::price_of(seller, model));
        let free = provider.is_free.then_some(ModelPrice::Free);
        configured.copied().map(ModelPrice::from).or(free).or_else(built_in).unwrap_or(ModelPrice::Unknown)
    }

    fn make(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        let (provider, model) = name.split_once('/').unwrap_or((name, ""));
        match provider {
            _ if model.trim().is_empty() => Err(self.unknown_model(name, provider)),
            "script" => Ok(Arc::new(match self.scripts.get(model) {
                Some(text) => ScriptModel::parse(model, text)?,
                None => ScriptModel::open(model)?,
            })),
            "command" => self.make_command(model),
            "human" => self.make_human(model),
            "agent" => self.make_agent(name, model),
            "embedded" => make_embedded_model(model, self.model_files(), &self.config.embedded),
            "embeddings" => Ok(Arc::new(EmbeddingModel::from(self.make_embedder(name, model)?))),
            _ => self.make_server(name, provider, model),
        }
    }

    fn model_files(&self) -> Option<ModelFileStore> {
        self.config.models_dir.as_ref().map(ModelFileStore::new)
    }

    fn make_command(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        let Some(config) = self.config.commands.get(name) else {
            return Err(Invalid(format!(
                "there is no program command/{name} (there is {}): add [commands.{name}] with \
                 command = [\"PROGRAM\", \"ARGUMENT\"] to agon.toml",
                listed("command", self.config.commands.keys())
            )));
        };
        Ok(Arc::new(CommandModel::new(name, config.clone())?))
    }

    fn make_human(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        let Some(terminal) = &self.terminal else {
            return Err(Invalid(format!("human/{name} needs a terminal, and there is none here")));
        };
        let config = self.config.humans.get(name).cloned().unwrap_or_default();
        Ok(Arc::new(HumanModel::new(name, &config, Arc::clone(terminal))?))
    }

    fn make_agent(&self, name: &str, bare_name: &str) -> Result<Arc<dyn Model>, Invalid> {
        let Some(config) = self.config.agents.get(bare_name) else {
            return Err(Invalid(format!(
                "there is no {name} (there is {}): add [agents.{bare_name}] with model = \"provider/model\" to agon.toml",
                listed("agent", self.config.agents.keys())
            )));
        };
        Ok(Arc::new(AgentModel::new(name, config, self.make(&config.model)?)))
    }

    fn make_server(&self, name: &str, provider: &str, model: &str) -> Result<Arc<dyn Model>, Invalid> {
        let Some(provider) = self.providers.get(provider) else {
            return Err(self.unknown_model(name, provider));
        };
        let (price, clients) = (self.price(provider, model), Arc::clone(&self.clients));
        Ok(Arc::new(ServerModel::new(name, model, Arc::clone(provider), price, clients)?))
    }

    /// The embeddings that are used if a debate does not name any, and why.
    pub fn embeddings_in_use(&self) -> EmbeddingsInUse {
        let in_use = embeddings::choose_embeddings(&self.config.embeddings, self.model_files().as_ref());
        EmbeddingsInUse { problem: self.model(&in_use.model).err().map(|why| why.0), ..in_use }
    }

    /// The embedder of this name. `None` for `lexical`, whose vectors cannot be compared from one call to the next.
    pub fn text_embedder(&self, name: &str) -> Result<Option<Arc<dyn TextEmbedder>>, Invalid> {
        match name.strip_prefix("embeddings/").unwrap_or(name) {
            "lexical" => Ok(None),
            bare_name => self.make_embedder(name, bare_name).map(Some),
        }
    }

    /// `embeddings/minilm`, `embeddings/lexical`, or `embeddings/PROVIDER/MODEL`.
    fn make_embedder(&self, name: &str, bare_name: &str) -> Result<Arc<dyn TextEmbedder>, Invalid> {
        match bare_name {
            "lexical" => return Ok(Arc::new(LexicalEmbedder)),
            "minilm" => return embeddings::make_minilm(self.model_files()),
            _ => {}
        }
        let (provider, model) = bare_name.split_once('/').unwrap_or((bare_name, ""));
        let Some(provider) = self.providers.get(provider).filter(|_| !model.trim().is_empty()) else {
            return Err(Invalid(format!(
                "there are no embeddings {name:?}: use embeddings/minilm, embeddings/lexical, or \
                 embeddings/PROVIDER/MODEL, such as embeddings/openai/text-embedding-3-small"
            )));
        };
        let (price, clients) = (self.price(provider, model), Arc::clone(&self.clients));
        Ok(Arc::new(ServerEmbedder::new(name, model, Arc::clone(provider), price, clients)?))
    }

    fn unknown_model(&self, name: &str, provider: &str) -> Invalid {
        let known: Vec<String> = self.providers.keys().map(|name| format!("{name}/MODEL")).collect();
        let there_is = format!(
            "there is {}, embedded/smollm2, embedded/PATH.gguf, command/NAME, human/NAME, agent/NAME, script/FILE and script/demo",
            known.join(", ")
        );
        Invalid(if !name.contains('/') {
            format!("{name:?} is not a model: a model is written provider/model; {there_is}")
        } else if name.ends_with('/') {
            format!("{name:?} names no model after the slash; {there_is}")
        } else {
            format!(
                "there is no provider {provider:?}; {there_is}; add others to agon.toml under [providers.NAME]"
            )
        })
    }
}

impl ModelSource for ModelCatalogue {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = models.get(name) {
            return Ok(Arc::clone(model));
        }
        let model = self.make(name)?;
        models.insert(name.to_owned(), Arc::clone(&model));
        Ok(model)
    }
}

impl fmt::Debug for ModelCatalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelCatalogue").field("providers", &self.providers).finish_non_exhaustive()
    }
}

/// The names with their provider in front, or `none`.
fn listed<'a>(provider: &str, names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<String> = names.map(|name| format!("{provider}/{name}")).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
