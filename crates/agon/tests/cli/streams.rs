//! What goes to stdout and what to stderr, and how a debate's end becomes an exit status.

use std::io::{BufRead, BufReader};

use serde_json::Value;

use crate::support::{Home, TABS};

const DEEP: [&str; 6] = ["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", "--seed", "7"];

fn deep<'a>(more: &[&'a str]) -> Vec<&'a str> {
    DEEP.iter().chain(more).copied().collect()
}

#[test]
fn json_is_one_outcome_on_stdout_and_nothing_else_anywhere() {
    let said = Home::new().agon(&deep(&["--json"])).ok();
    let outcome = said.json();
    assert_eq!(said.err, "");
    for key in [
        "id",
        "protocol",
        "question",
        "status",
        "termination",
        "rounds_completed",
        "verdict",
        "dissent",
        "fidelity",
        "absences",
        "warnings",
        "labels",
        "seats",
        "evidence",
        "usage",
        "receipt",
    ] {
        assert!(outcome.get(key).is_some(), "{key} is missing");
    }
    assert_eq!((&outcome["protocol"], &outcome["status"]), (&"deep".into(), &"complete".into()));
    assert_eq!((&outcome["termination"], &outcome["rounds_completed"]), (&"converged".into(), &2.into()));
}

#[test]
fn events_are_the_log_as_it_is_stored() {
    let home = Home::new();
    let said = home.agon(&deep(&["--events"])).ok();
    assert_eq!(said.err, "");
    let exported = home.agon(&["export", "last", "--format", "json"]).ok().json();
    let stored = exported["log"].as_array().unwrap().iter();
    let stored: Vec<String> = stored
        .map(|link| {
            let body = link["body"].as_str().unwrap().strip_suffix('}').unwrap();
            format!("{body},\"hash\":{}}}", link["hash"])
        })
        .collect();
    assert_eq!(said.out.lines().collect::<Vec<_>>(), stored);
    let first: Value = serde_json::from_str(&stored[0]).unwrap();
    let last: Value = serde_json::from_str(&stored[stored.len() - 1]).unwrap();
    assert_eq!((&first["event"], &last["event"]), (&"opened".into(), &"closed".into()));
}

#[test]
fn quiet_prints_nothing_but_the_result() {
    let home = Home::new();
    let quiet = home.agon(&deep(&["--quiet"])).ok();
    assert_eq!(quiet.err, "");
    assert_eq!(quiet.out, home.agon(&["show", "last"]).ok().out);
    let save = |more: &[&str]| home.agon(&deep(&[&["--save", "kept"], more].concat())).ok().err;
    assert_eq!(save(&["--quiet"]), "");
    assert_eq!(save(&["--quiet", "--json"]), "");
    assert!(save(&["--json"]).starts_with("saved in kept"));
}

