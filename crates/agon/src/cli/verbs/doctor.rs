//! `agon doctor`: what Agon finds on this machine.

use agon_providers::ProviderInfo;
use agon_report::figures;
use agon_store::Health;
use clap::{ArgMatches, Command};
use serde_json::{Value, json};

use super::{Group, Verb};
use crate::cli::config::Config;
use crate::cli::failure::Failure;
use crate::cli::{args, desk, output, place};

pub(super) const VERB: Verb = Verb { name: "doctor", group: Group::Around, command, run };

fn command(command: Command) -> Command {
    command.about("Check configuration, store and providers").arg(args::json()).args(args::files())
}

/// What was found.
struct Found {
    config: Result<Config, Failure>,
    store: Result<Option<Health>, Failure>,
    providers: Vec<ProviderInfo>,
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let config = desk::config(args);
    let fallback = Config::default();
    let providers = desk::models(config.as_ref().unwrap_or(&fallback)).providers();
    let store = desk::kept(args).and_then(|store| Ok(store.map(|store| store.health()).transpose()?));
    let found = Found { config, store, providers };
    if args.get_flag("json") {
        output::print_json(&found.document())?;
    } else {
        output::print(&found.table())?;
    }
    Ok(if found.is_well() { 0 } else { 2 })
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
        let provider = |provider: &ProviderInfo| {
            let ProviderInfo { name, base_url, key_env, key_present, problem, models } = provider;
            json!({
                "name": name, "base_url": base_url, "key_env": key_env, "key_present": key_present,
                "problem": problem, "models": models,
            })
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "config": config,
            "store": store,
            "providers": self.providers.iter().map(provider).collect::<Vec<_>>(),
        })
    }

    fn table(&self) -> String {
        let head = ["what", "state", "where"].map(str::to_owned).to_vec();
        let providers = self.providers.iter().map(provider_row);
        let rows: Vec<Vec<String>> =
            [head, self.config_row(), self.store_row()].into_iter().chain(providers).collect();
        agon_report::table(concat!("agon ", env!("CARGO_PKG_VERSION")), &rows, &output::stdout_style())
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
        row("configuration", state, &place)
    }

    fn store_row(&self) -> Vec<String> {
        match &self.store {
            Ok(Some(health)) => {
                let Health { file, size_bytes, integrity, .. } = health;
                let debates = figures::counted(u64::try_from(health.debates).unwrap_or_default(), "debate");
                row("store", integrity, &format!("{file}: {debates}, {} KB", size_bytes.div_ceil(1024)))
            }
            Ok(None) => {
                let file = place::store(&place::env).map(|file| file.display().to_string());
                row("store", "not yet", &file.unwrap_or_else(|why| why.to_string()))
            }
            Err(why) => row("store", "wrong", &why.to_string()),
        }
    }
}

fn provider_row(provider: &ProviderInfo) -> Vec<String> {
    let ProviderInfo { name, base_url, key_env, key_present, problem, .. } = provider;
    let (state, place) = match (key_env, key_present, problem) {
        (Some(variable), false, _) => ("no key", format!("set {variable} to use it")),
        (_, _, Some(problem)) => ("wrong", problem.clone()),
        (Some(_), true, None) => ("key set", base_url.clone().unwrap_or_default()),
        (None, _, None) => ("no key needed", base_url.clone().unwrap_or_else(|| "runs here".to_owned())),
    };
    row(&format!("{name}/"), state, &place)
}

fn row(what: &str, state: &str, place: &str) -> Vec<String> {
    [what, state, place].map(str::to_owned).to_vec()
}
