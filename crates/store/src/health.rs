//! What `agon doctor` says about the store.

use agon_engine::StoreError;
use serde::Serialize;

use crate::housekeeping::size_bytes;
use crate::sql::{SqlDatabase, SqlResult};
use crate::{DebateStore, postgres, sqlite};

/// The state of the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoreHealth {
    /// The file, or the address without a password.
    pub file: String,
    /// The database and its version.
    pub database: String,
    /// The version of its tables.
    pub schema_version: i64,
    /// The size of the file and of SQLite's write-ahead log, or of all tables.
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
    /// The result of the check: `ok`, or what is wrong. SQLite checks the whole file; on a server, that every log ends where its
    /// debate says.
    pub integrity: String,
    /// How SQLite commits: `wal`, unless the file system does not support it. A server has none.
    pub journal_mode: Option<String>,
}

impl DebateStore {
    /// The state of the store. Reads a whole file to check it.
    pub fn health(&self) -> Result<StoreHealth, StoreError> {
        self.read(|db| {
            let count = |rows: &str| -> SqlResult<i64> {
                let sql = format!("SELECT count(*) FROM {rows}");
                Ok(db.read_first(&sql, &[], |row| row.get(0))?.unwrap_or_default())
            };
            let engine = match db {
                SqlDatabase::Sqlite(connection) => sqlite::engine_health(db, connection)?,
                SqlDatabase::Postgres(_) => postgres::engine_health(db)?,
            };
            let EngineHealth { database, schema_version, integrity, journal_mode } = engine;
            Ok(StoreHealth {
                file: self.place().shown().to_owned(),
                database,
                schema_version,
                size_bytes: size_bytes(db, self.place())?,
                debates: count("debates")?,
                events: count("events")?,
                knowledge: count("knowledge WHERE forgotten = 0")?,
                memories: count("memories WHERE text <> ''")?,
                deliveries_due: count("deliveries WHERE state IN ('due', 'sending')")?,
                deliveries_dead: count("deliveries WHERE state = 'dead'")?,
                integrity,
                journal_mode,
            })
        })
    }
}

/// What only the database itself can say.
pub(crate) struct EngineHealth {
    pub(crate) database: String,
    pub(crate) schema_version: i64,
    pub(crate) integrity: String,
    pub(crate) journal_mode: Option<String>,
}
