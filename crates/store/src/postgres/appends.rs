//! Writing the logs of many debates in two statements: one for those that are opened, one for those that go on.

use std::borrow::Cow;
use std::collections::HashMap;

use agon_core::provenance::PROVENANCE;
use agon_core::{Brief, Event, LogRecord};
use agon_engine::StoreError;

use super::PostgresConnection;
use super::ownership::{DebateOwner, LeasedLog};
use crate::log_table::{DebateRow, check_numbers, close_with};
use crate::sql::{SqlDatabase, SqlResult};
use crate::store_fault::{StoreFault, unknown_debate};

/// Creates debates that do not exist yet, leased by their owner, with their first events. Returns the rows of those that it created.
const OPEN: &str = "
    WITH opened AS (
        INSERT INTO debates (id, protocol, question, created_at, parent, provenance, head, next_seq, epoch, owner)
        SELECT id, protocol, question, created_at, parent, provenance, head, next_seq, 1, ?13
        FROM unnest(?1::text[], ?2::text[], ?3::text[], ?4::text[], ?5::text[], ?6::text[], ?7::text[], ?8::bigint[])
            AS given (id, protocol, question, created_at, parent, provenance, head, next_seq)
        ON CONFLICT (id) DO NOTHING RETURNING n, id
    ), backlog AS (
        INSERT INTO search_backlog (debate, events) SELECT n, 0 FROM opened
    ), added AS (
        INSERT INTO events (debate, seq, hash, body)
        SELECT opened.n, given.seq, given.hash, given.body
        FROM unnest(?9::text[], ?10::bigint[], ?11::text[], ?12::text[]) WITH ORDINALITY
            AS given (id, seq, hash, body, place) JOIN opened ON opened.id = given.id ORDER BY place
    ) SELECT id, n FROM opened";

/// Adds events to debates whose owner, epoch and head are as this process knows them. Returns the rows of those that it changed.
const APPEND: &str = "
    WITH continued AS (
        UPDATE debates AS d SET head = given.new_head, next_seq = given.next_seq
        FROM unnest(?1::text[], ?2::text[], ?3::text[], ?4::bigint[], ?5::bigint[])
            AS given (id, old_head, new_head, next_seq, epoch)
        WHERE d.id = given.id AND d.head = given.old_head AND d.epoch = given.epoch AND d.owner = ?10
            AND d.status IS NULL
        RETURNING d.n, d.id
    ), added AS (
        INSERT INTO events (debate, seq, hash, body)
        SELECT continued.n, given.seq, given.hash, given.body
        FROM unnest(?6::text[], ?7::bigint[], ?8::text[], ?9::text[]) WITH ORDINALITY
            AS given (id, seq, hash, body, place) JOIN continued ON continued.id = given.id ORDER BY place
    ) SELECT id, n FROM continued";

/// Ends a debate: gives it back and makes its deliveries due, in one round trip. Returns its id, its question and when it was opened.
pub(crate) const CLOSE: &str = "
    WITH closed AS (
        UPDATE debates SET status = ?2, owner = NULL WHERE n = ?1 RETURNING id, question, created_at
    ), due AS (
        UPDATE deliveries SET state = 'due', next_s = 0
        FROM closed WHERE deliveries.debate = closed.id AND deliveries.state = 'waiting'
    ) SELECT id, question, created_at FROM closed";

/// Appends to different debates, none of them twice.
#[derive(Default)]
pub(crate) struct AppendBatch<'a> {
    opened: Vec<(usize, &'a str, &'a Brief, &'a [LogRecord])>,
    continued: Vec<(usize, &'a str, LeasedLog, &'a [LogRecord])>,
    /// What is known before anything is written.
    refused: Vec<(usize, StoreFault)>,
}

impl<'a> AppendBatch<'a> {
    /// Adds an append. `place` is its place in the group.
    pub(crate) fn add(
        &mut self,
        db: &SqlDatabase,
        owner: &DebateOwner,
        place: usize,
        id: &'a str,
        records: &'a [LogRecord],
    ) -> SqlResult<()> {
        let Some(first) = records.first() else { return Ok(()) };
        let refusal = match (&first.entry.event, owner.leased(id)) {
            (Event::Opened { brief }, None) if brief.id != id => {
                StoreFault::Failed(format!("the log of debate {} cannot be stored as {id}", brief.id))
            }
            (Event::Opened { brief }, None) => match check_numbers(id, 0, records) {
                Ok(()) => {
                    self.opened.push((place, id, brief, records));
                    return Ok(());
                }
                Err(fault) => fault,
            },
            (Event::Opened { .. }, Some(_)) => already_there(id),
            (_, Some(lease)) => match check_numbers(id, lease.next_seq, records) {
                Ok(()) => {
                    self.continued.push((place, id, lease.clone(), records));
                    return Ok(());
                }
                Err(fault) => fault,
            },
            (_, None) => why_not(db, id, None)?,
        };
        self.refused.push((place, refusal));
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.opened.is_empty() && self.continued.is_empty() && self.refused.is_empty()
    }

    /// Writes everything, and returns the places of those that were refused, with the reason. An error means that the whole
    /// transaction has to be undone.
    pub(crate) fn write(
        self,
        db: &SqlDatabase,
        connection: &PostgresConnection,
        owner: &mut DebateOwner,
    ) -> Result<Vec<(usize, StoreFault)>, StoreFault> {
        let mut refused = self.refused;
        let mut closing = Vec::new();
        if !self.opened.is_empty() {
            let rows = open_debates(connection, owner.key, &self.opened)?;
            for (place, id, _, records) in self.opened {
                match rows.get(id) {
                    Some(row) => closing.extend(written(owner, id, 1, *row, records)),
                    None => refused.push((place, already_there(id))),
                }
            }
        }
        if !self.continued.is_empty() {
            let rows = continue_debates(connection, owner.key, &self.continued)?;
            for (place, id, lease, records) in self.continued {
                match rows.get(id) {
                    Some(row) => closing.extend(written(owner, id, lease.epoch, *row, records)),
                    None => {
                        owner.set(id, None);
                        refused.push((place, why_not(db, id, Some((owner.key, lease.epoch)))?));
                    }
                }
            }
        }
        closing.into_iter().try_for_each(|(row, last)| close_with(db, row, last))?;
        Ok(refused)
    }
}

