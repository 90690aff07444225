//! What a server says about the store, and giving space back.

use super::schema;
use crate::health::EngineHealth;
use crate::sql::{SqlDatabase, SqlResult};

/// The tables that grow.
const TABLES: [&str; 14] = [
    "debates",
    "events",
    "search",
    "search_backlog",
    "knowledge",
    "knowledge_words",
    "vectors",
    "vector_signs",
    "memories",
    "memory_observations",
    "rating_history",
    "ballots",
    "deliveries",
    "served_debates",
];

/// The server's version, and whether every log ends where its debate says.
pub(crate) fn engine_health(db: &SqlDatabase) -> SqlResult<EngineHealth> {
    let sql =
        "SELECT current_setting('server_version'), (SELECT count(*) FROM debates AS d WHERE NOT EXISTS (
             SELECT 1 FROM events WHERE debate = d.n AND seq = d.next_seq - 1 AND hash = d.head
         ))";
    let found: Option<(String, i64)> = db.read_first(sql, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (version, broken) = found.unwrap_or_default();
    let integrity = match broken {
        0 => "ok".to_owned(),
        broken => format!("the end of the log is missing in {broken} debates"),
    };
    Ok(EngineHealth {
        database: format!("PostgreSQL {version}"),
        schema_version: schema::version(db)?.unwrap_or_default(),
        integrity,
        journal_mode: None,
    })
}

/// The size of all tables with their indexes.
pub(crate) fn size_bytes(db: &SqlDatabase) -> SqlResult<u64> {
    let sql = "SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS BIGINT) FROM pg_class AS c
         JOIN pg_namespace AS s ON s.oid = c.relnamespace WHERE s.nspname = current_schema() AND c.relkind = 'r'";
    let size: Option<i64> = db.read_first(sql, &[], |row| row.get(0))?;
    Ok(size.unwrap_or_default().cast_unsigned())
}

/// Writes the tables anew without free space.
pub(crate) fn give_space_back(db: &SqlDatabase) -> SqlResult<()> {
    TABLES.iter().try_for_each(|table| db.run_batch(&format!("VACUUM (FULL, ANALYZE) {table}")))
}
