//! SQL for both databases: statements are written once, in what SQLite and PostgreSQL both understand.
//!
//! Parameters are written `?1`. [`PostgresConnection`] translates them and lets the server infer their types. Both
//! databases keep statements prepared by their text. What truly differs is in the folders `sqlite` and `postgres`.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension};

use crate::postgres::PostgresConnection;
use crate::store_fault::StoreFault;

/// A connection to one of the two databases.
#[derive(Debug)]
pub(crate) enum SqlDatabase {
    Sqlite(Connection),
    Postgres(PostgresConnection),
}

/// What a database answers when it cannot do something.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SqlFault {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Postgres(#[from] postgres::Error),
    /// A column has a value that its reader does not expect.
    #[error("column {0} of a row holds something else than expected")]
    Value(usize),
}

pub(crate) type SqlResult<T> = Result<T, SqlFault>;

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionKind {
    /// Everything that is read belongs to one moment.
    Snapshot,
    /// No other transaction of this kind runs at the same time.
    Write,
}

impl SqlDatabase {
    /// Runs a statement and returns how many rows it changed.
    pub(crate) fn run(&self, sql: &str, values: &[SqlValue<'_>]) -> SqlResult<usize> {
        match self {
            Self::Sqlite(db) => Ok(db.prepare_cached(sql)?.execute(rusqlite::params_from_iter(values))?),
            Self::Postgres(db) => db.run(sql, values),
        }
    }

    /// Inserts one row and returns its number. The statement ends with `RETURNING n`.
    pub(crate) fn insert(&self, sql: &str, values: &[SqlValue<'_>]) -> SqlResult<i64> {
        let n = self.read_first(sql, values, |row| row.get(0))?;
        n.ok_or(SqlFault::Value(0))
    }

    /// Reads the first row, if there is one.
    pub(crate) fn read_first<T>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        read: impl FnOnce(&SqlRow<'_>) -> SqlResult<T>,
    ) -> SqlResult<Option<T>> {
        match self {
            Self::Sqlite(db) => {
                let mut query = db.prepare_cached(sql)?;
                let found =
                    query.query_row(rusqlite::params_from_iter(values), |row| Ok(read(&SqlRow::Sqlite(row))));
                found.optional()?.transpose()
            }
            Self::Postgres(db) => {
                db.query(sql, values)?.first().map(|row| read(&SqlRow::Postgres(row))).transpose()
            }
        }
    }

    /// Reads all rows.
    pub(crate) fn read_all<T>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        mut read: impl FnMut(&SqlRow<'_>) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>> {
        let mut all = Vec::new();
        self.for_each(sql, values, |row| {
            all.push(read(row)?);
            Ok(())
        })?;
        Ok(all)
    }

    /// Calls `read` for every row.
    pub(crate) fn for_each(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        mut read: impl FnMut(&SqlRow<'_>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        match self {
            Self::Sqlite(db) => {
                let mut query = db.prepare_cached(sql)?;
                let mut rows = query.query(rusqlite::params_from_iter(values))?;
                while let Some(row) = rows.next()? {
                    read(&SqlRow::Sqlite(row))?;
                }
                Ok(())
            }
            Self::Postgres(db) => {
                db.query(sql, values)?.iter().try_for_each(|row| read(&SqlRow::Postgres(row)))
            }
        }
    }

    /// The database's clock: seconds since 1970.
    pub(crate) fn unix_seconds(&self) -> SqlResult<i64> {
        let sql = match self {
            Self::Sqlite(_) => "SELECT unixepoch()",
            Self::Postgres(_) => "SELECT CAST(extract(epoch FROM clock_timestamp()) AS BIGINT)",
        };
        self.read_first(sql, &[], |row| row.get(0))?.ok_or(SqlFault::Value(0))
    }

    /// Runs statements without parameters that need not stay prepared.
    pub(crate) fn run_batch(&self, sql: &str) -> SqlResult<()> {
        match self {
            Self::Sqlite(db) => Ok(db.execute_batch(sql)?),
            Self::Postgres(db) => db.run_batch(sql),
        }
    }

    /// Does something in one transaction, which is undone if it fails.
    pub(crate) fn in_transaction<T>(
        &self,
        kind: TransactionKind,
        work: impl FnOnce(&Self) -> Result<T, StoreFault>,
    ) -> Result<T, StoreFault> {
        self.run_batch(match (self, kind) {
            (Self::Sqlite(_), TransactionKind::Snapshot) => "BEGIN",
            (Self::Sqlite(_), TransactionKind::Write) => "BEGIN IMMEDIATE",
            (Self::Postgres(_), TransactionKind::Snapshot) => {
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            }
            (Self::Postgres(_), TransactionKind::Write) => crate::postgres::BEGIN_WRITE,
        })?;
        let done = work(self).and_then(|value| {
            self.run_batch("COMMIT")?;
            Ok(value)
        });
        if done.is_err() {
            // SQLite may have undone it already, and a lost connection needs no answer.
            let _ = self.run_batch("ROLLBACK");
        }
        done
    }

    /// Does a part of a transaction that is undone alone if it fails. The outer error means that the whole transaction is lost.
    pub(crate) fn in_savepoint<T>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, StoreFault>,
    ) -> Result<Result<T, StoreFault>, StoreFault> {
        self.run("SAVEPOINT one_part", &[])?;
        let done = work(self);
        if let Err(fault) = done {
            if self.transaction_is_lost(&fault) {
                return Err(fault);
            }
            self.run("ROLLBACK TO one_part", &[])?;
            self.run("RELEASE one_part", &[])?;
            return Ok(Err(fault));
        }
        self.run("RELEASE one_part", &[])?;
        Ok(done)
    }

    /// SQLite rolls back the whole transaction by itself when the disk is full or failing. A lost connection does the same.
    fn transaction_is_lost(&self, fault: &StoreFault) -> bool {
        match (self, fault) {
            (Self::Sqlite(db), _) => db.is_autocommit(),
            (Self::Postgres(_), StoreFault::Sql(SqlFault::Postgres(error))) => {
                crate::postgres::ends_transaction(error)
            }
            (Self::Postgres(_), _) => false,
        }
    }
}

/// A value of a column or a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum SqlValue<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl rusqlite::ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(number),
            Self::Real(number) => ValueRef::Real(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// The values of a statement, in the order of its parameters.
macro_rules! sql_values {
    ($($value:expr),* $(,)?) => { &[$($crate::sql::ToSqlValue::sql_value(&$value)),*] };
}
pub(crate) use sql_values;

/// What can be a parameter.
pub(crate) trait ToSqlValue {
    fn sql_value(&self) -> SqlValue<'_>;
}

/// What can be read from a column.
pub(crate) trait FromSqlValue: Sized {
    /// `None` if the value is of another kind.
    fn from_sql(value: SqlValue<'_>) -> Option<Self>;
}

impl<T: ToSqlValue + ?Sized> ToSqlValue for &T {
    fn sql_value(&self) -> SqlValue<'_> {
        (**self).sql_value()
    }
}

impl<T: ToSqlValue> ToSqlValue for Option<T> {
    fn sql_value(&self) -> SqlValue<'_> {
        self.as_ref().map_or(SqlValue::Null, ToSqlValue::sql_value)
    }
}

impl<T: FromSqlValue> FromSqlValue for Option<T> {
    fn from_sql(value: SqlValue<'_>) -> Option<Self> {
        match value {
            SqlValue::Null => Some(None),
            value => T::from_sql(value).map(Some),
        }
    }
}

macro_rules! sql_types {
    ($($type:ty: $self:ident => $to:expr, $from:pat => $value:expr;)*) => { $(
        impl ToSqlValue for $type {
            fn sql_value(&$self) -> SqlValue<'_> { $to }
        }

        impl FromSqlValue for $type {
            fn from_sql(value: SqlValue<'_>) -> Option<Self> {
                match value { $from => $value, _ => None }
            }
        }
    )* };
}

sql_types! {
    i64: self => SqlValue::Integer(*self), SqlValue::Integer(number) => Some(number);
    u32: self => SqlValue::Integer(i64::from(*self)), SqlValue::Integer(number) => number.try_into().ok();
    bool: self => SqlValue::Integer(i64::from(*self)), SqlValue::Integer(number) => Some(number != 0);
    String: self => SqlValue::Text(self), SqlValue::Text(text) => Some(text.to_owned());
    Vec<u8>: self => SqlValue::Bytes(self), SqlValue::Bytes(bytes) => Some(bytes.to_vec());
}

impl ToSqlValue for str {
    fn sql_value(&self) -> SqlValue<'_> {
        SqlValue::Text(self)
    }
}

