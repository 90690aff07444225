//! Resolutions: what became known after a debate. A person says which proposal was right, or whether the decision was.

use std::collections::BTreeMap;

use agon_core::event::LogEntry;
use agon_core::{DebateLesson, Event};
use agon_engine::StoreError;
use agon_measure::calibration::{DebateResolution, OutcomeTruth};
use serde::Serialize;

use crate::closed_debates::unix_seconds;
use crate::log_table::debate_row;
use crate::sql::{SqlDatabase, SqlResult, SqlRow, sql_limit, sql_values};
use crate::store_fault::{StoreFault, refused, unknown_debate};
use crate::{DebateStore, StoreFuture, memories, rebuild};

/// A stored resolution. All resolutions of a debate are kept; the last one counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredResolution {
    /// What became known.
    #[serde(flatten)]
    pub resolution: DebateResolution,
    /// The reason or the source.
    pub note: Option<String>,
    /// When it was said: RFC 3339, UTC.
    pub at: String,
    /// Whether the decision was right or wrong; `None` if nothing was decided.
    pub turned_out: Option<OutcomeTruth>,
}

impl DebateStore {
    /// Stores how a debate turned out and updates its agents' memories. It replaces an earlier resolution; saying the
    /// same again changes nothing. Refused for a debate that is not over and for a label without a proposal.
    ///
    /// `turned_out` says whether the decision was right for a debate without a lesson, as read from its log. A lesson
    /// takes precedence.
    pub fn resolve_debate(
        &self,
        debate: &str,
        resolution: DebateResolution,
        note: Option<String>,
        at: &str,
        turned_out: Option<OutcomeTruth>,
    ) -> StoreFuture<'_, StoredResolution> {
        let id = debate.to_owned();
        let new = StoredResolution { resolution, note, at: at.to_owned(), turned_out };
        self.write(move |db| resolve(db, &id, new.clone()))
    }

    /// The resolved debates with the last resolution of each, most recently resolved first.
    pub fn latest_resolutions(&self, limit: usize) -> Result<Vec<(String, StoredResolution)>, StoreError> {
        let sql = format!(
            "SELECT {RESOLUTION_COLUMNS}, debates.id FROM resolutions JOIN debates ON debates.n = resolutions.debate
             WHERE resolutions.n IN (SELECT max(n) FROM resolutions GROUP BY debate)
             ORDER BY resolutions.n DESC LIMIT ?1"
        );
        self.read(|db| {
            Ok(db.read_all(&sql, sql_values![sql_limit(limit)], |row| {
                Ok((row.get(5)?, read_resolution(row)?))
            })?)
        })
    }

    /// All resolutions of a debate, in order. The last one counts.
    pub fn resolutions(&self, debate: &str) -> Result<Vec<StoredResolution>, StoreError> {
        let sql = format!("SELECT {RESOLUTION_COLUMNS} FROM resolutions WHERE debate = ?1 ORDER BY n");
        self.read(|db| Ok(db.read_all(&sql, sql_values![debate_row(db, debate)?], read_resolution)?))
    }
}

fn resolve(db: &SqlDatabase, id: &str, mut new: StoredResolution) -> Result<StoredResolution, StoreFault> {
    let (debate, lesson) = read_lesson(db, id)?;
    if let Some(lesson) = lesson {
        new.turned_out = truth_of_decision(id, &lesson, &new.resolution)?;
    }
    match last(db, debate)? {
        // The same again, with a new reason at most: there is nothing new for the memories.
        Some(last) if last.resolution == new.resolution => {
            if new.note.is_none() || new.note == last.note {
                return Ok(last);
            }
            insert(db, debate, &new)?;
        }
        Some(_) => {
            insert(db, debate, &new)?;
            rebuild::rebuild_memories(db)?;
        }
        None => {
            insert(db, debate, &new)?;
            let at_s = unix_seconds(&new.at);
            memories::observe_resolution(db, debate, &new.resolution, new.turned_out, at_s)?;
        }
    }
    Ok(new)
}

/// Whether the decision was right, by the debate's lesson.
fn truth_of_decision(
    id: &str,
    lesson: &DebateLesson,
    resolution: &DebateResolution,
) -> Result<Option<OutcomeTruth>, StoreFault> {
    let labels = lesson.decision.as_ref().map_or(&[][..], |decision| &decision.labels);
    let proposals = lesson.parts.iter().filter(|part| part.position.is_some());
    let known: Vec<&str> = proposals.map(|part| part.label.as_str()).collect();
    match resolution {
        DebateResolution::Winner(_) if known.is_empty() => {
            Err(refused(format!("debate {id} has no proposal that could have been right")))
        }
        DebateResolution::Winner(winner) if !known.contains(&winner.as_str()) => {
            let known = known.join(", ");
            Err(refused(format!("debate {id} has no proposal {winner:?}: say which of {known} was right")))
        }
        DebateResolution::Truth(_) if lesson.decision.is_none() => Err(refused(format!(
            "debate {id} decided nothing that could be right or wrong: say which proposal was right"
        ))),
        DebateResolution::Winner(_) | DebateResolution::Truth(_) => Ok(resolution.of_decision(labels)),
    }
}

