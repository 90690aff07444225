//! What is kept of debates, made again from their logs.
//!
//! Knowledge of a debate depends on that debate alone. Memories and ratings depend on all that closed before, and memories
//! on what was resolved in between: they are made again in the order in which all of it was committed. Of a debate's
//! resolutions only the one that counts is observed, so a correction makes the memories again, too.

use std::collections::BTreeMap;

use agon_core::event::Entry;
use agon_core::{Event, Lesson};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde::Serialize;

use crate::closing::{self, Closed, Receipt, seconds};
use crate::place::Fault;
use crate::resolutions::{self, Counting};
use crate::vectors::{self, Of};
use crate::{knowledge, memory, ratings};

/// What was made again, and how many rows were not as the logs have them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Rebuilt {
    /// Debates that leave a lesson.
    pub debates: u64,
    /// Entries of debates that were missing, changed, or too many.
    pub knowledge: u64,
    /// Memories, and where they were seen.
    pub memories: u64,
    /// Ratings, their history, and ballots.
    pub ratings: u64,
}

/// The tables that are made again whole.
const MEMORIES: [&str; 2] = ["memory", "sightings"];
const RATINGS: [&str; 3] = ["ratings", "rating_history", "ballots"];

/// The debates that are over, each with its last event, as far as it may have a lesson: in a large store most may be
/// debates without, whose outcomes need not be read.
const WITH_LESSON: &str = "debates AS d JOIN events AS e
    ON e.debate = d.n AND e.seq = (SELECT max(seq) FROM events WHERE debate = d.n)
        AND d.status IS NOT NULL AND instr(e.body, '\"lesson\"') > 0";

/// Makes all that is kept of debates again.
pub(crate) fn rebuild(store: &Connection) -> Result<Rebuilt, Fault> {
    let (before, rated) = (rows(store, &MEMORIES)?, rows(store, &RATINGS)?);
    clear(store, &RATINGS)?;
    let mut rebuilt = Rebuilt { knowledge: orphans(store)?, ..Rebuilt::default() };
    remember(store, |closed, lesson| {
        rebuilt.debates += 1;
        rebuilt.knowledge += u64::from(knowledge::learn(store, closed, lesson)?);
        ratings::learn(store, closed, lesson)
    })?;
    rebuilt.memories = differing(before, rows(store, &MEMORIES)?);
    rebuilt.ratings = differing(rated, rows(store, &RATINGS)?);
    Ok(rebuilt)
}

/// Makes the memories again: what they have observed cannot be taken back one by one.
pub(crate) fn memories(store: &Connection) -> Result<(), Fault> {
    remember(store, |_, _| Ok(()))
}

/// Makes the memories again, and does this with every debate on the way.
fn remember(
    store: &Connection,
    mut on_the_way: impl FnMut(&Closed, &Lesson) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let (texts, shelf) = (texts(store)?, vectors::shelve(store)?);
    clear(store, &MEMORIES)?;
    let mut resolved = resolutions::counting(store)?.into_iter().peekable();
    for (event, debate) in closings(store)? {
        let Some((closed, lesson)) = lesson(store, event, debate)? else { continue };
        while let Some(counting) = resolved.next_if(|counting| counting.after_event < event) {
            observe(store, &counting)?;
        }
        memory::learn(store, &closed, &lesson)?;
        on_the_way(&closed, &lesson)?;
    }
    resolved.try_for_each(|counting| observe(store, &counting))?;
    vectors::unshelve(store, shelf)?;
    renew_vectors(store, &texts)
}

fn clear(store: &Connection, tables: &[&str]) -> Result<(), rusqlite::Error> {
    tables.iter().try_for_each(|table| store.execute(&format!("DELETE FROM {table}"), []).map(drop))
}

fn observe(store: &Connection, counting: &Counting) -> Result<(), Fault> {
    let Counting { debate, resolved, .. } = counting;
    let at_s = seconds(store, &resolved.at)?;
    memory::resolve(store, *debate, &resolved.resolution, resolved.turned_out, at_s)
}

/// The last events of the debates that leave a lesson, in the order in which they closed: the event and the debate.
fn closings(store: &Connection) -> Result<Vec<(i64, i64)>, Fault> {
    let mut query = store.prepare(&format!("SELECT e.n, e.debate FROM {WITH_LESSON} ORDER BY e.n"))?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A debate that closed with this event, and its lesson. An event that somebody broke is `verify`'s business.
fn lesson(store: &Connection, event: i64, debate: i64) -> Result<Option<(Closed, Lesson)>, Fault> {
    let mut query = store.prepare_cached("SELECT body, hash FROM events WHERE n = ?1")?;
    let mut rows = query.query([event])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let entry = serde_json::from_slice(row.get_ref(0)?.as_bytes()?);
    let Ok(Entry { seq, at_ms, event: Event::Closed { outcome } }) = entry else { return Ok(None) };
    let receipt = Receipt::ending(seq, row.get_ref(1)?.as_str()?);
    Ok(closing::closed(store, debate, at_ms, receipt)?.zip(outcome.lesson))
}

/// Removes entries that say they are of a debate that has no lesson, and tells how many those were.
fn orphans(store: &Connection) -> Result<u64, Fault> {
    let mut query = store.prepare(&format!(
        "SELECT debate FROM knowledge
         WHERE debate IS NOT NULL AND debate NOT IN (SELECT e.debate FROM {WITH_LESSON})"
    ))?;
    let found: Vec<i64> = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut removed = 0;
    for debate in found {
        removed += u64::from(knowledge::remove(store, debate)?);
    }
    Ok(removed)
}

fn texts(store: &Connection) -> Result<BTreeMap<i64, String>, rusqlite::Error> {
    let mut query = store.prepare("SELECT n, text FROM memory")?;
    query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// The vectors of memories that have the same words as before stay.
fn renew_vectors(store: &Connection, before: &BTreeMap<i64, String>) -> Result<(), Fault> {
    let after = texts(store)?;
    let changed = before.keys().chain(after.keys()).filter(|n| before.get(n) != after.get(n));
    changed.into_iter().try_for_each(|n| vectors::renew(store, Of::Memory, *n))
}

/// All rows of the tables.
fn rows(store: &Connection, tables: &[&str]) -> Result<Vec<String>, rusqlite::Error> {
    let mut all = Vec::new();
    for table in tables {
        let mut query = store.prepare(&format!("SELECT * FROM {table}"))?;
        let columns = query.column_count();
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let values: Vec<Value> = (0..columns).map(|column| row.get(column)).collect::<Result<_, _>>()?;
            all.push(format!("{table} {values:?}"));
        }
    }
    Ok(all)
}

/// How many rows are in one of the two and not in the other; one that changed counts once.
fn differing(before: Vec<String>, after: Vec<String>) -> u64 {
    let mut counts = BTreeMap::<String, i64>::new();
    before.into_iter().for_each(|row| *counts.entry(row).or_default() += 1);
    after.into_iter().for_each(|row| *counts.entry(row).or_default() -= 1);
    let gone: i64 = counts.values().filter(|count| **count > 0).sum();
    let new: i64 = counts.values().filter(|count| **count < 0).map(|count| -count).sum();
    gone.max(new).unsigned_abs()
}
