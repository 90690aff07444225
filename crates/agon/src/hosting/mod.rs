//! Debates that run in the background of one process, for the faces that outlive a single debate: the server and the agents' tools.
//!
//! [`DebateHost`] opens, resumes, stops and follows debates; [`debate_request`] is what callers may ask for; [`hosted_run`] is one
//! debate while it runs; [`person_seats`] are the asks that wait for people; [`host_models`] are the models of a host.
//!
//! A debate is in the store before a caller learns its id, so nothing is lost if the process dies.

mod day_budget;
pub mod debate_messages;
pub mod debate_request;
pub mod host_error;
pub mod host_models;
pub mod hosted_run;
pub mod person_seats;
mod remote_run;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_core::event::{open_all, sha256};
use agon_core::play::reopen;
use agon_core::{Brief, Debate, LogRecord, Protocol, ReplyFault};
use agon_engine::{
    BudgetUse, CallShares, Engine, ModelPrice, ModelSource, PlaceClaim, PlaceGrant, Store as _, StoreError,
    answer_value,
};
use agon_models::ModelCatalogue;
use agon_store::{DebateStore, ListedDebate, ServedRequest};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, broadcast};

use crate::cli::app::{DebateHandle, StoredLog, protocol_of};
use crate::cli::configuration::Configuration;
use crate::cli::debate_reading::DebateReading;
use crate::cli::deliveries::{self, DeliveryBindings};
use crate::cli::seat_models::{self, check_models};
use crate::cli::{clock, knowledge_index, telemetry};
use crate::worker::debate_allowances::HeldAllowance;
use crate::worker::remote_debates::RemoteDebates;
use day_budget::DayBudget;
use debate_request::{CallerRights, DebateRequest, RequestReader};
use host_error::{HostError, HostErrorKind};
use host_models::HostModels;
use hosted_run::{HostedRun, LogFollower};
use person_seats::{PersonAnswer, PersonSeats, WaitingAsk};

/// How many changes a reader of the list may lag behind.
const CHANGES_HELD: usize = 4_096;
/// How often a host that finishes looks at its debates, even if nothing was heard of them.
const FINISH_LOOK_EVERY: Duration = Duration::from_millis(500);
/// The option of a plain vote that says how many vote.
const SEATS_OPTION: &str = "seats";
/// How long a caller should wait if there is no room.
const BUSY_RETRY_S: u64 = 10;

/// What a host allows.
#[derive(Debug, Clone)]
pub struct HostSettings {
    /// How many debates run at once.
    pub debates_at_once: usize,
    /// How many more may wait.
    pub queue: usize,
    /// The most US dollars per day (UTC) over all debates.
    pub usd_per_day: Option<f64>,
    pub rights: CallerRights,
}

/// Where a debate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DebateState {
    Running,
    /// It runs, and a person is asked.
    Waiting,
    /// It is not over, and nobody runs it.
    Interrupted,
    Complete,
    Incomplete,
    Failed,
}

impl DebateState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Interrupted => "interrupted",
            Self::Complete => "complete",
            Self::Incomplete => "incomplete",
            Self::Failed => "failed",
        }
    }

    /// Whether the debate has an outcome.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Complete | Self::Incomplete | Self::Failed)
    }
}

/// Who runs the debates of a host, and with whom it shares limits.
#[derive(Default)]
pub struct DebateRunners {
    /// Workers that run them instead of this process.
    pub workers: Option<RemoteDebates>,
    /// Whether the limits on calls are shared with other processes on the same store.
    pub share_calls: bool,
}

/// Runs debates in the background of this process. Clones are the same host.
#[derive(Clone)]
pub struct DebateHost(Arc<HostInner>);

struct HostInner {
    configuration: Configuration,
    catalogue: Arc<ModelCatalogue>,
    store: DebateStore,
    engine: Engine,
    day_budget: Option<DayBudget>,
    people: PersonSeats,
    settings: HostSettings,
    runs: Mutex<HashMap<String, Arc<HostedRun>>>,
    /// Why the last run of a debate in this process did not reach its end.
    faults: Mutex<BTreeMap<String, String>>,
    places: Semaphore,
    /// Debates that run or wait for a place.
    begun: AtomicUsize,
    changes: broadcast::Sender<String>,
    /// Who runs the debates, if not this process.
    workers: Option<RemoteDebates>,
}

impl DebateHost {
    /// A host that keeps its debates in `store` and runs them in this process.
    pub fn new(
        configuration: Configuration,
        catalogue: Arc<ModelCatalogue>,
        store: DebateStore,
        settings: HostSettings,
    ) -> Result<Self, HostError> {
        Self::with_parts(configuration, catalogue, store, settings, DebateRunners::default())
    }

