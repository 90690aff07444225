//! What became known after a debate: a person says which proposal was right, or whether the decision was.

use std::collections::BTreeMap;

use agon_core::event::Entry;
use agon_core::{Event, Lesson};
use agon_engine::StoreError;
use agon_evidence::calibration::{Resolution, Truth};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;

use crate::closing::seconds;
use crate::place::{Fault, refused};
use crate::{memory, rebuild};

/// A resolution as it is kept. All of a debate's are; the last one counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resolved {
    /// What became known.
    #[serde(flatten)]
    pub resolution: Resolution,
    /// Why, or from where.
    pub note: Option<String>,
    /// When it was said: RFC 3339, UTC.
    pub at: String,
    /// How the decision turned out by it; `None` where nothing was decided.
    pub turned_out: Option<Truth>,
}

/// By what it is told how a decision turned out.
#[derive(Debug, Clone, Copy)]
pub(crate) enum By {
    /// By the labels in the debate's lesson.
    Lesson,
    /// By the positions in its log, which the caller has read; a lesson comes before.
    Positions(Option<Truth>),
}

/// Keeps a resolution and has the debate's memories observe it, in the place of the one before. What was said already is not
/// kept again; another reason for it is, but there is nothing new to observe.
pub(crate) fn resolve(
    store: &Connection,
    id: &str,
    resolution: &Resolution,
    note: Option<&str>,
    at: &str,
    by: By,
) -> Result<Resolved, Fault> {
    let (debate, lesson) = lesson(store, id)?;
    let turned_out = match (&lesson, by) {
        (Some(lesson), _) => of_lesson(id, lesson, resolution)?,
        (None, By::Positions(turned_out)) => turned_out,
        (None, By::Lesson) => {
            let why = format!("debate {id} leaves nothing that could be resolved: its protocol has no votes");
            return Err(refused(why));
        }
    };
    let resolved = Resolved {
        resolution: resolution.clone(),
        note: note.map(str::to_owned),
        at: at.to_owned(),
        turned_out,
    };
    match last(store, debate)? {
        Some(last) if last.resolution == *resolution => {
            if note.is_none() || note == last.note.as_deref() {
                return Ok(last);
            }
            insert(store, debate, &resolved)?;
        }
        Some(_) => {
            insert(store, debate, &resolved)?;
            rebuild::memories(store)?;
        }
        None => {
            insert(store, debate, &resolved)?;
            memory::resolve(store, debate, resolution, turned_out, seconds(store, at)?)?;
        }
    }
    Ok(resolved)
}

/// How the decision turned out, by what the debate left behind.
fn of_lesson(id: &str, lesson: &Lesson, resolution: &Resolution) -> Result<Option<Truth>, Fault> {
    let labels = lesson.decision.as_ref().map_or(&[][..], |decision| &decision.labels);
    let proposals = lesson.parts.iter().filter(|part| part.position.is_some());
    let known: Vec<&str> = proposals.map(|part| part.label.as_str()).collect();
    match resolution {
        Resolution::Winner(_) if known.is_empty() => {
            return Err(refused(format!("debate {id} has no proposal that could have been right")));
        }
        Resolution::Winner(winner) if !known.contains(&winner.as_str()) => {
            let known = known.join(", ");
            return Err(refused(format!(
                "debate {id} has no proposal {winner:?}: say which of {known} was right"
            )));
        }
        Resolution::Truth(_) if lesson.decision.is_none() => {
            return Err(refused(format!(
                "debate {id} decided nothing that could be right or wrong: say which proposal was right"
            )));
        }
        Resolution::Winner(_) | Resolution::Truth(_) => {}
    }
    Ok(resolution.of_decision(labels))
}

/// The debate's number and its lesson, if its protocol leaves one.
fn lesson(store: &Connection, id: &str) -> Result<(i64, Option<Lesson>), Fault> {
    let mut query = store.prepare_cached("SELECT n, status IS NOT NULL FROM debates WHERE id = ?1")?;
    let row = query.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let (n, over): (i64, bool) = row.ok_or_else(|| StoreError::Unknown(id.to_owned()))?;
    if !over {
        return Err(refused(format!("debate {id} is not over: resolve it when it is")));
    }
    let mut last =
        store.prepare_cached("SELECT body FROM events WHERE debate = ?1 ORDER BY seq DESC LIMIT 1")?;
    let body: String = last.query_row([n], |row| row.get(0))?;
    match serde_json::from_str::<Entry>(&body).map(|entry| entry.event) {
        Ok(Event::Closed { outcome }) => Ok((n, outcome.lesson)),
        _ => Err(Fault::Odd(format!("the end of debate {id} cannot be read: `agon verify {id}` says why"))),
    }
}

