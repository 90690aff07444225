//! How fast many concurrent debates append, and what it costs this process, in a file and on a server.
//!
//! `cargo bench -p agon-store --bench appends` starts a PostgreSQL server of its own, which waits for its disk.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

use std::time::{Duration, Instant};

use agon_core::{AskRecord, Brief, CallUsage, Debate, DebateLimits, Event, LogRecord, Reply};
use agon_engine::Store;
use agon_mock::PostgresInstance;
use agon_store::{DebateStore, StoreAddress};
use serde_json::json;

const DEBATES: usize = 500;
const CALLS: u32 = 12;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    measure("SQLite", &DebateStore::open(&folder.path().join("agon.db")).unwrap());
    match PostgresInstance::start("") {
        Ok(server) => {
            let address = StoreAddress::parse(server.address("postgres").as_ref()).unwrap();
            measure("PostgreSQL", &DebateStore::open(address).unwrap());
        }
        Err(why) => println!("PostgreSQL: {why}"),
    }
}

/// Lets all debates run at once. Each appends the reply and the next ask together, as the engine does.
fn measure(name: &str, store: &DebateStore) {
    let logs: Vec<_> = (0..DEBATES).map(|n| appends(&format!("d{n}"))).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let (began, cpu) = (Instant::now(), cpu_time());
    runtime.block_on(async {
        let running: Vec<_> = logs
            .into_iter()
            .map(|(id, appends)| {
                let store = store.clone();
                tokio::spawn(async move {
                    for records in appends {
                        store.append(&id, records).await.unwrap();
                    }
                })
            })
            .collect();
        for debate in running {
            debate.await.unwrap();
        }
    });
    let (took, cpu) = (began.elapsed(), cpu_time() - cpu);
    let appends = DEBATES * (CALLS as usize + 2);
    println!(
        "{name}: {appends} appends of {DEBATES} debates in {:.2} s, {:.0} a second, {} commits, {:.3} ms of CPU each here",
        took.as_secs_f64(),
        appends as f64 / took.as_secs_f64(),
        store.commits(),
        cpu.as_secs_f64() * 1e3 / appends as f64
    );
}

/// The appends of one debate: opened, then a call and its reply at a time, then closed.
fn appends(id: &str) -> (String, Vec<Vec<LogRecord>>) {
    let brief: Brief = serde_json::from_value(json!({
        "version": agon_core::LOG_VERSION, "id": id, "protocol": "bench", "question": "Which one?", "options": {}, "seats": [], "seed": 1,
        "nonce": "n", "limits": DebateLimits::default(), "templates": {}, "created_at": "2026-05-01T10:00:00Z",
    }))
    .unwrap();
    let (mut debate, opened) = Debate::open(brief).unwrap();
    let mut push = |event| debate.push(event, 5).unwrap();
    let mut all = vec![vec![opened]];
    let mut reply = None;
    for ask in 1..=CALLS {
        let (seat, model) = ("debater-1".to_owned(), "mock/a".to_owned());
        let mut together: Vec<LogRecord> = reply.take().into_iter().collect();
        let asked = AskRecord {
            id: ask,
            seat,
            model: model.clone(),
            label: None,
            about: None,
            schema: None,
            repeats: None,
            prompt: "0".repeat(64),
        };
        together.push(push(Event::Asked { phase: "answer".into(), round: ask, asks: vec![asked] }));
        let sent = Event::Sent {
            ask,
            attempt: 1,
            model: model.clone(),
            worst_usd: Some(0.1),
            worst_tokens: 900,
            errand: false,
        };
        together.push(push(sent));
        all.push(together);
        let said = Reply::Said {
            text: "A sentence of an answer that has some length. ".repeat(20),
            value: None,
            model,
            usage: CallUsage::default(),
            cut_off: false,
            shortened: None,
        };
        reply = Some(push(Event::Replied { ask, reply: said }));
    }
    let mut last: Vec<LogRecord> = reply.into_iter().collect();
    let outcome = serde_json::from_value(json!({
        "status": "complete", "termination": "converged", "rounds_completed": 1, "verdict": {"answer": "This one."}, "dissent": [],
        "fidelity": "full", "warnings": [], "labels": {}, "positions": [], "passed": null, "lesson": null,
    }));
    last.push(push(Event::Closed { outcome: Box::new(outcome.unwrap()) }));
    all.push(last);
    (id.to_owned(), all)
}

/// The CPU time of this process so far, without that of the server.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let ticks: u64 =
        after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}
