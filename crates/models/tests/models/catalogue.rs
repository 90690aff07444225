//! From names to models, or to a sentence that says what to do.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::{KEY, ask, call, mock};
use agon_engine::{ModelPrice, ModelSource};
use agon_mock::MockResponse;
use agon_models::{ModelCatalogue, ModelsConfig};

fn catalogue(config: &str, env: &[(&str, &str)]) -> ModelCatalogue {
    let env: BTreeMap<String, String> = env.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    ModelCatalogue::new(toml::from_str::<ModelsConfig>(config).unwrap(), |name| env.get(name).cloned())
}

fn why(catalogue: &ModelCatalogue, name: &str) -> String {
    catalogue.model(name).err().unwrap_or_else(|| panic!("{name} should not be there")).0
}

#[test]
fn an_unknown_name_lists_what_there_is() {
    let catalogue = catalogue("[providers.local]\nbase_url = \"http://127.0.0.1:8080/v1\"", &[]);
    for name in ["gpt-4o", "", "nobody/x", "openai/", "command/", "human/", "script/", "/x"] {
        let why = why(&catalogue, name);
        assert!(
            why.contains("openai/MODEL") && why.contains("local/MODEL") && why.contains("script/demo"),
            "{name}: {why}"
        );
        assert!(why.contains("command/NAME") && why.contains("human/NAME"), "{name}: {why}");
    }
}

#[test]
fn programs_and_people_are_models_by_name() {
    let config =
        "[commands.paid]\ncommand = [\"agent\", \"-p\"]\n[commands.own]\ncommand = [\"x\"]\nfree = true";
    let catalogue = catalogue(config, &[]);
    let price = |name: &str| catalogue.model(name).unwrap().price();
    assert_eq!((price("command/paid"), price("command/own")), (ModelPrice::Unknown, ModelPrice::Free));
    let none = why(&catalogue, "command/other");
    assert!(none.contains("[commands.other]") && none.contains("command/own, command/paid"), "{none}");
    assert!(why(&catalogue, "human/anna").contains("needs a terminal"), "there is no terminal");
    let with_terminal = catalogue.with_terminal(Arc::new(agon_models::TerminalPrompt::on_this_terminal()));
    let anna = with_terminal.model("human/anna").unwrap();
    assert_eq!((anna.name(), anna.provider(), anna.price()), ("human/anna", "human", ModelPrice::Free));
    assert!(why(&with_terminal, "human/a b").contains("letters"));
}

#[test]
fn a_missing_key_is_an_error_before_any_call_and_names_the_variable() {
    let catalogue =
        catalogue("[providers.local]\nbase_url = \"http://127.0.0.1:8080/v1\"\nkey_env = \"LOCAL_KEY\"", &[]);
    for (name, variable) in [
        ("openai/x", "OPENAI_API_KEY"),
        ("anthropic/x", "ANTHROPIC_API_KEY"),
        ("gemini/x", "GEMINI_API_KEY"),
        ("embeddings/openai/x", "OPENAI_API_KEY"),
        ("openrouter/x/y", "OPENROUTER_API_KEY"),
        ("groq/x", "GROQ_API_KEY"),
        ("deepseek/x", "DEEPSEEK_API_KEY"),
        ("xai/x", "XAI_API_KEY"),
        ("mistral/x", "MISTRAL_API_KEY"),
        ("local/x", "LOCAL_KEY"),
    ] {
        assert!(why(&catalogue, name).contains(variable), "{name}");
    }
    assert!(catalogue.model("ollama/x").is_ok(), "Ollama needs no key");
}

#[test]
fn openai_needs_no_key_at_another_address() {
    assert!(catalogue("", &[("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")]).model("openai/x").is_ok());
    let real = catalogue("", &[("OPENAI_BASE_URL", "https://api.openai.com/v1/")]);
    assert!(why(&real, "openai/x").contains("OPENAI_API_KEY"));
    assert!(
        why(&catalogue("", &[("OPENAI_BASE_URL", "localhost:80")]), "openai/x").contains("OPENAI_BASE_URL")
    );
    assert!(why(&catalogue("", &[("OLLAMA_HOST", "ftp://x")]), "ollama/x").contains("OLLAMA_HOST"));
}

