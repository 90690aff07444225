//! Outcome, knowledge, memories, ratings and deliveries are written in one transaction, and `kill -9` loses none of them.

use std::io::Write;

use agon_core::{DebateProvenance, ModelKind, Status};
use agon_store::{DebateStore, DeliveryState, KnowledgeKind, LogReceipt, NewDelivery};

use crate::fixtures::{
    OPENED_S, TestHome, TestLog, append, block_on, brief, close_debate, closed_log, count_rows, lease,
    lesson, load, open_address, table_rows,
};
use crate::knowledge::{add, note};
use crate::processes::{FILE, ID, OtherProcess};

const TABLES: [&str; 6] =
    ["knowledge", "memories", "memory_observations", "ratings", "rating_history", "ballots"];

fn bind_delivery(store: &DebateStore, debate: &str) {
    let new = NewDelivery { destination: "file:/tmp/x".into(), created_s: 5 };
    block_on(store.deliveries_bind(debate, vec![new])).unwrap();
}

/// "Provenance (folder, trust of configuration, kind of model) is stored and shown", and a rebuild from the logs changes nothing.
#[test]
fn what_a_debate_leaves_says_where_it_was_held() {
    let home = TestHome::new();
    let store = home.open();
    let provenance = DebateProvenance {
        folder: "~/work".into(),
        found_configuration: true,
        models: vec![ModelKind::Server, ModelKind::Script],
        remember: true,
    };
    let mut held = brief("d1", "Which database?");
    held.files.push(provenance.file().unwrap());
    let mut log = TestLog::of(held);
    log.say("So.");
    log.close_with(Status::Complete, "One file.", "A server.", Some(lesson()));
    append(&store, "d1", log.records).unwrap();
    for _ in 0..2 {
        let entry = store.knowledge_list(9).unwrap().remove(0);
        let hit = store.knowledge_search("database", None, 9).unwrap().remove(0);
        let agent = lesson().parts[0].agent.clone().unwrap();
        let memory = store.recall_memories(&[agent], "database", None, OPENED_S + 60, 9).unwrap().remove(0);
        let found = [entry.provenance, hit.provenance, memory.provenance];
        assert_eq!(found, [(); 3].map(|()| Some(provenance.clone())));
        let ratings = store.ratings().unwrap();
        assert!(!ratings.is_empty());
        assert!(ratings.iter().all(|rating| rating.provenance == [provenance.clone()]), "{ratings:?}");
        let report = block_on(store.rebuild()).unwrap();
        assert_eq!((report.debates, report.knowledge, report.memories, report.ratings), (1, 0, 0, 0));
    }
}

#[test]
fn closing_a_debate_writes_knowledge_memories_and_ratings_and_makes_its_deliveries_due() {
    let home = TestHome::new();
    let store = home.open();
    bind_delivery(&store, "d1");
    bind_delivery(&store, "d2");
    close_debate(&store, "d1", "Which database?", lesson());
    let entries = store.knowledge_list(9).unwrap();
    let [entry] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!((entry.kind, entry.debate.as_deref()), (KnowledgeKind::Debate, Some("d1")));
    assert_eq!((entry.title.as_str(), entry.confidence), ("Which database?", Some(2.0 / 3.0)));
    assert_eq!(entry.source.as_deref(), Some("debate d1"));
    assert_eq!(
        entry.text,
        "Use one SQLite file.\n\nOne file is enough, and a copy of it is a backup.\n\n\
         Claim: Writes are few. Evidence: measured: 3 a second\n\nClaim: Nobody runs a server.\n\n\
         Dissent: A server scales further."
    );
    assert!(entry.id.starts_with("k-") && entry.id.len() == 10, "{}", entry.id);
    assert_eq!(TABLES.map(|table| count_rows(&home, table)), [1, 3, 3, 3, 3, 3]);
    let states: Vec<_> =
        store.deliveries(None).unwrap().iter().map(|d| (d.debate.clone(), d.state)).collect();
    assert_eq!(states, [("d2".into(), DeliveryState::Waiting), ("d1".into(), DeliveryState::Due)]);
    let health = store.health().unwrap();
    assert_eq!(
        (health.knowledge, health.memories, health.deliveries_due, health.deliveries_dead),
        (1, 3, 1, 0)
    );
}

