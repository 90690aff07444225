//! From the arguments and the configuration to the brief that opens a debate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use agon_core::options::resolve;
use agon_core::protocol::template_hashes;
use agon_core::{
    Brief, BriefFile, DebateLimits, DebateProvenance, LOG_VERSION, ModelKind, OptionKind, OptionSpec,
    Protocol, ProtocolInfo, Request, Seat,
};
use agon_engine::ModelSource as _;
use agon_models::ModelCatalogue;
use agon_store::DebateStore;
use serde_json::{Map, Value};

use super::arguments::{CliArguments, TIMEOUT_KEY};
use super::configuration::{Configuration, OptionPairs};
use super::errors::CliError;
use super::limits::{LimitOverrides, parse_seconds};
use super::model_directory::unknown_pulse_source;
use super::paths::process_env;
use super::{clock, debate_ids, history, input, paths};

/// The option that tells a protocol which embeddings are in use.
pub const EMBEDDINGS_OPTION: &str = "embeddings";
/// The option that tells a protocol which sources of topics there are.
const PULSE_OPTION: &str = "pulse";

/// Builds the briefs of one protocol's debates.
pub struct BriefBuilder {
    pub protocol: &'static dyn Protocol,
    models: Vec<String>,
    roles: BTreeMap<String, String>,
    options: OptionPairs,
    /// The options of an `agon.toml` found in the working directory, which all others outrank.
    found_options: OptionPairs,
    limits: DebateLimits,
    seed: Option<u64>,
    /// The store that knows how the agents did before.
    store: Option<DebateStore>,
    /// `--remember`.
    remember: bool,
    /// The models behind named agents.
    agents: BTreeMap<String, String>,
    /// Hashed once, because they are the same for every debate.
    templates: BTreeMap<String, String>,
}

/// What one debate is about, and what it sets for itself.
#[derive(Debug, Clone, Default)]
pub struct DebateSubject {
    /// The question, topic or task.
    pub question: String,
    /// The files to debate about.
    pub files: Vec<BriefFile>,
    /// The debate's own models; the builder's if there are none.
    pub models: Vec<String>,
    /// The debate's own options. They outrank the builder's.
    pub options: OptionPairs,
    /// The debate's own seed.
    pub seed: Option<u64>,
}

impl DebateSubject {
    /// A question and nothing else.
    pub fn question(question: impl Into<String>) -> Self {
        Self { question: question.into(), ..Self::default() }
    }
}

impl BriefBuilder {
    /// Combines the command line with the configuration. The command line outranks it.
    pub fn new(
        protocol: &'static dyn Protocol,
        arguments: CliArguments,
        configuration: &Configuration,
    ) -> Result<Self, CliError> {
        let info = protocol.info();
        let configured = configuration.options.get(info.name).cloned().unwrap_or_default();
        let found = configuration.found.as_ref().and_then(|found| found.options.get(info.name));
        let (configured_timeout, configured) = split_timeout(configured)?;
        let (set_timeout, mut set) = split_timeout(arguments.options)?;
        set.retain(|pair| !is_unnamed_models(info, &configured, pair));
        let limits = configuration.limits.apply_to(&DebateLimits::default());
        let limits = LimitOverrides::timeout(set_timeout.or(configured_timeout)).apply_to(&limits);
        let mut roles = configuration.roles.clone();
        // The configuration names roles for all protocols. This one may not have all of them.
        roles.retain(|role, _| info.named_roles().any(|known| known == role));
        roles.extend(arguments.roles);
        Ok(Self {
            protocol,
            models: match arguments.models.is_empty() {
                true => configuration.models.clone(),
                false => arguments.models,
            },
            roles,
            found_options: found.cloned().unwrap_or_default(),
            options: configured.into_iter().chain(set).collect(),
            limits: arguments.limits.apply_to(&limits),
            seed: arguments.seed,
            store: None,
            remember: arguments.remember,
            agents: configuration
                .models_config
                .agents
                .iter()
                .map(|(name, agent)| (format!("agent/{name}"), agent.model.clone()))
                .collect(),
            templates: template_hashes(protocol),
        })
    }

    /// Uses these models if none are named.
    pub fn or_default_models(
        mut self,
        models: impl FnOnce() -> Result<Vec<String>, CliError>,
    ) -> Result<Self, CliError> {
        if self.models.is_empty() {
            self.models = models()?;
        }
        Ok(self)
    }

