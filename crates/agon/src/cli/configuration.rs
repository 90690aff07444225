//! `agon.toml`: what a user sets once. The command line outranks it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use agon_context::{PulseConfig, ToolsConfig};
use agon_core::Invalid;
use agon_core::options::resolve;
use agon_engine::EngineSettings;
use agon_host::clean_line;
use agon_publish::deliveries::{Destination, DestinationConfig, HookConfig};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, ValueDeserializer};

use super::arguments::TIMEOUT_KEY;
use super::errors::CliError;
use super::found_configuration::FoundConfiguration;
use super::limits::{LimitOverrides, parse_seconds};
use super::paths::{self, CONFIGURATION_FILE, Environment};
use super::telemetry::TelemetryConfig;
use super::{arguments, input};
use crate::mcp::settings::McpSettings;
use crate::serve::settings::ServeSettings;
use crate::worker::settings::WorkerSettings;

const FILE_BYTES_MAX: u64 = 1 << 20;
const CALLS_MAX: usize = 100_000;

/// The configuration, checked.
#[derive(Debug, Default)]
pub struct Configuration {
    /// The file that it came from, if there is one: the one that the user names, or the user's own.
    pub file: Option<PathBuf>,
    /// What an `agon.toml` in the working directory adds to it.
    pub found: Option<FoundConfiguration>,
    /// The models of the seats if `--models` names none.
    pub models: Vec<String>,
    /// Models for single roles.
    pub roles: BTreeMap<String, String>,
    pub limits: LimitOverrides,
    /// How many calls run at once.
    pub engine: EngineSettings,
    /// The values of each protocol's options, as `--set` takes them.
    pub options: BTreeMap<String, OptionPairs>,
    /// Providers, prices, commands, people, agents and embeddings.
    pub models_config: agon_models::ModelsConfig,
    /// Sources of current topics.
    pub pulse: BTreeMap<String, PulseConfig>,
    /// What seats may have looked up.
    pub tools: ToolsConfig,
    /// Where results can go.
    pub destinations: BTreeMap<String, DestinationConfig>,
    /// What happens after every debate.
    pub hooks: Vec<HookConfig>,
    /// What a server allows.
    pub serve: ServeSettings,
    /// What the tools of coding agents allow.
    pub mcp: McpSettings,
    /// What a worker does at once.
    pub worker: WorkerSettings,
    /// What spans carry.
    pub telemetry: TelemetryConfig,
}

/// Options as `--set` takes them.
pub type OptionPairs = Vec<(String, String)>;

/// The file as it is written, apart from the sections that are named after protocols and the models of roles. The
/// reference in the book is made from these types: each comment says what a user should know.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConfigurationFile {
    /// The models of the seats if `--models` names none: one per seat, repeated as needed. `A|B` uses B if A cannot be
    /// reached. Without them, and without `--models`, the models of a local Ollama are used, else the one inside the program.
    models: Vec<String>,
    /// Limits on every debate. An option of the command line overrides its setting.
    limits: LimitOverrides,
    /// A server of your own, whose models you then name `NAME/MODEL`. The name of a well-known provider replaces that
    /// provider.
    providers: BTreeMap<String, agon_models::ProviderConfig>,
    /// What a model costs, in US dollars per million tokens: `"provider/model" = { input = 1.0, output = 4.0 }`. It overrides
    /// the built-in price.
    prices: BTreeMap<String, agon_models::PriceConfig>,
    /// A program that takes a seat as `command/NAME`: it reads a prompt on its standard input and answers on its standard
    /// output.
    commands: BTreeMap<String, agon_models::CommandConfig>,
    /// A person who takes a seat as `human/NAME`. Any name works; a section is needed only for settings.
    humans: BTreeMap<String, agon_models::HumanConfig>,
    /// A model with a name and a charter of its own, which takes a seat as `agent/NAME`. Arenas rate it by that name.
    agents: BTreeMap<String, agon_models::AgentConfig>,
    /// Models that run inside the program: `embedded/smollm2`, `embedded/PATH.gguf`.
    embedded: agon_models::EmbeddedSettings,
    /// How the similarity of texts is measured where a debate needs it.
    embeddings: agon_models::EmbeddingsConfig,
    /// Options of one protocol. `[NAME]` means the same. `execution.timeout.per_llm_call` sets the seconds that a call of
    /// this protocol may take.
    #[schemars(with = "BTreeMap<String, BTreeMap<String, String>>")]
    protocols: BTreeMap<Spanned<String>, OptionSection>,
    /// How many calls run at once.
    engine: EngineSection,
    /// What seats may have looked up with `--tools NAME`. `files` and `fetch` are built in; any other name is an MCP server.
    tools: ToolsConfig,
    /// A source of current topics for protocols that collect context: a feed, a JSON document or a file.
    pulse: BTreeMap<String, PulseConfig>,
    /// Where results can go: `--to NAME`.
    destinations: BTreeMap<String, DestinationConfig>,
    /// What happens after every debate. Set one of `command`, `webhook` and `export`.
    hooks: Vec<HookConfig>,
    /// What `agon serve` allows, and how it goes on after a restart.
    serve: ServeSettings,
    /// What a coding agent may do through `agon mcp`, and what becomes of its debates when it hangs up.
    mcp: McpSettings,
    /// What `agon worker` does at once.
    worker: WorkerSettings,
    /// What traces contain. The standard variables switch them on, first of all `OTEL_EXPORTER_OTLP_ENDPOINT`.
    telemetry: TelemetryConfig,
}

