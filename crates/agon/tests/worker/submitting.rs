//! Debates that other verbs submit.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

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

/// What only a worker can find out, such as a key that it does not have, reaches whoever submitted the debate. So does that there is no
/// worker at all.
#[test]
fn a_debate_that_no_worker_can_run_is_explained() {
    let Some(mut cluster) = Cluster::start(Duration::from_millis(5)) else { return };
    let submit = |cluster: &Cluster| {
        let mut command = cluster.submitting(&["deep", "Why?", "--models", "anthropic/m", "--json"]);
        let output = command.env("ANTHROPIC_API_KEY", "secret").output().unwrap();
        assert!(!output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let said = submit(&cluster);
    assert!(said.contains("no worker is known") && said.contains("agon worker --restate"), "{said}");
    cluster.add_worker("127.0.0.1:0");
    let began = Instant::now();
    let said = eventually(|| Some(submit(&cluster)).filter(|said| !said.contains("no worker is known")));
    assert!(said.contains("is not over") && said.contains("ANTHROPIC_API_KEY"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(15), "it took {:?}", began.elapsed());
}

/// Two workers, the Restate server and the database are killed in turn while a batch runs. All debates complete, and at most the calls that
/// were under way are repeated.
#[test]
fn kills_lose_no_debate_and_repeat_no_answered_call() {
    let Some(mut cluster) = Cluster::start_on_postgres(Duration::from_millis(20)) else { return };
    let shared = format!("127.0.0.1:{}", free_port());
    let workers = [(); 3].map(|()| cluster.add_worker(&shared));
    let debates = 240;
    let lines: String = (0..debates).map(|n| format!("{{\"question\": \"{n}?\"}}\n")).collect();
    let input = cluster.home.path().join("in.jsonl");
    std::fs::write(&input, lines).unwrap();
    let batch = ["batch", input.to_str().unwrap(), "--models", "openai/m", "--concurrency", "240"];
    // Nobody reads a pipe meanwhile, and a full one would hold the batch up.
    let outcomes = cluster.home.path().join("outcomes.jsonl");
    let file = std::fs::File::create(&outcomes).unwrap();
    let batch = cluster.submitting(&batch).stdout(file).spawn().unwrap();
    let calls = |cluster: &Cluster, count| eventually(|| (cluster.mock.calls() >= count).then_some(()));
    calls(&cluster, 450);
    cluster.kill_worker(workers[0]);
    calls(&cluster, 900);
    cluster.restate.kill_and_restart();
    calls(&cluster, 1350);
    cluster.postgres.as_ref().unwrap().crash_and_restart().unwrap();
    calls(&cluster, 1800);
    cluster.kill_worker(workers[1]);
    let output = batch.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let outcomes = std::fs::read_to_string(outcomes).unwrap();
    let complete = outcomes.lines().filter(|line| {
        let outcome: Value = serde_json::from_str(line).unwrap();
        outcome["status"] == "complete"
    });
    assert_eq!(complete.count(), debates);
    // What was under way at the four kills is asked again: at most as many calls as may run at once.
    let repeated = repeated_calls(&cluster);
    assert!(repeated <= 4 * 256, "{repeated} calls were repeated");
    let verified = cluster.list().iter().step_by(8).all(|debate| {
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
