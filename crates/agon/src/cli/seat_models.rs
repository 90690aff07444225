//! The models of the seats when none are named, and whether the named ones can be used.
//!
//! An API key does not say which model is meant, and a wrong guess costs money, so the user is asked to name one. Models
//! that run on this machine are free: those of a running Ollama are used, else the embedded one.

use std::collections::BTreeSet;
use std::time::Duration;

use agon_core::Brief;
use agon_engine::{ModelPrice, ModelSource};
use agon_models::{ModelCatalogue, SMOLLM2};

use super::app::App;
use super::configuration::Configuration;
use super::errors::CliError;
use super::model_files;
use super::output;
use super::paths::{Environment, process_env};
use super::runtime::block_on;

/// A local Ollama answers within a few milliseconds.
const OLLAMA_TIMEOUT: Duration = Duration::from_millis(400);
/// One that the user named may be on another machine.
const NAMED_OLLAMA_TIMEOUT: Duration = Duration::from_secs(3);
/// The variable that names an Ollama.
const OLLAMA_ENV: &str = "OLLAMA_HOST";
const OLLAMA: &str = "ollama";
const OLLAMA_MODELS_MAX: usize = 3;

/// The models for a debate that names none, or an error that asks the user to name one.
pub fn default_models(catalogue: &ModelCatalogue) -> Result<Vec<String>, CliError> {
    if let Some((provider, variable)) = provider_with_key(catalogue, &process_env) {
        return Err(name_a_model(&provider, &variable));
    }
    let is_named = process_env(OLLAMA_ENV).is_some_and(|host| !host.is_empty());
    let timeout = if is_named { NAMED_OLLAMA_TIMEOUT } else { OLLAMA_TIMEOUT };
    let local = match ollama_models(catalogue, timeout)? {
        OllamaModels::Found(models) => models,
        OllamaModels::None { why } if is_named => return Err(no_ollama(&why)),
        OllamaModels::None { .. } => return Ok(vec![format!("embedded/{SMOLLM2}")]),
    };
    output::note(&format!(
        "note: no model is named, so models of the local Ollama are used: {}.",
        local.join(", ")
    ));
    Ok(local)
}

/// A provider that the user has set up, and the variable that shows it.
fn provider_with_key(catalogue: &ModelCatalogue, env: Environment) -> Option<(String, String)> {
    let mut with_key = catalogue.providers().into_iter().filter(|provider| provider.key_present);
    let by_key = with_key.find_map(|provider| Some((provider.name, provider.key_env?)));
    let bases =
        [("openai", "OPENAI_BASE_URL"), ("anthropic", "ANTHROPIC_BASE_URL"), ("gemini", "GEMINI_BASE_URL")];
    by_key.or_else(|| {
        let set = bases.into_iter().find(|(_, name)| env(name).is_some_and(|value| !value.is_empty()));
        set.map(|(provider, name)| (provider.to_owned(), name.to_owned()))
    })
}

/// What an Ollama has to debate with.
enum OllamaModels {
    /// Its first models, without those that only make embeddings.
    Found(Vec<String>),
    None {
        why: String,
    },
}

fn ollama_models(catalogue: &ModelCatalogue, timeout: Duration) -> Result<OllamaModels, CliError> {
    let none = |why| Ok(OllamaModels::None { why });
    let Some(probe) = block_on(catalogue.probe_one(OLLAMA, timeout))? else {
        let infos = catalogue.providers().into_iter();
        let problem = infos.filter(|info| info.name == OLLAMA).find_map(|info| info.problem);
        return none(problem.unwrap_or_else(|| "it cannot be used".to_owned()));
    };
    let Some(models) = probe.models else { return none(probe.problem.unwrap_or_default()) };
    let chat_models = models.into_iter().filter(|model| can_chat(model)).take(OLLAMA_MODELS_MAX);
    let chat_models: Vec<String> = chat_models.map(|model| format!("{OLLAMA}/{model}")).collect();
    match chat_models.is_empty() {
        true => none(format!("the Ollama at {} has no model that can debate", probe.base_url)),
        false => Ok(OllamaModels::Found(chat_models)),
    }
}

/// The user named an Ollama, so another model would be a surprise.
fn no_ollama(why: &str) -> CliError {
    CliError::input(format!("{OLLAMA_ENV} is set and no model is named, but {why}"))
        .with_help("start that Ollama, fetch a model with `ollama pull llama3.2:3b`, or name a model: --models PROVIDER/MODEL")
        .with_help(format!("to use the tiny built-in model: --models embedded/{SMOLLM2}"))
}

/// Refuses a brief with a model that the Ollama which answers does not have, before anything is stored: such a debate could not even be
/// resumed. Other servers may have models that they do not list.
pub fn check_ollama_models(brief: &Brief, catalogue: &ModelCatalogue) -> Result<(), CliError> {
    let links = chain_links(brief_models(brief)).filter(|link| !has_fallback(brief, link));
    let wanted: BTreeSet<&str> = links.filter_map(|link| link.strip_prefix("ollama/")).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let probe = block_on(catalogue.probe_one(OLLAMA, NAMED_OLLAMA_TIMEOUT))?;
    let Some(models) = probe.and_then(|probe| probe.models) else { return Ok(()) };
    // Ollama takes a name without a tag for the latest.
    let has = |name: &str| {
        models.iter().any(|known| {
            known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(&format!("{name}:latest"))
        })
    };
    let Some(missing) = wanted.into_iter().find(|name| !has(name)) else { return Ok(()) };
    let known = if models.is_empty() { "no models yet".to_owned() } else { models.join(", ") };
    Err(CliError::input(format!("Ollama has no model {missing:?}; it has {known}"))
        .with_help(format!("`ollama pull {missing}` fetches it, if the name is right")))
}

