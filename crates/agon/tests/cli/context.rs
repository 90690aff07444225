//! `--context`: what a person attaches to a debate of any protocol.

use serde_json::Value;

use crate::support::{Home, refused};

const DEEP: [&str; 7] = ["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", "--seed", "7", "--json"];

#[test]
fn attached_texts_are_in_the_log_as_context() {
    let home = Home::new();
    home.write("notes.md", "We use tabs since 2019.\n");
    let args = [&DEEP[..], &["--context", "notes.md", "--context", "-"]].concat();
    home.agon_with(&args, b"The linter wants spaces.\n").ok();
    let exported: Value = home.agon(&["export", "last", "--format", "json"]).ok().json();
    let first = exported["log"][0].clone();
    let event = first["body"].as_str().map_or(first.clone(), |body| serde_json::from_str(body).unwrap());
    let files: Vec<(&str, &str, &str)> = event["brief"]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| ["path", "text", "part"].map(|key| file[key].as_str().unwrap_or_default()))
        .map(|[path, text, part]| (path, text, part))
        .collect();
    assert_eq!(
        files,
        [
            ("notes.md", "We use tabs since 2019.\n", "context"),
            ("stdin", "The linter wants spaces.\n", "context")
        ]
    );
}

#[test]
fn every_protocol_takes_context_and_names_what_is_wrong_with_it() {
    let home = Home::new();
    home.write("empty.md", "\n");
    for protocol in agon_protocols::all().map(|protocol| protocol.info()) {
        let help = home.agon(&[protocol.name, "--help"]).ok().out;
        assert!(help.contains("--context <FILE>"), "{}", protocol.name);
    }
    let with = |more: &[&str]| home.agon_with(&[&DEEP[..], more].concat(), b"words");
    refused(&home, &["none.md", "no such file"], || with(&["--context", "none.md"]));
    refused(&home, &["empty.md", "it is empty"], || with(&["--context", "empty.md"]));
    refused(&home, &["stdin can be read only once"], || with(&["--context", "-", "--context", "-"]));
    let both = ["deep", "-", "--models", "script/tabs.yaml", "--context", "-"];
    refused(&home, &["stdin can be read only once"], || home.agon_with(&both, b"words"));
}
