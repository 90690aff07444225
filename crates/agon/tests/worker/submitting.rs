//! Debates that other verbs submit.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::cluster::{Cluster, eventually, free_port};

/// `agon deep --restate` submits a debate, and a worker holds it.
#[test]
fn a_debate_that_is_submitted_runs_on_a_worker() {
    let Some(mut cluster) = Cluster::start(Duration::from_millis(5)) else { return };
    let listen = format!("127.0.0.1:{}", free_port());
    let check = ["worker", "--check", "--listen", &listen];
    assert_eq!(cluster.output(&check).status.code(), Some(1), "nobody listens yet");
    cluster.add_worker(&listen);
    assert_eq!(cluster.output(&check).status.code(), Some(0));
    let output = cluster.submitting(&["deep", "Why?", "--models", "openai/m", "--json"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(outcome["status"], "complete", "{outcome}");
    assert_eq!(cluster.mock.calls(), 12);
    assert_eq!(cluster.list().len(), 1);
}

/// Two workers, the Restate server and the database are killed in turn while a batch runs. All debates complete, and at most the calls that
/// were under way are repeated.
#[test]
fn kills_lose_no_debate_and_repeat_no_answered_call() {
    let Some(mut cluster) = Cluster::start_on_postgres(Duration::from_millis(20)) else { return };
    let shared = format!("127.0.0.1:{}", free_port());
    let workers = [(); 3].map(|()| cluster.add_worker(&shared));
    let debates = 80;
    let lines: String = (0..debates).map(|n| format!("{{\"question\": \"{n}?\"}}\n")).collect();
    let input = cluster.home.path().join("in.jsonl");
    std::fs::write(&input, lines).unwrap();
    let batch = ["batch", input.to_str().unwrap(), "--models", "openai/m", "--concurrency", "80"];
    let batch = cluster.submitting(&batch).spawn().unwrap();
    let calls = |cluster: &Cluster, count| eventually(|| (cluster.mock.calls() >= count).then_some(()));
    calls(&cluster, 150);
    cluster.kill_worker(workers[0]);
    calls(&cluster, 300);
    cluster.restate.kill_and_restart();
    calls(&cluster, 450);
    cluster.postgres.as_ref().unwrap().crash_and_restart().unwrap();
    calls(&cluster, 600);
    cluster.kill_worker(workers[1]);
    let output = batch.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let outcomes = String::from_utf8(output.stdout).unwrap();
    let complete = outcomes.lines().filter(|line| {
        let outcome: Value = serde_json::from_str(line).unwrap();
        outcome["status"] == "complete"
    });
    assert_eq!(complete.count(), debates);
    // What the two workers had asked for when they were killed is asked again: at most three calls of each debate.
    let repeated = repeated_calls(&cluster);
    assert!(repeated <= 2 * 3 * debates, "{repeated} calls were repeated");
    let verified = cluster.list().iter().all(|debate| {
        matches!(cluster.output(&["verify", debate["id"].as_str().unwrap()]).status.code(), Some(0 | 3))
    });
    assert!(verified, "a log was changed");
}

/// "Budget and concurrency limits hold over all workers together": what each debate may use is set aside before it is submitted.
#[test]
fn the_budget_of_a_batch_holds_on_workers() {
    let Some(mut cluster) = Cluster::start(Duration::from_millis(5)) else { return };
    let shared = format!("127.0.0.1:{}", free_port());
    cluster.add_worker(&shared);
    cluster.add_worker(&shared);
    let input = cluster.home.path().join("in.jsonl");
    std::fs::write(&input, "{\"question\": \"Why?\"}\n".repeat(4)).unwrap();
    let batch = ["batch", input.to_str().unwrap(), "--models", "openai/m", "--total-calls", "30"];
    let unlimited = cluster.submitting(&batch).output().unwrap();
    assert_eq!(unlimited.status.code(), Some(2), "{unlimited:?}");
    assert!(String::from_utf8_lossy(&unlimited.stderr).contains("add --max-calls"), "{unlimited:?}");
    let output = cluster.submitting(&[&batch[..], &["--max-calls", "12"]].concat()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("of 30 calls for all debates 6 calls are left"), "{said}");
    assert_eq!(cluster.mock.calls(), 24);
}

/// How many calls came more than once, by their bodies.
fn repeated_calls(cluster: &Cluster) -> usize {
    let mut bodies: BTreeMap<String, usize> = BTreeMap::new();
    for request in cluster.mock.requests() {
        *bodies.entry(request.body().to_string()).or_default() += 1;
    }
    bodies.values().map(|count| count - 1).sum()
}

/// Of two workers with addresses of their own one dies. The other one takes its debates.
#[test]
fn a_worker_takes_the_debates_of_an_address_that_does_not_answer_any_more() {
    let Some(mut cluster) = Cluster::start(Duration::from_millis(200)) else { return };
    cluster.add_worker("127.0.0.1:0");
    let newest = cluster.add_worker("127.0.0.1:0");
    // The next debates go to the worker that registered last.
    std::thread::sleep(Duration::from_millis(500));
    let debate = cluster.submitting(&["deep", "Why?", "--models", "openai/m", "--json"]).spawn().unwrap();
    eventually(|| (cluster.mock.calls() > 0).then_some(()));
    cluster.kill_worker(newest);
    let output = debate.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
