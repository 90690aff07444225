//! "A single writer with group commit, so that a thousand debates do not mean a thousand fsyncs."

use agon_engine::{Store, StoreError};

use crate::debates::{Home, Talk, load, one, wait};

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
    assert!(store.commits() <= 2, "{} commits", store.commits());
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
