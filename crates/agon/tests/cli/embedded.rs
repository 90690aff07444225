//! Nobody named, no key, no Ollama: the embedded model sits. With the model's file at hand (`AGON_TEST_MODELS`) it really speaks.

use std::path::PathBuf;

use agon_mock::{MockResponse, MockServer, MockSettings};
use serde_json::json;

use crate::support::Home;

/// Where nobody listens, so that an Ollama on this machine changes nothing.
const NOBODY: (&str, &str) = ("OLLAMA_HOST", "127.0.0.1:9");

/// The same without the variable, which would say that an Ollama is wanted.
fn home_without_ollama() -> Home {
    let home = Home::new();
    home.write("home/agon.toml", "[providers.ollama]\nbase_url = \"http://127.0.0.1:9/v1\"\n");
    home
}

// "With no key, no Ollama and no config, the embedded model sits on every seat".
#[test]
fn the_embedded_model_sits_where_nobody_is_named() {
    let home = home_without_ollama();
    let said = home.agon(&["deep", "Tabs?", "--dry-run", "--json"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    let plan: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let seats = plan["seats"].as_array().unwrap();
    assert!(!seats.is_empty() && seats.iter().all(|seat| seat["model"] == "embedded/smollm2"), "{plan}");
    assert!(!home.path("home/models").exists(), "a dry run fetches nothing");
}

// A user who names an Ollama does not want another model.
#[test]
fn an_ollama_that_is_named_and_does_not_answer_is_an_error() {
    let home = Home::new();
    let said = home.agon_in(&[NOBODY], &["deep", "Tabs?"]);
    assert_eq!(said.status, Some(2), "{}", said.err);
    for part in ["OLLAMA_HOST is set", "cannot be reached at http://127.0.0.1:9/v1", "embedded/smollm2"] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    assert_eq!(home.agon(&["list", "--json"]).out.trim(), "[]");
}

#[test]
fn a_model_that_ollama_does_not_have_is_refused_before_anything_is_stored() {
    let home = Home::new();
    let list = json!({"object": "list", "data": [{"id": "llama3.2:3b"}, {"id": "qwen3:latest"}]});
    let mock = MockServer::start(MockSettings::new(|_| MockResponse::say("Tabs."))).unwrap();
    mock.list(move |_| MockResponse::json(200, &list));
    let host = mock.url().replace("/v1", "");
    let said =
        home.agon_in(&[("OLLAMA_HOST", &host)], &["deep", "Tabs?", "--models", "ollama/qwen3,ollama/nosuch"]);
    assert_eq!(said.status, Some(2), "{}", said.err);
    assert!(said.err.contains("no model \"nosuch\"; it has llama3.2:3b, qwen3:latest"), "{}", said.err);
    assert_eq!(home.agon(&["list", "--json"]).out.trim(), "[]");
}

#[test]
fn the_models_of_an_ollama_that_runs_sit_instead() {
    let home = Home::new();
    let list = json!({"object": "list", "data": [{"id": "llama3.2:3b"}, {"id": "nomic-embed-text"}, {"id": "qwen3:8b"}]});
    let mock = MockServer::start(MockSettings::new(|_| MockResponse::say("Tabs."))).unwrap();
    mock.list(move |_| MockResponse::json(200, &list));
    let host = mock.url().replace("/v1", "");
    let said = home.agon_in(&[("OLLAMA_HOST", &host)], &["deep", "Tabs?", "--dry-run", "--json"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    assert!(said.out.contains("ollama/llama3.2:3b") && said.out.contains("ollama/qwen3:8b"), "{}", said.out);
    assert!(!said.out.contains("embed"), "{}", said.out);
    assert!(said.err.contains("models of the local Ollama are used"), "{}", said.err);
}

#[test]
fn a_key_without_a_model_is_a_question_and_no_guess() {
    let home = Home::new();
    for (variable, named) in [
        ("OPENAI_API_KEY", "openai/MODEL"),
        ("ANTHROPIC_API_KEY", "anthropic/MODEL"),
        ("GEMINI_API_KEY", "gemini/MODEL"),
        ("GOOGLE_API_KEY", "gemini/MODEL"),
    ] {
        let said = home.agon_in(&[NOBODY, (variable, "sk-secret")], &["deep", "Tabs?"]);
        assert_eq!(said.status, Some(2), "{}", said.err);
        assert!(
            said.err.contains(variable) && said.err.contains(named) && said.err.contains("embedded/smollm2"),
            "{}",
            said.err
        );
        assert!(!said.err.contains("sk-secret"));
    }
}

// "done by itself on the first run that needs it": with no way to fetch it, the run ends before anything is stored.
#[test]
fn a_first_run_that_cannot_fetch_the_model_says_all_that_was_tried() {
    let home = home_without_ollama();
    let env = [("HF_ENDPOINT", "http://127.0.0.1:9"), ("PATH", "/nowhere")];
    let said = home.agon_in(&env, &["deep", "Tabs?"]);
    assert_eq!(said.status, Some(3), "{}", said.err);
    assert!(
        said.err.contains("pip") && said.err.contains("127.0.0.1:9") && said.err.contains("--from"),
        "{}",
        said.err
    );
    assert_eq!(home.agon(&["list", "--json"]).out.trim(), "[]");
}

#[test]
fn a_file_of_ones_own_that_is_no_model_is_named() {
    let home = Home::new();
    home.write("text.gguf", "no model");
    let said = home.agon(&["deep", "Tabs?", "--models", "embedded/text.gguf"]);
    assert_eq!(said.status, Some(2), "{}", said.err);
    assert!(said.err.contains("text.gguf") && said.err.contains("GGUF"), "{}", said.err);
    let said = home.agon(&["deep", "Tabs?", "--models", "embedded/missing.gguf"]);
    assert!(said.status == Some(2) && said.err.contains("there is no file missing.gguf"), "{}", said.err);
}

// The README's main command, with the model already pulled.
#[test]
fn a_real_debate_between_real_tiny_models() {
    let Some(models) = std::env::var_os("AGON_TEST_MODELS").map(PathBuf::from) else {
        println!("skipped: AGON_TEST_MODELS is not set");
        return;
    };
    let home = home_without_ollama();
    copy(&models.join("smollm2"), &home.path("home/models/smollm2"));
    let args = ["deep", "Should children learn chess at school?", "--seed", "7", "--json", "--mode", "quick"];
    let said = home.agon(&args);
    assert_eq!(said.status, Some(0), "{}", said.err);
    assert!(said.err.contains("tiny model"), "{}", said.err);
    let one: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(one["status"], "complete");
    let answer = one["verdict"]["answer"].as_str().unwrap();
    assert!(answer.split_whitespace().count() > 3 && !answer.contains("<|"), "{answer}");
    assert_eq!(one["absences"], json!([]), "every structured reply counts");
    assert_eq!(one["usage"]["usd"], 0.0);
    assert!(one["seats"].as_array().unwrap().iter().all(|seat| seat["spoke"] == json!(["embedded/smollm2"])));
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() { copy(&path, &to) } else { std::fs::copy(path, to).map(drop).unwrap() }
    }
}
