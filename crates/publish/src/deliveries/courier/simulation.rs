//! A seeded simulation of the outbox with a clock that is not real: processes that die at any step, and others that go on.
//!
//! "Every parcel is done or dead, never both, at most 8 attempts, none lost by a crash at any point."

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::seed::Draw;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{Carried, Carry, Courier, Report};
use crate::deliveries::outbox::{Outbox, Parcel};
use crate::deliveries::policy::{AT_ONCE, ATTEMPT_S_MAX, ATTEMPTS_MAX};

const PARCELS: i64 = 20;
const CRASHES: usize = 6;
const RUNS_MAX: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Due { at_s: i64 },
    Sending { until_s: i64 },
    Done,
    Dead,
}

#[derive(Debug)]
struct Kept {
    state: State,
    attempts: u32,
    /// How often an attempt was really made, and how often it got through.
    carried: u32,
    reached: u32,
}

#[derive(Debug, Default)]
struct World {
    kept: BTreeMap<i64, Kept>,
    /// The process that lives; what an older one still does has no effect.
    process: usize,
    /// Steps until it dies, and whether the last one still takes effect.
    dies: Option<(usize, bool)>,
    under_way: usize,
    under_way_max: usize,
    wrong: Vec<String>,
}

/// One process of several that work on the same outbox.
struct Process {
    number: usize,
    seed: u64,
    world: Arc<Mutex<World>>,
    died: Arc<Notify>,
}

impl Process {
    /// Makes one step, unless this process is dead or dies of it.
    fn step<T>(&self, effect: impl FnOnce(&mut World) -> T) -> Option<T> {
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

    fn settle(&self, id: i64, state: State) -> Result<(), String> {
        let settled = self.step(|world| {
            let Some(kept) = world.kept.get_mut(&id) else { return };
            if !matches!(kept.state, State::Sending { .. }) {
                world.wrong.push(format!("{id} is {:?} and becomes {state:?}", kept.state));
            }
            kept.state = state;
        });
        settled.ok_or_else(|| "dead".into())
    }
}

impl Outbox for Process {
    fn due(&self, now_s: i64, limit: usize) -> Result<Vec<Parcel>, String> {
        let taken = self.step(|world| {
            let is_due = |kept: &Kept| match kept.state {
                State::Due { at_s } => at_s <= now_s,
                State::Sending { until_s } => until_s <= now_s,
                State::Done | State::Dead => false,
            };
            let due = world.kept.iter_mut().filter(|(_, kept)| is_due(kept)).take(limit);
            let parcel = |(id, kept): (&i64, &mut Kept)| {
                kept.state = State::Sending { until_s: now_s + ATTEMPT_S_MAX };
                kept.attempts += 1;
                let destination = "https://a.example/".to_owned();
                Parcel { id: *id, debate: "d".into(), destination, attempts: kept.attempts - 1 }
            };
            due.map(parcel).collect()
        });
        taken.ok_or_else(|| "dead".into())
    }

    fn done(&self, id: i64) -> Result<(), String> {
        self.settle(id, State::Done)
    }

    fn failed(&self, id: i64, error: &str, next_at_s: Option<i64>) -> Result<(), String> {
        assert!(!error.is_empty());
        self.settle(id, next_at_s.map_or(State::Dead, |at_s| State::Due { at_s }))
    }
}

impl Carry for Process {
    fn carry<'a>(&'a self, parcel: &'a Parcel, _: i64) -> BoxFuture<'a, Carried> {
        async move {
            let mut draw = Draw::new(self.seed, &format!("{} {}", parcel.id, parcel.attempts));
            let begun = self.step(|world| {
                world.under_way += 1;
                world.under_way_max = world.under_way_max.max(world.under_way);
                world.kept.get_mut(&parcel.id).unwrap().carried += 1;
            });
            if begun.is_none() {
                return std::future::pending().await;
            }
            let _under_way = UnderWay(&self.world);
            tokio::time::sleep(Duration::from_millis(draw.below(15_000) as u64)).await;
            match draw.below(10) {
                0 => Carried::Dead { why: "refused".into() },
                1 | 2 => {
                    let reached = self.step(|world| world.kept.get_mut(&parcel.id).unwrap().reached += 1);
                    if reached.is_none() {
                        std::future::pending().await
                    } else {
                        Carried::Done { note: None }
                    }
                }
                3 => Carried::Later { why: "busy".into(), retry_after: Some(Duration::from_secs(40)) },
                _ => Carried::later("failed"),
            }
        }
        .boxed()
    }
}

struct UnderWay<'a>(&'a Mutex<World>);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.lock().unwrap().under_way -= 1;
    }
}