/// Notes what is known of a debate after an append, and returns its row and last record if that closes it.
fn written<'a>(
    owner: &mut DebateOwner,
    id: &str,
    epoch: i64,
    row: i64,
    records: &'a [LogRecord],
) -> Option<(i64, &'a LogRecord)> {
    let last = records.last()?;
    let is_closed = matches!(last.entry.event, Event::Closed { .. });
    let next_seq = last.entry.seq.cast_signed() + 1;
    let lease = LeasedLog { epoch, head: last.hash.clone(), next_seq };
    owner.set(id, (!is_closed).then_some(lease));
    is_closed.then_some((row, last))
}

/// Columns of many events, in the order in which they are stored.
#[derive(Default)]
struct EventColumns<'a> {
    ids: Vec<&'a str>,
    seqs: Vec<i64>,
    hashes: Vec<&'a str>,
    bodies: Vec<Cow<'a, str>>,
}

impl<'a> EventColumns<'a> {
    fn add(&mut self, id: &'a str, records: &'a [LogRecord]) {
        for record in records {
            self.ids.push(id);
            self.seqs.push(record.entry.seq.cast_signed());
            self.hashes.push(&record.hash);
            self.bodies.push(without_nul(&record.body));
        }
    }
}

fn open_debates(
    connection: &PostgresConnection,
    owner: i64,
    opened: &[(usize, &str, &Brief, &[LogRecord])],
) -> SqlResult<HashMap<String, i64>> {
    let mut events = EventColumns::default();
    opened.iter().for_each(|(_, id, _, records)| events.add(id, records));
    let texts = |column: fn(&Brief) -> &str| -> Vec<Cow<'_, str>> {
        opened.iter().map(|(_, _, brief, _)| without_nul(column(brief))).collect()
    };
    let parents: Vec<Option<&str>> = opened
        .iter()
        .map(|(_, _, brief, _)| brief.parent.as_ref().map(|parent| parent.id.as_str()))
        .collect();
    let provenances: Vec<Option<&str>> =
        opened.iter().map(|(_, _, brief, _)| brief.part(PROVENANCE).map(|file| file.text.as_str())).collect();
    let ids: Vec<&str> = opened.iter().map(|(_, id, ..)| *id).collect();
    let (heads, next): (Vec<&str>, Vec<i64>) = opened.iter().map(|(.., records)| end_of(records)).unzip();
    let rows = connection.query_raw(
        OPEN,
        &[
            &ids,
            &texts(|brief| &brief.protocol),
            &texts(|brief| &brief.question),
            &texts(|brief| &brief.created_at),
            &parents,
            &provenances,
            &heads,
            &next,
            &events.ids,
            &events.seqs,
            &events.hashes,
            &events.bodies,
            &owner,
        ],
    )?;
    rows_by_id(&rows)
}

fn continue_debates(
    connection: &PostgresConnection,
    owner: i64,
    continued: &[(usize, &str, LeasedLog, &[LogRecord])],
) -> SqlResult<HashMap<String, i64>> {
    let mut events = EventColumns::default();
    continued.iter().for_each(|(_, id, _, records)| events.add(id, records));
    let ids: Vec<&str> = continued.iter().map(|(_, id, ..)| *id).collect();
    let old_heads: Vec<&str> = continued.iter().map(|(_, _, lease, _)| lease.head.as_str()).collect();
    let epochs: Vec<i64> = continued.iter().map(|(_, _, lease, _)| lease.epoch).collect();
    let (heads, next): (Vec<&str>, Vec<i64>) = continued.iter().map(|(.., records)| end_of(records)).unzip();
    let rows = connection.query_raw(
        APPEND,
        &[
            &ids,
            &old_heads,
            &heads,
            &next,
            &epochs,
            &events.ids,
            &events.seqs,
            &events.hashes,
            &events.bodies,
            &owner,
        ],
    )?;
    rows_by_id(&rows)
}

/// The head of a log that ends with these records, and the number of the event after them.
fn end_of(records: &[LogRecord]) -> (&str, i64) {
    records.last().map_or(("", 0), |last| (last.hash.as_str(), last.entry.seq.cast_signed() + 1))
}

fn rows_by_id(rows: &[postgres::Row]) -> SqlResult<HashMap<String, i64>> {
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// PostgreSQL stores no NUL. Bodies have none: JSON escapes it.
fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

fn already_there(id: &str) -> StoreFault {
    StoreFault::Failed(format!("there is already a debate {id}"))
}

/// Why this process, which has or had this key and epoch, cannot append to a debate.
fn why_not(db: &SqlDatabase, id: &str, lease: Option<(i64, i64)>) -> SqlResult<StoreFault> {
    let Some(row) = DebateRow::find(db, id)? else { return Ok(unknown_debate(id)) };
    Ok(match lease {
        _ if row.closed => {
            StoreFault::Failed(format!("debate {id} is over: nothing can be added to its log"))
        }
        Some((key, _)) if row.owner == Some(key.to_string()) => StoreFault::Failed(format!(
            "the log of debate {id} does not end as this process left it: `agon verify {id}` checks it"
        )),
        _ => StoreError::LeaseLost(id.to_owned()).into(),
    })
}
