//! The store's file: creating it, refusing other files, and reading without writing.

use std::fs;
use std::path::Path;

use agon_core::Status;
use agon_engine::StoreError;
use agon_store::DebateStore;

use crate::fixtures::{TestHome, TestLog, append, block_on, load, store_with_debate};
use crate::knowledge::{add, note};

fn sentence(path: &Path) -> String {
    let error = DebateStore::open(path).unwrap_err();
    assert!(matches!(error, StoreError::Failed { .. }), "{error:?}");
    let sentence = error.to_string();
    assert!(sentence.contains(&path.display().to_string()), "the error names the file: {sentence}");
    sentence
}

#[cfg(unix)]
#[test]
fn the_file_and_its_folder_are_private_to_their_owner() {
    use std::os::unix::fs::PermissionsExt;
    let home = TestHome::new();
    let folder = home.folder().join("new").join("deeper");
    let store = DebateStore::open(&folder.join("agon.db")).unwrap();
    append(&store, "d1", TestLog::new("d1", "Why?").records).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let mut files = 0;
    for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        let expected = if entry.file_type().unwrap().is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&entry.path()), expected, "{entry:?}");
        files += 1;
    }
    assert_eq!(files, 4, "the file, two side files of SQLite, and the lock folder");
    assert_eq!((mode(&folder), mode(&home.folder().join("new"))), (0o700, 0o700));
    drop(store);
    assert!(!folder.join("agon.db-wal").exists(), "there is one file when no process has it open");
}

#[test]
fn a_file_of_the_first_edition_is_refused_and_left_alone() {
    for version in 1..=3 {
        let home = TestHome::new();
        drop(store_with_debate(&home, "d1"));
        home.sql().pragma_update(None, "user_version", version).unwrap();
        let before = fs::read(home.file()).unwrap();
        let error = sentence(&home.file());
        assert!(error.contains("the first edition of agon wrote it") && error.contains("--db"), "{error}");
        assert!(DebateStore::open_to_read(&home.file()).is_err());
        assert_eq!(fs::read(home.file()).unwrap(), before);
    }
}

/// The tables of version 5, in which the index covers the events up to this one.
fn make_version_5(home: &TestHome, last_event: i64) {
    let version_5 =
        "DROP TABLE debate_messages; DROP TABLE call_places; DROP TABLE allowances;
        DROP TABLE served_debates; DROP TABLE search_backlog; CREATE TABLE search_progress (last_event INTEGER NOT NULL) STRICT;
        PRAGMA user_version = 5";
    home.sql().execute_batch(version_5).unwrap();
    home.sql().execute("INSERT INTO search_progress VALUES (?1)", [last_event]).unwrap();
}

#[test]
fn a_file_of_version_4_or_5_is_brought_up_to_date() {
    for version in [4, 5] {
        let home = TestHome::new();
        let (store, _) = store_with_debate(&home, "d1");
        drop(store);
        make_version_5(&home, 0);
        if version == 4 {
            let version_4 = "ALTER TABLE debates DROP COLUMN provenance; PRAGMA user_version = 4";
            home.sql().execute_batch(version_4).unwrap();
        }
        let before = load(&home.open(), "d1").unwrap();
        assert!(!before.is_empty());
        let version: i64 = home.sql().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, 7);
        assert_eq!(load(&home.open(), "d1").unwrap(), before);
    }
}

#[test]
fn what_an_older_version_had_not_indexed_is_found_after_the_next_search() {
    let home = TestHome::new();
    let store = home.open();
    for id in ["d1", "d2", "d3"] {
        let mut log = TestLog::new(id, "Tea or coffee?");
        log.say("Cocoa.");
        log.close(Status::Complete, "Tea.", "Coffee.");
        append(&store, id, log.records).unwrap();
    }
    drop(store);
    let events_of_first = "SELECT max(n) FROM events WHERE debate = 1";
    let last_event = home.sql().query_row(events_of_first, [], |row| row.get(0)).unwrap();
    make_version_5(&home, last_event);
    home.sql().execute("DELETE FROM search WHERE rowid > 1", []).unwrap();
    assert_eq!(home.open().search_debates("cocoa", 10).unwrap().len(), 3);
    let behind = "SELECT count(*) FROM search_backlog";
    assert_eq!(home.sql().query_row(behind, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[test]
fn a_file_of_a_newer_version_is_refused_and_left_alone() {
    let home = TestHome::new();
    drop(store_with_debate(&home, "d1"));
    home.sql().pragma_update(None, "user_version", 999).unwrap();
    let before = fs::read(home.file()).unwrap();
    assert!(sentence(&home.file()).contains("999"));
    assert!(sentence(&home.file()).contains("update agon"));
    assert_eq!(fs::read(home.file()).unwrap(), before);
}

#[test]
fn a_file_that_is_not_a_store_is_refused_and_left_alone() {
    let home = TestHome::new();
    let letter = "Dear diary, this is not a database. ".repeat(100);
    fs::write(home.file(), &letter).unwrap();
    assert!(sentence(&home.file()).contains("not an agon store"));
    assert_eq!(fs::read_to_string(home.file()).unwrap(), letter);
    fs::write(home.file(), "short").unwrap();
    assert!(sentence(&home.file()).contains("not an agon store"));
    assert_eq!(fs::read_to_string(home.file()).unwrap(), "short");
    let entries = fs::read_dir(home.folder()).unwrap().count();
    assert_eq!(entries, 1, "no file is created beside it");
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    let home = TestHome::new();
    home.sql().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let before = fs::read(home.file()).unwrap();
    assert!(sentence(&home.file()).contains("not an agon store"));
    assert_eq!(fs::read(home.file()).unwrap(), before);
}

#[test]
fn an_empty_file_becomes_a_store() {
    let home = TestHome::new();
    fs::write(home.file(), "").unwrap();
    assert_eq!(home.open().list_debates(None).unwrap(), []);
}

#[test]
fn an_impossible_path_is_explained() {
    let home = TestHome::new();
    assert!(sentence(&home.folder()).contains("name a file in it"));
    fs::write(home.folder().join("file"), "").unwrap();
    assert!(sentence(&home.folder().join("file").join("agon.db")).contains("--db"));
}

/// Not even root may create a file there.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_without_write_access_is_explained() {
    assert!(sentence(Path::new("/proc/agon.db")).contains("write access"));
}

#[test]
fn many_threads_can_open_a_new_file_at_once() {
    let home = TestHome::new();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let home = &home;
            scope.spawn(move || {
                let (store, id) = (home.open(), format!("d{n}"));
                append(&store, &id, TestLog::new(&id, "Why?").records).unwrap();
            });
        }
    });
    assert_eq!(home.open().list_debates(None).unwrap().len(), 8);
}

