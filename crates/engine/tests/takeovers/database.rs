//! The database that all processes use, with the rules of the store on PostgreSQL: an append needs the head, the epoch and the owner
//! that its process knows, in one step; a debate can be leased if its owner has lost its lock or is silent; each lease raises the
//! epoch; and a transaction leaves its number, so that a process can learn what became of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agon_core::{Brief, Debate, Event, LogRecord};
use agon_engine::StoreError;
use tokio::time::Instant;

use crate::schedule::{ProcessKey, RunNumber};

/// A process that was not seen for so long can lose its debates.
pub(crate) const TAKEOVER_AFTER: Duration = Duration::from_secs(30);

/// What is wrong with a store, to show that the simulation notices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum StoreFlaw {
    None,
    /// An append needs only the head of the log.
    IgnoresEpochs,
    /// A debate is leased although its owner is alive.
    IgnoresOwners,
    /// When the store goes away, it forgets the last append to each debate.
    ForgetsCommits,
}

/// A connection of a process.
pub(crate) type SessionNumber = u64;

/// What a process wants to be written.
#[derive(Debug, Clone)]
pub(crate) enum StoreRequest {
    Append { debate: String, records: Arc<Vec<LogRecord>>, run: RunNumber },
    Lease(String),
    Release(String),
}

/// A debate as the process that runs it knows it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LeasedLog {
    epoch: u64,
    head: String,
}

pub(crate) type LeasedLogs = BTreeMap<String, LeasedLog>;

/// A group of requests that is written together.
#[derive(Debug, Clone)]
pub(crate) struct GroupTransaction {
    pub(crate) process: ProcessKey,
    pub(crate) number: u64,
    pub(crate) leases: LeasedLogs,
    pub(crate) requests: Vec<StoreRequest>,
}

/// What a transaction did: the answer to each request, and what the process has leased after it.
#[derive(Debug, Clone)]
pub(crate) struct GroupAnswer {
    pub(crate) answers: Vec<Result<(), StoreError>>,
    pub(crate) leases: LeasedLogs,
}

/// What happened to the debates, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HistoryEntry {
    Leased {
        debate: String,
        epoch: u64,
        process: ProcessKey,
    },
    Released {
        debate: String,
        process: ProcessKey,
    },
    Appended {
        debate: String,
        epoch: u64,
        process: ProcessKey,
        run: RunNumber,
        count: usize,
    },
    /// An append was refused because another process has taken the debate, and may have closed it.
    Refused {
        debate: String,
        process: ProcessKey,
    },
    /// A process asked what became of a transaction, and it was committed.
    Confirmed {
        process: ProcessKey,
    },
}

#[derive(Debug)]
pub(crate) struct DebateRow {
    pub(crate) log: Vec<LogRecord>,
    /// The run that appended each record; `None` for the first.
    pub(crate) written_by: Vec<Option<(RunNumber, u64)>>,
    pub(crate) epoch: u64,
    owner: Option<ProcessKey>,
}

impl DebateRow {
    fn head(&self) -> &str {
        self.log.last().map_or("", |last| &last.hash)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.log.last().is_some_and(|last| matches!(last.entry.event, Event::Closed { .. }))
    }

    /// Where the log has the `Sent` of a call.
    pub(crate) fn sent_at(&self, ask: u32, attempt: u32) -> Option<usize> {
        self.log.iter().position(|record| {
            matches!(&record.entry.event, Event::Sent { ask: a, attempt: n, .. } if (*a, *n) == (ask, attempt))
        })
    }
}

#[derive(Debug)]
struct ProcessRow {
    seen_at: Instant,
    /// The number of the last transaction, and what the process knew that it would do.
    last: Option<(u64, GroupAnswer)>,
}

pub(crate) struct Database {
    flaw: StoreFlaw,
    pub(crate) is_away: bool,
    pub(crate) debates: BTreeMap<String, DebateRow>,
    processes: BTreeMap<ProcessKey, ProcessRow>,
    sessions: BTreeMap<SessionNumber, ProcessKey>,
    sessions_opened: SessionNumber,
    /// The session that holds the lock of each process.
    locks: BTreeMap<ProcessKey, SessionNumber>,
    pub(crate) history: Vec<HistoryEntry>,
}

impl Database {
    pub(crate) fn new(flaw: StoreFlaw, briefs: &[Brief]) -> Self {
        let row = |brief: &Brief| {
            let (_, opened) = Debate::open(brief.clone()).unwrap();
            let row = DebateRow { log: vec![opened], written_by: vec![None], epoch: 1, owner: None };
            (brief.id.clone(), row)
        };
        Self {
            flaw,
            is_away: false,
            debates: briefs.iter().map(row).collect(),
            processes: BTreeMap::new(),
            sessions: BTreeMap::new(),
            sessions_opened: 0,
            locks: BTreeMap::new(),
            history: Vec::new(),
        }
    }

    /// The server stops: all connections are gone.
    pub(crate) fn go_away(&mut self) {
        self.is_away = true;
        self.sessions.clear();
        self.locks.clear();
        if self.flaw == StoreFlaw::ForgetsCommits {
            for row in self.debates.values_mut().filter(|row| row.log.len() > 1) {
                row.log.pop();
                row.written_by.pop();
            }
        }
    }

    pub(crate) fn open_session(&mut self, process: ProcessKey) -> SessionNumber {
        self.sessions_opened += 1;
        self.sessions.insert(self.sessions_opened, process);
        self.sessions_opened
    }

    pub(crate) fn has_session(&self, session: SessionNumber) -> bool {
        self.sessions.contains_key(&session)
    }

