//! `agon doctor`: what Agon finds on this machine, and which providers it can reach.

use std::time::Duration;

use agon_core::wording::counted;
use agon_models::{EmbeddingsInUse, ModelCatalogue, ProviderInfo, ProviderProbe};
use agon_store::{DebateStore, DeliveryState, StoreHealth, StoredDelivery};
use clap::{ArgMatches, Command};
use serde_json::{Value, json};

use super::deliver::{delivery_document, delivery_table};
use super::{CliVerb, VerbGroup};
use crate::cli::app::{App, model_catalogue};
use crate::cli::configuration::Configuration;
use crate::cli::errors::CliError;
use crate::cli::local_programs::{LocalProgram, local_programs};
use crate::cli::model_files::{EmbeddedModelFiles, all_model_files};
use crate::cli::paths::{process_env, store_file};
use crate::cli::runtime::block_on;
use crate::cli::{arguments, output};

pub(super) const VERB: CliVerb = CliVerb { name: "doctor", group: VerbGroup::Setup, command, run };

/// How long a provider may take to list its models.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);
/// How many models the table names.
const NAMED_MODELS_MAX: usize = 3;

fn command(command: Command) -> Command {
    command
        .about("Check the configuration, the store, the providers and the files of embedded models")
        .after_help(
            "A provider is asked for its list of models if its key is set or if it needs none.\n\
             Exit status: 0, or 2 if the configuration or the store is wrong.",
        )
        .arg(arguments::switch("offline", "Ask no provider; only look at this machine"))
        .arg(arguments::json())
        .args(arguments::config_and_store())
}

/// What was found.
struct DoctorReport {
    configuration: Result<Configuration, CliError>,
    store: Result<Option<StoreHealth>, CliError>,
    dead_deliveries: Vec<StoredDelivery>,
    providers: Vec<ProviderStatus>,
    prices: PriceSummary,
    model_files: Vec<EmbeddedModelFiles>,
    embeddings: EmbeddingsInUse,
    programs: Vec<LocalProgram>,
}

/// A provider, and what it answered if it was asked.
struct ProviderStatus {
    info: ProviderInfo,
    prices_known: Vec<String>,
    probe: Option<ProviderProbe>,
}

struct PriceSummary {
    as_of: &'static str,
    known: usize,
    own: usize,
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let configuration = app.load_configuration();
    let fallback = Configuration::default();
    let used = configuration.as_ref().unwrap_or(&fallback);
    let catalogue = model_catalogue(used);
    let probes = if app.flag("offline") { Vec::new() } else { block_on(catalogue.probe(PROBE_TIMEOUT))? };
    let providers = provider_statuses(&catalogue, probes);
    let prices = PriceSummary {
        as_of: catalogue.prices_as_of(),
        known: providers.iter().map(|provider| provider.prices_known.len()).sum(),
        own: used.models_config.prices.len(),
    };
    let programs = local_programs(&used.models_config, process_env("PATH").as_deref());
    let (store, dead_deliveries) = match app.store_to_read().and_then(examine_store) {
        Ok(Some((health, dead))) => (Ok(Some(health)), dead),
        Ok(None) => (Ok(None), Vec::new()),
        Err(error) => (Err(error), Vec::new()),
    };
    let report = DoctorReport {
        configuration,
        store,
        dead_deliveries,
        providers,
        prices,
        model_files: all_model_files(),
        embeddings: catalogue.embeddings_in_use(),
        programs,
    };
    output::print_result(app.flag("json"), || report.document(), || report.text())?;
    Ok(if report.is_healthy() { 0 } else { 2 })
}

/// The store's health, and the deliveries that were given up.
fn examine_store(store: Option<DebateStore>) -> Result<Option<(StoreHealth, Vec<StoredDelivery>)>, CliError> {
    let Some(store) = store else { return Ok(None) };
    Ok(Some((store.health()?, store.deliveries(Some(DeliveryState::Dead))?)))
}

fn provider_statuses(catalogue: &ModelCatalogue, mut probes: Vec<ProviderProbe>) -> Vec<ProviderStatus> {
    let servers = catalogue.providers().into_iter().filter(|info| info.name != "script");
    let status = |info: ProviderInfo| {
        let probe = probes.iter().position(|probe| probe.name == info.name);
        let probe = probe.map(|index| probes.swap_remove(index));
        ProviderStatus { prices_known: catalogue.prices_known(&info.name), info, probe }
    };
    servers.map(status).collect()
}

