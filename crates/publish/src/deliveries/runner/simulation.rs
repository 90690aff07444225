//! A seeded simulation with a simulated clock: processes die at any step, and others continue.
//!
//! It shows that every delivery ends as done or dead, never both, after at most 8 attempts, and that no crash loses one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::seed::SeededDraw;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{DeliveryReport, DeliveryRunner, ReportedDelivery};
use crate::deliveries::attempt::{AttemptResult, DeliveryAttempts};
use crate::deliveries::outbox::{DueDelivery, Outbox};
use crate::deliveries::retry_policy::{ATTEMPT_S_MAX, ATTEMPTS_MAX, CONCURRENT_ATTEMPTS_MAX};

const DELIVERIES: i64 = 20;
const CRASHES: usize = 6;
const RUNS_MAX: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SimulatedState {
    Due { at_s: i64 },
    Sending { until_s: i64 },
    Done,
    Dead,
}

#[derive(Debug)]
struct SimulatedDelivery {
    state: SimulatedState,
    attempts: u32,
    /// How many attempts were really made, and how many reached the receiver.
    attempted: u32,
    reached: u32,
}

#[derive(Debug, Default)]
struct SimulatedWorld {
    deliveries: BTreeMap<i64, SimulatedDelivery>,
    /// The number of the live process. What an older one does has no effect.
    process: usize,
    /// How many steps are left until it dies, and whether the last step takes effect.
    dies: Option<(usize, bool)>,
    running: usize,
    running_max: usize,
    wrong: Vec<String>,
}

/// One of several processes that work on the same outbox.
struct SimulatedProcess {
    number: usize,
    seed: u64,
    world: Arc<Mutex<SimulatedWorld>>,
    died: Arc<Notify>,
}

impl SimulatedProcess {
    /// Makes one step, unless this process is dead or dies now.
    fn step<T>(&self, effect: impl FnOnce(&mut SimulatedWorld) -> T) -> Option<T> {
        let mut world = self.world.lock().unwrap();
        if world.process != self.number {
            return None;
        }
        match world.dies {
            Some((0, late)) => {
                if late {
                    effect(&mut world);
                }
                world.process = usize::MAX;
                self.died.notify_one();
                None
            }
            Some((steps, late)) => {
                world.dies = Some((steps - 1, late));
                Some(effect(&mut world))
            }
            None => Some(effect(&mut world)),
        }
    }

    fn settle(&self, id: i64, state: SimulatedState) -> Result<(), String> {
        let settled = self.step(|world| {
            let Some(delivery) = world.deliveries.get_mut(&id) else { return };
            if !matches!(delivery.state, SimulatedState::Sending { .. }) {
                world.wrong.push(format!("{id} is {:?} and becomes {state:?}", delivery.state));
            }
            delivery.state = state;
        });
        settled.ok_or_else(|| "dead".into())
    }
}

impl Outbox for SimulatedProcess {
    fn due(&self, now_s: i64, limit: usize) -> Result<Vec<DueDelivery>, String> {
        let taken = self.step(|world| {
            let is_due = |delivery: &SimulatedDelivery| match delivery.state {
                SimulatedState::Due { at_s } => at_s <= now_s,
                SimulatedState::Sending { until_s } => until_s <= now_s,
                SimulatedState::Done | SimulatedState::Dead => false,
            };
            let due = world.deliveries.iter_mut().filter(|(_, delivery)| is_due(delivery)).take(limit);
            let take = |(id, delivery): (&i64, &mut SimulatedDelivery)| {
                delivery.state = SimulatedState::Sending { until_s: now_s + ATTEMPT_S_MAX };
                delivery.attempts += 1;
                let destination = "https://a.example/".to_owned();
                DueDelivery { id: *id, debate: "d".into(), destination, attempts: delivery.attempts - 1 }
            };
            due.map(take).collect()
        });
        taken.ok_or_else(|| "dead".into())
    }

    fn done(&self, id: i64) -> Result<(), String> {
        self.settle(id, SimulatedState::Done)
    }

    fn failed(&self, id: i64, error: &str, next_at_s: Option<i64>) -> Result<(), String> {
        assert!(!error.is_empty());
        self.settle(id, next_at_s.map_or(SimulatedState::Dead, |at_s| SimulatedState::Due { at_s }))
    }
}

