//! The simulation: whole debates of every protocol with the real engine and the real store, in which servers fail, the disk fails,
//! people interrupt, and processes die. Servers, clock, faults and deaths all come from one seed.
//!
//! `AGON_SIMULATION_SEEDS` is how many seeds are tried, or a range of them: `AGON_SIMULATION_SEEDS=4711..4712` repeats one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod process_store;
mod server;

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agon_core::seed::SeededDraw;
use agon_core::{
    Brief, BriefFile, Debate, DebateLimits, Event, LOG_VERSION, LogRecord, OptionKind, Outcome, Protocol,
    Reply, Request, options, protocol,
};
use agon_engine::{DebateWatch, Engine, EngineError, EngineSettings, StopSignal, StoreError};
use agon_mock::PostgresInstance;
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::Instant;

use process_store::{AppendFault, DurableLog, ProcessStore, SimulatedPlace};
use server::{LedgerEntry, STEADY_FAULTS_MAX, ServedModels, SimulatedServer};

const SEEDS: u64 = 200;
/// How many of them are tried on a server, where each takes seconds.
const SERVER_SEEDS: usize = 6;
const ID: &str = "d1";
/// The most processes that are disturbed. The ones after them run until the debate closes.
const DISTURBED_MAX: usize = 6;
/// The engine lets a record wait this long for others, and timers are exact to a millisecond.
const SETTLING: Duration = Duration::from_millis(10);

#[test]
fn whatever_fails_no_answer_is_lost_or_asked_for_twice_no_limit_is_exceeded_and_every_debate_closes() {
    let home = |_: &str| None;
    try_seeds(seeds(), &home);
}

/// The same on a server that ends connections and crashes while debates run.
#[test]
fn whatever_fails_on_a_server_neither() {
    let Some(server) = PostgresInstance::shared() else { return };
    let home = |name: &str| Some(SimulatedPlace::on_server(server, name));
    // One after the other: a crash of the server concerns all.
    for seed in seeds().take(SERVER_SEEDS) {
        try_seeds(seed..seed + 1, &home);
    }
}

/// Where a run has its store: `None` is a new folder.
type NewPlace<'a> = &'a (dyn Fn(&str) -> Option<SimulatedPlace> + Sync);

