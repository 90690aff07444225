//! Logs and stores that released versions wrote. They are kept for ever, and every later version reads them or says why not.

use std::fs;
use std::path::{Path, PathBuf};

use agon_core::{Event, LOG_VERSION, LogEntry, Outcome};
use serde_json::Value;

use crate::support::Home;

fn folder_of_version(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cli/released/v{version}"))
}

/// The versions that have a folder, oldest first.
fn versions() -> Vec<u32> {
    let versions: Vec<u32> =
        (1..=LOG_VERSION).filter(|version| folder_of_version(*version).is_dir()).collect();
    assert!(!versions.is_empty(), "there are no logs");
    versions
}

/// The logs of a version, one for each protocol.
fn logs(version: u32) -> Vec<PathBuf> {
    let files = fs::read_dir(folder_of_version(version)).unwrap().map(|entry| entry.unwrap().path());
    let mut logs: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|end| end == "ndjson")).collect();
    logs.sort();
    assert!(logs.len() >= 7, "version {version} has {} logs", logs.len());
    logs
}

/// The outcome in the last line of a log.
fn logged_outcome(log: &Path) -> Outcome {
    let text = fs::read_to_string(log).unwrap();
    let entry: LogEntry = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let Event::Closed { outcome } = entry.event else { panic!("{} is not closed", log.display()) };
    *outcome
}

#[test]
fn a_log_of_a_released_version_is_intact_and_replayed_or_refused_with_the_reason() {
    let home = Home::new();
    for version in versions() {
        for log in logs(version) {
            let said = home.agon(&["verify".as_ref(), log.as_os_str()]);
            if version == LOG_VERSION || said.out.contains("intact") {
                let said = said.not_proven();
                let is_replayed = said.out.contains("the hash chain is intact and replayed");
                // Other words in a prompt are another prompt, so that a replay would prove nothing.
                let names_reason = said.out.contains("but not replayed (the ");
                assert!(is_replayed || names_reason, "{}: {said:?}", log.display());
            } else {
                let names_version = format!("format version {version}");
                assert!(said.err.contains(&names_version) || said.out.contains(&names_version), "{said:?}");
            }
        }
    }
}

#[test]
fn a_debate_of_a_released_version_gives_the_outcome_that_it_had_and_a_report() {
    for log in logs(LOG_VERSION) {
        let home = Home::new();
        let outcome = logged_outcome(&log);
        let id = stored(&home, &log);
        let shown = home.agon(&["show", &id, "--json"]).ok().json();
        assert_eq!(shown["verdict"], outcome.verdict, "{}", log.display());
        assert_eq!(shown["status"], serde_json::to_value(outcome.status).unwrap(), "{}", log.display());
        let report = home.agon(&["export", &id]).ok().out;
        assert!(report.starts_with("# ") && report.contains("\n## "), "{}: {report}", log.display());
    }
}

/// Puts a log into the store of a home, as the process that held the debate did. Returns the debate's id.
fn stored(home: &Home, log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap();
    let records = text.lines().map(|line| {
        let (open, hash) = line.rsplit_once(",\"hash\":\"").unwrap();
        (format!("{open}}}"), hash.trim_end_matches("\"}").to_owned())
    });
    let records = agon_core::event::open_all(records).unwrap();
    let Event::Opened { brief } = &records[0].entry.event else { panic!("{} is not opened", log.display()) };
    let id = brief.id.clone();
    fs::create_dir_all(home.path("home")).unwrap();
    let store = agon_store::DebateStore::open(&home.path("home/agon.db")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(agon_engine::Store::append(&store, &id, records)).unwrap();
    id
}

#[test]
fn a_store_of_a_released_version_is_read_and_written() {
    for version in versions() {
        let home = Home::new();
        home.write("home/agon.db", fs::read(folder_of_version(version).join("store.db")).unwrap());
        let list: Value = home.agon(&["list", "--json"]).ok().json();
        let id = list[0]["id"].as_str().unwrap_or_else(|| panic!("{list}")).to_owned();
        let shown = home.agon(&["show", &id]).ok().out;
        assert!(shown.contains("What should we do?"), "{shown}");
        home.debate();
        let both: Value = home.agon(&["list", "--json"]).ok().json();
        assert_eq!(both.as_array().unwrap().len(), 2, "{both}");
    }
}