type OptionSection = BTreeMap<String, Spanned<toml::Value>>;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct EngineSection {
    /// How many calls run at once, over all providers.
    #[schemars(with = "Option<usize>")]
    concurrent_calls: Option<Spanned<usize>>,
    /// How many calls run at once for each provider.
    #[schemars(with = "Option<usize>")]
    provider_calls: Option<Spanned<usize>>,
    /// Whether the first call of a phase starts before the others, so that they can use the provider's cache.
    warm_up: bool,
    /// How many calls run at once for single providers: `ollama = 1`.
    #[schemars(with = "BTreeMap<String, usize>")]
    providers: BTreeMap<String, Spanned<usize>>,
}

impl Configuration {
    /// Reads the named file, else the user's own, if there is one. In the second case an `agon.toml` in the working directory may
    /// add a few things.
    pub fn load(source: ConfigurationSource<'_>, env: Environment) -> Result<Self, CliError> {
        match source {
            ConfigurationSource::Named(file) => read_file(file),
            ConfigurationSource::Nothing => Ok(Self::default()),
            ConfigurationSource::Usual => {
                let own = paths::own_configuration(env).filter(|file| file.is_file());
                let mut configuration = own.as_deref().map(read_file).transpose()?.unwrap_or_default();
                let file = Path::new(CONFIGURATION_FILE);
                if file.is_file() && !paths::is_own_configuration(file, env) {
                    configuration.found = Some(read_found_file(file)?);
                }
                Ok(configuration)
            }
        }
    }

    /// The model that answers when `name` is asked: the agent's model for an agent, else `name` itself.
    pub fn answering_model<'a>(&'a self, name: &'a str) -> &'a str {
        let agent = name.strip_prefix("agent/").and_then(|agent| self.models_config.agents.get(agent));
        agent.map_or(name, |agent| agent.model.as_str())
    }

    /// Refuses a destination that is not configured.
    pub fn check_destination(&self, destination: &Destination) -> Result<(), Invalid> {
        let (Destination::Named(name) | Destination::Command(name)) = destination else { return Ok(()) };
        if self.destinations.contains_key(name) {
            return Ok(());
        }
        Err(Invalid(format!(
            "there is no destination {name:?} (there is {}): add [destinations.{name}] to agon.toml, or write file:PATH, \
             https://..., slack:URL or discord:URL",
            names_or_none(self.destinations.keys())
        )))
    }
}

/// Names with commas between them, or `none`.
pub fn names_or_none<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Where the configuration comes from.
#[derive(Debug, Clone, Copy)]
pub enum ConfigurationSource<'a> {
    /// The file of `--config`.
    Named(&'a Path),
    /// The user's own file, and an `agon.toml` in the working directory.
    Usual,
    /// `--no-config`: the defaults.
    Nothing,
}

fn read_found_file(file: &Path) -> Result<FoundConfiguration, CliError> {
    let text = input::read_text(file, FILE_BYTES_MAX)?;
    parse_found(file, &text).map_err(|mut mistake| {
        mistake.sentence.push_str("; this file was found here, and --no-config ignores it");
        mistake.in_file(file, &text)
    })
}

pub(super) fn parse_found(file: &Path, text: &str) -> Result<FoundConfiguration, ConfigurationMistake> {
    let mut table = DeTable::parse(text)?;
    let mut sections = protocol_sections(table.get_mut())?;
    if let Some((_, protocols)) = table.get_mut().remove_entry("protocols") {
        sections.extend(deserialize_value::<BTreeMap<Spanned<String>, OptionSection>>(protocols)?);
    }
    let key = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let name: &str = AsRef::<str>::as_ref(name.get_ref());
        let name = clean_line(name);
        match value.get_ref() {
            DeValue::Table(_) => format!("[{name}]"),
            _ => name,
        }
    };
    let other_keys = table.get_ref().iter().map(key).collect();
    Ok(FoundConfiguration::new(file, options_of(sections)?, other_keys))
}