    /// A host whose debates workers run, or that is itself one of several workers.
    pub fn with_parts(
        mut configuration: Configuration,
        catalogue: Arc<ModelCatalogue>,
        store: DebateStore,
        settings: HostSettings,
        runners: DebateRunners,
    ) -> Result<Self, HostError> {
        // What lies in the working directory of a server is nobody's word.
        configuration.found = None;
        let changes = broadcast::Sender::new(CHANGES_HELD);
        let people = PersonSeats::new(changes.clone());
        let models = HostModels::new(&configuration, catalogue.clone(), &store, people.clone());
        let observed = telemetry::observed(Arc::new(store.clone()));
        let mut engine = Engine::new(Arc::new(models), observed, configuration.engine.clone());
        if runners.share_calls {
            engine = engine.with_shared_calls();
        }
        let day_budget = match (settings.usd_per_day, &runners.workers) {
            (Some(usd), Some(_)) => Some(DayBudget::of_debates(usd, &store)),
            (Some(usd), None) => Some(DayBudget::of_calls(usd, &store)?),
            (None, _) => None,
        };
        if let Some(shared) = day_budget.as_ref().and_then(DayBudget::shared) {
            engine = engine.with_shared_budget(shared);
        }
        Ok(Self(Arc::new(HostInner {
            configuration,
            catalogue,
            store,
            engine,
            day_budget,
            people,
            places: Semaphore::new(settings.debates_at_once.clamp(1, Semaphore::MAX_PERMITS)),
            settings,
            runs: Mutex::default(),
            faults: Mutex::default(),
            begun: AtomicUsize::new(0),
            changes,
            workers: runners.workers,
        })))
    }

    pub fn configuration(&self) -> &Configuration {
        &self.0.configuration
    }

    pub fn catalogue(&self) -> &Arc<ModelCatalogue> {
        &self.0.catalogue
    }

    pub fn store(&self) -> &DebateStore {
        &self.0.store
    }

    /// The ids of debates as they change: new events, a new state, an ask that waits. A reader that lags loses the oldest.
    pub fn changes(&self) -> broadcast::Receiver<String> {
        self.0.changes.subscribe()
    }

    /// Reads the store on a thread that may wait.
    pub async fn read_store<T: Send + 'static>(
        &self,
        read: impl FnOnce(&DebateStore) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, HostError> {
        let store = self.0.store.clone();
        blocking(move || read(&store).map_err(HostError::from)).await
    }

    /// The brief that a request asks for, checked: its models can be called.
    pub async fn prepare(&self, request: DebateRequest) -> Result<PreparedDebate, HostError> {
        self.prepare_with(request, self.0.settings.rights.clone()).await
    }

    /// The same for a caller with other rights than those of the host.
    pub async fn prepare_with(
        &self,
        request: DebateRequest,
        rights: CallerRights,
    ) -> Result<PreparedDebate, HostError> {
        let host = self.clone();
        blocking(move || {
            let (protocol, brief) = host.reader(&rights).brief(request)?;
            host.check_brief_models(&brief)?;
            Ok(PreparedDebate { protocol, brief })
        })
        .await
    }

    /// A brief for one call to one model, instead of the debate that a request asks for: the cheapest of the models that would debate.
    /// It is a plain vote with one seat, so it is logged, limited and paid for like any debate.
    pub async fn prepare_single_call(
        &self,
        request: DebateRequest,
        question: String,
    ) -> Result<PreparedDebate, HostError> {
        let (limits, mut files) = (request.limits.clone(), request.files.clone());
        files.retain(|file| file.part.is_some());
        let debate = self.prepare(request).await?;
        let model = self.cheapest_model(&debate.brief)?;
        // The configuration, or the caller, may name this model: it was checked with the debate.
        let mut rights = self.0.settings.rights.clone();
        rights.allowed_models.extend(model.split('|').map(|link| link.trim().to_owned()));
        let single = DebateRequest {
            protocol: Some(agon_protocols::PLAIN_VOTE.info().name.to_owned()),
            question: Some(question),
            files,
            models: vec![model],
            options: Map::from_iter([(SEATS_OPTION.to_owned(), json!(1))]),
            limits,
            ..DebateRequest::default()
        };
        self.prepare_with(single, rights).await
    }

