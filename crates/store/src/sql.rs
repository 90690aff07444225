//! Shorthand for prepared statements that a connection caches.

use rusqlite::{Connection, OptionalExtension, Params, Result, Row};

/// Runs cached statements in one call.
pub(crate) trait CachedSql {
    fn connection(&self) -> &Connection;

    /// Runs a statement and returns how many rows it changed.
    fn run(&self, sql: &str, values: impl Params) -> Result<usize> {
        self.connection().prepare_cached(sql)?.execute(values)
    }

    /// Inserts one row and returns its number.
    fn insert(&self, sql: &str, values: impl Params) -> Result<i64> {
        self.connection().prepare_cached(sql)?.insert(values)
    }

    /// Reads the first row, if there is one.
    fn read_first<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.connection().prepare_cached(sql)?.query_row(values, read).optional()
    }

    /// Reads all rows.
    fn read_all<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.connection().prepare_cached(sql)?.query_map(values, read)?.collect()
    }
}

impl CachedSql for Connection {
    fn connection(&self) -> &Connection {
        self
    }
}

/// A limit as SQLite takes it.
pub(crate) fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Stores an enum by the names of its variants.
macro_rules! stored_by_name {
    ($type:ident { $($variant:ident => $name:literal),+ }) => {
        impl rusqlite::types::ToSql for $type {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(match self { $(Self::$variant => $name),+ }.into())
            }
        }

        impl rusqlite::types::FromSql for $type {
            fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
                match value.as_str()? {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(rusqlite::types::FromSqlError::InvalidType),
                }
            }
        }
    };
}

pub(crate) use stored_by_name;
