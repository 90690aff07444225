//! From a name to a model, or to a sentence that says what to do.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use agon_core::Invalid;
use agon_engine::{Model, Models, Price};

use crate::clients::Clients;
use crate::config::Config;
use crate::openai::OpenAi;
use crate::provider::{KNOWN, Provider};
use crate::script::Script;

/// All models that there are. Each is made once, when it is first named, and then shared.
pub struct Catalogue {
    providers: BTreeMap<String, Arc<Provider>>,
    prices: BTreeMap<String, Price>,
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
    /// The models of it that have a price.
    pub models: Vec<String>,
}

/// Providers of the design that this version has no models of.
const NOT_YET: &[&str] = &["anthropic", "gemini", "embedded", "command", "human"];

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
            prices: config.prices.into_iter().map(|(model, price)| (model, price.into())).collect(),
            clients: Arc::default(),
            made: Mutex::default(),
        }
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

    fn priced(&self, provider: &str) -> Vec<String> {
        let of_it = |model: &&String| model.split_once('/').is_some_and(|(name, _)| name == provider);
        self.prices.keys().filter(of_it).cloned().collect()
    }

    fn make(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        let (provider, model) = name.split_once('/').unwrap_or((name, ""));
        if provider == "script" && !model.is_empty() {
            return Ok(Arc::new(Script::open(model)?));
        }
        let Some(provider) = self.providers.get(provider) else { return Err(self.unknown(name, provider)) };
        if model.trim().is_empty() {
            return Err(self.unknown(name, &provider.name));
        }
        provider.usable()?;
        let price = self.prices.get(name).copied().unwrap_or(provider.price);
        Ok(Arc::new(OpenAi::new(name, model, Arc::clone(provider), price, Arc::clone(&self.clients))?))
    }

    fn unknown(&self, name: &str, provider: &str) -> Invalid {
        let known: Vec<String> = self.providers.keys().map(|name| format!("{name}/MODEL")).collect();
        let there_is = format!("there is {}, script/FILE and script/demo", known.join(", "));
        Invalid(if !name.contains('/') {
            format!("{name:?} is no model: a model is written provider/model; {there_is}")
        } else if name.ends_with('/') {
            format!("{name:?} names no model after the slash; {there_is}")
        } else if NOT_YET.contains(&provider) {
            format!("models of {provider}/ are not in this version; {there_is}")
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
