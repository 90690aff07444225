//! "`kill -9` at any moment loses nothing that was answered"; "two processes on one file do not corrupt or double-run
//! a debate".

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use agon_engine::StoreError;
use agon_store::Sqlite;

use crate::debates::{Home, Talk, append, lease, load};

pub(crate) const FILE: &str = "AGON_STORE_TEST_FILE";
pub(crate) const ID: &str = "AGON_STORE_TEST_ID";

/// The other process: appends to a debate and tells after each append how many events are durable, until it is killed
/// or cannot go on.
#[test]
#[ignore = "the other tests here start it as a process of its own"]
fn the_other_process() {
    let (file, id) = (std::env::var(FILE).unwrap(), std::env::var(ID).unwrap());
    let mut out = std::io::stdout();
    let mut talk = Talk::new(&id, "Why?");
    let done = Sqlite::open(file.as_ref()).and_then(|store| {
        append(&store, &id, talk.records.clone())?;
        loop {
            let more = talk.say(&"Because. ".repeat(50));
            append(&store, &id, more)?;
            writeln!(out, "durable {}", talk.records.len()).unwrap();
        }
    });
    let error: Result<(), StoreError> = done;
    writeln!(out, "error {}", error.unwrap_err()).unwrap();
}

pub(crate) struct Other {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Other {
    fn start(mut command: Command, home: &Home, id: &str) -> Self {
        command.env(FILE, home.file()).env(ID, id).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    fn on(home: &Home, id: &str) -> Self {
        Self::running(ARGUMENTS[0], home, id)
    }

    /// A test of this file as a process of its own. It tells what is durable as [`the_other_process`] does.
    pub(crate) fn running(test: &str, home: &Home, id: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(test).args(&ARGUMENTS[1..]);
        Self::start(command, home, id)
    }

    /// Reads until so many events are durable.
    pub(crate) fn durable(&mut self, events: usize) {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.out.read_line(&mut line).unwrap(), 0, "it ended too soon");
            if durable(&line).is_some_and(|n| n >= events) {
                return;
            }
        }
    }

    /// Kills it, with no chance to do anything more, and gives how many events it had called durable.
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
    // The test harness may write on the same line.
    line.split("durable ").nth(1)?.trim().parse().ok()
}

#[test]
fn a_killed_process_loses_nothing_that_was_durable_and_its_debate_can_be_taken_at_once() {
    let home = Home::new();
    for (round, events) in [4, 40, 103, 211].into_iter().enumerate() {
        let id = format!("d{round}");
        let mut other = Other::on(&home, &id);
        other.durable(events);
        let told = other.kill().max(events);
        let store = home.open();
        assert_eq!(store.list(None).unwrap()[0].status, "interrupted");
        lease(&store, &id).unwrap();
        let records = load(&store, &id).unwrap();
        assert!(records.len() >= told, "{} of {told}", records.len());
        assert_eq!(records.len() % 3, 1, "an append is there whole or not at all");
        let mut talk = Talk::new(&id, "Why?");
        while talk.records.len() < records.len() {
            talk.say(&"Because. ".repeat(50));
        }
        assert_eq!(records, talk.records);
        append(&store, &id, talk.say("And on.")).unwrap();
        assert_eq!(load(&store, &id).unwrap(), talk.records);
    }
    assert_eq!(home.locks(), Vec::<String>::new(), "the locks of the dead are removed");
}

#[test]
fn a_living_process_keeps_its_debate_while_another_writes_its_own() {
    let home = Home::new();
    let store = home.open();
    let mut other = Other::on(&home, "theirs");
    other.durable(4);
    assert!(matches!(lease(&store, "theirs"), Err(StoreError::Leased(_))));
    assert_eq!(store.list(None).unwrap()[0].status, "running");
    let mut ours = Talk::new("ours", "Why?");
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

/// A file that may not grow is to SQLite what a full disk is: the commit fails.
#[cfg(unix)]
#[test]
fn a_disk_that_takes_no_more_gets_a_sentence_and_keeps_what_it_has() {
    let home = Home::new();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 400; exec \"$@\"", "sh"]);
    shell.arg(std::env::current_exe().unwrap()).args(ARGUMENTS);
    let mut other = Other::start(shell, &home, "d1");
    let mut said = String::new();
    other.out.read_to_string(&mut said).unwrap();
    other.child.wait().unwrap();
    let told = said.lines().filter_map(durable).next_back().unwrap();
    let sentence = said.split("error ").nth(1).expect("it could not go on").lines().next().unwrap();
    assert!(
        sentence.contains("agon.db") && sentence.contains("see that it is sound and has space"),
        "{sentence}"
    );
    let store = home.open();
    assert_eq!(load(&store, "d1").unwrap().len(), told, "all that was durable, and nothing half-written");
    lease(&store, "d1").unwrap();
}
