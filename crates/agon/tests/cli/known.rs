//! `agon knowledge` from outside.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Home, refused};

const NOTES: &str = "# Payments\n\nThe provider asks for an answer within an hour.\n\n## Retries\n\nA callback can come twice: \
                     look at its id.\n";

/// "`agon knowledge add|list|search|show|forget`, `agon knowledge import FILE...` (Markdown, text)".
#[test]
fn knowledge_is_added_found_shown_and_forgotten() {
    let home = Home::new();
    home.write("notes.md", NOTES);
    home.write("log.txt", "May: 61 alerts.\n\nJune: 12 alerts.");
    let imported = home.agon(&["knowledge", "import", "notes.md", "log.txt"]).ok();
    assert!(imported.out.starts_with("3 entries stored: k-"), "{imported:?}");
    let again = home.agon(&["knowledge", "import", "notes.md", "--json"]).ok().json();
    let listed = home.agon(&["knowledge", "list", "--json"]).ok().json();
    assert_eq!(listed.as_array().unwrap().len(), 3, "what is there word for word is there once");
    assert!(
        again["ids"].as_array().unwrap().iter().all(|id| listed
            .as_array()
            .unwrap()
            .iter()
            .any(|entry| entry["id"] == *id))
    );

    let found = home
        .agon(&["knowledge", "search", "what", "if", "a", "callback", "comes", "twice", "--json"])
        .ok()
        .json();
    assert_eq!(found[0]["title"], "Payments > Retries", "{found:#}");
    let id = found[0]["id"].as_str().unwrap();
    let shown = home.agon(&["knowledge", "show", id]).ok().out.replace(id, "(id)");
    assert_snapshot!(crate::support::steady(&shown), @"
    Payments > Retries
    (id) of (date)...., from notes.md

    A callback can come twice: look at its id.
    ");
    // By its id, the beginning of it, and its id again: one entry.
    let forgotten = home.agon(&["knowledge", "forget", id, &id[..9], id, "--json"]).ok().json();
    assert_eq!(forgotten["ids"], serde_json::json!([id]));
    refused(&home, &["there is no knowledge"], || home.agon(&["knowledge", "show", id]));
    let found = home.agon(&["knowledge", "search", "callback", "--json"]).ok().json();
    assert_eq!(found, Value::Array(Vec::new()));
    let piped = home.agon_with(&["knowledge", "add", "-", "--title", "Piped"], b"It came through a pipe.");
    assert!(piped.ok().out.starts_with("1 entry stored: k-"));
}

#[test]
fn wrong_input_leaves_nothing_behind() {
    let home = Home::new();
    home.write("notes.md", NOTES);
    home.write("binary.md", b"a\0b");
    home.write("empty.md", " \n");
    home.write("bare.md", "# Only a heading\n");
    home.agon(&["knowledge", "add", "Something."]).ok();
    for (args, wants) in [
        (&["import", "notes.md", "missing.md"][..], &["missing.md", "no such file"][..]),
        (&["import", "notes.md", "binary.md"], &["binary.md", "binary file"]),
        (&["import", "empty.md"], &["empty.md", "empty"]),
        (&["import", "bare.md"], &["bare.md", "headings"]),
        (&["import", "."], &["folder"]),
        (&["add", " "], &["the text is empty"]),
        (&["search", "?!"], &["no word to search for"]),
        (&["show", "k-zzzz"], &["there is no knowledge \"k-zzzz\""]),
        (&["forget", "k-zzzz"], &["there is no knowledge \"k-zzzz\""]),
        (&["list", "--limit", "0"], &["--limit"]),
    ] {
        refused(&home, wants, || home.agon(&[&["knowledge"], args].concat()));
    }
}

/// A file that has changed is what it is now: two versions of one section would contradict each other.
#[test]
fn a_file_that_is_imported_again_replaces_what_it_was() {
    let home = Home::new();
    home.write("notes.md", NOTES);
    home.agon(&["knowledge", "import", "notes.md"]).ok();
    home.agon(&["knowledge", "add", "A note of mine.", "--source", "notes.md"]).ok();
    home.write("notes.md", NOTES.replace("within an hour", "within a day"));
    let said = home.agon(&["knowledge", "import", "notes.md", "notes.md"]).ok();
    assert!(said.out.starts_with("2 entries stored") && said.out.contains("1 entry deleted"), "{said:?}");
    let texts: Vec<String> = home
        .agon(&["knowledge", "list", "--json"])
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(
        texts.iter().any(|text| text.contains("within a day"))
            && texts.iter().all(|text| !text.contains("within an hour"))
    );
    assert!(texts.contains(&"A note of mine.".to_owned()));
}

/// What is wrong with a configuration is said before anything is kept, and what a source is called cannot move the cursor.
#[test]
fn a_wrong_configuration_keeps_nothing_and_a_source_cannot_move_the_cursor() {
    let home = Home::new();
    home.write("bad.toml", "modles = []");
    home.agon(&["knowledge", "add", "Something.", "--source", "so\u{1b}[2Jurce\nx"]).ok();
    refused(&home, &["bad.toml"], || home.agon(&["knowledge", "add", "More.", "--config", "bad.toml"]));
    for args in [&["search", "something"][..], &["list"]] {
        let said = home.agon(&[&["knowledge"], args].concat()).ok();
        assert!(!said.out.contains('\u{1b}'), "{said:?}");
    }
}

#[test]
fn a_memory_that_is_not_there_is_refused_with_what_to_do() {
    let home = Home::new();
    assert_eq!(home.agon(&["memory", "list", "--json"]).ok().json(), Value::Array(Vec::new()));
    for verb in ["show", "forget"] {
        refused(&home, &["there is no memory", "agon memory list"], || home.agon(&["memory", verb, "m-1"]));
    }
}
