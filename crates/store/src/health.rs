//! What `agon doctor` says about the file.

use agon_engine::StoreError;
use serde::Serialize;

use crate::sql::CachedSql;
use crate::{SqliteStore, schema};

/// The state of the store's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoreHealth {
    pub file: String,
    /// The version of its tables.
    pub schema_version: i64,
    /// The size of the file and of SQLite's write-ahead log.
    pub size_bytes: u64,
    /// How many debates it holds.
    pub debates: i64,
    /// How many events they have.
    pub events: i64,
    /// How many entries the knowledge store has.
    pub knowledge: i64,
    /// How many memories there are, including those that have faded.
    pub memories: i64,
    /// How many results are due or being sent.
    pub deliveries_due: i64,
    /// How many results could not be delivered and are not retried.
    pub deliveries_dead: i64,
    /// The result of SQLite's check of the file: `ok`, or what is wrong.
    pub integrity: String,
    /// How SQLite commits: `wal`, unless the file system does not support it.
    pub journal_mode: String,
}

impl SqliteStore {
    /// The state of the store. Reads the whole file to check it.
    pub fn health(&self) -> Result<StoreHealth, StoreError> {
        self.read(|db| {
            let count =
                |rows: &str| db.query_row(&format!("SELECT count(*) FROM {rows}"), [], |row| row.get(0));
            let findings: Vec<String> = db.read_all("PRAGMA quick_check(10)", [], |row| row.get(0))?;
            Ok(StoreHealth {
                file: self.path().shown().to_owned(),
                schema_version: schema::version(db)?,
                size_bytes: self.path().size_bytes()?,
                debates: count("debates")?,
                events: count("events")?,
                knowledge: count("knowledge WHERE forgotten = 0")?,
                memories: count("memories")?,
                deliveries_due: count("deliveries WHERE state IN ('due', 'sending')")?,
                deliveries_dead: count("deliveries WHERE state = 'dead'")?,
                integrity: findings.join("; "),
                journal_mode: db.pragma_query_value(None, "journal_mode", |row| row.get(0))?,
            })
        })
    }
}
