//! The tables in the schema of the connection, and the check that they are of this version.

use crate::sql::{SqlDatabase, SqlResult, sql_values};
use crate::store_fault::StoreFault;

/// The version of the tables in `schema.sql`, in the table `agon_schema`. To change the tables, raise it and add to [`MIGRATIONS`].
pub(crate) const VERSION: i64 = 1;

/// What makes of a version the next one, beginning with version 1.
const MIGRATIONS: [&str; 0] = [];

const TABLES: &str = include_str!("schema.sql");

/// Held while tables are created or changed, so that of ten processes that start at once one does it.
const MIGRATING: &str = "BEGIN; SELECT pg_advisory_xact_lock(1097297774, 1)";

/// The version of the tables, or `None` if there are none.
pub(crate) fn version(db: &SqlDatabase) -> SqlResult<Option<i64>> {
    if has_table(db, "agon_schema")? {
        return db.read_first("SELECT version FROM agon_schema", &[], |row| row.get(0));
    }
    Ok(None)
}

/// Creates the tables, and brings older ones up to date.
pub(crate) fn prepare(db: &SqlDatabase) -> Result<(), StoreFault> {
    if version(db)? == Some(VERSION) {
        return Ok(());
    }
    db.run_batch(MIGRATING)?;
    let migrated = migrate(db);
    db.run_batch(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    migrated
}

fn migrate(db: &SqlDatabase) -> Result<(), StoreFault> {
    let failed = |why: String| Err(StoreFault::Failed(why));
    match version(db)? {
        Some(VERSION) => return Ok(()),
        Some(newer) if newer > VERSION => {
            return failed(format!(
                "a newer agon wrote it (schema version {newer}, this agon knows {VERSION}): update agon"
            ));
        }
        Some(older) => {
            let done = usize::try_from(older - 1).unwrap_or_default();
            for migration in MIGRATIONS.iter().skip(done) {
                db.run_batch(migration)?;
            }
        }
        None => {
            if has_table(db, "debates")? {
                return failed(
                    "it has a table `debates` that is not agon's: name another database with --db".into(),
                );
            }
            db.run_batch(
                "CREATE TABLE agon_schema (version BIGINT NOT NULL); INSERT INTO agon_schema VALUES (0)",
            )?;
            db.run_batch(TABLES)?;
        }
    }
    db.run("UPDATE agon_schema SET version = ?1", sql_values![VERSION])?;
    Ok(())
}

fn has_table(db: &SqlDatabase, table: &str) -> SqlResult<bool> {
    let sql = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?1";
    Ok(db.read_first(sql, sql_values![table], |_| Ok(()))?.is_some())
}
