//! `agon doctor`: what Agon finds on this machine, and who can be reached from it.

use std::time::Duration;

use agon_models::{Catalogue, EmbeddingsInUse, Probe, ProviderInfo};
use agon_report::figures;
use agon_store::{Delivery, DeliveryState, Health, Sqlite};
use clap::{ArgMatches, Command};
use serde_json::{Value, json};

use super::{Group, Verb, deliver};
use crate::cli::config::Config;
use crate::cli::failure::Failure;
use crate::cli::machine::{self, Files, Program};
use crate::cli::run::no_runtime;
use crate::cli::{args, desk, output, place, pull};

pub(super) const VERB: Verb = Verb { name: "doctor", group: Group::Around, command, run };

/// How long a provider may take to list its models.
const PATIENCE: Duration = Duration::from_secs(3);
/// So many models are named in the table.
const NAMES_MAX: usize = 3;

fn command(command: Command) -> Command {
    command
        .about("Check configuration, store, providers and the files of embedded models")
        .after_help(
            "A provider is asked for its list of models if its key is set or none is needed.\n\
             Exit status: 0, or 2 if the configuration or the store is wrong.",
        )
        .arg(args::switch("offline", "Ask no provider; only look at what is here"))
        .arg(args::json())
        .args(args::files())
}

/// What was found.
struct Found {
    config: Result<Config, Failure>,
    store: Result<Option<Health>, Failure>,
    /// Results that were given up.
    dead: Vec<Delivery>,
    providers: Vec<Provider>,
    prices: Prices,
    files: Vec<Files>,
    embeddings: EmbeddingsInUse,
    programs: Vec<Program>,
}

/// A provider, and what it answered if it was asked.
struct Provider {
    info: ProviderInfo,
    prices_known: Vec<String>,
    probe: Option<Probe>,
}

struct Prices {
    as_of: &'static str,
    known: usize,
    own: usize,
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let config = desk::config(args);
    let fallback = Config::default();
    let used = config.as_ref().unwrap_or(&fallback);
    let catalogue = desk::models(used);
    let probes = if args.get_flag("offline") { Vec::new() } else { asked(&catalogue)? };
    let providers = providers(&catalogue, probes);
    let prices = Prices {
        as_of: catalogue.prices_as_of(),
        known: providers.iter().map(|provider| provider.prices_known.len()).sum(),
        own: used.providers.prices.len(),
    };
    let files = pull::shelf().map(|shelf| machine::files(&shelf)).unwrap_or_default();
    let embeddings = catalogue.embeddings_in_use();
    let programs = machine::programs(&used.providers, place::env("PATH").as_deref());
    let (store, dead) = match desk::kept(args).and_then(looked) {
        Ok(Some((health, dead))) => (Ok(Some(health)), dead),
        Ok(None) => (Ok(None), Vec::new()),
        Err(why) => (Err(why), Vec::new()),
    };
    let found = Found { config, store, dead, providers, prices, files, embeddings, programs };
    if args.get_flag("json") {
        output::print_json(&found.document())?;
    } else {
        output::print(&found.table())?;
    }
    Ok(if found.is_well() { 0 } else { 2 })
}

/// How the store is, and which results were given up.
fn looked(store: Option<Sqlite>) -> Result<Option<(Health, Vec<Delivery>)>, Failure> {
    let Some(store) = store else { return Ok(None) };
    Ok(Some((store.health()?, store.deliveries(Some(DeliveryState::Dead))?)))
}

fn asked(catalogue: &Catalogue) -> Result<Vec<Probe>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(no_runtime)?;
    Ok(runtime.block_on(catalogue.probe(PATIENCE)))
}

fn providers(catalogue: &Catalogue, mut probes: Vec<Probe>) -> Vec<Provider> {
    let servers = catalogue.providers().into_iter().filter(|info| info.name != "script");
    let with_probe = |info: ProviderInfo| {
        let place = probes.iter().position(|probe| probe.name == info.name);
        let probe = place.map(|place| probes.swap_remove(place));
        Provider { prices_known: catalogue.prices_known(&info.name), info, probe }
    };
    servers.map(with_probe).collect()
}

