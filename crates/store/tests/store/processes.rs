//! Several processes on one file: `kill -9` loses nothing that was committed, and no debate runs twice.

use std::io::{BufRead, BufReader, Read, Write};
#[cfg(target_os = "linux")]
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use agon_engine::StoreError;

use crate::fixtures::{TestHome, TestLog, append, lease, load, open_address};

pub(crate) const FILE: &str = "AGON_STORE_TEST_FILE";
pub(crate) const ID: &str = "AGON_STORE_TEST_ID";

/// The other process: appends to a debate and prints after each append how many events are durable, until it is killed
/// or an append fails.
#[test]
#[ignore = "other tests start it as a separate process"]
fn the_other_process() {
    let (file, id) = (std::env::var(FILE).unwrap(), std::env::var(ID).unwrap());
    let mut out = std::io::stdout();
    let mut log = TestLog::new(&id, "Why?");
    let done = open_address(&file).and_then(|store| {
        append(&store, &id, log.records.clone())?;
        loop {
            let more = log.say(&"Because. ".repeat(50));
            append(&store, &id, more)?;
            writeln!(out, "durable {}", log.records.len()).unwrap();
        }
    });
    let error: Result<(), StoreError> = done;
    writeln!(out, "error {}", error.unwrap_err()).unwrap();
}

pub(crate) struct OtherProcess {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl OtherProcess {
    fn start(mut command: Command, home: &TestHome, id: &str) -> Self {
        command.env(FILE, home.file()).env(ID, id).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    fn on(home: &TestHome, id: &str) -> Self {
        Self::running(ARGUMENTS[0], home, id)
    }

    /// Runs one of the ignored tests as a separate process. It prints what is durable as [`the_other_process`] does.
    pub(crate) fn running(test: &str, home: &TestHome, id: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(test).args(&ARGUMENTS[1..]);
        Self::start(command, home, id)
    }

    /// Waits until this many events are durable.
    pub(crate) fn durable(&mut self, events: usize) {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.out.read_line(&mut line).unwrap(), 0, "the process ended too soon");
            if durable(&line).is_some_and(|n| n >= events) {
                return;
            }
        }
    }

    /// Kills it at once and returns how many events it reported as durable.
    pub(crate) fn kill(mut self) -> usize {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        rest.lines().filter_map(durable).next_back().unwrap_or_default()
    }
}

const ARGUMENTS: [&str; 4] = ["processes::the_other_process", "--exact", "--ignored", "--nocapture"];

fn durable(line: &str) -> Option<usize> {
    // The test harness may print on the same line.
    line.split("durable ").nth(1)?.trim().parse().ok()
}

#[test]
fn a_killed_process_loses_nothing_durable_and_its_debate_can_be_leased_at_once() {
    let home = TestHome::new();
    for (round, events) in [4, 40, 103, 211].into_iter().enumerate() {
        let id = format!("d{round}");
        let mut other = OtherProcess::on(&home, &id);
        other.durable(events);
        let told = other.kill().max(events);
        let store = home.open();
        assert_eq!(store.list_debates(None).unwrap()[0].status, "interrupted");
        lease(&store, &id).unwrap();
        let records = load(&store, &id).unwrap();
        assert!(records.len() >= told, "{} of {told}", records.len());
        assert_eq!(records.len() % 3, 1, "an append is stored whole or not at all");
        let mut log = TestLog::new(&id, "Why?");
        while log.records.len() < records.len() {
            log.say(&"Because. ".repeat(50));
        }
        assert_eq!(records, log.records);
        append(&store, &id, log.say("And on.")).unwrap();
        assert_eq!(load(&store, &id).unwrap(), log.records);
    }
    assert_eq!(home.lock_files(), Vec::<String>::new(), "locks of dead processes are removed");
}

#[test]
fn a_living_process_keeps_its_lease_while_another_writes() {
    let home = TestHome::new();
    let store = home.open();
    let mut other = OtherProcess::on(&home, "theirs");
    other.durable(4);
    assert!(matches!(lease(&store, "theirs"), Err(StoreError::Leased(_))));
    assert_eq!(store.list_debates(None).unwrap()[0].status, "running");
    let mut ours = TestLog::new("ours", "Why?");
    append(&store, "ours", ours.records.clone()).unwrap();
    for _ in 0..30 {
        append(&store, "ours", ours.say("Because.")).unwrap();
    }
    other.durable(100);
    assert!(matches!(lease(&store, "theirs"), Err(StoreError::Leased(_))));
    other.kill();
    lease(&store, "theirs").unwrap();
    assert_eq!(load(&store, "ours").unwrap(), ours.records);
    assert!(load(&store, "theirs").unwrap().len() >= 100);
    assert_eq!(store.health().unwrap().integrity, "ok");
}

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