    /// Sets the options that depend on this machine, unless the user set them: the embeddings in use, and the sources of
    /// topics.
    pub fn with_local_options(
        mut self,
        configuration: &Configuration,
        catalogue: &ModelCatalogue,
    ) -> Result<Self, CliError> {
        let mut local = Vec::new();
        if self.has_option(EMBEDDINGS_OPTION) {
            let in_use = catalogue.embeddings_in_use();
            let is_set = self.options.iter().any(|(key, _)| key == EMBEDDINGS_OPTION);
            if let Some(problem) = in_use.problem.filter(|_| !is_set) {
                return Err(CliError::input(problem)
                    .with_help("[embeddings] in agon.toml names them; --embeddings outranks it"));
            }
            local.push((EMBEDDINGS_OPTION.to_owned(), in_use.model));
            for (_, name) in self.options.iter_mut().filter(|(key, _)| key == EMBEDDINGS_OPTION) {
                // As in agon.toml, the prefix may be omitted: an embedding model is meant in any case.
                if !name.starts_with("embeddings/") {
                    *name = format!("embeddings/{name}");
                }
                catalogue.model(name)?;
            }
        }
        if self.has_option(PULSE_OPTION) {
            for (_, names) in self.options.iter().filter(|(key, _)| key == PULSE_OPTION) {
                let mut names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
                if let Some(unknown) = names.find(|name| !configuration.pulse.contains_key(*name)) {
                    return Err(unknown_pulse_source(unknown, &configuration.pulse).into());
                }
            }
            if !configuration.pulse.is_empty() {
                let names: Vec<&str> = configuration.pulse.keys().map(String::as_str).collect();
                local.push((PULSE_OPTION.to_owned(), names.join(",")));
            }
        }
        self.options.splice(0..0, local);
        Ok(self)
    }

    /// Uses this store, if there is one, for the agents' ratings and history.
    #[must_use]
    pub fn with_store(mut self, store: Option<DebateStore>) -> Self {
        self.store = store;
        self
    }

    /// The names of all models that the builder seats.
    pub fn model_names(&self) -> impl Iterator<Item = &str> {
        self.models.iter().chain(self.roles.values()).map(String::as_str)
    }

    /// The brief of a new debate, with a new id. Options of a found configuration count only if the debate is no gate, and if they do
    /// not make it longer.
    pub fn brief(&self, subject: DebateSubject) -> Result<Brief, CliError> {
        let info = self.protocol.info();
        let own = self.brief_with(&[], subject.clone())?;
        if self.found_options.is_empty() || info.gates(&own) {
            return Ok(own);
        }
        let with_found = self.brief_with(&self.found_options, subject)?;
        let most_calls = |brief: &Brief| self.protocol.plan(brief).most_calls;
        let is_longer = most_calls(&with_found) > most_calls(&own);
        Ok(if is_longer || info.gates(&with_found) { own } else { with_found })
    }

    fn brief_with(&self, found: &[(String, String)], subject: DebateSubject) -> Result<Brief, CliError> {
        let info = self.protocol.info();
        let (timeout_ms, own) = split_timeout(subject.options)?;
        let options = found.iter().chain(&self.options).cloned().chain(own);
        let options = resolve(info.options, options)?;
        let models = if subject.models.is_empty() { self.models.clone() } else { subject.models };
        if models.is_empty() {
            return Err(CliError::input("no model is named")
                .with_help("add --models provider/model; `agon models` lists what you can name"));
        }
        let DebateSubject { question, mut files, .. } = subject;
        files.extend(option_files(info.options, &options)?);
        if info.is_rated {
            files.push(history::standings_file(self.store.as_ref(), &models)?);
        }
        let files = input::check_total_size(files)?;
        let seed = subject.seed.or(self.seed).map_or_else(debate_ids::new_seed, Ok)?;
        let mut request = Request { question, files, models, roles: self.roles.clone(), options, seed };
        let seats = self.protocol.seats(&request)?;
        if info.is_rated {
            request.files.push(self.provenance(&seats, !found.is_empty())?);
        }
        if let Some(store) = &self.store {
            request.files.extend(history::history_file(store, &seats)?);
        }
        if request.question.is_empty() {
            request.question = (info.title)(&request);
        }
        let now_s = clock::unix_seconds();
        Ok(Brief {
            version: LOG_VERSION,
            id: debate_ids::new_debate_id(now_s)?,
            protocol: info.name.to_owned(),
            question: request.question,
            files: request.files,
            options: request.options,
            seats,
            seed,
            nonce: debate_ids::new_nonce()?,
            limits: LimitOverrides::timeout(timeout_ms).apply_to(&self.limits),
            templates: self.templates.clone(),
            written_by: env!("CARGO_PKG_VERSION").to_owned(),
            created_at: clock::rfc3339(now_s),
            parent: None,
        })
    }

