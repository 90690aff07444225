//! People, messages and stops: a server submits debates, and workers hold them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cluster::{Cluster, eventually, http};

fn open(address: &str, body: &Value) -> String {
    let (status, answer) = http(address, "POST", "/api/v1/debates", Some(body));
    assert_eq!(status, 201, "{answer}");
    answer["id"].as_str().unwrap().to_owned()
}

fn state(address: &str, id: &str) -> Value {
    http(address, "GET", &format!("/api/v1/debates/{id}"), None).1
}

/// A person in a debate on workers is asked by the server. The worker does not wait: the workflow does, and goes on with the answer.
#[test]
fn a_person_answers_through_the_server_and_the_debate_goes_on_at_a_worker() {
    let Some(mut cluster) = Cluster::start(Duration::from_millis(5)) else { return };
    let worker = cluster.add_worker("127.0.0.1:0");
    let address = cluster.serve();
    let id = open(
        &address,
        &json!({"question": "Why?", "models": ["openai/m", "human/ana"], "options": {"max_rounds": 1}}),
    );
    let mut answered = Vec::new();
    loop {
        let asks = eventually(|| {
            let asks = http(&address, "GET", &format!("/api/v1/debates/{id}/asks"), None).1;
            let over = state(&address, &id)["state"] == "complete";
            (over || !asks["asks"].as_array()?.is_empty()).then_some(asks)
        });
        let Some(ask) = asks["asks"].as_array().unwrap().first() else { break };
        assert!(ask["prompt"].as_str().unwrap().contains("Why?"), "{ask}");
        if answered.is_empty() {
            // While only a person is asked, no worker is needed.
            cluster.kill_worker(worker);
            cluster.add_worker("127.0.0.1:0");
        }
        let value = reply_of(&ask["schema"]);
        let path = format!("/api/v1/debates/{id}/asks/{}", ask["n"]);
        let (status, answer) = http(&address, "POST", &path, Some(&json!({ "value": value })));
        assert!(status < 300, "{status} {answer}");
        answered.push(ask["n"].as_u64().unwrap());
    }
    assert!(!answered.is_empty());
    let outcome = state(&address, &id);
    assert_eq!(outcome["state"], "complete", "{outcome}");
    assert_eq!(outcome["absences"], json!([]), "{outcome}");
}

/// "waits for people and deadlines with promises and timers": nobody answers, and no worker waits, but the debate ends in order.
#[test]
fn a_debate_whose_person_does_not_answer_ends_at_its_deadline() {
    let Some(mut cluster) = Cluster::start(Duration::from_millis(5)) else { return };
    cluster.add_worker("127.0.0.1:0");
    let address = cluster.serve();
    let models = ["openai/m", "openai/n", "human/ana"];
    let id = open(&address, &json!({"question": "Why?", "models": models, "limits": {"deadline_s": 20}}));
    let is_going_on = |state: &Value| ["running", "waiting"].contains(&state["state"].as_str().unwrap());
    let outcome = eventually(|| Some(state(&address, &id)).filter(|state| !is_going_on(state)));
    assert_eq!(outcome["state"], "complete", "{outcome}");
    assert_eq!((&outcome["termination"], &outcome["fidelity"]), (&json!("budget"), &json!("degraded")));
    let absent: Vec<&Value> = outcome["absences"].as_array().unwrap().iter().collect();
    assert!(!absent.is_empty() && absent.iter().all(|absence| absence["seat"] == "debater-3"), "{outcome}");
}

/// The least that a schema allows.
fn reply_of(schema: &Value) -> Value {
    match schema["type"].as_str() {
        _ if schema["enum"].is_array() => schema["enum"][0].clone(),
        Some("object") => {
            let fields = schema["properties"].as_object().unwrap();
            Value::Object(fields.iter().map(|(name, field)| (name.clone(), reply_of(field))).collect())
        }
        Some("array") => json!([]),
        Some("number") => json!(0.5),
        Some("integer") => schema["minimum"].as_i64().unwrap_or(1).into(),
        Some("boolean") => json!(false),
        _ => json!("Because it is simpler."),
    }
}

/// What a person says to a debate on a worker reaches it, and so does the wish to stop it; it can be resumed afterwards.
#[test]
fn interjections_and_stops_reach_a_debate_at_a_worker() {
    let Some(mut cluster) = Cluster::start(Duration::from_millis(400)) else { return };
    cluster.add_worker("127.0.0.1:0");
    let address = cluster.serve();
    let id = open(&address, &json!({"question": "Why?", "models": ["openai/m"]}));
    eventually(|| (cluster.mock.calls() > 0).then_some(()));
    let said = json!({"text": "Think of the cost."});
    let (status, answer) =
        http(&address, "POST", &format!("/api/v1/debates/{id}/interjections"), Some(&said));
    assert!(status < 300, "{status} {answer}");
    eventually(|| {
        let log = cluster.output(&["show", &id, "--json"]);
        let export = cluster.output(&["export", &id, "--format", "json"]);
        let all = [log.stdout, export.stdout].concat();
        String::from_utf8_lossy(&all).contains("Think of the cost.").then_some(())
    });
    let (status, answer) = http(&address, "POST", &format!("/api/v1/debates/{id}/stop"), Some(&json!({})));
    assert!(status < 300, "{status} {answer}");
    eventually(|| (state(&address, &id)["state"] == "interrupted").then_some(()));
    let (status, answer) = http(&address, "POST", &format!("/api/v1/debates/{id}/resume"), Some(&json!({})));
    assert!(status < 300, "{status} {answer}");
    eventually(|| (state(&address, &id)["state"] == "complete").then_some(()));
}
