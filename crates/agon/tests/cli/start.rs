//! `agon` alone: a short start for a person at a terminal, the help for everybody else.

use std::net::TcpListener;

use crate::support::{Home, in_terminal};

/// Nobody listens there.
const NOBODY: (&str, &str) = ("OLLAMA_HOST", "127.0.0.1:1");

#[test]
fn without_a_terminal_it_is_the_help_and_bad_usage() {
    let home = Home::new();
    let said = home.agon::<&str>(&[]);
    assert_eq!((said.status, said.out.as_str()), (Some(2), ""));
    assert_eq!(said.err, home.agon(&["--help"]).ok().out);
    assert!(!home.path("home").exists(), "nothing is created");
}

#[test]
#[cfg(unix)]
fn on_a_terminal_it_says_what_is_there_and_what_to_try() {
    let home = Home::new();
    let (screen, status) = in_terminal(&home, &[NOBODY, ("NO_COLOR", "1")], "", &[]);
    assert_eq!(status, Some(0), "{screen}");
    for part in [
        "structured debate between language models\n",
        "Configuration  none",
        "By key         no key is set",
        "Ollama         not running\n",
        "Built in       embedded/smollm2: 98.4 MB",
        "no debates yet; they will be in ",
        "\nTry\n  agon demo\n",
        "\n  agon deep 'Should a small team",
        "agon help topics",
    ] {
        assert!(screen.contains(part), "{part:?} is not in\n{screen}");
    }
    assert!(!home.path("home").exists(), "looking creates nothing");
}

#[test]
#[cfg(unix)]
fn on_a_machine_in_use_it_goes_on_from_there() {
    let home = Home::new();
    home.debate();
    home.write("home/agon.toml", "models = [\"script/tabs.yaml\"]\n");
    let env = [NOBODY, ("NO_COLOR", "1"), ("OPENAI_API_KEY", "sk-secret")];
    let (screen, status) = in_terminal(&home, &env, "", &[]);
    assert_eq!(status, Some(0), "{screen}");
    for part in [
        "models: script/tabs.yaml",
        "openai/ (OPENAI_API_KEY); not checked",
        "1 debate in ",
        "agon show last\n",
    ] {
        assert!(screen.contains(part), "{part:?} is not in\n{screen}");
    }
    assert!(
        screen.contains("the report of \"Tabs or spaces?\" again") && !screen.contains("sk-secret"),
        "{screen}"
    );
}

/// A server that does not answer must not be waited for.
#[test]
#[cfg(unix)]
fn an_ollama_that_does_not_answer_is_not_checked() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let (screen, status) =
        in_terminal(&Home::new(), &[("OLLAMA_HOST", &address), ("NO_COLOR", "1")], "", &[]);
    assert_eq!(status, Some(0), "{screen}");
    assert!(screen.contains("Ollama         not checked: no answer within 250 ms\n"), "{screen}");
}
