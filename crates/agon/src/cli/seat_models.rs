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
const OLLAMA_MODELS_MAX: usize = 3;

/// The models for a debate that names none, or an error that asks the user to name one.
pub fn default_models(catalogue: &ModelCatalogue) -> Result<Vec<String>, CliError> {
    if let Some((provider, variable)) = provider_with_key(catalogue, &process_env) {
        return Err(name_a_model(&provider, &variable));
    }
    let local = ollama_models(catalogue)?;
    if local.is_empty() {
        return Ok(vec![format!("embedded/{SMOLLM2}")]);
    }
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

/// The models of a running Ollama, without those that only make embeddings.
fn ollama_models(catalogue: &ModelCatalogue) -> Result<Vec<String>, CliError> {
    let probe = block_on(catalogue.probe_one("ollama", OLLAMA_TIMEOUT))?;
    let models = probe.and_then(|probe| probe.models).unwrap_or_default();
    let chat_models = models.into_iter().filter(|model| can_chat(model)).take(OLLAMA_MODELS_MAX);
    Ok(chat_models.map(|model| format!("ollama/{model}")).collect())
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