impl Found {
    fn is_well(&self) -> bool {
        let sound = |health: &Health| health.integrity == "ok";
        self.config.is_ok() && self.store.as_ref().is_ok_and(|store| store.as_ref().is_none_or(sound))
    }

    fn document(&self) -> Value {
        let config = match &self.config {
            Ok(config) => json!({"file": config.file, "models": config.models, "problem": null}),
            Err(why) => json!({"file": null, "models": [], "problem": why.to_string()}),
        };
        let store = match &self.store {
            Ok(Some(health)) => json!({"health": health, "problem": null}),
            Ok(None) => json!({"health": null, "problem": null}),
            Err(why) => json!({"health": null, "problem": why.to_string()}),
        };
        let Prices { as_of, known, own } = self.prices;
        let EmbeddingsInUse { model: embeddings, why, problem } = &self.embeddings;
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "config": config,
            "store": store,
            "dead_letters": self.dead.iter().map(deliver::entry).collect::<Vec<_>>(),
            "providers": self.providers.iter().map(Provider::document).collect::<Vec<_>>(),
            "prices": {"as_of": as_of, "known": known, "own": own},
            "embedded": self.files.iter().map(Files::document).collect::<Vec<_>>(),
            "embeddings": {"in_use": embeddings, "why": why, "problem": problem},
            "commands": self.programs.iter().map(Program::document).collect::<Vec<_>>(),
        })
    }

    fn table(&self) -> String {
        let head = ["what", "key", "state", "more"].map(str::to_owned).to_vec();
        let providers = self.providers.iter().map(Provider::row);
        let files = self.files.iter().map(|files| row(&files.model(), "", files.word(), &files.more()));
        let programs =
            self.programs.iter().map(|program| row(&program.model, "", program.word(), &program.more()));
        let rows: Vec<Vec<String>> = [head, self.config_row(), self.store_row()]
            .into_iter()
            .chain(self.kept_rows())
            .chain(providers)
            .chain([self.prices_row()])
            .chain(files)
            .chain([self.embeddings_row()])
            .chain(programs)
            .collect();
        let style = output::stdout_style();
        let mut shown = agon_report::table(concat!("agon ", env!("CARGO_PKG_VERSION")), &rows, &style);
        if !self.dead.is_empty() {
            shown.push_str("\nResults that were given up; agon deliver --retry N tries again\n");
            shown.push_str(&deliver::table(&self.dead));
        }
        shown
    }

    fn config_row(&self) -> Vec<String> {
        let (state, place) = match &self.config {
            Ok(Config { file: Some(file), models, .. }) if models.is_empty() => {
                ("no models", file.display().to_string())
            }
            Ok(Config { file: Some(file), .. }) => ("ok", file.display().to_string()),
            Ok(_) => ("none", "`agon init` writes one".to_owned()),
            Err(why) => ("wrong", why.to_string()),
        };
        row("configuration", "", state, &place)
    }

    fn store_row(&self) -> Vec<String> {
        match &self.store {
            Ok(Some(health)) => {
                let Health { file, size_bytes, integrity, .. } = health;
                let debates = figures::counted(u64::try_from(health.debates).unwrap_or_default(), "debate");
                row("store", "", integrity, &format!("{file}: {debates}, {} KB", size_bytes.div_ceil(1024)))
            }
            Ok(None) => {
                let file = place::store(&place::env).map(|file| file.display().to_string());
                row("store", "", "not yet", &file.unwrap_or_else(|why| why.to_string()))
            }
            Err(why) => row("store", "", "wrong", &why.to_string()),
        }
    }

    /// What is kept beside the logs, where something is.
    fn kept_rows(&self) -> Vec<Vec<String>> {
        let Ok(Some(health)) = &self.store else { return Vec::new() };
        let count = |n: i64| u64::try_from(n).unwrap_or_default();
        let mut rows = Vec::new();
        if health.knowledge > 0 || health.memories > 0 {
            let entries = figures::counted(count(health.knowledge), "entry").replace("entrys", "entries");
            let memories = figures::counted(count(health.memories), "memory").replace("memorys", "memories");
            rows.push(row("knowledge", "", "ok", &format!("{entries}, {memories} of agents")));
        }
        if health.deliveries_due > 0 || health.deliveries_dead > 0 {
            let (due, dead) = (health.deliveries_due, health.deliveries_dead);
            let state = if dead > 0 { "given up" } else { "due" };
            rows.push(row(
                "deliveries",
                "",
                state,
                &format!("{due} due (`agon deliver` brings them), {dead} given up"),
            ));
        }
        rows
    }

    fn embeddings_row(&self) -> Vec<String> {
        let EmbeddingsInUse { model, why, problem } = &self.embeddings;
        let state = if problem.is_some() { "wrong" } else { "in use" };
        let bare = model.strip_prefix("embeddings/").unwrap_or(model);
        row("embeddings", "", state, &format!("{bare}; {}", problem.as_ref().unwrap_or(why)))
    }

    fn prices_row(&self) -> Vec<String> {
        let Prices { as_of, known, own } = self.prices;
        let own = if own == 0 { String::new() } else { format!(", {own} of them yours") };
        row("prices", "", "known", &format!("of {known} models{own}; the built-in ones as of {as_of}"))
    }
}

