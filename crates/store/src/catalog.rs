//! Which debates there are, and how the file is.

use std::collections::HashMap;

use agon_engine::StoreError;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;

use crate::owner::alive;
use crate::place::{Fault, Place};
use crate::schema;

/// A debate as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Its protocol.
    pub protocol: String,
    /// The question, topic or task.
    pub question: String,
    /// `complete`, `incomplete` or `failed` when it is over; else `running` while a living process has it, and
    /// `interrupted` when none does.
    pub status: String,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// For a branch, the debate that it came from.
    pub parent: Option<String>,
}

/// How the store is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Health {
    /// The file.
    pub file: String,
    /// The version of its tables.
    pub schema_version: i64,
    /// The space that it takes, with what SQLite keeps beside it.
    pub size_bytes: u64,
    /// How many debates it holds.
    pub debates: i64,
    /// How many events they have.
    pub events: i64,
    /// How many entries the knowledge store has.
    pub knowledge: i64,
    /// How many memories there are, those that have faded included.
    pub memories: i64,
    /// How many results are on their way, or could be.
    pub deliveries_due: i64,
    /// How many results could not be delivered and are not tried again.
    pub deliveries_dead: i64,
    /// What SQLite's check of the file says: `ok`, or what is wrong.
    pub integrity: String,
    /// How SQLite commits: `wal`, unless the file system cannot do that.
    pub journal_mode: String,
}

/// The columns of `debates` that [`Statuses::listed`] reads, in its order.
pub(crate) const LISTED: &str = "id, protocol, question, created_at, parent, status, owner";

/// Tells the status of debates, and asks after each owner once.
pub(crate) struct Statuses<'a> {
    place: &'a Place,
    living: HashMap<String, bool>,
}

impl<'a> Statuses<'a> {
    pub(crate) fn new(place: &'a Place) -> Self {
        Self { place, living: HashMap::new() }
    }

    /// Reads the columns [`LISTED`].
    pub(crate) fn listed(&mut self, row: &Row<'_>) -> Result<Listed, rusqlite::Error> {
        let owner: Option<String> = row.get(6)?;
        let status = match row.get(5)? {
            Some(status) => status,
            None if owner.is_some_and(|name| self.lives(name)) => "running".to_owned(),
            None => "interrupted".to_owned(),
        };
        let (id, protocol, question) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Listed { id, protocol, question, status, created_at: row.get(3)?, parent: row.get(4)? })
    }

    fn lives(&mut self, owner: String) -> bool {
        let folder = &self.place.owners;
        *self.living.entry(owner).or_insert_with_key(|name| alive(folder, name))
    }
}

/// The debates, newest first.
pub(crate) fn list(store: &Connection, place: &Place, limit: Option<usize>) -> Result<Vec<Listed>, Fault> {
    // SQLite takes a negative limit for none.
    let limit = limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
    let mut statuses = Statuses::new(place);
    let mut query =
        store.prepare_cached(&format!("SELECT {LISTED} FROM debates ORDER BY n DESC LIMIT ?1"))?;
    let rows = query.query_map([limit], |row| statuses.listed(row))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The full id: of the newest debate for `last`, else of the one whose id begins so.
pub(crate) fn find(store: &Connection, prefix: &str) -> Result<String, Fault> {
    let unknown = || StoreError::Unknown(prefix.to_owned());
    if prefix.is_empty() {
        return Err(unknown().into());
    }
    if prefix == "last" {
        let newest = store.query_row("SELECT id FROM debates ORDER BY n DESC LIMIT 1", [], |row| row.get(0));
        return Ok(newest.optional()?.ok_or_else(unknown)?);
    }
    let mut query = store.prepare_cached(
        "SELECT id FROM debates WHERE substr(id, 1, length(?1)) = ?1 ORDER BY length(id), id LIMIT 2",
    )?;
    let ids: Vec<String> = query.query_map([prefix], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let ambiguous = ids.len() > 1;
    match ids.into_iter().next() {
        None => Err(unknown().into()),
        Some(id) if ambiguous && id != prefix => Err(StoreError::Ambiguous(prefix.to_owned()).into()),
        Some(id) => Ok(id),
    }
}

/// The stored bytes and hashes of a debate's log, as they are.
pub(crate) fn raw(store: &Connection, id: &str) -> Result<Vec<(String, String)>, Fault> {
    let n = store.prepare_cached("SELECT n FROM debates WHERE id = ?1")?.query_row([id], |row| row.get(0));
    let n: i64 = n.optional()?.ok_or_else(|| StoreError::Unknown(id.to_owned()))?;
    let mut query = store.prepare_cached("SELECT body, hash FROM events WHERE debate = ?1 ORDER BY seq")?;
    let rows = query.query_map([n], |row| Ok((text(row, 0)?, text(row, 1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A debate's row and its log. One transaction, so that a debate that ends meanwhile is seen either before or after.
pub(crate) fn stored(
    store: &mut Connection,
    place: &Place,
    id: &str,
) -> Result<(Listed, Vec<(String, String)>), Fault> {
    let moment = store.transaction()?;
    let row = moment
        .prepare_cached(&format!("SELECT {LISTED} FROM debates WHERE id = ?1"))?
        .query_row([id], |row| Statuses::new(place).listed(row))
        .optional()?
        .ok_or_else(|| StoreError::Unknown(id.to_owned()))?;
    let log = raw(&moment, id)?;
    Ok((row, log))
}

/// How the store is.
pub(crate) fn health(store: &Connection, place: &Place) -> Result<Health, Fault> {
    let count = |what: &str| store.query_row(&format!("SELECT count(*) FROM {what}"), [], |row| row.get(0));
    let keeps = schema::keeps(store)?;
    let kept = |what: &str| if keeps { count(what) } else { Ok(0) };
    let mut check = store.prepare("PRAGMA quick_check(10)")?;
    let findings: Vec<String> = check.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(Health {
        file: place.shown().to_owned(),
        schema_version: schema::version(store)?,
        size_bytes: place.size_bytes()?,
        debates: count("debates")?,
        events: count("events")?,
        knowledge: kept("knowledge WHERE forgotten = 0")?,
        memories: kept("memory")?,
        deliveries_due: kept("deliveries WHERE state IN ('due', 'sending')")?,
        deliveries_dead: kept("deliveries WHERE state = 'dead'")?,
        integrity: findings.join("; "),
        journal_mode: store.pragma_query_value(None, "journal_mode", |row| row.get(0))?,
    })
}

/// A column's bytes as text. What somebody changed may not be text any more; its hash will say so.
fn text(row: &Row<'_>, column: usize) -> Result<String, rusqlite::Error> {
    let bytes = row.get_ref(column)?.as_bytes()?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
