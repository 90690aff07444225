//! What one append, lease or release does to the tables.

use agon_core::event::Entry;
use agon_core::{Brief, Event, Record, Status};
use agon_engine::StoreError;
use rusqlite::{Connection, OptionalExtension, params};

use crate::closing::{self, Receipt};
use crate::owner::{Owner, alive};
use crate::place::{Fault, Place};

/// Adds records to a debate's log.
pub(crate) fn append(log: &Connection, owner: &mut Owner, id: &str, records: &[Record]) -> Result<(), Fault> {
    let Some(first) = records.first() else { return Ok(()) };
    let debate = match (row(log, id)?, &first.entry.event) {
        (None, Event::Opened { brief }) if first.entry.seq == 0 => open(log, owner, id, brief)?,
        (None, _) => return Err(StoreError::Unknown(id.to_owned()).into()),
        (Some(_), Event::Opened { .. }) => return Err(Fault::Odd(format!("there is already a debate {id}"))),
        (Some(row), _) => row.writable(owner, id)?,
    };
    let mut insert =
        log.prepare_cached("INSERT INTO events (debate, seq, hash, body) VALUES (?1, ?2, ?3, ?4)")?;
    for (seq, record) in (debate.next..).zip(records) {
        let given = record.entry.seq.cast_signed();
        if given != seq {
            return Err(Fault::Odd(format!("debate {id} goes on with event {seq}, not with event {given}")));
        }
        insert.execute(params![debate.n, seq, record.hash, record.body])?;
    }
    if let Some(Record { entry: Entry { seq, at_ms, event: Event::Closed { outcome } }, hash, .. }) =
        records.last()
    {
        let mut close = log.prepare_cached("UPDATE debates SET status = ?2, owner = NULL WHERE n = ?1")?;
        close.execute(params![debate.n, status(outcome.status)])?;
        closing::keep(log, debate.n, *at_ms, Receipt::ending(*seq, hash), outcome)?;
    }
    Ok(())
}

/// Makes the debate this owner's, unless another that lives has it. One that is over needs no owner.
pub(crate) fn lease(log: &Connection, owner: &mut Owner, place: &Place, id: &str) -> Result<(), Fault> {
    let row = row(log, id)?.ok_or_else(|| StoreError::Unknown(id.to_owned()))?;
    let other = row.owner.filter(|name| !owner.is(name));
    if row.closed {
        return Ok(());
    }
    if other.is_some_and(|name| alive(&place.owners, &name)) {
        return Err(StoreError::Leased(id.to_owned()).into());
    }
    let mut take = log.prepare_cached("UPDATE debates SET owner = ?2 WHERE n = ?1")?;
    take.execute(params![row.n, owner.name()?])?;
    Ok(())
}

/// Gives the debate back, if it is this owner's.
pub(crate) fn release(log: &Connection, owner: &Owner, id: &str) -> Result<(), Fault> {
    let row = row(log, id)?.ok_or_else(|| StoreError::Unknown(id.to_owned()))?;
    if row.owner.is_some_and(|name| owner.is(&name)) {
        let mut give_back = log.prepare_cached("UPDATE debates SET owner = NULL WHERE n = ?1")?;
        give_back.execute([row.n])?;
    }
    Ok(())
}

/// A debate as the writer sees it.
struct Row {
    n: i64,
    owner: Option<String>,
    closed: bool,
    /// The number of the next event.
    next: i64,
}

impl Row {
    fn writable(self, owner: &Owner, id: &str) -> Result<Self, Fault> {
        if self.closed {
            return Err(Fault::Odd(format!("debate {id} is over: nothing can be added to its log")));
        }
        match &self.owner {
            Some(name) if owner.is(name) => Ok(self),
            _ => Err(StoreError::LeaseLost(id.to_owned()).into()),
        }
    }
}

fn row(log: &Connection, id: &str) -> Result<Option<Row>, rusqlite::Error> {
    let mut query = log.prepare_cached(
        "SELECT n, owner, status IS NOT NULL, (SELECT max(seq) + 1 FROM events WHERE debate = debates.n)
         FROM debates WHERE id = ?1",
    )?;
    let row = query.query_row([id], |row| {
        let next: Option<i64> = row.get(3)?;
        Ok(Row { n: row.get(0)?, owner: row.get(1)?, closed: row.get(2)?, next: next.unwrap_or_default() })
    });
    row.optional()
}

fn open(log: &Connection, owner: &mut Owner, id: &str, brief: &Brief) -> Result<Row, Fault> {
    if brief.id != id {
        return Err(Fault::Odd(format!("the log of debate {} cannot be kept as {id}", brief.id)));
    }
    let parent = brief.parent.as_ref().map(|parent| parent.id.as_str());
    let name = owner.name()?;
    let mut insert = log.prepare_cached(
        "INSERT INTO debates (id, protocol, question, created_at, parent, owner) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let n = insert.insert(params![id, brief.protocol, brief.question, brief.created_at, parent, name])?;
    Ok(Row { n, owner: Some(name.to_owned()), closed: false, next: 0 })
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Complete => "complete",
        Status::Incomplete => "incomplete",
        Status::Failed => "failed",
    }
}