/// Whether a model of Ollama can take a seat, as its name tells. Others only make embeddings.
pub fn can_chat(model: &str) -> bool {
    !["embed", "minilm", "bge-"].iter().any(|part| model.contains(part))
}

fn name_a_model(provider: &str, variable: &str) -> CliError {
    CliError::input(format!(
        "{variable} is set, but no model is named: add --models {provider}/MODEL, or `models` to agon.toml"
    ))
    .with_help(
        "agon does not guess a model, because a call costs money; `agon doctor` lists the provider's models",
    )
    .with_help(format!("to use the tiny built-in model: --models embedded/{SMOLLM2}"))
    .with_help("to name models once for all debates: agon init, then `models = [..]` in agon.toml")
}

/// The names of a brief's models.
pub fn brief_models(brief: &Brief) -> impl Iterator<Item = &str> {
    brief.seats.iter().map(|seat| seat.model.as_str())
}

/// The single models in fallback chains.
fn chain_links<'a>(names: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    names.into_iter().flat_map(|name| name.split('|')).map(str::trim)
}

/// Fetches the files of the embedded model if one of these names needs them.
pub fn fetch_model_files<'a>(
    app: &'a App<'_>,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<(), CliError> {
    fetch_files(app.configuration()?, names, app.flag("quiet"))
}

/// The same, with a configuration instead of an app.
pub fn fetch_files<'a>(
    configuration: &'a Configuration,
    names: impl IntoIterator<Item = &'a str>,
    is_quiet: bool,
) -> Result<(), CliError> {
    if needs_files(configuration, names) {
        model_files::ensure_model_files(&[SMOLLM2], is_quiet)?;
    }
    Ok(())
}

/// Whether one of these models answers from files that may have to be fetched.
pub fn needs_files<'a>(configuration: &'a Configuration, names: impl IntoIterator<Item = &'a str>) -> bool {
    let answering = names.into_iter().map(|name| configuration.answering_model(name));
    let embedded = format!("embedded/{SMOLLM2}");
    chain_links(answering).any(|link| link == embedded)
}

/// What the user should know about embedded models before a batch of debates.
pub fn embedded_notices<'a>(
    names: impl IntoIterator<Item = &'a str>,
    models: &dyn ModelSource,
) -> BTreeSet<String> {
    let embedded = chain_links(names).filter(|link| link.starts_with("embedded/"));
    embedded.filter_map(|link| models.model(link).ok()?.notice("")).collect()
}

/// What the user should know about a debate's models before it begins.
pub fn notices(brief: &Brief, models: &dyn ModelSource) -> Vec<String> {
    let mut notices = Vec::new();
    let links = chain_links(brief_models(brief));
    for notice in links.filter_map(|link| models.model(link).ok()?.notice(&brief.question)) {
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }
    notices
}

/// Refuses a brief with models that do not exist or, under a budget in dollars, have no known price. This happens
/// before anything is stored, so that a mistyped name leaves nothing behind.
pub fn check_models(brief: &Brief, models: &dyn ModelSource) -> Result<(), CliError> {
    for name in chain_links(brief_models(brief)) {
        let model = models.model(name)?;
        if let Some(sentence) = model.missing().filter(|_| !has_fallback(brief, name)) {
            return Err(CliError::input(sentence));
        }
        if brief.limits.usd.is_some() && model.price() == ModelPrice::Unknown {
            return Err(unknown_price(name));
        }
    }
    Ok(())
}

/// Whether every seat of a model has another model in its chain.
fn has_fallback(brief: &Brief, name: &str) -> bool {
    let mut seats =
        brief.seats.iter().filter(|seat| chain_links([seat.model.as_str()]).any(|link| link == name));
    seats.all(|seat| seat.model.contains('|'))
}

fn unknown_price(name: &str) -> CliError {
    let error =
        CliError::input(format!("a budget in US dollars needs the price of {name}, which is not known"));
    match name.strip_prefix("command/") {
        // The tokens of a program are not counted, so its price can only be nothing.
        Some(program) => error
            .with_help(format!(
                "if it costs nothing, set `free = true` under [commands.{program}] in agon.toml"
            ))
            .with_help("or omit --budget-usd and use --max-calls"),
        None => error
            .with_help(format!("add it to agon.toml: [prices] \"{name}\" = {{ input = 1.0, output = 4.0 }}"))
            .with_help("in US dollars per million tokens; or omit --budget-usd and use --max-tokens"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_a_key_without_a_model_names_the_variable_and_hides_the_key() {
        let env = |name: &str| (name == "ANTHROPIC_API_KEY").then(|| "sk-secret".to_owned());
        let catalogue = ModelCatalogue::new(agon_models::ModelsConfig::default(), env);
        let error = default_models(&catalogue).unwrap_err().to_string();
        assert!(error.contains("ANTHROPIC_API_KEY is set") && error.contains("anthropic/MODEL"), "{error}");
        assert!(!error.contains("sk-secret"), "{error}");
    }
}
