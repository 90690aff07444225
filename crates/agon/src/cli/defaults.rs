//! Who sits when nobody is named.
//!
//! A key alone does not say which model is meant, and a wrong guess costs money: then the person is asked. What runs here costs
//! nothing: the models of an Ollama that answers, else the embedded one.

use std::collections::BTreeSet;
use std::time::Duration;

use agon_core::Brief;
use agon_embedded::Source;
use agon_engine::Models;
use agon_models::{Catalogue, SMOLLM2};

use super::failure::Failure;
use super::place::Env;
use super::{output, pull, run};

/// An Ollama on this machine answers in a few milliseconds; one that does not is not waited for.
const OLLAMA_TIMEOUT: Duration = Duration::from_millis(400);
/// More different models than this are not needed to disagree.
const MODELS_MAX: usize = 3;

/// The models for a debate that names none, or a sentence that asks for one.
pub fn models(catalogue: &Catalogue, env: Env) -> Result<Vec<String>, Failure> {
    if let Some((provider, variable)) = key_seen(catalogue, env) {
        return Err(no_models(&provider, &variable));
    }
    let local = ollama(catalogue)?;
    if local.is_empty() {
        return Ok(vec![format!("embedded/{SMOLLM2}")]);
    }
    output::note(&format!(
        "note: no model is named, and Ollama runs here: {} sit at the table.",
        local.join(", ")
    ));
    Ok(local)
}

/// Brings the files of the embedded model here, if a seat of one of these names needs them.
pub fn fetch<'a>(models: impl IntoIterator<Item = &'a str>, quiet: bool) -> Result<(), Failure> {
    let embedded = format!("embedded/{SMOLLM2}");
    let mut links = models.into_iter().flat_map(|name| name.split('|')).map(str::trim);
    if links.any(|link| link == embedded) {
        pull::ensure(&[SMOLLM2], &Source::Auto, quiet)?;
    }
    Ok(())
}

/// What a person should know about embedded models before they speak, each thing once.
pub fn notices<'a>(names: impl IntoIterator<Item = &'a str>, models: &dyn Models) -> BTreeSet<String> {
    let links = names.into_iter().flat_map(|name| name.split('|')).map(str::trim);
    let embedded = links.filter(|link| link.starts_with("embedded/"));
    embedded
        .filter_map(|link| models.model(link).ok()?.notice(""))
        .map(|notice| format!("note: {notice}"))
        .collect()
}

/// The names of all models of a brief.
pub fn names(brief: &Brief) -> impl Iterator<Item = &str> {
    brief.seats.iter().map(|seat| seat.model.as_str())
}

/// A provider that the person seems to have in mind, and the variable that shows it.
fn key_seen(catalogue: &Catalogue, env: Env) -> Option<(String, String)> {
    let has = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    let keys = catalogue.providers().into_iter().filter(|provider| provider.key_present);
    let bases =
        [("openai", "OPENAI_BASE_URL"), ("anthropic", "ANTHROPIC_BASE_URL"), ("gemini", "GEMINI_BASE_URL")];
    let base = bases.into_iter().find(|(_, name)| has(name));
    keys.filter_map(|provider| Some((provider.name, provider.key_env?)))
        .next()
        .or_else(|| base.map(|(provider, name)| (provider.to_owned(), name.to_owned())))
}

/// The models of an Ollama that runs, without those that only make embeddings.
fn ollama(catalogue: &Catalogue) -> Result<Vec<String>, Failure> {
    let probe = run::runtime()?.block_on(catalogue.probe_one("ollama", OLLAMA_TIMEOUT));
    let models = probe.and_then(|probe| probe.models).unwrap_or_default();
    let speaks = |model: &String| !["embed", "minilm", "bge-"].iter().any(|mute| model.contains(mute));
    Ok(models.into_iter().filter(speaks).take(MODELS_MAX).map(|model| format!("ollama/{model}")).collect())
}

fn no_models(provider: &str, variable: &str) -> Failure {
    Failure::input(format!(
        "{variable} is set, but no model is named: add --models {provider}/MODEL, or `models` to agon.toml"
    ))
    .help("which one to take is not ours to guess: it costs money; `agon doctor` lists what the provider has")
    .help(format!("to hold the debate with the tiny model that is built in: --models embedded/{SMOLLM2}"))
    .help("to set it once and for all: agon init, then `models = [..]` in agon.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_without_a_model_is_named_and_not_shown() {
        let env = |name: &str| (name == "ANTHROPIC_API_KEY").then(|| "sk-secret".to_owned());
        let catalogue = Catalogue::new(agon_models::Config::default(), env);
        let failure = models(&catalogue, &|_| None).unwrap_err();
        let sentence = failure.to_string();
        assert!(
            sentence.contains("ANTHROPIC_API_KEY is set") && sentence.contains("anthropic/MODEL"),
            "{sentence}"
        );
        assert!(!sentence.contains("sk-secret"), "{sentence}");
    }
}
