//! The store in a PostgreSQL database: what differs from SQLite.
//!
//! - `connection` (here): statements, values, and which errors mean what.
//! - `server`: the address, TLS, and opening connections.
//! - `schema`: the tables and their migrations.
//! - `group_commit`: the writer. It survives lost connections and knows what became of a commit that nobody confirmed.
//! - `appends`: the statements that write a whole group of logs at once.
//! - `ownership`: which process runs a debate.
//! - `reader_pool`: connections for reading.
//! - `word_index`: full-text search.

mod appends;
mod group_commit;
mod ownership;
mod reader_pool;
pub(crate) mod schema;
mod server;
mod server_health;
mod word_index;

use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::fmt;

use bytes::BytesMut;
use postgres::error::SqlState;
use postgres::types::{IsNull, ToSql, Type};
use postgres::{Client, Row, SimpleQueryMessage, Statement};

use crate::sql::{SqlFault, SqlResult, SqlValue};

pub(crate) use appends::CLOSE;
pub(crate) use group_commit::PostgresWriter;
pub(crate) use ownership::living_owners;
pub(crate) use reader_pool::ReaderPool;
pub use server::PostgresAddress;
pub(crate) use server::PostgresServer;
pub(crate) use server_health::{engine_health, give_space_back, size_bytes};
pub(crate) use word_index::{index_debate, index_entry, rank_entries, ranked_debates, read_hits, word_query};

/// Begins a transaction that changes more than the logs of this process's debates. One at a time runs in a store, as in
/// SQLite, so ratings and memories follow from each other in the order of commits.
pub(crate) const BEGIN_WRITE: &str =
    "BEGIN; SELECT pg_advisory_xact_lock(1097297774, hashtext(current_schema()))";

/// A connection to a server, with the statements that it has prepared.
pub(crate) struct PostgresConnection {
    client: RefCell<Client>,
    statements: RefCell<HashMap<String, Statement>>,
}

impl PostgresConnection {
    pub(crate) fn new(client: Client) -> Self {
        Self { client: RefCell::new(client), statements: RefCell::default() }
    }

