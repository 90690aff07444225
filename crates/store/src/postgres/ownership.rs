//! Which process runs a debate.
//!
//! A process has a random key. While it is connected it holds an advisory lock on that key, and it says every few seconds in the
//! table `processes` that it is alive, by the server's clock. Its debates have the key in `debates.owner`. A debate can be leased
//! if its owner's lock is free, or if the owner was not seen for some time: then it is stopped or cut off. Each lease
//! raises the debate's `epoch`, and an append needs the epoch of its lease, so a late writer changes nothing.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use agon_engine::StoreError;

use super::PostgresConnection;
use crate::sql::{SqlDatabase, SqlFault, SqlResult, sql_values};
use crate::store_fault::{StoreFault, unknown_debate};

/// A debate that this process runs, as its row was after the last commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeasedLog {
    pub(crate) epoch: i64,
    pub(crate) head: String,
    pub(crate) next_seq: i64,
}

/// This process as the owner of debates.
#[derive(Debug)]
pub(crate) struct DebateOwner {
    pub(crate) key: i64,
    takeover_after: Duration,
    leases: HashMap<String, LeasedLog>,
    /// What the transaction that is under way changes about the leases.
    pending: Vec<(String, Option<LeasedLog>)>,
    /// When it last said that it is alive. `None` before the first time.
    seen: Option<Instant>,
    /// Whether it ever leased a debate, and so needs its lock.
    needs_lock: bool,
    holds_lock: bool,
    /// The number of the last transaction.
    commits: i64,
}