impl DoctorReport {
    fn is_healthy(&self) -> bool {
        let is_sound = |health: &StoreHealth| health.integrity == "ok";
        self.configuration.is_ok()
            && self.store.as_ref().is_ok_and(|store| store.as_ref().is_none_or(is_sound))
    }

    fn document(&self) -> Value {
        let configuration = match &self.configuration {
            Ok(found) => json!({"file": found.file, "models": found.models, "problem": null}),
            Err(error) => json!({"file": null, "models": [], "problem": error.to_string()}),
        };
        let store = match &self.store {
            Ok(Some(health)) => json!({"health": health, "problem": null}),
            Ok(None) => json!({"health": null, "problem": null}),
            Err(error) => json!({"health": null, "problem": error.to_string()}),
        };
        let PriceSummary { as_of, known, own } = self.prices;
        let EmbeddingsInUse { model: embeddings, why, problem } = &self.embeddings;
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "config": configuration,
            "store": store,
            "dead_letters": self.dead_deliveries.iter().map(delivery_document).collect::<Vec<_>>(),
            "providers": self.providers.iter().map(ProviderStatus::document).collect::<Vec<_>>(),
            "prices": {"as_of": as_of, "known": known, "own": own},
            "embedded": self.model_files.iter().map(EmbeddedModelFiles::document).collect::<Vec<_>>(),
            "embeddings": {"in_use": embeddings, "why": why, "problem": problem},
            "commands": self.programs.iter().map(LocalProgram::document).collect::<Vec<_>>(),
        })
    }

    fn text(&self) -> String {
        let providers = self.providers.iter().map(ProviderStatus::row);
        let files = self
            .model_files
            .iter()
            .map(|files| row(&files.model_name(), "", files.state_word(), &files.explanation()));
        let programs = self
            .programs
            .iter()
            .map(|program| row(&program.model, "", program.state_word(), &program.explanation()));
        let rows: Vec<Vec<String>> =
            [row("what", "key", "state", "more"), self.configuration_row(), self.store_row()]
                .into_iter()
                .chain(self.store_detail_rows())
                .chain(providers)
                .chain([self.prices_row()])
                .chain(files)
                .chain([self.embeddings_row()])
                .chain(programs)
                .collect();
        let title = concat!("agon ", env!("CARGO_PKG_VERSION"));
        let mut text = agon_report::table(title, &rows, &output::stdout_style());
        if !self.dead_deliveries.is_empty() {
            text.push_str("\nDeliveries that were given up; agon deliver --retry N tries one again\n");
            text.push_str(&delivery_table(&self.dead_deliveries));
        }
        text
    }

    fn configuration_row(&self) -> Vec<String> {
        let (state, more) = match &self.configuration {
            Ok(Configuration { file: Some(file), models, .. }) if models.is_empty() => {
                ("no models", file.display().to_string())
            }
            Ok(Configuration { file: Some(file), .. }) => ("ok", file.display().to_string()),
            Ok(_) => ("none", "`agon init` writes one".to_owned()),
            Err(error) => ("wrong", error.to_string()),
        };
        row("configuration", "", state, &more)
    }

    fn store_row(&self) -> Vec<String> {
        match &self.store {
            Ok(Some(health)) => {
                let debates = counted(count(health.debates), "debate");
                let size_kb = health.size_bytes.div_ceil(1024);
                row("store", "", &health.integrity, &format!("{}: {debates}, {size_kb} KB", health.file))
            }
            Ok(None) => {
                let file = store_file(&process_env).map(|file| file.display().to_string());
                row("store", "", "not yet", &file.unwrap_or_else(|error| error.to_string()))
            }
            Err(error) => row("store", "", "wrong", &error.to_string()),
        }
    }

    /// What the store has beside logs.
    fn store_detail_rows(&self) -> Vec<Vec<String>> {
        let Ok(Some(health)) = &self.store else { return Vec::new() };
        let mut rows = Vec::new();
        if health.knowledge > 0 || health.memories > 0 {
            let entries = counted(count(health.knowledge), "entry").replace("entrys", "entries");
            let memories = counted(count(health.memories), "memory").replace("memorys", "memories");
            rows.push(row("knowledge", "", "ok", &format!("{entries}, {memories} of agents")));
        }
        let (due, dead) = (health.deliveries_due, health.deliveries_dead);
        if due > 0 || dead > 0 {
            let state = if dead > 0 { "given up" } else { "due" };
            let more = format!("{due} due (`agon deliver` sends them), {dead} given up");
            rows.push(row("deliveries", "", state, &more));
        }
        rows
    }

    fn embeddings_row(&self) -> Vec<String> {
        let EmbeddingsInUse { model, why, problem } = &self.embeddings;
        let state = if problem.is_some() { "wrong" } else { "in use" };
        let name = model.strip_prefix("embeddings/").unwrap_or(model);
        row("embeddings", "", state, &format!("{name}; {}", problem.as_ref().unwrap_or(why)))
    }

    fn prices_row(&self) -> Vec<String> {
        let PriceSummary { as_of, known, own } = self.prices;
        let own = if own == 0 { String::new() } else { format!(", {own} of them yours") };
        row("prices", "", "known", &format!("of {known} models{own}; the built-in ones as of {as_of}"))
    }
}

