//! Processes whose disk fails: nothing that was reported as durable is lost.

use std::io::Read;
#[cfg(target_os = "linux")]
use std::path::{Path, PathBuf};
use std::process::Command;

#[cfg(target_os = "linux")]
use agon_engine::StoreError;

use crate::fixtures::{TestHome, lease, load};
use crate::processes::{ARGUMENTS, OtherProcess, durable};

/// A limit on the file size makes the commit fail as a full disk does.
#[cfg(unix)]
#[test]
fn a_failing_disk_is_explained_and_loses_nothing() {
    let home = TestHome::new();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 600; exec \"$@\"", "sh"]);
    shell.arg(std::env::current_exe().unwrap()).args(ARGUMENTS);
    let mut other = OtherProcess::start(shell, &home, "d1");
    let mut said = String::new();
    other.out.read_to_string(&mut said).unwrap();
    other.child.wait().unwrap();
    let told = said.lines().filter_map(durable).next_back().unwrap();
    let sentence = said.split_once("error ").expect("an append fails").1.lines().next().unwrap();
    assert!(
        sentence.contains("agon.db") && sentence.contains("check the disk and its free space"),
        "{sentence}"
    );
    let store = home.open();
    assert_eq!(load(&store, "d1").unwrap().len(), told, "everything durable is stored, and nothing else");
    lease(&store, "d1").unwrap();
}

/// Runs a process on a disk that fails as `failing_disk.c` says. Returns how many events it reported as durable, and all that it said.
#[cfg(target_os = "linux")]
fn on_failing_disk(home: &TestHome, shim: &Path, variable: &str, number: usize) -> (usize, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(ARGUMENTS).env("LD_PRELOAD", shim).env(variable, number.to_string());
    let mut other = OtherProcess::start(command, home, "d1");
    let mut said = String::new();
    other.out.read_to_string(&mut said).unwrap();
    other.child.wait().unwrap();
    let told = said.lines().filter_map(durable).next_back().unwrap_or_default();
    (told, said)
}

/// Compiles `failing_disk.c`. `None` if there is no C compiler here.
#[cfg(target_os = "linux")]
fn failing_disk(folder: &Path) -> Option<PathBuf> {
    let (source, shim) = (folder.join("failing_disk.c"), folder.join("failing_disk.so"));
    std::fs::write(&source, include_str!("failing_disk.c")).unwrap();
    let made =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&shim, &source]).arg("-ldl").status();
    if !made.is_ok_and(|status| status.success()) {
        println!("There is no C compiler here. The test of a failing disk is skipped.");
        return None;
    }
    Some(shim)
}

/// What is there after the failure is what was reported as durable, or that and the whole append that was under way.
#[cfg(target_os = "linux")]
fn assert_nothing_is_lost(home: &TestHome, told: usize, what: &str) {
    let store = home.open();
    let events = match load(&store, "d1") {
        Ok(records) => records.len(),
        Err(StoreError::Unknown(_)) => 0,
        Err(why) => panic!("{what}: {why}"),
    };
    // The first append has one event and is not reported. The others have three.
    let possible = if told == 0 { &[0, 1, 4][..] } else { &[told, told + 3] };
    assert!(possible.contains(&events), "{what}: {told} events were durable, but there are {events}");
    assert_eq!(store.health().unwrap().integrity, "ok", "{what}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_does_not_confirm_a_commit_is_explained_and_loses_nothing() {
    let tools = TestHome::new();
    let Some(shim) = failing_disk(&tools.folder()) else { return };
    for number in [1, 2, 3, 5, 9, 20, 40] {
        let home = TestHome::new();
        let (told, said) = on_failing_disk(&home, &shim, "FSYNC_FAILS", number);
        let sentence =
            said.split_once("error ").unwrap_or_else(|| panic!("{number}: no append failed: {said}")).1;
        assert!(sentence.contains("agon.db") && sentence.contains("check the disk"), "{number}: {sentence}");
        assert_nothing_is_lost(&home, told, &format!("fsync {number}"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_dies_in_the_middle_of_a_page_loses_nothing_durable() {
    let tools = TestHome::new();
    let Some(shim) = failing_disk(&tools.folder()) else { return };
    for number in [1, 2, 7, 30, 61, 200, 1003, 1010, 1500] {
        let home = TestHome::new();
        let (told, said) = on_failing_disk(&home, &shim, "WRITE_TORN", number);
        assert!(!said.contains("error "), "{number}: {said}");
        assert_nothing_is_lost(&home, told, &format!("page {number}"));
    }
}
