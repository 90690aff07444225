//! Debates that are submitted to workers instead of being run in this process.

use std::sync::Arc;
use std::time::Duration;

use agon_core::event::LogEntry;
use agon_core::{Brief, Debate, LogRecord};
use agon_engine::{DebateWatch, EngineError, StopSignal, Store as _};
use agon_store::DebateStore;

use super::debate_workflow::DebateEnd;
use super::followed_debates::FollowedDebates;
use super::restate_client::{RestateClient, SubmittedDebate};
use crate::cli::errors::CliError;

/// How often the log of a debate that somebody watches is read.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Submits debates to the workers of a Restate server and follows them in the store.
#[derive(Debug, Clone)]
pub struct RemoteDebates {
    client: RestateClient,
    store: DebateStore,
    followed: Arc<FollowedDebates>,
}

impl RemoteDebates {
    pub fn new(client: RestateClient, store: DebateStore) -> Self {
        let followed = FollowedDebates::new(store.clone());
        Self { client, store, followed }
    }

    /// Stores a new debate and submits it. From then on it is the workers'.
    pub async fn open(&self, brief: Brief) -> Result<SubmittedDebate, CliError> {
        let id = brief.id.clone();
        let (_, opened) = Debate::open(brief).map_err(EngineError::from)?;
        self.store.append(&id, vec![opened]).await?;
        self.give_away(&id).await
    }

    /// Opens a debate and follows it to its end.
    pub async fn hold(
        &self,
        brief: Brief,
        watch: &DebateWatch,
        stop: &StopSignal,
    ) -> Result<Debate, CliError> {
        let id = brief.id.clone();
        let submitted = self.open(brief).await?;
        self.follow(&submitted, &id, watch, stop).await
    }

    /// Submits a debate that this process has in the store.
    pub async fn give_away(&self, id: &str) -> Result<SubmittedDebate, CliError> {
        self.store.release(id).await?;
        self.client.submit(id).await
    }

    /// Says that there is a message for a debate.
    pub async fn wake(&self, submitted: &SubmittedDebate) -> Result<(), CliError> {
        self.client.wake(submitted).await
    }

    /// Waits for the end of a debate.
    pub async fn ended(&self, submitted: &SubmittedDebate) -> Result<DebateEnd, CliError> {
        self.followed.ended(&self.client, submitted).await
    }

    /// The whole debate as it is in the store.
    pub async fn read(&self, id: &str) -> Result<Debate, CliError> {
        let records = self.store.load(id).await?;
        Ok(Debate::from_records(&records).map_err(EngineError::from)?)
    }

    /// Passes the log of a debate to whoever watches, until it ends. When it is told to stop, the debate goes on without a watcher.
    pub async fn follow(
        &self,
        submitted: &SubmittedDebate,
        id: &str,
        watch: &DebateWatch,
        stop: &StopSignal,
    ) -> Result<Debate, CliError> {
        let mut seen = 0;
        let end = self.ended(submitted);
        tokio::pin!(end);
        let is_watched = watch.records.is_some();
        let end = loop {
            tokio::select! {
                end = &mut end => break end?,
                () = stop.stopped() => return Err(EngineError::Interrupted { id: id.to_owned() }.into()),
                () = tokio::time::sleep(LOOK_EVERY), if is_watched => seen = self.pass_on(id, seen, watch).await?,
            }
        };
        self.pass_on(id, seen, watch).await?;
        match end.why {
            Some(why) => Err(CliError::input(format!("debate {id} is not over: {why}"))),
            None => self.read(id).await,
        }
    }

    /// Passes on the records from this number on, and returns the number of the next.
    async fn pass_on(&self, id: &str, seen: u64, watch: &DebateWatch) -> Result<u64, CliError> {
        let Some(watcher) = &watch.records else { return Ok(seen) };
        let (store, wanted) = (self.store.clone(), id.to_owned());
        let read = tokio::task::spawn_blocking(move || store.raw_log_from(&wanted, seen, usize::MAX));
        let new = read.await.map_err(|why| CliError::System(format!("reading broke off: {why}")))??;
        let mut count = seen;
        for (body, hash) in new {
            let entry: LogEntry = serde_json::from_str(&body).map_err(|why| {
                CliError::System(format!("event {count} of debate {id} cannot be read: {why}"))
            })?;
            count += 1;
            // A watcher that is gone does not stop the debate.
            let _ = watcher.send(Arc::new(LogRecord { entry, body, hash }));
        }
        Ok(count)
    }
}
