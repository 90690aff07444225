//! Leases: no debate runs twice. A second store on the same file stands in for a second process.

use std::fs;

use agon_core::Status;
use agon_engine::{Store, StoreError};
use agon_store::DebateStore;

use crate::fixtures::{TestHome, TestLog, append, block_on, lease, load, store_with_debate};

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
    assert_eq!(home.lock_files(), Vec::<String>::new());
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
    // A living writer never loses its lock file by itself, so delete it.
    fs::remove_file(home.folder().join("agon.db.owners").join(&home.lock_files()[0])).unwrap();
    lease(&second, "d1").unwrap();
    assert!(matches!(append(&first, "d1", theirs.clone()), Err(StoreError::LeaseLost(_))));
    append(&second, "d1", theirs).unwrap();
    assert_eq!(load(&first, "d1").unwrap(), log.records);
}

#[test]
fn readers_create_no_lock_file_and_stale_ones_are_removed() {
    let home = TestHome::new();
    home.open().list_debates(None).unwrap();
    assert!(!home.folder().join("agon.db.owners").exists());
    let (first, _) = store_with_debate(&home, "d1");
    let stale = home.folder().join("agon.db.owners").join("00000000deadbeef.lock");
    fs::write(&stale, "").unwrap();
    let second = home.open();
    append(&second, "d2", TestLog::new("d2", "Why?").records).unwrap();
    assert!(!stale.exists());
    assert_eq!(home.lock_files().len(), 2, "locks of living writers stay");
    drop((first, second));
    assert_eq!(home.lock_files(), Vec::<String>::new());
}

#[test]
fn an_edited_owner_cannot_lead_out_of_the_lock_folder() {
    let home = TestHome::new();
    let (first, _) = store_with_debate(&home, "d1");
    drop(first);
    let precious = home.folder().join("precious.lock");
    fs::write(&precious, "mine").unwrap();
    home.sql().execute("UPDATE debates SET owner = '../precious.lock'", []).unwrap();
    let store = home.open();
    assert_eq!(status(&store, "d1"), "interrupted");
    lease(&store, "d1").unwrap();
    assert_eq!(fs::read_to_string(precious).unwrap(), "mine");
}

#[cfg(unix)]
#[test]
fn a_store_opened_through_a_link_sees_the_same_leases() {
    let home = TestHome::new();
    let (first, _) = store_with_debate(&home, "d1");
    let link = home.folder().join("link.db");
    std::os::unix::fs::symlink(home.file(), &link).unwrap();
    let second = DebateStore::open(&link).unwrap();
    assert!(matches!(lease(&second, "d1"), Err(StoreError::Leased(_))));
    drop(first);
    lease(&second, "d1").unwrap();
}
