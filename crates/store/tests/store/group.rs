//! "A single writer with group commit, so that a thousand debates do not mean a thousand fsyncs."

use agon_engine::{Store, StoreError};

use crate::debates::{Home, Talk, append, load, one, wait};

#[test]
fn a_thousand_appends_at_once_share_a_commit() {
    let home = Home::new();
    let store = home.open();
    let talks: Vec<Talk> = (0..1000).map(|n| Talk::new(&format!("d{n}"), "Why?")).collect();
    // While another writes, everything queues up; the writer has taken the first at most.
    let blocker = home.plain();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let appends: Vec<_> = talks.iter().map(|talk| store.append(talk.id(), talk.records.clone())).collect();
    blocker.execute_batch("COMMIT").unwrap();
    wait(async {
        for append in appends {
            append.await.unwrap();
        }
    });
    assert!(store.commits() <= 500, "{} commits", store.commits());
    assert_eq!(store.list(None).unwrap().len(), 1000);
}

#[test]
fn what_fails_its_own_check_fails_alone() {
    let home = Home::new();
    let (store, mut talk) = one(&home, "d1");
    let before = talk.records.clone();
    let more = talk.say("Coffee.");
    let other = Talk::new("d2", "Why?");
    let third = Talk::new("d3", "Why?");
    let commits = store.commits();
    let blocker = home.plain();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let plug = store.lease("d1");
    let answers = [
        store.append("d2", other.records.clone()),
        store.append("d1", vec![more[0].clone(), more[2].clone()]),
        store.append("nobody", more.clone()),
        store.append("d3", third.records.clone()),
    ];
    blocker.execute_batch("COMMIT").unwrap();
    let [second, holed, unknown, fourth] = answers;
    wait(async {
        plug.await.unwrap();
        second.await.unwrap();
        assert!(matches!(holed.await, Err(StoreError::Failed { .. })));
        assert!(matches!(unknown.await, Err(StoreError::Unknown(_))));
        fourth.await.unwrap();
    });
    assert!(store.commits() - commits <= 2, "they were one group, or the first was alone");
    assert_eq!(load(&store, "d1").unwrap(), before);
    assert_eq!(load(&store, "d2").unwrap(), other.records);
    assert_eq!(load(&store, "d3").unwrap(), third.records);
}

#[test]
fn when_the_commit_fails_everybody_is_told_and_nothing_is_written() {
    let home = Home::new();
    let (store, mut talk) = one(&home, "d1");
    // A reference that leads nowhere is found out at the commit and not before.
    let plain = home.plain();
    plain
        .execute_batch(
            "CREATE TABLE bad (n INTEGER REFERENCES debates (n) DEFERRABLE INITIALLY DEFERRED);
             CREATE TRIGGER spoil AFTER INSERT ON events WHEN new.body LIKE '%spoil%'
             BEGIN INSERT INTO bad VALUES (-1); END;
             BEGIN IMMEDIATE;",
        )
        .unwrap();
    let plug = store.lease("d1");
    let (before, spoilt) = (talk.records.clone(), talk.say("spoil"));
    let other = Talk::new("d2", "Why?");
    let (first, second) = (store.append("d2", other.records.clone()), store.append("d1", spoilt));
    plain.execute_batch("COMMIT").unwrap();
    wait(async {
        // Alone or with the rest, depending on how soon the writer woke.
        let _ = plug.await;
        for answer in [first.await, second.await] {
            assert!(matches!(answer, Err(StoreError::Failed { .. })), "{answer:?}");
        }
    });
    assert!(matches!(load(&store, "d2"), Err(StoreError::Unknown(_))));
    assert_eq!(load(&store, "d1").unwrap(), before);
    plain.execute_batch("DROP TRIGGER spoil").unwrap();
    append(&store, "d2", other.records.clone()).unwrap();
    assert_eq!(load(&store, "d2").unwrap(), other.records, "the store goes on");
}
