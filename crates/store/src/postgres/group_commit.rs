//! The writer of a server: group commit that survives lost connections.
//!
//! Each transaction writes its number into the process's own row. If the connection is lost while it commits, nobody knows whether that
//! happened, so the row is read again, and the group is answered or written once more.

use std::collections::HashSet;
use std::time::Duration;

use agon_core::LogRecord;
use agon_engine::StoreError;

use super::appends::AppendBatch;
use super::ownership::DebateOwner;
use super::reader_pool::{ReconnectPatience, connection_is_lost};
use super::{BEGIN_WRITE, PostgresConnection, PostgresServer, is_conflict, schema};
use crate::sql::{SqlDatabase, SqlFault};
use crate::store_fault::StoreFault;
use crate::store_place::StorePlace;
use crate::writer::{GroupCommit, QueuedWrite, UNTIL_NEXT_WRITE, WriteRequest};

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
        let db = server.connect()?;
        schema::prepare(&db)?;
        let owner = DebateOwner::new(server.takeover_after())?;
        Ok(Self { place: StorePlace::Server(server.clone()), server, db: Some(db), owner })
    }

    fn connect(&mut self) -> Result<(), StoreFault> {
        if self.db.is_none() {
            self.db = Some(self.server.connect()?);
        }
        Ok(())
    }

    fn disconnect(&mut self) {
        self.db = None;
        self.owner.lose_lock();
    }

    /// Whoever ends a debate gives it back, too, but its end has done that already.
    fn changes_nothing(&self, write: &QueuedWrite) -> bool {
        matches!(&write.request, WriteRequest::Release(id) if self.owner.leased(id).is_none())
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
        if group.iter().all(|write| self.changes_nothing(write)) {
            return Ok(group.iter().map(|_| Ok(())).collect());
        }
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
            return UNTIL_NEXT_WRITE;
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

/// Appends, leases and releases that concern different debates, so that their order does not matter.
#[derive(Default)]
struct LogBatch<'a> {
    appends: AppendBatch<'a>,
    /// Each with its place in the group.
    leases: Vec<(usize, &'a str)>,
    releases: Vec<&'a str>,
    ids: HashSet<&'a str>,
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
        let mut batch = LogBatch::default();
        for (place, write) in group.iter_mut().enumerate() {
            match &mut write.request {
                WriteRequest::Append { id, records } => {
                    self.make_room(&mut batch, id, &mut answers)?;
                    batch.appends.add(self.db, self.owner, place, id, records)?;
                }
                WriteRequest::Lease(id) => {
                    self.make_room(&mut batch, id, &mut answers)?;
                    batch.leases.push((place, id.as_str()));
                }
                WriteRequest::Release(id) => {
                    self.make_room(&mut batch, id, &mut answers)?;
                    batch.releases.push(id);
                }
                WriteRequest::Open(opening) => {
                    self.write(std::mem::take(&mut batch), &mut answers)?;
                    if opening.claim(self.db)? {
                        batch.ids.insert(opening.id());
                        batch.appends.add(self.db, self.owner, place, opening.id(), &opening.records)?;
                    }
                }
                WriteRequest::Change(change) => {
                    self.write(std::mem::take(&mut batch), &mut answers)?;
                    // What fails may have changed something. There is no savepoint, so the group is then applied one by one.
                    change.apply(self.db)?;
                }
            }
        }
        self.write(batch, &mut answers)?;
        Ok(answers)
    }

    /// Writes what is gathered if something of it concerns the same debate.
    fn make_room<'a>(
        &mut self,
        batch: &mut LogBatch<'a>,
        id: &'a str,
        answers: &mut GroupAnswers,
    ) -> Result<(), StoreFault> {
        if batch.ids.contains(id) {
            self.write(std::mem::take(batch), answers)?;
        }
        batch.ids.insert(id);
        Ok(())
    }

    fn write(&mut self, batch: LogBatch<'_>, answers: &mut GroupAnswers) -> Result<(), StoreFault> {
        let mut refused = Vec::new();
        if !batch.leases.is_empty() {
            refused.extend(self.owner.lease(self.db, self.connection, &batch.leases)?);
        }
        if !batch.appends.is_empty() {
            refused.extend(batch.appends.write(self.db, self.connection, self.owner)?);
        }
        self.owner.release(self.connection, &batch.releases)?;
        for (place, fault) in refused {
            self.note(answers, place, Err(fault));
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
                WriteRequest::Append { id, records } => append_alone(db, connection, owner, id, records),
                WriteRequest::Open(opening) => match opening.claim(db)? {
                    true => append_alone(db, connection, owner, opening.id(), &opening.records),
                    false => Ok(()),
                },
                WriteRequest::Lease(id) => owner
                    .lease(db, connection, &[(0, id.as_str())])?
                    .pop()
                    .map_or(Ok(()), |(_, fault)| Err(fault)),
                WriteRequest::Release(id) => Ok(owner.release(connection, &[id.as_str()])?),
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

fn append_alone(
    db: &SqlDatabase,
    connection: &PostgresConnection,
    owner: &mut DebateOwner,
    id: &str,
    records: &[LogRecord],
) -> Result<(), StoreFault> {
    let mut batch = AppendBatch::default();
    batch.add(db, owner, 0, id, records)?;
    batch.write(db, connection, owner)?.pop().map_or(Ok(()), |(_, fault)| Err(fault))
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
        WriteRequest::Open(_) | WriteRequest::Change(_) => true,
    }
}