impl ToSqlValue for f64 {
    fn sql_value(&self) -> SqlValue<'_> {
        SqlValue::Real(*self)
    }
}

impl FromSqlValue for f64 {
    fn from_sql(value: SqlValue<'_>) -> Option<Self> {
        match value {
            SqlValue::Real(number) => Some(number),
            SqlValue::Integer(number) => Some(number as f64),
            _ => None,
        }
    }
}

/// One row of an answer.
pub(crate) enum SqlRow<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a postgres::Row),
}

impl SqlRow<'_> {
    pub(crate) fn get<T: FromSqlValue>(&self, column: usize) -> SqlResult<T> {
        T::from_sql(self.value(column)?).ok_or(SqlFault::Value(column))
    }

    /// A column of text, without a copy.
    pub(crate) fn text(&self, column: usize) -> SqlResult<&str> {
        match self.value(column)? {
            SqlValue::Text(text) => Ok(text),
            _ => Err(SqlFault::Value(column)),
        }
    }

    /// The bytes of a column, without a copy. A file that was tampered with may hold text that is not valid.
    pub(crate) fn bytes(&self, column: usize) -> SqlResult<&[u8]> {
        if let Self::Sqlite(row) = self {
            return row.get_ref(column)?.as_bytes().map_err(|_| SqlFault::Value(column));
        }
        match self.value(column)? {
            SqlValue::Text(text) => Ok(text.as_bytes()),
            SqlValue::Bytes(bytes) => Ok(bytes),
            _ => Err(SqlFault::Value(column)),
        }
    }

    /// All columns, for comparing rows.
    pub(crate) fn shown(&self) -> SqlResult<String> {
        let columns = match self {
            Self::Sqlite(row) => row.as_ref().column_count(),
            Self::Postgres(row) => row.len(),
        };
        let values = (0..columns).map(|column| self.value(column)).collect::<SqlResult<Vec<_>>>()?;
        Ok(format!("{values:?}"))
    }

    fn value(&self, column: usize) -> SqlResult<SqlValue<'_>> {
        match self {
            Self::Sqlite(row) => Ok(match row.get_ref(column)? {
                ValueRef::Null => SqlValue::Null,
                ValueRef::Integer(number) => SqlValue::Integer(number),
                ValueRef::Real(number) => SqlValue::Real(number),
                ValueRef::Text(bytes) => {
                    SqlValue::Text(std::str::from_utf8(bytes).map_err(|_| SqlFault::Value(column))?)
                }
                ValueRef::Blob(bytes) => SqlValue::Bytes(bytes),
            }),
            Self::Postgres(row) => crate::postgres::column_value(row, column),
        }
    }
}

/// A limit as both databases take it.
pub(crate) fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Stores an enum by the names of its variants.
macro_rules! stored_by_name {
    ($type:ident { $($variant:ident => $name:literal),+ }) => {
        impl $crate::sql::ToSqlValue for $type {
            fn sql_value(&self) -> $crate::sql::SqlValue<'_> {
                $crate::sql::SqlValue::Text(match self { $(Self::$variant => $name),+ })
            }
        }

        impl $crate::sql::FromSqlValue for $type {
            fn from_sql(value: $crate::sql::SqlValue<'_>) -> Option<Self> {
                match value {
                    $($crate::sql::SqlValue::Text($name) => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use stored_by_name;
