//! `agon doctor`: what Agon finds on this machine, and which providers it can reach.

use std::path::{Path, PathBuf};
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
use crate::cli::doctor_fixes::{DoctorFix, FixMode, FixResult};
use crate::cli::errors::{CliError, EXIT_INCOMPLETE};
use crate::cli::file_permissions::{PermissionProblem, PrivateFiles};
use crate::cli::local_programs::{LocalProgram, local_programs};
use crate::cli::model_files::{EmbeddedModelFiles, all_model_files};
use crate::cli::paths::{keys_folder, own_configuration, process_env, store_address, store_file};
use crate::cli::progress::TaskProgress;
use crate::cli::runtime::block_on;
use crate::cli::{arguments, output};

pub(super) const VERB: CliVerb = CliVerb { name: "doctor", group: VerbGroup::Setup, command, run };

/// How long a provider may take to list its models.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);
/// How many models the table names.
const NAMED_MODELS_MAX: usize = 3;
/// The exit status if the configuration or the store is wrong.
const EXIT_WRONG: u8 = 2;

fn command(command: Command) -> Command {
    command
        .about("Check the configuration, the store, the providers and the files of embedded models")
        .after_help(
            "A provider is asked for its list of models if its key is set or if it needs none.\n\
             With --fix it offers what it can do about what it found: fetch a model, write a configuration, repair the permissions of \
             keys, the store and the file of tokens. It asks before each; without a terminal it only lists them.\n\
             Exit status: 0, or 2 if the configuration or the store is wrong; 3 if something could not be fixed.",
        )
        .arg(arguments::switch("offline", "Ask no provider; only look at this machine"))
        .arg(arguments::switch("fix", "Offer to fix what can be fixed"))
        .arg(arguments::switch("yes", "Do everything that --fix offers").requires("fix"))
        .arg(arguments::path_option("token-file", "FILE", "Also look at this file of tokens of `agon serve`"))
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
    permissions: Vec<PermissionProblem>,
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
    if let Some(file) = args.get_one::<PathBuf>("token-file").filter(|file| !file.exists()) {
        return Err(CliError::file(file, "there is no such file: check the path"));
    }
    let report = examine(&app)?;
    if !app.flag("fix") {
        output::print_result(app.flag("json"), || report.document(), || report.text())?;
        return Ok(report.status());
    }
    fix(&app, &report)
}

/// Looks at everything.
fn examine(app: &App<'_>) -> Result<DoctorReport, CliError> {
    let _progress = TaskProgress::start("looking at the providers and the store", false);
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
    Ok(DoctorReport {
        permissions: private_files(app, configuration.as_ref().ok()).problems(),
        configuration,
        store,
        dead_deliveries,
        providers,
        prices,
        model_files: all_model_files(),
        embeddings: catalogue.embeddings_in_use(),
        programs,
    })
}

fn private_files(app: &App<'_>, configuration: Option<&Configuration>) -> PrivateFiles {
    let store = app.args.get_one::<PathBuf>("db").map(|store| store.as_os_str());
    let store = store_address(store, &process_env).ok();
    PrivateFiles {
        keys_folder: keys_folder(&process_env),
        store: store.and_then(|store| store.file().map(Path::to_owned)),
        configuration: configuration.and_then(|found| found.file.clone()),
        token_file: app.args.get_one::<PathBuf>("token-file").cloned(),
    }
}