impl Provider {
    fn key(&self) -> &'static str {
        match (
            &self.info.key_env,
            self.info.key_present,
            self.probe.as_ref().and_then(|probe| probe.key_accepted),
        ) {
            (_, true, Some(true)) => "accepted",
            (_, true, Some(false)) => "refused",
            (_, true, None) => "set",
            (Some(_), false, _) => "not set",
            (None, false, _) => "none",
        }
    }

    /// Whether it can be reached, as far as anybody looked.
    fn state(&self) -> &'static str {
        match &self.probe {
            Some(probe) if probe.reachable => "reachable",
            Some(_) if self.is_off() => "not running",
            Some(_) => "unreachable",
            None if self.info.base_url.is_none() => "wrong",
            None => "not asked",
        }
    }

    /// Nobody has to run Ollama: that it does not is no problem.
    fn is_off(&self) -> bool {
        let refused =
            |probe: &Probe| probe.problem.as_ref().is_some_and(|why| why.contains("connection refused"));
        self.info.name == "ollama"
            && self.probe.as_ref().is_some_and(|probe| !probe.reachable && refused(probe))
    }

    fn problem(&self) -> Option<&String> {
        let told = self.probe.as_ref().and_then(|probe| probe.problem.as_ref()).filter(|_| !self.is_off());
        self.info.problem.as_ref().or(told)
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
            "state": self.state(),
            "reachable": probe.map(|probe| probe.reachable),
            "status": probe.and_then(|probe| probe.status),
            "models": probe.and_then(|probe| probe.models.as_ref()),
            "models_priced": probe.map(|probe| probe.models_priced),
            "prices_known": prices_known,
            "problem": self.problem(),
        })
    }

    fn row(&self) -> Vec<String> {
        let more = match (&self.info.key_env, self.problem()) {
            (Some(variable), _)
                if self.key() == "not set" && self.probe.is_none() && self.state() != "wrong" =>
            {
                format!("set {variable} to use it")
            }
            (_, Some(problem)) => problem.clone(),
            _ => self.models(),
        };
        row(&format!("{}/", self.info.name), self.key(), self.state(), &more)
    }

    /// How many models there are, the first few by name, and of how many the price is known.
    fn models(&self) -> String {
        let place = self.info.base_url.clone().unwrap_or_default();
        let Some((probe, models)) =
            self.probe.as_ref().and_then(|probe| Some((probe, probe.models.as_ref()?)))
        else {
            return place;
        };
        let count = figures::counted(models.len() as u64, "model");
        let names: Vec<&str> = models.iter().take(NAMES_MAX).map(String::as_str).collect();
        let dots = if models.len() > names.len() { ", ..." } else { "" };
        let names = if names.is_empty() { String::new() } else { format!(" ({}{dots})", names.join(", ")) };
        format!("{count}{names}, {} with a known price; {place}", probe.models_priced)
    }
}

fn row(what: &str, key: &str, state: &str, more: &str) -> Vec<String> {
    [what, key, state, more].map(str::to_owned).to_vec()
}