/// The row of a closed debate, and its lesson if it has one.
fn read_lesson(db: &SqlDatabase, id: &str) -> Result<(i64, Option<DebateLesson>), StoreFault> {
    let sql = "SELECT n, status IS NOT NULL FROM debates WHERE id = ?1";
    let row = db.read_first(sql, sql_values![id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (n, closed): (i64, bool) = row.ok_or_else(|| unknown_debate(id))?;
    if !closed {
        return Err(refused(format!("debate {id} is not over: resolve it when it is")));
    }
    let sql = "SELECT body FROM events WHERE debate = ?1 ORDER BY seq DESC LIMIT 1";
    let body: Option<String> = db.read_first(sql, sql_values![n], |row| row.get(0))?;
    match serde_json::from_str::<LogEntry>(&body.unwrap_or_default()).map(|entry| entry.event) {
        Ok(Event::Closed { outcome }) => Ok((n, outcome.lesson)),
        _ => Err(StoreFault::Failed(format!(
            "the end of debate {id} cannot be read: `agon verify {id}` says why"
        ))),
    }
}

fn insert(db: &SqlDatabase, debate: i64, resolution: &StoredResolution) -> SqlResult<()> {
    let StoredResolution { resolution, note, at, turned_out } = resolution;
    let (kind, value) = match resolution {
        DebateResolution::Winner(label) => ("winner", label.as_str()),
        DebateResolution::Truth(truth) => ("truth", truth.name()),
    };
    db.run(
        "INSERT INTO resolutions (debate, kind, value, note, at, turned_out, after_event)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, (SELECT coalesce(max(n), 0) FROM events))",
        sql_values![debate, kind, value, note, at, turned_out.map(OutcomeTruth::name)],
    )?;
    Ok(())
}

/// The columns that [`read_resolution`] reads, in its order.
const RESOLUTION_COLUMNS: &str = "kind, value, note, at, turned_out";

fn read_resolution(row: &SqlRow<'_>) -> SqlResult<StoredResolution> {
    let turned_out: Option<String> = row.get(4)?;
    Ok(StoredResolution {
        resolution: resolution_from_columns(row.text(0)?, row.get(1)?),
        note: row.get(2)?,
        at: row.get(3)?,
        turned_out: turned_out.as_deref().and_then(OutcomeTruth::from_name),
    })
}

/// A resolution from the columns `kind` and `value`.
pub(crate) fn resolution_from_columns(kind: &str, value: String) -> DebateResolution {
    match OutcomeTruth::from_name(&value).filter(|_| kind == "truth") {
        Some(truth) => DebateResolution::Truth(truth),
        None => DebateResolution::Winner(value),
    }
}

/// A debate's last resolution, the one that counts.
pub(crate) fn last(db: &SqlDatabase, debate: i64) -> SqlResult<Option<StoredResolution>> {
    let sql =
        format!("SELECT {RESOLUTION_COLUMNS} FROM resolutions WHERE debate = ?1 ORDER BY n DESC LIMIT 1");
    db.read_first(&sql, sql_values![debate], read_resolution)
}

/// The resolution that a debate's memories observe.
#[derive(Debug)]
pub(crate) struct ObservedResolution {
    n: i64,
    /// The last event that was committed before it.
    pub(crate) after_event: i64,
    /// The debate's row.
    pub(crate) debate: i64,
    pub(crate) stored: StoredResolution,
}

/// The resolutions that memories observe, in order. For each debate this is its last resolution; if that was repeated with
/// new notes, the first time it was said.
pub(crate) fn observed(db: &SqlDatabase) -> SqlResult<Vec<ObservedResolution>> {
    let sql = format!("SELECT {RESOLUTION_COLUMNS}, n, after_event, debate FROM resolutions ORDER BY n");
    let all = db.read_all(&sql, &[], |row| {
        let (n, after_event, debate) = (row.get(5)?, row.get(6)?, row.get(7)?);
        Ok(ObservedResolution { n, after_event, debate, stored: read_resolution(row)? })
    })?;
    let mut last: BTreeMap<i64, ObservedResolution> = BTreeMap::new();
    for one in all {
        if last.get(&one.debate).is_none_or(|known| known.stored.resolution != one.stored.resolution) {
            last.insert(one.debate, one);
        }
    }
    let mut observed: Vec<ObservedResolution> = last.into_values().collect();
    observed.sort_by_key(|one| one.n);
    Ok(observed)
}
