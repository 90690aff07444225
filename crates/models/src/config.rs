//! The sections of `agon.toml` that concern models.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use agon_core::Invalid;
use agon_engine::ModelPrice;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::provider::BaseUrl;

/// What a user can configure about models.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelsConfig {
    /// `[providers.NAME]`: servers in addition to the well-known ones, or in place of one of them.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// `[prices]`, by `provider/model`.
    pub prices: BTreeMap<String, PriceConfig>,
    /// `[commands.NAME]`: programs that take a seat.
    pub commands: BTreeMap<String, CommandConfig>,
    /// `[humans.NAME]`: people who take a seat. A person without a section has the defaults.
    pub humans: BTreeMap<String, HumanConfig>,
    /// `[agents.NAME]`: models with a name and a charter of their own.
    pub agents: BTreeMap<String, AgentConfig>,
    /// `[embedded]`: the models that run in this process.
    pub embedded: crate::EmbeddedSettings,
    /// `[embeddings]`: how similarity is measured where a debate needs it.
    pub embeddings: EmbeddingsConfig,
    /// The folder that holds the files of models that run in this process.
    #[serde(skip)]
    pub models_dir: Option<PathBuf>,
}

/// One `[providers.NAME]`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProviderConfig {
    /// The format that the server speaks. By default that of the well-known provider of this name, else `openai`.
    #[serde(default)]
    pub kind: Option<WireFormat>,
    /// The server's address, usually with `/v1` at the end.
    pub base_url: String,
    /// The name of the environment variable that holds the key, never the key itself. Omit it for a server that needs no key.
    #[serde(default)]
    pub key_env: Option<String>,
}

/// The wire format that a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WireFormat {
    /// OpenAI's chat completions.
    #[default]
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
}

/// One model's price in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceConfig {
    /// Tokens read.
    pub input: f64,
    /// Tokens read from the provider's cache. By default the price of `input`.
    #[serde(default)]
    pub cached_input: Option<f64>,
    /// Tokens written to the provider's cache. By default the price of `input`.
    #[serde(default)]
    pub cache_write: Option<f64>,
    /// Tokens written.
    pub output: f64,
}

/// One `[commands.NAME]`: a program that reads a prompt on its standard input and answers on its standard output.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandConfig {
    /// The program and its arguments. There is no shell. A bare name is looked up in `PATH`; a relative path starts from
    /// the folder that Agon was started in.
    #[serde(rename = "command", alias = "program")]
    pub program: Vec<String>,
    /// How many seconds one answer may take. By default the debate's limit for a call.
    #[serde(default)]
    pub timeout_s: Option<f64>,
    /// How many bytes one answer may have.
    #[serde(default)]
    pub output_bytes_max: Option<u64>,
    /// The environment variables that it gets in addition to `PATH`, `HOME` and the folder for temporary files. By default
    /// all of them, keys included, because a coding agent needs its own key.
    #[serde(default)]
    pub env: Option<Vec<String>>,
    /// The folder that it runs in. By default the folder that Agon was started in.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// Whether a call costs nothing. Otherwise the price is unknown, and a budget in dollars is refused.
    #[serde(default)]
    pub free: bool,
}

/// One `[humans.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HumanConfig {
    /// How many seconds one answer may take; then the person is absent.
    pub timeout_s: Option<f64>,
}

/// One `[agents.NAME]`: a model that is seated, and rated, as `agent/NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// The model that answers, as `provider/model`.
    pub model: String,
    /// What the agent is told about itself, before the rules of the debate.
    #[serde(default)]
    pub charter: String,
}

/// `[embeddings]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingsConfig {
    /// `minilm`, `lexical`, or a provider's model such as `openai/text-embedding-3-small`. By default `minilm` if its
    /// files are present, else `lexical`.
    pub model: Option<String>,
}

/// How much a program may write by default.
pub const OUTPUT_BYTES_MAX: u64 = 1 << 20;
/// How long a person may take by default.
pub const HUMAN_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// The largest `output_bytes_max`: an answer is kept in memory, in the log and in later prompts.
const OUTPUT_BYTES_LIMIT: u64 = 64 << 20;
const TIMEOUT_S_MAX: f64 = 7.0 * 24.0 * 3600.0;
/// The longest charter: it is sent with every call.
const CHARTER_CHARS_MAX: usize = 8_000;
/// Names before the slash that do not mean a server.
const RESERVED_NAMES: &[&str] =
    &["script", "embedded", "embeddings", "command", "human", "agent", "context", "pulse", "tool"];

