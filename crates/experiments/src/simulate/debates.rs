//! Whole debates of a population, held by the real engine and read from their logs.

use std::num::NonZero;
use std::sync::Arc;

use agon_core::protocol::template_hashes;
use agon_core::seed::Draw;
use agon_core::{Artifact, Brief, Corrupt, Debate, Invalid, LOG_VERSION, Limits, Protocol, Request, options};
use agon_engine::{Engine, EngineError, Settings, Stop, Watch};

use crate::measure::Observation;
use crate::player::{Cast, model_of, model_of_role};
use crate::population::Population;
use crate::shelf::Shelf;
use crate::words::QUESTION;
use crate::world::World;

/// Why a simulation came to no end.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The plan cannot be carried out.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// A debate could not be held.
    #[error("trial {trial} could not be held: {why}")]
    Engine {
        /// Which trial.
        trial: usize,
        /// The engine's words.
        why: EngineError,
    },
    /// A log could not be read.
    #[error("the log of trial {trial} cannot be read: {why}")]
    Log {
        /// Which trial.
        trial: usize,
        /// What is wrong.
        why: Corrupt,
    },
    /// A simulated seat was not understood: what is measured would be of others.
    #[error(
        "in trial {trial} {seat} has no answer in {phase}: {why}; this is a fault of the simulator, please report it with the seed"
    )]
    Absent {
        /// Which trial.
        trial: usize,
        /// Whose answer.
        seat: String,
        /// Where.
        phase: String,
        /// What was seen.
        why: String,
    },
    /// There is no thread or timer to be had.
    #[error("the simulation cannot run here: {0}")]
    System(String),
}

/// A kind of debate to be held many times.
#[derive(Clone)]
pub struct Sitting {
    protocol: &'static dyn Protocol,
    population: Population,
    request: Request,
}

impl std::fmt::Debug for Sitting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sitting")
            .field("protocol", &self.protocol.name())
            .field("population", &self.population)
            .finish()
    }
}

/// How many can sit in a protocol and hold positions, up to 7.
pub(crate) fn sizes(protocol: &str) -> Vec<usize> {
    match protocol {
        "panel" => vec![3, 5, 7],
        "council" => (3..=6).collect(),
        _ => (2..=7).collect(),
    }
}

impl Sitting {
    /// Debates of this protocol among this population. `rounds` is how often seats may change their mind; `None` for the protocol's
    /// own number. `strict` asks `review` for its evidence bar.
    pub fn new(
        protocol: &str,
        population: &Population,
        rounds: Option<u32>,
        strict: bool,
    ) -> Result<Self, Invalid> {
        population.check()?;
        let found = agon_protocols::PROTOCOLS.iter().find(|known| known.name() == protocol);
        let known: Vec<&str> = agon_protocols::PROTOCOLS.iter().map(|known| known.name()).collect();
        let protocol = *found.ok_or_else(|| {
            Invalid(format!("{protocol:?} cannot be simulated; what can be is: {}", known.join(", ")))
        })?;
        let (name, seats) = (protocol.name(), population.seats);
        let sizes = sizes(name);
        if !sizes.contains(&seats) {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            return Err(Invalid(format!(
                "{name} cannot seat {seats} here: it can seat {}",
                sizes.join(", ")
            )));
        }
        let given = settings(name, seats, rounds, strict)?;
        let options = options::resolve(protocol.options(), given)?;
        let files = (name == "panel").then(|| Artifact {
            path: "bridge.md".into(),
            text: "The plan is to open the old bridge to traffic again.".into(),
            part: None,
        });
        let request = Request {
            question: QUESTION.into(),
            files: files.into_iter().collect(),
            models: (0..seats).map(model_of).collect(),
            roles: protocol.roles().iter().map(|role| ((*role).to_owned(), model_of_role(role))).collect(),
            options,
            seed: 0,
        };
        protocol.seats(&request)?;
        Ok(Self { protocol, population: population.clone(), request })
    }

