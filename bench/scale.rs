//! Debates on workers beside debates in one process: `AGON_RESTATE=PROGRAM cargo bench -p agon --bench scale`.
//!
//! 2,000 debates of 12 calls, each answered after 20 ms, over 4 workers, one PostgreSQL server and one Restate server on this machine; then the
//! same while a worker, the Restate server, a connection of the database and another worker are killed (`kill -9`) in turn.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

#[path = "../crates/agon/tests/worker/cluster.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod cluster;

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cluster::{Cluster, cpu_seconds, eventually, free_port};
use serde_json::Value;

const DELAY: Duration = Duration::from_millis(20);
const WORKERS: usize = 4;
const CALLS: usize = 12;
/// The calls of one debate that must follow one another.
const STEPS: usize = 6;
const AT_ONCE: usize = 256;
const KILLS: usize = 4;

fn main() {
    let debates =
        std::env::var("AGON_BENCH_DEBATES").ok().and_then(|count| count.parse().ok()).unwrap_or(2_000);
    let rounds = debates as f64 * CALLS as f64 / AT_ONCE as f64;
    let ideal = (rounds * DELAY.as_secs_f64()).max(STEPS as f64 * DELAY.as_secs_f64());
    println!(
        "{debates} debates of {CALLS} calls, each answered after {} ms, {AT_ONCE} calls at once",
        DELAY.as_millis()
    );
    println!("ideal: {ideal:.2} s");
    let alone = in_one_process(debates);
    let spread = on_workers(debates, false);
    on_workers(debates, true);
    println!("CPU per call, workers over one process:");
    println!("  processes of agon: {:.2} times (target 2)", spread.agon / alone);
    println!("  with PostgreSQL and Restate: {:.2} times", (spread.agon + spread.servers) / alone);
}

/// Milliseconds of CPU time for one call.
struct CallCpu {
    /// All processes of agon.
    agon: f64,
    /// The servers of PostgreSQL and Restate.
    servers: f64,
}

/// A batch that is killed if nobody waits for its end. It writes its outcomes to a file: a pipe that nobody reads would hold it up.
struct RunningBatch {
    child: Child,
    outcomes: PathBuf,
}

impl RunningBatch {
    fn start(mut command: Command, cluster: &Cluster) -> Self {
        let outcomes = cluster.home.path().join("outcomes.jsonl");
        command.stdout(File::create(&outcomes).unwrap()).stderr(Stdio::inherit());
        Self { child: command.spawn().unwrap(), outcomes }
    }

    /// Waits for its end and returns how many debates are complete.
    fn complete(mut self) -> usize {
        self.child.wait().unwrap();
        let is_complete = |line: &&str| serde_json::from_str::<Value>(line).unwrap()["status"] == "complete";
        std::fs::read_to_string(&self.outcomes).unwrap().lines().filter(is_complete).count()
    }
}

