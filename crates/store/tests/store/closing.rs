//! "One transaction for outcome, memory, knowledge and ratings. All of it off the critical path, none of it lost by
//! `kill -9`."

use std::io::Write;

use agon_store::{DeliveryState, Kind, NewDelivery, Receipt, Sqlite};

use crate::debates::{Home, append, lease, load, wait};
use crate::knowledge::{add, note};
use crate::lessons::{OPENED_S, count, debate, ending, kept, lesson};
use crate::processes::{FILE, ID, Other};

const TABLES: [&str; 6] = ["knowledge", "memory", "sightings", "ratings", "rating_history", "ballots"];

fn bound(store: &Sqlite, debate: &str) {
    let new = NewDelivery { destination: "file:/tmp/x".into(), created_s: 5 };
    wait(store.deliveries_bind(debate, vec![new])).unwrap();
}

#[test]
fn a_debate_that_closes_leaves_knowledge_memories_ratings_and_its_deliveries() {
    let home = Home::new();
    let store = home.open();
    bound(&store, "d1");
    bound(&store, "d2");
    debate(&store, "d1", "Which database?", lesson());
    let entries = store.knowledge_list(9).unwrap();
    let [entry] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!((entry.kind, entry.debate.as_deref()), (Kind::Debate, Some("d1")));
    assert_eq!((entry.title.as_str(), entry.confidence), ("Which database?", Some(2.0 / 3.0)));
    assert_eq!(entry.source.as_deref(), Some("debate d1"));
    assert_eq!(
        entry.text,
        "Use one SQLite file.\n\nOne file is enough, and a copy of it is a backup.\n\n\
         Claim: Writes are few. Evidence: measured: 3 a second\n\nClaim: Nobody runs a server.\n\n\
         Dissent: A server scales further."
    );
    assert!(entry.id.starts_with("k-") && entry.id.len() == 10, "{}", entry.id);
    assert_eq!(TABLES.map(|table| count(&home, table)), [1, 3, 3, 3, 3, 3]);
    let states: Vec<_> =
        store.deliveries(None).unwrap().iter().map(|d| (d.debate.clone(), d.state)).collect();
    assert_eq!(states, [("d2".into(), DeliveryState::Waiting), ("d1".into(), DeliveryState::Due)]);
    let health = store.health().unwrap();
    assert_eq!(
        (health.knowledge, health.memories, health.deliveries_due, health.deliveries_dead),
        (1, 3, 1, 0)
    );
}

/// "`created_at` from the brief and `at_ms`, never a clock."
#[test]
fn what_a_debate_leaves_has_the_time_at_which_its_log_ends() {
    let home = Home::new();
    let store = home.open();
    let (talk, closed) = ending("d1", "Why?", Some(lesson()));
    let mut records = talk.records[..4].to_vec();
    let mut debate = agon_core::Debate::from_records(&records).unwrap();
    records.push(debate.push(closed.entry.event, 90 * 60_000).unwrap());
    append(&store, "d1", records).unwrap();
    assert_eq!(store.knowledge_list(1).unwrap()[0].at, "2026-05-01T11:30:00Z");
    assert_eq!(store.ratings().unwrap()[0].rating.history[0].at, "2026-05-01T11:30:00Z");
}

