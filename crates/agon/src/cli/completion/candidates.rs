//! Which argument is completed with what.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use agon_context::BUILT_IN_TOOLS;
use agon_core::{OptionKind, OptionSpec};
use agon_engine::ModelPrice;
use agon_host::clean_line;
use agon_store::{ListedDebate, MemoryHit};
use clap::{Arg, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};

use super::sources::CompletionSources;
use crate::cli::arguments::all_roles;
use crate::cli::book;
use crate::cli::local_programs::local_programs;
use crate::cli::model_files::all_model_files;
use crate::cli::paths::process_env;
use crate::cli::targets::SubjectKind;
use crate::cli::verbs::VERBS;

/// Adds what completes the values of an argument of a verb, or of a subcommand of a verb.
pub(super) fn attach(arg: Arg, verb: &str, inner: Option<&str>, sources: &Arc<CompletionSources>) -> Arg {
    let sources = Arc::clone(sources);
    let protocol = agon_protocols::find(verb);
    let info = protocol.map(|protocol| protocol.info());
    let option = info.and_then(|info| info.options.iter().find(|option| option.key == arg.get_id().as_str()));
    let id = arg.get_id().as_str().to_owned();
    match (verb, inner, id.as_str()) {
        ("knowledge", _, "entry") => completed(arg, move |word| entries(&sources, word)),
        ("memory", _, "memory") => completed(arg, move |word| memories(&sources, word)),
        ("models", Some(_), "name") => completed(arg, known_files),
        // These are columns of a table.
        ("audit", ..) => arg,
        ("verify", _, "id") => completed(arg, move |word| debates_and_files(&sources, word)),
        ("resume", _, "id") => completed(arg, move |word| debates(&sources, word, is_unfinished)),
        (_, _, "id" | "ids") => completed(arg, move |word| debates(&sources, word, |_| true)),
        ("help", _, "topic") => completed(arg, help_topics),
        ("man", _, "verb") => completed(arg, verb_names),
        (_, _, "models") => completed(arg, move |word| models(&sources, word)),
        (_, _, role) if all_roles().contains(&role) => completed(arg, move |word| models(&sources, word)),
        _ if option.is_some_and(|option| option.kind == OptionKind::Models) => {
            completed(arg, move |word| models(&sources, word))
        }
        (_, _, "set") => {
            let options: Vec<&'static OptionSpec> = match info {
                Some(info) => info.options.iter().collect(),
                None => agon_protocols::all().flat_map(|protocol| protocol.info().options).collect(),
            };
            completed(arg, move |word| settings(&options, word))
        }
        (_, _, "tools") => completed(arg, move |word| tools(&sources, word)),
        (_, _, "to") => completed(arg, move |word| destinations(&sources, word)),
        (_, _, "subject") if info.is_some_and(|info| SubjectKind::of(info) == SubjectKind::Targets) => {
            arg.value_hint(ValueHint::AnyPath)
        }
        _ => arg,
    }
}

fn completed(arg: Arg, candidates: impl Fn(&str) -> Vec<CompletionCandidate> + Send + Sync + 'static) -> Arg {
    arg.add(ArgValueCompleter::new(move |word: &OsStr| word.to_str().map(&candidates).unwrap_or_default()))
}

fn candidate(value: impl Into<String>, help: impl Into<String>) -> CompletionCandidate {
    let help: String = help.into();
    CompletionCandidate::new(value.into()).help((!help.is_empty()).then(|| help.into()))
}

/// Those that begin with the word.
fn beginning(word: &str, all: impl IntoIterator<Item = (String, String)>) -> Vec<CompletionCandidate> {
    let found = all.into_iter().filter(|(value, _)| value.starts_with(word));
    found.map(|(value, help)| candidate(value, help)).collect()
}

fn is_unfinished(debate: &ListedDebate) -> bool {
    matches!(debate.status.as_str(), "interrupted" | "running")
}

fn debates(
    sources: &CompletionSources,
    word: &str,
    is_wanted: fn(&ListedDebate) -> bool,
) -> Vec<CompletionCandidate> {
    let found = sources.debates(word).into_iter().filter(is_wanted);
    let mut all: Vec<CompletionCandidate> = found
        .map(|debate| {
            let ListedDebate { id, protocol, question, status, .. } = debate;
            candidate(id, format!("{protocol}, {status}: {}", clean_line(&question)))
        })
        .collect();
    if "last".starts_with(word) && !all.is_empty() {
        all.insert(0, candidate("last", "the newest debate"));
    }
    all
}