impl DebateOwner {
    pub(crate) fn new(takeover_after: Duration) -> Result<Self, StoreFault> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes)
            .map_err(|error| StoreFault::Failed(format!("the system gives no random numbers ({error})")))?;
        let key = i64::from_le_bytes(bytes);
        let (leases, pending) = (HashMap::new(), Vec::new());
        Ok(Self {
            key,
            takeover_after,
            leases,
            pending,
            seen: None,
            needs_lock: false,
            holds_lock: false,
            commits: 0,
        })
    }

    /// How often it says that it is alive.
    pub(crate) fn interval(&self) -> Duration {
        self.takeover_after / 6
    }

    pub(crate) fn has_leased(&self) -> bool {
        self.needs_lock
    }

    /// The connection is gone, and the lock with it.
    pub(crate) fn lose_lock(&mut self) {
        self.holds_lock = false;
    }

    /// Takes the lock if this process does not hold it. It must be called outside of a transaction.
    pub(crate) fn take_lock(&mut self, db: &PostgresConnection) -> SqlResult<()> {
        self.needs_lock = true;
        if !self.holds_lock {
            // Whoever has not been seen for a day is gone.
            let stale = "DELETE FROM processes WHERE seen_at < clock_timestamp() - interval '1 day'";
            let sql = format!("{stale}; {}; SELECT pg_try_advisory_lock({})", self.sign_of_life(), self.key);
            // After a lost connection the server may not know yet that the old one is gone. Then it is tried again.
            self.holds_lock = db.run_batch_for(&sql)? == "t";
            self.seen = Some(Instant::now());
        }
        Ok(())
    }

    /// Says that this process is alive if it is time, and takes its lock if it does not hold it.
    pub(crate) fn show_life(&mut self, db: &PostgresConnection) -> SqlResult<()> {
        self.take_lock(db)?;
        if self.seen.is_none_or(|seen| seen.elapsed() >= self.interval()) {
            db.run_batch(&self.sign_of_life())?;
            self.seen = Some(Instant::now());
        }
        Ok(())
    }

    /// The statement with which a transaction begins that this process could lose while it commits. It writes a number that
    /// [`was_committed`](Self::was_committed) finds if the commit happened, and is a sign of life.
    pub(crate) fn number_transaction(&mut self) -> String {
        self.commits += 1;
        self.seen = Some(Instant::now());
        self.sign_of_life()
    }

    fn sign_of_life(&self) -> String {
        let Self { key, commits, .. } = self;
        format!(
            "INSERT INTO processes (owner, seen_at, commits) VALUES ({key}, clock_timestamp(), {commits})
                 ON CONFLICT (owner) DO UPDATE SET seen_at = excluded.seen_at, commits = excluded.commits"
        )
    }

    /// Whether the last transaction was committed. If it is still under way, this waits for its end.
    ///
    /// `pg_xact_status` would say the same as long as the server does not crash. A server that does may give the number of a
    /// transaction that it lost to another one.
    pub(crate) fn was_committed(&self, db: &SqlDatabase) -> SqlResult<bool> {
        let sql = "SELECT commits FROM processes WHERE owner = ?1 FOR UPDATE";
        let commits: Option<i64> = db.read_first(sql, sql_values![self.key], |row| row.get(0))?;
        Ok(commits == Some(self.commits))
    }

    /// Gives up everything, so that others need not wait.
    pub(crate) fn leave(&mut self, db: &PostgresConnection) {
        if self.seen.take().is_some() {
            let key = self.key;
            // If this fails, the connection is gone, and the server does it.
            let _ = db.run_batch(&format!(
                "DELETE FROM processes WHERE owner = {key}; SELECT pg_advisory_unlock({key})"
            ));
        }
    }

    /// What this process knows of a debate that it runs.
    pub(crate) fn leased(&self, id: &str) -> Option<&LeasedLog> {
        match self.pending.iter().rev().find(|(changed, _)| changed == id) {
            Some((_, lease)) => lease.as_ref(),
            None => self.leases.get(id),
        }
    }

    /// Notes what will be known of a debate when the transaction is committed.
    pub(crate) fn set(&mut self, id: &str, lease: Option<LeasedLog>) {
        self.pending.push((id.to_owned(), lease));
    }

    /// How many changes are noted, for [`undo_to`](Self::undo_to).
    pub(crate) fn noted(&self) -> usize {
        self.pending.len()
    }

    pub(crate) fn undo_to(&mut self, noted: usize) {
        self.pending.truncate(noted);
    }

    pub(crate) fn committed(&mut self) {
        for (id, lease) in self.pending.drain(..) {
            match lease {
                Some(lease) => self.leases.insert(id, lease),
                None => self.leases.remove(&id),
            };
        }
    }

    /// Leases a debate, unless another living process has it. A closed debate needs no lease.
    pub(crate) fn lease(&mut self, db: &SqlDatabase, id: &str) -> Result<(), StoreFault> {
        let sql = "SELECT n, owner, status IS NOT NULL, head, next_seq, epoch FROM debates WHERE id = ?1 FOR UPDATE";
        let row = db.read_first(sql, sql_values![id], |row| {
            let lease = LeasedLog { head: row.get(3)?, next_seq: row.get(4)?, epoch: row.get(5)? };
            Ok((row.get::<i64>(0)?, row.get::<Option<i64>>(1)?, row.get::<bool>(2)?, lease))
        })?;
        let (n, owner, closed, mut lease) = row.ok_or_else(|| unknown_debate(id))?;
        if closed {
            return Ok(());
        }
        if owner != Some(self.key) {
            if let Some(owner) = owner
                && living_owners(db, self.takeover_after)?.contains(&owner.to_string())
            {
                return Err(StoreError::Leased(id.to_owned()).into());
            }
            lease.epoch += 1;
            let sql = "UPDATE debates SET owner = ?2, epoch = ?3 WHERE n = ?1";
            db.run(sql, sql_values![n, self.key, lease.epoch])?;
        }
        self.set(id, Some(lease));
        Ok(())
    }

    /// Gives a debate back if this process has it.
    pub(crate) fn release(&mut self, db: &SqlDatabase, id: &str) -> Result<(), StoreFault> {
        if let Some(LeasedLog { epoch, .. }) = self.leased(id) {
            let sql = "UPDATE debates SET owner = NULL WHERE id = ?1 AND owner = ?2 AND epoch = ?3";
            db.run(sql, sql_values![id, self.key, epoch])?;
            self.set(id, None);
        }
        Ok(())
    }
}

/// The keys of the processes that are alive: they hold their locks and were seen lately.
pub(crate) fn living_owners(db: &SqlDatabase, takeover_after: Duration) -> Result<HashSet<String>, SqlFault> {
    let sql = "SELECT CAST(p.owner AS TEXT) FROM processes AS p JOIN pg_locks AS l
             ON ((CAST(l.classid AS BIGINT) << 32) | CAST(l.objid AS BIGINT)) = p.owner
         WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
             AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
             AND p.seen_at > clock_timestamp() - make_interval(secs => ?1)";
    let keys = db.read_all(sql, sql_values![takeover_after.as_secs_f64()], |row| row.get(0))?;
    Ok(keys.into_iter().collect())
}
