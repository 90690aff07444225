//! Keeping the store small: removing old debates, and giving free space back to the disk.

use agon_engine::StoreError;
use serde::Serialize;

use crate::sql::{SqlDatabase, SqlResult, sql_values};
use crate::store_fault::StoreFault;
use crate::store_place::{LivingOwners, StorePlace};
use crate::{DebateStore, StoreFuture, postgres, search, sqlite};

/// Which debates are too old to keep, and why some of them stay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PrunedDebates {
    /// How many are removed.
    pub removed: u64,
    /// How many bytes their logs have.
    pub log_bytes: u64,
    /// Kept, because ratings, memories or knowledge come from them.
    pub kept_for_lessons: u64,
    /// Kept, because a person said how they turned out.
    pub kept_for_resolutions: u64,
    /// Kept, because their result has not been delivered yet.
    pub kept_for_deliveries: u64,
    /// Kept, because they are not over: they can be resumed.
    pub kept_open: u64,
}

/// What [`DebateStore::vacuum`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct VacuumedFile {
    /// The size of the file before, in bytes.
    pub bytes_before: u64,
    /// The size now.
    pub bytes_after: u64,
}

/// How many debates are removed in one transaction, so that a running debate can commit in between.
const BATCH: i64 = 500;

/// Why a debate that was opened before `?1` stays: the first reason that applies, or NULL. The newest debate always stays:
/// resolutions rely on event numbers that never start over.
const OLD_DEBATES: &str = "
    SELECT d.n AS n, CASE
        WHEN d.status IS NULL THEN 'open'
        WHEN EXISTS (SELECT 1 FROM resolutions WHERE debate = d.n) THEN 'resolution'
        WHEN EXISTS (SELECT 1 FROM deliveries WHERE debate = d.id AND state IN ('waiting', 'due', 'sending')) THEN 'delivery'
        WHEN EXISTS (SELECT 1 FROM events WHERE debate = d.n AND seq = (SELECT max(seq) FROM events WHERE debate = d.n)
            AND body LIKE '%\"lesson\"%') THEN 'lesson'
    END AS reason
    FROM debates AS d
    WHERE d.created_at < ?1 AND d.n < (SELECT debate FROM events ORDER BY n DESC LIMIT 1)";

impl DebateStore {
    /// What [`prune`](Self::prune) would do.
    pub fn prunable(&self, opened_before: &str) -> Result<PrunedDebates, StoreError> {
        self.read(|db| {
            let mut found = PrunedDebates::default();
            let sql = format!(
                "SELECT reason, count(*), CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM (
                     SELECT reason, CASE WHEN reason IS NULL
                         THEN (SELECT sum(octet_length(body)) FROM events WHERE debate = old.n) ELSE 0 END AS bytes
                     FROM ({OLD_DEBATES}) AS old
                 ) AS counted GROUP BY reason"
            );
            let rows: Vec<(Option<String>, i64, i64)> =
                db.read_all(&sql, sql_values![opened_before], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            for (reason, count, bytes) in rows {
                let count = count.cast_unsigned();
                match reason.as_deref() {
                    None => (found.removed, found.log_bytes) = (count, bytes.cast_unsigned()),
                    Some("open") => found.kept_open = count,
                    Some("resolution") => found.kept_for_resolutions = count,
                    Some("delivery") => found.kept_for_deliveries = count,
                    Some(_) => found.kept_for_lessons = count,
                }
            }
            Ok(found)
        })
    }

    /// Removes the debates that were opened before a time (RFC 3339, UTC) and that nothing else relies on. Their space in
    /// the file is used again; [`vacuum`](Self::vacuum) gives it back to the disk.
    pub async fn prune(&self, opened_before: &str) -> Result<PrunedDebates, StoreError> {
        let pruned = self.prunable(opened_before)?;
        while self.prune_some(opened_before.to_owned()).await? > 0 {}
        Ok(pruned)
    }

    fn prune_some(&self, opened_before: String) -> StoreFuture<'_, usize> {
        self.write(move |db| {
            let sql = format!("SELECT n FROM ({OLD_DEBATES}) AS old WHERE reason IS NULL LIMIT {BATCH}");
            let debates: Vec<i64> = db.read_all(&sql, sql_values![&opened_before], |row| row.get(0))?;
            for debate in &debates {
                remove_debate(db, *debate)?;
            }
            Ok(debates.len())
        })
    }

    /// Writes the file, or the tables of the database, anew without free space. No debate may run meanwhile.
    pub fn vacuum(&self) -> Result<VacuumedFile, StoreError> {
        self.read(|db| {
            let bytes_before = size_bytes(db, self.place())?;
            let sql =
                "SELECT DISTINCT CAST(owner AS TEXT) FROM debates WHERE owner IS NOT NULL AND status IS NULL";
            let owners: Vec<String> = db.read_all(sql, &[], |row| row.get(0))?;
            let mut living = LivingOwners::read(db, self.place())?;
            if owners.into_iter().any(|owner| living.has(owner)) {
                return Err(StoreFault::Failed("a debate is running in it: wait until it ends".into()));
            }
            match db {
                SqlDatabase::Sqlite(_) => sqlite::give_space_back(db)?,
                SqlDatabase::Postgres(_) => postgres::give_space_back(db)?,
            }
            Ok(VacuumedFile { bytes_before, bytes_after: size_bytes(db, self.place())? })
        })
    }
}

/// How much the store takes on its disk.
pub(crate) fn size_bytes(db: &SqlDatabase, place: &StorePlace) -> Result<u64, StoreFault> {
    match place {
        StorePlace::File(path) => Ok(path.size_bytes()?),
        StorePlace::Server(_) => Ok(postgres::size_bytes(db)?),
    }
}

fn remove_debate(db: &SqlDatabase, debate: i64) -> SqlResult<()> {
    let rows = sql_values![debate];
    db.run("DELETE FROM deliveries WHERE debate = (SELECT id FROM debates WHERE n = ?1)", rows)?;
    search::unindex_debate(db, debate)?;
    db.run("DELETE FROM search_backlog WHERE debate = ?1", rows)?;
    db.run("DELETE FROM events WHERE debate = ?1", rows)?;
    db.run("DELETE FROM debates WHERE n = ?1", rows)?;
    Ok(())
}
