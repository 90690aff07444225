//! What a seed decides, and what all parts of a schedule share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::seed::SeededDraw;
use agon_core::{Brief, DebateLimits};
use agon_engine::EngineSettings;
use serde_json::json;
use tokio::time::Instant;

use crate::database::{Database, StoreFlaw};
use crate::model_server::{FAULTS_MAX, LedgerEntry};
use crate::rounds_protocol::brief;

/// A process. Every start of a worker is a new one.
pub(crate) type ProcessKey = u64;
/// The place of a run in [`World::runs`].
pub(crate) type RunNumber = usize;

/// What a seed decides before anything runs.
pub(crate) struct Schedule {
    pub(crate) seed: u64,
    pub(crate) briefs: Vec<Brief>,
    pub(crate) workers: usize,
    pub(crate) settings: EngineSettings,
    /// How long a leg may take.
    pub(crate) leg_max: Duration,
    /// How long the scheduler waits for the end of a leg before it starts another one.
    pub(crate) patience: Duration,
    /// When the store goes away, and for how long.
    pub(crate) outages: Vec<(Duration, Duration)>,
    /// How many disturbances of processes and messages there are at most. After them every debate can close.
    disturbances_max: usize,
}

impl Schedule {
    pub(crate) fn new(seed: u64) -> Self {
        let mut draw = SeededDraw::new(seed, "schedule");
        let briefs = (0..1 + draw.below(3)).map(|debate| random_brief(seed, debate, &mut draw)).collect();
        let settings = EngineSettings {
            concurrent_calls: 1 + draw.below(4),
            drain_ms: draw.below(300) as u64,
            warm_up: draw.below(3) == 0,
            warm_up_ms: draw.below(300) as u64,
            ..EngineSettings::default()
        };
        let millis = |ms: usize| Duration::from_millis(ms as u64);
        let outages = (0..draw.below(6).saturating_sub(3)).map(|_| {
            let at = millis(draw.below(6_000));
            let lasts = [3_000, 3_000, 50_000, 150_000][draw.below(4)];
            (at, millis(1 + draw.below(lasts)))
        });
        Self {
            seed,
            outages: outages.collect(),
            briefs,
            workers: 2 + draw.below(3),
            settings,
            leg_max: [Duration::from_secs(300), millis(300 + draw.below(3_000))][draw.below(4) / 3],
            patience: [Duration::from_secs(900), millis(500 + draw.below(20_000))][draw.below(4).min(1)],
            disturbances_max: draw.below(12),
        }
    }

    /// How many calls of one debate can run at once.
    pub(crate) fn calls_at_once(&self, brief: &Brief) -> usize {
        self.settings.concurrent_calls.min(brief.seats.len())
    }
}

fn random_brief(seed: u64, debate: usize, draw: &mut SeededDraw) -> Brief {
    let mut brief = brief(&vec!["a/x"; 1 + draw.below(3)], 1 + draw.below(3) as u32);
    brief.id = format!("d{debate}");
    brief.seed = seed;
    brief.options.insert("structured".into(), json!(true));
    let faults = FAULTS_MAX as u32;
    // A stopped process must not take the time for a reason to give a seat up: the verdict would depend on it.
    let call_timeout_ms = 3_600_000;
    brief.limits =
        DebateLimits { retries: faults, repairs: faults, call_timeout_ms, ..DebateLimits::default() };
    brief
}

/// Something that goes wrong, outside of the engine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Disturbance {
    Crash,
    /// The process stands still for a while.
    Pause,
    /// A message to the store or its answer is lost, and the connection with it. The process may reach the store only much later.
    Cut,
    /// A message is so late that the process counts as silent.
    Delay,
    Outage,
}

