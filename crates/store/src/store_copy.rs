//! Copying debates from one store to another.
//!
//! The logs are copied byte by byte after their chains were checked, in the order in which the debates closed, with the resolutions in
//! between: ratings and memories depend on that order. What comes from the logs is then made again. What does not is copied, too:
//! notes and imports, resolutions, which entries were forgotten, deliveries that are over, and requests of a server.

use std::collections::HashSet;

use agon_core::event::open_all;
use agon_core::provenance::PROVENANCE;
use agon_core::{Brief, Event, LogRecord};
use agon_engine::StoreError;
use serde::Serialize;

use crate::knowledge::{KnowledgeKind, NewKnowledge};
use crate::log_table::{raw_log, status_name};
use crate::sql::{SqlDatabase, SqlResult, sql_values};
use crate::store_fault::StoreFault;
use crate::{DebateStore, RebuildReport, StoreFuture, search};

/// What a copy did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CopyReport {
    /// Debates that were copied.
    pub copied: u64,
    /// Debates that were there already, with the same log.
    pub already_there: u64,
    /// Debates that were left out because a process runs them.
    pub running: Vec<String>,
    /// Debates that were refused, each with the reason.
    pub refused: Vec<(String, String)>,
    /// Notes and imports that are there now.
    pub notes: u64,
    /// What was made again from the logs.
    pub rebuilt: RebuildReport,
}

/// A debate to copy, with what belongs to it and is not in its log.
#[derive(Clone)]
struct CopiedDebate {
    id: String,
    records: Vec<LogRecord>,
    status: Option<String>,
    /// The id of its entry, if that was forgotten.
    forgotten: Option<String>,
    deliveries: Vec<EndedDelivery>,
    request: Option<(Option<String>, String, bool)>,
}

/// A delivery that arrived or was given up. One that is due stays where it is, so that it is sent once.
#[derive(Clone)]
struct EndedDelivery {
    destination: String,
    state: String,
    attempts: i64,
    last_error: Option<String>,
    created_s: i64,
    done_s: Option<i64>,
}

/// A resolution to copy, with the last event before it.
#[derive(Clone)]
struct CopiedResolution {
    debate: String,
    kind: String,
    value: String,
    note: Option<String>,
    at: String,
    turned_out: Option<String>,
    after_event: i64,
}

impl DebateStore {
    /// Copies debates, or all if no ids are given, with what belongs to them. Notes and imports are copied with all debates.
    pub async fn copy_to(&self, to: &Self, ids: &[String]) -> Result<CopyReport, StoreError> {
        self.copy_counted(to, ids, &|_, _| {}).await
    }

    /// The same. `on_debate` is told how many of how many debates have been looked at. When these are all, what comes from the logs is
    /// still to be made.
    pub async fn copy_counted(
        &self,
        to: &Self,
        ids: &[String],
        on_debate: &(dyn Fn(usize, usize) + Send + Sync),
    ) -> Result<CopyReport, StoreError> {
        let mut report = CopyReport::default();
        let wanted = self.debates_by_closing(ids)?;
        let copied_ids: HashSet<&str> = wanted.iter().map(|(id, _)| id.as_str()).collect();
        let mut resolutions = self.resolutions_to_copy(&copied_ids)?.into_iter().peekable();
        let mut new = HashSet::new();
        for (place, (id, last_event)) in wanted.iter().enumerate() {
            on_debate(place, wanted.len());
            while let Some(resolution) = resolutions.next_if(|one| one.after_event < *last_event) {
                to.add_resolution(resolution, &new).await?;
            }
            if self.copy_debate(to, id, &mut report).await? {
                new.insert(id.clone());
            }
        }
        on_debate(wanted.len(), wanted.len());
        for resolution in resolutions {
            to.add_resolution(resolution, &new).await?;
        }
        if ids.is_empty() {
            let notes = self.notes()?;
            report.notes = notes.len() as u64;
            to.knowledge_add(notes).await?;
        }
        report.rebuilt = to.rebuild().await?;
        Ok(report)
    }

