//! Opens, starts and resumes debates.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_core::play::reopen;
use agon_core::{Ask, Brief, Corrupt, Debate, Event, Invalid, LogRecord, Protocol};

use crate::ask_task::AskTask;
use crate::call_limits::{CallLimiter, CallShares};
use crate::debate_run::DebateRun;
use crate::log_writer::{DebateLease, LogWriter};
use crate::model_chains::ChainResolver;
use crate::shared_budget::SharedBudget;
use crate::{CallFault, DebateWatch, ModelSource, StopSignal, Store, StoreError};

/// Runs debates: any number at once, each in the task of its caller.
pub struct Engine {
    models: Arc<dyn ModelSource>,
    store: Arc<dyn Store>,
    limiter: CallLimiter,
    pub(crate) shared_budget: Option<SharedBudget>,
    pub(crate) settings: EngineSettings,
}

/// Settings for all debates of an engine.
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// How many calls run at once, over all providers.
    pub concurrent_calls: usize,
    /// How many calls run at once for each provider.
    pub provider_calls: usize,
    /// The same for single providers, by name.
    pub provider_limits: BTreeMap<String, usize>,
    /// The longest delay before the first retry. It doubles with every retry.
    pub backoff_first_ms: u64,
    /// The longest delay before any retry, unless the provider asks for more.
    pub backoff_max_ms: u64,
    /// How long running calls may take to finish after a [`StopSignal`].
    pub drain_ms: u64,
    /// Whether the first call of a phase to a model starts before the others, so that they find a warm provider cache.
    /// Otherwise all calls of a phase start at once.
    pub warm_up: bool,
    /// The longest wait for the first token of that call.
    pub warm_up_ms: u64,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            concurrent_calls: 256,
            provider_calls: 256,
            provider_limits: BTreeMap::new(),
            backoff_first_ms: 500,
            backoff_max_ms: 30_000,
            drain_ms: 2_000,
            warm_up: false,
            warm_up_ms: 10_000,
        }
    }
}

