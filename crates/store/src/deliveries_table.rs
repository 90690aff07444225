//! Deliveries: results that go back to where their debates came from.
//!
//! A delivery is bound before its debate is opened and becomes due in the transaction that closes the debate, so no killed
//! process loses it. A sender claims it first. Claims lapse, including those of a killed process. A result may therefore
//! arrive twice, but it is never lost. The caller supplies all times.

use agon_engine::StoreError;
use serde::Serialize;

use crate::sql::{SqlDatabase, SqlResult, SqlRow, sql_limit, sql_values, stored_by_name};
use crate::store_fault::{StoreFault, refused};
use crate::{DebateStore, StoreFuture};

/// How long a claim holds.
const CLAIM_S: i64 = 60;

/// How long a delivery waits for its debate to be opened.
const UNOPENED_MAX_S: i64 = 24 * 3_600;

/// Deliveries to send at time ?1.
const IS_DUE: &str = "state IN ('due', 'sending') AND next_s <= ?1";

/// Deliveries bound before time ?1 to a debate that is not open.
const IS_UNOPENED: &str = "state = 'waiting' AND created_s < ?1
    AND NOT EXISTS (SELECT 1 FROM debates WHERE id = deliveries.debate)";

/// A delivery to bind to a debate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// Where it goes, in the sender's own format.
    pub destination: String,
    /// When it was bound, in seconds since 1970.
    pub created_s: i64,
}

/// How far a delivery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryState {
    /// It waits for its debate to close.
    Waiting,
    /// It is to be sent.
    Due,
    /// A sender has claimed it.
    Sending,
    /// It arrived.
    Done,
    /// It was given up.
    Dead,
}

/// A delivery as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredDelivery {
    /// Its number.
    pub id: i64,
    /// The debate's id.
    pub debate: String,
    /// Where it goes.
    pub destination: String,
    /// How far it is.
    pub state: DeliveryState,
    /// How often it was claimed.
    pub attempts: u32,
    /// When it is due next, or, while it is being sent, when the claim lapses. In seconds since 1970; 0 means at once.
    pub next_s: i64,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// When it was bound, in seconds since 1970.
    pub created_s: i64,
    /// When it arrived, in seconds since 1970.
    pub done_s: Option<i64>,
}

/// What to do after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterFailure {
    /// Try again at this time, in seconds since 1970.
    At(i64),
    /// Give it up.
    Dead,
}

