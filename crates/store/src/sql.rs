//! Shorthand for prepared statements that a connection caches.

use rusqlite::{Connection, OptionalExtension, Params, Row};

type SqlResult<T> = Result<T, rusqlite::Error>;

/// Runs cached statements in one call.
pub(crate) trait CachedSql {
    /// Runs a statement and returns how many rows it changed.
    fn run(&self, sql: &str, values: impl Params) -> SqlResult<usize>;

    /// Inserts one row and returns its number.
    fn insert(&self, sql: &str, values: impl Params) -> SqlResult<i64>;

    /// Reads the first row, if there is one.
    fn read_first<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> SqlResult<T>,
    ) -> SqlResult<Option<T>>;

    /// Reads all rows.
    fn read_all<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>>;
}

impl CachedSql for Connection {
    fn run(&self, sql: &str, values: impl Params) -> SqlResult<usize> {
        self.prepare_cached(sql)?.execute(values)
    }

    fn insert(&self, sql: &str, values: impl Params) -> SqlResult<i64> {
        self.prepare_cached(sql)?.insert(values)
    }

    fn read_first<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> SqlResult<T>,
    ) -> SqlResult<Option<T>> {
        self.prepare_cached(sql)?.query_row(values, read).optional()
    }

    fn read_all<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>> {
        self.prepare_cached(sql)?.query_map(values, read)?.collect()
    }
}

/// A limit as SQLite takes it.
pub(crate) fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
