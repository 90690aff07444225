//! The one thread that writes.
//!
//! It takes all that is queued, does it in one transaction, and answers everybody after the one commit. What fails its
//! own check is undone alone; when the commit fails, nobody's is there and everybody is told.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use agon_core::Record;
use agon_engine::StoreError;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use crate::log;
use crate::owner::Owner;
use crate::place::{Fault, Place};

/// A bound on how long the first of a group waits for the last.
const GROUP: usize = 4096;

type Answer = Result<(), StoreError>;

/// What can be asked of the writer.
#[derive(Debug)]
pub(crate) enum Task {
    /// Add records to the debate's log.
    Append(Vec<Record>),
    /// Take the debate.
    Lease,
    /// Give it back.
    Release,
    /// Change what is kept beside the logs.
    Change(Change),
}

/// A change of what is kept beside the logs, which needs no lease.
pub(crate) struct Change(pub(crate) Box<Make>);

type Make = dyn Fn(&Connection) -> Result<(), Fault> + Send;

impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Change")
    }
}

#[derive(Debug)]
struct Job {
    id: String,
    task: Task,
    done: oneshot::Sender<Answer>,
}

/// The writer's queue and thread.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    commits: Arc<AtomicU64>,
}

impl Writer {
    /// Starts the thread.
    pub(crate) fn start(connection: Connection, place: Place) -> Result<Self, Fault> {
        let (queue, jobs) = mpsc::channel();
        let commits = Arc::new(AtomicU64::new(0));
        let owner = Owner::new(place.owners.clone());
        let desk = Desk { connection, owner, place, commits: Arc::clone(&commits) };
        let thread = thread::Builder::new().name("agon-store".into()).spawn(move || desk.work(&jobs))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), commits })
    }

    /// Queues a task. Its answer comes after the commit that it is in; none comes if the thread has died.
    pub(crate) fn queue(&self, id: &str, task: Task) -> oneshot::Receiver<Answer> {
        let (done, answer) = oneshot::channel();
        if let Some(queue) = &self.queue {
            // A job that cannot be queued is dropped, and its answer's other end sees that.
            let _ = queue.send(Job { id: id.to_owned(), task, done });
        }
        answer
    }

    /// How many commits there were.
    pub(crate) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread works with.
struct Desk {
    connection: Connection,
    owner: Owner,
    place: Place,
    commits: Arc<AtomicU64>,
}

impl Desk {
    fn work(mut self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let group: Vec<Job> = std::iter::once(first).chain(jobs.try_iter().take(GROUP - 1)).collect();
            let answers = self.commit(&group).unwrap_or_else(|fault| {
                let error = self.place.tell(fault);
                group.iter().map(|_| Err(error.clone())).collect()
            });
            for (job, answer) in group.into_iter().zip(answers) {
                // Whoever has stopped waiting does not want to know.
                let _ = job.done.send(answer);
            }
        }
    }

    /// Does a group in one transaction. An error is the whole group's, and then nothing of it was written.
    fn commit(&mut self, group: &[Job]) -> Result<Vec<Answer>, Fault> {
        let Self { connection, owner, place, commits } = self;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut answers = Vec::with_capacity(group.len());
        for job in group {
            run(&transaction, "SAVEPOINT job")?;
            let done = perform(&transaction, owner, place, job);
            if done.is_err() {
                // SQLite undoes everything by itself when the disk is full or failing.
                if transaction.is_autocommit() {
                    return done.map(|()| answers);
                }
                run(&transaction, "ROLLBACK TO job")?;
            }
            run(&transaction, "RELEASE job")?;
            answers.push(done.map_err(|fault| place.tell(fault)));
        }
        transaction.commit()?;
        commits.fetch_add(1, Ordering::Relaxed);
        Ok(answers)
    }
}

fn perform(log: &Connection, owner: &mut Owner, place: &Place, job: &Job) -> Result<(), Fault> {
    match &job.task {
        Task::Append(records) => log::append(log, owner, &job.id, records),
        Task::Lease => log::lease(log, owner, place, &job.id),
        Task::Release => log::release(log, owner, &job.id),
        Task::Change(Change(change)) => change(log),
    }
}

fn run(connection: &Connection, sql: &str) -> Result<(), rusqlite::Error> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

#[cfg(test)]
mod tests;
