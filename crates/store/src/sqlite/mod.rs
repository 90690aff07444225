//! The store in one SQLite file: what differs from PostgreSQL.

mod leases;
pub(crate) mod schema;
mod store_path;
mod word_index;

use agon_engine::StoreError;

use crate::health::EngineHealth;
use crate::log_table;
use crate::sql::{SqlDatabase, SqlResult, TransactionKind};
use crate::store_fault::StoreFault;
use crate::store_place::StorePlace;
use crate::writer::{GroupCommit, QueuedWrite, WriteRequest};

pub(crate) use leases::{LeaseHolder, is_alive};
pub(crate) use store_path::{BUSY_TIMEOUT, StorePath};
pub(crate) use word_index::{index_debate, rank_entries, ranked_debates, read_hits, word_query};

/// What SQLite says about the file. It reads all of it.
pub(crate) fn engine_health(db: &SqlDatabase, connection: &rusqlite::Connection) -> SqlResult<EngineHealth> {
    let findings: Vec<String> = db.read_all("PRAGMA quick_check(10)", &[], |row| row.get(0))?;
    Ok(EngineHealth {
        database: format!("SQLite {}", rusqlite::version()),
        schema_version: schema::version(connection)?,
        integrity: findings.join("; "),
        journal_mode: Some(connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?),
    })
}

