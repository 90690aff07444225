//! A store with many debates, and how long `agon list`, `show` and `search` take in it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use agon_core::event::open_all;
use agon_core::{Debate, Event, LogRecord, Reply};
use agon_engine::Store;
use agon_store::DebateStore;

use crate::{median, ms};

/// How many debates are in the store.
const DEBATES: usize = 100_000;
/// How many of them the store of an older agon has, which had indexed nothing.
const UNINDEXED: usize = 10_000;
/// How many debates are appended at once.
const BATCH: usize = 500;
/// How long a first answer is.
const WORDS: usize = 120;
/// How often each command runs.
const RUNS: usize = 11;

/// Fills a store with debates like the one in `pattern`, and prints how long the commands take.
pub(crate) fn measure(home: &Path, pattern: &Path) {
    let pattern = only_log(pattern);
    let file = home.join("large.db");
    let began = Instant::now();
    fill(&file, &pattern, DEBATES);
    let (filled_s, bytes) = (began.elapsed().as_secs_f64(), fs::metadata(&file).unwrap().len());
    println!(
        "{DEBATES} debates in the store, filled in {filled_s:.0} s, {:.1} KB each",
        kb_each(bytes, DEBATES)
    );
    let middle = DebateStore::open(&file).unwrap().list_debates(Some(DEBATES / 2)).unwrap().pop().unwrap().id;
    for (what, args) in [
        ("agon list", vec!["list"]),
        ("agon show ID", vec!["show", &middle]),
        ("agon search, a rare word", vec!["search", "w49000"]),
        ("agon search, a word of every debate", vec!["search", "measure"]),
        ("agon search, three common words", vec!["search", "w1", "w2", "w3"]),
        ("agon search, the beginning of many words", vec!["search", "w1"]),
    ] {
        let mut times: Vec<f64> = (0..RUNS).map(|_| run(&file, &args)).collect();
        println!(
            "{:<44} {:>9.2} ms {:>14} {:>10}",
            format!("  {what}, median"),
            median(&mut times),
            "-",
            "50 ms"
        );
    }
    fs::remove_file(&file).unwrap();
    let file = home.join("older.db");
    fill(&file, &pattern, UNINDEXED);
    forget_index(&file);
    let first_s = run(&file, &["search", "w49000"]) / 1000.0;
    println!(
        "{:<44} {first_s:>9.2} s  {:>14} {:>10}",
        format!("  first search, {UNINDEXED} debates not indexed"),
        "-",
        ""
    );
    fs::remove_file(&file).unwrap();
}

/// The log of the only debate of a store.
fn only_log(file: &Path) -> Vec<LogRecord> {
    let store = DebateStore::open(file).unwrap();
    let id = store.find_debate("last").unwrap();
    open_all(store.raw_log(&id).unwrap()).unwrap()
}

fn fill(file: &Path, pattern: &[LogRecord], count: usize) {
    let store = DebateStore::open(file).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut words = SeededWords(0x9e37_79b9_7f4a_7c15);
    for first in (0..count).step_by(BATCH) {
        let logs: Vec<(String, Vec<LogRecord>)> = (first..(first + BATCH).min(count))
            .map(|number| debate_like(pattern, &format!("debate-{number:07}"), &mut words))
            .collect();
        let appends: Vec<_> = logs.iter().map(|(id, log)| store.append(id, log.clone())).collect();
        runtime.block_on(async {
            for append in appends {
                append.await.unwrap();
            }
        });
    }
}

/// The same debate with another id, another question and other first answers.
fn debate_like(pattern: &[LogRecord], id: &str, words: &mut SeededWords) -> (String, Vec<LogRecord>) {
    let mut events = pattern.iter().map(|record| (record.entry.event.clone(), record.entry.at_ms));
    let Some((Event::Opened { mut brief }, _)) = events.next() else { panic!("the log is not opened") };
    brief.id = id.to_owned();
    brief.question = words.text(12);
    let (mut debate, opened) = Debate::open(*brief).unwrap();
    let mut records = vec![opened];
    for (mut event, at_ms) in events {
        if let Event::Replied { reply: Reply::Said { text, value: None, .. }, .. } = &mut event {
            text.push_str(&words.text(WORDS));
        }
        records.push(debate.push(event, at_ms).unwrap());
    }
    (id.to_owned(), records)
}

/// Makes the store one whose debates are not in the index.
fn forget_index(file: &Path) {
    let sql = "DELETE FROM search; INSERT INTO search_backlog SELECT n, 0 FROM debates";
    rusqlite::Connection::open(file).unwrap().execute_batch(sql).unwrap();
}

fn run(file: &Path, args: &[&str]) -> f64 {
    let began = Instant::now();
    let mut agon = Command::new(env!("CARGO_BIN_EXE_agon"));
    let status = agon.args(args).args(["--db", file.to_str().unwrap()]).stdout(Stdio::null()).status();
    assert!(status.unwrap().success());
    ms(began.elapsed())
}

fn kb_each(bytes: u64, count: usize) -> f64 {
    bytes as f64 / 1024.0 / count as f64
}

/// Words with the frequencies of language, the same in every run: a few are in nearly every text, most are rare.
struct SeededWords(u64);

impl SeededWords {
    fn text(&mut self, count: usize) -> String {
        (0..count).map(|_| format!(" w{}", (50_000_f64.powf(self.share()) - 1.0) as usize)).collect()
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
