//! `embeddings/minilm`, and which embeddings are in use by default.
//!
//! Tests that need the model's files look for them in the folder `minilm` under `AGON_TEST_MODELS`. Without that variable they
//! print a line and pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::{KEY, ask, call, message};
use agon_embedded::{ModelFileState, ModelFileStore, known_model};
use agon_engine::{CallFaultKind, MessageRole, Model, ModelCall, ModelPrice, ModelSource};
use agon_models::{ModelCatalogue, ModelsConfig};
use futures_util::FutureExt;
use serde_json::{Value, json};

fn catalogue(models_dir: Option<&Path>, chosen: Option<&str>) -> ModelCatalogue {
    let mut config = ModelsConfig { models_dir: models_dir.map(Path::to_owned), ..ModelsConfig::default() };
    config.embeddings.model = chosen.map(str::to_owned);
    ModelCatalogue::new(config, |name| (name == "OPENAI_API_KEY").then(|| KEY.into()))
}

fn asking(texts: &Value) -> ModelCall {
    ModelCall { messages: vec![message(MessageRole::User, &texts.to_string())], ..call() }
}

/// The folder with the model's files.
async fn models_folder() -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("AGON_TEST_MODELS").map(PathBuf::from) else {
        println!("skipped: MiniLM's files are not here; set AGON_TEST_MODELS to a folder that has minilm/");
        return None;
    };
    let (shelf, minilm) = (ModelFileStore::new(&folder), known_model("minilm").unwrap());
    let state = match shelf.state(minilm) {
        // The files were copied there by hand.
        ModelFileState::Unchecked { .. } => shelf.verify(minilm, &|_| {}).await.unwrap(),
        state => state,
    };
    let present = matches!(state, ModelFileState::Present { .. });
    assert!(present, "AGON_TEST_MODELS is set, but {} is {state:?}", folder.join("minilm").display());
    Some(folder)
}

fn minilm(models_dir: &Path) -> Arc<dyn Model> {
    catalogue(Some(models_dir), None).model("embeddings/minilm").unwrap()
}