impl DeliveryAttempts for SimulatedProcess {
    fn attempt<'a>(&'a self, delivery: &'a DueDelivery, _: i64) -> BoxFuture<'a, AttemptResult> {
        async move {
            let mut draw = SeededDraw::new(self.seed, &format!("{} {}", delivery.id, delivery.attempts));
            let begun = self.step(|world| {
                world.running += 1;
                world.running_max = world.running_max.max(world.running);
                world.deliveries.get_mut(&delivery.id).unwrap().attempted += 1;
            });
            if begun.is_none() {
                return std::future::pending().await;
            }
            let _running = RunningAttempt(&self.world);
            tokio::time::sleep(Duration::from_millis(draw.below(15_000) as u64)).await;
            match draw.below(10) {
                0 => AttemptResult::Dead { why: "refused".into() },
                1 | 2 => {
                    let reached =
                        self.step(|world| world.deliveries.get_mut(&delivery.id).unwrap().reached += 1);
                    if reached.is_none() {
                        std::future::pending().await
                    } else {
                        AttemptResult::Done { note: None }
                    }
                }
                3 => AttemptResult::Retry { why: "busy".into(), retry_after: Some(Duration::from_secs(40)) },
                _ => AttemptResult::retry("failed"),
            }
        }
        .boxed()
    }
}

struct RunningAttempt<'a>(&'a Mutex<SimulatedWorld>);

impl Drop for RunningAttempt<'_> {
    fn drop(&mut self) {
        self.0.lock().unwrap().running -= 1;
    }
}

/// Lets one process after another deliver until every delivery is done or dead. Returns the end and the reports.
async fn simulate(seed: u64) -> (SimulatedWorld, Vec<DeliveryReport>) {
    let mut draw = SeededDraw::new(seed, "simulation");
    let fresh = || SimulatedDelivery {
        state: SimulatedState::Due { at_s: 0 },
        attempts: 0,
        attempted: 0,
        reached: 0,
    };
    let deliveries = (0..DELIVERIES).map(|id| (id, fresh())).collect();
    let world = Arc::new(Mutex::new(SimulatedWorld { deliveries, ..SimulatedWorld::default() }));
    let start = Instant::now();
    let now = move || i64::try_from(start.elapsed().as_secs()).unwrap();
    let mut reports = Vec::new();
    for number in 0..RUNS_MAX {
        let died = Arc::new(Notify::new());
        {
            let mut world = world.lock().unwrap();
            world.process = number;
            world.running = 0;
            world.dies = (number < CRASHES).then(|| (draw.below(40), draw.below(2) == 0));
            if world
                .deliveries
                .values()
                .all(|delivery| matches!(delivery.state, SimulatedState::Done | SimulatedState::Dead))
            {
                break;
            }
        }
        let process =
            Arc::new(SimulatedProcess { number, seed, world: Arc::clone(&world), died: Arc::clone(&died) });
        let runner = DeliveryRunner { outbox: process.clone(), attempts: process, seed };
        let deadline = Duration::from_secs(draw.below(300) as u64);
        tokio::select! {
            report = runner.deliver(&now, deadline) => reports.push(report),
            () = died.notified() => {}
        }
        drop(runner);
        // The process is gone, or waits for its end and does nothing.
        world.lock().unwrap().process = usize::MAX;
        let gap_s = if number < CRASHES { draw.below(100) } else { 8 * 3600 };
        tokio::time::advance(Duration::from_secs(gap_s as u64)).await;
    }
    let world = Arc::try_unwrap(world).unwrap_or_else(|_| panic!("seed {seed}: the world is still in use"));
    (world.into_inner().unwrap(), reports)
}

#[tokio::test(start_paused = true)]
async fn every_delivery_ends_as_done_or_dead_and_no_crash_loses_one() {
    let (mut done, mut dead, mut twice, mut crowded) = (0, 0, 0, 0);
    for seed in 0..60 {
        let (world, reports) = simulate(seed).await;
        assert_eq!(world.wrong, Vec::<String>::new(), "seed {seed}");
        assert!(world.running_max <= CONCURRENT_ATTEMPTS_MAX, "seed {seed}: {} at once", world.running_max);
        crowded += usize::from(world.running_max == CONCURRENT_ATTEMPTS_MAX);
        for (id, delivery) in &world.deliveries {
            assert!(
                matches!(delivery.state, SimulatedState::Done | SimulatedState::Dead),
                "seed {seed}: {id} is {delivery:?}"
            );
            assert!(delivery.attempted <= ATTEMPTS_MAX, "seed {seed}: {id} is {delivery:?}");
            assert!(
                delivery.state != SimulatedState::Done || delivery.reached > 0,
                "seed {seed}: {id} never reached the receiver"
            );
            done += usize::from(delivery.state == SimulatedState::Done);
            dead += usize::from(delivery.state == SimulatedState::Dead);
            twice += usize::from(delivery.reached > 1);
        }
        for report in reports {
            let mut ids: Vec<i64> = [&report.delivered, &report.later, &report.dead]
                .into_iter()
                .flatten()
                .map(|reported| reported.id)
                .collect();
            let all = ids.len();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), all, "seed {seed}: a delivery is reported twice");
        }
    }
    // Otherwise the simulation would show nothing.
    assert!(done > 100 && dead > 100 && twice > 0 && crowded > 10, "{done} {dead} {twice} {crowded}");
}

