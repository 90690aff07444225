//! The sections `[providers.NAME]` and `[prices]` of `agon.toml`.

use std::collections::BTreeMap;

use agon_core::Invalid;
use agon_engine::Price;
use serde::Deserialize;

use crate::provider::Base;

/// What a user configures about providers.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// `[providers.NAME]`: providers beside the well-known ones, or in their place.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// `[prices]`: by `provider/model`.
    pub prices: BTreeMap<String, PriceConfig>,
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

/// Names that stand for something else than a server.
const RESERVED: &[&str] = &["script", "embedded", "embeddings", "command", "human"];

impl Config {
    /// Refuses what cannot work, and says where it stands.
    pub fn check(&self) -> Result<(), Invalid> {
        for (name, provider) in &self.providers {
            let place = format!("[providers.{name}]");
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if name.is_empty() || !name.chars().all(plain) {
                return Err(Invalid(format!(
                    "{place}: a provider's name has letters, digits, `-`, `_` and `.` only"
                )));
            }
            if RESERVED.contains(&name.as_str()) {
                return Err(Invalid(format!(
                    "{place}: {name}/ has a meaning of its own; choose another name"
                )));
            }
            Base::parse(&provider.base_url).map_err(|why| Invalid(format!("{place}: base_url {why}")))?;
            if provider.key_env.as_deref().is_some_and(|variable| !is_variable(variable)) {
                let want = "key_env is the name of an environment variable, not the key itself";
                return Err(Invalid(format!("{place}: {want}; for instance key_env = \"LOCAL_KEY\"")));
            }
        }
        for (model, price) in &self.prices {
            let of_cache = [price.cached_input, price.cache_write].map(Option::unwrap_or_default);
            let figures = [price.input, price.output].into_iter().chain(of_cache);
            if figures.into_iter().any(|usd| !usd.is_finite() || usd < 0.0) {
                return Err(Invalid(format!(
                    "[prices] {model:?}: a price is 0 or more US dollars per million tokens"
                )));
            }
            if !model.split_once('/').is_some_and(|(provider, name)| !provider.is_empty() && !name.is_empty())
            {
                return Err(Invalid(format!("[prices] {model:?}: a model is written provider/model")));
            }
        }
        Ok(())
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