impl ModelsConfig {
    /// Rejects values that cannot work, with a sentence that names the section.
    pub fn check(&self) -> Result<(), Invalid> {
        self.providers.iter().try_for_each(|(name, provider)| provider.check(name))?;
        self.prices.iter().try_for_each(|(model, price)| price.check(model))?;
        self.commands.iter().try_for_each(|(name, command)| command.check(name))?;
        self.humans.iter().try_for_each(|(name, human)| human.check(name))?;
        self.agents.iter().try_for_each(|(name, agent)| agent.check(name))?;
        self.embedded.check()?;
        self.embeddings.check()
    }
}

impl ProviderConfig {
    fn check(&self, name: &str) -> Result<(), Invalid> {
        let wrong = |why: String| Err(Invalid(format!("[providers.{name}]: {why}")));
        if let Err(why) = check_name(name) {
            return wrong(why);
        }
        if RESERVED_NAMES.contains(&name) {
            return wrong(format!("{name}/ has a meaning of its own; choose another name"));
        }
        if let Err(why) = BaseUrl::parse(&self.base_url) {
            return wrong(format!("base_url {why}"));
        }
        if self.key_env.as_deref().is_some_and(|variable| !is_variable_name(variable)) {
            return wrong(
                "key_env is the name of an environment variable, not the key itself; for example \
                 key_env = \"LOCAL_KEY\""
                    .into(),
            );
        }
        Ok(())
    }
}

impl PriceConfig {
    fn check(&self, model: &str) -> Result<(), Invalid> {
        let wrong = |why: String| Err(Invalid(format!("[prices] {model:?}: {why}")));
        let cache = [self.cached_input, self.cache_write].map(Option::unwrap_or_default);
        let mut figures = [self.input, self.output].into_iter().chain(cache);
        if figures.any(|usd| !usd.is_finite() || usd < 0.0) {
            return wrong("a price is 0 or more US dollars per million tokens".into());
        }
        match model.split_once('/') {
            Some(("command", name)) => wrong(format!(
                "a program's tokens are not counted; if it costs nothing, set `free = true` under [commands.{name}]"
            )),
            Some(("human", _)) => wrong("a person costs nothing; remove this line".into()),
            Some((provider, name)) if !provider.is_empty() && !name.is_empty() => Ok(()),
            _ => wrong("a model is written provider/model".into()),
        }
    }
}

impl From<PriceConfig> for ModelPrice {
    fn from(price: PriceConfig) -> Self {
        let cached_input = price.cached_input.unwrap_or(price.input);
        let cache_write = price.cache_write.unwrap_or(price.input);
        Self::PerMillion { input: price.input, cached_input, cache_write, output: price.output }
    }
}

impl CommandConfig {
    /// Rejects values that cannot work, with a sentence that names `[commands.NAME]`.
    pub fn check(&self, name: &str) -> Result<(), Invalid> {
        let wrong = |why: String| Err(Invalid(format!("[commands.{name}]: {why}")));
        if let Err(why) = check_name(name) {
            return wrong(why);
        }
        if self.program.first().is_none_or(|program| program.trim().is_empty()) {
            return wrong(
                "command is the program and its arguments, such as [\"my-agent\", \"--print\"]".into(),
            );
        }
        if self.program.iter().any(|word| word.contains('\0')) {
            return wrong("command contains a null character, which no program can be given".into());
        }
        if let Err(why) = read_timeout(self.timeout_s) {
            return wrong(why);
        }
        if self.output_bytes_max.is_some_and(|bytes| !(1..=OUTPUT_BYTES_LIMIT).contains(&bytes)) {
            return wrong(format!("output_bytes_max must be from 1 to {OUTPUT_BYTES_LIMIT}"));
        }
        let mut variables = self.env.iter().flatten();
        if variables.any(|variable| variable.is_empty() || variable.contains(['=', '\0'])) {
            return wrong("env is a list of names of environment variables, without their values".into());
        }
        Ok(())
    }

    pub(crate) fn timeout(&self) -> Option<Duration> {
        read_timeout(self.timeout_s).ok().flatten()
    }
}

impl HumanConfig {
    /// Rejects values that cannot work, with a sentence that names `[humans.NAME]`.
    pub fn check(&self, name: &str) -> Result<(), Invalid> {
        let checked = check_name(name).and_then(|()| read_timeout(self.timeout_s).map(drop));
        let shown: String = name.chars().take(NAME_CHARS_MAX).collect();
        checked.map_err(|why| Invalid(format!("[humans.{shown}]: {why}")))
    }