    /// The model of a seat whose answers cost least. A person is never asked.
    fn cheapest_model(&self, brief: &Brief) -> Result<String, HostError> {
        let mut cheapest: Option<(f64, &str)> = None;
        for name in brief.seats.iter().map(|seat| seat.model.as_str()) {
            let first = name.split('|').next().unwrap_or(name).trim();
            let Ok(model) = self.models().model(first) else { continue };
            if model.is_errand() || model.provider() == "human" {
                continue;
            }
            let price = match model.price() {
                ModelPrice::Free => 0.0,
                ModelPrice::PerMillion { output, .. } => output,
                ModelPrice::Unknown => f64::MAX,
            };
            if cheapest.is_none_or(|(lowest, _)| price < lowest) {
                cheapest = Some((price, name));
            }
        }
        let nobody = || HostError::invalid("only people would debate, so no model can do this");
        cheapest.map(|(_, name)| name.to_owned()).ok_or_else(nobody)
    }

    fn reader<'a>(&'a self, rights: &'a CallerRights) -> RequestReader<'a> {
        let HostInner { configuration, catalogue, store, .. } = &*self.0;
        RequestReader { configuration, catalogue, store, rights }
    }

    fn check_brief_models(&self, brief: &Brief) -> Result<(), HostError> {
        let mut priced = brief.clone();
        // A budget in dollars needs known prices, whether it is the debate's or the day's.
        priced.limits.usd = brief.limits.usd.or(self.0.settings.usd_per_day);
        Ok(check_models(&priced, self.models())?)
    }

    /// Everything that a debate of this host can ask.
    pub fn models(&self) -> &dyn ModelSource {
        self.0.engine.models()
    }

    /// Opens a debate and runs it in the background. With a key, the same request opens one debate, however often it comes.
    pub async fn open(
        &self,
        prepared: PreparedDebate,
        key: Option<String>,
        request_hash: String,
    ) -> Result<String, HostError> {
        let PreparedDebate { protocol, brief } = prepared;
        self.check_room()?;
        let (host, id) = (self.clone(), brief.id.clone());
        let request = ServedRequest { debate: id.clone(), hash: request_hash };
        to_the_end(async move {
            let held = host.admit(&id, &brief, BudgetUse::default()).await?;
            let bindings = DeliveryBindings::of_hooks(&host.0.configuration, protocol.info().name)?;
            bindings.bind(&host.0.store, &id).await?;
            let (_, opened) = Debate::open(brief).map_err(|why| HostError::failed(why.to_string()))?;
            match host.0.store.serve_debate(request.clone(), key, vec![opened]).await? {
                Some(earlier) => {
                    host.give_back(held, BudgetUse::default()).await?;
                    same_request(earlier, &request.hash)
                }
                None => host.spawn_run(&id, held, 0).map(|_| id),
            }
        })
        .await
    }

    /// The debate that a request with this key opened, if there is one.
    pub async fn opened_before(&self, key: String, request_hash: &str) -> Result<Option<String>, HostError> {
        let earlier = self.read_store(move |store| store.served_request(&key)).await?;
        earlier.map(|earlier| same_request(earlier, request_hash)).transpose()
    }

    /// Refuses more debates than the host has room for.
    fn check_room(&self) -> Result<(), HostError> {
        let HostInner { settings, begun, .. } = &*self.0;
        let most = settings.debates_at_once.saturating_add(settings.queue);
        if begun.load(Ordering::Acquire) >= most {
            return Err(HostError {
                kind: HostErrorKind::Busy { retry_after_s: BUSY_RETRY_S },
                sentence: format!("{most} debates run or wait already, which is the limit: try again later"),
            });
        }
        Ok(())
    }

    /// Refuses a debate that today's budget has no money for. `used` is what it has used before.
    async fn admit(
        &self,
        id: &str,
        brief: &Brief,
        used: BudgetUse,
    ) -> Result<Option<HeldAllowance>, HostError> {
        match &self.0.day_budget {
            Some(budget) => budget.admit(id, &brief.limits, used).await,
            None => Ok(None),
        }
    }

    /// Frees what was set aside for a debate and not used.
    async fn give_back(&self, held: Option<HeldAllowance>, used: BudgetUse) -> Result<(), HostError> {
        match (&self.0.day_budget, held) {
            (Some(budget), Some(held)) => budget.settle(&held, used).await,
            _ => Ok(()),
        }
    }

    /// Continues a debate that is not over, for a caller. `say` is what a person says to all seats first.
    pub async fn resume(
        &self,
        id: &str,
        say: Option<String>,
        rights: &CallerRights,
    ) -> Result<(), HostError> {
        let brief = self.read_debate(id).await?.brief;
        self.reader(&any_caller_seat(rights)).check_brief(&brief)?;
        self.continue_debate(id, say).await
    }