/// Prints the report, and then fixes what can be fixed, as far as the user wants it.
fn fix(app: &App<'_>, report: &DoctorReport) -> Result<u8, CliError> {
    let fixes = report.fixes(app);
    let (is_json, mode) = (app.flag("json"), FixMode::new(app.flag("yes"), app.flag("json")));
    if !is_json {
        output::print(&format!("{}\n{}", report.text(), fixes_heading(&fixes, mode)))?;
    }
    let mut results = Vec::new();
    for fix in &fixes {
        let result = fix.carry_out(mode, is_json);
        match &result {
            FixResult::Offered if !is_json => output::print(&format!("  {}\n", fix.what()))?,
            FixResult::Done if !is_json => output::print(&format!("done: {}\n", fix.what()))?,
            FixResult::Failed(why) if !is_json => output::print(&format!("not done: {why}\n"))?,
            _ => {}
        }
        results.push(result);
    }
    if is_json {
        let mut document = report.document();
        let fixes = fixes.iter().zip(&results).map(|(fix, result)| fix.document(result)).collect::<Vec<_>>();
        if let Some(fields) = document.as_object_mut() {
            fields.insert("fixes".into(), json!(fixes));
        }
        output::print_json(&document)?;
    }
    if results.iter().any(|result| matches!(result, FixResult::Failed(_))) {
        return Ok(EXIT_INCOMPLETE);
    }
    let is_changed = results.contains(&FixResult::Done);
    // What was wrong may be right now.
    let is_healthy = match is_changed && !report.is_healthy() {
        true => app.load_configuration().is_ok() && app.store_to_read().and_then(examine_store).is_ok(),
        false => report.is_healthy(),
    };
    Ok(if is_healthy { 0 } else { EXIT_WRONG })
}

fn fixes_heading(fixes: &[DoctorFix], mode: FixMode) -> String {
    match (fixes, mode) {
        ([], _) => "There is nothing that could be fixed here.\n".to_owned(),
        (_, FixMode::List) => "Can be fixed; `agon doctor --fix --yes` does all of it\n".to_owned(),
        (_, FixMode::Ask | FixMode::All) => String::new(),
    }
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
    fn status(&self) -> u8 {
        if self.is_healthy() { 0 } else { EXIT_WRONG }
    }

    /// What can be done about what was found.
    fn fixes(&self, app: &App<'_>) -> Vec<DoctorFix> {
        let repairs = self.permissions.iter().cloned().map(DoctorFix::Repair);
        let names_file = app.flag("no-config") || app.args.contains_id("config");
        let is_missing = matches!(&self.configuration, Ok(found) if found.file.is_none());
        let own = own_configuration(&process_env).filter(|_| is_missing && !names_file);
        let models = self.model_files.iter().filter(|files| !app.flag("offline") && self.is_wanted(files));
        let pull = |files: &EmbeddedModelFiles| DoctorFix::Pull {
            name: files.name(),
            about: format!("{}; {}", files.size_words(), files.purpose()),
        };
        repairs.chain(own.map(DoctorFix::WriteConfiguration)).chain(models.map(pull)).collect()
    }

    /// Whether the files of a model are worth a download: they are broken or half there, or nothing else does their work.
    fn is_wanted(&self, files: &EmbeddedModelFiles) -> bool {
        if files.is_ready() || !files.is_missing() {
            return !files.is_ready();
        }
        let configured = self.configuration.as_ref().ok();
        let names_models = configured.is_some_and(|found| !found.models.is_empty());
        let names_embeddings =
            configured.is_some_and(|found| found.models_config.embeddings.named().is_some());
        let is_reachable =
            |provider: &ProviderStatus| provider.info.key_present || provider.state_word() == "reachable";
        match files.is_debater() {
            true => !names_models && !self.providers.iter().any(is_reachable),
            false => !names_embeddings,
        }
    }

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
            "permissions": self.permissions.iter().map(PermissionProblem::document).collect::<Vec<_>>(),
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
                .chain(
                    self.permissions
                        .iter()
                        .map(|problem| row("permissions", "", "wrong", &problem.sentence())),
                )
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
                let StoreHealth { database, schema_version, .. } = health;
                let server = match health.journal_mode {
                    Some(_) => String::new(),
                    None => format!("; {database}, schema version {schema_version}"),
                };
                let more = format!("{}: {debates}, {size_kb} KB{server}", health.file);
                row("store", "", &health.integrity, &more)
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
            // Something answers, but not as a model server does.
            Some(probe) if probe.sent_no_list => "wrong",
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
