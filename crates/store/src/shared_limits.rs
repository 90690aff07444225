//! Limits that all processes on a store keep together: how many calls run at once, and what many debates may use.
//!
//! Calls: a process has places, and takes and gives back some about once a second; a call needs no visit to the store. Places of a process
//! that has not been heard of for [`SILENT_S`] seconds are free again.
//!
//! Budgets: before a debate is submitted, its own limit is set aside from the pool that it belongs to; afterwards what it did not use is
//! given back. A debate keeps its own limit on whatever worker it runs, so the pool is never exceeded, and a worker that dies changes nothing.
//!
//! Changes of tables exclude each other over all processes, so each of these functions sees the latest rows.

use agon_engine::{PlaceClaim, PlaceGrant, StoreError};

use crate::sql::{SqlDatabase, sql_values};
use crate::store_fault::StoreFault;
use crate::{DebateStore, StoreFuture};

/// After how many seconds the places of a silent process are free.
const SILENT_S: i64 = 10;

impl DebateStore {
    /// Claims places for calls, of several limits at once. `process` names the process that claims, and nobody else.
    pub fn claim_places(&self, process: &str, claims: Vec<PlaceClaim>) -> StoreFuture<'_, Vec<PlaceGrant>> {
        let process = process.to_owned();
        self.write(move |db| {
            let now = db.unix_seconds()?;
            let sql = "SELECT name, places, wanted, seen_s FROM call_places WHERE process <> ?1";
            let rows: Vec<(String, i64, i64, i64)> = db.read_all(sql, sql_values![process], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?;
            let is_silent = |seen_s: i64| seen_s < now - SILENT_S;
            if rows.iter().any(|(.., seen_s)| is_silent(*seen_s)) {
                db.run("DELETE FROM call_places WHERE seen_s < ?1", sql_values![now - SILENT_S])?;
            }
            let grant = |claim: &PlaceClaim| {
                let others = rows.iter().filter(|(name, _, _, seen_s)| *name == claim.name && !is_silent(*seen_s));
                let grant =
                    claim.grant(others.map(|(_, places, wanted, _)| (to_count(*places), to_count(*wanted))));
                let (places, wanted) = (to_sql(grant.places), to_sql(claim.wanted));
                let sql =
                    "INSERT INTO call_places (name, process, places, wanted, seen_s) VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT (name, process) DO UPDATE SET places = ?3, wanted = ?4, seen_s = ?5";
                db.run(sql, sql_values![claim.name, process, places, wanted, now])?;
                Ok(grant)
            };
            claims.iter().map(grant).collect()
        })
    }

    /// Sets aside what a debate may still use, from every one of these pools or from none.
    pub fn set_aside(&self, debate: &str, claims: Vec<AllowanceClaim>) -> StoreFuture<'_, AllowanceAnswer> {
        let debate = debate.to_owned();
        self.write(move |db| {
            for claim in &claims {
                let others = "SELECT CAST(coalesce(sum(taken), 0) AS BIGINT), CAST(coalesce(sum(set_aside), 0) AS BIGINT)
                     FROM allowances WHERE pool = ?1 AND debate <> ?2";
                let (taken, set_aside) = db
                    .read_first(others, sql_values![claim.pool, debate], |row| Ok((row.get(0)?, row.get(1)?)))?
                    .unwrap_or_default();
                let own = "SELECT taken, used_before, set_aside FROM allowances WHERE pool = ?1 AND debate = ?2";
                let own = db.read_first(own, sql_values![claim.pool, debate], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })?;
                let taken = amount(taken).saturating_add(taken_by(own, claim.used));
                let left = claim.most.saturating_sub(taken);
                if claim.rest() > left {
                    return Ok(AllowanceAnswer::UsedUp { pool: claim.pool.clone(), left });
                }
                if claim.rest() > left.saturating_sub(amount(set_aside)) {
                    return Ok(AllowanceAnswer::Later);
                }
            }
            for claim in &claims {
                write_allowance(db, &claim.pool, &debate, claim.used, claim.rest())?;
            }
            Ok(AllowanceAnswer::SetAside)
        })
    }

    /// Gives back to a pool what a debate did not use. `used` is what the whole debate has used.
    pub fn settle_allowance(&self, pool: &str, debate: &str, used: u64) -> StoreFuture<'_, ()> {
        let (pool, debate) = (pool.to_owned(), debate.to_owned());
        self.write(move |db| write_allowance(db, &pool, &debate, used, 0))
    }

    /// The debates for which something is set aside in a pool.
    pub fn unsettled_allowances(&self, pool: &str) -> Result<Vec<String>, StoreError> {
        self.read(|db| {
            let sql = "SELECT debate FROM allowances WHERE pool = ?1 AND set_aside > 0 ORDER BY debate";
            Ok(db.read_all(sql, sql_values![pool], |row| row.get(0))?)
        })
    }
}

/// A debate's claim on a sum that many debates share. Each pool has its own unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowanceClaim {
    pub pool: String,
    /// The most that all debates of the pool together may use.
    pub most: u64,
    /// The most that this debate may use.
    pub limit: u64,
    /// What it has used before, whether from this pool or not.
    pub used: u64,
}

impl AllowanceClaim {
    fn rest(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }
}

/// Whether a pool has enough for a debate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowanceAnswer {
    SetAside,
    /// Debates that are under way may give back enough.
    Later,
    /// It will never be enough.
    UsedUp {
        pool: String,
        left: u64,
    },
}

/// What a debate has taken from a pool, by its row there and what it has used until now.
fn taken_by(row: Option<(i64, i64, i64)>, used: u64) -> u64 {
    match row {
        Some((taken, used_before, 1..)) => {
            amount(taken).saturating_add(used.saturating_sub(amount(used_before)))
        }
        Some((taken, ..)) => amount(taken),
        None => 0,
    }
}

fn write_allowance(
    db: &SqlDatabase,
    pool: &str,
    debate: &str,
    used: u64,
    set_aside: u64,
) -> Result<(), StoreFault> {
    let sql = "SELECT taken, used_before, set_aside FROM allowances WHERE pool = ?1 AND debate = ?2";
    let row =
        db.read_first(sql, sql_values![pool, debate], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let taken = taken_by(row, used);
    let sql =
        "INSERT INTO allowances (pool, debate, taken, used_before, set_aside) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (pool, debate) DO UPDATE SET taken = ?3, used_before = ?4, set_aside = ?5";
    db.run(
        sql,
        sql_values![pool, debate, amount_to_sql(taken), amount_to_sql(used), amount_to_sql(set_aside)],
    )?;
    Ok(())
}

fn to_count(stored: i64) -> usize {
    usize::try_from(stored).unwrap_or_default()
}

fn to_sql(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn amount(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or_default()
}

fn amount_to_sql(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}
