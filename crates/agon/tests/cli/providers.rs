//! Keys, models and chains, against a server of each wire format.

use std::time::Duration;

use agon_mock::{MockResponse, MockServer, MockSettings, converging_debate};

use crate::support::{Home, Said};

/// A provider of each wire, the variables for its address and its key.
const WIRES: [(&str, &str, &str); 3] = [
    ("openai", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    ("anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    ("gemini", "GEMINI_BASE_URL", "GEMINI_API_KEY"),
];
const KEY: &str = "sk-0123456789-secret";

fn answering(response: MockResponse) -> MockServer {
    MockServer::start(MockSettings::new(move |_| response.clone())).unwrap()
}

fn talking() -> MockServer {
    MockServer::start(MockSettings { responder: converging_debate(Duration::ZERO), keep: 1_000 }).unwrap()
}

/// Where a wire's base is on this server.
fn base(mock: &MockServer, provider: &str) -> String {
    if provider == "openai" { mock.url() } else { mock.root() }
}

fn deep(home: &Home, env: &[(&str, &str)], models: &str, more: &[&str]) -> Said {
    home.agon_in(env, &[&["deep", "Tabs or spaces?", "--models", models, "--seed", "7"], more].concat())
}

#[test]
fn without_a_key_nothing_is_asked_and_the_sentence_names_the_variable() {
    let home = Home::new();
    for (provider, _, variable) in WIRES {
        let said = deep(&home, &[], &format!("{provider}/x"), &["--json"]);
        assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{said:?}");
        assert!(said.err.contains(&format!("{provider} needs a key: set {variable}")), "{said:?}");
    }
    assert!(!home.path("home").exists(), "nothing is stored");
}

/// "a wrong key or model stops at once with a sentence that names the variable or the model".
#[test]
fn a_wrong_key_stops_at_once_and_names_the_variable() {
    for (provider, address, variable) in WIRES {
        let (home, mock) = (Home::new(), answering(MockResponse::error(401, "invalid api key")));
        let env = [(address, &*base(&mock, provider)), (variable, KEY)];
        let said = deep(&home, &env, &format!("{provider}/x"), &["--json"]);
        assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{provider}: {said:?}");
        assert!(said.err.contains(&format!("does not accept the key in {variable}")), "{provider}: {said:?}");
        assert!(said.err.contains("agon resume 1"), "{provider}: {said:?}");
        assert!(!said.err.contains(KEY), "{provider}: {said:?}");
        assert!(mock.calls() <= 3, "{provider}: one call for each debater at most, {}", mock.calls());
    }
}

#[test]
fn a_wrong_model_stops_at_once_and_names_the_model() {
    for (provider, address, variable) in WIRES {
        let (home, mock) = (Home::new(), answering(MockResponse::error(404, "no such model")));
        let env = [(address, &*base(&mock, provider)), (variable, KEY)];
        let said = deep(&home, &env, &format!("{provider}/no-such-model"), &["--json"]);
        assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{provider}: {said:?}");
        assert!(said.err.contains(&format!("{provider} has no model \"no-such-model\"")), "{said:?}");
        assert!(mock.calls() <= 3, "{provider}: one call for each debater at most, {}", mock.calls());
    }
}

#[test]
fn a_whole_debate_is_held_in_each_wire_format() {
    for (provider, address, variable) in WIRES {
        let (home, mock) = (Home::new(), talking());
        let env = [(address, &*base(&mock, provider)), (variable, KEY)];
        let outcome = deep(&home, &env, &format!("{provider}/x"), &["--json"]).ok().json();
        assert_eq!((&outcome["status"], &outcome["fidelity"]), (&"complete".into(), &"full".into()));
        assert_eq!(outcome["usage"]["usd"], serde_json::Value::Null, "another seller's price is not known");
    }
}

/// "Fallback chains (`openai/x|anthropic/y`): the second takes the seat when the first is down, and the report says who really
/// spoke."
#[test]
fn the_second_of_a_chain_speaks_when_the_first_is_down() {
    let (home, down, up) = (Home::new(), answering(MockResponse::error(503, "overloaded")), talking());
    home.write("home/agon.toml", "[limits]\nretries = 0\n");
    let env = [
        ("OPENAI_BASE_URL", &*down.url()),
        ("OPENAI_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", &*up.root()),
        ("ANTHROPIC_API_KEY", KEY),
    ];
    let outcome = deep(&home, &env, "openai/x|anthropic/y", &["--json"]).ok().json();
    assert_eq!(outcome["fidelity"], "full", "{outcome:#}");
    for seat in outcome["seats"].as_array().unwrap() {
        assert_eq!(seat["model"], "openai/x|anthropic/y");
        assert_eq!(seat["spoke"], serde_json::json!(["anthropic/y"]), "{seat}");
    }
    assert!(down.calls() > 0 && up.calls() > 0);
    let report = home.agon(&["show", "last"]).ok().out;
    assert!(report.contains("openai/x|anthropic/y (anthropic/y spoke)"), "{report}");
}

#[test]
fn a_chain_whose_first_has_no_key_is_refused_before_the_first_call() {
    let (home, up) = (Home::new(), talking());
    let env = [("OPENAI_BASE_URL", &*up.url()), ("OPENAI_API_KEY", KEY)];
    let said = deep(&home, &env, "gemini/x|openai/y", &["--json"]);
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("GEMINI_API_KEY") && up.calls() == 0, "{said:?}");
}

/// Under a limit on the memory that the process may have.
#[test]
#[cfg(target_os = "linux")]
fn a_server_cannot_fill_the_memory() {
    let piece = || vec![b'a'; 1 << 20];
    for (response, expected) in [
        (MockResponse::endless(200, "application/json", piece()), "longer than 16 MB"),
        (MockResponse::endless(200, "text/event-stream", piece()), "longer than 16 MB"),
        (MockResponse::endless(500, "application/json", piece()), "HTTP 500"),
    ] {
        let (home, mock) = (Home::new(), answering(response));
        let url = mock.url();
        let env = [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", KEY)];
        let args = ["deep", "Tabs or spaces?", "--models", "openai/x", "--json"];
        let said = home.agon_limited("ulimit -v 1500000", &env, &args);
        assert_eq!(said.status, Some(3), "{said:?}");
        assert!(format!("{said:?}").contains(expected), "{said:?}");
    }
}