/// Why a debate did not reach its end. All answers up to then are in the log.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The request is impossible: an unknown model, a dollar budget with a model of unknown price, or a log of an unknown
    /// protocol.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// A key or the name of a model is wrong. The chain has no further model, and this one has not answered before, so
    /// every further call would fail too.
    #[error("{fault}; after you have fixed that, `agon resume {id}` continues the debate")]
    Stopped {
        id: String,
        /// What the provider said, and what to do.
        fault: Box<CallFault>,
    },
    /// The [`StopSignal`] was given.
    #[error("debate {id} was interrupted: its log is kept, and `agon resume {id}` continues it")]
    Interrupted { id: String },
    /// The budget that the debate shares with others is used up.
    #[error("debate {id} is not over: {why}")]
    UsedUp {
        id: String,
        /// The limit, and what is left of it.
        why: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log or a template is not valid.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

/// What a run starts from.
struct RunStart {
    debate: Debate,
    /// The asks without a reply.
    asks: Vec<Ask>,
    /// Records that are not in the store yet.
    unstored: Vec<LogRecord>,
    lease: DebateLease,
}

/// Finds a protocol by its name in the log.
type ProtocolFinder<'a> = &'a (dyn Fn(&str) -> Option<&'static dyn Protocol> + Sync);

impl Engine {
    /// An engine that gets its models from `models` and keeps its logs in `store`.
    pub fn new(models: Arc<dyn ModelSource>, store: Arc<dyn Store>, settings: EngineSettings) -> Self {
        Self { models, store, limiter: CallLimiter::new(&settings, false), shared_budget: None, settings }
    }

    /// Lets this engine share its limits on calls with those of other processes. No call starts before
    /// [`share_calls`](Self::share_calls) runs.
    #[must_use]
    pub fn with_shared_calls(self) -> Self {
        Self { limiter: CallLimiter::new(&self.settings, true), ..self }
    }

    /// Claims places for the calls of this engine, for as long as it is polled.
    pub async fn share_calls(&self, shares: &dyn CallShares) {
        self.limiter.share(shares).await;
    }

    /// Lets all debates of this engine share a budget.
    #[must_use]
    pub fn with_shared_budget(self, budget: SharedBudget) -> Self {
        Self { shared_budget: Some(budget), ..self }
    }

    /// Where the engine gets its models.
    pub fn models(&self) -> &dyn ModelSource {
        &*self.models
    }

    /// How many debates it makes sense to run at once. More could only wait for a call to end, and each takes memory.
    pub fn debates_at_once_max(&self) -> usize {
        // Every phase makes at least one call. With two debates for each call, there is always one that waits for it while others wait
        // for the disk, or until they may try again.
        const DEBATES_PER_CALL: usize = 2;
        self.settings.concurrent_calls.saturating_mul(DEBATES_PER_CALL)
    }

    /// Opens a debate and runs it to its end.
    pub async fn open(
        &self,
        protocol: &dyn Protocol,
        brief: Brief,
        watch: &DebateWatch,
        stop: &StopSignal,
    ) -> Result<Debate, EngineError> {
        let (_, opened) = Debate::open(brief)?;
        self.start(protocol, vec![opened], None, watch, stop).await
    }

    /// Stores records that exist only in memory, for instance a branch, and continues from there. `interjection` is what
    /// the user says to all seats.
    pub async fn start(
        &self,
        protocol: &dyn Protocol,
        records: Vec<LogRecord>,
        interjection: Option<String>,
        watch: &DebateWatch,
        stop: &StopSignal,
    ) -> Result<Debate, EngineError> {
        let (debate, asks) = reopen(protocol, &records)?;
        let lease = DebateLease::of_new_debate(self.store.clone(), debate.brief.id.as_str().into());
        let start = RunStart { debate, asks, unstored: records, lease };
        self.run(protocol, start, interjection, watch, stop).await
    }

    /// Leases and loads a stored debate and continues it. `find` returns the protocol with the name in the log. The watcher
    /// receives the stored records first. A closed debate is returned as it is, without any call.
    pub async fn resume(
        &self,
        find: ProtocolFinder<'_>,
        id: &str,
        interjection: Option<String>,
        watch: &DebateWatch,
        stop: &StopSignal,
    ) -> Result<Debate, EngineError> {
        let lease = DebateLease::acquire(self.store.clone(), id.into()).await?;
        let (protocol, debate, asks, records) = match self.load(find, id).await {
            Ok(loaded) => loaded,
            Err(why) => {
                lease.release().await;
                return Err(why);
            }
        };
        if let Some(watcher) = &watch.records {
            for record in records {
                let _ = watcher.send(Arc::new(record));
            }
        }
        let start = RunStart { debate, asks, unstored: Vec::new(), lease };
        self.run(protocol, start, interjection, watch, stop).await
    }

    async fn load(
        &self,
        find: ProtocolFinder<'_>,
        id: &str,
    ) -> Result<(&'static dyn Protocol, Debate, Vec<Ask>, Vec<LogRecord>), EngineError> {
        let records = self.store.load(id).await?;
        let name = match records.first().map(|record| &record.entry.event) {
            Some(Event::Opened { brief }) => brief.protocol.as_str(),
            _ => return Err(Corrupt::Empty.into()),
        };
        let protocol = find(name).ok_or_else(|| {
            Invalid(format!(
                "debate {id} uses the protocol {name:?}, which this version of agon does not have: use a version that does"
            ))
        })?;
        let (debate, asks) = reopen(protocol, &records)?;
        Ok((protocol, debate, asks, records))
    }

    async fn run(
        &self,
        protocol: &dyn Protocol,
        start: RunStart,
        interjection: Option<String>,
        watch: &DebateWatch,
        stop: &StopSignal,
    ) -> Result<Debate, EngineError> {
        let RunStart { debate, asks, unstored, lease } = start;
        let id: Arc<str> = debate.brief.id.as_str().into();
        let stored_count = debate.events.saturating_sub(unstored.len() as u64);
        let mut models = ChainResolver::new(&*self.models, &self.limiter, &debate.brief.limits);
        let asks = match resolve_models(&mut models, &debate, asks) {
            Ok(asks) => asks,
            Err(why) => {
                lease.release().await;
                return Err(why.into());
            }
        };
        let mut log = LogWriter::new(&*self.store, &id, watch, stored_count, lease);
        for record in unstored {
            log.add(record);
        }
        DebateRun::new(self, protocol, debate, asks, models, log).run_to_end(interjection, stop).await
    }
}

/// Resolves the models of all seats and open asks, so that an unknown model is found before anything is stored or called.
fn resolve_models(
    models: &mut ChainResolver<'_>,
    debate: &Debate,
    asks: Vec<Ask>,
) -> Result<Vec<AskTask>, Invalid> {
    if debate.outcome.is_none() {
        for seat in &debate.brief.seats {
            models.resolve(&seat.model)?;
        }
    }
    let asked = debate.turns.last().map_or(&[][..], |turn| &turn.asks);
    let index_in_phase = |id: u32| asked.iter().position(|asked| asked.id == id);
    models.resolve_asks(asks.into_iter().filter_map(|ask| Some((index_in_phase(ask.id)?, ask))))
}