    async fn continue_debate(&self, id: &str, say: Option<String>) -> Result<(), HostError> {
        self.check_room()?;
        let wanted = id.to_owned();
        let listed = self.read_store(move |store| store.listed_debate(&wanted)).await?;
        match self.state(&listed) {
            DebateState::Interrupted => {}
            state if state.is_over() => {
                return Err(HostError::conflict(format!("debate {id} is over, so it cannot be resumed")));
            }
            _ => return Err(HostError::conflict(format!("debate {id} runs already"))),
        }
        let debate = self.read_debate(id).await?;
        self.check_brief_models(&debate.brief)?;
        let held = self.admit(id, &debate.brief, BudgetUse::of_debate(&debate)).await?;
        self.0.store.mark_stopped(id, false).await?;
        let run = self.spawn_run(id, held, 0)?;
        if let Some(text) = say {
            run.inbox.interject("you", text);
        }
        Ok(())
    }

    /// Continues the debates that this server was running when it ended.
    pub async fn resume_all(&self) -> Result<usize, HostError> {
        let ids = self.read_store(DebateStore::debates_to_continue).await?;
        let mut resumed = 0;
        for id in ids {
            // Another process may run it.
            if self.state_of(&id).await? != DebateState::Interrupted {
                continue;
            }
            match self.continue_debate(&id, None).await {
                Ok(()) => resumed += 1,
                Err(error) => self.note_fault(&id, error.sentence),
            }
        }
        Ok(resumed)
    }

    /// Stops a debate in order. It can be resumed.
    pub async fn stop(&self, id: &str) -> Result<(), HostError> {
        let run = self.run_here(id).await?;
        run.stopped_by_person.store(true, Ordering::Release);
        self.0.store.mark_stopped(id, true).await?;
        run.stop.stop();
        run.ended().await;
        Ok(())
    }

    /// Ends the rounds of a debate now and lets it close with what there is.
    pub async fn conclude(&self, id: &str) -> Result<(), HostError> {
        self.run_here(id).await?.inbox.conclude();
        Ok(())
    }

    /// Says something to all seats of a running debate.
    pub async fn interject(&self, id: &str, by: &str, text: &str) -> Result<(), HostError> {
        self.run_here(id).await?.inbox.interject(by, text);
        Ok(())
    }

    /// Opens a debate that takes over the first rounds of another.
    pub async fn branch(
        &self,
        id: &str,
        at_round: u32,
        say: Option<String>,
        rights: &CallerRights,
    ) -> Result<String, HostError> {
        self.check_room()?;
        let (host, source_id, rights) = (self.clone(), id.to_owned(), any_caller_seat(rights));
        let (brief, taken, used) = blocking(move || {
            let handle = DebateHandle { store: host.0.store.clone(), id: source_id };
            let (brief, taken) = crate::cli::verbs::branch_of(&handle, at_round)?;
            host.reader(&rights).check_brief(&brief)?;
            host.check_brief_models(&brief)?;
            let copied = Debate::from_records(&taken).map_err(|why| HostError::failed(why.to_string()))?;
            Ok((brief, taken, BudgetUse::of_debate(&copied)))
        })
        .await?;
        let branch_id = brief.id.clone();
        let request = ServedRequest { debate: branch_id.clone(), hash: sha256(&branch_id) };
        let host = self.clone();
        to_the_end(async move {
            let held = host.admit(&branch_id, &brief, used).await?;
            host.0.store.serve_debate(request, None, taken).await?;
            let run = host.spawn_run(&branch_id, held, 0)?;
            if let Some(text) = say {
                run.inbox.interject("you", text);
            }
            Ok(branch_id)
        })
        .await
    }

    /// Stops all debates in order and waits for them. They are continued when the server starts again.
    pub async fn shut_down(&self) {
        let runs: Vec<Arc<HostedRun>> = self.runs().values().cloned().collect();
        for run in &runs {
            run.stop.stop();
        }
        for run in runs {
            run.ended().await;
        }
    }

    /// Waits until all debates of this process are over. Those in which nobody but a person is asked are left: nobody can answer.
    pub async fn finish_all(&self) {
        let mut changes = self.changes();
        loop {
            let runs: Vec<Arc<HostedRun>> = self.runs().values().cloned().collect();
            if runs.is_empty() {
                return;
            }
            // Each takes its time to end, so all of them are told before the first is waited for.
            let mut stopped = Vec::new();
            for run in runs {
                if self.waits_for_people_only(&run).await {
                    run.stop.stop();
                    stopped.push(run);
                }
            }
            for run in stopped {
                run.ended().await;
            }
            drop(tokio::time::timeout(FINISH_LOOK_EVERY, changes.recv()).await);
        }
    }

