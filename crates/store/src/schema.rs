//! The tables, and how a file of an earlier version becomes one of this version.

use rusqlite::{Connection, TransactionBehavior};

use crate::place::Fault;
use crate::rebuild;

/// The version of the tables that this program writes: how many migrations there are.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// By this mark a file is known as one of ours: "Agon".
const APPLICATION: i64 = 0x4167_6f6e;

/// Each step takes a file from the version that is its place in the list to the next. A step that was released is
/// never changed.
///
/// Events are kept in the order in which they are written, whatever debate they are of: the pages that a commit
/// touches are then few, however many debates run.
const MIGRATIONS: &[&str] = &[
    "CREATE TABLE debates (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        protocol TEXT NOT NULL,
        question TEXT NOT NULL,
        created_at TEXT NOT NULL,
        parent TEXT,
        status TEXT, -- of the outcome; NULL until there is one
        owner TEXT   -- the name of the lock file of the process that runs it
    ) STRICT;
    CREATE TABLE events (
        n INTEGER PRIMARY KEY,
        debate INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        hash TEXT NOT NULL,
        body TEXT NOT NULL,
        UNIQUE (debate, seq)
    ) STRICT;",
    "CREATE VIRTUAL TABLE search USING fts5(
        question, verdict, replies, tokenize = 'unicode61 remove_diacritics 2'
    );
    CREATE TABLE indexed (upto INTEGER NOT NULL) STRICT; -- the last event that the index has seen
    INSERT INTO indexed VALUES (0);",
    include_str!("schema/3.sql"),
];

/// The version from which on a file keeps knowledge, memories, ratings, resolutions and deliveries.
const KEEPS: i64 = 3;

/// Makes a new connection ready: refuses a file that is not ours or is of a later version and leaves it untouched,
/// brings an earlier one up to date, and sets what must hold for every commit.
pub(crate) fn prepare(connection: &mut Connection) -> Result<(), Fault> {
    let version = check(connection)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // What a person has agon forget is overwritten, not only unlinked.
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    if version < VERSION {
        migrate(connection)?;
    }
    Ok(())
}

/// Refuses a file that cannot be read as it is: one that is not ours, is of a later version, or has no tables yet.
pub(crate) fn readable(connection: &Connection) -> Result<(), Fault> {
    match check(connection)? {
        0 => Err(Fault::Odd("it has no tables yet, and cannot be written".into())),
        _ => Ok(()),
    }
}

/// Whether the file has the tables of what is kept after a debate: one that could only be read may be older.
pub(crate) fn keeps(connection: &Connection) -> Result<bool, rusqlite::Error> {
    Ok(version(connection)? >= KEEPS)
}

/// The version of the file's tables.
pub(crate) fn version(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn check(connection: &Connection) -> Result<i64, Fault> {
    let version = version(connection)?;
    let application: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let empty = version == 0 && application == 0 && tables == 0;
    if !empty && application != APPLICATION {
        return Err(Fault::Odd(
            "this is a SQLite database, but not an agon store: name another file with --db".into(),
        ));
    }
    if version > VERSION {
        let tables = format!("its tables have version {version}, this agon knows up to {VERSION}");
        return Err(Fault::Odd(format!("a later agon wrote it ({tables}): use a newer agon")));
    }
    Ok(version)
}

fn migrate(connection: &mut Connection) -> Result<(), Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it while this one waited for its turn.
    let version = check(&transaction)?;
    for step in MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or_default()) {
        transaction.execute_batch(step)?;
    }
    if (1..KEEPS).contains(&version) {
        rebuild::rebuild(&transaction)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}
