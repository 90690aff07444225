//! What only a server can do to a store: lose connections, restart, and let another process take a debate over.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agon_engine::{Store, StoreError};
use agon_mock::PostgresServer;
use agon_store::{DebateStore, StoreAddress};

use crate::fixtures::{
    TestHome, TestLog, append, block_on, close_debate, count_rows, lease, lesson, load, store_with_debate,
};

fn open(address: &str) -> Result<DebateStore, StoreError> {
    DebateStore::open(StoreAddress::parse(address.as_ref())?)
}

/// Ends every connection of the store, but not the test's own.
fn end_connections(home: &TestHome) -> i64 {
    home.number(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
         WHERE application_name = 'agon' AND pid IN (SELECT pid FROM pg_locks WHERE objid::bigint IN (SELECT owner & 4294967295 FROM processes))",
    )
}

#[test]
fn ten_processes_that_start_at_once_create_the_tables_once() {
    let home = TestHome::new();
    std::thread::scope(|scope| {
        for n in 0..10 {
            let address = home.address();
            scope.spawn(move || {
                let (store, id) = (open(&address).unwrap(), format!("d{n}"));
                append(&store, &id, TestLog::new(&id, "Why?").records).unwrap();
            });
        }
    });
    assert_eq!(home.open().list_debates(None).unwrap().len(), 10);
    assert_eq!(count_rows(&home, "agon_schema"), 1);
}

#[test]
fn other_tables_and_newer_ones_are_refused_and_left_alone() {
    let home = TestHome::new();
    home.change("CREATE TABLE debates (theirs BIGINT)");
    let error = open(&home.address()).unwrap_err().to_string();
    assert!(error.contains("not agon's") && error.contains("--db"), "{error}");
    assert_eq!(count_rows(&home, "debates"), 0);
    let home = TestHome::new();
    drop(home.open());
    home.change("UPDATE agon_schema SET version = 999");
    let error = open(&home.address()).unwrap_err().to_string();
    assert!(error.contains("999") && error.contains("update agon"), "{error}");
}

#[test]
fn an_address_that_does_not_work_is_explained_without_its_password() {
    let home = TestHome::new();
    let good = home.address();
    for (address, sentence) in [
        (good.replace("/postgres?", "/nowhere?"), "create it, for instance with `createdb`"),
        (good.replace("postgres@", "nobody:secret@"), "check the user and the password"),
        ("postgres://me:secret@127.0.0.1:1/agon".into(), "see that the server runs"),
        ("postgres://me:secret@127.0.0.1:1/agon?colour=red".into(), "write postgres://USER@HOST/NAME"),
    ] {
        let error = open(&address).unwrap_err().to_string();
        assert!(error.contains(sentence) && !error.contains("secret"), "{error}");
    }
}

#[test]
fn a_store_goes_on_when_its_connections_are_ended() {
    let home = TestHome::new();
    let (store, mut log) = store_with_debate(&home, "d1");
    let other = home.open();
    for round in 0..5 {
        assert!(end_connections(&home) > 0);
        append(&store, "d1", log.say(&format!("Round {round}."))).unwrap();
        assert_eq!(load(&store, "d1").unwrap(), log.records);
        assert!(matches!(lease(&other, "d1"), Err(StoreError::Leased(_))), "it has its lock again");
    }
    assert_eq!(home.number("SELECT epoch FROM debates"), 1, "it is the same lease");
}

#[test]
fn a_connection_that_ends_while_it_commits_loses_and_repeats_nothing() {
    let home = TestHome::new();
    let (store, mut log) = store_with_debate(&home, "d1");
    // The first commit of a third event ends its own connection, and so it is undone.
    home.change("CREATE SEQUENCE deaths");
    home.change(
        "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF nextval('deaths') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NULL;
         END $$",
    );
    home.change(
        "CREATE CONSTRAINT TRIGGER die AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW EXECUTE FUNCTION die()",
    );
    append(&store, "d1", log.say("Both.")).unwrap();
    assert!(home.number("SELECT nextval('deaths')") > 2, "it was tried again");
    assert_eq!(load(&store, "d1").unwrap(), log.records);
}

/// Forwards connections to a server. It cuts one off after it has forwarded this many commits, before their answer.
struct CuttingProxy {
    port: u16,
    commits_until_cut: Arc<AtomicUsize>,
}

