//! Several processes on one store: `kill -9` loses nothing that was committed, and no debate runs twice.

use std::io::{BufRead, BufReader, Read, Write};
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
    pub(crate) child: Child,
    pub(crate) out: BufReader<ChildStdout>,
}

impl OtherProcess {
    pub(crate) fn start(mut command: Command, home: &TestHome, id: &str) -> Self {
        command.env(FILE, home.address()).env(ID, id).stdout(Stdio::piped()).stderr(Stdio::null());
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

pub(crate) const ARGUMENTS: [&str; 4] =
    ["processes::the_other_process", "--exact", "--ignored", "--nocapture"];

pub(crate) fn durable(line: &str) -> Option<usize> {
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
        home.await_release(&id);
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
    home.await_release("theirs");
    lease(&store, "theirs").unwrap();
    assert_eq!(load(&store, "ours").unwrap(), ours.records);
    assert!(load(&store, "theirs").unwrap().len() >= 100);
    assert_eq!(store.health().unwrap().integrity, "ok");
}