fn insert(store: &Connection, debate: i64, resolved: &Resolved) -> Result<(), Fault> {
    let (kind, value) = match &resolved.resolution {
        Resolution::Winner(label) => ("winner", label.as_str()),
        Resolution::Truth(truth) => ("truth", truth.name()),
    };
    let Resolved { note, at, turned_out, .. } = resolved;
    store
        .prepare_cached(
            "INSERT INTO resolutions (debate, kind, value, note, at, turned_out, after_event)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, (SELECT coalesce(max(n), 0) FROM events))",
        )?
        .execute(params![debate, kind, value, note, at, turned_out.map(Truth::name)])?;
    Ok(())
}

/// The columns that [`read`] reads, in its order.
pub(crate) const RESOLVED: &str = "kind, value, note, at, turned_out";

/// Reads the columns [`RESOLVED`].
pub(crate) fn read(row: &Row<'_>) -> Result<Resolved, rusqlite::Error> {
    let turned_out: Option<String> = row.get(4)?;
    Ok(Resolved {
        resolution: resolution(row.get_ref(0)?.as_str()?, row.get(1)?),
        note: row.get(2)?,
        at: row.get(3)?,
        turned_out: turned_out.as_deref().and_then(Truth::named),
    })
}

/// A resolution from its columns.
pub(crate) fn resolution(kind: &str, value: String) -> Resolution {
    match Truth::named(&value).filter(|_| kind == "truth") {
        Some(truth) => Resolution::Truth(truth),
        None => Resolution::Winner(value),
    }
}

/// The resolutions of a debate, in order.
pub(crate) fn list(store: &Connection, id: &str) -> Result<Vec<Resolved>, Fault> {
    let mut debate = store.prepare_cached("SELECT n FROM debates WHERE id = ?1")?;
    let n: Option<i64> = debate.query_row([id], |row| row.get(0)).optional()?;
    let n = n.ok_or_else(|| StoreError::Unknown(id.to_owned()))?;
    let mut query =
        store.prepare_cached(&format!("SELECT {RESOLVED} FROM resolutions WHERE debate = ?1 ORDER BY n"))?;
    Ok(query.query_map([n], read)?.collect::<Result<_, _>>()?)
}

/// The debates that are resolved, by the last word on each, those that were resolved last first.
pub(crate) fn latest(store: &Connection, limit: usize) -> Result<Vec<(String, Resolved)>, Fault> {
    let mut query = store.prepare_cached(&format!(
        "SELECT {RESOLVED}, debates.id FROM resolutions JOIN debates ON debates.n = resolutions.debate
         WHERE resolutions.n IN (SELECT max(n) FROM resolutions GROUP BY debate)
         ORDER BY resolutions.n DESC LIMIT ?1"
    ))?;
    let rows =
        query.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| Ok((row.get(5)?, read(row)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The resolution of a debate that its memories observe.
#[derive(Debug)]
pub(crate) struct Counting {
    /// The last event that was committed before it.
    pub(crate) after_event: i64,
    /// The debate's number.
    pub(crate) debate: i64,
    /// What was said.
    pub(crate) resolved: Resolved,
}

/// The resolutions that count, in order: of each debate its last word, as it was said before it was only repeated.
pub(crate) fn counting(store: &Connection) -> Result<Vec<Counting>, Fault> {
    let mut query =
        store.prepare(&format!("SELECT {RESOLVED}, n, after_event, debate FROM resolutions ORDER BY n"))?;
    let mut rows = query.query([])?;
    let mut last: BTreeMap<i64, (i64, Counting)> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (n, after_event, debate, resolved) = (row.get(5)?, row.get(6)?, row.get(7)?, read(row)?);
        if last.get(&debate).is_none_or(|(_, known)| known.resolved.resolution != resolved.resolution) {
            last.insert(debate, (n, Counting { after_event, debate, resolved }));
        }
    }
    let mut counting: Vec<(i64, Counting)> = last.into_values().collect();
    counting.sort_by_key(|(n, _)| *n);
    Ok(counting.into_iter().map(|(_, counting)| counting).collect())
}

/// The one that counts.
pub(crate) fn last(store: &Connection, debate: i64) -> Result<Option<Resolved>, rusqlite::Error> {
    store
        .prepare_cached(&format!(
            "SELECT {RESOLVED} FROM resolutions WHERE debate = ?1 ORDER BY n DESC LIMIT 1"
        ))?
        .query_row([debate], read)
        .optional()
}