impl Drop for RunningBatch {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// `agon batch` with a SQLite file. Returns the CPU time of a call in milliseconds.
fn in_one_process(debates: usize) -> f64 {
    let Some(cluster) = Cluster::start(DELAY) else { panic!("AGON_RESTATE names no Restate server") };
    let input = write_input(&cluster, debates);
    let began = Instant::now();
    let before = children_cpu();
    let complete = RunningBatch::start(cluster.command(&batch_args(&input)), &cluster).complete();
    let (wall, cpu) = (began.elapsed().as_secs_f64(), children_cpu() - before);
    assert_eq!(complete, debates);
    let per_call = cpu * 1e3 / (debates * CALLS) as f64;
    println!("one process, SQLite: {wall:.2} s, {per_call:.3} ms of CPU a call");
    per_call
}

/// The same on workers.
fn on_workers(debates: usize, with_kills: bool) -> CallCpu {
    let mut cluster = Cluster::start_on_postgres(DELAY).expect("there is no PostgreSQL");
    let shared = format!("127.0.0.1:{}", free_port());
    let workers: Vec<usize> = (0..WORKERS).map(|_| cluster.add_worker(&shared)).collect();
    let input = write_input(&cluster, debates);
    let (began, before) = (Instant::now(), children_cpu());
    let batch = RunningBatch::start(cluster.submitting(&batch_args(&input)), &cluster);
    let killed_cpu = if with_kills { kill_in_turn(&mut cluster, &workers, debates) } else { 0.0 };
    let complete = batch.complete();
    let wall = began.elapsed().as_secs_f64();
    assert_eq!(complete, debates);
    let living = if with_kills { &workers[2..] } else { &workers[..] };
    let shares: Vec<f64> = living.iter().map(|place| cpu_seconds(cluster.worker_pid(*place))).collect();
    // The batch has ended, so it is counted among the children. So are the workers that were killed.
    let batch_cpu = children_cpu() - before - killed_cpu;
    let cpu = shares.iter().sum::<f64>() + batch_cpu + killed_cpu;
    let per_call = |seconds: f64| seconds * 1e3 / (debates * CALLS) as f64;
    let kind = if with_kills { "with four kills" } else { "without kills" };
    println!(
        "{WORKERS} workers, PostgreSQL, Restate, {kind}: {wall:.2} s, {:.3} ms of CPU a call",
        per_call(cpu)
    );
    let (restate, postgres) = (cpu_seconds(cluster.restate.pid()), postgres_cpu(&cluster));
    println!(
        "  CPU: batch {batch_cpu:.1} s, workers {shares:.1?} s, PostgreSQL {postgres:.1} s, Restate {restate:.1} s"
    );
    report_calls(&cluster, debates, if with_kills { KILLS * AT_ONCE } else { 0 });
    CallCpu { agon: per_call(cpu), servers: per_call(restate + postgres) }
}

/// Kills a worker, the Restate server, a connection of the database that writes, and another worker, each after a fifth of the calls.
/// Returns the CPU time of the workers in seconds.
fn kill_in_turn(cluster: &mut Cluster, workers: &[usize], debates: usize) -> f64 {
    let all = (debates * CALLS) as u64;
    let wait = |cluster: &Cluster, fifth: u64| {
        eventually(|| (cluster.mock.calls() >= all * fifth / 5).then_some(()));
    };
    let kill_worker = |cluster: &mut Cluster, place: usize| {
        let cpu = cpu_seconds(cluster.worker_pid(place));
        cluster.kill_worker(place);
        cpu
    };
    wait(cluster, 1);
    let first = kill_worker(cluster, workers[0]);
    wait(cluster, 2);
    cluster.restate.kill_and_restart();
    wait(cluster, 3);
    kill_connection(cluster);
    wait(cluster, 4);
    first + kill_worker(cluster, workers[1])
}

/// Prints the mock's own count, and what the logs say. At most `under_way` calls may have been made twice.
fn report_calls(cluster: &Cluster, debates: usize, under_way: usize) {
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
    // A call is in the log before it is made, so one that was made after its answer was stored would be seen.
    let sql = "WITH entries AS (SELECT debate, seq, body::json AS body FROM events),
             named AS (SELECT debate, seq, body->>'event' AS event, body->>'ask' AS ask FROM entries)
         SELECT count(*) FROM named AS sent JOIN named AS replied USING (debate, ask)
         WHERE sent.event = 'sent' AND replied.event = 'replied' AND sent.seq > replied.seq";
    let after_answer = query(cluster, sql);
    println!("  calls made after their answers were stored, by the logs: {after_answer}");
    assert_eq!(after_answer, "0");
    assert!(repeated <= under_way, "{repeated} calls came twice, at most {under_way} were under way");
}

/// Kills the process of one connection that writes. The server then ends all connections and recovers as after a crash.
fn kill_connection(cluster: &Cluster) {
    let sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'agon' AND backend_xid IS NOT NULL LIMIT 1";
    let writing = eventually(|| Some(query(cluster, sql)).filter(|pid| !pid.is_empty()));
    // Its transaction may be over by now, but the process is there.
    let killed = Command::new("kill").args(["-9", &writing]).status().unwrap();
    assert!(killed.success(), "process {writing} of the database cannot be killed");
}

fn query(cluster: &Cluster, sql: &str) -> String {
    let address = cluster.postgres.as_ref().unwrap().address("postgres");
    let output = Command::new("psql").args([&address, "-XtAc", sql]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The CPU time of the database server with all its connections, in seconds.
fn postgres_cpu(cluster: &Cluster) -> f64 {
    // The first line of the file is the number of the server's process.
    let sql = "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)";
    let server: u32 = query(cluster, sql).parse().unwrap();
    let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children")).unwrap();
    let living: f64 = children.split_whitespace().map(|pid| cpu_seconds(pid.parse().unwrap())).sum();
    let ended = std::fs::read_to_string(format!("/proc/{server}/stat")).unwrap();
    living + cpu_seconds(server) + cluster::stat_ticks(&ended, [15, 16])
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

/// The CPU time of all children that have ended and were waited for, in seconds.
fn children_cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    cluster::stat_ticks(&stat, [15, 16])
}