    /// Where a debate with these seats is held, and what kind of models speak in it.
    fn provenance(&self, seats: &[Seat], found_configuration: bool) -> Result<BriefFile, CliError> {
        let links = seats.iter().flat_map(|seat| seat.model.split('|')).map(str::trim);
        let answering = links.flat_map(|link| self.agents.get(link).map_or(link, String::as_str).split('|'));
        let models: BTreeSet<ModelKind> = answering.filter_map(ModelKind::of_model).collect();
        let provenance = DebateProvenance {
            folder: paths::working_folder(&process_env),
            found_configuration,
            models: models.into_iter().collect(),
            remember: self.remember,
        };
        provenance.file().map_err(|why| CliError::System(format!("the provenance cannot be written: {why}")))
    }

    fn has_option(&self, key: &str) -> bool {
        self.protocol.info().options.iter().any(|option| option.key == key)
    }
}

/// Whether a pair asks for models without naming them while the configuration names some: those are then used.
fn is_unnamed_models(info: &ProtocolInfo, configured: &OptionPairs, (key, raw): &(String, String)) -> bool {
    let takes_models = |option: &OptionSpec| option.key == key && option.kind == OptionKind::Models;
    raw.is_empty()
        && configured.iter().any(|(known, _)| known == key)
        && info.options.iter().any(takes_models)
}

/// The files that options name, each with the option's key as its part.
pub fn option_files(table: &[OptionSpec], options: &Map<String, Value>) -> Result<Vec<BriefFile>, CliError> {
    let named = table.iter().filter(|option| option.kind == OptionKind::File).filter_map(|option| {
        let path = options.get(option.key)?.as_str()?;
        Some(input::debate_file(Path::new(path), Some(option.key)))
    });
    named.collect()
}

/// Splits off the limit on the time of a call, which may be set like an option.
pub fn split_timeout(options: OptionPairs) -> Result<(Option<u64>, OptionPairs), CliError> {
    let (timeouts, options): (Vec<_>, Vec<_>) = options.into_iter().partition(|(key, _)| key == TIMEOUT_KEY);
    let Some((_, raw)) = timeouts.last() else { return Ok((None, options)) };
    let ms =
        parse_seconds(raw).map_err(|why| CliError::input(format!("{TIMEOUT_KEY} is {raw:?}, but {why}")))?;
    Ok((Some(ms), options))
}

#[cfg(test)]
mod tests {
    use agon_core::lesson::{AgentStanding, STANDINGS};
    use agon_core::provenance::provenance;
    use agon_models::AgentConfig;

    use super::*;
    use crate::cli::found_configuration::FoundConfiguration;

    fn configuration() -> Configuration {
        Configuration {
            models: vec!["openai/config".into()],
            roles: [("chair", "openai/chair"), ("judge", "openai/judge")]
                .map(|(role, model)| (role.to_owned(), model.to_owned()))
                .into(),
            limits: LimitOverrides { timeout_ms: Some(7_000), retries: Some(1), ..Default::default() },
            options: [("deep".to_owned(), vec![("max_rounds".to_owned(), "5".to_owned())])].into(),
            ..Configuration::default()
        }
    }

    fn brief(arguments: CliArguments, subject: DebateSubject) -> Brief {
        let protocol = agon_protocols::find("deep").unwrap();
        BriefBuilder::new(protocol, arguments, &configuration()).unwrap().brief(subject).unwrap()
    }