impl DebateStore {
    /// Binds deliveries to a debate that is about to be opened, and returns their ids. They become due when it closes. If
    /// it is over already, they are due at once.
    pub fn deliveries_bind(&self, debate: &str, new: Vec<NewDelivery>) -> StoreFuture<'_, Vec<i64>> {
        let debate = debate.to_owned();
        self.write(move |db| {
            let bind = |new: &NewDelivery| {
                Ok(db.insert(
                    "INSERT INTO deliveries (debate, destination, state, created_s) VALUES (?1, ?2,
                         CASE WHEN EXISTS (SELECT 1 FROM debates WHERE id = ?1 AND status IS NOT NULL) THEN 'due' ELSE 'waiting' END,
                         ?3) RETURNING n",
                    sql_values![debate, new.destination, new.created_s],
                )?)
            };
            new.iter().map(bind).collect()
        })
    }

    /// Claims the deliveries to send now for a minute, the longest due first. Deliveries whose debates were not opened
    /// within a day are dropped.
    pub fn deliveries_due(&self, now_s: i64, limit: usize) -> StoreFuture<'_, Vec<StoredDelivery>> {
        let unopened_s = now_s.saturating_sub(UNOPENED_MAX_S);
        // A caller may ask every second, so nothing is written unless there is something to do.
        let any = self.read(|db| {
            let exists = |condition: &str, at_s: i64| {
                let sql = format!("SELECT 1 FROM deliveries WHERE {condition} LIMIT 1");
                db.read_first(&sql, sql_values![at_s], |_| Ok(())).map(|found| found.is_some())
            };
            Ok(exists(IS_DUE, now_s)? || exists(IS_UNOPENED, unopened_s)?)
        });
        match any {
            Ok(true) => self.write(move |db| {
                db.run(&format!("DELETE FROM deliveries WHERE {IS_UNOPENED}"), sql_values![unopened_s])?;
                let sql = format!("SELECT n FROM deliveries WHERE {IS_DUE} ORDER BY next_s, n LIMIT ?2");
                let due = db.read_all(&sql, sql_values![now_s, sql_limit(limit)], |row| row.get(0))?;
                due.into_iter().map(|id| claim(db, id, now_s)).collect()
            }),
            Ok(false) => Box::pin(async { Ok(Vec::new()) }),
            Err(error) => Box::pin(async { Err(error) }),
        }
    }

    /// Claims this delivery for a minute, if it is to be sent now.
    pub fn delivery_claim(&self, id: i64, now_s: i64) -> StoreFuture<'_, Option<StoredDelivery>> {
        self.write(move |db| {
            let sql = format!("SELECT n FROM deliveries WHERE n = ?2 AND {IS_DUE}");
            let due = db.read_first(&sql, sql_values![now_s, id], |row| row.get(0))?;
            due.map(|id| claim(db, id, now_s)).transpose()
        })
    }

    /// Records that a delivery arrived.
    pub fn delivery_done(&self, id: i64, now_s: i64) -> StoreFuture<'_, ()> {
        self.write(move |db| {
            get(db, id)?;
            let sql = "UPDATE deliveries SET state = 'done', done_s = ?2, last_error = NULL WHERE n = ?1";
            db.run(sql, sql_values![id, now_s])?;
            Ok(())
        })
    }

    /// Records that an attempt failed. Nothing changes if a later claim has delivered it meanwhile.
    pub fn delivery_failed(&self, id: i64, error: &str, next: AfterFailure) -> StoreFuture<'_, ()> {
        let error = error.to_owned();
        self.write(move |db| {
            get(db, id)?;
            let (state, next_s) = match next {
                AfterFailure::At(next_s) => (DeliveryState::Due, next_s),
                AfterFailure::Dead => (DeliveryState::Dead, 0),
            };
            db.run(
                "UPDATE deliveries SET state = ?2, next_s = ?3, last_error = ?4 WHERE n = ?1 AND state = 'sending'",
                sql_values![id, state, next_s, error],
            )?;
            Ok(())
        })
    }

    /// Makes a delivery that was given up, or that waits for its next attempt, due at once with all its attempts.
    pub fn delivery_retry(&self, id: i64) -> StoreFuture<'_, StoredDelivery> {
        self.write(move |db| {
            let why_not = match get(db, id)?.state {
                DeliveryState::Dead | DeliveryState::Due => None,
                DeliveryState::Waiting => Some("its debate is not over: wait for it"),
                DeliveryState::Sending => Some("it is being sent: wait a minute"),
                DeliveryState::Done => Some("it has arrived"),
            };
            if let Some(why_not) = why_not {
                return Err(refused(format!("delivery {id} cannot be tried again: {why_not}")));
            }
            let sql = "UPDATE deliveries SET state = 'due', next_s = 0, attempts = 0 WHERE n = ?1";
            db.run(sql, sql_values![id])?;
            get(db, id)
        })
    }

    /// The deliveries of a debate, or of all, that can be sent at this time, oldest first. This only reads.
    pub fn deliveries_ready(
        &self,
        debate: Option<&str>,
        now_s: i64,
    ) -> Result<Vec<StoredDelivery>, StoreError> {
        let of_debate = if debate.is_some() { "debate = ?2 AND" } else { "CAST(?2 AS TEXT) IS NULL AND" };
        let sql = format!("SELECT {DELIVERY_COLUMNS} FROM deliveries WHERE {of_debate} {IS_DUE} ORDER BY n");
        self.read(move |db| Ok(db.read_all(&sql, sql_values![now_s, debate], read_delivery)?))
    }

    /// The deliveries, or those in one state, newest first.
    pub fn deliveries(&self, state: Option<DeliveryState>) -> Result<Vec<StoredDelivery>, StoreError> {
        let sql = format!(
            "SELECT {DELIVERY_COLUMNS} FROM deliveries WHERE CAST(?1 AS TEXT) IS NULL OR state = ?1 ORDER BY n DESC"
        );
        self.read(move |db| Ok(db.read_all(&sql, sql_values![state], read_delivery)?))
    }
}

/// Makes the deliveries of a closed debate due.
pub(crate) fn make_due(db: &SqlDatabase, debate: &str) -> Result<(), StoreFault> {
    let sql = "UPDATE deliveries SET state = 'due', next_s = 0 WHERE debate = ?1 AND state = 'waiting'";
    db.run(sql, sql_values![debate])?;
    Ok(())
}

fn claim(db: &SqlDatabase, id: i64, now_s: i64) -> Result<StoredDelivery, StoreFault> {
    let sql = "UPDATE deliveries SET state = 'sending', attempts = attempts + 1, next_s = ?2 WHERE n = ?1";
    db.run(sql, sql_values![id, now_s.saturating_add(CLAIM_S)])?;
    get(db, id)
}

fn get(db: &SqlDatabase, id: i64) -> Result<StoredDelivery, StoreFault> {
    let sql = format!("SELECT {DELIVERY_COLUMNS} FROM deliveries WHERE n = ?1");
    db.read_first(&sql, sql_values![id], read_delivery)?.ok_or_else(|| {
        refused(format!("there is no delivery {id}: `agon doctor` shows those that were given up"))
    })
}

const DELIVERY_COLUMNS: &str =
    "n, debate, destination, state, attempts, next_s, last_error, created_s, done_s";

fn read_delivery(row: &SqlRow<'_>) -> SqlResult<StoredDelivery> {
    Ok(StoredDelivery {
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

stored_by_name!(DeliveryState {
    Waiting => "waiting",
    Due => "due",
    Sending => "sending",
    Done => "done",
    Dead => "dead"
});
