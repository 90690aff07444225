//! The logs: appending to them and reading them.

use agon_core::event::LogEntry;
use agon_core::provenance::PROVENANCE;
use agon_core::{Brief, DebateProvenance, Event, LogRecord, Status};
use agon_engine::StoreError;

use crate::closed_debates::{self, ClosedDebate, LogReceipt};
use crate::sql::{SqlDatabase, SqlResult, SqlRow, sql_values};
use crate::sqlite::LeaseHolder;
use crate::store_fault::{StoreFault, unknown_debate};
use crate::{DebateStore, deliveries_table, postgres, search};

impl DebateStore {
    /// The stored body and hash of each event, unchecked, for callers that check the chain and say where it breaks.
    pub fn raw_log(&self, id: &str) -> Result<Vec<(String, String)>, StoreError> {
        self.read(|db| raw_log(db, id))
    }

    /// At most `count` events from number `first` on.
    pub fn raw_log_from(
        &self,
        id: &str,
        first: u64,
        count: usize,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let first = i64::try_from(first).unwrap_or(i64::MAX);
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.read(|db| {
            let sql = "SELECT body, hash FROM events WHERE debate = (SELECT n FROM debates WHERE id = ?1) AND seq >= ?2
                 ORDER BY seq LIMIT ?3";
            let events = db.read_all(sql, sql_values![id, first, count], |row| {
                Ok((stored_text(row, 0)?, stored_text(row, 1)?))
            })?;
            if events.is_empty() {
                // There may be no such debate.
                debate_row(db, id)?;
            }
            Ok(events)
        })
    }
}

/// Appends records to a debate's log. `Opened` creates the debate and leases it; `Closed` gives the lease back and
/// records what the debate decided.
pub(crate) fn append(
    db: &SqlDatabase,
    holder: &mut LeaseHolder,
    id: &str,
    records: &[LogRecord],
) -> Result<(), StoreFault> {
    let Some(first) = records.first() else { return Ok(()) };
    let (debate, next_seq) = match (DebateRow::find(db, id)?, &first.entry.event) {
        (None, Event::Opened { brief }) if first.entry.seq == 0 => (open(db, holder, id, brief)?, 0),
        (None, _) => return Err(unknown_debate(id)),
        (Some(_), Event::Opened { .. }) => {
            return Err(StoreFault::Failed(format!("there is already a debate {id}")));
        }
        (Some(row), _) => {
            row.check_writable(holder, id)?;
            (row.n, row.next_seq)
        }
    };
    check_numbers(id, next_seq, records)?;
    for (seq, record) in (next_seq..).zip(records) {
        let sql = "INSERT INTO events (debate, seq, hash, body) VALUES (?1, ?2, ?3, ?4)";
        db.run(sql, sql_values![debate, seq, record.hash, record.body])?;
    }
    match records.last() {
        Some(last) => close_with(db, debate, last),
        None => Ok(()),
    }
}

/// Refuses records that do not follow the last one of the log.
pub(crate) fn check_numbers(id: &str, next_seq: i64, records: &[LogRecord]) -> Result<(), StoreFault> {
    let mut numbers = (next_seq..).zip(records).map(|(seq, record)| (seq, record.entry.seq.cast_signed()));
    match numbers.find(|(seq, given)| seq != given) {
        Some((seq, given)) => {
            Err(StoreFault::Failed(format!("the next event of debate {id} has number {seq}, not {given}")))
        }
        None => Ok(()),
    }
}

