//! The tables, and the check that a file is a store of this version.

use rusqlite::{Connection, TransactionBehavior};

use crate::store_fault::StoreFault;

/// The version of the tables in `schema.sql`, SQLite's `user_version`. Versions 1 to 3 were those of agon's first
/// edition. To change the tables, raise it and migrate files of version 4 and later.
pub(crate) const VERSION: i64 = 7;

/// The first version that can be brought up to date.
pub(crate) const OLDEST_VERSION: i64 = 4;

/// What makes of a version the next one, beginning with [`OLDEST_VERSION`].
const MIGRATIONS: [&str; 3] = [
    // Debates of version 4 do not say where they were held.
    "ALTER TABLE debates ADD COLUMN provenance TEXT",
    "CREATE TABLE served_debates (
        debate TEXT PRIMARY KEY,
        request_key TEXT UNIQUE,
        request_hash TEXT NOT NULL,
        stopped INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    -- What the index does not cover yet is indexed at the next search.
    CREATE TABLE search_backlog (debate INTEGER PRIMARY KEY, events INTEGER NOT NULL) STRICT;
    INSERT INTO search_backlog SELECT n, 0 FROM debates AS d WHERE status IS NULL
        OR (SELECT n FROM events WHERE debate = d.n ORDER BY seq DESC LIMIT 1) > (SELECT last_event FROM search_progress);
    DROP TABLE search_progress",
    "CREATE TABLE debate_messages (
        n INTEGER PRIMARY KEY,
        debate TEXT NOT NULL,
        body TEXT NOT NULL,
        after_event INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE call_places (
        name TEXT NOT NULL,
        process TEXT NOT NULL,
        places INTEGER NOT NULL,
        wanted INTEGER NOT NULL,
        seen_s INTEGER NOT NULL,
        PRIMARY KEY (name, process)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE allowances (
        pool TEXT NOT NULL,
        debate TEXT NOT NULL,
        taken INTEGER NOT NULL,
        used_before INTEGER NOT NULL,
        set_aside INTEGER NOT NULL,
        PRIMARY KEY (pool, debate)
    ) STRICT, WITHOUT ROWID;",
];

/// The `application_id` that marks a file as a store: "Agon".
const APPLICATION: i64 = 0x4167_6f6e;

/// How much of the file the writer keeps in memory. To SQLite, a negative number is in KiB.
const CACHE_KIB: i64 = -16 * 1024;

const TABLES: &str = include_str!("schema.sql");

#[derive(Debug, PartialEq, Eq)]
enum FileState {
    Empty,
    /// It has the tables of this older version.
    Older(i64),
    Ready,
}

/// Prepares a connection for writing: refuses a file that is not a store of this version and leaves it untouched,
/// creates the tables in an empty one, brings older ones up to date, and sets what must hold for every commit.
pub(crate) fn prepare(connection: &mut Connection) -> Result<(), StoreFault> {
    let state = check(connection)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // A thousand debates at once write to more pages than SQLite keeps by default.
    connection.pragma_update(None, "cache_size", CACHE_KIB)?;
    // Forgotten knowledge is overwritten, not only unlinked.
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    if state != FileState::Ready {
        create_tables(connection)?;
    }
    Ok(())
}

/// Refuses a file that cannot be read as it is.
pub(crate) fn check_readable(connection: &Connection) -> Result<(), StoreFault> {
    match check(connection)? {
        FileState::Ready => Ok(()),
        FileState::Older(_) => Err(StoreFault::Failed(
            "an older agon wrote it, and it cannot be written to bring it up to date".into(),
        )),
        FileState::Empty => Err(StoreFault::Failed("it has no tables yet, and it cannot be written".into())),
    }
}

/// The version of the file's tables.
pub(crate) fn version(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn check(connection: &Connection) -> Result<FileState, StoreFault> {
    let version = version(connection)?;
    let application: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let why = match (application, version) {
        (APPLICATION, VERSION) => return Ok(FileState::Ready),
        (APPLICATION, OLDEST_VERSION..VERSION) => return Ok(FileState::Older(version)),
        (0, 0) if tables == 0 => return Ok(FileState::Empty),
        (APPLICATION, _) if version > VERSION => {
            format!(
                "a newer agon wrote it (schema version {version}, this agon knows {VERSION}): update agon"
            )
        }
        (APPLICATION, _) => format!(
            "the first edition of agon wrote it (schema version {version}), and this one cannot read it: \
             name another file with --db"
        ),
        _ => "this is a SQLite database, but not an agon store: name another file with --db".into(),
    };
    Err(StoreFault::Failed(why))
}

/// Creates the tables of an empty file, and brings older ones up to date.
fn create_tables(connection: &mut Connection) -> Result<(), StoreFault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it while this one waited for the write lock.
    match check(&transaction)? {
        FileState::Ready => {}
        FileState::Empty => transaction.execute_batch(TABLES)?,
        FileState::Older(version) => {
            let done = usize::try_from(version - OLDEST_VERSION).unwrap_or_default();
            for migration in MIGRATIONS.iter().skip(done) {
                transaction.execute_batch(migration)?;
            }
        }
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}
