//! The writer of a server: group commit that survives lost connections.
//!
//! Each transaction writes its number into the process's own row. If the connection is lost while it commits, nobody knows whether that
//! happened, so the row is read again, and the group is answered or written once more.

use std::time::Duration;

use agon_engine::StoreError;

use super::appends::AppendBatch;
use super::ownership::DebateOwner;
use super::reader_pool::{ReconnectPatience, connection_is_lost};
use super::{BEGIN_WRITE, PostgresConnection, PostgresServer, is_conflict, schema};
use crate::sql::{SqlDatabase, SqlFault};
use crate::store_fault::StoreFault;
use crate::store_place::StorePlace;
use crate::writer::{GroupCommit, QueuedWrite, WriteRequest};

/// How often a group is written again because of what others did at the same time.
const CONFLICTS_MAX: usize = 20;

/// How long the writer waits before it looks for a lost server again while nothing is to be written.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The connection that writes.
pub(crate) struct PostgresWriter {
    server: PostgresServer,
    place: StorePlace,
    /// `None` after it was lost.
    db: Option<SqlDatabase>,
    owner: DebateOwner,
}

type GroupAnswers = Vec<Result<(), StoreError>>;

/// Why a group is not written yet.
enum FailedAttempt {
    /// The connection was lost before the commit.
    Lost(StoreFault),
    /// It was lost during the commit, after which these would be the answers.
    Unconfirmed(GroupAnswers),
    /// Others changed the same rows at the same time.
    Conflict(StoreFault),
    /// A statement failed.
    Failed(StoreFault),
}

impl PostgresWriter {
    /// Connects, and creates the tables if they are missing.
    pub(crate) fn open(server: PostgresServer) -> Result<Self, StoreFault> {
        let db = SqlDatabase::Postgres(server.connect()?);
        schema::prepare(&db)?;
        let owner = DebateOwner::new(server.takeover_after())?;
        Ok(Self { place: StorePlace::Server(server.clone()), server, db: Some(db), owner })
    }

    fn connect(&mut self) -> Result<(), StoreFault> {
        if self.db.is_none() {
            self.db = Some(SqlDatabase::Postgres(self.server.connect()?));
        }
        Ok(())
    }

    fn disconnect(&mut self) {
        self.db = None;
        self.owner.lose_lock();
    }

    fn attempt(
        &mut self,
        group: &mut [QueuedWrite],
        one_by_one: bool,
    ) -> Result<GroupAnswers, FailedAttempt> {
        self.connect().map_err(sort_fault)?;
        let Self { db: Some(db), owner, place, .. } = self else { return Ok(Vec::new()) };
        let SqlDatabase::Postgres(connection) = &*db else { return Ok(Vec::new()) };
        let mut transaction = GroupTransaction { db, connection, owner, place };
        transaction.begin(group).map_err(sort_fault)?;
        let answers = match one_by_one {
            true => transaction.apply_one_by_one(group),
            false => transaction.apply_together(group),
        };
        let answers = answers.map_err(sort_fault)?;
        // A transaction in which something failed unnoticed would be undone by COMMIT without an error. The first statement fails then.
        match connection.run_batch("SELECT 1; COMMIT") {
            Ok(()) => Ok(answers),
            Err(error) => Err(match sort_fault(error.into()) {
                FailedAttempt::Lost(_) => FailedAttempt::Unconfirmed(answers),
                failed => failed,
            }),
        }
    }

    fn roll_back(&mut self) {
        self.owner.undo_to(0);
        if let Some(db) = &self.db
            && db.run_batch("ROLLBACK").is_err()
        {
            self.disconnect();
        }
    }

    /// Whether the last transaction was committed.
    fn was_committed(&mut self, patience: &mut ReconnectPatience) -> Result<bool, StoreFault> {
        loop {
            let answer = self.connect().and_then(|()| match &self.db {
                Some(db) => Ok(self.owner.was_committed(db)?),
                None => Ok(false),
            });
            match answer {
                Err(fault) if connection_is_lost(&fault) && patience.wait() => self.disconnect(),
                answer => return answer,
            }
        }
    }
}

impl GroupCommit for PostgresWriter {
    fn commit(&mut self, group: &mut [QueuedWrite]) -> Result<GroupAnswers, StoreFault> {
        let (mut one_by_one, mut conflicts) = (false, 0);
        let mut patience = ReconnectPatience::new();
        loop {
            match self.attempt(group, one_by_one) {
                Ok(answers) => {
                    self.owner.committed();
                    return Ok(answers);
                }
                Err(FailedAttempt::Unconfirmed(answers)) => {
                    self.disconnect();
                    if self.was_committed(&mut patience)? {
                        self.owner.committed();
                        return Ok(answers);
                    }
                    self.owner.undo_to(0);
                }
                Err(FailedAttempt::Lost(fault)) => {
                    self.owner.undo_to(0);
                    self.disconnect();
                    if !patience.wait() {
                        return Err(fault);
                    }
                }
                Err(FailedAttempt::Conflict(fault)) => {
                    self.roll_back();
                    conflicts += 1;
                    if conflicts > CONFLICTS_MAX {
                        return Err(fault);
                    }
                }
                Err(FailedAttempt::Failed(fault)) => {
                    self.roll_back();
                    if one_by_one {
                        return Err(fault);
                    }
                    one_by_one = true;
                }
            }
        }
    }