impl ProviderStatus {
    fn key_word(&self) -> &'static str {
        let is_accepted = self.probe.as_ref().and_then(|probe| probe.key_accepted);
        match (&self.info.key_env, self.info.key_present, is_accepted) {
            (_, true, Some(true)) => "accepted",
            (_, true, Some(false)) => "refused",
            (_, true, None) => "set",
            (Some(_), false, _) => "not set",
            (None, false, _) => "none",
        }
    }

    fn state_word(&self) -> &'static str {
        match &self.probe {
            Some(probe) if probe.reachable => "reachable",
            Some(_) if self.is_not_running() => "not running",
            Some(_) => "unreachable",
            None if self.info.base_url.is_none() => "wrong",
            None => "not asked",
        }
    }

    /// An Ollama that does not run is not a problem.
    fn is_not_running(&self) -> bool {
        let is_refused = |probe: &ProviderProbe| {
            probe.problem.as_ref().is_some_and(|why| why.contains("connection refused"))
        };
        self.info.name == "ollama"
            && self.probe.as_ref().is_some_and(|probe| !probe.reachable && is_refused(probe))
    }

    fn problem(&self) -> Option<&String> {
        let probe = self.probe.as_ref().filter(|_| !self.is_not_running());
        self.info.problem.as_ref().or_else(|| probe.and_then(|probe| probe.problem.as_ref()))
    }

    fn document(&self) -> Value {
        let Self { info, prices_known, probe } = self;
        let probe = probe.as_ref();
        json!({
            "name": info.name,
            "base_url": info.base_url,
            "key_env": info.key_env,
            "key_present": info.key_present,
            "key_accepted": probe.and_then(|probe| probe.key_accepted),
            "state": self.state_word(),
            "reachable": probe.map(|probe| probe.reachable),
            "status": probe.and_then(|probe| probe.status),
            "models": probe.and_then(|probe| probe.models.as_ref()),
            "models_priced": probe.map(|probe| probe.models_priced),
            "prices_known": prices_known,
            "problem": self.problem(),
        })
    }

    fn row(&self) -> Vec<String> {
        let needs_key = self.key_word() == "not set" && self.probe.is_none() && self.state_word() != "wrong";
        let more = match (&self.info.key_env, self.problem()) {
            (Some(variable), _) if needs_key => format!("set {variable} to use it"),
            (_, Some(problem)) => problem.clone(),
            _ => self.models_words(),
        };
        row(&format!("{}/", self.info.name), self.key_word(), self.state_word(), &more)
    }

    /// How many models there are, the first few by name, and how many have a known price.
    fn models_words(&self) -> String {
        let address = self.info.base_url.clone().unwrap_or_default();
        let probe = self.probe.as_ref().and_then(|probe| Some((probe, probe.models.as_ref()?)));
        let Some((probe, models)) = probe else { return address };
        let names: Vec<&str> = models.iter().take(NAMED_MODELS_MAX).map(String::as_str).collect();
        let dots = if models.len() > names.len() { ", ..." } else { "" };
        let names = if names.is_empty() { String::new() } else { format!(" ({}{dots})", names.join(", ")) };
        let total = counted(models.len() as u64, "model");
        format!("{total}{names}, {} with a known price; {address}", probe.models_priced)
    }
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

fn row(what: &str, key: &str, state: &str, more: &str) -> Vec<String> {
    [what, key, state, more].map(str::to_owned).to_vec()
}