/// Lets one process after the other deliver until all is settled, and gives the end and what the runs reported.
async fn simulate(seed: u64) -> (World, Vec<Report>) {
    let mut draw = Draw::new(seed, "simulation");
    let fresh = || Kept { state: State::Due { at_s: 0 }, attempts: 0, carried: 0, reached: 0 };
    let kept = (0..PARCELS).map(|id| (id, fresh())).collect();
    let world = Arc::new(Mutex::new(World { kept, ..World::default() }));
    let start = Instant::now();
    let now = move || i64::try_from(start.elapsed().as_secs()).unwrap();
    let mut reports = Vec::new();
    for number in 0..RUNS_MAX {
        let died = Arc::new(Notify::new());
        {
            let mut world = world.lock().unwrap();
            world.process = number;
            world.under_way = 0;
            world.dies = (number < CRASHES).then(|| (draw.below(40), draw.below(2) == 0));
            if world.kept.values().all(|kept| matches!(kept.state, State::Done | State::Dead)) {
                break;
            }
        }
        let process = Arc::new(Process { number, seed, world: Arc::clone(&world), died: Arc::clone(&died) });
        let courier = Courier::with(process.clone(), process, seed);
        let deadline = Duration::from_secs(draw.below(300) as u64);
        tokio::select! {
            report = courier.deliver(&now, deadline) => reports.push(report),
            () = died.notified() => {}
        }
        drop(courier);
        // The process is gone, or waits for its end without doing anything.
        world.lock().unwrap().process = usize::MAX;
        let gap_s = if number < CRASHES { draw.below(100) } else { 8 * 3600 };
        tokio::time::advance(Duration::from_secs(gap_s as u64)).await;
    }
    let world =
        Arc::try_unwrap(world).unwrap_or_else(|_| panic!("seed {seed}: somebody still holds the world"));
    (world.into_inner().unwrap(), reports)
}

#[tokio::test(start_paused = true)]
async fn every_parcel_is_done_or_dead_and_none_is_lost_by_a_crash() {
    let (mut done, mut dead, mut twice, mut crowded) = (0, 0, 0, 0);
    for seed in 0..60 {
        let (world, reports) = simulate(seed).await;
        assert_eq!(world.wrong, Vec::<String>::new(), "seed {seed}");
        assert!(world.under_way_max <= AT_ONCE, "seed {seed}: {} at once", world.under_way_max);
        crowded += usize::from(world.under_way_max == AT_ONCE);
        for (id, kept) in &world.kept {
            assert!(matches!(kept.state, State::Done | State::Dead), "seed {seed}: {id} is {kept:?}");
            assert!(kept.carried <= ATTEMPTS_MAX, "seed {seed}: {id} is {kept:?}");
            assert!(kept.state != State::Done || kept.reached > 0, "seed {seed}: {id} never got through");
            done += usize::from(kept.state == State::Done);
            dead += usize::from(kept.state == State::Dead);
            twice += usize::from(kept.reached > 1);
        }
        for report in reports {
            let mut told: Vec<i64> = [&report.delivered, &report.later, &report.dead]
                .into_iter()
                .flatten()
                .map(|told| told.id)
                .collect();
            let all = told.len();
            told.sort_unstable();
            told.dedup();
            assert_eq!(told.len(), all, "seed {seed}: a parcel is told of twice");
        }
    }
    // Else the simulation would show nothing.
    assert!(done > 100 && dead > 100 && twice > 0 && crowded > 10, "{done} {dead} {twice} {crowded}");
}

/// An outbox that hands out these parcels once, and one that cannot be read.
struct Once(Mutex<Vec<Parcel>>, Mutex<Vec<String>>);

impl Outbox for Once {
    fn due(&self, _: i64, limit: usize) -> Result<Vec<Parcel>, String> {
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

/// Gets through with even numbers; takes a minute for odd ones.
struct Even;

impl Carry for Even {
    fn carry<'a>(&'a self, parcel: &'a Parcel, _: i64) -> BoxFuture<'a, Carried> {
        async move {
            if parcel.id % 2 == 1 {
                tokio::time::sleep(Duration::from_secs(60)).await;
            }
            Carried::Done { note: None }
        }
        .boxed()
    }
}

fn parcel(id: i64, attempts: u32) -> Parcel {
    Parcel { id, debate: "d".into(), destination: "slack:https://a.example/secret".into(), attempts }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_breaks_off_and_a_crash_counts_as_an_attempt() {
    let outbox = Arc::new(Once(
        Mutex::new(vec![parcel(1, 0), parcel(2, 0), parcel(3, 8), parcel(5, 7)]),
        Mutex::default(),
    ));
    let courier = Courier::with(outbox.clone(), Arc::new(Even), 1);
    let report = courier.deliver(&|| 1_000, Duration::from_secs(10)).await;
    let ids = |told: &[super::Told]| told.iter().map(|told| told.id).collect::<Vec<_>>();
    assert_eq!(
        (ids(&report.delivered), ids(&report.later), ids(&report.dead)),
        (vec![2], vec![1], vec![3, 5])
    );
    assert_eq!(report.troubles, ["the disk is full"], "it is delivered, and will be once more");
    assert_eq!(report.delivered[0].destination, "slack:https://a.example/\u{2026}", "no secret is told");
    let mut written = outbox.1.lock().unwrap().clone();
    written.sort();
    let no_time = "there was no more time for it in that run";
    assert_eq!(
        written,
        [
            format!("1 {no_time} Some(1001)"),
            "2 done".to_owned(),
            "3 8 attempts were begun, and the last was cut off None".to_owned(),
            format!("5 {no_time}; that was attempt 8 of 8 None"),
        ]
    );
}

struct Unreadable;

impl Outbox for Unreadable {
    fn due(&self, _: i64, _: usize) -> Result<Vec<Parcel>, String> {
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
    let courier = Courier::with(Arc::new(Unreadable), Arc::new(Even), 1);
    let report = courier.deliver(&|| 0, Duration::from_secs(10)).await;
    assert_eq!(report, Report { troubles: vec!["the store cannot be read".into()], ..Report::default() });
}
