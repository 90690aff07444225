//! `agon.toml`: what a person sets once. The command line beats it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use agon_context::PulseConfig;
use agon_core::Invalid;
use agon_core::options::resolve;
use agon_engine::Settings;
use agon_publish::deliveries::{Destination, DestinationConfig, HookConfig};
use serde::Deserialize;
use toml::Spanned;

use super::args::TIMEOUT_KEY;
use super::failure::Failure;
use super::found;
use super::limits::{Wanted, seconds};
use super::place::{self, Env};

const FILE_BYTES_MAX: u64 = 1 << 20;
const CALLS_MAX: usize = 100_000;

/// The configuration, checked.
#[derive(Debug, Default)]
pub struct Config {
    /// The file that it came from, if there is one.
    pub file: Option<PathBuf>,
    /// Whether nobody named that file: it only lies here.
    pub found: bool,
    /// Who sits when `--models` does not say.
    pub models: Vec<String>,
    /// Models for single roles.
    pub roles: BTreeMap<String, String>,
    /// The limits.
    pub limits: Wanted,
    /// How many calls run at once.
    pub settings: Settings,
    /// For each protocol its options' values, as `--set` would have them.
    pub options: BTreeMap<String, Vec<(String, String)>>,
    /// Own providers and prices.
    pub providers: agon_models::Config,
    /// Sources of what is going on.
    pub pulse: BTreeMap<String, PulseConfig>,
    /// Where results can go.
    pub destinations: BTreeMap<String, DestinationConfig>,
    /// What happens after every debate.
    pub hooks: Vec<HookConfig>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    models: Vec<String>,
    moderator: Option<String>,
    chair: Option<String>,
    judge: Option<String>,
    limits: Wanted,
    engine: EngineSection,
    protocols: BTreeMap<Spanned<String>, Values>,
    /// The same under the protocol's own name.
    deep: Values,
    panel: Values,
    council: Values,
    arena: Values,
    review: Values,
    providers: BTreeMap<String, agon_models::ProviderConfig>,
    prices: BTreeMap<String, agon_models::PriceConfig>,
    commands: BTreeMap<String, agon_models::CommandConfig>,
    humans: BTreeMap<String, agon_models::HumanConfig>,
    agents: BTreeMap<String, agon_models::AgentConfig>,
    pulse: BTreeMap<String, PulseConfig>,
    destinations: BTreeMap<String, DestinationConfig>,
    hooks: Vec<HookConfig>,
    embedded: agon_models::EmbeddedConfig,
    embeddings: agon_models::EmbeddingsConfig,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct EngineSection {
    concurrent_calls: Option<Spanned<usize>>,
    provider_calls: Option<Spanned<usize>>,
    warm_up: bool,
    providers: BTreeMap<String, Spanned<usize>>,
}

/// Reads the file that is named, else the first that exists of those that are looked for; none is no error. One that
/// only happens to lie in the folder is not trusted with the person's keys.
pub fn load(named: Option<&Path>, env: Env) -> Result<Config, Failure> {
    match named {
        Some(file) => read(file),
        None => match place::configs(env).into_iter().find(|file| file.is_file()) {
            Some(file) => {
                let mut config = read(&file)?;
                if !place::is_own(&file, env) {
                    config.found = true;
                    config.providers.check_found().map_err(|why| Failure::file(&file, why))?;
                    agon_context::check_found_sources(&config.pulse)
                        .map_err(|why| Failure::file(&file, why))?;
                    agon_publish::deliveries::check_found(&config.destinations, &config.hooks)
                        .map_err(|why| Failure::file(&file, why))?;
                    found::check_paths(&config).map_err(|why| Failure::file(&file, why))?;
                    found::check_options(&config).map_err(|why| Failure::file(&file, why))?;
                }
                Ok(config)
            }
            None => Ok(Config::default()),
        },
    }
}

impl Config {
    /// The model that speaks when this one is named: an agent's own, or itself.
    pub fn behind<'a>(&'a self, name: &'a str) -> &'a str {
        let agent = name.strip_prefix("agent/").and_then(|agent| self.providers.agents.get(agent));
        agent.map_or(name, |agent| agent.model.as_str())
    }

