//! Makes everything that comes from debates again from their logs.
//!
//! The knowledge entry of a debate depends on that debate alone. Memories and ratings depend on every debate that closed
//! before, and memories also on the resolutions in between, so they are made again in the order in which all of it was
//! committed. Memories observe only the resolution that counts, so a corrected resolution also rebuilds the memories.

use std::collections::BTreeMap;

use agon_core::event::LogEntry;
use agon_core::{DebateLesson, Event};
use serde::Serialize;

use crate::closed_debates::{ClosedDebate, LogReceipt, unix_seconds};
use crate::memories::ForgottenMemories;
use crate::resolutions::{self, ObservedResolution};
use crate::sql::{SqlDatabase, SqlResult, sql_values};
use crate::store_fault::StoreFault;
use crate::vectors::{self, VectorSource};
use crate::{DebateStore, StoreFuture, knowledge, memories, ratings_table};

/// What a rebuild did: how many rows were not as the logs say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RebuildReport {
    /// Debates with a lesson.
    pub debates: u64,
    /// Knowledge entries of debates that were missing, changed, or should not have been there.
    pub knowledge: u64,
    /// The same for memories and their observations.
    pub memories: u64,
    /// The same for ratings, their history, and ballots.
    pub ratings: u64,
}

const MEMORY_TABLES: [&str; 2] = ["memories", "memory_observations"];
const RATING_TABLES: [&str; 3] = ["ratings", "rating_history", "ballots"];

/// Closed debates, each with its last event, that may have a lesson. In a large store most debates may have none, and
/// their outcomes need not be parsed.
const DEBATES_WITH_LESSON: &str = "debates AS d JOIN events AS e
    ON e.debate = d.n AND e.seq = (SELECT max(seq) FROM events WHERE debate = d.n)
        AND d.status IS NOT NULL AND e.body LIKE '%\"lesson\"%'";

impl DebateStore {
    /// Makes the knowledge, memories and ratings of all debates again from the logs, and reports what differed.
    pub fn rebuild(&self) -> StoreFuture<'_, RebuildReport> {
        self.write(rebuild)
    }
}

fn rebuild(db: &SqlDatabase) -> Result<RebuildReport, StoreFault> {
    let (memories, ratings) = (all_rows(db, &MEMORY_TABLES)?, all_rows(db, &RATING_TABLES)?);
    clear(db, &RATING_TABLES)?;
    let mut report = RebuildReport { knowledge: remove_orphans(db)?, ..RebuildReport::default() };
    replay_memories(db, |closed, lesson| {
        report.debates += 1;
        report.knowledge += u64::from(knowledge::record_decision(db, closed, lesson)?);
        ratings_table::record_game(db, closed, lesson)
    })?;
    report.memories = count_differences(memories, all_rows(db, &MEMORY_TABLES)?);
    report.ratings = count_differences(ratings, all_rows(db, &RATING_TABLES)?);
    Ok(report)
}

/// Makes the memories again, since a single observation cannot be undone.
pub(crate) fn rebuild_memories(db: &SqlDatabase) -> Result<(), StoreFault> {
    replay_memories(db, |_, _| Ok(()))
}

