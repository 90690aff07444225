//! "SQLite in one file, created on first use (mode 0600)"; "a schema version, and migrations".

use std::fs;
use std::path::Path;

use agon_engine::StoreError;
use agon_store::Sqlite;

use crate::debates::{Home, Talk, append, load, one};

/// The tables as the first version made them: never to be changed.
const VERSION_1: &str = "
    CREATE TABLE debates (
        n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, protocol TEXT NOT NULL, question TEXT NOT NULL,
        created_at TEXT NOT NULL, parent TEXT, status TEXT, owner TEXT
    ) STRICT;
    CREATE TABLE events (
        n INTEGER PRIMARY KEY, debate INTEGER NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL, body TEXT NOT NULL,
        UNIQUE (debate, seq)
    ) STRICT;
    PRAGMA application_id = 0x41676f6e;
    PRAGMA user_version = 1;";

fn sentence(path: &Path) -> String {
    let error = Sqlite::open(path).unwrap_err();
    assert!(matches!(error, StoreError::Failed { .. }), "{error:?}");
    let sentence = error.to_string();
    assert!(sentence.contains(&path.display().to_string()), "it names the file: {sentence}");
    sentence
}

#[cfg(unix)]
#[test]
fn the_file_and_its_folder_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let folder = home.folder().join("new").join("deeper");
    let store = Sqlite::open(&folder.join("agon.db")).unwrap();
    append(&store, "d1", Talk::new("d1", "Why?").records).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let mut files = 0;
    for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        let expected = if entry.file_type().unwrap().is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&entry.path()), expected, "{entry:?}");
        files += 1;
    }
    assert_eq!(files, 4, "the file, two that SQLite keeps beside it while it is open, and the owners");
    assert_eq!((mode(&folder), mode(&home.folder().join("new"))), (0o700, 0o700));
    drop(store);
    assert!(!folder.join("agon.db-wal").exists(), "one file when nobody has it open");
}

#[test]
fn a_file_of_the_first_version_is_brought_up_to_date() {
    let home = Home::new();
    let mut talk = Talk::new("d1", "Tea or coffee?");
    talk.say("Tea.");
    let plain = home.plain();
    plain.execute_batch(VERSION_1).unwrap();
    plain
        .execute(
            "INSERT INTO debates (id, protocol, question, created_at) VALUES ('d1', 'deep', 'Tea or coffee?', 'then')",
            [],
        )
        .unwrap();
    for record in &talk.records {
        let values = rusqlite::params![record.entry.seq.cast_signed(), record.hash, record.body];
        plain.execute("INSERT INTO events (debate, seq, hash, body) VALUES (1, ?1, ?2, ?3)", values).unwrap();
    }
    drop(plain);
    let store = home.open();
    assert_eq!(load(&store, "d1").unwrap(), talk.records);
    assert_eq!(store.search("coffee", 5).unwrap()[0].id, "d1");
    assert_eq!(store.list(None).unwrap()[0].status, "interrupted");
    let fresh = Home::new();
    assert_eq!(store.health().unwrap().schema_version, fresh.open().health().unwrap().schema_version);
    let tables = |home: &Home| -> Vec<String> {
        let plain = home.plain();
        let mut query = plain.prepare("SELECT name FROM sqlite_schema ORDER BY name").unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(tables(&home), tables(&fresh));
}

#[test]
fn a_file_of_a_later_version_is_refused_and_left_alone() {
    let home = Home::new();
    drop(one(&home, "d1"));
    home.plain().pragma_update(None, "user_version", 999).unwrap();
    let before = fs::read(home.file()).unwrap();
    assert!(sentence(&home.file()).contains("999"));
    assert!(sentence(&home.file()).contains("use a newer agon"));
    assert_eq!(fs::read(home.file()).unwrap(), before);
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let home = Home::new();
    let letter = "Dear diary, this is not a database. ".repeat(100);
    fs::write(home.file(), &letter).unwrap();
    assert!(sentence(&home.file()).contains("not an agon store"));
    assert_eq!(fs::read_to_string(home.file()).unwrap(), letter);
    fs::write(home.file(), "short").unwrap();
    assert!(sentence(&home.file()).contains("not an agon store"));
    assert_eq!(fs::read_to_string(home.file()).unwrap(), "short");
    let entries = fs::read_dir(home.folder()).unwrap().count();
    assert_eq!(entries, 1, "and nothing is put beside it");
}

#[test]
fn a_database_of_somebody_else_is_refused_and_left_alone() {
    let home = Home::new();
    home.plain().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let before = fs::read(home.file()).unwrap();
    assert!(sentence(&home.file()).contains("not an agon store"));
    assert_eq!(fs::read(home.file()).unwrap(), before);
}

#[test]
fn an_empty_file_becomes_a_store() {
    let home = Home::new();
    fs::write(home.file(), "").unwrap();
    assert_eq!(home.open().list(None).unwrap(), []);
}

#[test]
fn a_path_that_cannot_be_a_store_gets_a_sentence() {
    let home = Home::new();
    assert!(sentence(&home.folder()).contains("name a file in it"));
    fs::write(home.folder().join("file"), "").unwrap();
    assert!(sentence(&home.folder().join("file").join("agon.db")).contains("--db"));
}

/// Where not even root may create a file.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_gets_a_sentence() {
    assert!(sentence(Path::new("/proc/agon.db")).contains("write access"));
}

#[test]
fn many_may_open_a_new_file_at_once() {
    let home = Home::new();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let home = &home;
            scope.spawn(move || {
                let (store, id) = (home.open(), format!("d{n}"));
                append(&store, &id, Talk::new(&id, "Why?").records).unwrap();
            });
        }
    });
    assert_eq!(home.open().list(None).unwrap().len(), 8);
}

#[test]
fn a_store_can_be_read_without_writing_a_byte() {
    let home = Home::new();
    let (store, _) = one(&home, "d1");
    let (log, raw) = (load(&store, "d1").unwrap(), store.raw("d1").unwrap());
    let early = Sqlite::open_to_read(&home.file()).unwrap().search("why", 5).unwrap_err();
    assert!(early.to_string().contains("its index is not up to date"), "{early}");
    store.search("nothing", 1).unwrap();
    drop(store);
    let before = fs::read(home.file()).unwrap();
    let reader = Sqlite::open_to_read(&home.file()).unwrap();
    assert_eq!((load(&reader, "d1").unwrap(), reader.raw("d1").unwrap()), (log, raw));
    let (row, _) = reader.stored("d1").unwrap();
    assert_eq!((reader.list(None).unwrap(), reader.find("last").unwrap()), (vec![row], "d1".to_owned()));
    reader.search("why", 5).unwrap();
    let error = append(&reader, "d2", Talk::new("d2", "Why?").records).unwrap_err();
    assert!(error.to_string().contains("can only be read"), "{error}");
    assert_eq!((reader.commits(), fs::read(home.file()).unwrap()), (0, before));
}

#[test]
fn what_cannot_be_read_as_a_store_is_refused_by_readers_too() {
    let home = Home::new();
    for text in ["", "not a database"] {
        fs::write(home.file(), text).unwrap();
        assert!(Sqlite::open_to_read(&home.file()).is_err(), "{text:?}");
        assert_eq!(fs::read_to_string(home.file()).unwrap(), text);
    }
}
