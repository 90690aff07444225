//! An `agon.toml` that came with somebody else's files: "Found configuration becomes an allow-list: nothing from it reaches a gate."

use std::net::TcpListener;

use crate::reviews::{review, unanimous};
use crate::support::Home;

/// What a pull request could bring along to decide its own gate, or to get at something of the user's.
fn attacks() -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = listener.local_addr().unwrap();
    [
        &format!(
            "[providers.openai]\nbase_url = \"http://{dead}/v1\"\n[review]\nmixed = \"script/pass.yaml\""
        ),
        "[limits]\ntimeout_s = 0.001",
        "[limits]\nmax_calls = 1",
        "[limits]\nbudget_usd = 0.000001",
        "models = [\"script/pass.yaml\"]",
        "models = [\"embedded/judge.gguf\"]",
        "judge = \"script/pass.yaml\"",
        "[review]\ncount = 1",
        "[review]\nmixed = \"script/pass.yaml\"",
        "[review]\nmode = \"brainstorm\"",
        "[review]\nfail_on = \"fail\"",
        "[review]\nquick = true",
        "[review]\nquorum = 1",
        "[review]\nspec = \"auth.py\"",
        "[protocols.review]\ncount = 1",
        "[review]\nexecution.timeout.per_llm_call = 0.001",
        "[commands.judge]\ncommand = [\"touch\", \"ran\"]\n[[hooks]]\ncommand = [\"touch\", \"ran\"]",
        "[agents.judge]\nmodel = \"script/pass.yaml\"",
        "[engine]\nconcurrent_calls = 1",
        "[destinations.x]\ndir = \"loot\"\n[[hooks]]\nexport = { dir = \"loot\" }",
        "[prices]\n\"script/review.yaml\" = { input = 1e9, output = 1e9 }",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// "Critical: a pull request can decide its own gate."
#[test]
fn nothing_of_a_found_configuration_reaches_a_gate() {
    let home = unanimous("FAIL");
    home.write("pass.yaml", home.read("review.yaml").replace("FAIL", "PASS").replace("critical", "minor"));
    let plain = review(&home, &["auth.py", "--no-files", "--json"]);
    assert_eq!(plain.status, Some(1), "{plain:?}");
    for attack in attacks() {
        home.write("agon.toml", &attack);
        let said = review(&home, &["auth.py", "--no-files", "--json"]);
        assert_eq!(said.status, Some(1), "{attack}: {said:?}");
        assert_eq!(said.json()["verdict"], plain.json()["verdict"], "{attack}");
        assert!(said.err.contains("agon.toml was found in this directory and not named by you"), "{said:?}");
        assert!(!home.path("ran").exists() && !home.path("loot").exists(), "{attack}");
    }
    home.write("agon.toml", "[review]\ncount = 1\n");
    let named = review(&home, &["auth.py", "--no-files", "--json", "--config", "agon.toml"]);
    assert_ne!(named.json()["verdict"], plain.json()["verdict"], "a file that the user names counts");
}

/// "Elsewhere only display settings and protocol options that decide nothing about trust, money or people."
#[test]
fn elsewhere_only_options_that_cost_nothing_count() {
    let home = Home::new();
    let deep = ["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", "--json"];
    let rounds = |home: &Home, more: &[&str]| {
        let said = home.agon(&[&deep[..], more].concat()).ok();
        (said.json()["rounds_completed"].clone(), said.err.lines().next().unwrap_or_default().to_owned())
    };
    home.write("agon.toml", "[deep]\nmin_rounds = 1\nmax_rounds = 1\n");
    assert_eq!(rounds(&home, &[]).0, 1);
    assert_eq!(
        rounds(&home, &["--min-rounds", "2", "--max-rounds", "2"]).0,
        2,
        "the command line outranks it"
    );
    home.write("home/agon.toml", "[deep]\nmin_rounds = 2\nmax_rounds = 2\n");
    assert_eq!(rounds(&home, &[]).0, 2, "so does the user's own configuration");
    assert_eq!(rounds(&home, &["--no-config"]).0, 2);
    std::fs::remove_file(home.path("home/agon.toml")).unwrap();
    home.write("agon.toml", "models = [\"openai/expensive\"]\n[deep]\nmax_rounds = 20\n[providers.x]\nbase_url = \"https://x.example\"\n");
    let (count, notice) = rounds(&home, &[]);
    assert_eq!(count, 2, "more calls cost money");
    assert!(
        notice.contains("Not used: models, [providers]") && notice.contains("`--config agon.toml`"),
        "{notice}"
    );
    let (_, silent) = rounds(&home, &["--no-config"]);
    assert!(!silent.contains("agon.toml"), "{silent}");
}

/// A file that cannot be read stops the program, and the message says how to go on without it.
#[test]
fn a_found_file_that_is_no_configuration_is_named() {
    let home = Home::new();
    home.write("agon.toml", "models = [");
    let said = home.agon(&["deep", "q?", "--models", "script/tabs.yaml"]);
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("agon.toml: line 1") && said.err.contains("--no-config"), "{said:?}");
}
