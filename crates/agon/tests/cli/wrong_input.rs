//! "Wrong input of every kind gets a sentence that says what to do, exit status 2, and nothing is lost or
//! half-written."

use std::ffi::OsString;

use crate::support::{Home, refused};

#[test]
fn wrong_words_on_the_command_line() {
    let home = Home::new();
    home.write("wrong.toml", "modles = []\n");
    home.write("binary.toml", [0xff, 0xfe]);
    home.write("broken.yaml", "seats: [\n");
    home.write("notes.txt", "not a database, but long enough to look at\n".repeat(50));
    let deep = |more: &[&str]| {
        let args: Vec<String> = ["deep", "q?"].iter().chain(more).map(ToString::to_string).collect();
        args
    };
    let tabs = |more: &[&str]| deep(&[&["--models", "script/tabs.yaml"], more].concat());
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    for (args, want) in [
        (words(&["debate"]), "unrecognized subcommand"),
        (words(&["deeep", "q"]), "deep"),
        (words(&["deep", "Tabs", "or", "spaces"]), "in quotes"),
        (words(&["Tabs or spaces?"]), "agon deep 'Tabs or spaces?'"),
        (deep(&["--modles", "x"]), "--models"),
        (deep(&["--models", "nobody"]), "provider/model"),
        (deep(&["--models", "nobody/x"]), "no provider"),
        (deep(&["--models", "openai/x"]), "OPENAI_API_KEY"),
        (deep(&["--models", ","]), "empty"),
        (deep(&["--models", "script/none.yaml"]), "none.yaml"),
        (deep(&["--models", "script/broken.yaml"]), "broken.yaml"),
        (deep(&["--models", "script/tabs.yaml|nobody/x"]), "no provider"),
        (tabs(&["--moderator", "nobody/x"]), "no provider"),
        (tabs(&["--set", "max_rounds"]), "key=value"),
        (tabs(&["--set", "rounds=3"]), "there is no option"),
        (tabs(&["--set", "max_rounds=0"]), "from 1 to 20"),
        (tabs(&["--max-rounds", "many"]), "from 1 to 20"),
        (tabs(&["--max-rounds", "-1"]), "from 1 to 20"),
        (tabs(&["--mode", "fast"]), "quick"),
        (tabs(&["--set", "weights.accuracy=99"]), "100"),
        (tabs(&["--set", "execution.timeout.per_llm_call=0"]), "seconds"),
        (tabs(&["--timeout", "0"]), "seconds"),
        (tabs(&["--timeout", "-1"]), "seconds"),
        (tabs(&["--timeout", "NaN"]), "seconds"),
        (tabs(&["--timeout", "soon"]), "number"),
        (tabs(&["--deadline", "0"]), "seconds"),
        (tabs(&["--budget-usd", "-2"]), "dollars"),
        (tabs(&["--max-calls", "0"]), "--max-calls"),
        (tabs(&["--max-tokens", "x"]), "--max-tokens"),
        (tabs(&["--seed", "-1"]), "--seed"),
        (tabs(&["--seed", "9007199254740992"]), "--seed"),
        (tabs(&["--json", "--events"]), "--events"),
        (tabs(&["--config", "none.toml"]), "none.toml: there is no such file"),
        (tabs(&["--config", "wrong.toml"]), "wrong.toml: line 1 (modles)"),
        (tabs(&["--config", "binary.toml"]), "binary.toml: it is not UTF-8"),
        (tabs(&["--config", "."]), "folder"),
        (tabs(&["--db", "notes.txt"]), "notes.txt"),
        (tabs(&["--db", "."]), "folder"),
        (tabs(&["--save", "notes.txt"]), "notes.txt"),
        (words(&["list", "--db", "none.db"]), "none.db: there is no such store"),
        (words(&["show", "1abc"]), "there is no debate \"1abc\""),
        (words(&["show", "last"]), "there is no debate \"last\""),
        (words(&["show"]), "<ID>"),
        (words(&["search"]), "<WORDS>"),
        (words(&["search", "?!"]), "no word"),
        (words(&["export", "last", "--format", "pdf"]), "possible values: md, html, json, yaml"),
        (words(&["verify", "none.json"]), "none.json: there is no such file"),
        (words(&["verify", "/none/at/all"]), "/none/at/all: there is no such file"),
        (words(&["verify", "none"]), "there is no debate"),
        (words(&["verify", "."]), "it is a folder"),
        (words(&["help", "deeep"]), "deeep"),
        (words(&["verify", "tabs.yaml"]), "tabs.yaml"),
        (words(&["branch", "last"]), "--at"),
        (words(&["completions", "tcsh"]), "bash"),
        (words(&["man", "deeep"]), "no verb"),
    ] {
        refused(&home, &[want], || home.agon(&args));
    }
}

#[test]
fn a_number_that_is_none_is_told_in_plain_words() {
    let home = Home::new();
    for (args, want) in [
        (&["deep", "q?", "--seed", "abc"][..], "it must be a whole number from 0 to"),
        (&["deep", "q?", "--max-calls", "many"], "it must be a whole number, 1 or more"),
        (&["branch", "last", "--at", "x"], "it must be a whole number, 0 or more"),
        (&["list", "--limit", "0"], "it must be a whole number, 1 or more"),
    ] {
        refused(&home, &[want], || home.agon(args));
    }
}