fn options_of(
    sections: impl IntoIterator<Item = (Spanned<String>, OptionSection)>,
) -> Result<BTreeMap<String, OptionPairs>, ConfigurationMistake> {
    let mut options: BTreeMap<String, OptionPairs> = BTreeMap::new();
    for (name, section) in sections {
        let pairs = option_pairs(&name, section)?;
        options.entry(name.into_inner()).or_default().extend(pairs);
    }
    Ok(options)
}

fn read_file(file: &Path) -> Result<Configuration, CliError> {
    let text = input::read_text(file, FILE_BYTES_MAX)?;
    let mut configuration = parse(&text).map_err(|mistake| mistake.in_file(file, &text))?;
    configuration.file = Some(file.to_owned());
    Ok(configuration)
}

/// Something wrong in the file, and where.
#[derive(Debug)]
pub(super) struct ConfigurationMistake {
    span: Option<Range<usize>>,
    sentence: String,
}

impl ConfigurationMistake {
    fn at(span: Range<usize>, sentence: impl Into<String>) -> Self {
        Self { span: Some(span), sentence: sentence.into() }
    }

    fn in_file(self, file: &Path, text: &str) -> CliError {
        let before = self.span.and_then(|span| text.get(..span.start));
        let Some(before) = before else { return CliError::file(file, self.sentence) };
        let number = before.matches('\n').count() + 1;
        let line = text.lines().nth(number - 1).unwrap_or_default();
        // Only what is before the `=`: the value may be a secret in the wrong place.
        // A line without one may be of any file, if the configuration is a link.
        let key = line.split_once('=').map_or("", |(key, _)| key.trim());
        let key = if key.is_empty() { String::new() } else { format!(" ({key})") };
        CliError::file(file, format!("line {number}{key}: {}", self.sentence))
    }
}

impl From<toml::de::Error> for ConfigurationMistake {
    fn from(error: toml::de::Error) -> Self {
        Self { span: error.span(), sentence: with_plain_types(&without_quoted_text(error.message())) }
    }
}

impl From<Invalid> for ConfigurationMistake {
    /// The sentence names the section itself.
    fn from(invalid: Invalid) -> Self {
        Self { span: None, sentence: invalid.0 }
    }
}

fn parse(text: &str) -> Result<Configuration, ConfigurationMistake> {
    let mut table = DeTable::parse(text)?;
    let mut sections = protocol_sections(table.get_mut())?;
    let roles = role_models(table.get_mut())?;
    let file = ConfigurationFile::deserialize(Deserializer::from(table))?;
    sections.extend(file.protocols);
    let models_config = agon_models::ModelsConfig {
        providers: file.providers,
        prices: file.prices,
        commands: file.commands,
        humans: file.humans,
        agents: file.agents,
        embedded: file.embedded,
        embeddings: file.embeddings,
        ..Default::default()
    };
    models_config.check()?;
    file.pulse.iter().try_for_each(|(name, source)| source.check(name))?;
    file.tools.iter().try_for_each(|(name, tool)| tool.check(name))?;
    agon_publish::deliveries::check_config(&file.destinations, &file.hooks)?;
    let options = options_of(sections)?;
    Ok(Configuration {
        file: None,
        found: None,
        models: file.models,
        roles,
        limits: file.limits,
        engine: file.engine.settings()?,
        options,
        models_config,
        pulse: file.pulse,
        tools: file.tools,
        destinations: file.destinations,
        hooks: file.hooks,
        serve: file.serve,
        mcp: file.mcp,
        worker: file.worker,
        telemetry: file.telemetry,
    })
}

/// Takes the sections that are named after a protocol out of the file: `[NAME]` means the same as `[protocols.NAME]`.
fn protocol_sections(
    table: &mut DeTable<'_>,
) -> Result<Vec<(Spanned<String>, OptionSection)>, ConfigurationMistake> {
    let mut sections = Vec::new();
    for name in agon_protocols::all().map(|protocol| protocol.info().name) {
        if let Some((key, section)) = table.remove_entry(name) {
            sections.push((Spanned::new(key.span(), name.to_owned()), deserialize_value(section)?));
        }
    }
    Ok(sections)
}