    /// Runs a statement and returns how many rows it changed.
    pub(crate) fn run(&self, sql: &str, values: &[SqlValue<'_>]) -> SqlResult<usize> {
        let statement = self.prepare(sql)?;
        let changed = self.client.borrow_mut().execute(&statement, &parameters(values))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    pub(crate) fn query(&self, sql: &str, values: &[SqlValue<'_>]) -> SqlResult<Vec<Row>> {
        self.query_raw(sql, &parameters(values))
    }

    /// The same with parameters of any type, such as lists.
    pub(crate) fn query_raw(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> SqlResult<Vec<Row>> {
        let statement = self.prepare(sql)?;
        Ok(self.client.borrow_mut().query(&statement, values)?)
    }

    pub(crate) fn run_batch(&self, sql: &str) -> SqlResult<()> {
        Ok(self.client.borrow_mut().batch_execute(sql)?)
    }

    /// Runs several statements in one round trip and returns the first column of their last row.
    pub(crate) fn run_batch_for(&self, sql: &str) -> SqlResult<String> {
        let answers = self.client.borrow_mut().simple_query(sql)?;
        let last = answers.iter().rev().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        last.ok_or(SqlFault::Value(0))
    }

    fn prepare(&self, sql: &str) -> SqlResult<Statement> {
        if let Some(statement) = self.statements.borrow().get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.borrow_mut().prepare(&sql.replace('?', "$"))?;
        self.statements.borrow_mut().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

impl fmt::Debug for PostgresConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresConnection").finish_non_exhaustive()
    }
}

fn parameters<'a>(values: &'a [SqlValue<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// Writes a value as the type that the server has inferred for its parameter.
impl ToSql for SqlValue<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match *self {
            SqlValue::Null => Ok(IsNull::Yes),
            SqlValue::Integer(number) if *kind == Type::BOOL => (number != 0).to_sql(kind, out),
            SqlValue::Integer(number) if *kind == Type::INT4 => i32::try_from(number)?.to_sql(kind, out),
            SqlValue::Integer(number) if *kind == Type::FLOAT8 => (number as f64).to_sql(kind, out),
            SqlValue::Integer(number) => number.to_sql(&Type::INT8, out),
            SqlValue::Real(number) => number.to_sql(&Type::FLOAT8, out),
            // PostgreSQL stores no NUL. Logs have none: JSON escapes it.
            SqlValue::Text(text) if text.contains('\0') => text.replace('\0', "\u{fffd}").to_sql(kind, out),
            SqlValue::Text(text) => text.to_sql(kind, out),
            SqlValue::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    postgres::types::to_sql_checked!();
}

/// A column of a row.
pub(crate) fn column_value(row: &Row, column: usize) -> SqlResult<SqlValue<'_>> {
    let kind = row.columns().get(column).map(|column| column.type_().clone());
    Ok(match kind.ok_or(SqlFault::Value(column))? {
        Type::BOOL => integer(row.try_get::<_, Option<bool>>(column)?.map(i64::from)),
        Type::INT2 => integer(row.try_get::<_, Option<i16>>(column)?.map(i64::from)),
        Type::INT4 => integer(row.try_get::<_, Option<i32>>(column)?.map(i64::from)),
        Type::INT8 => integer(row.try_get(column)?),
        Type::FLOAT4 => real(row.try_get::<_, Option<f32>>(column)?.map(f64::from)),
        Type::FLOAT8 => real(row.try_get(column)?),
        Type::BYTEA => row.try_get::<_, Option<&[u8]>>(column)?.map_or(SqlValue::Null, SqlValue::Bytes),
        _ => row.try_get::<_, Option<&str>>(column)?.map_or(SqlValue::Null, SqlValue::Text),
    })
}

fn integer(number: Option<i64>) -> SqlValue<'static> {
    number.map_or(SqlValue::Null, SqlValue::Integer)
}

fn real(number: Option<f64>) -> SqlValue<'static> {
    number.map_or(SqlValue::Null, SqlValue::Real)
}

/// Whether the connection is gone, so that another one is needed.
pub(crate) fn is_lost(error: &postgres::Error) -> bool {
    match error.code() {
        // Class 08 are connection errors, 57P01 to 57P05 shutdowns, 25P03 a transaction that waited too long, and 53300 comes
        // from a server that everybody connects to again at once.
        Some(code) => {
            let code = code.code();
            code.starts_with("08") || code.starts_with("57P") || code == "25P03" || code == "53300"
        }
        None => error.is_closed() || error.source().is_some_and(|source| source.is::<std::io::Error>()),
    }
}

/// Whether the transaction was undone only because of what others did at the same time.
pub(crate) fn is_conflict(error: &postgres::Error) -> bool {
    let code = error.code();
    code == Some(&SqlState::T_R_DEADLOCK_DETECTED) || code == Some(&SqlState::T_R_SERIALIZATION_FAILURE)
}

/// Whether no savepoint helps: the transaction is over.
pub(crate) fn ends_transaction(error: &postgres::Error) -> bool {
    is_lost(error) || is_conflict(error)
}

/// What to tell the user when the server refuses.
pub(crate) fn server_sentence(error: &postgres::Error) -> String {
    let says = error.as_db_error().map_or_else(|| with_causes(error), |error| error.message().to_owned());
    let help = match error.code().map(SqlState::code) {
        Some("28P01" | "28000") => "check the user and the password of the address",
        Some("3D000") => "create it, for instance with `createdb`",
        Some("42501" | "3F000") => "let the user create and change tables in this database",
        Some("53100") => "free some space on the server's disk",
        Some("53300") => "let the server take more connections, or run fewer processes",
        Some(_) => "`agon doctor` checks the store",
        None => "see that the server runs and that the address is right",
    };
    format!("the server says: {says}; {help}")
}

fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}
