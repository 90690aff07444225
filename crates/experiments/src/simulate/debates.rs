//! Many debates of one kind, held by the engine and read from their logs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agon_core::protocol::template_hashes;
use agon_core::simulation::{SIMULATED_QUESTION, SimulatedPlay, SimulationSetup};
use agon_core::{
    Brief, Corrupt, Debate, DebateLimits, Invalid, LOG_VERSION, LogRecord, Protocol, Request, SeededDraw,
    options,
};
use agon_engine::{DebateWatch, Engine, EngineError, EngineSettings, StopSignal, Store, StoreError};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::task::JoinSet;

use super::observation::DebateObservation;
use super::seat_behaviour::SimulatedPopulation;
use super::simulated_models::{SimulatedModels, SimulatedTrial, model_of_role, model_of_seat};

/// How many debates are held at once. They only compute, so more would not be faster.
const RUNNING_MAX: usize = 16;

/// The protocols that can be simulated, with how each is played.
pub fn simulated_protocols() -> impl Iterator<Item = (&'static dyn Protocol, &'static dyn SimulatedPlay)> {
    agon_protocols::all().filter_map(|protocol| Some((protocol, protocol.info().simulation?)))
}

/// How the protocol of this name is played; a protocol that cannot be simulated is refused.
pub(super) fn simulated_protocol(
    name: &str,
) -> Result<(&'static dyn Protocol, &'static dyn SimulatedPlay), Invalid> {
    simulated_protocols().find(|(protocol, _)| protocol.info().name == name).ok_or_else(|| {
        let known: Vec<&str> = simulated_protocols().map(|(protocol, _)| protocol.info().name).collect();
        Invalid(format!("{name:?} cannot be simulated: the protocols that can be are {}", known.join(", ")))
    })
}

/// Why a simulation failed.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// The plan cannot be carried out.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The engine could not hold a debate.
    #[error("trial {trial} could not be held: {why}")]
    Engine {
        /// The trial.
        trial: usize,
        /// The engine's error.
        why: EngineError,
    },
    /// A log could not be read.
    #[error("the log of trial {trial} cannot be read: {why}")]
    Log {
        /// The trial.
        trial: usize,
        /// What is wrong.
        why: Corrupt,
    },
    /// A simulated seat gave no answer, so the measures would be of a different debate.
    #[error(
        "{seat} has no answer in {phase} of trial {trial}: {why}. This is a bug in the simulation: please report it with the seed"
    )]
    Absent {
        /// The trial.
        trial: usize,
        /// The seat.
        seat: String,
        /// The phase.
        phase: String,
        /// The reason in the log.
        why: String,
    },
    /// A debate broke off.
    #[error("a simulated debate broke off: {0}")]
    System(String),
}

/// What is called after each debate, to show the progress.
pub type DebateCounter<'a> = &'a (dyn Fn() + Send + Sync);

/// A kind of debate, to be held many times.
#[derive(Clone)]
pub struct SimulatedDebates {
    protocol: &'static dyn Protocol,
    play: &'static dyn SimulatedPlay,
    population: SimulatedPopulation,
    request: Request,
}

impl std::fmt::Debug for SimulatedDebates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (protocol, population) = (self.protocol.info().name, &self.population);
        f.debug_struct("SimulatedDebates")
            .field("protocol", &protocol)
            .field("population", population)
            .finish()
    }
}

impl SimulatedDebates {
    /// Debates of this protocol among this population. `rounds` is how often seats may change their minds; `None` for the protocol's
    /// own number.
    pub fn new(
        protocol: &str,
        population: &SimulatedPopulation,
        rounds: Option<u32>,
    ) -> Result<Self, Invalid> {
        Self::with_option(protocol, population, rounds, None)
    }

    /// The same with the protocol's rule that a change of mind needs evidence. `None` where the protocol has no such rule.
    pub fn with_evidence_rule(
        protocol: &str,
        population: &SimulatedPopulation,
    ) -> Result<Option<Self>, Invalid> {
        let rule = simulated_protocol(protocol)?.1.evidence_rule();
        rule.map(|rule| Self::with_option(protocol, population, None, Some(rule))).transpose()
    }

    fn with_option(
        protocol: &str,
        population: &SimulatedPopulation,
        rounds: Option<u32>,
        option: Option<(&str, &str)>,
    ) -> Result<Self, Invalid> {
        population.check()?;
        let (protocol, play) = simulated_protocol(protocol)?;
        let (info, seats) = (protocol.info(), population.seats);
        if !play.seat_counts().contains(&seats) {
            let counts: Vec<String> = play.seat_counts().iter().map(usize::to_string).collect();
            let (name, counts) = (info.name, counts.join(", "));
            return Err(Invalid(format!(
                "{name} cannot be simulated with {seats} seats: use one of {counts}"
            )));
        }
        let mut given = play.options(&SimulationSetup { protocol: info.name, seats, rounds })?;
        given.extend(option.map(|(key, value)| (key.to_owned(), value.to_owned())));
        let request = Request {
            question: SIMULATED_QUESTION.into(),
            files: play.files(),
            models: (0..seats).map(model_of_seat).collect(),
            roles: info.named_roles().map(|role| (role.to_owned(), model_of_role(role))).collect(),
            options: options::resolve(info.options, given)?,
            seed: 0,
        };
        protocol.seats(&request)?;
        Ok(Self { protocol, play, population: population.clone(), request })
    }