    /// Waits until nobody but people is asked in a debate. `due` has the time until which each of them may answer, in milliseconds since
    /// 1970; those who are asked for the first time are added to it, and those whose time is over are absent.
    pub(crate) async fn only_people_are_asked(&self, run: &Arc<HostedRun>, due: &mut BTreeMap<u32, u64>) {
        // Most debates have no people. Nothing wakes them here, however many run at once.
        let (mut asks, mut records) = (self.0.people.changes_of_asks(), run.progress());
        loop {
            if self.waits_for_people_only(run).await {
                let now = clock::unix_millis();
                let mut goes_on = self.take_answers(run).await;
                for ask in self.waiting_asks(&run.id) {
                    let until = *due.entry(ask.ask).or_insert(now + ask.seconds_left * 1_000);
                    if until <= now {
                        goes_on |= self.0.people.answer(&run.id, ask.ask, PersonAnswer::Late);
                    }
                }
                if !goes_on {
                    return;
                }
            }
            let is_asked = self.0.people.is_waiting(&run.id);
            // Both senders live as long as the host and the run, so neither wait can fail.
            tokio::select! {
                _ = asks.changed() => {}
                _ = records.changed(), if is_asked => {}
            }
        }
    }

    /// Shares the limits on calls with the other processes on the store, for as long as it is polled.
    pub async fn share_calls(&self) {
        let process = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
        let shares = StoreShares { store: self.0.store.clone(), process };
        self.0.engine.share_calls(&shares).await;
    }

    async fn waits_for_people_only(&self, run: &HostedRun) -> bool {
        let waiting = self.waiting_asks(&run.id).len();
        if waiting == 0 {
            return false;
        }
        let debate = self.debate_so_far(&run.id).await;
        debate.is_ok_and(|debate| debate.outstanding().count() == waiting)
    }

    /// The asks of a debate that wait for a person.
    pub fn waiting_asks(&self, id: &str) -> Vec<WaitingAsk> {
        match self.run_of(id).filter(|run| run.is_remote()) {
            Some(run) => run.waiting_at_worker(),
            None => self.0.people.waiting(id),
        }
    }

    /// The people who sit in the debates of this process.
    pub(super) fn people(&self) -> &PersonSeats {
        &self.0.people
    }

    /// Answers an ask that waits. The answer is checked like any reply, and the error says what is wrong with it. No value passes.
    pub async fn answer(&self, id: &str, ask: u32, value: Option<Value>) -> Result<(), HostError> {
        let no_ask = || HostError::not_found(format!("ask {ask} of debate {id} does not wait for an answer"));
        if !self.waiting_asks(id).iter().any(|waiting| waiting.ask == ask) {
            return Err(no_ask());
        }
        let answer = match value {
            None => PersonAnswer::Pass,
            Some(value) => {
                if let Some(run) = self.run_of(id) {
                    run.has_asked(ask).await;
                }
                self.checked_answer(id, ask, value)?
            }
        };
        if let Some(run) = self.run_of(id).filter(|run| run.is_remote()) {
            return self.answer_at_worker(&run, ask, answer).await;
        }
        match self.0.people.answer(id, ask, answer) {
            true => Ok(()),
            false => Err(no_ask()),
        }
    }

    fn checked_answer(&self, id: &str, ask: u32, value: Value) -> Result<PersonAnswer, HostError> {
        let run = self.run_of(id).ok_or_else(|| HostError::conflict(format!("debate {id} does not run")))?;
        let records: Vec<LogRecord> = run.records_from(0).iter().map(|record| (**record).clone()).collect();
        let unreadable = |why: agon_core::Corrupt| HostError::failed(why.to_string());
        let brief = Debate::from_records(&records).map_err(unreadable)?.brief;
        let protocol = protocol_of(&brief)?;
        let (debate, asks) = reopen(protocol, &records).map_err(unreadable)?;
        let asked = asks.into_iter().find(|open| open.id == ask).ok_or_else(|| {
            HostError::not_found(format!("ask {ask} of debate {id} does not wait for an answer"))
        })?;
        let text = match (&asked.schema, value) {
            (None, Value::String(text)) if !text.trim().is_empty() => text,
            (None, _) => return Err(HostError::invalid("the value must be a text that is not empty")),
            (Some(_), Value::String(text)) => text,
            (Some(_), value) => value.to_string(),
        };
        let parsed = answer_value(asked.schema.as_ref(), &text, false).map_err(HostError::invalid)?;
        let checked = parsed.map_or(Ok(()), |value| protocol.check(&debate, &asked, &value));
        match checked {
            Ok(()) => Ok(PersonAnswer::Text { text, insists: false }),
            Err(ReplyFault::Invalid(why)) => Err(HostError::invalid(why)),
            Err(ReplyFault::Unverified(_)) if run.was_refused(ask) || self.0.people.note_refusal(id, ask) => {
                Ok(PersonAnswer::Text { text, insists: true })
            }
            Err(ReplyFault::Unverified(why)) => Err(HostError::invalid(format!(
                "{why}. Correct it, or send the same answer again: it then counts without that part"
            ))),
        }
    }

