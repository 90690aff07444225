//! Limits that all processes on a store keep together: how many calls run at once, and what many debates may cost.
//!
//! Calls: a process has places, and takes and gives back some about once a second; a call needs no visit to the store. Places of a process
//! that has not been heard of for [`SILENT_S`] seconds are free again.
//!
//! Dollars: before a debate is submitted, its own limit is set aside from the pool that it belongs to; afterwards what it did not use is
//! given back. A debate keeps its own limit on whatever worker it runs, so the pool is never exceeded, and a worker that dies changes nothing.
//!
//! Changes of tables exclude each other over all processes, so each of these functions sees the latest rows.

use agon_engine::{PlaceClaim, PlaceGrant};

use crate::sql::sql_values;
use crate::{DebateStore, StoreFuture};

/// After how many seconds the places of a silent process are free.
const SILENT_S: i64 = 10;

impl DebateStore {
    /// Claims places for calls. `process` names the process that claims, and nobody else.
    pub fn claim_places(&self, process: &str, claim: &PlaceClaim) -> StoreFuture<'_, PlaceGrant> {
        let (process, claim) = (process.to_owned(), claim.clone());
        self.write(move |db| {
            let now = db.unix_seconds()?;
            db.run("DELETE FROM call_places WHERE seen_s < ?1", sql_values![now - SILENT_S])?;
            let sql = "SELECT places, wanted FROM call_places WHERE name = ?1 AND process <> ?2";
            let others: Vec<(i64, i64)> =
                db.read_all(sql, sql_values![claim.name, process], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let others = others.into_iter().map(|(places, wanted)| (to_count(places), to_count(wanted)));
            let grant = claim.grant(others);
            let (places, wanted) = (to_sql(grant.places), to_sql(claim.wanted));
            let sql = "INSERT INTO call_places (name, process, places, wanted, seen_s) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (name, process) DO UPDATE SET places = ?3, wanted = ?4, seen_s = ?5";
            db.run(sql, sql_values![claim.name, process, places, wanted, now])?;
            Ok(grant)
        })
    }

    /// Sets aside what a debate may cost, in billionths of a dollar, from a pool that has this much for all its debates. Returns what is
    /// left of the pool if that is not enough.
    pub fn set_aside(
        &self,
        pool: &str,
        pool_nanos: u64,
        debate: &str,
        nanos: u64,
    ) -> StoreFuture<'_, Result<(), u64>> {
        let (pool, debate) = (pool.to_owned(), debate.to_owned());
        let (pool_nanos, nanos) = (nanos_to_sql(pool_nanos), nanos_to_sql(nanos));
        self.write(move |db| {
            let sql = "SELECT CAST(coalesce(sum(nanos), 0) AS BIGINT) FROM allowances WHERE pool = ?1 AND debate <> ?2";
            let taken: Option<i64> = db.read_first(sql, sql_values![pool, debate], |row| row.get(0))?;
            let left = pool_nanos.saturating_sub(taken.unwrap_or_default());
            if nanos > left {
                return Ok(Err(u64::try_from(left).unwrap_or_default()));
            }
            let sql = "INSERT INTO allowances (pool, debate, nanos) VALUES (?1, ?2, ?3)
                 ON CONFLICT (pool, debate) DO UPDATE SET nanos = ?3";
            db.run(sql, sql_values![pool, debate, nanos])?;
            Ok(Ok(()))
        })
    }

    /// Says what a debate has cost, so that the rest of what was set aside for it is free.
    pub fn settle_allowance(&self, debate: &str, nanos: u64) -> StoreFuture<'_, ()> {
        let (debate, nanos) = (debate.to_owned(), nanos_to_sql(nanos));
        self.write(move |db| {
            db.run("UPDATE allowances SET nanos = ?2 WHERE debate = ?1", sql_values![debate, nanos])?;
            Ok(())
        })
    }
}

fn to_count(stored: i64) -> usize {
    usize::try_from(stored).unwrap_or_default()
}

fn to_sql(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn nanos_to_sql(nanos: u64) -> i64 {
    i64::try_from(nanos).unwrap_or(i64::MAX)
}