    /// How long one answer may take.
    pub fn timeout(&self) -> Duration {
        read_timeout(self.timeout_s).ok().flatten().unwrap_or(HUMAN_TIMEOUT)
    }
}

impl AgentConfig {
    fn check(&self, name: &str) -> Result<(), Invalid> {
        let wrong = |why: String| Err(Invalid(format!("[agents.{name}]: {why}")));
        if let Err(why) = check_name(name) {
            return wrong(why);
        }
        if self.model.contains(['|', ',']) || !self.model.contains('/') || self.model.trim() != self.model {
            return wrong("model must be one model, written provider/model".into());
        }
        if self.model.starts_with("agent/") || self.model.starts_with("embeddings/") {
            return wrong("model must be a model that writes answers, not another agent".into());
        }
        if self.charter.chars().count() > CHARTER_CHARS_MAX {
            return wrong(format!("the charter is longer than {CHARTER_CHARS_MAX} characters"));
        }
        Ok(())
    }
}

impl EmbeddingsConfig {
    /// The configured model as a seat names it, such as `embeddings/minilm`.
    pub fn named(&self) -> Option<String> {
        self.bare_name().map(|model| format!("embeddings/{model}"))
    }

    /// The prefix `embeddings/` is accepted but not needed.
    fn bare_name(&self) -> Option<&str> {
        self.model.as_deref().map(|model| model.strip_prefix("embeddings/").unwrap_or(model))
    }

    fn check(&self) -> Result<(), Invalid> {
        match self.bare_name().map(|model| (model, model.split_once('/'))) {
            None | Some(("minilm" | "lexical", _)) => Ok(()),
            Some((_, Some((provider, model)))) if !provider.is_empty() && !model.is_empty() => Ok(()),
            Some((model, _)) => Err(Invalid(format!(
                "[embeddings] model is {model:?}: write \"minilm\", \"lexical\", or a provider's model such as \
                 \"openai/text-embedding-3-small\""
            ))),
        }
    }
}

/// The longest name. Every report and every prompt of a debate repeats it.
const NAME_CHARS_MAX: usize = 64;

fn check_name(name: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match !name.is_empty() && name.chars().all(allowed) {
        true if name.len() > NAME_CHARS_MAX => {
            Err(format!("the name is too long: it may have {NAME_CHARS_MAX} characters"))
        }
        true => Ok(()),
        false => Err("the name may contain only letters, digits, `-`, `_` and `.`".into()),
    }
}

