//! The store of one process: a writer that commits everything queued in one transaction, keeps its connection and its lock, says that the
//! process is alive, and finds out what became of a transaction whose answer was lost.

use std::sync::Arc;
use std::time::Duration;

use agon_core::LogRecord;
use agon_engine::{Store, StoreError};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

use crate::database::{
    Database, GroupAnswer, GroupTransaction, LeasedLogs, SessionNumber, StoreRequest, TAKEOVER_AFTER, failed,
};
use crate::schedule::{Disturbance, ProcessKey, World};

/// How long a lost connection is tried to be replaced before the writer gives up.
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// A request, and where its answer goes.
pub(crate) type QueuedRequest = (StoreRequest, oneshot::Sender<Result<(), StoreError>>);

/// What the engine of a process sees.
pub(crate) struct ProcessStore {
    world: Arc<World>,
    process: ProcessKey,
    queue: mpsc::UnboundedSender<QueuedRequest>,
}

impl ProcessStore {
    pub(crate) fn new(world: &Arc<World>, process: ProcessKey) -> (Self, StoreWriter) {
        let (queue, requests) = mpsc::unbounded_channel();
        let writer = StoreWriter {
            world: world.clone(),
            process,
            requests,
            session: None,
            needs_lock: false,
            holds_lock: false,
            seen: None,
            transactions: 0,
            leases: LeasedLogs::new(),
        };
        (Self { world: world.clone(), process, queue }, writer)
    }

    /// The request is queued at once, whether or not anybody waits for the answer.
    fn write(&self, request: StoreRequest) -> BoxFuture<'_, Result<(), StoreError>> {
        let (answer, answered) = oneshot::channel();
        let _ = self.queue.send((request, answer));
        answered.map(|answer| answer.unwrap_or_else(|_| Err(failed("the writer is gone")))).boxed()
    }
}

impl Store for ProcessStore {
    fn append<'a>(&'a self, id: &'a str, records: Vec<LogRecord>) -> BoxFuture<'a, Result<(), StoreError>> {
        let run = self.world.current_run(self.process, id);
        let returned = self.world.runs.lock().unwrap()[run].returned.len();
        let written =
            self.write(StoreRequest::Append { debate: id.to_owned(), records: Arc::new(records), run });
        async move {
            written.await?;
            self.world.runs.lock().unwrap()[run].confirmed = returned;
            Ok(())
        }
        .boxed()
    }

    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Vec<LogRecord>, StoreError>> {
        async move {
            let mut patience = ReconnectPatience::new();
            loop {
                let debate = id.to_owned();
                let read =
                    move |database: &mut Database| database.debates.get(&debate).map(|row| row.log.clone());
                match exchange(&self.world, self.process, None, read).await {
                    Ok(log) => return log.ok_or_else(|| StoreError::Unknown(id.to_owned())),
                    Err(LostConnection) if patience.wait().await => {}
                    Err(LostConnection) => return Err(failed("the server is away")),
                }
            }
        }
        .boxed()
    }

    fn lease<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        self.write(StoreRequest::Lease(id.to_owned()))
    }

    fn release<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        self.write(StoreRequest::Release(id.to_owned()))
    }
}

/// The connection was lost before the answer came. Whether the server did what was asked is unknown.
struct LostConnection;

/// Sends something to the database and waits for its answer. The message travels on its own: it arrives even if the process is stopped or
/// dead by then.
///
/// The sender learns of a lost connection only when the message has arrived or never will. In PostgreSQL the same follows from the locks
/// of the transaction: whoever asks what became of it waits for its end.
async fn exchange<T: Send + 'static>(
    world: &Arc<World>,
    process: ProcessKey,
    session: Option<SessionNumber>,
    action: impl FnOnce(&mut Database) -> T + Send + 'static,
) -> Result<T, LostConnection> {
    let (answer, answered) = oneshot::channel();
    let (mut there, back) = (world.millis_below(12), world.millis_below(12));
    let is_cut = world.may_disturb(100);
    // Half of the lost connections lose a message, the others an answer.
    let loses_message = world.below(2) == 0;
    if !is_cut && world.may_disturb(150) {
        world.note_disturbance(Disturbance::Delay, process);
        there += TAKEOVER_AFTER - Duration::from_secs(6) + world.millis_below(12_000);
    }
    if is_cut {
        world.note_disturbance(Disturbance::Cut, process);
        world.cut_off(process, world.millis_below([1, 1, 90_000][world.below(3)]));
    }
    let world = world.clone();
    tokio::spawn(async move {
        sleep(there).await;
        let done = {
            let mut database = world.database.lock().unwrap();
            let is_connected = session.is_none_or(|session| database.has_session(session));
            let is_lost = if is_cut { loses_message } else { world.is_cut_off(process) };
            if database.is_away || !is_connected || is_lost {
                return;
            }
            action(&mut database)
        };
        sleep(back).await;
        if !is_cut && !world.is_cut_off(process) && !world.database.lock().unwrap().is_away {
            let _ = answer.send(done);
        }
    });
    answered.await.map_err(|_| LostConnection)
}

struct ReconnectPatience {
    since: Instant,
    next: Duration,
}

impl ReconnectPatience {
    fn new() -> Self {
        Self { since: Instant::now(), next: Duration::from_millis(50) }
    }

    /// Waits before the next attempt, longer every time. `false` if it has been enough.
    async fn wait(&mut self) -> bool {
        if self.since.elapsed() >= GIVE_UP_AFTER {
            return false;
        }
        sleep(self.next).await;
        self.next = (2 * self.next).min(Duration::from_secs(2));
        true
    }
}