/// Writes the file anew without free space. The words of removed debates are still in old parts of the index.
pub(crate) fn give_space_back(db: &SqlDatabase) -> SqlResult<()> {
    db.run_batch("INSERT INTO search (search) VALUES ('optimize'); VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
}

/// The connection that writes.
pub(crate) struct SqliteWriter {
    db: SqlDatabase,
    holder: LeaseHolder,
    place: StorePlace,
}

impl SqliteWriter {
    pub(crate) fn open(path: &StorePath) -> Result<Self, StoreFault> {
        let mut connection = path.connect()?;
        schema::prepare(&mut connection)?;
        let holder = LeaseHolder::new(path.locks.clone());
        Ok(Self { db: SqlDatabase::Sqlite(connection), holder, place: StorePlace::File(path.clone()) })
    }
}

impl GroupCommit for SqliteWriter {
    /// Writes that fail their check are rare, and a savepoint makes SQLite copy the pages that it protects. So a group is applied without
    /// savepoints, and only if a write fails it is applied once more, each write in a savepoint of its own.
    fn commit(&mut self, group: &mut [QueuedWrite]) -> Result<Vec<Result<(), StoreError>>, StoreFault> {
        let Self { db, holder, place } = self;
        let mut was_applied = true;
        let together = db.in_transaction(TransactionKind::Write, |db| {
            was_applied = false;
            group.iter_mut().try_for_each(|write| apply(db, holder, &mut write.request))?;
            was_applied = true;
            Ok(())
        });
        // A transaction that could not begin or commit has waited for the file, or the disk is full.
        if was_applied {
            return together.map(|()| group.iter().map(|_| Ok(())).collect());
        }
        db.in_transaction(TransactionKind::Write, |db| {
            let mut answers = Vec::with_capacity(group.len());
            for write in group {
                let applied = db.in_savepoint(|db| apply(db, holder, &mut write.request))?;
                answers.push(applied.map_err(|fault| place.explain(fault)));
            }
            Ok(answers)
        })
    }
}

fn apply(db: &SqlDatabase, holder: &mut LeaseHolder, request: &mut WriteRequest) -> Result<(), StoreFault> {
    match request {
        WriteRequest::Append { id, records } => log_table::append(db, holder, id, records),
        WriteRequest::Open(opening) => match opening.claim(db)? {
            true => log_table::append(db, holder, opening.id(), &opening.records),
            false => Ok(()),
        },
        WriteRequest::Lease(id) => leases::lease(db, holder, id),
        WriteRequest::Release(id) => leases::release(db, holder, id),
        WriteRequest::Change(change) => change.apply(db),
    }
}

/// Groups that fail, given to the writer directly, without a queue or a thread.
#[cfg(test)]
mod tests {
    use agon_core::event::open_all;
    use agon_core::{Debate, Event, LogRecord};
    use serde_json::json;
    use tempfile::TempDir;

    use super::*;
    use crate::debate_list;

    fn writer(folder: &TempDir) -> SqliteWriter {
        SqliteWriter::open(&StorePath::prepare(&folder.path().join("agon.db")).unwrap()).unwrap()
    }

    fn connection(writer: &SqliteWriter) -> &rusqlite::Connection {
        let SqlDatabase::Sqlite(connection) = &writer.db else { panic!("it is SQLite") };
        connection
    }

    /// A debate that was opened and in which a person has said `text`.
    fn records(id: &str, text: &str) -> Vec<LogRecord> {
        let brief = serde_json::from_value(json!({
            "version": agon_core::LOG_VERSION, "id": id, "protocol": "deep", "question": "Why?", "options": {}, "seats": [], "seed": 1, "nonce": "n",
            "limits": agon_core::DebateLimits::default(), "templates": {}, "created_at": "2026-05-01T10:00:00Z",
        }));
        let (mut debate, opened) = Debate::open(brief.unwrap()).unwrap();
        let said = debate.push(Event::Interjected { by: "me".into(), text: text.into() }, 5).unwrap();
        vec![opened, said]
    }

    fn append(id: &str, records: &[LogRecord]) -> QueuedWrite {
        QueuedWrite::new(WriteRequest::Append { id: id.into(), records: records.to_vec() })
    }

    fn ids(writer: &SqliteWriter) -> Vec<String> {
        let debates = debate_list::list(&writer.db, &writer.place, None).unwrap();
        debates.into_iter().map(|debate| debate.id).collect()
    }

    #[test]
    fn a_commit_that_fails_writes_nothing_of_the_group() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = writer(&folder);
        // A deferred reference to a missing row fails at the commit and not before.
        let spoil = "CREATE TABLE bad (n INTEGER REFERENCES debates (n) DEFERRABLE INITIALLY DEFERRED);
            CREATE TRIGGER spoil AFTER INSERT ON events WHEN new.body LIKE '%spoil%'
            BEGIN INSERT INTO bad VALUES (-1); END;";
        connection(&writer).execute_batch(spoil).unwrap();
        let (good, bad) = (records("good", "fine"), records("bad", "spoil"));
        let fault = writer.commit(&mut [append("good", &good), append("bad", &bad)]).unwrap_err();
        assert!(matches!(fault, StoreFault::Sql(_)), "{fault:?}");
        assert_eq!(ids(&writer), [""; 0]);
        let answers = writer.commit(&mut [append("good", &good)]).unwrap();
        assert!(matches!(answers[..], [Ok(())]), "the next group is not affected");
        let stored = log_table::raw_log(&writer.db, "good").unwrap();
        assert_eq!(open_all(stored).unwrap(), good);
    }

    #[test]
    fn a_file_that_is_locked_is_waited_for_once() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static WAITS: AtomicUsize = AtomicUsize::new(0);
        let folder = tempfile::tempdir().unwrap();
        let (mut writer, other) = (writer(&folder), writer(&folder));
        connection(&other).execute_batch("BEGIN IMMEDIATE").unwrap();
        let gives_up = |_| {
            WAITS.fetch_add(1, Ordering::Relaxed);
            false
        };
        let SqlDatabase::Sqlite(waiting) = &mut writer.db else { panic!("it is SQLite") };
        waiting.busy_handler(Some(gives_up)).unwrap();
        let fault = writer.commit(&mut [append("good", &records("good", "fine"))]).unwrap_err();
        assert!(matches!(fault, StoreFault::Sql(_)), "{fault:?}");
        assert_eq!(WAITS.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_full_disk_leaves_nothing_half_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = writer(&folder);
        let pages: i64 =
            connection(&writer).pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        let limit = |writer: &SqliteWriter, pages: i64| {
            connection(writer).pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
        };
        limit(&writer, pages + 2);
        let (small, large) = (records("small", "fine"), records("large", &"much ".repeat(20_000)));
        let errors: Vec<_> = match writer.commit(&mut [append("small", &small), append("large", &large)]) {
            Ok(answers) => answers.into_iter().filter_map(Result::err).collect(),
            Err(fault) => vec![writer.place.explain(fault)],
        };
        let sentence = errors[0].to_string();
        assert!(
            sentence.contains("agon.db") && sentence.contains("the disk is full: free some space"),
            "{sentence}"
        );
        assert!(!ids(&writer).contains(&"large".to_owned()));
        let events: i64 =
            connection(&writer).query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
        assert_eq!(events as usize, 2 * ids(&writer).len(), "only whole debates are stored");
        limit(&writer, 1_000_000);
        let answers = writer.commit(&mut [append("large", &large)]).unwrap();
        assert!(matches!(answers[..], [Ok(())]), "writing works again when there is room");
    }
}
