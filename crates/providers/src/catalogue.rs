//! From a name to a model, or to a sentence that says what to do.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agon_core::Invalid;
use agon_embedded::Embedded;
use agon_embedded::Shelf;
use agon_engine::{Model, Models, Price};
use agon_seats::{Command, CommandConfig, Desk, Human, HumanConfig};

use crate::agent::{Agent, AgentConfig};
use crate::clients::Clients;
use crate::config::{Config, EmbeddingsConfig};
use crate::embeddings::{self, Embed, EmbeddingModel, EmbeddingsInUse};
use crate::prices;
use crate::probe::{self, Probe};
use crate::provider::{KNOWN, Provider};
use crate::script::Script;
use crate::server::Server;

/// All models that there are. Each is made once, when it is first named, and then shared.
pub struct Catalogue {
    providers: BTreeMap<String, Arc<Provider>>,
    prices: BTreeMap<String, Price>,
    commands: BTreeMap<String, CommandConfig>,
    humans: BTreeMap<String, HumanConfig>,
    agents: BTreeMap<String, AgentConfig>,
    desk: Option<Arc<Desk>>,
    embedded: agon_embedded::Settings,
    embeddings: EmbeddingsConfig,
    models_dir: Option<PathBuf>,
    problem: Option<Invalid>,
    clients: Arc<Clients>,
    made: Mutex<BTreeMap<String, Arc<dyn Model>>>,
}

/// A provider, as `agon doctor` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderInfo {
    /// The name before the slash.
    pub name: String,
    /// Where it is; `None` for what runs here, and for an address that is no URL.
    pub base_url: Option<String>,
    /// The variable that holds its key.
    pub key_env: Option<String>,
    /// Whether that variable is set.
    pub key_present: bool,
    /// Why no model of it can be called as things are, in a sentence.
    pub problem: Option<String>,
    /// The models of it that `[prices]` names.
    pub models: Vec<String>,
}

impl Catalogue {
    /// From what the user configured and a way to read the environment, which is asked here and never again.
    pub fn new(config: Config, env: impl Fn(&str) -> Option<String>) -> Self {
        let env: &dyn Fn(&str) -> Option<String> = &env;
        let known = KNOWN.iter().map(|known| Provider::known(known, env));
        let configured =
            config.providers.iter().map(|(name, provider)| Provider::configured(name, provider, env));
        let providers = known.chain(configured).map(|provider| (provider.name.clone(), Arc::new(provider)));
        Self {
            providers: providers.collect(),
            problem: config.check().err(),
            embedded: config.embedded,
            embeddings: config.embeddings,
            models_dir: config.models_dir,
            prices: config.prices.into_iter().map(|(model, price)| (model, price.into())).collect(),
            commands: config.commands,
            humans: config.humans,
            agents: config.agents,
            desk: None,
            clients: Arc::default(),
            made: Mutex::default(),
        }
    }

    /// The same with a desk at which people can be asked. There is one for each process: they share its terminal.
    #[must_use]
    pub fn with_desk(self, desk: Arc<Desk>) -> Self {
        Self { desk: Some(desk), ..self }
    }

    /// The providers, for `agon doctor`.
    pub fn providers(&self) -> Vec<ProviderInfo> {
        let servers = self.providers.values().map(|provider| ProviderInfo {
            name: provider.name.clone(),
            base_url: provider.base.as_ref().ok().map(|base| base.shown.clone()),
            key_env: provider.key_env.clone(),
            key_present: provider.key.is_some(),
            problem: provider.usable().err().map(|why| why.0),
            models: self.priced(&provider.name),
        });
        let script = ProviderInfo {
            name: "script".into(),
            base_url: None,
            key_env: None,
            key_present: false,
            problem: None,
            models: vec!["script/demo".into()],
        };
        servers.chain([script]).collect()
    }