    fn tend(&mut self) -> Duration {
        if !self.owner.has_leased() {
            return Duration::from_secs(3_600);
        }
        let shown = self.connect().and_then(|()| match &self.db {
            Some(SqlDatabase::Postgres(connection)) => Ok(self.owner.show_life(connection)?),
            _ => Ok(()),
        });
        match shown {
            Ok(()) => self.owner.interval(),
            Err(_) => {
                self.disconnect();
                LOOK_AGAIN
            }
        }
    }
}

impl Drop for PostgresWriter {
    fn drop(&mut self) {
        if let Some(SqlDatabase::Postgres(connection)) = &self.db {
            self.owner.leave(connection);
        }
    }
}

fn sort_fault(fault: StoreFault) -> FailedAttempt {
    match &fault {
        fault_kind if connection_is_lost(fault_kind) => FailedAttempt::Lost(fault),
        StoreFault::Sql(SqlFault::Postgres(error)) if is_conflict(error) => FailedAttempt::Conflict(fault),
        _ => FailedAttempt::Failed(fault),
    }
}

/// One transaction that applies a group.
struct GroupTransaction<'a> {
    db: &'a SqlDatabase,
    connection: &'a PostgresConnection,
    owner: &'a mut DebateOwner,
    place: &'a StorePlace,
}

impl GroupTransaction<'_> {
    /// Begins, in one round trip.
    fn begin(&mut self, group: &[QueuedWrite]) -> Result<(), StoreFault> {
        if group.iter().any(|write| !is_change(write)) {
            self.owner.take_lock(self.connection)?;
        }
        let begin = if group.iter().any(needs_write_lock) { BEGIN_WRITE } else { "BEGIN" };
        Ok(self.connection.run_batch(&format!("{begin}; {}", self.owner.number_transaction()))?)
    }

    /// Applies everything in as few statements as possible. A refusal concerns one write; an error concerns all.
    fn apply_together(&mut self, group: &mut [QueuedWrite]) -> Result<GroupAnswers, StoreFault> {
        let mut answers: GroupAnswers = group.iter().map(|_| Ok(())).collect();
        let mut batch = AppendBatch::default();
        for (place, write) in group.iter_mut().enumerate() {
            let leased = match &mut write.request {
                WriteRequest::Append { id, records } => {
                    if batch.has(id) {
                        self.write(std::mem::take(&mut batch), &mut answers)?;
                    }
                    batch.add(self.db, self.owner, place, id, records)?;
                    continue;
                }
                WriteRequest::Lease(id) => {
                    self.write(std::mem::take(&mut batch), &mut answers)?;
                    self.owner.lease(self.db, id)
                }
                WriteRequest::Release(id) => {
                    self.write(std::mem::take(&mut batch), &mut answers)?;
                    self.owner.release(self.db, id)
                }
                WriteRequest::Change(change) => {
                    self.write(std::mem::take(&mut batch), &mut answers)?;
                    let changed = self.db.in_savepoint(|db| change.apply(db))?;
                    self.note(&mut answers, place, changed);
                    continue;
                }
            };
            match leased {
                // After an error of the server nothing more can be done in this transaction: there is no savepoint.
                Err(fault @ StoreFault::Sql(_)) => return Err(fault),
                leased => self.note(&mut answers, place, leased),
            }
        }
        self.write(batch, &mut answers)?;
        Ok(answers)
    }

    fn write(&mut self, batch: AppendBatch<'_>, answers: &mut GroupAnswers) -> Result<(), StoreFault> {
        if !batch.is_empty() {
            for (place, fault) in batch.write(self.db, self.connection, self.owner)? {
                self.note(answers, place, Err(fault));
            }
        }
        Ok(())
    }

    fn note(&self, answers: &mut GroupAnswers, place: usize, done: Result<(), StoreFault>) {
        if let Some(answer) = answers.get_mut(place) {
            *answer = done.map_err(|fault| self.place.explain(fault));
        }
    }

    /// Applies each write in a savepoint of its own, so that one that fails is undone alone.
    fn apply_one_by_one(&mut self, group: &mut [QueuedWrite]) -> Result<GroupAnswers, StoreFault> {
        let mut answers = Vec::with_capacity(group.len());
        for write in group {
            let noted = self.owner.noted();
            let Self { db, connection, owner, place } = self;
            let applied = db.in_savepoint(|db| match &mut write.request {
                WriteRequest::Append { id, records } => {
                    let mut batch = AppendBatch::default();
                    batch.add(db, owner, 0, id, records)?;
                    batch.write(db, connection, owner)?.pop().map_or(Ok(()), |(_, fault)| Err(fault))
                }
                WriteRequest::Lease(id) => owner.lease(db, id),
                WriteRequest::Release(id) => owner.release(db, id),
                WriteRequest::Change(change) => change.apply(db),
            })?;
            if applied.is_err() {
                owner.undo_to(noted);
            }
            answers.push(applied.map_err(|fault| place.explain(fault)));
        }
        Ok(answers)
    }
}

fn is_change(write: &QueuedWrite) -> bool {
    matches!(write.request, WriteRequest::Change(_))
}

/// Whether a write changes what other processes change, too.
fn needs_write_lock(write: &QueuedWrite) -> bool {
    match &write.request {
        WriteRequest::Append { records, .. } => {
            records.last().is_some_and(|last| matches!(last.entry.event, agon_core::Event::Closed { .. }))
        }
        WriteRequest::Lease(_) | WriteRequest::Release(_) => false,
        WriteRequest::Change(_) => true,
    }
}