/// An outbox that hands out these deliveries once, and records what happens to them.
struct OnceOutbox(Mutex<Vec<DueDelivery>>, Mutex<Vec<String>>);

impl Outbox for OnceOutbox {
    fn due(&self, _: i64, limit: usize) -> Result<Vec<DueDelivery>, String> {
        let mut due = self.0.lock().unwrap();
        let left = due.len().saturating_sub(limit);
        Ok(due.split_off(left))
    }

    fn done(&self, id: i64) -> Result<(), String> {
        self.1.lock().unwrap().push(format!("{id} done"));
        Err("the disk is full".into())
    }

    fn failed(&self, id: i64, error: &str, next_at_s: Option<i64>) -> Result<(), String> {
        self.1.lock().unwrap().push(format!("{id} {error} {next_at_s:?}"));
        Ok(())
    }
}

/// Delivers even numbers at once and takes a minute for odd ones.
struct FastForEvenNumbers;

impl DeliveryAttempts for FastForEvenNumbers {
    fn attempt<'a>(&'a self, delivery: &'a DueDelivery, _: i64) -> BoxFuture<'a, AttemptResult> {
        async move {
            if delivery.id % 2 == 1 {
                tokio::time::sleep(Duration::from_secs(60)).await;
            }
            AttemptResult::Done { note: None }
        }
        .boxed()
    }
}

fn due_delivery(id: i64, attempts: u32) -> DueDelivery {
    DueDelivery { id, debate: "d".into(), destination: "slack:https://a.example/secret".into(), attempts }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_attempts_and_a_crash_counts_as_an_attempt() {
    let outbox = Arc::new(OnceOutbox(
        Mutex::new(vec![due_delivery(1, 0), due_delivery(2, 0), due_delivery(3, 8), due_delivery(5, 7)]),
        Mutex::default(),
    ));
    let attempts = Arc::new(FastForEvenNumbers);
    let runner = DeliveryRunner { outbox: outbox.clone(), attempts, seed: 1 };
    let report = runner.deliver(&|| 1_000, Duration::from_secs(10)).await;
    let ids = |reported: &[ReportedDelivery]| reported.iter().map(|one| one.id).collect::<Vec<_>>();
    assert_eq!(
        (ids(&report.delivered), ids(&report.later), ids(&report.dead)),
        (vec![2], vec![1], vec![3, 5])
    );
    assert_eq!(report.troubles, ["the disk is full"], "it was delivered, and will be delivered once more");
    assert_eq!(report.delivered[0].destination, "slack:https://a.example/\u{2026}", "no secret is shown");
    let mut written = outbox.1.lock().unwrap().clone();
    written.sort();
    let no_time = "the run ended before the attempt did";
    assert_eq!(
        written,
        [
            format!("1 {no_time} Some(1001)"),
            "2 done".to_owned(),
            "3 8 attempts were started, and the last was cut off None".to_owned(),
            format!("5 {no_time}; that was attempt 8 of 8 None"),
        ]
    );
}

struct UnreadableOutbox;

impl Outbox for UnreadableOutbox {
    fn due(&self, _: i64, _: usize) -> Result<Vec<DueDelivery>, String> {
        Err("the store cannot be read".into())
    }

    fn done(&self, _: i64) -> Result<(), String> {
        Ok(())
    }

    fn failed(&self, _: i64, _: &str, _: Option<i64>) -> Result<(), String> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn an_outbox_that_cannot_be_read_ends_the_run() {
    let attempts = Arc::new(FastForEvenNumbers);
    let runner = DeliveryRunner { outbox: Arc::new(UnreadableOutbox), attempts, seed: 1 };
    let report = runner.deliver(&|| 0, Duration::from_secs(10)).await;
    let troubles = vec!["the store cannot be read".into()];
    assert_eq!(report, DeliveryReport { troubles, ..DeliveryReport::default() });
}
