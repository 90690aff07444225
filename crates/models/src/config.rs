//! The sections of `agon.toml` that are about models, such as `[providers.NAME]`, `[prices]` and `[commands.NAME]`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agon_core::Invalid;
use agon_engine::Price;
use crate::{CommandConfig, HumanConfig};
use serde::Deserialize;

use crate::agent::AgentConfig;
use crate::provider::Base;

/// What a user configures about providers.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// `[providers.NAME]`: providers beside the well-known ones, or in their place.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// `[prices]`: by `provider/model`.
    pub prices: BTreeMap<String, PriceConfig>,
    /// `[commands.NAME]`: programs that take a seat.
    pub commands: BTreeMap<String, CommandConfig>,
    /// `[humans.NAME]`: people who do; one who has nothing to set needs no section.
    pub humans: BTreeMap<String, HumanConfig>,
    /// `[agents.NAME]`: models that speak under a name and with a charter.
    pub agents: BTreeMap<String, AgentConfig>,
    /// `[embedded]`: the models that run in this program.
    pub embedded: agon_embedded::Settings,
    /// `[embeddings]`: which measure of likeness is used where a debate needs one.
    pub embeddings: EmbeddingsConfig,
    /// The folder in which the files of the models are kept that run here.
    #[serde(skip)]
    pub models_dir: Option<PathBuf>,
}

/// One `[providers.NAME]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderConfig {
    /// What it speaks; as the well-known provider of this name does when not given, and OpenAI's format where there is none.
    #[serde(default)]
    pub kind: Option<ProviderKind>,
    /// Where it is, usually with `/v1`.
    pub base_url: String,
    /// The environment variable that holds its key; none for a server that takes no key.
    #[serde(default)]
    pub key_env: Option<String>,
}

/// What a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// OpenAI's chat completions.
    #[default]
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
}

/// One model's price, US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceConfig {
    /// Tokens read.
    pub input: f64,
    /// Tokens read from the provider's cache; as `input` when not given.
    #[serde(default)]
    pub cached_input: Option<f64>,
    /// Tokens read and written to the provider's cache; as `input` when not given.
    #[serde(default)]
    pub cache_write: Option<f64>,
    /// Tokens written.
    pub output: f64,
}

/// `[embeddings]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingsConfig {
    /// `minilm`, `lexical`, or a provider's such as `openai/text-embedding-3-small`; when not given, `minilm` where its files
    /// are here, else `lexical`.
    pub model: Option<String>,
}

/// Names that stand for something else than a server.
const RESERVED: &[&str] =
    &["script", "embedded", "embeddings", "command", "human", "agent", "context", "pulse"];

impl Config {
    /// Refuses what cannot work, and says where it stands.
    pub fn check(&self) -> Result<(), Invalid> {
        self.providers.iter().try_for_each(|(name, provider)| check_provider(name, provider))?;
        self.prices.iter().try_for_each(|(model, price)| check_price(model, price))?;
        self.commands.iter().try_for_each(|(name, command)| command.check(name))?;
        self.humans.iter().try_for_each(|(name, human)| human.check(name))?;
        self.agents.iter().try_for_each(|(name, agent)| agent.check(name))?;
        self.embedded.check()?;
        self.embeddings.check()
    }
}

impl EmbeddingsConfig {
    /// The model that is chosen, as a seat names it: `embeddings/minilm`.
    pub fn named(&self) -> Option<String> {
        self.bare().map(|model| format!("embeddings/{model}"))
    }

    /// Whoever writes the whole name means the same.
    fn bare(&self) -> Option<&str> {
        self.model.as_deref().map(|model| model.strip_prefix("embeddings/").unwrap_or(model))
    }

    fn check(&self) -> Result<(), Invalid> {
        match self.bare().map(|model| (model, model.split_once('/'))) {
            None | Some(("minilm" | "lexical", _)) => Ok(()),
            Some((_, Some((provider, model)))) if !provider.is_empty() && !model.is_empty() => Ok(()),
            Some((model, _)) => Err(Invalid(format!(
                "[embeddings] model is {model:?}: write \"minilm\", \"lexical\", or a provider's as in \
                 \"openai/text-embedding-3-small\""
            ))),
        }
    }
}

fn check_provider(name: &str, provider: &ProviderConfig) -> Result<(), Invalid> {
    let place = format!("[providers.{name}]");
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(plain) {
        return Err(Invalid(format!(
            "{place}: a provider's name has letters, digits, `-`, `_` and `.` only"
        )));
    }
    if RESERVED.contains(&name) {
        return Err(Invalid(format!("{place}: {name}/ has a meaning of its own; choose another name")));
    }
    Base::parse(&provider.base_url).map_err(|why| Invalid(format!("{place}: base_url {why}")))?;
    if provider.key_env.as_deref().is_some_and(|variable| !is_variable(variable)) {
        let want = "key_env is the name of an environment variable, not the key itself";
        return Err(Invalid(format!("{place}: {want}; for instance key_env = \"LOCAL_KEY\"")));
    }
    Ok(())
}