    /// Follows the log of a debate from this event on.
    pub async fn follow(&self, id: &str, next_seq: u64) -> Result<LogFollower, HostError> {
        let id = id.to_owned();
        let id = self.read_store(move |store| store.listed_debate(&id)).await?.id;
        Ok(LogFollower::new(self.clone(), &id, next_seq))
    }

    /// The pieces of answers of a debate that runs here.
    pub fn deltas(&self, id: &str) -> Option<broadcast::Receiver<agon_engine::TextDelta>> {
        self.run_of(id).map(|run| run.deltas.subscribe())
    }

    /// Waits until a debate is over or interrupted, at most this long. Returns whether it is.
    pub async fn wait(&self, id: &str, at_most: Duration) -> bool {
        match self.run_of(id) {
            Some(run) => tokio::time::timeout(at_most, run.ended()).await.is_ok(),
            None => true,
        }
    }

    /// The full id of the debate that a caller names by a prefix of its id.
    pub async fn find(&self, name: &str) -> Result<String, HostError> {
        let name = name.to_owned();
        self.read_store(move |store| store.find_debate(&name)).await
    }

    /// Where a debate is.
    pub async fn state_of(&self, id: &str) -> Result<DebateState, HostError> {
        // Every watcher of a debate asks for this at every change, so the store is asked only for what is not known here.
        if self.run_of(id).is_some_and(|run| run.is_open()) {
            return Ok(match self.is_waiting(id) {
                true => DebateState::Waiting,
                false => DebateState::Running,
            });
        }
        let id = id.to_owned();
        let listed = self.read_store(move |store| store.listed_debate(&id)).await?;
        Ok(self.state(&listed))
    }

    /// The rights of callers.
    pub fn rights(&self) -> &CallerRights {
        &self.0.settings.rights
    }

    /// Whether a debate runs in this process.
    pub fn runs_here(&self, id: &str) -> bool {
        self.run_of(id).is_some()
    }

    /// Where a listed debate is.
    pub fn state(&self, listed: &ListedDebate) -> DebateState {
        match listed.status.as_str() {
            "complete" => DebateState::Complete,
            "incomplete" => DebateState::Incomplete,
            "failed" => DebateState::Failed,
            _ if self.is_waiting(&listed.id) => DebateState::Waiting,
            _ if self.run_of(&listed.id).is_some() => DebateState::Running,
            "running" => DebateState::Running,
            _ => DebateState::Interrupted,
        }
    }

    fn is_waiting(&self, id: &str) -> bool {
        match self.run_of(id).filter(|run| run.is_remote()) {
            Some(run) => !run.waiting_at_worker().is_empty(),
            None => self.0.people.is_waiting(id),
        }
    }

    /// A debate as far as it is known here: from memory while it runs in this process, else from the store.
    pub async fn debate_so_far(&self, id: &str) -> Result<Debate, HostError> {
        let records = self.run_of(id).map(|run| run.records_from(0)).unwrap_or_default();
        if records.is_empty() {
            return self.read_debate(id).await;
        }
        let records: Vec<LogRecord> = records.iter().map(|record| (**record).clone()).collect();
        Debate::from_records(&records).map_err(|why| HostError::failed(why.to_string()))
    }

    /// A debate with its log, folded.
    pub async fn read_debate(&self, id: &str) -> Result<Debate, HostError> {
        Ok(self.read_log(id).await?.debate)
    }

    /// The brief of a debate, which is its first event.
    async fn read_brief(&self, id: &str) -> Result<Brief, HostError> {
        let wanted = id.to_owned();
        let first = self.read_store(move |store| store.raw_log_from(&wanted, 0, 1)).await?;
        let records =
            open_all(first).map_err(|broken| StoreError::BrokenChain { id: id.to_owned(), broken })?;
        Ok(Debate::from_records(&records).map_err(|why| HostError::failed(why.to_string()))?.brief)
    }

    /// A debate's log, checked.
    pub async fn read_log(&self, id: &str) -> Result<StoredLog, HostError> {
        let handle = DebateHandle { store: self.0.store.clone(), id: id.to_owned() };
        blocking(move || Ok(handle.read()?)).await
    }