impl CuttingProxy {
    fn start(server: &str) -> Self {
        let server = server.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let commits_until_cut = Arc::new(AtomicUsize::new(usize::MAX));
        let left = commits_until_cut.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().map(Result::unwrap) {
                let server = TcpStream::connect(&server).unwrap();
                let (back_from, back_to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                std::thread::spawn(move || forward(back_from, back_to, &AtomicUsize::new(usize::MAX)));
                let left = left.clone();
                std::thread::spawn(move || forward(client, server, &left));
            }
        });
        Self { port, commits_until_cut }
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, commits_until_cut: &AtomicUsize) {
    let mut bytes = [0; 65_536];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        let is_commit = bytes[..read].windows(6).any(|part| part == b"COMMIT");
        if is_commit && commits_until_cut.fetch_sub(1, Ordering::Relaxed) == 1 {
            // The client never hears of it, and the server never hears that the client is gone before it has committed.
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.write_all(&bytes[..read]);
            std::thread::sleep(Duration::from_millis(20));
            break;
        }
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

#[test]
fn a_commit_that_nobody_confirmed_is_neither_lost_nor_repeated() {
    let home = TestHome::new();
    drop(home.open());
    let direct = home.address();
    let (_, rest) = direct.split_once('@').unwrap();
    let (server, path) = rest.split_once('/').unwrap();
    let proxy = CuttingProxy::start(server);
    let address = format!("postgres://postgres@127.0.0.1:{}/{path}&sslmode=disable", proxy.port);
    let store = open(&address).unwrap();
    let mut log = TestLog::new("d1", "Tea or coffee?");
    append(&store, "d1", log.records.clone()).unwrap();
    for round in 1..4 {
        proxy.commits_until_cut.store(round, Ordering::Relaxed);
        for _ in 0..round {
            append(&store, "d1", log.say("And again.")).unwrap();
        }
        assert_eq!(load(&store, "d1").unwrap(), log.records);
    }
    proxy.commits_until_cut.store(1, Ordering::Relaxed);
    close_debate(&store, "d2", "Which database?", lesson());
    assert_eq!(count_rows(&home, "ballots"), 3);
    assert_eq!(block_on(store.rebuild()).unwrap().ratings, 0);
}

#[test]
fn a_server_that_crashes_and_starts_again_loses_and_repeats_nothing() {
    if PostgresServer::shared().is_none() {
        return;
    }
    let server = PostgresServer::start("-c fsync=off").unwrap();
    let store = open(&server.address("postgres")).unwrap();
    let mut logs: Vec<TestLog> = (0..8).map(|n| TestLog::new(&format!("d{n}"), "Why?")).collect();
    for log in &logs {
        append(&store, log.id(), log.records.clone()).unwrap();
    }
    let written = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let written = &written;
        let writers: Vec<_> = logs
            .iter_mut()
            .map(|log| {
                let store = store.clone();
                scope.spawn(move || {
                    for n in 0..150 {
                        let id = log.id().to_owned();
                        append(&store, &id, log.say(&format!("Turn {n}."))).unwrap();
                        written.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        for crash in 1..=5 {
            // In the middle of the work, wherever that is.
            while written.load(Ordering::Relaxed) < 200 * crash && !writers.iter().all(|writer| writer.is_finished()) {
                std::thread::yield_now();
            }
            server.crash_and_restart().unwrap();
        }
    });
    for log in &logs {
        assert_eq!(load(&store, log.id()).unwrap(), log.records);
    }
    assert_eq!(store.health().unwrap().integrity, "ok");
}

/// A process that is stopped or cut off keeps its connection and its lock, but it is not seen.
#[test]
fn a_process_that_was_not_seen_for_long_loses_its_debates_and_can_write_nothing() {
    let home = TestHome::new();
    let (first, mut log) = store_with_debate(&home, "d1");
    let second = home.open();
    assert!(matches!(lease(&second, "d1"), Err(StoreError::Leased(_))));
    home.change("UPDATE processes SET seen_at = seen_at - interval '31 seconds'");
    lease(&second, "d1").unwrap();
    assert_eq!(home.number("SELECT epoch FROM debates"), 2);
    let mut late = TestLog::new("d1", "Tea or coffee?");
    late.say("Tea.");
    let late = late.say("Late.");
    assert!(matches!(append(&first, "d1", late.clone()), Err(StoreError::LeaseLost(_))));
    append(&second, "d1", log.say("Both.")).unwrap();
    assert!(matches!(append(&first, "d1", late), Err(StoreError::LeaseLost(_))));
    block_on(first.release("d1")).unwrap();
    append(&second, "d1", log.say("Still mine.")).unwrap();
    assert_eq!(load(&first, "d1").unwrap(), log.records);
}

#[test]
fn a_late_writer_fails_alone_in_its_group() {
    let home = TestHome::new();
    let (first, mut lost) = store_with_debate(&home, "lost");
    let mut kept = TestLog::new("kept", "Why?");
    append(&first, "kept", kept.records.clone()).unwrap();
    let second = home.open();
    home.hide_owners();
    lease(&second, "lost").unwrap();
    home.change("UPDATE processes SET seen_at = now()");
    let blocked = home.block_writes();
    let (late, more) = (first.append("lost", lost.say("Late.")), first.append("kept", kept.say("So.")));
    drop(blocked);
    assert!(matches!(block_on(late), Err(StoreError::LeaseLost(_))));
    block_on(more).unwrap();
    assert_eq!(load(&second, "kept").unwrap(), kept.records);
}

/// In a runtime with one thread, in one with several, and in none.
#[test]
fn the_store_can_be_read_and_closed_from_anywhere() {
    let home = TestHome::new();
    drop(store_with_debate(&home, "d1"));
    let read = |home: &TestHome| {
        let store = home.open();
        assert_eq!(store.list_debates(None).unwrap().len(), 1);
        store.close();
    };
    read(&home);
    block_on(async { read(&home) });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    runtime.block_on(async {
        read(&home);
        let address = home.address();
        let listed = tokio::spawn(async move { open(&address).unwrap().list_debates(None).unwrap().len() });
        assert_eq!(listed.await.unwrap(), 1);
    });
}