#[test]
fn a_malformed_key_is_an_error_that_does_not_show_it() {
    let why = why(&catalogue("", &[("OPENAI_API_KEY", "sk-se cret")]), "openai/x");
    assert!(why.contains("OPENAI_API_KEY") && !why.contains("cret"), "{why}");
}

#[tokio::test]
async fn a_configured_provider_is_called_with_the_key_of_its_variable() {
    let mock = mock(|_| MockResponse::say("Yes."));
    let config = format!("[providers.local]\nbase_url = \"{}\"\nkey_env = \"LOCAL_KEY\"", mock.url());
    let catalogue = catalogue(&config, &[("LOCAL_KEY", &format!(" {KEY}\n"))]);
    let model = catalogue.model("local/m").unwrap();
    assert_eq!((model.name(), model.provider()), ("local/m", "local"));
    ask(&*model, &call(), false).await.0.unwrap();
    assert_eq!(mock.requests()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}

#[test]
fn configured_prices_are_used_and_unknown_ones_stay_unknown() {
    let prices = "[prices]\n\"openai/x\" = { input = 1.0, cached_input = 0.1, output = 4.0 }";
    let catalogue = catalogue(prices, &[("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")]);
    let price = |name: &str| catalogue.model(name).unwrap().price();
    assert_eq!(
        price("openai/x"),
        ModelPrice::PerMillion { input: 1.0, cached_input: 0.1, cache_write: 1.0, output: 4.0 }
    );
    assert_eq!(price("openai/y"), ModelPrice::Unknown);
    assert_eq!(price("ollama/x"), ModelPrice::Free);
}

#[test]
fn well_known_models_have_the_price_of_their_own_provider() {
    let keys =
        ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GROQ_API_KEY"].map(|name| (name, KEY));
    let prices = "[prices]\n\"openai/gpt-4o-mini\" = { input = 9, output = 9 }\n";
    let own = catalogue(prices, &keys);
    let price = |name: &str| own.model(name).unwrap().price();
    let gpt_4o = ModelPrice::PerMillion { input: 2.5, cached_input: 1.25, cache_write: 2.5, output: 10.0 };
    assert_eq!((price("openai/gpt-4o"), price("openai/gpt-4o-2024-08-06")), (gpt_4o, gpt_4o));
    let sonnet = ModelPrice::PerMillion { input: 3.0, cached_input: 0.3, cache_write: 3.75, output: 15.0 };
    assert_eq!(price("anthropic/claude-sonnet-4-5-20250929"), sonnet);
    let embedding =
        ModelPrice::PerMillion { input: 0.02, cached_input: 0.02, cache_write: 0.02, output: 0.0 };
    assert_eq!(price("embeddings/openai/text-embedding-3-small"), embedding);
    let mini = ModelPrice::PerMillion { input: 9.0, cached_input: 9.0, cache_write: 9.0, output: 9.0 };
    assert_eq!(price("openai/gpt-4o-mini"), mini, "a configured price overrides the table");
    assert_eq!(price("openai/gpt-4o-something"), ModelPrice::Unknown);
    assert_eq!(price("groq/gpt-4o"), ModelPrice::Unknown, "another provider's model of that name");
    assert!(own.prices_known("openai").contains(&"openai/gpt-4o".to_owned()));
    assert_eq!(own.prices_as_of().len(), "2025-12-31".len());
}

#[test]
fn another_sellers_prices_are_unknown() {
    let elsewhere = "[providers.mine]\nbase_url = \"https://gateway.example/v1\"\n\
        [providers.theirs]\nbase_url = \"https://api.openai.com/v1\"\n\
        [providers.groq]\nbase_url = \"http://api.groq.com/openai/v1\"\n";
    let catalogue = catalogue(elsewhere, &[("OPENAI_BASE_URL", "https://gateway.example/v1")]);
    let price = |name: &str| catalogue.model(name).unwrap().price();
    assert_eq!((price("openai/gpt-4o"), price("mine/gpt-4o")), (ModelPrice::Unknown, ModelPrice::Unknown));
    assert_ne!(price("theirs/gpt-4o"), ModelPrice::Unknown, "the same seller by another name");
    assert_eq!(price("groq/llama-3.1-8b-instant"), ModelPrice::Unknown, "http:// does not prove who answers");
    assert!(catalogue.prices_known("openai").is_empty() && catalogue.prices_known("nobody").is_empty());
}

#[test]
fn every_base_url_can_be_overridden_by_a_variable() {
    let infos = catalogue("", &[]).providers();
    let servers: Vec<&str> =
        infos.iter().filter(|info| info.base_url.is_some()).map(|info| info.name.as_str()).collect();
    for name in servers {
        let variable =
            if name == "ollama" { "OLLAMA_HOST".into() } else { format!("{}_BASE_URL", name.to_uppercase()) };
        let moved = catalogue("", &[(&variable, "http://127.0.0.1:9/v1")]);
        let info = moved.providers().into_iter().find(|info| info.name == name).unwrap();
        assert_eq!(info.base_url.as_deref(), Some("http://127.0.0.1:9/v1"), "{variable}");
        assert_eq!(info.problem, None, "a server elsewhere may need no key");
    }
}

#[test]
fn a_wrong_config_stops_every_model() {
    let catalogue = catalogue("[providers.x]\nbase_url = \"nowhere\"", &[]);
    assert!(why(&catalogue, "script/demo").contains("[providers.x]"));
}

#[test]
fn a_built_in_script_needs_no_file() {
    let scripts = [("demo".to_owned(), "seats: {\"*\": {\"*\": Yes.}}"), ("wrong".to_owned(), "seats: 1")];
    let catalogue = catalogue("", &[]).with_scripts(scripts);
    assert_eq!(catalogue.built_in_scripts(), ["script/demo", "script/wrong"]);
    assert_eq!(catalogue.model("script/demo").unwrap().name(), "script/demo");
    assert!(why(&catalogue, "script/wrong").contains("the script wrong: "));
    assert!(why(&catalogue, "script/none").contains("the script none: "));
}

#[test]
fn a_model_is_made_once() {
    let catalogue = catalogue("", &[]).with_scripts([("demo".to_owned(), "seats: {\"*\": {\"*\": Yes.}}")]);
    let (a, b) = (catalogue.model("script/demo").unwrap(), catalogue.model("script/demo").unwrap());
    assert!(Arc::ptr_eq(&a, &b));
}

#[test]
fn provider_infos_say_whether_a_key_is_set_and_never_the_key() {
    let config = "[prices]\n\"groq/x\" = { input = 1, output = 1 }";
    let catalogue = catalogue(config, &[("GROQ_API_KEY", KEY), ("OPENAI_BASE_URL", "nonsense")]);
    let infos = catalogue.providers();
    let info = |name: &str| infos.iter().find(|info| info.name == name).unwrap();
    assert_eq!(info("groq").base_url.as_deref(), Some("https://api.groq.com/openai/v1"));
    assert_eq!((info("groq").key_env.as_deref(), info("groq").key_present), (Some("GROQ_API_KEY"), true));
    assert_eq!((&info("groq").problem, &info("groq").models), (&None, &vec!["groq/x".to_owned()]));
    assert!(!info("xai").key_present && info("xai").problem.as_ref().unwrap().contains("XAI_API_KEY"));
    assert!(info("openai").problem.as_ref().unwrap().contains("OPENAI_BASE_URL"));
    assert!(info("script").problem.is_none());
    assert!(!format!("{infos:?} {catalogue:?}").contains(KEY));
}
