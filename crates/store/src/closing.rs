//! What a debate leaves behind when it closes: knowledge, memories and ratings, and its deliveries become due.
//!
//! It is written in the transaction that stores `Closed`, so that there is never one without the other. All of it comes
//! from the outcome's lesson and the brief; no clock is read, so that the logs give the same again.

use agon_core::lesson::Lesson;
use agon_core::{Outcome, calendar};
use rusqlite::{Connection, OptionalExtension};

use crate::place::Fault;
use crate::{deliveries, knowledge, memory, ratings};

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
}

/// Keeps what the debate leaves behind.
pub(crate) fn keep(store: &Connection, debate: i64, at_ms: u64, outcome: &Outcome) -> Result<(), Fault> {
    let Some(closed) = closed(store, debate, at_ms)? else { return Ok(()) };
    deliveries::wake(store, &closed.id)?;
    let Some(lesson) = &outcome.lesson else { return Ok(()) };
    knowledge::learn(store, &closed, lesson)?;
    learn(store, &closed, lesson)
}

/// Keeps what is derived from all debates in their order: memories and ratings.
pub(crate) fn learn(store: &Connection, closed: &Closed, lesson: &Lesson) -> Result<(), Fault> {
    memory::learn(store, closed, lesson)?;
    ratings::learn(store, closed, lesson)
}

/// A debate that closed so long after it was opened.
pub(crate) fn closed(store: &Connection, debate: i64, at_ms: u64) -> Result<Option<Closed>, Fault> {
    let mut query = store.prepare_cached("SELECT id, question, created_at FROM debates WHERE n = ?1")?;
    let row = query
        .query_row([debate], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?)))
        .optional()?;
    let Some((id, question, created_at)) = row else { return Ok(None) };
    let at = calendar::later(&created_at, at_ms);
    let at_s = seconds(store, &at)?;
    Ok(Some(Closed { n: debate, id, question, at, at_s }))
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