fn try_seeds(seeds: Range<u64>, place: NewPlace<'_>) {
    // Seeds are independent, so they run on all cores.
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let failed: Vec<u64> = std::thread::scope(|scope| {
        let share = |worker: usize| seeds.clone().skip(worker).step_by(workers);
        let fails =
            |seed: &u64| std::panic::catch_unwind(AssertUnwindSafe(|| simulate(*seed, place))).is_err();
        let running: Vec<_> =
            (0..workers).map(|worker| scope.spawn(move || share(worker).find(fails))).collect();
        running.into_iter().filter_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(failed.is_empty(), "run again with AGON_SIMULATION_SEEDS={0}..{1}", failed[0], failed[0] + 1);
}

fn seeds() -> Range<u64> {
    let Ok(wanted) = std::env::var("AGON_SIMULATION_SEEDS") else { return 0..SEEDS };
    let number = |text: &str| text.parse().expect("AGON_SIMULATION_SEEDS is a number or a range");
    wanted.split_once("..").map_or_else(|| 0..number(&wanted), |(from, to)| number(from)..number(to))
}

/// One debate and everything that happens to it.
struct Scenario {
    seed: u64,
    protocol: &'static dyn Protocol,
    brief: Brief,
    settings: EngineSettings,
    /// Its server answers every ask in the end and nothing is limited, so that its decisions do not depend on what happens.
    is_steady: bool,
    /// How long an append takes before and after its commit.
    latency: (Duration, Duration),
}

impl Scenario {
    fn new(seed: u64) -> Self {
        let mut draw = SeededDraw::new(seed, "scenario");
        let protocols: Vec<_> = agon_protocols::all().collect();
        let protocol = protocols[draw.below(protocols.len())];
        let is_steady = draw.below(3) == 0;
        let mut brief = random_brief(protocol, seed, &mut draw);
        if is_steady {
            let retries = STEADY_FAULTS_MAX as u32;
            brief.limits = DebateLimits { retries, output_tokens: 500, ..DebateLimits::default() };
        } else {
            brief.limits = random_limits(&mut draw);
        }
        let settings = EngineSettings {
            concurrent_calls: 1 + draw.below(4),
            drain_ms: draw.below(300) as u64,
            warm_up: draw.below(2) == 0,
            warm_up_ms: draw.below(300) as u64,
            ..EngineSettings::default()
        };
        let mut latency = || Duration::from_millis(draw.below(15) as u64);
        Self { seed, protocol, brief, settings, is_steady, latency: (latency(), latency()) }
    }

    fn server(&self, durable: &DurableLog) -> Arc<SimulatedServer> {
        Arc::new(SimulatedServer::new(self.seed, self.protocol, self.is_steady, durable.clone()))
    }

    /// The longest time after which a result that the engine has is durable: it waits for the append that is running.
    fn durable_within(&self) -> Duration {
        2 * (self.latency.0 + self.latency.1) + SETTLING
    }
}

fn random_brief(protocol: &'static dyn Protocol, seed: u64, draw: &mut SeededDraw) -> Brief {
    const CHAINS: [&str; 4] = ["one/a", "two/b|one/a", "three/c", "four/d|three/c|one/a"];
    let models: Vec<String> = (0..3).map(|_| CHAINS[draw.below(CHAINS.len())].to_owned()).collect();
    let mut set = Vec::new();
    for spec in protocol.info().options {
        let value = match spec.kind {
            OptionKind::Choice(words) => words[draw.below(words.len())],
            OptionKind::Flag => ["false", "true"][draw.below(2)],
            _ => continue,
        };
        if draw.below(4) == 0 {
            set.push((spec.key.to_owned(), value.to_owned()));
        }
    }
    let request = |set: Vec<(String, String)>| Request {
        question: "Should the team adopt the queue?".into(),
        files: vec![BriefFile { path: "plan.md".into(), text: "Adopt the queue.".into(), part: None }],
        models: models.clone(),
        roles: BTreeMap::new(),
        options: options::resolve(protocol.info().options, set).unwrap(),
        seed,
    };
    // Some pairs of options are refused.
    let chosen = request(set);
    let (request, seats) = match protocol.seats(&chosen) {
        Ok(seats) => (chosen, seats),
        Err(_) => {
            let plain = request(Vec::new());
            let seats = protocol.seats(&plain).unwrap();
            (plain, seats)
        }
    };
    Brief {
        version: LOG_VERSION,
        id: ID.into(),
        protocol: protocol.info().name.into(),
        question: request.question,
        files: request.files,
        options: request.options,
        seats,
        seed,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    }
}

fn random_limits(draw: &mut SeededDraw) -> DebateLimits {
    let mut sometimes = |most: usize| (draw.below(2) == 0).then(|| draw.below(most));
    DebateLimits {
        call_timeout_ms: 5_000,
        deadline_ms: sometimes(60_000).map(|ms| ms as u64),
        usd: sometimes(2_000).map(|milli| milli as f64 / 1e3),
        calls: sometimes(60).map(|calls| calls as u32),
        tokens: sometimes(400_000).map(|tokens| tokens as u64),
        repairs: sometimes(3).unwrap_or(1) as u32,
        retries: sometimes(4).unwrap_or(2) as u32,
        output_tokens: 500,
    }
}

/// How a process ends that is disturbed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Disturbance {
    None,
    /// A person interrupts it after this many milliseconds.
    Stop(u64),
    /// It is killed after this many milliseconds.
    Kill(u64),
    /// Something happens at an append.
    Append(usize, AppendFault),
}

impl Disturbance {
    fn random(draw: &mut SeededDraw) -> Self {
        // Early ones are more likely than late ones.
        let mut up_to = |most: usize| {
            let most = draw.below(most);
            draw.below(most + 1)
        };
        let (ms, append) = (up_to(20_000) as u64, up_to(12));
        match draw.below(5) {
            0 => Self::Stop(ms),
            1 => Self::Kill(ms),
            2 => Self::Append(append, AppendFault::DiskFull),
            3 => Self::Append(append, AppendFault::DeathBefore),
            _ => Self::Append(append, AppendFault::DeathAfter),
        }
    }
}

/// How a process ended.
enum ProcessEnd {
    /// It returned, and had the time to write everything.
    Returned(Result<Box<Debate>, EngineError>),
    /// It died, and left this behind.
    Died(SimulatedPlace),
}

/// A debate that has closed.
struct ClosedDebate {
    debate: Debate,
    place: SimulatedPlace,
    server: Arc<SimulatedServer>,
    log: Vec<LogRecord>,
    /// When each process ended, and whether it had the time to write everything.
    ends: Vec<(Instant, bool)>,
}

fn simulate(seed: u64, new_place: NewPlace<'_>) {
    let scenario = Scenario::new(seed);
    let home = new_home();
    let place = |name: &str, home: &Path| {
        new_place(&format!("{name}_{seed}")).unwrap_or_else(|| SimulatedPlace::Folder(home.join("0")))
    };
    let mut draw = SeededDraw::new(seed, "disturbances");
    let disturbed = draw.below(DISTURBED_MAX + 1);
    let closed =
        run_to_close(&scenario, place("disturbed", home.path()), home.path(), |process| {
            match process < disturbed {
                true => Disturbance::random(&mut draw),
                false => Disturbance::None,
            }
        });
    check_ledger(&scenario, &closed);
    check_log(&scenario, &closed);
    if scenario.is_steady {
        let undisturbed = new_home();
        let plain = run_to_close(&scenario, place("plain", undisturbed.path()), undisturbed.path(), |_| {
            Disturbance::None
        });
        assert_eq!(decisions(&closed.log), decisions(&plain.log), "seed {seed}: the decisions differ");
    }
}

/// A folder in memory where the system has one: a process that dies leaves the same files there, and thousands of commits take no time.
fn new_home() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Runs one process after the other until the debate closes.
fn run_to_close(
    scenario: &Scenario,
    mut place: SimulatedPlace,
    home: &Path,
    mut disturbance: impl FnMut(usize) -> Disturbance,
) -> ClosedDebate {
    let seed = scenario.seed;
    let durable = DurableLog::default();
    let server = scenario.server(&durable);
    let mut ends = Vec::new();
    std::fs::create_dir(home.join("0")).unwrap();
    for process in 0..100 {
        server.process.store(process, Ordering::Relaxed);
        let next_folder = home.join((process + 1).to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let run = run_process(scenario, &server, &durable, disturbance(process), &place, &next_folder);
        let (end, ended_at) = runtime.unwrap().block_on(run);
        let log = durable.lock().unwrap().clone();
        let has_died = matches!(end, ProcessEnd::Died(_));
        match end {
            ProcessEnd::Died(left) => {
                place = left;
                ends.push((ended_at, false));
            }
            ProcessEnd::Returned(Ok(debate)) => {
                ends.push((ended_at, true));
                return ClosedDebate { debate: *debate, place, server, log, ends };
            }
            ProcessEnd::Returned(Err(EngineError::Store(StoreError::Failed { .. }))) => {
                ends.push((ended_at, false));
            }
            ProcessEnd::Returned(Err(EngineError::Interrupted { .. })) => ends.push((ended_at, true)),
            ProcessEnd::Returned(Err(EngineError::Stopped { .. })) => {
                server.key_is_fixed.store(true, Ordering::Relaxed);
                ends.push((ended_at, true));
            }
            ProcessEnd::Returned(Err(why)) => panic!("seed {seed}, process {process}: {why}"),
        }
        let stored = stored_log(&place);
        // A process may die after its last events were stored and before it heard of that.
        let expected = if has_died { stored.get(..log.len()).unwrap_or(&stored) } else { &stored };
        assert_eq!(
            expected, log,
            "seed {seed}, process {process}: the store has another log than was written"
        );
        *durable.lock().unwrap() = stored;
    }
    panic!("seed {seed}: the debate never closes")
}

/// What the store on disk holds now.
fn stored_log(place: &SimulatedPlace) -> Vec<LogRecord> {
    let store = place.open();
    match store.raw_log(ID) {
        Ok(stored) => agon_core::event::open_all(stored).unwrap(),
        Err(StoreError::Unknown(_)) => Vec::new(),
        Err(why) => panic!("{why}"),
    }
}

/// Runs one process. If it dies, `next_folder` is what it leaves on the disk.
async fn run_process(
    scenario: &Scenario,
    server: &Arc<SimulatedServer>,
    durable: &DurableLog,
    disturbance: Disturbance,
    place: &SimulatedPlace,
    next_folder: &Path,
) -> (ProcessEnd, Instant) {
    let fault = match disturbance {
        Disturbance::Append(at, fault) => Some((at, fault)),
        _ => None,
    };
    let is_new = durable.lock().unwrap().is_empty();
    let store = Arc::new(ProcessStore::open(place, durable.clone(), scenario.latency, fault));
    let engine =
        Engine::new(Arc::new(ServedModels(server.clone())), store.clone(), scenario.settings.clone());
    let (watch, stop) = (DebateWatch::default(), StopSignal::new());
    let run = async {
        if is_new {
            engine.open(scenario.protocol, scenario.brief.clone(), &watch, &stop).await
        } else {
            engine.resume(&agon_protocols::find, ID, None, &watch, &stop).await
        }
    };
    tokio::pin!(run);
    let (stop_at, kill_at) = match disturbance {
        Disturbance::Stop(ms) => (Some(ms), None),
        Disturbance::Kill(ms) => (None, Some(ms)),
        _ => (None, None),
    };
    let mut result = tokio::select! {
        result = &mut run => Some(result),
        () = store.death.notified() => None,
        () = after(kill_at) => None,
        () = after(stop_at) => {
            stop.stop();
            Some((&mut run).await)
        }
    };
    let ended_at = Instant::now();
    match result.take() {
        Some(result) => (ProcessEnd::Returned(result.map(Box::new)), ended_at),
        None => (ProcessEnd::Died(place.after_death(next_folder)), ended_at),
    }
}

async fn after(ms: Option<u64>) {
    match ms {
        Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
        None => std::future::pending().await,
    }
}

/// Compares the limits and the log with what the server was asked, answered and charged.
fn check_ledger(scenario: &Scenario, closed: &ClosedDebate) {
    let (seed, limits) = (scenario.seed, &scenario.brief.limits);
    let violations = closed.server.violations.lock().unwrap();
    assert!(violations.is_empty(), "seed {seed}: {violations:?}");
    let ledger = closed.server.ledger.lock().unwrap();
    let (tokens, usd): (u64, f64) =
        ledger.iter().fold((0, 0.0), |sum, entry| (sum.0 + entry.tokens, sum.1 + entry.usd));
    assert!(
        limits.calls.is_none_or(|most| ledger.len() <= most as usize),
        "seed {seed}: {} calls",
        ledger.len()
    );
    assert!(limits.tokens.is_none_or(|most| tokens <= most), "seed {seed}: {tokens} tokens of {limits:?}");
    assert!(limits.usd.is_none_or(|most| usd <= most + 1e-9), "seed {seed}: {usd} dollars of {limits:?}");
    for entry in ledger.iter() {
        let Some(returned_at) = entry.returned_at else { continue };
        let (ended_at, had_time) = closed.ends[entry.process];
        if had_time || returned_at + scenario.durable_within() < ended_at {
            assert!(is_recorded(entry, &closed.log), "seed {seed}: the log lacks the result of {entry:?}");
        }
    }
    for (ask, text) in closed.log.iter().filter_map(said) {
        let is_errand = ledger.iter().all(|entry| entry.ask != ask);
        let is_served = ledger.iter().any(|entry| entry.ask == ask && entry.text.as_deref() == Some(text));
        assert!(is_errand || is_served, "seed {seed}: nobody gave the answer of ask {ask}");
    }
}

/// The answer of an ask.
fn said(record: &LogRecord) -> Option<(u32, &str)> {
    match &record.entry.event {
        Event::Replied { ask, reply: Reply::Said { text, .. } } => Some((*ask, text)),
        _ => None,
    }
}

/// Whether the log has the result of a call: as a failed attempt, or as the reply.
fn is_recorded(entry: &LedgerEntry, log: &[LogRecord]) -> bool {
    log.iter().any(|record| match &record.entry.event {
        Event::Attempted { ask, attempt, .. } => (*ask, *attempt) == (entry.ask, entry.attempt),
        Event::Replied { ask, reply: Reply::Said { text, .. } } => {
            *ask == entry.ask && entry.text.as_deref() == Some(text)
        }
        _ => false,
    })
}

/// The log on disk is the debate, and the protocol would decide the same again.
fn check_log(scenario: &Scenario, closed: &ClosedDebate) {
    let seed = scenario.seed;
    assert_eq!(stored_log(&closed.place), closed.log, "seed {seed}");
    let replayed = agon_core::play::replay(scenario.protocol, &closed.log).map_err(|why| why.to_string());
    assert_eq!(replayed.as_ref(), Ok(&closed.debate), "seed {seed}: the log does not replay");
    let is_call = |event: &Event| matches!(event, Event::Sent { errand: false, .. });
    let sent = closed.log.iter().filter(|record| is_call(&record.entry.event)).count();
    assert!(sent >= closed.server.ledger.lock().unwrap().len(), "seed {seed}: a call is not in the log");
    assert_eq!(closed.debate.spent().calls as usize, sent, "seed {seed}: the calls that count");
    let store = closed.place.open();
    assert_eq!(store.health().unwrap().integrity, "ok", "seed {seed}");
}

/// What was asked, what was answered and what was decided, without how often it took.
#[derive(Debug, PartialEq)]
struct DebateDecisions {
    asked: Vec<Event>,
    answers: BTreeMap<u32, String>,
    outcome: Outcome,
}

fn decisions(log: &[LogRecord]) -> DebateDecisions {
    let events = || log.iter().map(|record| &record.entry.event);
    let mut outcome = Debate::from_records(log).unwrap().outcome.unwrap();
    remove_costs(&mut outcome.verdict);
    DebateDecisions {
        asked: events().filter(|event| matches!(event, Event::Asked { .. })).cloned().collect(),
        answers: log.iter().filter_map(said).map(|(ask, text)| (ask, text.to_owned())).collect(),
        outcome,
    }
}

/// A verdict may say what its parts cost and when it was made, which depends on how often they were asked for.
fn remove_costs(value: &mut Value) {
    match value {
        Value::Object(fields) if fields.contains_key("input_tokens") => *value = Value::Null,
        Value::Object(fields) => {
            fields.retain(|key, _| key != "cost" && key != "end_time");
            fields.values_mut().for_each(remove_costs);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_costs),
        _ => {}
    }
}
