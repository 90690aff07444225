//! What is written when a debate closes: knowledge, memories and ratings. Its deliveries become due.
//!
//! It is written in the transaction that stores `Closed`, so one never exists without the other. Everything comes from
//! the outcome's lesson and the brief, and no clock is read, so a rebuild from the logs gives the same result.

use agon_core::{DebateLesson, timestamps};
use serde::Serialize;

use crate::memories::ForgottenMemories;
use crate::sql::{SqlDatabase, SqlResult, SqlRow, sql_values};
use crate::store_fault::StoreFault;
use crate::{knowledge, memories, ratings_table};

/// The end of a debate's log. With it you can check that the log is still the one that something came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogReceipt {
    /// The hash of the log's last event, in hex.
    pub head: String,
    /// How many events the log has.
    pub events: u64,
}

impl LogReceipt {
    /// The receipt of a log whose last event has this number and hash.
    pub(crate) fn new(seq: u64, hash: &str) -> Self {
        Self { head: hash.to_owned(), events: seq.saturating_add(1) }
    }

    /// Reads the columns `head, events`, starting at `column`. Notes and imports have none.
    pub(crate) fn read(row: &SqlRow<'_>, column: usize) -> SqlResult<Option<Self>> {
        let (head, events): (Option<String>, Option<i64>) = (row.get(column)?, row.get(column + 1)?);
        Ok(head.zip(events).map(|(head, events)| Self { head, events: events.cast_unsigned() }))
    }

    /// The number of events as the database stores it.
    pub(crate) fn sql_events(&self) -> i64 {
        self.events.cast_signed()
    }
}

/// A debate that has closed.
#[derive(Debug)]
pub(crate) struct ClosedDebate {
    /// Its row.
    pub(crate) n: i64,
    pub(crate) id: String,
    pub(crate) question: String,
    /// When it closed: RFC 3339, UTC.
    pub(crate) at: String,
    /// The same in seconds since 1970.
    pub(crate) at_s: i64,
    pub(crate) receipt: LogReceipt,
}

impl ClosedDebate {
    /// The debate in this row, which closed `at_ms` after it was opened.
    pub(crate) fn read(
        db: &SqlDatabase,
        n: i64,
        at_ms: u64,
        receipt: LogReceipt,
    ) -> Result<Option<Self>, StoreFault> {
        let sql = "SELECT id, question, created_at FROM debates WHERE n = ?1";
        let row =
            db.read_first(sql, sql_values![n], |row| Ok((row.get(0)?, row.get(1)?, row.get::<String>(2)?)))?;
        Ok(row.map(|row| Self::new(n, row, at_ms, receipt)))
    }

    /// The debate in this row, given its id, its question and when it was opened.
    pub(crate) fn new(
        n: i64,
        (id, question, created_at): (String, String, String),
        at_ms: u64,
        receipt: LogReceipt,
    ) -> Self {
        let at = timestamps::later(&created_at, at_ms);
        let at_s = unix_seconds(&at);
        Self { n, id, question, at, at_s, receipt }
    }
}

/// Records what a debate decided, what its agents remember, and how it changes their ratings.
pub(crate) fn record(
    db: &SqlDatabase,
    closed: &ClosedDebate,
    lesson: &DebateLesson,
) -> Result<(), StoreFault> {
    knowledge::record_decision(db, closed, lesson)?;
    memories::record_positions(db, closed, lesson, &mut ForgottenMemories::default())?;
    ratings_table::record_game(db, closed, lesson)
}

/// An RFC 3339 time in seconds since 1970, or 0 if it is not one.
pub(crate) fn unix_seconds(at: &str) -> i64 {
    timestamps::seconds(at).and_then(|seconds| i64::try_from(seconds).ok()).unwrap_or_default()
}

/// The first `chars_max` characters of a text, with an ellipsis if there were more.
pub(crate) fn truncate(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