    /// The JSON outcome of a debate, over or not, with its state.
    pub async fn document(&self, id: &str) -> Result<DebateDocument, HostError> {
        let (store, wanted) = (self.0.store.clone(), id.to_owned());
        let (listed, debate, mut document) = blocking(move || {
            let (listed, raw) = store.debate_with_raw_log(&wanted)?;
            let records = open_all(raw).map_err(|broken| StoreError::BrokenChain { id: wanted, broken })?;
            let debate = Debate::from_records(&records).map_err(|why| HostError::failed(why.to_string()))?;
            let document = DebateReading::of(&debate)?.document;
            Ok((listed, debate, document))
        })
        .await?;
        let state = self.state(&listed);
        if let Value::Object(fields) = &mut document {
            fields.insert("state".to_owned(), json!(state));
            if !state.is_over() {
                let status = if state == DebateState::Interrupted { "interrupted" } else { "running" };
                fields.insert("status".to_owned(), json!(status));
                fields.insert("error".to_owned(), json!(self.fault_of(id)));
            }
        }
        Ok(DebateDocument { state, head: debate.head, document })
    }

    /// Why the last run of a debate in this process did not reach its end.
    pub fn fault_of(&self, id: &str) -> Option<String> {
        self.0.faults.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    fn note_fault(&self, id: &str, sentence: String) {
        self.0.faults.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), sentence);
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<String, Arc<HostedRun>>> {
        self.0.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn run_of(&self, id: &str) -> Option<Arc<HostedRun>> {
        self.runs().get(id).cloned()
    }

    /// The run of a debate in this process, or why there is none.
    async fn run_here(&self, id: &str) -> Result<Arc<HostedRun>, HostError> {
        if let Some(run) = self.run_of(id) {
            return Ok(run);
        }
        let wanted = id.to_owned();
        let listed = self.read_store(move |store| store.listed_debate(&wanted)).await?;
        Err(HostError::conflict(match self.state(&listed) {
            DebateState::Interrupted => format!("debate {id} does not run: resume it first"),
            state if state.is_over() => format!("debate {id} is over"),
            _ => format!("debate {id} is run by another process, which alone can do this"),
        }))
    }

    /// Runs a stored debate in the background, once there is a place for it. Of two callers who want the same, one gets it.
    pub(crate) fn spawn_run(
        &self,
        id: &str,
        held: Option<HeldAllowance>,
        waited_ms: u64,
    ) -> Result<Arc<HostedRun>, HostError> {
        let run = Arc::new(HostedRun::new(id, self.0.workers.is_some(), waited_ms));
        match self.runs().entry(id.to_owned()) {
            Entry::Occupied(_) => return Err(HostError::conflict(format!("debate {id} runs already"))),
            Entry::Vacant(place) => drop(place.insert(run.clone())),
        }
        self.0.faults.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        self.0.begun.fetch_add(1, Ordering::AcqRel);
        self.tell_queue_length();
        let (host, running) = (self.clone(), run.clone());
        tokio::spawn(async move {
            let ended = match &host.0.workers {
                Some(workers) => host.run_on_workers(&running, workers, held).await,
                None => host.run_to_end(&running).await,
            };
            // Who stops a debate knows why it is not over.
            let fault = ended.err().filter(|_| !running.stop.is_stopped());
            if let Some(fault) = &fault {
                host.note_fault(&running.id, fault.sentence.clone());
            }
            // The engine gives the debate back, but it may never have had it. A failure does no harm: the lease ends with the process.
            if !running.is_remote() {
                drop(host.0.store.release(&running.id).await);
            }
            host.0.begun.fetch_sub(1, Ordering::AcqRel);
            host.tell_queue_length();
            host.runs().remove(&running.id);
            running.end(fault);
            host.tell(&running.id);
        });
        Ok(run)
    }

    async fn run_to_end(&self, run: &HostedRun) -> Result<(), HostError> {
        let inner = &*self.0;
        let _place = tokio::select! {
            place = inner.places.acquire() => place,
            () = run.stop.stopped() => return Ok(()),
        };
        self.tell_queue_length();
        if let Some(budget) = &inner.day_budget {
            budget.begin_day();
        }
        self.fetch_model_files(&run.id).await?;
        let (watch, mut records) = run.watch();
        let follow = async {
            while let Some(record) = records.recv().await {
                run.add(record);
                self.tell(&run.id);
            }
        };
        // The records end when the engine drops its side of the channel.
        let ended =
            async move { inner.engine.resume(&find_protocol, &run.id, None, &watch, &run.stop).await };
        let (ended, ()) = tokio::join!(ended, follow);
        let debate = ended?;
        if debate.outcome.is_some() {
            let id = run.id.clone();
            let due = move |store: &DebateStore| store.deliveries_ready(Some(&id), clock::store_seconds());
            // Most debates have none, and then nothing else needs to be done.
            if !self.read_store(due).await.is_ok_and(|due| due.is_empty()) {
                let report = deliveries::deliver(&inner.store, Some(&run.id), deliveries::PATIENCE).await;
                deliveries::print_report(&report, true);
            }
            // Without an index, entries are found by words alone until the next search indexes them.
            drop(knowledge_index::index_entries(&inner.catalogue, &inner.store).await);
        }
        Ok(())
    }

    /// Fetches the files of the embedded model if the debate needs them.
    async fn fetch_model_files(&self, id: &str) -> Result<(), HostError> {
        let brief = self.read_brief(id).await?;
        if !seat_models::needs_files(&self.0.configuration, seat_models::brief_models(&brief)) {
            return Ok(());
        }
        let host = self.clone();
        // It may take minutes, so it must not take the place of other work.
        let fetched = tokio::task::spawn_blocking(move || {
            let names = seat_models::brief_models(&brief);
            Ok(seat_models::fetch_files(&host.0.configuration, names, true)?)
        });
        fetched.await.unwrap_or_else(|why| Err(broken_off(&why)))
    }

    fn tell_queue_length(&self) {
        let inner = &*self.0;
        // Debates on workers wait there, if at all.
        if inner.workers.is_some() {
            return;
        }
        let places = inner.settings.debates_at_once.clamp(1, Semaphore::MAX_PERMITS);
        let running = places.saturating_sub(inner.places.available_permits());
        telemetry::set_queue_length(inner.begun.load(Ordering::Acquire).saturating_sub(running));
    }

    fn tell(&self, id: &str) {
        // Nobody may be listening.
        let _ = self.0.changes.send(id.to_owned());
    }
}

/// The limits on calls in the tables of a store.
struct StoreShares {
    store: DebateStore,
    process: String,
}

impl CallShares for StoreShares {
    fn claim(&self, claims: Vec<PlaceClaim>) -> BoxFuture<'_, Result<Vec<PlaceGrant>, StoreError>> {
        self.store.claim_places(&self.process, claims)
    }
}