fn check_price(model: &str, price: &PriceConfig) -> Result<(), Invalid> {
    let wrong = |why: String| Err(Invalid(format!("[prices] {model:?}: {why}")));
    let of_cache = [price.cached_input, price.cache_write].map(Option::unwrap_or_default);
    let figures = [price.input, price.output].into_iter().chain(of_cache);
    if figures.into_iter().any(|usd| !usd.is_finite() || usd < 0.0) {
        return wrong("a price is 0 or more US dollars per million tokens".into());
    }
    match model.split_once('/') {
        // Nobody counts the tokens of a program or a person, so that no price of a token can be kept.
        Some(("command", name)) => wrong(format!(
            "a program's tokens are not counted; if it costs nothing, say `free = true` under [commands.{name}]"
        )),
        Some(("human", _)) => wrong("a person costs nothing here; leave the line away".into()),
        Some((provider, name)) if !provider.is_empty() && !name.is_empty() => Ok(()),
        _ => wrong("a model is written provider/model".into()),
    }
}

impl From<PriceConfig> for Price {
    fn from(price: PriceConfig) -> Self {
        let cached_input = price.cached_input.unwrap_or(price.input);
        let cache_write = price.cache_write.unwrap_or(price.input);
        Self::PerMillion { input: price.input, cached_input, cache_write, output: price.output }
    }
}

fn is_variable(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    starts && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(toml: &str) -> Result<(), String> {
        toml::from_str::<Config>(toml).map_err(|why| why.to_string())?.check().map_err(|why| why.0)
    }

    #[test]
    fn the_sections_of_the_design_are_read() {
        let config: Config = toml::from_str(
            r#"
            [providers.local]
            base_url = "http://127.0.0.1:8080/v1"
            key_env = "LOCAL_KEY"
            [prices]
            "openai/x" = { input = 1.0, cached_input = 0.1, output = 4.0 }
            "openai/y" = { input = 2.0, output = 8.0 }
            "#,
        )
        .unwrap();
        assert_eq!(config.check(), Ok(()));
        assert_eq!(config.providers["local"].kind, None);
        let price = |name: &str| Price::from(config.prices[name]);
        assert_eq!(
            price("openai/x"),
            Price::PerMillion { input: 1.0, cached_input: 0.1, cache_write: 1.0, output: 4.0 }
        );
        assert_eq!(
            price("openai/y"),
            Price::PerMillion { input: 2.0, cached_input: 2.0, cache_write: 2.0, output: 8.0 }
        );
    }

    #[test]
    fn embeddings_are_named_with_or_without_the_word_before() {
        let named = |model: &str| {
            let config: Config = toml::from_str(&format!("[embeddings]\nmodel = {model:?}")).unwrap();
            assert_eq!(config.check(), Ok(()), "{model}");
            config.embeddings.named()
        };
        for model in ["minilm", "lexical", "openai/text-embedding-3-small", "openrouter/a/b"] {
            let whole = format!("embeddings/{model}");
            assert_eq!((named(model), named(&whole)), (Some(whole.clone()), Some(whole)));
        }
        assert_eq!(Config::default().embeddings.named(), None);
    }

    #[test]
    fn wrong_input_of_every_kind_is_named() {
        for (toml, named) in [
            ("[providers.x]", "base_url"),
            ("[provider.x]", "provider"),
            ("[providers.x]\nbase_url = \"http://a/v1\"\nkey = \"sk\"", "key"),
            (
                "[providers.x]\nbase_url = \"http://a/v1\"\nkind = \"soap\"",
                "`soap`, expected one of `openai`, `anthropic`, `gemini`",
            ),
            ("[providers.x]\nbase_url = \"127.0.0.1:80\"", "[providers.x]: base_url"),
            ("[providers.x]\nbase_url = \"ftp://a/\"", "http"),
            ("[providers.x]\nbase_url = \"http://me:pw@a/v1\"", "key_env"),
            ("[providers.x]\nbase_url = \"http://a/v1\"\nkey_env = \"sk-123\"", "key_env is the name"),
            ("[providers.script]\nbase_url = \"http://a/v1\"", "another name"),
            ("[providers.embeddings]\nbase_url = \"http://a/v1\"", "another name"),
            ("[providers.\"a/b\"]\nbase_url = \"http://a/v1\"", "letters"),
            ("[providers.command]\nbase_url = \"http://a/v1\"", "another name"),
            ("[providers.human]\nbase_url = \"http://a/v1\"", "another name"),
            ("[commands.x]\ncommand = []", "[commands.x]: command is the program"),
            ("[humans.x]\ntimeout_s = 0", "[humans.x]: timeout_s"),
            ("[prices]\n\"command/x\" = { input = 1, output = 1 }", "`free = true` under [commands.x]"),
            ("[prices]\n\"human/x\" = { input = 1, output = 1 }", "a person costs nothing"),
            ("[embedded]\nthreads = 0", "[embedded] threads must be from 1"),
            ("[embeddings]\nmodel = \"word2vec\"", "[embeddings] model is \"word2vec\": write \"minilm\""),
            ("[embeddings]\nmodel = \"openai/\"", "[embeddings] model"),
            ("[embeddings]\nmodel = \"\"", "[embeddings] model"),
            ("[embeddings]\nname = \"minilm\"", "name"),
            ("[prices]\nx = { input = 1, output = 1 }", "provider/model"),
            ("[prices]\n\"a/b\" = { input = -1, output = 1 }", "a/b"),
            ("[prices]\n\"a/b\" = { input = nan, output = 1 }", "a/b"),
            ("[prices]\n\"a/b\" = { input = 1 }", "output"),
            ("[prices]\n\"a/b\" = { input = 1, output = 1, reasoning = 2 }", "reasoning"),
        ] {
            let why = check(toml).unwrap_err();
            assert!(why.contains(named), "{toml}: {why}");
            assert!(!why.contains("sk-123") && !why.contains("pw@"), "{why}");
        }
    }
}
