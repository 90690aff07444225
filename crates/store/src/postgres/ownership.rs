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

    /// Leases debates, none of them twice, unless another living process has them. A closed debate needs no lease. Returns the places of
    /// those that were refused, with the reason. An error means that the whole transaction has to be undone.
    pub(crate) fn lease(
        &mut self,
        db: &SqlDatabase,
        connection: &PostgresConnection,
        wanted: &[(usize, &str)],
    ) -> SqlResult<Vec<(usize, StoreFault)>> {
        let ids: Vec<&str> = wanted.iter().map(|(_, id)| *id).collect();
        let mut rows: HashMap<String, LeasableRow> = HashMap::new();
        for row in connection.query_raw(LOCK_ROWS, &[&ids])? {
            rows.insert(row.try_get(0)?, LeasableRow::read(&row)?);
        }
        let has_others = rows.values().any(|row| row.owner.is_some_and(|owner| owner != self.key));
        let living = if has_others { living_owners(db, self.takeover_after)? } else { HashSet::new() };
        let (mut refused, mut taken) = (Vec::new(), Vec::new());
        for (place, id) in wanted {
            match rows.remove(*id) {
                None => refused.push((*place, unknown_debate(id))),
                Some(row) if row.closed => {}
                Some(LeasableRow { owner: Some(owner), .. })
                    if owner != self.key && living.contains(&owner.to_string()) =>
                {
                    refused.push((*place, StoreError::Leased((*id).to_owned()).into()));
                }
                Some(mut row) => {
                    if row.owner != Some(self.key) {
                        row.lease.epoch += 1;
                        taken.push((row.n, row.lease.epoch));
                    }
                    self.set(id, Some(row.lease));
                }
            }
        }
        if !taken.is_empty() {
            let (rows, epochs): (Vec<i64>, Vec<i64>) = taken.into_iter().unzip();
            connection.query_raw(TAKE_ROWS, &[&rows, &epochs, &self.key])?;
        }
        Ok(refused)
    }

    /// Gives back those of the debates that this process has.
    pub(crate) fn release(&mut self, connection: &PostgresConnection, ids: &[&str]) -> SqlResult<()> {
        let held: Vec<(&str, i64)> =
            ids.iter().filter_map(|id| Some((*id, self.leased(id)?.epoch))).collect();
        if held.is_empty() {
            return Ok(());
        }
        held.iter().for_each(|(id, _)| self.set(id, None));
        let (ids, epochs): (Vec<&str>, Vec<i64>) = held.into_iter().unzip();
        connection.query_raw(GIVE_BACK_ROWS, &[&ids, &epochs, &self.key])?;
        Ok(())
    }
}

/// The rows are locked in one order by all processes, so that none waits for another that waits for it.
const LOCK_ROWS: &str = "
    SELECT id, n, owner, status IS NOT NULL, head, next_seq, epoch FROM debates
    WHERE id = ANY(?1::text[]) ORDER BY n FOR UPDATE";

const TAKE_ROWS: &str = "
    UPDATE debates AS d SET owner = ?3, epoch = given.epoch
    FROM unnest(?1::bigint[], ?2::bigint[]) AS given (n, epoch) WHERE d.n = given.n";

const GIVE_BACK_ROWS: &str = "
    UPDATE debates AS d SET owner = NULL
    FROM unnest(?1::text[], ?2::bigint[]) AS given (id, epoch)
    WHERE d.id = given.id AND d.owner = ?3 AND d.epoch = given.epoch";

/// A debate as somebody sees it who wants to lease it.
struct LeasableRow {
    n: i64,
    owner: Option<i64>,
    closed: bool,
    lease: LeasedLog,
}

impl LeasableRow {
    /// Reads the columns of [`LOCK_ROWS`] after the id.
    fn read(row: &postgres::Row) -> SqlResult<Self> {
        Ok(Self {
            n: row.try_get(1)?,
            owner: row.try_get(2)?,
            closed: row.try_get(3)?,
            lease: LeasedLog { head: row.try_get(4)?, next_seq: row.try_get(5)?, epoch: row.try_get(6)? },
        })
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