    /// Holds `trials` debates on the caller's runtime and reads each from its log. The same seed gives the same observations, on any
    /// number of threads.
    pub async fn hold(&self, trials: usize, seed: u64) -> Result<Vec<DebateObservation>, SimulationError> {
        self.hold_counted(trials, seed, &|| {}).await
    }

    /// The same; `on_debate` is called after each.
    pub(super) async fn hold_counted(
        &self,
        trials: usize,
        seed: u64,
        on_debate: DebateCounter<'_>,
    ) -> Result<Vec<DebateObservation>, SimulationError> {
        let debates = Arc::new(self.clone());
        let (mut running, mut waiting) = (JoinSet::new(), 0..trials);
        let mut all: Vec<(usize, DebateObservation)> = Vec::with_capacity(trials);
        loop {
            for trial in waiting.by_ref().take(RUNNING_MAX - running.len()) {
                let debates = Arc::clone(&debates);
                running.spawn(async move { Ok((trial, debates.hold_one(trial, seed).await?)) });
            }
            let Some(ended) = running.join_next().await else { break };
            let ended: Result<_, SimulationError> =
                ended.map_err(|why| SimulationError::System(why.to_string()))?;
            all.push(ended?);
            on_debate();
        }
        all.sort_by_key(|(trial, _)| *trial);
        Ok(all.into_iter().map(|(_, observation)| observation).collect())
    }

    async fn hold_one(&self, trial: usize, seed: u64) -> Result<DebateObservation, SimulationError> {
        let seed = SeededDraw::new(seed, &format!("trial {trial}")).next_u64();
        let simulated = Arc::new(SimulatedTrial::new(self.play, &self.population, seed));
        let truth = simulated.truth;
        let logs = Arc::new(LogsInMemory::default());
        let models = Arc::new(SimulatedModels { trial: simulated });
        let engine = Engine::new(models, logs.clone(), EngineSettings::default());
        let brief = self.brief(trial, seed)?;
        let id = brief.id.clone();
        let held = engine.open(self.protocol, brief, &DebateWatch::default(), &StopSignal::new()).await;
        held.map_err(|why| SimulationError::Engine { trial, why })?;
        let unreadable = |why: Corrupt| SimulationError::Log { trial, why };
        let log = logs.lock().remove(&id).unwrap_or_default();
        let debate = Debate::from_records(&log).map_err(unreadable)?;
        if let Some((phase, ask, _, detail)) = debate.absences().next() {
            let (seat, phase, why) = (ask.seat.clone(), phase.name.clone(), detail.to_owned());
            return Err(SimulationError::Absent { trial, seat, phase, why });
        }
        DebateObservation::read(self.protocol, self.play, &debate, truth).map_err(unreadable)
    }

    fn brief(&self, trial: usize, seed: u64) -> Result<Brief, Invalid> {
        let request = Request { seed, ..self.request.clone() };
        Ok(Brief {
            version: LOG_VERSION,
            id: format!("trial-{trial}"),
            protocol: self.protocol.info().name.to_owned(),
            seats: self.protocol.seats(&request)?,
            question: request.question,
            files: request.files,
            options: request.options,
            seed,
            nonce: format!("simulated {seed}"),
            // A simulated seat would give the same wrong reply again.
            limits: DebateLimits { repairs: 0, retries: 0, ..DebateLimits::default() },
            templates: template_hashes(self.protocol),
            written_by: String::new(),
            created_at: "1970-01-01T00:00:00Z".into(),
            parent: None,
        })
    }
}

/// The logs of simulated debates, by the debate's id.
#[derive(Default)]
struct LogsInMemory(Mutex<BTreeMap<String, Vec<LogRecord>>>);

impl LogsInMemory {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Vec<LogRecord>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for LogsInMemory {
    fn append<'a>(&'a self, id: &'a str, records: Vec<LogRecord>) -> BoxFuture<'a, Result<(), StoreError>> {
        self.lock().entry(id.to_owned()).or_default().extend(records);
        async { Ok(()) }.boxed()
    }

    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Vec<LogRecord>, StoreError>> {
        let log = self.lock().get(id).cloned().ok_or_else(|| StoreError::Unknown(id.to_owned()));
        async move { log }.boxed()
    }

    fn lease<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        async { Ok(()) }.boxed()
    }

    fn release<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        async { Ok(()) }.boxed()
    }
}