fn debates_and_files(sources: &CompletionSources, word: &str) -> Vec<CompletionCandidate> {
    let mut all = debates(sources, word, |_| true);
    all.extend(PathCompleter::file().complete(OsStr::new(word)));
    all
}

fn entries(sources: &CompletionSources, word: &str) -> Vec<CompletionCandidate> {
    beginning(word, sources.knowledge().into_iter().map(|entry| (entry.id, clean_line(&entry.title))))
}

fn memories(sources: &CompletionSources, word: &str) -> Vec<CompletionCandidate> {
    let described = |memory: &MemoryHit| (memory.id.clone(), clean_line(memory.proposal()));
    beginning(word, sources.memories().iter().map(described))
}

fn known_files(word: &str) -> Vec<CompletionCandidate> {
    let files = all_model_files();
    beginning(word, files.iter().map(|files| (files.name().to_owned(), files.state_word().to_owned())))
}

fn verb_names(word: &str) -> Vec<CompletionCandidate> {
    let protocols = agon_protocols::all().map(|protocol| (protocol.info().name.to_owned(), String::new()));
    beginning(word, protocols.chain(VERBS.iter().map(|verb| (verb.name.to_owned(), String::new()))))
}

fn help_topics(word: &str) -> Vec<CompletionCandidate> {
    let chapters =
        book::chapters().into_iter().map(|chapter| (chapter.name.to_owned(), chapter.title.to_owned()));
    let topics = ("topics".to_owned(), "the list of chapters".to_owned());
    let mut all = beginning(word, std::iter::once(topics).chain(chapters));
    let is_new = |verb: &CompletionCandidate| all.iter().all(|known| known.get_value() != verb.get_value());
    let verbs: Vec<CompletionCandidate> = verb_names(word).into_iter().filter(is_new).collect();
    all.extend(verbs);
    all
}

/// The names of models. A word may be a list or a chain, `A,B|C`, of which the last name is completed.
fn models(sources: &CompletionSources, word: &str) -> Vec<CompletionCandidate> {
    let end = word.rfind([',', '|']).map_or(0, |at| at + 1);
    let (before, name) = word.split_at_checked(end).unwrap_or(("", word));
    let mut all = local_models(sources, name);
    all.extend(server_models(sources, name));
    all.into_iter().map(|candidate| candidate.add_prefix(before)).collect()
}

/// Models on this machine: files, scripts, programs, people and agents.
fn local_models(sources: &CompletionSources, name: &str) -> Vec<CompletionCandidate> {
    let (catalogue, configuration) = (sources.catalogue(), sources.configuration());
    let config = &configuration.models_config;
    let files = all_model_files().into_iter().filter(|files| files.is_debater());
    let files = files.map(|files| (files.model_name(), format!("built in, {}", files.state_word())));
    let configured = configuration.models.iter().map(|name| (name.clone(), "configured".to_owned()));
    let agents = config.agents.iter().map(|(name, agent)| (format!("agent/{name}"), agent.model.clone()));
    let humans = config.humans.keys().map(|name| (format!("human/{name}"), "a person".to_owned()));
    let programs = local_programs(config, process_env("PATH").as_deref());
    let programs = programs.iter().map(|program| (program.model.clone(), "a program".to_owned()));
    let scripts = catalogue.built_in_scripts().into_iter();
    let scripts = scripts.map(|name| (name, "a scripted debate to watch".to_owned()));
    let mut all =
        beginning(name, configured.chain(files).chain(agents).chain(programs).chain(humans).chain(scripts));
    all.extend(files_after(name, "script/", &["yaml", "yml", "json"]));
    all.extend(files_after(name, "embedded/", &["gguf"]));
    all
}

/// Files that are named behind a prefix: `script/FILE`.
fn files_after(name: &str, prefix: &str, endings: &'static [&'static str]) -> Vec<CompletionCandidate> {
    let Some(path) = name.strip_prefix(prefix) else { return Vec::new() };
    let is_wanted =
        |file: &Path| file.extension().is_some_and(|end| endings.iter().any(|wanted| end == *wanted));
    let found = PathCompleter::file().filter(is_wanted).complete(OsStr::new(path));
    found.into_iter().map(|candidate| candidate.add_prefix(prefix)).collect()
}

