//! Debates on workers beside debates in one process: `AGON_RESTATE=PROGRAM cargo bench -p agon --bench scale`.
//!
//! 2,000 debates of 12 calls, each answered after 20 ms, over 4 workers, one PostgreSQL server and one Restate server on this machine; then the
//! same while a worker, the Restate server, a connection of the database and another worker are killed in turn.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

#[path = "../crates/agon/tests/worker/cluster.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod cluster;

use std::collections::HashMap;
use std::process::Command;
use std::time::{Duration, Instant};

use cluster::{Cluster, cpu_seconds, eventually, free_port};
use serde_json::Value;

const DELAY: Duration = Duration::from_millis(20);
const WORKERS: usize = 4;
const CALLS: usize = 12;
/// The calls of one debate that must follow one another.
const STEPS: usize = 6;
const AT_ONCE: usize = 256;

fn main() {
    let debates = std::env::var("AGON_BENCH_DEBATES").ok().and_then(|count| count.parse().ok()).unwrap_or(2_000);
    let rounds = debates as f64 * CALLS as f64 / AT_ONCE as f64;
    let ideal = (rounds * DELAY.as_secs_f64()).max(STEPS as f64 * DELAY.as_secs_f64());
    println!("{debates} debates of {CALLS} calls, each answered after {} ms, {AT_ONCE} calls at once", DELAY.as_millis());
    println!("ideal: {ideal:.2} s");
    let alone = in_one_process(debates);
    let spread = on_workers(debates, false);
    on_workers(debates, true);
    println!("CPU of agon per call, workers over one process: {:.2} times (target 2)", spread / alone);
}

/// `agon batch` with a SQLite file. Returns the CPU time of a call in milliseconds.
fn in_one_process(debates: usize) -> f64 {
    let Some(cluster) = Cluster::start(DELAY) else { panic!("AGON_RESTATE names no Restate server") };
    let input = write_input(&cluster, debates);
    let began = Instant::now();
    let before = children_cpu();
    let output = cluster.command(&batch_args(&input)).output().unwrap();
    let (wall, cpu) = (began.elapsed().as_secs_f64(), children_cpu() - before);
    assert_eq!(complete(&output.stdout), debates, "{}", String::from_utf8_lossy(&output.stderr));
    let per_call = cpu * 1e3 / (debates * CALLS) as f64;
    println!("one process, SQLite: {wall:.2} s, {per_call:.3} ms of CPU a call");
    per_call
}

/// The same on workers. Returns the CPU time of a call in milliseconds, over all processes of agon.
fn on_workers(debates: usize, with_kills: bool) -> f64 {
    let mut cluster = Cluster::start_on_postgres(DELAY).expect("there is no PostgreSQL");
    let shared = format!("127.0.0.1:{}", free_port());
    let workers: Vec<usize> = (0..WORKERS).map(|_| cluster.add_worker(&shared)).collect();
    let input = write_input(&cluster, debates);
    let (began, before) = (Instant::now(), children_cpu());
    let batch = cluster.submitting(&batch_args(&input)).spawn().unwrap();
    let mut killed_cpu = 0.0;
    if with_kills {
        let all = (debates * CALLS) as u64;
        let wait = |cluster: &Cluster, fifth: u64| {
            eventually(|| (cluster.mock.calls() >= all * fifth / 5).then_some(()));
        };
        wait(&cluster, 1);
        killed_cpu += cpu_seconds(cluster.worker_pid(workers[0]));
        cluster.kill_worker(workers[0]);
        wait(&cluster, 2);
        cluster.restate.kill_and_restart();
        wait(&cluster, 3);
        end_connections(&cluster);
        wait(&cluster, 4);
        killed_cpu += cpu_seconds(cluster.worker_pid(workers[1]));
        cluster.kill_worker(workers[1]);
    }
    let output = batch.wait_with_output().unwrap();
    let wall = began.elapsed().as_secs_f64();
    assert_eq!(complete(&output.stdout), debates, "{}", String::from_utf8_lossy(&output.stderr));
    let living = if with_kills { &workers[2..] } else { &workers[..] };
    let shares: Vec<f64> = living.iter().map(|place| cpu_seconds(cluster.worker_pid(*place))).collect();
    // The batch has ended, so it is counted among the children. So are the workers that were killed.
    let batch_cpu = children_cpu() - before - killed_cpu;
    let cpu = shares.iter().sum::<f64>() + batch_cpu + killed_cpu;
    let per_call = cpu * 1e3 / (debates * CALLS) as f64;
    let kind = if with_kills { "with four kills" } else { "without kills" };
    println!("{WORKERS} workers, PostgreSQL, Restate, {kind}: {wall:.2} s, {per_call:.3} ms of CPU a call");
    println!("  CPU: batch {batch_cpu:.1} s, workers {shares:.1?} s, Restate {:.1} s", cpu_seconds(cluster.restate.pid()));
    report_calls(&cluster, debates);
    per_call
}

/// The mock's own count, and what the logs say about calls that may have been billed twice.
fn report_calls(cluster: &Cluster, debates: usize) {
    let mut bodies: HashMap<String, usize> = HashMap::new();
    for request in cluster.mock.requests() {
        *bodies.entry(request.body().to_string()).or_default() += 1;
    }
    let repeated: usize = bodies.values().map(|count| count - 1).sum();
    let expected = debates * CALLS;
    println!(
        "  the server counted {} calls, {expected} expected; {repeated} came twice, {} were given up by their caller",
        cluster.mock.calls(),
        cluster.mock.abandoned()
    );
}

fn end_connections(cluster: &Cluster) {
    let address = cluster.postgres.as_ref().unwrap().address("postgres");
    let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'agon'";
    let output = Command::new("psql").args([&address, "-tAc", sql]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn write_input(cluster: &Cluster, debates: usize) -> String {
    let lines: String = (0..debates).map(|n| format!("{{\"question\": \"{n}?\"}}\n")).collect();
    let input = cluster.home.path().join("in.jsonl");
    std::fs::write(&input, lines).unwrap();
    input.to_str().unwrap().to_owned()
}

fn batch_args(input: &str) -> [&str; 7] {
    ["batch", input, "--models", "openai/m", "--concurrency", "2000", "--quiet"]
}

fn complete(stdout: &[u8]) -> usize {
    let is_complete = |line: &&str| serde_json::from_str::<Value>(line).unwrap()["status"] == "complete";
    std::str::from_utf8(stdout).unwrap().lines().filter(is_complete).count()
}

/// The CPU time of all children that have ended and were waited for, in seconds.
fn children_cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    cluster::stat_ticks(&stat, [15, 16])
}