/// Takes the models of single roles out of the file: `moderator = "provider/model"`.
fn role_models(table: &mut DeTable<'_>) -> Result<BTreeMap<String, String>, ConfigurationMistake> {
    let mut roles = BTreeMap::new();
    for role in arguments::all_roles() {
        if let Some((_, model)) = table.remove_entry(*role) {
            roles.insert((*role).to_owned(), deserialize_value(model)?);
        }
    }
    Ok(roles)
}

fn deserialize_value<T: DeserializeOwned>(value: Spanned<DeValue<'_>>) -> Result<T, ConfigurationMistake> {
    Ok(T::deserialize(ValueDeserializer::from(value))?)
}

/// A parser's message without the text that it quotes, which may be a key in the wrong place.
fn without_quoted_text(message: &str) -> String {
    let Some((kind, rest)) = message.split_once("string \"") else { return message.to_owned() };
    match rest.rsplit_once("\", expected") {
        Some((_, expected)) => format!("{kind}text, expected{expected}"),
        None => message.to_owned(),
    }
}

/// A parser's message in which the type that is expected has the name that users know.
fn with_plain_types(message: &str) -> String {
    let Some((kind, expected)) = message.rsplit_once("expected ") else { return message.to_owned() };
    let plain = match expected {
        "f64" => "a number",
        "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "a string" | "path string" => "a text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list in brackets",
        "a map" => "a section",
        _ if expected.starts_with("struct ") => "a section",
        _ => expected,
    };
    format!("{kind}expected {plain}")
}

