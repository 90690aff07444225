//! A temporary store in a SQLite file.

use std::path::PathBuf;

use agon_store::DebateStore;
use rusqlite::Connection;
use tempfile::TempDir;

/// A folder that is deleted after the test, with the store's file in it.
pub(crate) struct TestHome {
    folder: TempDir,
}

impl TestHome {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("agon.db")
    }

    /// The store as another process opens it.
    pub(crate) fn address(&self) -> String {
        self.file().display().to_string()
    }

    pub(crate) fn open(&self) -> DebateStore {
        DebateStore::open(&self.file()).unwrap()
    }

    /// A plain connection, to do what the store itself never does.
    pub(crate) fn sql(&self) -> Connection {
        Connection::open(self.file()).unwrap()
    }

    /// Runs a statement that the store would not run, and returns how many rows it changed.
    pub(crate) fn change(&self, sql: &str) -> usize {
        self.sql().execute(sql, []).unwrap()
    }

    pub(crate) fn number(&self, sql: &str) -> i64 {
        self.sql().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    pub(crate) fn real(&self, sql: &str) -> f64 {
        self.sql().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    pub(crate) fn text(&self, sql: &str) -> String {
        self.sql().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// All rows of a table.
    pub(crate) fn rows(&self, table: &str) -> Vec<String> {
        let plain = self.sql();
        let mut query = plain.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = query.column_count();
        let mut rows = query.query([]).unwrap();
        let mut all = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<rusqlite::types::Value> = (0..columns).map(|n| row.get(n).unwrap()).collect();
            all.push(format!("{values:?}"));
        }
        all
    }

    /// Lets no write through until it is dropped.
    pub(crate) fn block_writes(&self) -> WriteBlock {
        let connection = self.sql();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        WriteBlock { connection }
    }

    /// Makes every write of a kind fail, such as `INSERT ON knowledge`.
    pub(crate) fn spoil(&self, writes: &str) {
        let trigger =
            format!("CREATE TRIGGER spoil BEFORE {writes} BEGIN SELECT RAISE(ABORT, 'spoiled'); END");
        self.sql().execute_batch(&trigger).unwrap();
    }

    pub(crate) fn unspoil(&self) {
        self.sql().execute_batch("DROP TRIGGER spoil").unwrap();
    }

    /// Lets every writer look dead. A living writer never loses its lock file by itself.
    pub(crate) fn hide_owners(&self) {
        for name in self.lock_files() {
            std::fs::remove_file(self.folder().join("agon.db.owners").join(name)).unwrap();
        }
    }

    /// Waits until the store knows that a killed process is gone. A lock on a file ends with its process.
    pub(crate) fn await_release(&self, _: &str) {}

    /// The names of the writers' lock files.
    pub(crate) fn lock_files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path().join("agon.db.owners")).into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

/// See [`TestHome::block_writes`].
pub(crate) struct WriteBlock {
    connection: Connection,
}

impl Drop for WriteBlock {
    fn drop(&mut self) {
        self.connection.execute_batch("COMMIT").unwrap();
    }
}
