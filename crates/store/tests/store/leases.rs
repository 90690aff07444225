//! Leases: no debate runs twice. A second store at the same address stands in for a second process.

use agon_core::Status;
use agon_engine::{Store, StoreError};
use agon_store::DebateStore;

use crate::fixtures::{TestHome, append, block_on, lease, load, store_with_debate};

fn status(store: &DebateStore, id: &str) -> String {
    store.list_debates(None).unwrap().into_iter().find(|debate| debate.id == id).unwrap().status
}

#[test]
fn a_debate_has_one_owner_at_a_time() {
    let home = TestHome::new();
    let (first, mut log) = store_with_debate(&home, "d1");
    let second = home.open();
    let more = log.say("Coffee.");
    assert!(matches!(lease(&second, "d1"), Err(StoreError::Leased(id)) if id == "d1"));
    assert!(matches!(append(&second, "d1", more.clone()), Err(StoreError::LeaseLost(id)) if id == "d1"));
    assert_eq!((status(&first, "d1"), status(&second, "d1")), ("running".into(), "running".into()));
    lease(&first, "d1").unwrap();
    append(&first, "d1", more).unwrap();
    assert_eq!(load(&second, "d1").unwrap(), log.records);
}

#[test]
fn a_released_debate_can_be_leased() {
    let home = TestHome::new();
    let (first, mut log) = store_with_debate(&home, "d1");
    let second = home.open();
    let more = log.say("Coffee.");
    block_on(second.release("d1")).unwrap();
    assert_eq!(status(&first, "d1"), "running", "only its holder can release it");
    block_on(first.release("d1")).unwrap();
    assert_eq!(status(&first, "d1"), "interrupted");
    assert!(matches!(append(&first, "d1", more.clone()), Err(StoreError::LeaseLost(_))));
    lease(&second, "d1").unwrap();
    append(&second, "d1", more).unwrap();
    let closed = log.close(Status::Failed, "None.", "None.");
    append(&second, "d1", vec![closed]).unwrap();
    assert_eq!(status(&first, "d1"), "failed");
}

#[test]
fn closing_a_store_releases_its_debates() {
    let home = TestHome::new();
    let (first, _) = store_with_debate(&home, "d1");
    let clone = first.clone();
    first.close();
    let second = home.open();
    assert!(matches!(lease(&second, "d1"), Err(StoreError::Leased(_))), "a clone still holds it");
    clone.close();
    assert_eq!(status(&second, "d1"), "interrupted");
    lease(&second, "d1").unwrap();
    assert_eq!(status(&second, "d1"), "running");
}

#[test]
fn a_store_that_lost_its_lease_can_no_longer_append() {
    let home = TestHome::new();
    let (first, mut log) = store_with_debate(&home, "d1");
    let second = home.open();
    let theirs = log.say("Coffee.");
    home.hide_owners();
    lease(&second, "d1").unwrap();
    assert!(matches!(append(&first, "d1", theirs.clone()), Err(StoreError::LeaseLost(_))));
    append(&second, "d1", theirs).unwrap();
    assert_eq!(load(&first, "d1").unwrap(), log.records);
}