    /// Refuses a destination by a name that nobody has configured.
    pub fn check_destination(&self, to: &Destination) -> Result<(), Invalid> {
        let (Destination::Named(name) | Destination::Command(name)) = to else { return Ok(()) };
        if self.destinations.contains_key(name) {
            return Ok(());
        }
        let known: Vec<&str> = self.destinations.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(Invalid(format!(
            "there is no destination {name:?} (there is {known}): add [destinations.{name}] to agon.toml, or write file:PATH, \
             https://..., slack:URL or discord:URL"
        )))
    }

    /// Refuses judges whose words come with a configuration that nobody named: a change would bring its own verdict along.
    pub fn check_judges<'a>(&self, said: impl IntoIterator<Item = &'a str>) -> Result<(), String> {
        let links = |name: &'a str| name.split('|').map(str::trim);
        let own = self.models.iter().flat_map(|name| name.split('|')).map(str::trim);
        let said: Vec<&str> = said.into_iter().flat_map(links).collect();
        // Who is an agent is the configuration's word, whoever names it; a script that the person names is theirs.
        let brings =
            |link: &str| link.starts_with("agent/") || (said.is_empty() && link.starts_with("script/"));
        let mut seated: Box<dyn Iterator<Item = &str>> =
            if said.is_empty() { Box::new(own) } else { Box::new(said.iter().copied()) };
        match seated.find(|link| self.found && brings(link)) {
            Some(judge) => Err(format!(
                "the agon.toml that was found here says what {judge} says: name another with --models, or name the \
                 configuration with --config"
            )),
            None => Ok(()),
        }
    }
}

fn read(file: &Path) -> Result<Config, Failure> {
    let text = super::input::file(file, FILE_BYTES_MAX)?;
    let mut config = parse(&text).map_err(|wrong| wrong.in_file(file, &text))?;
    config.file = Some(file.to_owned());
    Ok(config)
}

/// Something wrong in the file, and where.
#[derive(Debug)]
struct Wrong {
    span: Option<Range<usize>>,
    why: String,
}

impl Wrong {
    fn at(span: Range<usize>, why: impl Into<String>) -> Self {
        Self { span: Some(span), why: why.into() }
    }

    fn in_file(self, file: &Path, text: &str) -> Failure {
        let before = self.span.and_then(|span| text.get(..span.start));
        let Some(before) = before else { return Failure::file(file, self.why) };
        let number = before.matches('\n').count() + 1;
        let line = text.lines().nth(number - 1).unwrap_or_default();
        // Only what stands before the `=`: the value may be a secret in the wrong place.
        let key = line.split('=').next().unwrap_or_default().trim();
        let key = if key.is_empty() { String::new() } else { format!(" ({key})") };
        Failure::file(file, format!("line {number}{key}: {}", self.why))
    }
}

fn parse(text: &str) -> Result<Config, Wrong> {
    let file: File = toml::from_str(text)
        .map_err(|error| Wrong { span: error.span(), why: hide_text(error.message()) })?;
    let providers = agon_models::Config {
        providers: file.providers,
        prices: file.prices,
        commands: file.commands,
        humans: file.humans,
        agents: file.agents,
        embedded: file.embedded,
        embeddings: file.embeddings,
        ..Default::default()
    };
    // The sentence says under which heading to look.
    let wrong = |why: Invalid| Wrong { span: None, why: why.0 };
    providers.check().map_err(wrong)?;
    file.pulse.iter().try_for_each(|(name, source)| source.check(name)).map_err(wrong)?;
    agon_publish::deliveries::check_config(&file.destinations, &file.hooks).map_err(wrong)?;
    let mut options: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let own = [
        ("deep", file.deep),
        ("panel", file.panel),
        ("council", file.council),
        ("arena", file.arena),
        ("review", file.review),
    ];
    let own = own.into_iter().filter(|(_, values)| !values.is_empty());
    let own = own.map(|(name, values)| (Spanned::new(0..0, name.to_owned()), values));
    for section in file.protocols.into_iter().chain(own) {
        let (name, pairs) = protocol(section)?;
        options.entry(name).or_default().extend(pairs);
    }
    let roles = [("moderator", file.moderator), ("chair", file.chair), ("judge", file.judge)];
    Ok(Config {
        file: None,
        found: false,
        models: file.models,
        roles: roles.into_iter().filter_map(|(role, model)| Some((role.to_owned(), model?))).collect(),
        limits: file.limits,
        settings: file.engine.settings()?,
        options,
        providers,
        pulse: file.pulse,
        destinations: file.destinations,
        hooks: file.hooks,
    })
}

