//! The lock files of the processes that run debates.

use std::fs;

use agon_engine::StoreError;
use agon_store::DebateStore;

use crate::fixtures::{TestHome, TestLog, append, lease, store_with_debate};

#[test]
fn a_closed_store_leaves_no_lock_file() {
    let home = TestHome::new();
    store_with_debate(&home, "d1").0.close();
    assert_eq!(home.lock_files(), Vec::<String>::new());
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
    assert_eq!(store.list_debates(None).unwrap()[0].status, "interrupted");
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
