//! Power failures and damaged files. What the disk has not confirmed may be there in part, in any order, or as garbage.
//!
//! A commit appends to SQLite's write-ahead log and confirms it; now and then a checkpoint copies pages into the file. So there are two
//! kinds of states that a power failure can leave between two commits: a log of which only some new sectors are there, and a file of
//! which only some new sectors are there, with the whole log beside it. The tests make such states from copies of both files.

use std::fs;

use agon_core::seed::SeededDraw;
use agon_core::{LogRecord, Status};
use agon_engine::StoreError;
use agon_store::DebateStore;

use crate::fixtures::{TestHome, TestLog, append, load};

/// The smallest part of a disk that is written whole.
const SECTOR_BYTES: usize = 512;
/// How many states are tried between two commits.
const STATES: u64 = 6;
/// Long enough that some commits are followed by a checkpoint.
const LONG_TEXT_BYTES: usize = 400_000;

/// The files of a store.
#[derive(Clone, Default)]
struct StoreFiles {
    file: Vec<u8>,
    log: Vec<u8>,
}

impl StoreFiles {
    fn read(home: &TestHome) -> Self {
        let read = |name: &str| fs::read(home.folder().join(name)).unwrap_or_default();
        Self { file: read("agon.db"), log: read("agon.db-wal") }
    }

    fn write(&self, home: &TestHome) {
        fs::write(home.folder().join("agon.db"), &self.file).unwrap();
        if !self.log.is_empty() {
            fs::write(home.folder().join("agon.db-wal"), &self.log).unwrap();
        }
    }
}

/// A state between two commits, and what must be in it.
struct Commit {
    files: StoreFiles,
    records: Vec<LogRecord>,
}

/// A debate that is written in many commits, and the files after each of them.
fn commits() -> Vec<Commit> {
    let home = TestHome::new();
    let store = home.open();
    let mut log = TestLog::new("d1", "Tea or coffee?");
    append(&store, "d1", log.records.clone()).unwrap();
    let commit = |log: &TestLog| Commit { files: StoreFiles::read(&home), records: log.records.clone() };
    let mut commits = vec![commit(&log)];
    for round in 0..24 {
        let length = if round % 2 == 0 { 10 } else { LONG_TEXT_BYTES };
        let more = log.say(&format!("{round} ").repeat(length / 3));
        append(&store, "d1", more).unwrap();
        commits.push(commit(&log));
    }
    let closed = log.close(Status::Complete, "Tea.", "Coffee.");
    append(&store, "d1", vec![closed]).unwrap();
    commits.push(commit(&log));
    commits
}

/// The bytes that a disk has if the power fails while `new` replaces `old`: of every sector that differs, the old one, the new one, or
/// garbage in the place of what was written. The end may be missing.
fn torn(old: &[u8], new: &[u8], draw: &mut SeededDraw) -> Vec<u8> {
    let share = draw.unit();
    let mut torn = Vec::with_capacity(new.len());
    for (place, sector) in new.chunks(SECTOR_BYTES).enumerate() {
        let from = place * SECTOR_BYTES;
        let before = old.get(from..(from + sector.len()).min(old.len())).unwrap_or_default();
        if before == sector || draw.unit() < share {
            torn.extend_from_slice(sector);
        } else if draw.below(4) == 0 {
            let before = before.iter().map(Some).chain(std::iter::repeat(None));
            let garbled = |(byte, before): (&u8, Option<&u8>)| match before == Some(byte) {
                true => *byte,
                false => draw.below(256) as u8,
            };
            torn.extend(sector.iter().zip(before).map(garbled));
        } else {
            // Beyond the old end, a file has zeros where nothing was written.
            torn.extend_from_slice(before);
            torn.resize(from + sector.len(), 0);
        }
    }
    if new.len() > old.len() && draw.below(3) == 0 {
        torn.truncate(old.len() + draw.below(new.len() - old.len() + 1));
    }
    torn
}

fn opened(files: &StoreFiles) -> (TestHome, Result<DebateStore, StoreError>) {
    let home = TestHome::new();
    files.write(&home);
    let store = DebateStore::open(&home.file());
    (home, store)
}

#[test]
fn after_a_power_failure_every_commit_that_was_confirmed_is_there_and_the_last_one_is_whole_or_absent() {
    let commits = commits();
    let (mut torn_logs, mut torn_files, mut lost) = (0, 0, 0);
    for (place, pair) in commits.windows(2).enumerate() {
        let [before, after] = pair else { continue };
        let is_checkpointed = before.files.file != after.files.file;
        for number in 0..STATES {
            let mut draw = SeededDraw::new(number, &format!("power failure {place}"));
            let is_file_torn = is_checkpointed && number % 2 == 1;
            let files = if is_file_torn {
                torn_files += 1;
                let file = torn(&before.files.file, &after.files.file, &mut draw);
                StoreFiles { file, log: after.files.log.clone() }
            } else {
                torn_logs += 1;
                let log = torn(&before.files.log, &after.files.log, &mut draw);
                StoreFiles { file: before.files.file.clone(), log }
            };
            let (_home, store) = opened(&files);
            let store = store.unwrap_or_else(|why| panic!("commit {place}, state {number}: {why}"));
            let found =
                load(&store, "d1").unwrap_or_else(|why| panic!("commit {place}, state {number}: {why}"));
            let is_lost = found == before.records && !is_file_torn;
            assert!(
                is_lost || found == after.records,
                "commit {place}, state {number}: {} records",
                found.len()
            );
            assert_eq!(store.health().unwrap().integrity, "ok", "commit {place}, state {number}");
            lost += usize::from(is_lost);
        }
    }
    assert!(torn_files > 0, "no checkpoint was interrupted");
    assert!(lost > 0 && lost < torn_logs, "{lost} of {torn_logs} commits were lost");
}

/// A disk that decays, or somebody who edits the file. A log has hashes, so it is never read as something else.
#[test]
fn a_damaged_file_is_refused_with_a_sentence_or_its_log_is_as_it_was() {
    let home = TestHome::new();
    let store = home.open();
    let mut log = TestLog::new("d1", "Tea or coffee?");
    for round in 0..40 {
        log.say(&format!("{round} ").repeat(100));
    }
    log.close(Status::Complete, "Tea.", "Coffee.");
    append(&store, "d1", log.records.clone()).unwrap();
    drop(store);
    let whole = StoreFiles::read(&home);
    let (mut refused, mut unharmed) = (0, 0);
    for number in 0..200 {
        let mut draw = SeededDraw::new(number, "damage");
        let mut files = whole.clone();
        for _ in 0..=draw.below(3) {
            let at = draw.below(files.file.len());
            let end = (at + 1 + draw.below(SECTOR_BYTES)).min(files.file.len());
            files.file[at..end].iter_mut().for_each(|byte| *byte = draw.below(256) as u8);
        }
        if draw.below(8) == 0 {
            files.file.truncate(draw.below(files.file.len()));
        }
        let (_home, store) = opened(&files);
        match store.and_then(|store| load(&store, "d1")) {
            Ok(found) => {
                assert_eq!(found, log.records, "damage {number}");
                unharmed += 1;
            }
            Err(why) => {
                assert!(why.to_string().len() > 20, "damage {number}: {why}");
                refused += 1;
            }
        }
    }
    assert!(refused > 20 && unharmed > 20, "{refused} refused, {unharmed} unharmed");
}
