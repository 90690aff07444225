//! "Two processes on one file do not corrupt or double-run a debate (lease)": here the second process is a second store.

use std::fs;

use agon_core::Status;
use agon_engine::{Store, StoreError};
use agon_store::Sqlite;

use crate::debates::{Home, Talk, append, lease, load, one, wait};

fn status(store: &Sqlite, id: &str) -> String {
    store.list(None).unwrap().into_iter().find(|debate| debate.id == id).unwrap().status
}

#[test]
fn a_debate_has_one_owner_at_a_time() {
    let home = Home::new();
    let (first, mut talk) = one(&home, "d1");
    let second = home.open();
    let more = talk.say("Coffee.");
    assert!(matches!(lease(&second, "d1"), Err(StoreError::Leased(id)) if id == "d1"));
    assert!(matches!(append(&second, "d1", more.clone()), Err(StoreError::LeaseLost(id)) if id == "d1"));
    assert_eq!((status(&first, "d1"), status(&second, "d1")), ("running".into(), "running".into()));
    lease(&first, "d1").unwrap();
    append(&first, "d1", more).unwrap();
    assert_eq!(load(&second, "d1").unwrap(), talk.records);
}

#[test]
fn a_debate_that_is_given_back_can_be_taken() {
    let home = Home::new();
    let (first, mut talk) = one(&home, "d1");
    let second = home.open();
    let more = talk.say("Coffee.");
    wait(second.release("d1")).unwrap();
    assert_eq!(status(&first, "d1"), "running", "only its owner can give it back");
    wait(first.release("d1")).unwrap();
    assert_eq!(status(&first, "d1"), "interrupted");
    assert!(matches!(append(&first, "d1", more.clone()), Err(StoreError::LeaseLost(_))));
    lease(&second, "d1").unwrap();
    append(&second, "d1", more).unwrap();
    let closed = talk.close(Status::Failed, "None.", "None.");
    append(&second, "d1", vec![closed]).unwrap();
    assert_eq!(status(&first, "d1"), "failed");
}

#[test]
fn a_store_that_is_closed_gives_back_all_it_has() {
    let home = Home::new();
    let (first, _) = one(&home, "d1");
    let clone = first.clone();
    first.close();
    let second = home.open();
    assert!(matches!(lease(&second, "d1"), Err(StoreError::Leased(_))), "a clone still has it");
    clone.close();
    assert_eq!(home.locks(), Vec::<String>::new());
    assert_eq!(status(&second, "d1"), "interrupted");
    lease(&second, "d1").unwrap();
    assert_eq!(status(&second, "d1"), "running");
}

#[test]
fn an_owner_whose_debate_was_taken_writes_no_more() {
    let home = Home::new();
    let (first, mut talk) = one(&home, "d1");
    let second = home.open();
    let theirs = talk.say("Coffee.");
    // No living owner loses its lock by itself: somebody cleared the folder.
    fs::remove_file(home.folder().join("agon.db.owners").join(&home.locks()[0])).unwrap();
    lease(&second, "d1").unwrap();
    assert!(matches!(append(&first, "d1", theirs.clone()), Err(StoreError::LeaseLost(_))));
    append(&second, "d1", theirs).unwrap();
    assert_eq!(load(&first, "d1").unwrap(), talk.records);
}

#[test]
fn readers_make_no_lock_and_stale_locks_are_removed() {
    let home = Home::new();
    home.open().list(None).unwrap();
    assert!(!home.folder().join("agon.db.owners").exists());
    let (first, _) = one(&home, "d1");
    let stale = home.folder().join("agon.db.owners").join("00000000deadbeef.lock");
    fs::write(&stale, "").unwrap();
    let second = home.open();
    append(&second, "d2", Talk::new("d2", "Why?").records).unwrap();
    assert!(!stale.exists());
    assert_eq!(home.locks().len(), 2, "those of the living stay");
    drop((first, second));
    assert_eq!(home.locks(), Vec::<String>::new());
}

#[test]
fn an_owners_name_cannot_lead_out_of_the_folder() {
    let home = Home::new();
    let (first, _) = one(&home, "d1");
    drop(first);
    let precious = home.folder().join("precious.lock");
    fs::write(&precious, "mine").unwrap();
    home.plain().execute("UPDATE debates SET owner = '../precious.lock'", []).unwrap();
    let store = home.open();
    assert_eq!(status(&store, "d1"), "interrupted");
    lease(&store, "d1").unwrap();
    assert_eq!(fs::read_to_string(precious).unwrap(), "mine");
}

#[cfg(unix)]
#[test]
fn a_link_to_the_file_leads_to_the_same_owners() {
    let home = Home::new();
    let (first, _) = one(&home, "d1");
    let link = home.folder().join("link.db");
    std::os::unix::fs::symlink(home.file(), &link).unwrap();
    let second = Sqlite::open(&link).unwrap();
    assert!(matches!(lease(&second, "d1"), Err(StoreError::Leased(_))));
    drop(first);
    lease(&second, "d1").unwrap();
}