#[tokio::test]
async fn minilm_measures_similarity() {
    let Some(place) = models_folder().await else { return };
    let model = minilm(&place);
    assert_eq!((model.name(), model.provider()), ("embeddings/minilm", "minilm"));
    assert_eq!((model.price(), model.at_once()), (ModelPrice::Free, Some(1)));
    let texts = json!(["The price is too high.", "It costs too much.", "Penguins cannot fly.", ""]);
    let answer = ask(&*model, &asking(&texts), false).await.0.unwrap();
    let rows = serde_json::from_str::<Value>(&answer.text).unwrap();
    let similarity = |a: usize, b: usize| rows["similarity"][a][b].as_f64().unwrap();
    assert!((similarity(0, 1) - 0.7039).abs() < 2e-4, "as in the reference implementation: {rows}");
    assert!(similarity(0, 2) < 0.2 && similarity(0, 3) == 0.0, "{rows}");
    assert!(answer.usage.input_tokens > 15 && answer.usage.output_tokens == 0, "{:?}", answer.usage);
    let none = ask(&*model, &asking(&json!([])), false).await.0.unwrap();
    assert_eq!(none.text, r#"{"similarity":[]}"#);
}

/// This test has one thread. A model that computed on it would be ready at the first poll.
#[tokio::test]
async fn minilm_does_not_block_the_runtime() {
    let Some(place) = models_folder().await else { return };
    let model = minilm(&place);
    let texts = json!(vec!["Should we measure first, or move the billing service at once?"; 20]);
    let call = asking(&texts);
    let mut answer = Box::pin(ask(&*model, &call, false));
    assert!((&mut answer).now_or_never().is_none(), "the files are read on another thread");
    assert!(answer.await.0.is_ok());
    let mut answer = Box::pin(ask(&*model, &call, false));
    assert!((&mut answer).now_or_never().is_none(), "the vectors are computed on another thread");
    assert!(answer.await.0.is_ok());
}

#[cfg(unix)]
#[tokio::test]
async fn files_removed_before_the_first_call_are_a_fault_that_says_what_to_do() {
    let Some(place) = models_folder().await else { return };
    // Links, so that the real files stay.
    let folder = tempfile::tempdir().unwrap();
    let links = folder.path().join("minilm");
    fs::create_dir(&links).unwrap();
    for entry in fs::read_dir(fs::canonicalize(place.join("minilm")).unwrap()).unwrap().map(Result::unwrap) {
        std::os::unix::fs::symlink(entry.path(), links.join(entry.file_name())).unwrap();
    }
    let model = minilm(folder.path());
    fs::remove_file(links.join("config.json")).unwrap();
    let fault = ask(&*model, &asking(&json!(["a"])), false).await.0.unwrap_err();
    assert_eq!(fault.kind, CallFaultKind::NoSuchModel);
    assert!(fault.message.contains("`agon models pull minilm`"), "{}", fault.message);
}

#[tokio::test]
async fn minilm_is_in_use_if_its_files_are_here_and_nothing_else_is_configured() {
    let Some(place) = models_folder().await else { return };
    let in_use = catalogue(Some(&place), None).embeddings_in_use();
    assert_eq!((in_use.model.as_str(), in_use.problem), ("embeddings/minilm", None));
    let chosen = catalogue(Some(&place), Some("lexical")).embeddings_in_use();
    assert_eq!((chosen.model.as_str(), chosen.problem), ("embeddings/lexical", None));
}

#[test]
fn without_its_files_minilm_says_how_to_get_them() {
    let folder = tempfile::tempdir().unwrap();
    let why = |models_dir: Option<&Path>| {
        catalogue(models_dir, None).model("embeddings/minilm").err().expect("it has no files").0
    };
    let missing = why(Some(folder.path()));
    assert!(missing.contains("not here") && missing.contains("`agon models pull minilm`"), "{missing}");
    fs::create_dir(folder.path().join("minilm")).unwrap();
    fs::write(folder.path().join("minilm/config.json"), vec![b' '; 612]).unwrap();
    let partly = why(Some(folder.path()));
    assert!(partly.contains("only a part") && partly.contains("`agon models pull minilm`"), "{partly}");
    fs::write(folder.path().join("minilm/config.json"), "{}").unwrap();
    let wrong = why(Some(folder.path()));
    assert!(
        wrong.contains("2 bytes instead of 612") && wrong.contains("`agon models pull minilm`"),
        "{wrong}"
    );
    assert!(why(None).contains("AGON_HOME"), "{}", why(None));
}

#[test]
fn configured_embeddings_are_used_first() {
    let folder = tempfile::tempdir().unwrap();
    for (models_dir, chosen, model, why, problem) in [
        (Some(folder.path()), None, "embeddings/lexical", "`agon models pull minilm`", None),
        (None, None, "embeddings/lexical", "AGON_HOME", None),
        (None, Some("lexical"), "embeddings/lexical", "[embeddings]", None),
        (None, Some("openai/m"), "embeddings/openai/m", "[embeddings]", None),
        (
            Some(folder.path()),
            Some("minilm"),
            "embeddings/minilm",
            "[embeddings]",
            Some("`agon models pull minilm`"),
        ),
        (None, Some("groq/m"), "embeddings/groq/m", "[embeddings]", Some("GROQ_API_KEY")),
        (None, Some("nobody/m"), "embeddings/nobody/m", "[embeddings]", Some("embeddings/lexical")),
    ] {
        let in_use = catalogue(models_dir, chosen).embeddings_in_use();
        assert_eq!(in_use.model, model);
        assert!(in_use.why.contains(why), "{model}: {}", in_use.why);
        assert_eq!(in_use.problem.is_some(), problem.is_some(), "{:?}", in_use.problem);
        assert!(in_use.problem.unwrap_or_default().contains(problem.unwrap_or_default()), "{model}");
    }
}