/// A run of a debate in a process, from its delivery to its end.
#[derive(Debug, Clone)]
pub(crate) struct RunRecord {
    pub(crate) process: ProcessKey,
    pub(crate) debate: String,
    /// The calls that returned to it, by their places in the ledger.
    pub(crate) returned: Vec<usize>,
    /// How many of them had returned before an append was made that succeeded.
    pub(crate) confirmed: usize,
    /// `None` if it ended with its process.
    pub(crate) end: Option<RunEnd>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RunEnd {
    /// The debate is closed.
    Over,
    /// The time of its leg was over.
    Stopped,
    /// Another process had the debate.
    Elsewhere,
    /// Another process took the debate.
    LeaseLost,
    /// The store failed.
    StoreFailed,
}

/// Everything in a schedule that outlives a process.
pub(crate) struct World {
    pub(crate) schedule: Schedule,
    pub(crate) database: Mutex<Database>,
    pub(crate) ledger: Mutex<Vec<LedgerEntry>>,
    pub(crate) runs: Mutex<Vec<RunRecord>>,
    pub(crate) disturbances: Mutex<Vec<(Disturbance, ProcessKey)>>,
    /// The processes that have not crashed.
    pub(crate) living: Mutex<BTreeSet<ProcessKey>>,
    /// What was seen to be wrong while the schedule ran.
    pub(crate) violations: Mutex<Vec<String>>,
    draw: Mutex<SeededDraw>,
    /// Until when processes do not reach the store.
    cut_off: Mutex<BTreeMap<ProcessKey, Instant>>,
    /// How many disturbances are left.
    allowance: Mutex<usize>,
    current_runs: Mutex<BTreeMap<(ProcessKey, String), RunNumber>>,
}

impl World {
    pub(crate) fn new(schedule: Schedule, flaw: StoreFlaw) -> Arc<Self> {
        let draw = SeededDraw::new(schedule.seed, "world");
        Arc::new(Self {
            database: Mutex::new(Database::new(flaw, &schedule.briefs)),
            ledger: Mutex::default(),
            runs: Mutex::default(),
            disturbances: Mutex::default(),
            living: Mutex::default(),
            violations: Mutex::default(),
            draw: Mutex::new(draw),
            cut_off: Mutex::default(),
            allowance: Mutex::new(schedule.disturbances_max),
            current_runs: Mutex::default(),
            schedule,
        })
    }

    pub(crate) fn below(&self, bound: usize) -> usize {
        self.draw.lock().unwrap().below(bound)
    }

    pub(crate) fn millis_below(&self, bound: usize) -> Duration {
        Duration::from_millis(self.below(bound) as u64)
    }

    /// Whether something with this chance happens that uses up one of the disturbances.
    pub(crate) fn may_disturb(&self, one_in: usize) -> bool {
        let mut allowance = self.allowance.lock().unwrap();
        let happens = *allowance > 0 && self.below(one_in) == 0;
        *allowance -= usize::from(happens);
        happens
    }

    pub(crate) fn note_disturbance(&self, what: Disturbance, process: ProcessKey) {
        self.disturbances.lock().unwrap().push((what, process));
    }

    /// How often something happened to a process.
    pub(crate) fn disturbances_of(&self, process: ProcessKey) -> usize {
        self.disturbances.lock().unwrap().iter().filter(|(_, disturbed)| *disturbed == process).count()
    }

    pub(crate) fn start_process(&self, process: ProcessKey) {
        self.living.lock().unwrap().insert(process);
        if self.database.lock().unwrap().is_away {
            self.note_disturbance(Disturbance::Outage, process);
        }
    }

    pub(crate) fn cut_off(&self, process: ProcessKey, lasts: Duration) {
        self.cut_off.lock().unwrap().insert(process, Instant::now() + lasts);
    }

    pub(crate) fn is_cut_off(&self, process: ProcessKey) -> bool {
        self.cut_off.lock().unwrap().get(&process).is_some_and(|until| Instant::now() < *until)
    }

    pub(crate) fn note_violation(&self, what: String) {
        self.violations.lock().unwrap().push(what);
    }

    pub(crate) fn begin_run(&self, process: ProcessKey, debate: &str) -> RunNumber {
        let mut runs = self.runs.lock().unwrap();
        let (returned, confirmed, end) = (Vec::new(), 0, None);
        runs.push(RunRecord { process, debate: debate.to_owned(), returned, confirmed, end });
        self.current_runs.lock().unwrap().insert((process, debate.to_owned()), runs.len() - 1);
        runs.len() - 1
    }

    /// The run of a debate in a process.
    pub(crate) fn current_run(&self, process: ProcessKey, debate: &str) -> RunNumber {
        self.current_runs.lock().unwrap()[&(process, debate.to_owned())]
    }

    /// Whether a process that lives runs something.
    pub(crate) fn is_busy(&self) -> bool {
        let living = self.living.lock().unwrap();
        self.runs.lock().unwrap().iter().any(|run| run.end.is_none() && living.contains(&run.process))
    }

    /// All that happened, to compare two schedules.
    pub(crate) fn trace(&self) -> String {
        let database = self.database.lock().unwrap();
        let (ledger, runs) = (self.ledger.lock().unwrap(), self.runs.lock().unwrap());
        let disturbances = self.disturbances.lock().unwrap();
        format!("{:?}\n{ledger:?}\n{runs:?}\n{disturbances:?}", database.history)
    }
}
