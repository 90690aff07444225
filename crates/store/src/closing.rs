//! What a debate leaves behind when it closes: knowledge, memories and ratings, and its deliveries become due.
//!
//! It is written in the transaction that stores `Closed`, so that there is never one without the other. All of it comes
//! from the outcome's lesson and the brief; no clock is read, so that the logs give the same again.

use agon_core::{Outcome, calendar};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;

use crate::place::Fault;
use crate::{deliveries, knowledge, memory, ratings};

/// By this it can be told whether a debate's log is still the one that something came from: its chain of hashes ends in `head`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Receipt {
    /// The hash of the log's last event, in hex.
    pub head: String,
    /// How many events the log has.
    pub events: u64,
}

impl Receipt {
    /// Of a log that ends with the event of this number and hash.
    pub(crate) fn ending(seq: u64, hash: &str) -> Self {
        Self { head: hash.to_owned(), events: seq.saturating_add(1) }
    }

    /// From the columns `head, events` that begin here; a note has none.
    pub(crate) fn read(row: &Row<'_>, column: usize) -> Result<Option<Self>, rusqlite::Error> {
        let (head, events): (Option<String>, Option<i64>) = (row.get(column)?, row.get(column + 1)?);
        Ok(head.zip(events).map(|(head, events)| Self { head, events: events.cast_unsigned() }))
    }

    /// The same number as SQLite has it.
    pub(crate) fn count(&self) -> i64 {
        self.events.cast_signed()
    }
}

/// A debate that has closed.
#[derive(Debug)]
pub(crate) struct Closed {
    /// Its number.
    pub(crate) n: i64,
    /// Its id.
    pub(crate) id: String,
    /// Its question.
    pub(crate) question: String,
    /// When it closed: RFC 3339, UTC.
    pub(crate) at: String,
    /// The same, in seconds since 1970.
    pub(crate) at_s: i64,
    /// How its log ends.
    pub(crate) receipt: Receipt,
}

/// Keeps what the debate leaves behind.
pub(crate) fn keep(
    store: &Connection,
    debate: i64,
    at_ms: u64,
    receipt: Receipt,
    outcome: &Outcome,
) -> Result<(), Fault> {
    let Some(closed) = closed(store, debate, at_ms, receipt)? else { return Ok(()) };
    deliveries::wake(store, &closed.id)?;
    let Some(lesson) = &outcome.lesson else { return Ok(()) };
    knowledge::learn(store, &closed, lesson)?;
    memory::learn(store, &closed, lesson)?;
    ratings::learn(store, &closed, lesson)
}

/// A debate that closed so long after it was opened.
pub(crate) fn closed(
    store: &Connection,
    debate: i64,
    at_ms: u64,
    receipt: Receipt,
) -> Result<Option<Closed>, Fault> {
    let mut query = store.prepare_cached("SELECT id, question, created_at FROM debates WHERE n = ?1")?;
    let row = query
        .query_row([debate], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?)))
        .optional()?;
    let Some((id, question, created_at)) = row else { return Ok(None) };
    let at = calendar::later(&created_at, at_ms);
    let at_s = seconds(store, &at)?;
    Ok(Some(Closed { n: debate, id, question, at, at_s, receipt }))
}

/// A time in seconds since 1970. What is no time was long ago.
pub(crate) fn seconds(store: &Connection, at: &str) -> Result<i64, rusqlite::Error> {
    store.prepare_cached("SELECT coalesce(unixepoch(?1), 0)")?.query_row([at], |row| row.get(0))
}

/// A text as it is kept where its length has a limit.
pub(crate) fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