/// "Knowledge Mound stores the decision, evidence, and receipts": how the log ends, with everything that comes from it.
#[test]
fn what_a_debate_leaves_has_the_receipt_of_its_log() {
    let home = Home::new();
    let store = home.open();
    debate(&store, "d0", "Which index?", lesson());
    debate(&store, "d1", "Which database?", lesson());
    let receipt = |id: &str| {
        let log = store.raw(id).unwrap();
        Receipt { head: log.last().unwrap().1.clone(), events: log.len() as u64 }
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
    let memories = store.recall(&["gemini/c".into()], "database", None, OPENED_S, 1).unwrap();
    assert_eq!((memories[0].debate.as_str(), &memories[0].receipt), ("d1", &Some(receipt("d1"))));
    let note = add(&store, vec![note("A note", "is of no log")]).remove(0);
    assert_eq!(store.knowledge_show(&note).unwrap().receipt, None);
    wait(store.knowledge_forget(&entry.id)).unwrap();
    let left = "SELECT count(*) FROM knowledge WHERE forgotten AND head IS NULL AND events IS NULL";
    assert_eq!(home.plain().query_row(left, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
}

#[test]
fn a_long_answer_is_cut() {
    let home = Home::new();
    let store = home.open();
    let mut long = lesson();
    long.decision.as_mut().unwrap().answer = "é".repeat(5_000);
    debate(&store, "d1", "Why?", long);
    let text = &store.knowledge_list(1).unwrap()[0].text;
    assert_eq!(text.matches('é').count(), 4_000);
    assert!(text.contains("é…") && text.contains("Dissent:"));
}

/// "A debate without lesson only makes its deliveries due"; one that decided nothing leaves no knowledge.
#[test]
fn a_debate_leaves_what_its_lesson_has() {
    let home = Home::new();
    let store = home.open();
    bound(&store, "d1");
    append(&store, "d1", ending("d1", "Why?", None).0.records).unwrap();
    assert_eq!(TABLES.map(|table| count(&home, table)), [0; 6]);
    assert_eq!(store.deliveries(Some(DeliveryState::Due)).unwrap().len(), 1);
    let mut undecided = lesson();
    undecided.decision = None;
    (undecided.parts[0].agent, undecided.parts[1].position, undecided.parts[2].ballot) = (None, None, None);
    debate(&store, "d2", "Why?", undecided);
    // b and c are rated, c remembers, b has voted.
    assert_eq!(TABLES.map(|table| count(&home, table)), [0, 1, 1, 2, 2, 1]);
    let text: String = home.plain().query_row("SELECT text FROM memory", [], |row| row.get(0)).unwrap();
    assert!(text.ends_with("Nothing was decided."), "{text}");
}

/// A part that cannot be written takes all with it: no `Closed`, and nothing of the rest.
#[test]
fn a_part_that_cannot_be_written_leaves_no_ending() {
    let inserts = TABLES.map(|table| format!("BEFORE INSERT ON {table}"));
    let updates = ["BEFORE UPDATE ON memory".to_owned(), "BEFORE UPDATE ON deliveries".to_owned()];
    let faults = inserts.into_iter().chain(updates);
    for fault in faults {
        let home = Home::new();
        let store = home.open();
        bound(&store, "d1");
        debate(&store, "d0", "Which index?", lesson());
        let mut new = lesson();
        new.parts[0].position = Some("What nobody had proposed before.".into());
        let (talk, closed) = ending("d1", "Which database?", Some(new));
        let open = talk.records[..4].to_vec();
        append(&store, "d1", open.clone()).unwrap();
        let before = kept(&home);
        let spoil = format!("CREATE TRIGGER spoil {fault} BEGIN SELECT RAISE(ABORT, 'spoiled'); END");
        home.plain().execute_batch(&spoil).unwrap();
        let error = append(&store, "d1", vec![closed.clone()]).unwrap_err();
        assert!(error.to_string().contains("spoiled"), "{fault}: {error}");
        assert_eq!(load(&store, "d1").unwrap(), open, "{fault}");
        assert_eq!(kept(&home), before, "{fault}");
        assert_eq!(store.list(None).unwrap()[0].status, "running", "{fault}: it can still be closed");
        home.plain().execute_batch("DROP TRIGGER spoil").unwrap();
        append(&store, "d1", vec![closed]).unwrap();
        assert_eq!(store.list(None).unwrap()[0].status, "complete", "{fault}");
        assert_eq!(store.knowledge_list(9).unwrap().len(), 2, "{fault}");
    }
}

/// The other process: binds, opens and closes one debate after another, until it is killed.
#[test]
#[ignore = "the other tests here start it as a process of its own"]
fn the_closing_process() {
    let (file, id) = (std::env::var(FILE).unwrap(), std::env::var(ID).unwrap());
    let store = Sqlite::open(file.as_ref()).unwrap();
    let mut out = std::io::stdout();
    for n in 1.. {
        let id = format!("{id}-{n}");
        bound(&store, &id);
        let (talk, closed) = ending(&id, &format!("Question {n} of {id}?"), Some(lesson()));
        append(&store, &id, talk.records[..4].to_vec()).unwrap();
        append(&store, &id, vec![closed]).unwrap();
        writeln!(out, "durable {n}").unwrap();
    }
}

const CLOSING: &str = "closing::the_closing_process";

/// Every debate that is over has left all of it, and no other any of it.
fn whole(home: &Home, told: usize) {
    let store = home.open();
    let debates = store.list(None).unwrap();
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
    assert_eq!(due.len(), over.len(), "none of it is lost");
    for rated in store.ratings().unwrap() {
        assert_eq!(rated.rating.games as usize, over.len());
    }
    for table in ["sightings", "ballots", "rating_history"] {
        assert_eq!(count(home, table), 3 * over.len() as i64, "{table}");
    }
    let rebuilt = wait(store.rebuild()).unwrap();
    assert_eq!(
        (rebuilt.debates as usize, rebuilt.knowledge, rebuilt.memories, rebuilt.ratings),
        (over.len(), 0, 0, 0)
    );
    assert_eq!(store.health().unwrap().integrity, "ok");
}

#[test]
fn a_killed_process_leaves_all_of_an_ending_or_nothing_of_it() {
    for debates in [1, 7, 23] {
        let home = Home::new();
        let mut other = Other::running(CLOSING, &home, "d");
        other.durable(debates);
        let told = other.kill().max(debates);
        whole(&home, told);
        // What was bound and not opened waits; what was opened can go on.
        let store = home.open();
        for debate in store.list(None).unwrap().iter().filter(|debate| debate.status == "interrupted") {
            lease(&store, &debate.id).unwrap();
        }
    }
}

/// Two processes close debates on one file: each rating follows from the one before, whoever wrote it.
#[test]
fn two_processes_rate_the_same_agents() {
    let home = Home::new();
    let mut other = Other::running(CLOSING, &home, "theirs");
    other.durable(3);
    let store = home.open();
    for n in 0..20 {
        let id = format!("ours-{n}");
        bound(&store, &id);
        debate(&store, &id, &format!("Our question {n}?"), lesson());
    }
    other.durable(10);
    let told = other.kill().max(10);
    drop(store);
    whole(&home, told + 20);
}
