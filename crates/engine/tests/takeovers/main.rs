//! A simulation of workers that share a store: whole debates with the real engine, in which processes crash, stop and go on, messages
//! are late or lost, the store is away, and whoever schedules the debates delivers them late and twice. Everything comes from one seed.
//!
//! `AGON_SIMULATION_SEEDS` is how many seeds are tried, or a range of them: `AGON_SIMULATION_SEEDS=4711..4712` repeats one.
//!
//! - `schedule`: what a seed decides, and what the parts share.
//! - `database`: the store's tables and their rules. `process_store`: how a process uses them.
//! - `worker_process`: a process that runs legs of debates until it crashes. `deliveries`: who starts them.
//! - `model_server`: answers calls and keeps a ledger of them.
//! - `oracle`: what must hold in the end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod database;
mod deliveries;
mod model_server;
mod oracle;
mod process_store;
#[path = "../engine/rounds_protocol.rs"]
mod rounds_protocol;
mod schedule;
mod worker_process;

use std::ops::Range;

use database::StoreFlaw;
use schedule::{Schedule, World};

const SEEDS: u64 = 10_000;
/// Within so many schedules every flaw of a store is found.
const FLAW_SEEDS: u64 = 1_000;

#[test]
fn whatever_workers_messages_and_the_store_do_no_answer_is_lost_or_repeated_and_no_debate_has_two_owners() {
    if let Some((seed, violations)) = first_violation(seeds(), StoreFlaw::None) {
        let again = format!("AGON_SIMULATION_SEEDS={seed}..{}", seed + 1);
        panic!("{}\nrun again with {again}", violations.join("\n"));
    }
}

/// The simulation notices what it is there for.
#[test]
fn stores_with_flaws_are_found_out() {
    for (flaw, consequence) in [
        (StoreFlaw::IgnoresEpochs, "without owning it"),
        (StoreFlaw::IgnoresOwners, "to which nothing happened"),
        (StoreFlaw::ForgetsCommits, "the log lacks the result of"),
    ] {
        let is_found = |seed: &u64| {
            oracle::violations(&simulate(*seed, flaw)).iter().any(|what| what.contains(consequence))
        };
        let found = (0..FLAW_SEEDS).find(is_found);
        println!("{flaw:?} is found with seed {found:?}");
        assert!(found.is_some(), "{flaw:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_schedule() {
    for seed in 0..20 {
        let [first, second] = [(); 2].map(|()| simulate(seed, StoreFlaw::None).trace());
        assert!(first == second, "seed {seed}\n{first}\n\n{second}");
    }
}

/// The schedules are worth something only if all of this happens in them.
#[test]
fn the_schedules_have_takeovers_late_calls_refused_writers_and_unconfirmed_commits() {
    let mut seen = [0; 6];
    for seed in 0..300 {
        let world = simulate(seed, StoreFlaw::None);
        oracle::occurrences(&world).into_iter().zip(&mut seen).for_each(|(count, sum)| *sum += count);
    }
    println!("takeovers, late calls, lost debates, unconfirmed commits, stops, repeated calls: {seen:?}");
    assert!(seen.iter().all(|count| *count >= 20), "{seen:?}");
}

/// The first of these seeds that violates something, and what. Seeds are independent, so they run on all cores.
fn first_violation(seeds: Range<u64>, flaw: StoreFlaw) -> Option<(u64, Vec<String>)> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let found = std::thread::scope(|scope| {
        let share = |thread: usize| seeds.clone().skip(thread).step_by(threads);
        let violations = move |seed: u64| {
            let violations = oracle::violations(&simulate(seed, flaw));
            (!violations.is_empty()).then_some((seed, violations))
        };
        let running: Vec<_> = (0..threads)
            .map(|thread| {
                let mut share = share(thread);
                scope.spawn(move || share.find_map(violations))
            })
            .collect();
        running.into_iter().filter_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    found.into_iter().min()
}

fn seeds() -> Range<u64> {
    let Ok(wanted) = std::env::var("AGON_SIMULATION_SEEDS") else { return 0..SEEDS };
    let number = |text: &str| text.parse().expect("AGON_SIMULATION_SEEDS is a number or a range");
    wanted.split_once("..").map_or_else(|| 0..number(&wanted), |(from, to)| number(from)..number(to))
}

/// Plays one schedule to its end.
fn simulate(seed: u64, flaw: StoreFlaw) -> std::sync::Arc<World> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(async {
        let world = World::new(Schedule::new(seed), flaw);
        deliveries::run_to_end(&world).await;
        world
    })
}