    /// The server notices that a connection is gone.
    pub(crate) fn end_session(&mut self, session: SessionNumber) {
        self.sessions.remove(&session);
        self.locks.retain(|_, holder| *holder != session);
    }

    pub(crate) fn end_sessions_of(&mut self, process: ProcessKey) {
        self.sessions.retain(|_, user| *user != process);
        self.locks.remove(&process);
    }

    /// Takes the lock of a process if no other session holds it. It is a sign of life.
    pub(crate) fn take_lock(&mut self, process: ProcessKey, session: SessionNumber) -> bool {
        self.show_life(process);
        *self.locks.entry(process).or_insert(session) == session
    }

    pub(crate) fn show_life(&mut self, process: ProcessKey) {
        let seen_at = Instant::now();
        self.processes.entry(process).or_insert(ProcessRow { seen_at, last: None }).seen_at = seen_at;
    }

    fn is_living(&self, process: ProcessKey) -> bool {
        let is_seen = |row: &ProcessRow| row.seen_at.elapsed() < TAKEOVER_AFTER;
        self.locks.contains_key(&process) && self.processes.get(&process).is_some_and(is_seen)
    }

    /// What became of the last transaction of a process, if this is its number.
    pub(crate) fn committed(&mut self, process: ProcessKey, number: u64) -> Option<GroupAnswer> {
        let (last, answer) = self.processes.get(&process)?.last.clone()?;
        if last != number {
            return None;
        }
        self.history.push(HistoryEntry::Confirmed { process });
        Some(answer)
    }

    pub(crate) fn commit(&mut self, transaction: GroupTransaction) -> GroupAnswer {
        let GroupTransaction { process, number, mut leases, requests } = transaction;
        self.show_life(process);
        let answers = requests.into_iter().map(|request| match request {
            StoreRequest::Append { debate, records, run } => {
                self.append(process, &debate, &records, run, &mut leases)
            }
            StoreRequest::Lease(debate) => self.lease(process, debate, &mut leases),
            StoreRequest::Release(debate) => {
                self.release(process, debate, &mut leases);
                Ok(())
            }
        });
        let answers = answers.collect();
        let answer = GroupAnswer { answers, leases };
        if let Some(row) = self.processes.get_mut(&process) {
            row.last = Some((number, answer.clone()));
        }
        answer
    }

    fn append(
        &mut self,
        process: ProcessKey,
        debate: &str,
        records: &[LogRecord],
        run: RunNumber,
        leases: &mut LeasedLogs,
    ) -> Result<(), StoreError> {
        let row = self.debates.get_mut(debate).ok_or_else(|| StoreError::Unknown(debate.to_owned()))?;
        let lease = leases.remove(debate);
        let is_owner = |lease: &LeasedLog| (row.owner, row.epoch) == (Some(process), lease.epoch);
        let may_write = |lease: &LeasedLog| self.flaw == StoreFlaw::IgnoresEpochs || is_owner(lease);
        let Some(LeasedLog { epoch, head }) = lease.filter(may_write).filter(|_| !row.is_closed()) else {
            self.history.push(HistoryEntry::Refused { debate: debate.to_owned(), process });
            return Err(if row.is_closed() {
                failed("the debate is over")
            } else {
                StoreError::LeaseLost(debate.to_owned())
            });
        };
        let follows = records.first().is_some_and(|first| first.entry.seq == row.log.len() as u64);
        if row.head() != head || !follows {
            return Err(failed(OTHER_HEAD));
        }
        row.log.extend_from_slice(records);
        row.written_by.resize(row.log.len(), Some((run, epoch)));
        if row.is_closed() {
            row.owner = None;
        } else {
            leases.insert(debate.to_owned(), LeasedLog { epoch, head: row.head().to_owned() });
        }
        let (debate, count) = (debate.to_owned(), records.len());
        self.history.push(HistoryEntry::Appended { debate, epoch, process, run, count });
        Ok(())
    }

    fn lease(
        &mut self,
        process: ProcessKey,
        debate: String,
        leases: &mut LeasedLogs,
    ) -> Result<(), StoreError> {
        let row = self.debates.get(&debate).ok_or_else(|| StoreError::Unknown(debate.clone()))?;
        if row.is_closed() {
            return Ok(());
        }
        let is_free = row.owner.is_none_or(|owner| !self.is_living(owner));
        let Some(row) = self.debates.get_mut(&debate) else { return Ok(()) };
        if row.owner != Some(process) {
            if !is_free && self.flaw != StoreFlaw::IgnoresOwners {
                return Err(StoreError::Leased(debate));
            }
            row.owner = Some(process);
            row.epoch += 1;
            self.history.push(HistoryEntry::Leased { debate: debate.clone(), epoch: row.epoch, process });
        }
        leases.insert(debate, LeasedLog { epoch: row.epoch, head: row.head().to_owned() });
        Ok(())
    }

    fn release(&mut self, process: ProcessKey, debate: String, leases: &mut LeasedLogs) {
        let (Some(lease), Some(row)) = (leases.remove(&debate), self.debates.get_mut(&debate)) else {
            return;
        };
        if (row.owner, row.epoch) == (Some(process), lease.epoch) {
            row.owner = None;
            self.history.push(HistoryEntry::Released { debate, process });
        }
    }
}

/// The answer to an owner whose log has changed under it. It never happens in a store without flaws.
pub(crate) const OTHER_HEAD: &str = "the log does not end as this process left it";

pub(crate) fn failed(why: &str) -> StoreError {
    StoreError::Failed { file: "database".into(), why: why.to_owned() }
}