/// Makes the memories again, and calls `on_debate` for every debate on the way.
fn replay_memories(
    db: &SqlDatabase,
    mut on_debate: impl FnMut(&ClosedDebate, &DebateLesson) -> Result<(), StoreFault>,
) -> Result<(), StoreFault> {
    let old_texts = memory_texts(db)?;
    let vector_progress = vectors::set_memory_vectors_aside(db)?;
    let mut forgotten = ForgottenMemories::read(db)?;
    clear(db, &MEMORY_TABLES)?;
    let mut resolutions = resolutions::observed(db)?.into_iter().peekable();
    let sql = format!("SELECT e.n, e.debate FROM {DEBATES_WITH_LESSON} ORDER BY e.n");
    let closings: Vec<(i64, i64)> = db.read_all(&sql, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (event, debate) in closings {
        let Some((closed, lesson)) = read_closing(db, event, debate)? else { continue };
        while let Some(resolution) = resolutions.next_if(|resolution| resolution.after_event < event) {
            observe(db, &resolution)?;
        }
        memories::record_positions(db, &closed, &lesson, &mut forgotten)?;
        on_debate(&closed, &lesson)?;
    }
    resolutions.try_for_each(|resolution| observe(db, &resolution))?;
    vectors::restore_memory_vectors(db, vector_progress)?;
    renew_changed_vectors(db, &old_texts)
}

fn clear(db: &SqlDatabase, tables: &[&str]) -> SqlResult<()> {
    tables.iter().try_for_each(|table| db.run(&format!("DELETE FROM {table}"), &[]).map(drop))
}

fn observe(db: &SqlDatabase, observed: &ObservedResolution) -> Result<(), StoreFault> {
    let ObservedResolution { debate, stored, .. } = observed;
    let at_s = unix_seconds(&stored.at);
    memories::observe_resolution(db, *debate, &stored.resolution, stored.turned_out, at_s)
}

/// The debate that closed with this event, and its lesson. `agon verify` reports events that cannot be read.
fn read_closing(
    db: &SqlDatabase,
    event: i64,
    debate: i64,
) -> Result<Option<(ClosedDebate, DebateLesson)>, StoreFault> {
    let closing = db.read_first("SELECT body, hash FROM events WHERE n = ?1", sql_values![event], |row| {
        Ok((serde_json::from_slice(row.bytes(0)?), row.get::<String>(1)?))
    })?;
    let Some((Ok(LogEntry { seq, at_ms, event: Event::Closed { outcome } }), hash)) = closing else {
        return Ok(None);
    };
    let receipt = LogReceipt::new(seq, &hash);
    Ok(ClosedDebate::read(db, debate, at_ms, receipt)?.zip(outcome.lesson))
}

/// Removes entries that claim to come from a debate without a lesson, and returns how many there were.
fn remove_orphans(db: &SqlDatabase) -> Result<u64, StoreFault> {
    let sql = format!(
        "SELECT debate FROM knowledge
         WHERE debate IS NOT NULL AND debate NOT IN (SELECT e.debate FROM {DEBATES_WITH_LESSON})"
    );
    let mut removed = 0;
    for debate in db.read_all(&sql, &[], |row| row.get(0))? {
        removed += u64::from(knowledge::remove_of_debate(db, debate)?);
    }
    Ok(removed)
}

fn memory_texts(db: &SqlDatabase) -> SqlResult<BTreeMap<i64, String>> {
    let texts = db.read_all("SELECT n, text FROM memories", &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(texts.into_iter().collect())
}

/// Renews the vectors of the memories whose texts differ. The others keep theirs.
fn renew_changed_vectors(db: &SqlDatabase, before: &BTreeMap<i64, String>) -> Result<(), StoreFault> {
    let after = memory_texts(db)?;
    let mut changed = before.keys().chain(after.keys()).filter(|n| before.get(n) != after.get(n));
    changed.try_for_each(|n| vectors::renew(db, VectorSource::Memory, *n))
}

fn all_rows(db: &SqlDatabase, tables: &[&str]) -> SqlResult<Vec<String>> {
    let mut all = Vec::new();
    for table in tables {
        db.for_each(&format!("SELECT * FROM {table}"), &[], |row| {
            all.push(format!("{table} {}", row.shown()?));
            Ok(())
        })?;
    }
    Ok(all)
}

/// How many rows are in only one of the two. A changed row counts once.
fn count_differences(before: Vec<String>, after: Vec<String>) -> u64 {
    let mut counts = BTreeMap::<String, i64>::new();
    before.into_iter().for_each(|row| *counts.entry(row).or_default() += 1);
    after.into_iter().for_each(|row| *counts.entry(row).or_default() -= 1);
    let gone: i64 = counts.values().filter(|count| **count > 0).sum();
    let new: i64 = counts.values().filter(|count| **count < 0).map(|count| -count).sum();
    gone.max(new).unsigned_abs()
}
