//! The engine: opens, starts and resumes debates.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_core::play::reopen;
use agon_core::{Ask, Brief, Debate, Event, Invalid, Protocol, Record};

use crate::chain::Chains;
use crate::gate::Gate;
use crate::journal::Journal;
use crate::lease::Lease;
use crate::run::Run;
use crate::slot::Slot;
use crate::{EngineError, Models, Stop, Store, Watch};

/// What holds for all debates of an engine.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Calls under way at once, over all providers.
    pub concurrent_calls: usize,
    /// Calls under way at once for each provider.
    pub provider_calls: usize,
    /// The same for single providers, by name.
    pub provider_limits: BTreeMap<String, usize>,
    /// The longest wait before the first retry; it doubles with each.
    pub backoff_first_ms: u64,
    /// The longest wait before any retry that the provider does not set.
    pub backoff_max_ms: u64,
    /// How long answers under way are waited for after [`Stop`].
    pub drain_ms: u64,
    /// Whether of a phase's calls to one model the first goes ahead of the others, so that they find a provider's cache warm.
    /// Otherwise all calls of a phase leave at once.
    pub warm_up: bool,
    /// How long the others wait, at most, for the first token of the one ahead.
    pub warm_up_ms: u64,
}

impl Default for Settings {
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

/// Runs debates: any number at once, each in the task that calls.
pub struct Engine {
    models: Arc<dyn Models>,
    store: Arc<dyn Store>,
    gate: Gate,
    pub(crate) settings: Settings,
}

/// What a run starts from.
struct Beginning {
    debate: Debate,
    asks: Vec<Ask>,
    /// Records that the store does not have yet.
    fresh: Vec<Record>,
    lease: Lease,
}

impl Engine {
    /// An engine that takes its models from `models` and keeps its logs in `store`.
    pub fn new(models: Arc<dyn Models>, store: Arc<dyn Store>, settings: Settings) -> Self {
        Self { models, store, gate: Gate::new(&settings), settings }
    }

    /// Opens a debate and runs it to its end.
    pub async fn open(
        &self,
        protocol: &dyn Protocol,
        brief: Brief,
        watch: &Watch,
        stop: &Stop,
    ) -> Result<Debate, EngineError> {
        let (_, opened) = Debate::open(brief)?;
        self.start(protocol, vec![opened], None, watch, stop).await
    }

    /// Stores records that exist only in memory, for instance a branch, and runs on from there. `say` is a person's words to
    /// the whole table.
    pub async fn start(
        &self,
        protocol: &dyn Protocol,
        records: Vec<Record>,
        say: Option<String>,
        watch: &Watch,
        stop: &Stop,
    ) -> Result<Debate, EngineError> {
        let (debate, asks) = reopen(protocol, &records)?;
        let lease = Lease::to_come(self.store.clone(), debate.brief.id.as_str().into());
        self.run(protocol, Beginning { debate, asks, fresh: records, lease }, say, watch, stop).await
    }

    /// Leases and loads a stored debate and goes on with it. `find` gives the protocol by the name in the log. The watcher gets
    /// the stored records first. A closed debate is returned as it is, and no call is made.
    pub async fn resume(
        &self,
        find: &(dyn Fn(&str) -> Option<&'static dyn Protocol> + Sync),
        id: &str,
        say: Option<String>,
        watch: &Watch,
        stop: &Stop,
    ) -> Result<Debate, EngineError> {
        self.store.lease(id).await?;
        let lease = Lease::held(self.store.clone(), id.into());
        match self.load(find, id).await {
            Ok((protocol, debate, asks, records)) => {
                if let Some(watcher) = &watch.records {
                    for record in records {
                        let _ = watcher.send(Arc::new(record));
                    }
                }
                self.run(protocol, Beginning { debate, asks, fresh: Vec::new(), lease }, say, watch, stop)
                    .await
            }
            Err(why) => {
                lease.release().await;
                Err(why)
            }
        }
    }

    async fn load(
        &self,
        find: &(dyn Fn(&str) -> Option<&'static dyn Protocol> + Sync),
        id: &str,
    ) -> Result<(&'static dyn Protocol, Debate, Vec<Ask>, Vec<Record>), EngineError> {
        let records = self.store.load(id).await?;
        let name = match records.first().map(|record| &record.entry.event) {
            Some(Event::Opened { brief }) => brief.protocol.as_str(),
            _ => return Err(agon_core::Corrupt::Empty.into()),
        };
        let protocol = find(name).ok_or_else(|| {
            Invalid(format!(
                "debate {id} is of the protocol {name:?}, which this agon does not have: use one that does"
            ))
        })?;
        let (debate, asks) = reopen(protocol, &records)?;
        Ok((protocol, debate, asks, records))
    }

    async fn run(
        &self,
        protocol: &dyn Protocol,
        beginning: Beginning,
        say: Option<String>,
        watch: &Watch,
        stop: &Stop,
    ) -> Result<Debate, EngineError> {
        let Beginning { debate, asks, fresh, lease } = beginning;
        let id: Arc<str> = debate.brief.id.as_str().into();
        let durable = debate.events.saturating_sub(fresh.len() as u64);
        let mut chains = Chains::new(&*self.models, &self.gate, &debate.brief.limits);
        let slots = match seat(&mut chains, &debate, asks) {
            Ok(slots) => slots,
            Err(why) => {
                lease.release().await;
                return Err(why.into());
            }
        };
        let mut journal = Journal::new(&*self.store, &id, watch, durable, lease);
        for record in fresh {
            journal.add(record);
        }
        Run::new(self, protocol, debate, slots, chains, journal).drive(say, stop).await
    }
}

/// The open asks with their models. All models that the debate is known to need are resolved here, before anything is stored
/// or called.
fn seat(chains: &mut Chains<'_>, debate: &Debate, asks: Vec<Ask>) -> Result<Vec<Slot>, Invalid> {
    if debate.outcome.is_none() {
        for seat in &debate.brief.seats {
            chains.resolve(&seat.model)?;
        }
    }
    let asked = debate.turns.last().map_or(&[][..], |turn| &turn.asks);
    let place = |id: u32| asked.iter().position(|asked| asked.id == id);
    chains.seat(asks.into_iter().filter_map(|ask| Some((place(ask.id)?, ask))))
}
