//! Debates that other verbs submit.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::cluster::{Cluster, free_port};

/// `agon deep --restate` submits a debate, and a worker holds it.
#[test]
fn a_debate_that_is_submitted_runs_on_a_worker() {
    let Some(mut cluster) = Cluster::start(Duration::from_millis(5)) else { return };
    cluster.add_worker("127.0.0.1:0");
    let output = cluster.submitting(&["deep", "Why?", "--models", "openai/m", "--json"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(outcome["status"], "complete", "{outcome}");
    assert_eq!(cluster.mock.calls(), 12);
    assert_eq!(cluster.list().len(), 1);
}

/// Workers and the Restate server are killed while a batch runs. All debates complete, and no answer in a log was asked for twice.
#[test]
fn kills_lose_no_debate_and_repeat_no_answered_call() {
    let Some(mut cluster) = Cluster::start(Duration::from_millis(20)) else { return };
    let shared = format!("127.0.0.1:{}", free_port());
    let workers = [cluster.add_worker(&shared), cluster.add_worker(&shared)];
    let lines: String = (0..60).map(|n| format!("{{\"question\": \"{n}?\"}}\n")).collect();
    let input = cluster.home.path().join("in.jsonl");
    std::fs::write(&input, lines).unwrap();
    let batch = ["batch", input.to_str().unwrap(), "--models", "openai/m", "--concurrency", "60"];
    let batch = cluster.submitting(&batch).spawn().unwrap();
    while cluster.mock.calls() < 100 {
        std::thread::sleep(Duration::from_millis(5));
    }
    cluster.kill_worker(workers[0]);
    while cluster.mock.calls() < 300 {
        std::thread::sleep(Duration::from_millis(5));
    }
    cluster.restate.kill_and_restart();
    let output = batch.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let outcomes: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(outcomes.len(), 60);
    assert!(outcomes.iter().all(|outcome| outcome["status"] == "complete"));
    // What a worker had asked for when it was killed is asked again.
    let repeated = repeated_calls(&cluster);
    assert!(repeated <= 90, "{repeated} calls were repeated, but at most 3 for each debate were under way");
}

/// How many calls came more than once, by their bodies.
fn repeated_calls(cluster: &Cluster) -> usize {
    let mut bodies: BTreeMap<String, usize> = BTreeMap::new();
    for request in cluster.mock.requests() {
        *bodies.entry(request.body().to_string()).or_default() += 1;
    }
    bodies.values().map(|count| count - 1).sum()
}