/// Rights for a debate that somebody opened before, who may have taken a seat of it.
fn any_caller_seat(rights: &CallerRights) -> CallerRights {
    CallerRights { caller_seat: true, ..rights.clone() }
}

pub(crate) fn find_protocol(name: &str) -> Option<&'static dyn Protocol> {
    agon_protocols::find(name)
}

/// A debate that can be opened.
pub struct PreparedDebate {
    pub protocol: &'static dyn Protocol,
    pub brief: Brief,
}

/// The JSON outcome of a debate.
pub struct DebateDocument {
    pub state: DebateState,
    /// The last hash of its log.
    pub head: String,
    pub document: Value,
}

fn same_request(earlier: ServedRequest, hash: &str) -> Result<String, HostError> {
    match earlier.hash == hash {
        true => Ok(earlier.debate),
        false => Err(HostError::invalid(format!(
            "this Idempotency-Key opened debate {} with another body: use a new key for another request",
            earlier.debate
        ))),
    }
}

/// Does something that must not be half done. A caller who hangs up ends the future that waits for it, but not the work.
async fn to_the_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, HostError>> + Send + 'static,
) -> Result<T, HostError> {
    tokio::spawn(work).await.unwrap_or_else(|why| Err(broken_off(&why)))
}

/// How much work of [`blocking`] is done at once. A thread keeps about a megabyte, and the store has one reader.
const BLOCKING_AT_ONCE: usize = 8;

/// Runs something that computes for long or waits for a disk on a thread of its own, when there is one.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, HostError> + Send + 'static,
) -> Result<T, HostError> {
    static PLACES: Semaphore = Semaphore::const_new(BLOCKING_AT_ONCE);
    // Nobody closes it, so there is always a place in the end. The work keeps its place even if nobody waits for it any more.
    let place = PLACES.acquire().await.ok();
    let ended = tokio::task::spawn_blocking(move || {
        let _place = place;
        work()
    });
    ended.await.unwrap_or_else(|why| Err(broken_off(&why)))
}

fn broken_off(why: &tokio::task::JoinError) -> HostError {
    HostError::failed(format!("the work broke off: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread per reader would need a megabyte for each.
    #[tokio::test]
    async fn only_so_much_work_is_done_at_once() {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let all = (0..200).map(|_| {
            let (now, most) = (now.clone(), most.clone());
            tokio::spawn(blocking(move || {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::yield_now();
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            }))
        });
        for done in all.collect::<Vec<_>>() {
            done.await.unwrap().unwrap();
        }
        assert!((1..=BLOCKING_AT_ONCE).contains(&most.load(Ordering::SeqCst)));
    }
}