    /// Asks every provider that could be called for its list of models, all at once and none for longer than `timeout`.
    pub async fn probe(&self, timeout: Duration) -> Vec<Probe> {
        let callable = self.providers.values().filter(|provider| provider.usable().is_ok());
        let mut probes = probe::all(callable.map(Arc::as_ref), &self.clients, timeout).await;
        for probe in &mut probes {
            let Some(provider) = self.providers.get(&probe.name) else { continue };
            let has_price = |model: &&String| self.price(provider, model) != Price::Unknown;
            probe.models_priced = probe.models.iter().flatten().filter(has_price).count();
        }
        probes
    }

    /// Asks this provider alone; `None` when there is none of this name that could be called.
    pub async fn probe_one(&self, name: &str, timeout: Duration) -> Option<Probe> {
        let provider = self.providers.get(name).filter(|provider| provider.usable().is_ok())?;
        probe::all(std::iter::once(provider.as_ref()), &self.clients, timeout).await.pop()
    }

    /// The day of the prices that Agon knows by itself, `2025-12-31`.
    pub fn prices_as_of(&self) -> &'static str {
        prices::as_of()
    }

    /// What a model costs, as far as it is known, whether it could be called or not.
    pub fn price_of(&self, name: &str) -> Price {
        let (provider, model) = name.split_once('/').unwrap_or((name, ""));
        self.providers.get(provider).map_or(Price::Unknown, |provider| self.price(provider, model))
    }

    /// The models of this provider that have a known price: those of `[prices]`, and those of the built-in table where the
    /// provider is the one that sells them.
    pub fn prices_known(&self, provider: &str) -> Vec<String> {
        let seller = self.providers.get(provider).and_then(|provider| provider.seller());
        let built_in = seller.into_iter().flat_map(prices::models).map(|model| format!("{provider}/{model}"));
        let mut models: Vec<String> = self.priced(provider).into_iter().chain(built_in).collect();
        models.sort();
        models.dedup();
        models
    }

    fn priced(&self, provider: &str) -> Vec<String> {
        let of_it = |model: &&String| model.split_once('/').is_some_and(|(name, _)| name == provider);
        self.prices.keys().filter(of_it).cloned().collect()
    }

    /// What the person says that it costs, else what is known. Another seller than the provider itself has its own prices.
    fn price(&self, provider: &Provider, model: &str) -> Price {
        let told = self.prices.get(&format!("{}/{model}", provider.name)).copied();
        let known = || provider.seller().and_then(|seller| prices::of(seller, model));
        let free = provider.free.then_some(Price::Free);
        told.or(free).or_else(known).unwrap_or(Price::Unknown)
    }

    fn make(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        let (provider, model) = name.split_once('/').unwrap_or((name, ""));
        match provider {
            _ if model.trim().is_empty() => Err(self.unknown(name, provider)),
            "script" => Ok(Arc::new(Script::open(model)?)),
            "command" => self.command(model),
            "human" => self.human(model),
            "agent" => self.agent(name, model),
            "embedded" => Ok(Arc::new(Embedded::new(model, self.shelf(), self.embedded.clone())?)),
            "embeddings" => self.embeddings(name, model),
            _ => self.server(name, provider, model),
        }
    }

    /// Where the files of embedded models are kept.
    fn shelf(&self) -> Option<Shelf> {
        self.models_dir.as_ref().map(Shelf::new)
    }

    fn command(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        let Some(config) = self.commands.get(name) else {
            let there: Vec<String> = self.commands.keys().map(|name| format!("command/{name}")).collect();
            let there = if there.is_empty() { "none".into() } else { there.join(", ") };
            return Err(Invalid(format!(
                "there is no program command/{name} (there is {there}): add [commands.{name}] with \
                 command = [\"PROGRAM\", \"ARGUMENT\"] to agon.toml"
            )));
        };
        Ok(Arc::new(Command::new(name, config.clone())?))
    }

    fn human(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        let Some(desk) = &self.desk else {
            return Err(Invalid(format!("human/{name} needs a terminal, and nobody can be asked from here")));
        };
        let config = self.humans.get(name).cloned().unwrap_or_default();
        Ok(Arc::new(Human::new(name, &config, Arc::clone(desk))?))
    }

    fn agent(&self, name: &str, bare: &str) -> Result<Arc<dyn Model>, Invalid> {
        let Some(config) = self.agents.get(bare) else {
            let there: Vec<String> = self.agents.keys().map(|name| format!("agent/{name}")).collect();
            let there = if there.is_empty() { "none".into() } else { there.join(", ") };
            return Err(Invalid(format!(
                "there is no {name} (there is {there}): add [agents.{bare}] with model = \"provider/model\" to agon.toml"
            )));
        };
        Ok(Arc::new(Agent::new(name, config, self.make(&config.model)?)))
    }

    fn server(&self, name: &str, provider: &str, model: &str) -> Result<Arc<dyn Model>, Invalid> {
        let Some(provider) = self.providers.get(provider) else { return Err(self.unknown(name, provider)) };
        provider.usable()?;
        let price = self.price(provider, model);
        Ok(Arc::new(Server::new(name, model, Arc::clone(provider), price, Arc::clone(&self.clients))?))
    }

    /// The embeddings that are used where nobody names any, and why.
    pub fn embeddings_in_use(&self) -> EmbeddingsInUse {
        let in_use = embeddings::in_use(&self.embeddings, self.shelf().as_ref());
        EmbeddingsInUse { problem: self.model(&in_use.model).err().map(|why| why.0), ..in_use }
    }

    /// The embeddings of this name as what makes vectors. Those of words alone have no place in common from one call to the
    /// next: `None`.
    pub fn vectors(&self, name: &str) -> Result<Option<Arc<dyn Embed>>, Invalid> {
        let bare = name.strip_prefix("embeddings/").unwrap_or(name);
        if bare == "lexical" { Ok(None) } else { self.embed(name, bare).map(Some) }
    }

    fn embeddings(&self, name: &str, what: &str) -> Result<Arc<dyn Model>, Invalid> {
        Ok(Arc::new(EmbeddingModel::of(self.embed(name, what)?)))
    }

    /// `embeddings/minilm`, `embeddings/lexical`, or `embeddings/PROVIDER/MODEL`.
    fn embed(&self, name: &str, what: &str) -> Result<Arc<dyn Embed>, Invalid> {
        match (what, self.shelf()) {
            ("lexical", _) => return Ok(Arc::new(embeddings::Lexical)),
            ("minilm", Some(shelf)) => return Ok(Arc::new(embeddings::MiniLm::new(shelf)?)),
            ("minilm", None) => return Err(Invalid(format!("{name}: {}", embeddings::minilm::NO_SHELF))),
            _ => {}
        }
        let (provider, model) = what.split_once('/').unwrap_or((what, ""));
        let found = self.providers.get(provider).filter(|_| !model.trim().is_empty());
        let Some(provider) = found else {
            return Err(Invalid(format!(
                "there are no {name:?}: there is embeddings/minilm, embeddings/lexical, and embeddings/PROVIDER/MODEL for a \
                 provider's, such as embeddings/openai/text-embedding-3-small"
            )));
        };
        let price = self.price(provider, model);
        let server =
            embeddings::Server::new(name, model, Arc::clone(provider), price, Arc::clone(&self.clients))?;
        Ok(Arc::new(server))
    }

    fn unknown(&self, name: &str, provider: &str) -> Invalid {
        let known: Vec<String> = self.providers.keys().map(|name| format!("{name}/MODEL")).collect();
        let there_is = format!(
            "there is {}, embedded/smollm2, embedded/PATH.gguf, command/NAME, human/NAME, agent/NAME, script/FILE and script/demo",
            known.join(", ")
        );
        Invalid(if !name.contains('/') {
            format!("{name:?} is no model: a model is written provider/model; {there_is}")
        } else if name.ends_with('/') {
            format!("{name:?} names no model after the slash; {there_is}")
        } else {
            format!(
                "there is no provider {provider:?}; {there_is}; others are named in agon.toml under [providers.NAME]"
            )
        })
    }
}

impl Models for Catalogue {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = made.get(name) {
            return Ok(Arc::clone(model));
        }
        let model = self.make(name)?;
        made.insert(name.to_owned(), Arc::clone(&model));
        Ok(model)
    }
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalogue").field("providers", &self.providers).field("prices", &self.prices).finish()
    }
}