#[test]
fn a_read_only_store_writes_nothing() {
    let home = TestHome::new();
    let (store, _) = store_with_debate(&home, "d1");
    let (log, raw) = (load(&store, "d1").unwrap(), store.raw_log("d1").unwrap());
    let early = DebateStore::open_to_read(&home.file()).unwrap().search_debates("why", 5).unwrap_err();
    assert!(early.to_string().contains("its index is not up to date"), "{early}");
    store.search_debates("nothing", 1).unwrap();
    drop(store);
    let before = fs::read(home.file()).unwrap();
    let reader = DebateStore::open_to_read(&home.file()).unwrap();
    assert_eq!((load(&reader, "d1").unwrap(), reader.raw_log("d1").unwrap()), (log, raw));
    let (row, _) = reader.debate_with_raw_log("d1").unwrap();
    assert_eq!(
        (reader.list_debates(None).unwrap(), reader.find_debate("last").unwrap()),
        (vec![row], "d1".to_owned())
    );
    reader.search_debates("why", 5).unwrap();
    let error = append(&reader, "d2", TestLog::new("d2", "Why?").records).unwrap_err();
    assert!(error.to_string().contains("can only be read"), "{error}");
    assert_eq!((reader.commits(), fs::read(home.file()).unwrap()), (0, before));
}

#[test]
fn a_read_only_store_also_refuses_other_files() {
    let home = TestHome::new();
    for text in ["", "not a database"] {
        fs::write(home.file(), text).unwrap();
        assert!(DebateStore::open_to_read(&home.file()).is_err(), "{text:?}");
        assert_eq!(fs::read_to_string(home.file()).unwrap(), text);
    }
}

/// The text of a forgotten entry is gone from the table, the index and the free pages of the file.
#[test]
fn forgotten_text_is_not_in_the_file() {
    let home = TestHome::new();
    let store = home.open();
    let ids = add(&store, vec![note("Secret", "xylophone quagmire"), note("Kept", "zeppelin hangar")]);
    block_on(store.knowledge_forget(&ids[0])).unwrap();
    drop(store);
    let bytes = fs::read(home.file()).unwrap();
    let has = |word: &str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
    assert!(!has("xylophone") && !has("quagmire") && has("zeppelin"));
}

#[test]
fn text_that_is_not_valid_breaks_the_chain() {
    let home = TestHome::new();
    let (store, _) = store_with_debate(&home, "d1");
    home.change("UPDATE events SET body = CAST(x'ff00fe' AS TEXT) WHERE seq = 2");
    assert!(matches!(load(&store, "d1"), Err(StoreError::BrokenChain { .. })));
    assert_eq!(store.raw_log("d1").unwrap().len(), 4);
}

#[test]
fn sqlite_commits_with_a_write_ahead_log() {
    let home = TestHome::new();
    assert_eq!(home.open().health().unwrap().journal_mode.as_deref(), Some("wal"));
}

#[test]
fn a_read_only_store_can_be_searched_but_not_changed() {
    let home = TestHome::new();
    let store = home.open();
    let id = add(&store, vec![note("Tea", "Hot.")]).remove(0);
    drop(store);
    let reader = DebateStore::open_to_read(&home.file()).unwrap();
    assert_eq!(reader.knowledge_search("hot", None, 9).unwrap()[0].title, "Tea");
    let error = block_on(reader.knowledge_forget(&id)).unwrap_err().to_string();
    assert!(error.contains("can only be read"), "{error}");
}
