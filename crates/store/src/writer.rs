//! The thread that writes, with group commit.
//!
//! It takes everything that is queued, applies it in one transaction and answers everybody after the one commit. A write
//! that fails its own check is undone alone. If the commit fails, nothing of the group is written and every caller is
//! told.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use agon_engine::StoreError;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use crate::leases::LeaseHolder;
use crate::sql::CachedSql;
use crate::store_fault::StoreFault;
use crate::store_path::StorePath;

/// The most writes in one commit. It bounds how long the first of a group waits for the last.
const GROUP_MAX: usize = 4096;

/// The queue to the writer thread. Dropping it waits until everything queued is written.
pub(crate) struct WriterHandle {
    queue: Option<Sender<Box<dyn QueuedWrite>>>,
    thread: Option<JoinHandle<()>>,
    commits: Arc<AtomicU64>,
}

impl WriterHandle {
    /// Starts the thread.
    pub(crate) fn start(connection: Connection, path: StorePath) -> Result<Self, StoreFault> {
        let (queue, writes) = mpsc::channel();
        let commits = Arc::new(AtomicU64::new(0));
        let holder = LeaseHolder::new(path.locks.clone());
        let writer = WriterThread { connection, holder, path, commits: Arc::clone(&commits) };
        let thread = thread::Builder::new().name("agon-store".into()).spawn(move || writer.run(&writes))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), commits })
    }

    /// Queues a change. The answer comes after the commit that includes it. The channel closes without an answer if the
    /// thread has died.
    pub(crate) fn queue<T: Send + 'static>(
        &self,
        change: impl FnMut(&Connection, &mut LeaseHolder) -> Result<T, StoreFault> + Send + 'static,
    ) -> oneshot::Receiver<Result<T, StoreError>> {
        let (done, answer) = oneshot::channel();
        if let Some(queue) = &self.queue {
            // If the thread is gone, the write is dropped and `answer` sees that.
            let _ = queue.send(Box::new(TableWrite { change, value: None, done }));
        }
        answer
    }

    pub(crate) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for WriterHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriterHandle").field("commits", &self.commits).finish_non_exhaustive()
    }
}

impl Drop for WriterHandle {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One write in the queue.
trait QueuedWrite: Send {
    /// Applies the change inside the group's transaction.
    fn apply(&mut self, connection: &Connection, holder: &mut LeaseHolder) -> Result<(), StoreFault>;

    /// Tells the caller what happened, after the commit.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

struct TableWrite<T, F> {
    change: F,
    /// What the change returned. The caller gets it only after the commit.
    value: Option<T>,
    done: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> QueuedWrite for TableWrite<T, F>
where
    T: Send,
    F: FnMut(&Connection, &mut LeaseHolder) -> Result<T, StoreFault> + Send,
{
    fn apply(&mut self, connection: &Connection, holder: &mut LeaseHolder) -> Result<(), StoreFault> {
        self.value = Some((self.change)(connection, holder)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let Self { value, done, .. } = *self;
        let answer = committed.map(|()| value).transpose();
        // Sending fails if the caller no longer waits.
        let _ = answer.map(|answer| done.send(answer));
    }
}

/// What the thread works with.
struct WriterThread {
    connection: Connection,
    holder: LeaseHolder,
    path: StorePath,
    commits: Arc<AtomicU64>,
}

impl WriterThread {
    fn run(mut self, writes: &Receiver<Box<dyn QueuedWrite>>) {
        while let Ok(first) = writes.recv() {
            let mut group: Vec<_> =
                std::iter::once(first).chain(writes.try_iter().take(GROUP_MAX - 1)).collect();
            let answers = self.commit(&mut group).unwrap_or_else(|fault| {
                let error = self.path.explain(fault);
                group.iter().map(|_| Err(error.clone())).collect()
            });
            group.into_iter().zip(answers).for_each(|(write, answer)| write.answer(answer));
        }
    }

    /// Applies a group in one transaction. If this fails, nothing of the group was written.
    fn commit(
        &mut self,
        group: &mut [Box<dyn QueuedWrite>],
    ) -> Result<Vec<Result<(), StoreError>>, StoreFault> {
        let Self { connection, holder, path, commits } = self;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut answers = Vec::with_capacity(group.len());
        for write in group {
            transaction.run("SAVEPOINT one_write", [])?;
            let applied = write.apply(&transaction, holder);
            if applied.is_err() {
                // SQLite rolls back the whole transaction by itself when the disk is full or failing.
                if transaction.is_autocommit() {
                    return applied.map(|()| answers);
                }
                transaction.run("ROLLBACK TO one_write", [])?;
            }
            transaction.run("RELEASE one_write", [])?;
            answers.push(applied.map_err(|fault| path.explain(fault)));
        }
        transaction.commit()?;
        commits.fetch_add(1, Ordering::Relaxed);
        Ok(answers)
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
    use crate::{debate_list, log_table, schema};

    fn writer(folder: &TempDir) -> WriterThread {
        let path = StorePath::prepare(&folder.path().join("agon.db")).unwrap();
        let mut connection = path.connect().unwrap();
        schema::prepare(&mut connection).unwrap();
        let holder = LeaseHolder::new(path.locks.clone());
        WriterThread { connection, holder, path, commits: Arc::default() }
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

    fn append(id: &'static str, records: &[LogRecord]) -> Box<dyn QueuedWrite> {
        let records = records.to_vec();
        let change = move |connection: &Connection, holder: &mut LeaseHolder| {
            log_table::append(connection, holder, id, &records)
        };
        Box::new(TableWrite { change, value: None, done: oneshot::channel().0 })
    }

    fn ids(writer: &WriterThread) -> Vec<String> {
        let debates = debate_list::list(&writer.connection, &writer.path, None).unwrap();
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
        writer.connection.execute_batch(spoil).unwrap();
        let (good, bad) = (records("good", "fine"), records("bad", "spoil"));
        let fault = writer.commit(&mut [append("good", &good), append("bad", &bad)]).unwrap_err();
        assert!(matches!(fault, StoreFault::Sql(_)), "{fault:?}");
        assert_eq!(ids(&writer), [""; 0]);
        let answers = writer.commit(&mut [append("good", &good)]).unwrap();
        assert!(matches!(answers[..], [Ok(())]), "the next group is not affected");
        let stored = log_table::raw_log(&writer.connection, "good").unwrap();
        assert_eq!(open_all(stored).unwrap(), good);
        assert_eq!(writer.commits.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_full_disk_leaves_nothing_half_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = writer(&folder);
        let pages: i64 = writer.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        let limit = |writer: &WriterThread, pages: i64| {
            writer.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
        };
        limit(&writer, pages + 2);
        let (small, large) = (records("small", "fine"), records("large", &"much ".repeat(20_000)));
        let errors: Vec<_> = match writer.commit(&mut [append("small", &small), append("large", &large)]) {
            Ok(answers) => answers.into_iter().filter_map(Result::err).collect(),
            Err(fault) => vec![writer.path.explain(fault)],
        };
        let sentence = errors[0].to_string();
        assert!(
            sentence.contains("agon.db") && sentence.contains("the disk is full: free some space"),
            "{sentence}"
        );
        assert!(!ids(&writer).contains(&"large".to_owned()));
        let events: i64 =
            writer.connection.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
        assert_eq!(events as usize, 2 * ids(&writer).len(), "only whole debates are stored");
        limit(&writer, 1_000_000);
        let answers = writer.commit(&mut [append("large", &large)]).unwrap();
        assert!(matches!(answers[..], [Ok(())]), "writing works again when there is room");
    }
}