impl EngineSection {
    fn settings(self) -> Result<EngineSettings, ConfigurationMistake> {
        let calls = |n: Spanned<usize>| match *n.get_ref() {
            1..=CALLS_MAX => Ok(*n.get_ref()),
            _ => Err(ConfigurationMistake::at(n.span(), format!("it must be from 1 to {CALLS_MAX}"))),
        };
        let mut settings = EngineSettings { warm_up: self.warm_up, ..EngineSettings::default() };
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

/// The options of one protocol's section, each checked against the protocol's table.
fn option_pairs(name: &Spanned<String>, section: OptionSection) -> Result<OptionPairs, ConfigurationMistake> {
    let Some(protocol) = agon_protocols::find(name.get_ref()) else {
        let known: Vec<&str> = agon_protocols::all().map(|protocol| protocol.info().name).collect();
        let sentence = format!("there is no protocol {:?}; there are: {}", name.get_ref(), known.join(", "));
        return Err(ConfigurationMistake::at(name.span(), sentence));
    };
    let table = protocol.info().options;
    let mut pairs = Vec::new();
    for (key, value) in section {
        let span = value.span();
        let mut flat = Vec::new();
        flatten(key, value.into_inner(), &mut flat)
            .map_err(|why| ConfigurationMistake::at(span.clone(), why))?;
        for (key, raw) in flat {
            let checked = match key.as_str() {
                TIMEOUT_KEY => parse_seconds(&raw).map(drop).map_err(|why| format!("{key}: {why}")),
                _ => resolve(table, [(key.clone(), raw.clone())]).map(drop).map_err(|why| why.0),
            };
            checked.map_err(|why| ConfigurationMistake::at(span.clone(), why))?;
            pairs.push((key, raw));
        }
    }
    Ok(pairs)
}

/// Options of nested tables get dotted keys: `weights.accuracy = 30` and `"weights.accuracy" = 30` are the same.
fn flatten(key: String, value: toml::Value, pairs: &mut OptionPairs) -> Result<(), String> {
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
        // On the command line, lists are written with commas.
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

    fn error_of(text: &str) -> String {
        parse(text).unwrap_err().in_file(Path::new("agon.toml"), text).to_string()
    }

    #[test]
    fn every_section_is_read() {
        let configuration = parse(
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
        assert_eq!(configuration.models, ["openai/a", "ollama/b"]);
        assert_eq!(configuration.roles["chair"], "openai/c");
        let limits = &configuration.limits;
        assert_eq!((limits.timeout_ms, limits.max_calls), (Some(1_500), Some(40)));
        let engine = &configuration.engine;
        assert_eq!((engine.concurrent_calls, engine.provider_limits["ollama"]), (8, 1));
        assert!(engine.warm_up && !parse("").unwrap().engine.warm_up, "off by default");
        let models = &configuration.models_config;
        assert_eq!(models.commands["agent"].program, ["agent", "-p"]);
        assert_eq!(models.humans["anna"].timeout_s, Some(60.0));
        assert_eq!(models.embedded.threads, Some(2));
        assert_eq!(models.embeddings.named().as_deref(), Some("embeddings/openai/text-embedding-3-small"));
        let deep = &configuration.options["deep"];
        assert!(deep.contains(&("max_rounds".into(), "4".into())), "{deep:?}");
        assert!(deep.contains(&(TIMEOUT_KEY.into(), "9".into())), "{deep:?}");
    }

    /// "A property test walks every key of the configuration": of a found file, nothing but numbers, choices and flags of protocols
    /// is kept, so nothing can name a model, an address, a program, a file or a limit.
    #[test]
    fn every_key_of_a_found_file_is_ignored_unless_it_is_allowed() {
        let text = crate::cli::verbs::every_setting();
        assert!(parse(&text).is_ok(), "{text}");
        let found = parse_found(Path::new("agon.toml"), &text).unwrap();
        for section in [
            "[limits]",
            "[engine]",
            "[providers]",
            "[prices]",
            "[commands]",
            "[humans]",
            "[agents]",
            "[pulse]",
            "[tools]",
            "[telemetry]",
        ] {
            assert!(found.ignored.iter().any(|key| key == section), "{section}: {:?}", found.ignored);
        }
        let kinds = |name: &str, key: &str| {
            let table = agon_protocols::find(name).unwrap().info().options;
            table.iter().find(|option| option.key == key).unwrap().kind
        };
        for protocol in agon_protocols::all() {
            let info = protocol.info();
            for option in info.options {
                let raw = if option.default.is_empty() { "x" } else { option.default };
                let pairs =
                    vec![(option.key.to_owned(), raw.to_owned()), (TIMEOUT_KEY.to_owned(), "1".to_owned())];
                let sections = [(info.name.to_owned(), pairs)].into();
                let found = FoundConfiguration::new(Path::new("agon.toml"), sections, Vec::new());
                assert!(found.ignored.contains(&format!("[{}] {TIMEOUT_KEY}", info.name)), "a limit");
                for (name, pairs) in &found.options {
                    for (key, _) in pairs {
                        use agon_core::OptionKind::{Choice, Flag, Float, Int};
                        assert!(
                            matches!(kinds(name, key), Int(..) | Float(..) | Choice(_) | Flag),
                            "{name} {key}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn every_protocol_may_have_a_section_of_its_own_name() {
        for protocol in agon_protocols::all() {
            let name = protocol.info().name;
            let text = format!("[{name}]\n{TIMEOUT_KEY} = 9\n[protocols.{name}]\n{TIMEOUT_KEY} = 8\n");
            let options = parse(&text).unwrap_or_else(|why| panic!("{name}: {why:?}")).options;
            assert_eq!(options[name], [(TIMEOUT_KEY.into(), "9".into()), (TIMEOUT_KEY.into(), "8".into())]);
        }
    }

    #[test]
    fn an_error_names_the_file_the_line_and_the_key() {
        for (text, wants) in [
            ("\nmodles = []", &["agon.toml: line 2 (modles)", "unknown field"][..]),
            ("[limits]\ntimeout_s = 0", &["line 2 (timeout_s)", "number of seconds"]),
            (
                "[limits]\ntimeout_s = \"sk-secret\"",
                &["line 2 (timeout_s)", "invalid type: text, expected a number"],
            ),
            ("models = \"openai/a\"", &["line 1 (models)", "expected a list in brackets"]),
            ("[serve]\nresume = 1", &["line 2 (resume)", "expected true or false"]),
            ("[serve]\ndebates = \"many\"", &["line 2 (debates)", "expected a whole number"]),
            ("[providers.x]\nbase_url = 1", &["line 2 (base_url)", "expected a text in quotes"]),
            ("serve = 1", &["line 1 (serve)", "expected a section"]),
            ("[limits]\nmax_calls = -1", &["line 2 (max_calls)"]),
            ("[limits]\nbudget = 3", &["line 2 (budget)", "unknown field"]),
            ("[engine]\nprovider_calls = 0", &["line 2 (provider_calls)", "from 1 to"]),
            ("[protocols.deep]\nmax_rounds = 0", &["line 2 (max_rounds)", "must be"]),
            ("[deep]\nmax_rounds = 0", &["line 2 (max_rounds)", "must be"]),
            ("deep = 1", &["line 1 (deep)", "invalid type"]),
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
            let error = error_of(text);
            assert!(wants.iter().all(|want| error.contains(want)), "{text:?} gave {error:?}");
            assert!(!error.contains("sk-secret"), "{error}");
        }
    }
}