#[test]
fn a_question_that_is_empty_too_long_or_not_text() {
    let home = Home::new();
    let args = ["deep", "--models", "script/tabs.yaml"];
    let dash = ["deep", "-", "--models", "script/tabs.yaml"];
    refused(&home, &["is empty"], || home.agon(&["deep", "  ", "--models", "script/tabs.yaml"]));
    refused(&home, &["help: agon deep \"your question\", or: agon deep - < FILE"], || home.agon(&args));
    refused(&home, &["is empty"], || home.agon_with(&dash, b"\n"));
    let long = vec![b'x'; 10 << 20];
    refused(&home, &["longer than 256 KB"], || home.agon_with(&dash, &long));
    refused(&home, &["longer than 256 KB"], || home.agon_with(&args, &long));
    refused(&home, &["not UTF-8"], || home.agon_with(&dash, b"caf\xe9?"));
}

#[test]
#[cfg(unix)]
fn an_argument_that_is_not_utf_8() {
    use std::os::unix::ffi::OsStringExt;
    let home = Home::new();
    let raw = || OsString::from_vec(b"caf\xe9?".to_vec());
    refused(&home, &["not UTF-8"], || home.agon(&["deep".into(), raw()]));
    refused(&home, &["not UTF-8"], || home.agon(&["deep".into(), "q".into(), "--models".into(), raw()]));
    refused(&home, &["there is no such file"], || {
        home.agon(&["deep".into(), "q".into(), "--config".into(), raw()])
    });
    refused(&home, &["there is no debate"], || home.agon(&["verify".into(), raw()]));
}

#[test]
fn a_line_of_a_batch_is_named_before_the_first_call() {
    let home = Home::new();
    home.write("empty.jsonl", "\n");
    home.write("bad.jsonl", "{\"question\": \"fine\"}\n{\"question\": 3}\n");
    home.write("binary.jsonl", b"{\"question\": \"caf\xe9\"}\n");
    home.write("out.jsonl", "kept\n");
    home.write("good.jsonl", "{\"question\": \"fine\"}\n");
    let batch = |more: &[&str]| home.agon(&[&["batch", "--models", "script/tabs.yaml"], more].concat());
    refused(&home, &["there is no line"], || batch(&["empty.jsonl"]));
    refused(&home, &["bad.jsonl: line 2: "], || batch(&["bad.jsonl", "--out", "new.jsonl"]));
    refused(&home, &["binary.jsonl: line 1: it is not UTF-8"], || batch(&["binary.jsonl"]));
    refused(&home, &["no such file"], || batch(&["none.jsonl"]));
    refused(&home, &["--force"], || batch(&["good.jsonl", "--out", "out.jsonl"]));
    refused(&home, &["possible values"], || batch(&["good.jsonl", "--protocol", "chess"]));
    refused(&home, &["--concurrency"], || batch(&["good.jsonl", "--concurrency", "0"]));
    let key = [("OPENAI_API_KEY", "sk-secret")];
    refused(&home, &["no model is named"], || home.agon_in(&key, &["batch", "good.jsonl"]));
}

#[test]
fn a_kept_debate_is_not_harmed_by_wrong_input() {
    let home = Home::new();
    let id = home.debate()["id"].as_str().unwrap().to_owned();
    let before = home.agon(&["export", &id, "--format", "json"]).ok();
    home.write("there.md", "kept");
    for (args, want) in [
        (vec!["branch", &id, "--at", "9"], "has rounds 0 to"),
        (vec!["branch", &id, "--at", "1", "--set", "rounds=2"], "there is no option"),
        (vec!["branch", &id, "--at", "1", "--models", "nobody/x"], "no provider"),
        (vec!["resume", &id, "--say", "wait"], "is over"),
        (vec!["resume", &id, "--say", " "], "is empty"),
        (vec!["export", &id, "-o", "there.md"], "nothing is overwritten"),
    ] {
        let said = home.agon(&args);
        assert_eq!(said.status, Some(2), "{said:?}");
        assert!(said.err.contains(want), "wanted {want:?} in {said:?}");
    }
    assert_eq!(home.agon(&["export", &id, "--format", "json"]), before);
    assert_eq!(home.agon(&["list", "--json"]).json().as_array().unwrap().len(), 1);
    assert_eq!(home.read("there.md"), "kept");
}

#[test]
fn a_wrong_key_stops_with_a_sentence_and_the_log_is_kept() {
    let home = Home::new();
    home.write("key.yaml", crate::support::wrong_key());
    let said = home.agon(&["deep", "q?", "--models", "script/key.yaml", "--json"]);
    assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{said:?}");
    assert!(said.err.contains("error: ") && said.err.contains("agon resume "), "{said:?}");
    assert_eq!(home.agon(&["list", "--json"]).json()[0]["status"], "interrupted");
}