#[test]
fn everything_is_dated_by_the_end_of_the_log_and_not_by_a_clock() {
    let home = TestHome::new();
    let store = home.open();
    let (log, closed) = closed_log("d1", "Why?", Some(lesson()));
    let mut records = log.records[..4].to_vec();
    let mut debate = agon_core::Debate::from_records(&records).unwrap();
    records.push(debate.push(closed.entry.event, 90 * 60_000).unwrap());
    append(&store, "d1", records).unwrap();
    assert_eq!(store.knowledge_list(1).unwrap()[0].at, "2026-05-01T11:30:00Z");
    assert_eq!(store.ratings().unwrap()[0].rating.history[0].at, "2026-05-01T11:30:00Z");
}

#[test]
fn knowledge_and_memories_carry_the_receipt_of_their_log() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d0", "Which index?", lesson());
    close_debate(&store, "d1", "Which database?", lesson());
    let receipt = |id: &str| {
        let log = store.raw_log(id).unwrap();
        LogReceipt { head: log.last().unwrap().1.clone(), events: log.len() as u64 }
    };
    assert_ne!(receipt("d0"), receipt("d1"));
    let entry = store.knowledge_list(1).unwrap().remove(0);
    assert_eq!(entry.receipt, Some(receipt("d1")));
    assert_eq!(
        serde_json::to_value(&entry).unwrap()["receipt"],
        serde_json::json!({"head": receipt("d1").head, "events": 5})
    );
    let hit = store.knowledge_search("index", None, 1).unwrap().remove(0);
    assert_eq!((hit.debate.as_deref(), hit.receipt), (Some("d0"), Some(receipt("d0"))));
    let memories = store.recall_memories(&["gemini/c".into()], "database", None, OPENED_S, 1).unwrap();
    assert_eq!((memories[0].debate.as_str(), &memories[0].receipt), ("d1", &Some(receipt("d1"))));
    let note = add(&store, vec![note("A note", "comes from no log")]).remove(0);
    assert_eq!(store.knowledge_show(&note).unwrap().receipt, None);
    block_on(store.knowledge_forget(&entry.id)).unwrap();
    let left = "SELECT count(*) FROM knowledge WHERE forgotten = 1 AND head IS NULL AND events IS NULL";
    assert_eq!(home.number(left), 1);
}

#[test]
fn a_long_answer_is_truncated() {
    let home = TestHome::new();
    let store = home.open();
    let mut long = lesson();
    long.decision.as_mut().unwrap().answer = "é".repeat(5_000);
    close_debate(&store, "d1", "Why?", long);
    let text = &store.knowledge_list(1).unwrap()[0].text;
    assert_eq!(text.matches('é').count(), 4_000);
    assert!(text.contains("é…") && text.contains("Dissent:"));
}

/// Without a lesson, only the deliveries become due. Without a decision, there is no knowledge.
#[test]
fn only_what_the_lesson_has_is_written() {
    let home = TestHome::new();
    let store = home.open();
    bind_delivery(&store, "d1");
    append(&store, "d1", closed_log("d1", "Why?", None).0.records).unwrap();
    assert_eq!(TABLES.map(|table| count_rows(&home, table)), [0; 6]);
    assert_eq!(store.deliveries(Some(DeliveryState::Due)).unwrap().len(), 1);
    let mut undecided = lesson();
    undecided.decision = None;
    (undecided.parts[0].agent, undecided.parts[1].position, undecided.parts[2].ballot) = (None, None, None);
    close_debate(&store, "d2", "Why?", undecided);
    // b and c are rated, c has a memory, b has voted.
    assert_eq!(TABLES.map(|table| count_rows(&home, table)), [0, 1, 1, 2, 2, 1]);
    let text = home.text("SELECT text FROM memories");
    assert!(text.ends_with("The debate decided nothing."), "{text}");
}