    /// Copies one debate unless something speaks against it. Returns whether it is new there.
    async fn copy_debate(&self, to: &Self, id: &str, report: &mut CopyReport) -> Result<bool, StoreError> {
        if self.is_running(id)? {
            report.running.push(id.to_owned());
            return Ok(false);
        }
        let there = match to.raw_log(id) {
            Ok(there) => Some(there),
            Err(StoreError::Unknown(_)) => None,
            Err(error) => return Err(error),
        };
        let here = self.raw_log(id)?;
        match there {
            Some(there) if there == here => report.already_there += 1,
            Some(_) => {
                report.refused.push((id.to_owned(), "there is another log under this id".to_owned()));
            }
            None => match open_all(here) {
                Err(broken) => report.refused.push((id.to_owned(), broken.to_string())),
                Ok(records) => {
                    to.add_debate(self.debate_to_copy(id, records)?).await?;
                    report.copied += 1;
                    return Ok(true);
                }
            },
        }
        Ok(false)
    }

    /// The ids of debates with the numbers of their last events, by these numbers.
    fn debates_by_closing(&self, ids: &[String]) -> Result<Vec<(String, i64)>, StoreError> {
        if let Some(unknown) = ids.iter().find(|id| self.listed_debate(id).is_err()) {
            return Err(StoreError::Unknown(unknown.clone()));
        }
        let sql = "SELECT id, (SELECT coalesce(max(n), 0) FROM events WHERE debate = debates.n) AS last_event FROM debates
             ORDER BY last_event, n";
        let all: Vec<(String, i64)> =
            self.read(|db| Ok(db.read_all(sql, &[], |row| Ok((row.get(0)?, row.get(1)?)))?))?;
        Ok(all.into_iter().filter(|(id, _)| ids.is_empty() || ids.contains(id)).collect())
    }

    fn resolutions_to_copy(&self, ids: &HashSet<&str>) -> Result<Vec<CopiedResolution>, StoreError> {
        let sql = "SELECT d.id, r.kind, r.value, r.note, r.at, r.turned_out, r.after_event
             FROM resolutions AS r JOIN debates AS d ON d.n = r.debate ORDER BY r.n";
        let all = self.read(|db| {
            Ok(db.read_all(sql, &[], |row| {
                Ok(CopiedResolution {
                    debate: row.get(0)?,
                    kind: row.get(1)?,
                    value: row.get(2)?,
                    note: row.get(3)?,
                    at: row.get(4)?,
                    turned_out: row.get(5)?,
                    after_event: row.get(6)?,
                })
            })?)
        })?;
        Ok(all.into_iter().filter(|one| ids.contains(one.debate.as_str())).collect())
    }

    /// Adds a resolution of a debate that was new. A debate that was there has its own.
    fn add_resolution(&self, new: CopiedResolution, debates: &HashSet<String>) -> StoreFuture<'_, ()> {
        if !debates.contains(&new.debate) {
            return Box::pin(async { Ok(()) });
        }
        self.write(move |db| {
            let CopiedResolution { debate, kind, value, note, at, turned_out, .. } = &new;
            db.run(
                "INSERT INTO resolutions (debate, kind, value, note, at, turned_out, after_event)
                 SELECT n, ?2, ?3, ?4, ?5, ?6, (SELECT coalesce(max(n), 0) FROM events) FROM debates WHERE id = ?1",
                sql_values![debate, kind, value, note, at, turned_out],
            )?;
            Ok(())
        })
    }

    fn debate_to_copy(&self, id: &str, records: Vec<LogRecord>) -> Result<CopiedDebate, StoreError> {
        self.read(|db| {
            let forgotten = "SELECT id FROM knowledge WHERE forgotten = 1 AND debate = (SELECT n FROM debates WHERE id = ?1)";
            let deliveries = "SELECT destination, state, attempts, last_error, created_s, done_s FROM deliveries
                 WHERE debate = ?1 AND state IN ('done', 'dead') ORDER BY n";
            let request = "SELECT request_key, request_hash, stopped FROM served_debates WHERE debate = ?1";
            let status = match records.last().map(|last| &last.entry.event) {
                Some(Event::Closed { outcome }) => Some(status_name(outcome.status).to_owned()),
                _ => None,
            };
            Ok(CopiedDebate {
                id: id.to_owned(),
                records: records.clone(),
                status,
                forgotten: db.read_first(forgotten, sql_values![id], |row| row.get(0))?,
                deliveries: db.read_all(deliveries, sql_values![id], |row| {
                    Ok(EndedDelivery {
                        destination: row.get(0)?,
                        state: row.get(1)?,
                        attempts: row.get(2)?,
                        last_error: row.get(3)?,
                        created_s: row.get(4)?,
                        done_s: row.get(5)?,
                    })
                })?,
                request: db
                    .read_first(request, sql_values![id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?,
            })
        })
    }

    fn add_debate(&self, new: CopiedDebate) -> StoreFuture<'_, ()> {
        self.write(move |db| add_debate(db, &new))
    }

    /// The notes and imports, oldest first.
    fn notes(&self) -> Result<Vec<NewKnowledge>, StoreError> {
        let all = self.knowledge_list(usize::MAX)?.into_iter().rev();
        let notes = all.filter(|entry| entry.kind != KnowledgeKind::Debate);
        Ok(notes
            .map(|entry| NewKnowledge {
                kind: entry.kind,
                title: entry.title,
                text: entry.text,
                source: entry.source,
                confidence: entry.confidence,
                at: entry.at,
            })
            .collect())
    }
}