/// The writer of a process.
pub(crate) struct StoreWriter {
    world: Arc<World>,
    process: ProcessKey,
    requests: mpsc::UnboundedReceiver<QueuedRequest>,
    session: Option<SessionNumber>,
    /// Whether it ever leased a debate.
    needs_lock: bool,
    holds_lock: bool,
    seen: Option<Instant>,
    /// How many transactions it has begun.
    transactions: u64,
    leases: LeasedLogs,
}

/// Why a group is not written yet.
enum FailedCommit {
    Lost,
    /// The connection was lost after the transaction was sent.
    Unconfirmed,
}

impl From<LostConnection> for FailedCommit {
    fn from(_: LostConnection) -> Self {
        Self::Lost
    }
}

impl StoreWriter {
    pub(crate) async fn run(mut self) {
        loop {
            let until_next = self.tend().await;
            let first = tokio::select! {
                biased;
                Some(first) = self.requests.recv() => first,
                () = sleep(until_next) => continue,
            };
            let mut group = vec![first];
            while let Ok(next) = self.requests.try_recv() {
                group.push(next);
            }
            let (requests, waiting): (Vec<_>, Vec<_>) = group.into_iter().unzip();
            let answers = match self.commit(&requests).await {
                Some(answer) => {
                    self.leases = answer.leases;
                    answer.answers
                }
                None => waiting.iter().map(|_| Err(failed("the server is away"))).collect(),
            };
            for (waiting, answer) in waiting.into_iter().zip(answers) {
                let _ = waiting.send(answer);
            }
        }
    }

    /// Writes a group. `None` if the server stays away.
    async fn commit(&mut self, requests: &[StoreRequest]) -> Option<GroupAnswer> {
        let mut patience = ReconnectPatience::new();
        loop {
            match self.attempt(requests).await {
                Ok(answer) => return Some(answer),
                Err(FailedCommit::Lost) => {
                    self.disconnect();
                    if !patience.wait().await {
                        return None;
                    }
                }
                Err(FailedCommit::Unconfirmed) => {
                    self.disconnect();
                    match self.committed(&mut patience).await {
                        Ok(None) => {}
                        Ok(answer) => return answer,
                        Err(LostConnection) => return None,
                    }
                }
            }
        }
    }

    async fn attempt(&mut self, requests: &[StoreRequest]) -> Result<GroupAnswer, FailedCommit> {
        self.needs_lock = true;
        let session = self.take_lock().await?;
        self.transactions += 1;
        self.seen = Some(Instant::now());
        let transaction = GroupTransaction {
            process: self.process,
            number: self.transactions,
            leases: self.leases.clone(),
            requests: requests.to_vec(),
        };
        let commit = move |database: &mut Database| database.commit(transaction);
        exchange(&self.world, self.process, Some(session), commit)
            .await
            .map_err(|LostConnection| FailedCommit::Unconfirmed)
    }

    /// What the last transaction did, if it was committed.
    async fn committed(
        &mut self,
        patience: &mut ReconnectPatience,
    ) -> Result<Option<GroupAnswer>, LostConnection> {
        loop {
            let answer = match self.connect().await {
                Ok(session) => {
                    let (process, number) = (self.process, self.transactions);
                    let read = move |database: &mut Database| database.committed(process, number);
                    exchange(&self.world, process, Some(session), read).await
                }
                Err(lost) => Err(lost),
            };
            match answer {
                Err(LostConnection) if patience.wait().await => self.disconnect(),
                answer => return answer,
            }
        }
    }

    /// Says that the process is alive if it is time, and returns when to do so again.
    async fn tend(&mut self) -> Duration {
        let interval = TAKEOVER_AFTER / 6;
        if !self.needs_lock {
            return Duration::from_secs(3_600);
        }
        match self.show_life(interval).await {
            Ok(()) => interval,
            Err(LostConnection) => {
                self.disconnect();
                Duration::from_secs(1)
            }
        }
    }

    async fn show_life(&mut self, interval: Duration) -> Result<(), LostConnection> {
        let session = self.take_lock().await?;
        if self.seen.is_none_or(|seen| seen.elapsed() >= interval) {
            let process = self.process;
            exchange(&self.world, process, Some(session), move |database| database.show_life(process))
                .await?;
            self.seen = Some(Instant::now());
        }
        Ok(())
    }

    /// Connects, and takes the lock if this process does not hold it. An earlier connection of the process may still have it.
    async fn take_lock(&mut self) -> Result<SessionNumber, LostConnection> {
        let session = self.connect().await?;
        if !self.holds_lock {
            let process = self.process;
            let take = move |database: &mut Database| database.take_lock(process, session);
            self.holds_lock = exchange(&self.world, process, Some(session), take).await?;
            self.seen = Some(Instant::now());
        }
        Ok(session)
    }

    async fn connect(&mut self) -> Result<SessionNumber, LostConnection> {
        if let Some(session) = self.session {
            return Ok(session);
        }
        let process = self.process;
        let session =
            exchange(&self.world, process, None, move |database| database.open_session(process)).await?;
        self.session = Some(session);
        Ok(session)
    }

    /// Gives the connection up. The server may notice that much later.
    fn disconnect(&mut self) {
        self.holds_lock = false;
        let Some(session) = self.session.take() else { return };
        let noticed_after = [Duration::ZERO, self.world.millis_below(10_000)][self.world.below(2)];
        let world = self.world.clone();
        tokio::spawn(async move {
            sleep(noticed_after).await;
            world.database.lock().unwrap().end_session(session);
        });
    }
}
