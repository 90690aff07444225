//! Results that are to go back to where their debates came from.
//!
//! A delivery is bound before its debate is opened and becomes due in the transaction that closes it, so that no process
//! that is killed in between loses it. Who sends it claims it first; a claim lapses, so that the claim of a process that was
//! killed does too. What is sent may therefore arrive twice, but never not at all. All times are the caller's.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;

use crate::place::{Fault, refused};

/// How long a claim holds.
pub(crate) const CLAIM_S: i64 = 60;

/// How long a delivery waits for its debate to be opened.
const UNOPENED_S: i64 = 24 * 3_600;

/// What is to be sent by ?1.
const DUE: &str = "state IN ('due', 'sending') AND next_s <= ?1";

/// What was bound before ?2 to a debate that was not opened by ?1.
const UNOPENED: &str = "state = 'waiting' AND created_s < min(?1, ?2)
    AND NOT EXISTS (SELECT 1 FROM debates WHERE id = deliveries.debate)";

/// A delivery that is to be bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// Where to, in the words of who will deliver it.
    pub destination: String,
    /// When it was bound, in seconds since 1970.
    pub created_s: i64,
}

/// How far a delivery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryState {
    /// For the debate to close.
    Waiting,
    /// To be sent.
    Due,
    /// Somebody has claimed it.
    Sending,
    /// It arrived.
    Done,
    /// It was given up.
    Dead,
}

/// A delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Delivery {
    /// Its number.
    pub id: i64,
    /// The debate's id.
    pub debate: String,
    /// Where to.
    pub destination: String,
    /// How far it is.
    pub state: DeliveryState,
    /// How often it was claimed.
    pub attempts: u32,
    /// When it is due next; while it is being sent, when the claim lapses. In seconds since 1970, 0 for at once.
    pub next_s: i64,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// In seconds since 1970.
    pub created_s: i64,
    /// In seconds since 1970.
    pub done_s: Option<i64>,
}

/// What to do after an attempt that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Try again from then on, in seconds since 1970.
    At(i64),
    /// Give it up.
    Dead,
}

/// Binds deliveries to a debate, before it is opened. Those of one that is over already are due at once.
pub(crate) fn bind(store: &Connection, debate: &str, new: &[NewDelivery]) -> Result<Vec<i64>, Fault> {
    let mut insert = store.prepare_cached(
        "INSERT INTO deliveries (debate, destination, state, created_s) VALUES (?1, ?2,
             iif(EXISTS (SELECT 1 FROM debates WHERE id = ?1 AND status IS NOT NULL), 'due', 'waiting'), ?3)",
    )?;
    let mut ids = Vec::with_capacity(new.len());
    for NewDelivery { destination, created_s } in new {
        ids.push(insert.insert(params![debate, destination, created_s])?);
    }
    Ok(ids)
}

/// Makes the deliveries of a debate due that has closed.
pub(crate) fn wake(store: &Connection, debate: &str) -> Result<(), Fault> {
    store
        .prepare_cached(
            "UPDATE deliveries SET state = 'due', next_s = 0 WHERE debate = ?1 AND state = 'waiting'",
        )?
        .execute([debate])?;
    Ok(())
}

/// Whether there is anything to claim or to drop: to look costs no write.
pub(crate) fn waits(store: &Connection, now_s: i64) -> Result<bool, Fault> {
    let mut query = store.prepare_cached(&format!(
        "SELECT EXISTS (SELECT 1 FROM deliveries WHERE {DUE}) OR EXISTS (SELECT 1 FROM deliveries WHERE {UNOPENED})"
    ))?;
    Ok(query.query_row([now_s, now_s.saturating_sub(UNOPENED_S)], |row| row.get(0))?)
}