/// A parser's words without the text that it quotes: a key may stand where a table should.
fn hide_text(message: &str) -> String {
    let Some((kind, rest)) = message.split_once("string \"") else { return message.to_owned() };
    match rest.rsplit_once("\", expected") {
        Some((_, expected)) => format!("{kind}text, expected{expected}"),
        None => message.to_owned(),
    }
}

impl EngineSection {
    fn settings(self) -> Result<Settings, Wrong> {
        let calls = |n: Spanned<usize>| match *n.get_ref() {
            1..=CALLS_MAX => Ok(*n.get_ref()),
            _ => Err(Wrong::at(n.span(), format!("it must be from 1 to {CALLS_MAX}"))),
        };
        let mut settings = Settings { warm_up: self.warm_up, ..Settings::default() };
        if let Some(n) = self.concurrent_calls {
            settings.concurrent_calls = calls(n)?;
        }
        if let Some(n) = self.provider_calls {
            settings.provider_calls = calls(n)?;
        }
        for (name, n) in self.providers {
            settings.provider_limits.insert(name, calls(n)?);
        }
        Ok(settings)
    }
}

type Values = BTreeMap<String, Spanned<toml::Value>>;
type Section = (Spanned<String>, Values);

fn protocol((name, values): Section) -> Result<(String, Vec<(String, String)>), Wrong> {
    let Some(protocol) = agon_protocols::find(name.get_ref()) else {
        let known: Vec<&str> = agon_protocols::all().map(|protocol| protocol.name()).collect();
        let why = format!("there is no protocol {:?}; there are: {}", name.get_ref(), known.join(", "));
        return Err(Wrong::at(name.span(), why));
    };
    let mut pairs = Vec::new();
    for (key, value) in values {
        let span = value.span();
        let mut found = Vec::new();
        flatten(key, value.into_inner(), &mut found).map_err(|why| Wrong::at(span.clone(), why))?;
        for (key, raw) in found {
            let checked = match key.as_str() {
                TIMEOUT_KEY => seconds(&raw).map(drop).map_err(|why| format!("{key}: {why}")),
                _ => resolve(protocol.options(), [(key.clone(), raw.clone())]).map(drop).map_err(|why| why.0),
            };
            checked.map_err(|why| Wrong::at(span.clone(), why))?;
            pairs.push((key, raw));
        }
    }
    Ok((name.into_inner(), pairs))
}