/// Models of servers: of a provider that is named, all that are known; else the providers that can be used.
fn server_models(sources: &CompletionSources, name: &str) -> Vec<CompletionCandidate> {
    let catalogue = sources.catalogue();
    let provider = name.split_once('/').map(|(provider, _)| provider);
    let servers = catalogue.providers().into_iter().filter(|server| server.name != "script");
    let mut all = Vec::new();
    for server in servers {
        let is_named = provider == Some(server.name.as_str());
        if !is_named {
            let ready = server.problem.is_none().then(|| (format!("{}/", server.name), String::new()));
            all.extend(ready.filter(|_| provider.is_none()));
            continue;
        }
        let priced = catalogue.prices_known(&server.name).into_iter();
        all.extend(priced.map(|model| {
            let price = price_words(&catalogue.price_of(&model));
            (model, price)
        }));
        if server.name == "ollama" {
            let local = sources.ollama_models().into_iter();
            all.extend(local.map(|model| (format!("ollama/{model}"), "on this machine".to_owned())));
        }
    }
    beginning(name, all)
}

fn price_words(price: &ModelPrice) -> String {
    match price {
        ModelPrice::Free | ModelPrice::PerMillion { input: 0.0, output: 0.0, .. } => "free".to_owned(),
        ModelPrice::PerMillion { input, output, .. } => format!("${input} in, ${output} out"),
        ModelPrice::Unknown => String::new(),
    }
}

/// `key=value`: the keys first, then the values of a key that has a choice.
fn settings(options: &[&'static OptionSpec], word: &str) -> Vec<CompletionCandidate> {
    let Some((key, _)) = word.split_once('=') else {
        let mut seen = Vec::new();
        let keys = options.iter().filter(|option| match seen.contains(&option.key) {
            true => false,
            false => {
                seen.push(option.key);
                true
            }
        });
        return beginning(word, keys.map(|option| (format!("{}=", option.key), option.help.to_owned())));
    };
    let option = options.iter().find(|option| option.key == key);
    let values: &[&str] = match option.map(|option| option.kind) {
        Some(OptionKind::Choice(words)) => words,
        Some(OptionKind::Flag) => &["true", "false"],
        _ => &[],
    };
    beginning(word, values.iter().map(|value| (format!("{key}={value}"), String::new())))
}

fn tools(sources: &CompletionSources, word: &str) -> Vec<CompletionCandidate> {
    let built_in = BUILT_IN_TOOLS.iter().map(|name| ((*name).to_owned(), "built in".to_owned()));
    let own = sources.configuration().tools.keys().filter(|name| !BUILT_IN_TOOLS.contains(&name.as_str()));
    beginning(word, built_in.chain(own.map(|name| (name.clone(), "a server of yours".to_owned()))))
}

fn destinations(sources: &CompletionSources, word: &str) -> Vec<CompletionCandidate> {
    let named =
        sources.configuration().destinations.keys().map(|name| (name.clone(), "configured".to_owned()));
    let kinds = [("file:", "a file"), ("slack:", "a webhook of Slack"), ("discord:", "a webhook of Discord")];
    let kinds = kinds.map(|(kind, help)| (kind.to_owned(), help.to_owned()));
    beginning(word, named.chain(kinds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(all: Vec<CompletionCandidate>) -> Vec<String> {
        all.iter().map(|candidate| candidate.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_last_name_of_a_list_or_chain_is_completed() {
        let sources = CompletionSources::of_words(&["--no-config".into()]);
        for (word, completed) in [
            ("script/demo-a", "script/demo-arena"),
            ("x/y,script/demo-a", "x/y,script/demo-arena"),
            ("x/y,z|script/demo-a", "x/y,z|script/demo-arena"),
        ] {
            assert!(values(models(&sources, word)).contains(&completed.to_owned()), "{word}");
        }
        assert_eq!(values(models(&sources, "no/such")), Vec::<String>::new());
        let named = values(models(&sources, "anthropic/"));
        assert!(named.len() > 3 && named.iter().all(|name| name.starts_with("anthropic/")), "{named:?}");
    }

    #[test]
    fn a_setting_is_completed_key_first() {
        let options: Vec<&OptionSpec> = agon_protocols::find("deep").unwrap().info().options.iter().collect();
        assert_eq!(values(settings(&options, "mo")), ["mode="]);
        assert_eq!(values(settings(&options, "mode=")), ["mode=deep", "mode=standard", "mode=quick"]);
        assert_eq!(values(settings(&options, "strict=f")), ["strict=false"]);
        assert_eq!(values(settings(&options, "max_rounds=")), Vec::<String>::new());
        assert!(values(settings(&options, "weights.")).contains(&"weights.clarity=".to_owned()));
    }

    #[test]
    fn help_knows_verbs_and_chapters() {
        let all = values(help_topics(""));
        assert!(
            ["topics", "security", "doctor"].iter().all(|name| all.contains(&(*name).to_owned())),
            "{all:?}"
        );
        let mut unique = all.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), all.len(), "each once");
    }
}