    #[test]
    fn the_command_line_outranks_the_configuration_and_the_configuration_the_defaults() {
        let plain = brief(CliArguments::default(), DebateSubject::question("Why?"));
        assert_eq!((&plain.options["max_rounds"], &plain.options["min_rounds"]), (&5.into(), &2.into()));
        assert_eq!((plain.limits.call_timeout_ms, plain.limits.retries), (7_000, 1));
        assert!(plain.seats.iter().any(|seat| seat.model == "openai/chair"));
        assert!(plain.seats.iter().all(|seat| seat.model != "openai/judge"));

        let arguments = CliArguments {
            models: vec!["a/x".into(), "b/y".into()],
            seed: Some(7),
            limits: LimitOverrides { timeout_ms: Some(1), ..Default::default() },
            options: vec![("max_rounds".into(), "4".into())],
            ..CliArguments::default()
        };
        let set = brief(arguments, DebateSubject::question("Why?"));
        assert_eq!((&set.options["max_rounds"], set.seed, set.limits.call_timeout_ms), (&4.into(), 7, 1));
        assert!(set.seats.iter().all(|seat| seat.model != "openai/config"));

        let options = vec![("max_rounds".into(), "3".into()), (TIMEOUT_KEY.into(), "2.5".into())];
        let subject = DebateSubject { options, seed: Some(9), ..DebateSubject::question("Why?") };
        let own = brief(CliArguments::default(), subject);
        assert_eq!((&own.options["max_rounds"], own.seed, own.limits.call_timeout_ms), (&3.into(), 9, 2_500));
    }

    /// The seed decides who is A and who is B, and a person may know it. The nonce decides the fence.
    #[test]
    fn debates_of_one_seed_have_the_same_seats_and_different_nonces() {
        let arguments = || CliArguments { seed: Some(7), ..CliArguments::default() };
        let [one, other] = [arguments(), arguments()].map(|set| brief(set, DebateSubject::question("Why?")));
        assert_eq!((&one.seats, one.seed, &one.options), (&other.seats, other.seed, &other.options));
        assert_ne!(one.nonce, other.nonce);
        assert!(one.nonce.len() == 32 && one.nonce.chars().all(|c| c.is_ascii_hexdigit()), "{}", one.nonce);
    }

    #[test]
    fn a_rated_debate_says_where_it_is_held_and_who_speaks() {
        let protocol = agon_protocols::all().find(|protocol| protocol.info().is_rated).unwrap();
        let name = protocol.info().name.to_owned();
        let found = FoundConfiguration {
            options: [(name, vec![("decide".to_owned(), "judge".to_owned())])].into(),
            ..FoundConfiguration::default()
        };
        let mut configuration = Configuration { found: Some(found), ..Configuration::default() };
        let anna = AgentConfig { model: "script/a.yaml".into(), charter: String::new() };
        configuration.models_config.agents.insert("anna".into(), anna);
        let held = |configuration: &Configuration, models: &[&str], remember| {
            let models = models.iter().map(|name| (*name).to_owned()).collect();
            let arguments = CliArguments { models, remember, ..CliArguments::default() };
            let builder = BriefBuilder::new(protocol, arguments, configuration).unwrap();
            provenance(&builder.brief(DebateSubject::question("Why?")).unwrap()).unwrap()
        };
        let one = held(&configuration, &["a/x|embedded/b", "agent/anna", "human/me"], false);
        let kinds = [ModelKind::Server, ModelKind::Embedded, ModelKind::Human, ModelKind::Script];
        assert_eq!((one.found_configuration, &one.models[..], one.remember), (true, &kinds[..], false));
        let other = held(&Configuration::default(), &["command/x"], true);
        assert_eq!(
            (other.found_configuration, other.models, other.remember),
            (false, vec![ModelKind::Command], true)
        );
        assert!(!other.folder.is_empty() && other.folder == one.folder);
    }

    #[test]
    fn without_a_store_every_agent_of_a_rated_protocol_has_the_initial_rating() {
        let arguments = || CliArguments {
            models: vec!["a/x|b/y".into(), "agent/anna".into()],
            ..CliArguments::default()
        };
        for protocol in agon_protocols::all().filter(|protocol| !protocol.info().subject.starts_with("FILE"))
        {
            let builder = BriefBuilder::new(protocol, arguments(), &Configuration::default()).unwrap();
            let Ok(brief) = builder.brief(DebateSubject::question("Why?")) else { continue };
            let Some(file) = brief.part(STANDINGS) else {
                assert!(!protocol.info().is_rated);
                continue;
            };
            let standings: Vec<AgentStanding> = serde_json::from_str(&file.text).unwrap();
            let initial = |agent: &str| AgentStanding {
                agent: agent.into(),
                rating: 1500.0,
                deviation: 350.0,
                games: 0,
                brier: None,
            };
            assert_eq!(standings, ["a/x", "b/y", "anna"].map(initial));
        }
    }
}
