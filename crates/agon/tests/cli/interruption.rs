//! Ctrl-C, kill -9, two processes, and going on afterwards.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command};

use serde_json::Value;

use crate::support::{Home, Said, TABS, said};

const SLOW: [&str; 6] = ["deep", "Tabs or spaces?", "--models", "script/slow.yaml", "--seed", "7"];

/// A home whose chair never answers, until [`mend`].
pub(crate) fn home() -> Home {
    let home = Home::new();
    let (before, _) = TABS.split_once("    synthesis:\n").unwrap();
    home.write("slow.yaml", format!("{before}    synthesis: {{ fail: timeout }}\n"));
    home
}

pub(crate) fn mend(home: &Home) {
    home.write("slow.yaml", TABS);
}

/// Starts the debate and waits until the chair's call has left.
fn started(home: &Home) -> Child {
    started_in(home, &[])
}

/// With these variables.
pub(crate) fn started_in(home: &Home, env: &[(&str, &str)]) -> Child {
    let mut command = home.command(&[&SLOW[..], &["--events"]].concat());
    let mut child = command.envs(env.iter().copied()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut chair = None;
    loop {
        let event: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        if event["phase"] == "synthesis" {
            chair = Some(event["asks"][0]["id"].clone());
        }
        if event["event"] == "sent" && Some(&event["ask"]) == chair.as_ref() {
            break;
        }
    }
    // Somebody must go on reading, or the pipe breaks.
    std::thread::spawn(move || lines.for_each(drop));
    child
}

pub(crate) fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

fn id(home: &Home) -> String {
    home.agon(&["list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned()
}

/// For each ask how often its call left.
fn sent(home: &Home) -> BTreeMap<u64, usize> {
    let exported = home.agon(&["export", "last", "--format", "json"]).ok().json();
    let mut sent = BTreeMap::new();
    for link in exported["log"].as_array().unwrap() {
        let event: Value = serde_json::from_str(link["body"].as_str().unwrap()).unwrap();
        if event["event"] == "sent" {
            *sent.entry(event["ask"].as_u64().unwrap()).or_default() += 1;
        }
    }
    sent
}

/// The same debate without any interruption.
fn straight(home: &Home) -> Value {
    home.agon(&[&SLOW[..], &["--json"]].concat()).ok().json()
}

fn resumes_to_the_same_verdict(home: &Home) -> Value {
    mend(home);
    let outcome = home.agon(&["resume", "last", "--json"]).ok().json();
    let straight = straight(home);
    for key in ["verdict", "termination", "labels", "dissent"] {
        assert_eq!(outcome[key], straight[key], "{key}");
    }
    outcome
}

#[test]
fn ctrl_c_ends_in_order_with_the_resume_line() {
    let home = home();
    let child = started(&home);
    signal(&child, "-INT");
    let ended = said(child);
    assert_eq!(ended.status, Some(130), "{ended:?}");
    let id = id(&home);
    assert!(ended.err.contains("press Ctrl-C again"), "{ended:?}");
    assert!(ended.err.lines().any(|line| line == format!("agon resume {id}")), "{ended:?}");
    assert_eq!(home.agon(&["list", "--json"]).json()[0]["status"], "interrupted");
    let shown = home.agon(&["show", &id]).ok();
    assert!(
        shown.out.contains(&format!("agon resume {id}")) && shown.out.contains("Tabs or spaces?"),
        "{shown:?}"
    );
    resumes_to_the_same_verdict(&home);
}

#[test]
fn a_second_ctrl_c_and_sigterm_end_too() {
    let home = home();
    let mut child = started(&home);
    signal(&child, "-TERM");
    let mut err = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(err.next().unwrap().unwrap().starts_with("stopping: "));
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let rest: Vec<String> = err.map_while(Result::ok).collect();
    assert!(rest.contains(&format!("agon resume {}", id(&home))), "{rest:?}");
    resumes_to_the_same_verdict(&home);
}

#[test]
fn kill_9_loses_nothing_that_was_answered_and_repeats_no_answered_call() {
    let home = home();
    let mut child = started(&home);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(sent(&home).values().all(|times| *times == 1));
    mend(&home);
    let outcome = home.agon(&["resume", "last", "--json"]).ok().json();
    let (chair, others): (Vec<_>, Vec<_>) = sent(&home).into_iter().partition(|(ask, _)| *ask == 12);
    assert!(others.iter().all(|(_, times)| *times == 1), "{others:?}");
    assert_eq!(chair, [(12, 2)], "only the call that was under way is made again");
    assert_eq!(outcome["usage"]["possibly_billed_twice_calls"], 1);
    home.agon(&["verify", "last"]).ok();
    home.agon(&["replay", "last"]).ok();
    assert_eq!(outcome["verdict"], straight(&home)["verdict"]);
}

#[test]
fn two_processes_do_not_run_one_debate() {
    let home = home();
    let mut child = started(&home);
    let id = id(&home);
    assert_eq!(home.agon(&["list", "--json"]).json()[0]["status"], "running");
    assert_eq!(home.agon(&["show", &id, "--json"]).ok().json()["status"], "running");
    assert!(home.agon(&["show", &id]).ok().out.contains("Still running."));
    let second = home.agon(&["resume", &id]);
    assert_eq!(second.status, Some(3), "{second:?}");
    assert!(second.err.contains("another process"), "{second:?}");
    // A debate of one's own is no trouble.
    let own: Said = home.agon(&["deep", "q?", "--models", "script/tabs.yaml", "--quiet"]).ok();
    assert!(own.out.contains("Let a formatter decide"));
    child.kill().unwrap();
    child.wait().unwrap();
    mend(&home);
    assert_eq!(home.agon(&["resume", &id, "--json"]).ok().json()["status"], "complete");
}

#[test]
fn what_a_person_says_on_resuming_is_in_the_log() {
    let home = home();
    let mut child = started(&home);
    child.kill().unwrap();
    child.wait().unwrap();
    mend(&home);
    home.agon(&["resume", "last", "--say", "Mind the Makefiles."]).ok();
    assert!(home.agon(&["export", "last", "--format", "json"]).ok().out.contains("Mind the Makefiles."));
    home.agon(&["replay", "last"]).ok();
}