    /// The protocol's name.
    pub fn protocol(&self) -> &'static str {
        self.protocol.name()
    }

    /// Holds this many debates and reads each from its log. The same seed gives the same observations, on any number of threads.
    pub fn hold(&self, trials: usize, seed: u64) -> Result<Vec<Observation>, SimulateError> {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(trials.max(1));
        let share = |first: usize| -> Result<Vec<(usize, Observation)>, SimulateError> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            let runtime = runtime.map_err(|why| SimulateError::System(why.to_string()))?;
            let own = (first..trials).step_by(threads);
            own.map(|trial| Ok((trial, runtime.block_on(self.one(trial, seed))?))).collect()
        };
        let shares = std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|first| scope.spawn(move || share(first))).collect();
            let ended = running.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| Err(SimulateError::System("a thread broke off".into())))
            });
            ended.collect::<Result<Vec<_>, _>>()
        })?;
        let mut all: Vec<(usize, Observation)> = shares.into_iter().flatten().collect();
        all.sort_by_key(|(trial, _)| *trial);
        Ok(all.into_iter().map(|(_, observation)| observation).collect())
    }

    async fn one(&self, trial: usize, seed: u64) -> Result<Observation, SimulateError> {
        let seed = Draw::new(seed, &format!("trial {trial}")).next_u64();
        let world = Arc::new(World::new(self.protocol.name(), &self.population, seed));
        let truth = world.truth;
        let shelf = Arc::new(Shelf::default());
        let engine = Engine::new(Arc::new(Cast { world }), shelf.clone(), Settings::default());
        let brief = self.brief(trial, seed)?;
        let id = brief.id.clone();
        let held = engine.open(self.protocol, brief, &Watch::default(), &Stop::new()).await;
        held.map_err(|why| SimulateError::Engine { trial, why })?;
        let unread = |why: Corrupt| SimulateError::Log { trial, why };
        let debate = Debate::from_records(&shelf.take(&id)).map_err(unread)?;
        if let Some((phase, ask, _, detail)) = debate.absences().next() {
            let (seat, phase, why) = (ask.seat.clone(), phase.name.clone(), detail.to_owned());
            return Err(SimulateError::Absent { trial, seat, phase, why });
        }
        Observation::read(self.protocol, &debate, truth).map_err(unread)
    }

    fn brief(&self, trial: usize, seed: u64) -> Result<Brief, Invalid> {
        let request = Request { seed, ..self.request.clone() };
        Ok(Brief {
            version: LOG_VERSION,
            id: format!("trial-{trial}"),
            protocol: self.protocol.name().to_owned(),
            seats: self.protocol.seats(&request)?,
            question: request.question,
            files: request.files,
            options: request.options,
            seed,
            // A simulated answer is right the first time or never.
            limits: Limits { repairs: 0, retries: 0, ..Limits::default() },
            templates: template_hashes(self.protocol),
            written_by: String::new(),
            created_at: "1970-01-01T00:00:00Z".into(),
            parent: None,
        })
    }
}

/// The options under which a protocol is simulated. All rounds are held, wherever the protocol lets one say so: a debate that stops
/// when all agree would show fewer who change their mind for no reason.
fn settings(
    protocol: &str,
    seats: usize,
    rounds: Option<u32>,
    strict: bool,
) -> Result<Vec<(String, String)>, Invalid> {
    let set = |key: &str, value: String| (key.to_owned(), value);
    let on = |key: &str| set(key, "true".into());
    let fixed = |own: &str| match rounds {
        Some(_) => Err(Invalid(format!("{protocol} has {own} rounds of its own: leave --rounds away"))),
        None => Ok(()),
    };
    let most = |most: u32, usual: u32| match rounds.unwrap_or(usual) {
        rounds if (1..=most).contains(&rounds) => Ok(rounds.to_string()),
        rounds => Err(Invalid(format!("{protocol} can be simulated for 1 to {most} rounds, not {rounds}"))),
    };
    Ok(match protocol {
        "deep" => {
            let rounds = most(20, 3)?;
            vec![set("min_rounds", rounds.clone()), set("max_rounds", rounds)]
        }
        // Reading others begins in the second of its rounds.
        "panel" => {
            most(2, 2)?;
            vec![set("max_rounds", (1 + rounds.unwrap_or(2)).to_string())]
        }
        "council" => {
            let mut council = vec![set("rounds", most(4, 2)?), set("councillors", seats.to_string())];
            council.extend((seats == 6).then(|| set("focus", "bridges".into())));
            council
        }
        "arena" => {
            fixed("nine")?;
            vec![set("judge_orders", "2".into()), on("no_knowledge"), on("no_memory"), on("no_pulse")]
        }
        _ => {
            fixed("two")?;
            let mut review = vec![set("count", seats.to_string()), on("debate")];
            review.extend(strict.then(|| on("strict_anchoring")));
            review
        }
    })
}