#[test]
fn in_a_pipe_there_is_no_colour_no_spinner_and_no_carriage_return() {
    let said = Home::new().agon(&deep(&[])).ok();
    for stream in [&said.out, &said.err] {
        assert!(!stream.is_empty() && !stream.contains(['\u{1b}', '\r']), "{stream:?}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let home = Home::new();
    for args in [deep(&["--events"]), deep(&["--json"]), vec!["--help"], vec!["protocols"]] {
        let mut child = home.command(&args).spawn().unwrap();
        drop(child.stdout.take());
        let said = crate::support::said(child);
        assert_eq!((said.status, said.err.contains("panic")), (Some(0), false), "{args:?}: {said:?}");
    }
    let listed = home.agon(&["list", "--json"]).json();
    assert!(listed.as_array().unwrap().iter().all(|debate| debate["status"] == "complete"), "{listed}");
}

#[test]
fn events_come_while_it_happens() {
    let home = Home::new();
    home.write(
        "slow.yaml",
        TABS.replace("    synthesis:\n", "    synthesis: {fail: timeout}\n    unused:\n"),
    );
    let mut child =
        home.command(&["deep", "q?", "--models", "script/slow.yaml", "--events"]).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The chair never answers: that its ask can be read here means that nothing waited for the end.
    let asked = lines.map_while(Result::ok).any(|line| line.contains("\"phase\":\"synthesis\""));
    assert!(asked);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_question_can_come_from_stdin() {
    let home = Home::new();
    for args in [
        &["deep", "-", "--models", "script/tabs.yaml", "--json"][..],
        &["deep", "--models", "script/tabs.yaml", "--json"],
    ] {
        assert_eq!(home.agon_with(args, b"  Tabs or spaces?\n").ok().json()["question"], "Tabs or spaces?");
    }
}

#[test]
fn a_debate_that_cannot_complete_is_exit_status_3_with_what_there_is() {
    let home = Home::new();
    let absent = TABS
        .replace("answer: Tabs. Everybody sees the width they like.", "answer: { fail: refuse }")
        .replace("answer: Spaces. A file looks the same everywhere.", "answer: { fail: refuse }");
    home.write("lost.yaml", absent);
    let said = home.agon(&["deep", "q?", "--models", "script/lost.yaml", "--json"]);
    assert_eq!(said.status, Some(3), "{said:?}");
    let outcome = said.json();
    assert_eq!(outcome["termination"], "quorum_lost");
    assert_eq!(outcome["absences"].as_array().unwrap().len(), 2);
}

#[test]
fn a_dry_run_as_json_has_seats_calls_tokens_and_price() {
    let home = Home::new();
    let outcome = home.agon(&deep(&["--dry-run", "--json", "--max-rounds", "4"])).ok().json();
    assert_eq!(outcome["seats"].as_array().unwrap().len(), 5);
    // Three answers, two to four rounds of three debaters and a moderator, one synthesis.
    assert_eq!((&outcome["calls"]["min"], &outcome["calls"]["max"]), (&12.into(), &20.into()));
    for key in ["input_tokens", "output_tokens", "usd"] {
        let (min, max) = (outcome[key]["min"].as_f64().unwrap(), outcome[key]["max"].as_f64().unwrap());
        assert!(min <= max, "{key}: {min} to {max}");
    }
    assert!(!home.path("home").exists());
}

#[test]
fn a_dry_run_says_the_same_whenever_it_is_asked_and_keeps_to_the_limits() {
    let home = Home::new();
    let dry = |more: &[&str]| {
        let args = ["deep", "q?", "--models", "script/tabs.yaml", "--dry-run", "--json"];
        home.agon(&[&args[..], more].concat()).ok().json()
    };
    let first = dry(&[]);
    for _ in 0..5 {
        assert_eq!(dry(&[]), first);
    }
    let limited = dry(&["--max-calls", "3"]);
    assert_eq!((&limited["calls"]["min"], &limited["calls"]["max"]), (&3.into(), &3.into()));
    assert_eq!(limited["output_tokens"]["max"], 3 * 4096);
    assert!(limited["input_tokens"]["max"].as_u64() < first["input_tokens"]["max"].as_u64());
    assert_eq!(dry(&["--max-tokens", "1000"])["input_tokens"]["max"], 1000);
}

#[test]
fn a_price_that_is_not_known_is_unknown_and_never_nothing() {
    let home = Home::new();
    let run = |args: &[&str]| {
        let mut command = home.command(args);
        crate::support::said(command.env("OPENAI_API_KEY", "sk-secret").spawn().unwrap())
    };
    let dry = ["deep", "q?", "--models", "openai/unheard-of", "--dry-run", "--json"];
    assert_eq!(run(&dry).ok().json()["usd"], Value::Null);
    let said = run(&["deep", "q?", "--models", "openai/unheard-of", "--budget-usd", "1"]);
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("price") && said.err.contains("openai/unheard-of"), "{said:?}");
    home.write("home/agon.toml", "[prices]\n\"openai/unheard-of\" = { input = 1.0, output = 4.0 }\n");
    let priced = run(&dry).ok().json();
    assert!(priced["usd"]["max"].as_f64().unwrap() > priced["usd"]["min"].as_f64().unwrap());
    assert!(!home.path("home/agon.db").exists());
}

/// A script that was written for another question says so: its words must not pass for an answer.
#[test]
fn a_script_for_another_question_says_so_and_quiet_does_not() {
    let home = Home::new();
    for (flags, noted) in [(&["--json"][..], true), (&["--quiet"], false)] {
        let ran = home.agon(&[&["deep", "Ship on Friday?", "--models", "script/tabs.yaml"], flags].concat());
        assert_eq!(ran.err.contains("note: script/tabs.yaml gives its replies to"), noted, "{}", ran.err);
    }
}

/// A full disk under stdout is told, whatever is printed there.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told() {
    let home = Home::new();
    for face in ["--json", "--events", "--quiet"] {
        let args = ["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", face];
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let said = crate::support::said(home.command(&args).stdout(full).spawn().unwrap());
        assert_eq!(said.status, Some(3), "{face}: {said:?}");
        assert!(said.err.contains("stdout cannot be written"), "{face}: {said:?}");
    }
}