fn add_debate(db: &SqlDatabase, new: &CopiedDebate) -> Result<(), StoreFault> {
    let CopiedDebate { id, records, status, forgotten, deliveries, request } = new;
    // Somebody else may have copied it meanwhile.
    if raw_log(db, id).is_ok() {
        return Ok(());
    }
    let Some((Event::Opened { brief }, last)) =
        records.first().map(|first| &first.entry.event).zip(records.last())
    else {
        return Err(StoreFault::Failed(format!(
            "the log of debate {id} has no beginning: it cannot be copied"
        )));
    };
    let debate = insert_row(db, brief, status.as_deref(), last)?;
    for record in records {
        let sql = "INSERT INTO events (debate, seq, hash, body) VALUES (?1, ?2, ?3, ?4)";
        db.run(sql, sql_values![debate, record.entry.seq.cast_signed(), record.hash, record.body])?;
    }
    search::add_to_backlog(db, debate)?;
    search::index_debate(db, debate)?;
    if let Some(entry) = forgotten {
        let sql = "INSERT INTO knowledge (id, kind, title, text, debate, created_at, forgotten)
             VALUES (?1, 'debate', '', '', ?2, ?3, 1) ON CONFLICT (id) DO NOTHING";
        db.run(sql, sql_values![entry, debate, brief.created_at])?;
    }
    for EndedDelivery { destination, state, attempts, last_error, created_s, done_s } in deliveries {
        db.run(
            "INSERT INTO deliveries (debate, destination, state, attempts, last_error, created_s, done_s)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            sql_values![id, destination, state, attempts, last_error, created_s, done_s],
        )?;
    }
    if let Some((key, hash, stopped)) = request {
        let sql =
            "INSERT INTO served_debates (debate, request_key, request_hash, stopped) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO NOTHING";
        db.run(sql, sql_values![id, key, hash, stopped])?;
    }
    Ok(())
}

/// Inserts a debate that nobody runs, and returns its row.
fn insert_row(db: &SqlDatabase, brief: &Brief, status: Option<&str>, last: &LogRecord) -> SqlResult<i64> {
    let parent = brief.parent.as_ref().map(|parent| parent.id.as_str());
    let provenance = brief.part(PROVENANCE).map(|file| file.text.as_str());
    let Brief { id, protocol, question, created_at, .. } = brief;
    match db {
        SqlDatabase::Sqlite(_) => db.insert(
            "INSERT INTO debates (id, protocol, question, created_at, parent, provenance, status)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING n",
            sql_values![id, protocol, question, created_at, parent, provenance, status],
        ),
        SqlDatabase::Postgres(_) => {
            let next_seq = last.entry.seq.cast_signed() + 1;
            db.insert(
                "INSERT INTO debates (id, protocol, question, created_at, parent, provenance, status, head, next_seq, epoch)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0) RETURNING n",
                sql_values![id, protocol, question, created_at, parent, provenance, status, last.hash, next_seq],
            )
        }
    }
}