/// If a debate closes with its last record: gives the lease back and records what it decided.
pub(crate) fn close_with(db: &SqlDatabase, debate: i64, last: &LogRecord) -> Result<(), StoreFault> {
    let LogRecord { entry: LogEntry { seq, at_ms, event: Event::Closed { outcome } }, hash, .. } = last
    else {
        return Ok(());
    };
    let status = status_name(outcome.status);
    let receipt = LogReceipt::new(*seq, hash);
    let closed = match db {
        SqlDatabase::Sqlite(_) => {
            db.run("UPDATE debates SET status = ?2, owner = NULL WHERE n = ?1", sql_values![debate, status])?;
            let closed = ClosedDebate::read(db, debate, *at_ms, receipt)?;
            closed.iter().try_for_each(|closed| deliveries_table::make_due(db, &closed.id))?;
            closed
        }
        SqlDatabase::Postgres(_) => {
            let row = db.read_first(postgres::CLOSE, sql_values![debate, status], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
            row.map(|row| ClosedDebate::new(debate, row, *at_ms, receipt))
        }
    };
    if let (Some(closed), Some(lesson)) = (closed, &outcome.lesson) {
        closed_debates::record(db, &closed, lesson)?;
    }
    // A debate that cannot be indexed stays in the backlog.
    drop(db.in_savepoint(|db| Ok(search::index_debate(db, debate)?))?);
    Ok(())
}

/// The stored body and hash of each event of a debate.
pub(crate) fn raw_log(db: &SqlDatabase, id: &str) -> Result<Vec<(String, String)>, StoreFault> {
    let sql = "SELECT body, hash FROM events WHERE debate = ?1 ORDER BY seq";
    Ok(db.read_all(sql, sql_values![debate_row(db, id)?], |row| {
        Ok((stored_text(row, 0)?, stored_text(row, 1)?))
    })?)
}

/// The same, and whether the debate is listed as closed. One query.
pub(crate) fn log_and_state(db: &SqlDatabase, id: &str) -> Result<(Vec<(String, String)>, bool), StoreFault> {
    let sql = "SELECT events.body, events.hash, debates.status IS NOT NULL FROM debates
         JOIN events ON events.debate = debates.n WHERE debates.id = ?1 ORDER BY events.seq";
    let mut is_closed = None;
    let log = db.read_all(sql, sql_values![id], |row| {
        is_closed = Some(row.get(2)?);
        Ok((stored_text(row, 0)?, stored_text(row, 1)?))
    })?;
    match is_closed {
        Some(is_closed) => Ok((log, is_closed)),
        // A debate without events, if there is such a debate.
        None => Ok((log, DebateRow::find(db, id)?.ok_or_else(|| unknown_debate(id))?.closed)),
    }
}

/// The row of the debate with this id.
pub(crate) fn debate_row(db: &SqlDatabase, id: &str) -> Result<i64, StoreFault> {
    let row = db.read_first("SELECT n FROM debates WHERE id = ?1", sql_values![id], |row| row.get(0))?;
    row.ok_or_else(|| unknown_debate(id))
}

/// A debate as the writer sees it.
pub(crate) struct DebateRow {
    pub(crate) n: i64,
    /// The lock file of the process that runs it.
    pub(crate) owner: Option<String>,
    pub(crate) closed: bool,
    next_seq: i64,
}

impl DebateRow {
    pub(crate) fn find(db: &SqlDatabase, id: &str) -> SqlResult<Option<Self>> {
        let sql = "SELECT n, CAST(owner AS TEXT), status IS NOT NULL,
                 (SELECT coalesce(max(seq) + 1, 0) FROM events WHERE debate = debates.n)
             FROM debates WHERE id = ?1";
        db.read_first(sql, sql_values![id], |row| {
            Ok(Self { n: row.get(0)?, owner: row.get(1)?, closed: row.get(2)?, next_seq: row.get(3)? })
        })
    }

    fn check_writable(&self, holder: &LeaseHolder, id: &str) -> Result<(), StoreFault> {
        if self.closed {
            return Err(StoreFault::Failed(format!("debate {id} is over: nothing can be added to its log")));
        }
        match &self.owner {
            Some(owner) if holder.is(owner) => Ok(()),
            _ => Err(StoreError::LeaseLost(id.to_owned()).into()),
        }
    }
}

fn open(db: &SqlDatabase, holder: &mut LeaseHolder, id: &str, brief: &Brief) -> Result<i64, StoreFault> {
    if brief.id != id {
        return Err(StoreFault::Failed(format!("the log of debate {} cannot be stored as {id}", brief.id)));
    }
    let parent = brief.parent.as_ref().map(|parent| parent.id.as_str());
    let provenance = brief.part(PROVENANCE).map(|file| file.text.as_str());
    let owner = holder.name()?;
    let debate = db.insert(
        "INSERT INTO debates (id, protocol, question, created_at, parent, provenance, owner)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING n",
        sql_values![id, brief.protocol, brief.question, brief.created_at, parent, provenance, owner],
    )?;
    search::add_to_backlog(db, debate)?;
    Ok(debate)
}

/// A column `provenance` of `debates`.
pub(crate) fn read_provenance(row: &SqlRow<'_>, column: usize) -> SqlResult<Option<DebateProvenance>> {
    let json: Option<String> = row.get(column)?;
    Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
}

pub(crate) fn status_name(status: Status) -> &'static str {
    match status {
        Status::Complete => "complete",
        Status::Incomplete => "incomplete",
        Status::Failed => "failed",
    }
}

/// A column's bytes as text. A file that was tampered with may hold invalid text; the hash then shows it.
fn stored_text(row: &SqlRow<'_>, column: usize) -> SqlResult<String> {
    Ok(String::from_utf8_lossy(row.bytes(column)?).into_owned())
}