/// Claims what is to be sent now, the longest due first. Those whose debates were never opened are dropped.
pub(crate) fn due(store: &Connection, now_s: i64, limit: usize) -> Result<Vec<Delivery>, Fault> {
    let unopened_s = now_s.saturating_sub(UNOPENED_S);
    store
        .prepare_cached(&format!("DELETE FROM deliveries WHERE {UNOPENED}"))?
        .execute([now_s, unopened_s])?;
    let mut query =
        store.prepare_cached(&format!("SELECT n FROM deliveries WHERE {DUE} ORDER BY next_s, n LIMIT ?2"))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let due: Vec<i64> = query.query_map([now_s, limit], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut claim = store.prepare_cached(
        "UPDATE deliveries SET state = 'sending', attempts = attempts + 1, next_s = ?2 WHERE n = ?1",
    )?;
    due.into_iter()
        .map(|n| {
            claim.execute([n, now_s.saturating_add(CLAIM_S)])?;
            get(store, n)
        })
        .collect()
}

/// Claims this one, if it is to be sent now.
pub(crate) fn claim(store: &Connection, id: i64, now_s: i64) -> Result<Option<Delivery>, Fault> {
    let mut query = store
        .prepare_cached(&format!("SELECT EXISTS (SELECT 1 FROM deliveries WHERE n = ?2 AND ({DUE}))"))?;
    if !query.query_row([now_s, id], |row| row.get(0))? {
        return Ok(None);
    }
    store
        .prepare_cached(
            "UPDATE deliveries SET state = 'sending', attempts = attempts + 1, next_s = ?2 WHERE n = ?1",
        )?
        .execute([id, now_s.saturating_add(CLAIM_S)])?;
    get(store, id).map(Some)
}

/// It arrived.
pub(crate) fn done(store: &Connection, id: i64, now_s: i64) -> Result<(), Fault> {
    get(store, id)?;
    store
        .prepare_cached("UPDATE deliveries SET state = 'done', done_s = ?2, last_error = NULL WHERE n = ?1")?
        .execute([id, now_s])?;
    Ok(())
}

/// It did not arrive. Nothing changes if it has arrived since, sent by who claimed it later.
pub(crate) fn failed(store: &Connection, id: i64, error: &str, next: Next) -> Result<(), Fault> {
    get(store, id)?;
    let (state, next_s) = match next {
        Next::At(next_s) => (DeliveryState::Due, next_s),
        Next::Dead => (DeliveryState::Dead, 0),
    };
    store
        .prepare_cached(
            "UPDATE deliveries SET state = ?2, next_s = ?3, last_error = ?4 WHERE n = ?1 AND state = 'sending'",
        )?
        .execute(params![id, state.name(), next_s, error])?;
    Ok(())
}

/// Has one that was given up, or that waits for its next attempt, tried again at once and with all its attempts.
pub(crate) fn retry(store: &Connection, id: i64) -> Result<Delivery, Fault> {
    let delivery = get(store, id)?;
    let why_not = match delivery.state {
        DeliveryState::Dead | DeliveryState::Due => None,
        DeliveryState::Waiting => Some("its debate is not over: wait for it"),
        DeliveryState::Sending => Some("it is being sent: wait a minute"),
        DeliveryState::Done => Some("it has arrived"),
    };
    if let Some(why_not) = why_not {
        return Err(refused(format!("delivery {id} cannot be tried again: {why_not}")));
    }
    store
        .prepare_cached("UPDATE deliveries SET state = 'due', next_s = 0, attempts = 0 WHERE n = ?1")?
        .execute([id])?;
    get(store, id)
}

/// The deliveries, or those in one state, newest first.
pub(crate) fn list(store: &Connection, state: Option<DeliveryState>) -> Result<Vec<Delivery>, Fault> {
    let mut query = store.prepare_cached(&format!(
        "SELECT {DELIVERY} FROM deliveries WHERE ?1 IS NULL OR state = ?1 ORDER BY n DESC"
    ))?;
    let rows = query.query_map([state.map(DeliveryState::name)], delivery)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

const DELIVERY: &str = "n, debate, destination, state, attempts, next_s, last_error, created_s, done_s";

fn delivery(row: &Row<'_>) -> Result<Delivery, rusqlite::Error> {
    Ok(Delivery {
        id: row.get(0)?,
        debate: row.get(1)?,
        destination: row.get(2)?,
        state: row.get(3)?,
        attempts: row.get(4)?,
        next_s: row.get(5)?,
        last_error: row.get(6)?,
        created_s: row.get(7)?,
        done_s: row.get(8)?,
    })
}

fn get(store: &Connection, id: i64) -> Result<Delivery, Fault> {
    let mut query = store.prepare_cached(&format!("SELECT {DELIVERY} FROM deliveries WHERE n = ?1"))?;
    let unknown =
        || refused(format!("there is no delivery {id}: `agon doctor` shows those that were given up"));
    query.query_row([id], delivery).optional()?.ok_or_else(unknown)
}

impl DeliveryState {
    const ALL: [Self; 5] = [Self::Waiting, Self::Due, Self::Sending, Self::Done, Self::Dead];

    fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Due => "due",
            Self::Sending => "sending",
            Self::Done => "done",
            Self::Dead => "dead",
        }
    }
}

impl FromSql for DeliveryState {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = value.as_str()?;
        Self::ALL.into_iter().find(|state| state.name() == name).ok_or(FromSqlError::InvalidType)
    }
}