/// If one table cannot be written, neither `Closed` nor anything else is.
#[test]
fn a_debate_does_not_close_if_any_table_cannot_be_written() {
    let inserts = TABLES.map(|table| format!("INSERT ON {table}"));
    let updates = ["UPDATE ON memories".to_owned(), "UPDATE ON deliveries".to_owned()];
    let faults = inserts.into_iter().chain(updates);
    for fault in faults {
        let home = TestHome::new();
        let store = home.open();
        bind_delivery(&store, "d1");
        close_debate(&store, "d0", "Which index?", lesson());
        let mut new = lesson();
        new.parts[0].position = Some("What nobody had proposed before.".into());
        let (log, closed) = closed_log("d1", "Which database?", Some(new));
        let open = log.records[..4].to_vec();
        append(&store, "d1", open.clone()).unwrap();
        let before = table_rows(&home);
        home.spoil(&fault);
        let error = append(&store, "d1", vec![closed.clone()]).unwrap_err();
        assert!(error.to_string().contains("spoiled"), "{fault}: {error}");
        assert_eq!(load(&store, "d1").unwrap(), open, "{fault}");
        assert_eq!(table_rows(&home), before, "{fault}");
        assert_eq!(store.list_debates(None).unwrap()[0].status, "running", "{fault}: it can still be closed");
        home.unspoil();
        append(&store, "d1", vec![closed]).unwrap();
        assert_eq!(store.list_debates(None).unwrap()[0].status, "complete", "{fault}");
        assert_eq!(store.knowledge_list(9).unwrap().len(), 2, "{fault}");
    }
}

/// The other process: binds, opens and closes one debate after another until it is killed.
#[test]
#[ignore = "other tests start it as a separate process"]
fn the_closing_process() {
    let (file, id) = (std::env::var(FILE).unwrap(), std::env::var(ID).unwrap());
    let store = open_address(&file).unwrap();
    let mut out = std::io::stdout();
    for n in 1.. {
        let id = format!("{id}-{n}");
        bind_delivery(&store, &id);
        let (log, closed) = closed_log(&id, &format!("Question {n} of {id}?"), Some(lesson()));
        append(&store, &id, log.records[..4].to_vec()).unwrap();
        append(&store, &id, vec![closed]).unwrap();
        writeln!(out, "durable {n}").unwrap();
    }
}

const CLOSING: &str = "closed_debates::the_closing_process";

/// Checks that every closed debate has written everything and every other debate nothing.
fn check_complete(home: &TestHome, told: usize) {
    let store = home.open();
    let debates = store.list_debates(None).unwrap();
    let over: Vec<&str> = debates
        .iter()
        .filter(|debate| debate.status == "complete")
        .map(|debate| debate.id.as_str())
        .collect();
    assert!(over.len() >= told, "{} of {told}", over.len());
    let entries = store.knowledge_list(usize::MAX).unwrap();
    let mut known: Vec<&str> = entries.iter().filter_map(|entry| entry.debate.as_deref()).collect();
    let mut expected = over.clone();
    known.sort_unstable();
    expected.sort_unstable();
    assert_eq!(known, expected);
    let due = store.deliveries(Some(DeliveryState::Due)).unwrap();
    assert_eq!(due.len(), over.len(), "no delivery is lost");
    for rated in store.ratings().unwrap() {
        assert_eq!(rated.rating.games as usize, over.len());
    }
    for table in ["memory_observations", "ballots", "rating_history"] {
        assert_eq!(count_rows(home, table), 3 * over.len() as i64, "{table}");
    }
    let rebuilt = block_on(store.rebuild()).unwrap();
    assert_eq!(
        (rebuilt.debates as usize, rebuilt.knowledge, rebuilt.memories, rebuilt.ratings),
        (over.len(), 0, 0, 0)
    );
    assert_eq!(store.health().unwrap().integrity, "ok");
}

#[test]
fn a_killed_process_leaves_a_debate_closed_with_everything_or_open() {
    for debates in [1, 7, 23] {
        let home = TestHome::new();
        let mut other = OtherProcess::running(CLOSING, &home, "d");
        other.durable(debates);
        let told = other.kill().max(debates);
        let ids: Vec<String> =
            home.open().list_debates(None).unwrap().into_iter().map(|debate| debate.id).collect();
        ids.iter().for_each(|id| home.await_release(id));
        check_complete(&home, told);
        // A debate that was opened and not closed can go on.
        let store = home.open();
        for debate in store.list_debates(None).unwrap().iter().filter(|debate| debate.status == "interrupted")
        {
            lease(&store, &debate.id).unwrap();
        }
    }
}

/// Each rating follows from the one before, whichever process wrote it.
#[test]
fn two_processes_can_rate_the_same_agents_in_one_file() {
    let home = TestHome::new();
    let mut other = OtherProcess::running(CLOSING, &home, "theirs");
    other.durable(3);
    let store = home.open();
    for n in 0..20 {
        let id = format!("ours-{n}");
        bind_delivery(&store, &id);
        close_debate(&store, &id, &format!("Our question {n}?"), lesson());
    }
    other.durable(10);
    let told = other.kill().max(10);
    drop(store);
    check_complete(&home, told + 20);
}