fn is_variable_name(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    starts && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn read_timeout(seconds: Option<f64>) -> Result<Option<Duration>, String> {
    match seconds {
        None => Ok(None),
        Some(s) if s > 0.0 && s <= TIMEOUT_S_MAX => {
            Duration::try_from_secs_f64(s).map(Some).map_err(|why| format!("timeout_s: {why}"))
        }
        Some(_) => {
            Err(format!("timeout_s must be a number of seconds greater than 0 and at most {TIMEOUT_S_MAX}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(toml: &str) -> Result<ModelsConfig, String> {
        let config: ModelsConfig = toml::from_str(toml).map_err(|why| why.to_string())?;
        config.check().map_err(|why| why.0)?;
        Ok(config)
    }

    #[test]
    fn providers_and_prices_are_read_with_their_defaults() {
        let config = check(
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
        assert_eq!(config.providers["local"].kind, None);
        let price = |name: &str| ModelPrice::from(config.prices[name]);
        assert_eq!(
            price("openai/x"),
            ModelPrice::PerMillion { input: 1.0, cached_input: 0.1, cache_write: 1.0, output: 4.0 }
        );
        assert_eq!(
            price("openai/y"),
            ModelPrice::PerMillion { input: 2.0, cached_input: 2.0, cache_write: 2.0, output: 8.0 }
        );
    }

    #[test]
    fn commands_and_humans_are_read_with_their_defaults() {
        let config = check(
            "[commands.agent]\ncommand = [\"agent\", \"-p\"]\ntimeout_s = 1.5\nenv = [\"AGENT_KEY\"]\n\
             [commands.script]\nprogram = [\"./x\"]\nfree = true\n[humans.anna]\n[humans.bob]\ntimeout_s = 60",
        )
        .unwrap();
        let agent = &config.commands["agent"];
        assert_eq!((agent.program.len(), agent.timeout()), (2, Some(Duration::from_millis(1_500))));
        assert_eq!((config.commands["script"].timeout(), config.commands["script"].free), (None, true));
        assert_eq!(config.humans["anna"].timeout(), Duration::from_secs(900));
        assert_eq!(config.humans["bob"].timeout(), Duration::from_secs(60));
    }

    #[test]
    fn embeddings_can_be_named_with_or_without_the_prefix() {
        let named =
            |model: &str| check(&format!("[embeddings]\nmodel = {model:?}")).unwrap().embeddings.named();
        for model in ["minilm", "lexical", "openai/text-embedding-3-small", "openrouter/a/b"] {
            let whole = format!("embeddings/{model}");
            assert_eq!((named(model), named(&whole)), (Some(whole.clone()), Some(whole)));
        }
        assert_eq!(ModelsConfig::default().embeddings.named(), None);
    }

    #[test]
    fn every_wrong_value_is_rejected_with_its_place() {
        for (toml, named) in [
            ("[provider.x]", "provider"),
            ("[providers.x]", "base_url"),
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
            ("[providers.command]\nbase_url = \"http://a/v1\"", "another name"),
            ("[providers.human]\nbase_url = \"http://a/v1\"", "another name"),
            ("[providers.\"a/b\"]\nbase_url = \"http://a/v1\"", "letters"),
            ("[prices]\nx = { input = 1, output = 1 }", "provider/model"),
            ("[prices]\n\"a/b\" = { input = -1, output = 1 }", "a/b"),
            ("[prices]\n\"a/b\" = { input = nan, output = 1 }", "a/b"),
            ("[prices]\n\"a/b\" = { input = 1 }", "output"),
            ("[prices]\n\"a/b\" = { input = 1, output = 1, reasoning = 2 }", "reasoning"),
            ("[prices]\n\"command/x\" = { input = 1, output = 1 }", "`free = true` under [commands.x]"),
            ("[prices]\n\"human/x\" = { input = 1, output = 1 }", "a person costs nothing"),
            ("[commands.x]", "command"),
            ("[commands.x]\ncommand = \"agent -p\"", "command"),
            ("[commands.x]\ncommand = []", "[commands.x]: command is the program"),
            ("[commands.x]\ncommand = [\" \"]", "command is the program"),
            ("[commands.x]\ncommand = [\"a\\u0000\"]", "null character"),
            ("[commands.\"a/b\"]\ncommand = [\"a\"]", "letters"),
            ("[commands.x]\ncommand = [\"a\"]\ntimeout_s = 0", "timeout_s"),
            ("[commands.x]\ncommand = [\"a\"]\ntimeout_s = nan", "timeout_s"),
            ("[commands.x]\ncommand = [\"a\"]\ntimeout_s = 1e300", "timeout_s"),
            ("[commands.x]\ncommand = [\"a\"]\noutput_bytes_max = 0", "output_bytes_max"),
            ("[commands.x]\ncommand = [\"a\"]\nenv = [\"A=b\"]", "env"),
            ("[commands.x]\ncommand = [\"a\"]\nshell = true", "shell"),
            ("[humans.x]\ntimeout_s = 0", "[humans.x]: timeout_s"),
            ("[humans.x]\ntimeout_s = -1", "[humans.x]: timeout_s"),
            ("[humans.\"a|b\"]", "letters"),
            (
                &format!("[humans.{}]", "a".repeat(5_000)),
                &format!("[humans.{}]: the name is too long", "a".repeat(64)),
            ),
            ("[agents.\"\"]\nmodel = \"a/b\"", "[agents.]: "),
            ("[agents.\"a b\"]\nmodel = \"a/b\"", "[agents.a b]: "),
            ("[agents.x]\nmodel = \"b\"", "[agents.x]: "),
            ("[agents.x]\nmodel = \"a/b|c/d\"", "[agents.x]: "),
            ("[agents.x]\nmodel = \"agent/y\"", "[agents.x]: "),
            ("[agents.x]\nmodel = \"embeddings/minilm\"", "[agents.x]: "),
            ("[embedded]\nthreads = 0", "[embedded] threads must be from 1"),
            ("[embeddings]\nmodel = \"word2vec\"", "[embeddings] model is \"word2vec\": write \"minilm\""),
            ("[embeddings]\nmodel = \"openai/\"", "[embeddings] model"),
            ("[embeddings]\nmodel = \"\"", "[embeddings] model"),
            ("[embeddings]\nname = \"minilm\"", "name"),
        ] {
            let why = check(toml).unwrap_err();
            assert!(why.contains(named), "{toml}: {why}");
            assert!(!why.contains("sk-123") && !why.contains("pw@"), "{why}");
        }
    }
}