/// `weights.accuracy = 30` and `"weights.accuracy" = 30` are the same option.
fn flatten(key: String, value: toml::Value, pairs: &mut Vec<(String, String)>) -> Result<(), String> {
    match value {
        toml::Value::Table(inner) => {
            for (name, value) in inner {
                flatten(format!("{key}.{name}"), value, pairs)?;
            }
        }
        toml::Value::String(text) => pairs.push((key, text)),
        toml::Value::Integer(n) => pairs.push((key, n.to_string())),
        toml::Value::Float(n) => pairs.push((key, n.to_string())),
        toml::Value::Boolean(flag) => pairs.push((key, flag.to_string())),
        // Models and perspectives are lists; on the command line they have commas.
        toml::Value::Array(items) if items.iter().all(|item| item.is_str()) && !items.is_empty() => {
            let words: Vec<&str> = items.iter().filter_map(toml::Value::as_str).collect();
            pairs.push((key, words.join(",")));
        }
        toml::Value::Array(_) | toml::Value::Datetime(_) => {
            return Err(format!("{key} must be a number, a text, true or false"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(text: &str) -> String {
        parse(text).unwrap_err().in_file(Path::new("agon.toml"), text).to_string()
    }

    #[test]
    fn every_section_is_read() {
        let config = parse(
            r#"
            models = ["openai/a", "ollama/b"]
            chair = "openai/c"
            [limits]
            timeout_s = 1.5
            max_calls = 40
            [engine]
            concurrent_calls = 8
            warm_up = true
            [engine.providers]
            ollama = 1
            [commands.agent]
            command = ["agent", "-p"]
            [humans.anna]
            timeout_s = 60
            [embedded]
            threads = 2
            [embeddings]
            model = "openai/text-embedding-3-small"
            [protocols.deep]
            max_rounds = 4
            execution.timeout.per_llm_call = 9
            "#,
        )
        .unwrap();
        assert_eq!(config.models, ["openai/a", "ollama/b"]);
        assert_eq!(config.roles["chair"], "openai/c");
        assert_eq!((config.limits.timeout_ms, config.limits.max_calls), (Some(1_500), Some(40)));
        assert_eq!((config.settings.concurrent_calls, config.settings.provider_limits["ollama"]), (8, 1));
        assert!(config.settings.warm_up && !parse("").unwrap().settings.warm_up, "off unless asked for");
        assert_eq!(config.providers.commands["agent"].program, ["agent", "-p"]);
        assert_eq!(config.providers.humans["anna"].timeout_s, Some(60.0));
        assert_eq!(config.providers.embedded.threads, Some(2));
        let embeddings = config.providers.embeddings.named();
        assert_eq!(embeddings.as_deref(), Some("embeddings/openai/text-embedding-3-small"));
        let deep = &config.options["deep"];
        assert!(deep.contains(&("max_rounds".into(), "4".into())), "{deep:?}");
        assert!(deep.contains(&(TIMEOUT_KEY.into(), "9".into())), "{deep:?}");
    }

    #[test]
    fn an_error_names_the_file_the_line_and_the_key() {
        for (text, wants) in [
            ("\nmodles = []", &["agon.toml: line 2 (modles)", "unknown field"][..]),
            ("[limits]\ntimeout_s = 0", &["line 2 (timeout_s)", "number of seconds"]),
            ("[limits]\ntimeout_s = \"sk-secret\"", &["line 2 (timeout_s)", "invalid type: text"]),
            ("[limits]\nmax_calls = -1", &["line 2 (max_calls)"]),
            ("[limits]\nbudget = 3", &["line 2 (budget)", "unknown field"]),
            ("[engine]\nprovider_calls = 0", &["line 2 (provider_calls)", "from 1 to"]),
            ("[protocols.deep]\nmax_rounds = 0", &["line 2 (max_rounds)", "must be"]),
            ("[protocols.deep]\nrounds = 2", &["line 2 (rounds)", "there is no option"]),
            ("[protocols.deep]\nmax_rounds = [2]", &["line 2 (max_rounds)", "must be a number"]),
            ("[protocols.dip]\nmax_rounds = 2", &["line 1", "there is no protocol \"dip\""]),
            ("[commands.x]\ncommand = \"agent -p\"", &["line 2 (command)"]),
            ("[commands.x]\ncommand = []", &["[commands.x]: command is the program"]),
            ("[humans.x]\ntimeout_s = 0", &["[humans.x]: timeout_s"]),
            ("[prices]\n\"command/x\" = { input = 1, output = 1 }", &["`free = true` under [commands.x]"]),
            ("[embeddings]\nmodel = \"bert\"", &["agon.toml: [embeddings] model is \"bert\"", "minilm"]),
            ("[embeddings]\nmodels = 1", &["line 2 (models)", "unknown field"]),
            ("models = [", &["agon.toml: line 1"]),
        ] {
            let sentence = sentence(text);
            assert!(wants.iter().all(|want| sentence.contains(want)), "{text:?} gave {sentence:?}");
            assert!(!sentence.contains("sk-secret"), "{sentence}");
        }
    }
}
