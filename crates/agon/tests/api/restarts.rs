//! "A restart (also by `kill -9`) loses nothing." "Several `agon` processes on one store stay safe."

use std::collections::HashSet;
use std::time::Duration;

use agon_mock::{MockServer, MockSettings, converging_debate};
use serde_json::json;

use crate::support::Server;

fn mock(delay_ms: u64) -> MockServer {
    let responder = converging_debate(Duration::from_millis(delay_ms));
    MockServer::start(MockSettings::new(move |request| responder(request))).unwrap()
}

/// "debates that ran are resumed by themselves", "and no answered call is repeated".
#[test]
fn killed_debates_go_on_and_no_answered_call_is_repeated() {
    let mock = mock(40);
    let mut server = Server::start_with(&[("OPENAI_BASE_URL", &mock.url())], "");
    let ids: Vec<String> = (0..6)
        .map(|n| server.debate(&json!({"question": format!("{n}?"), "models": ["openai/m"]})))
        .collect();
    std::thread::sleep(Duration::from_millis(150));
    server.kill();
    server.launch();
    for id in &ids {
        let outcome = server.wait_for(id, "complete");
        assert_eq!(outcome["fidelity"], "full", "{outcome}");
        // Every attempt is in the log: those that were answered, and those that the kill cut off.
        let calls = outcome["usage"]["calls"].as_u64().unwrap();
        let lost = outcome["usage"]["possibly_billed_twice_calls"].as_u64().unwrap();
        assert_eq!(calls - lost, 12, "{}", outcome["usage"]);
    }
}

/// "SIGTERM stops in order", and `[serve] resume = false` lists them as interrupted.
#[test]
fn a_server_that_ends_in_order_leaves_its_debates_resumable() {
    let mock = mock(200);
    let env = [("OPENAI_BASE_URL", mock.url())];
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut server = Server::start_with(&env, "[serve]\nresume = false\n");
    let id = server.debate(&json!({"question": "q?", "models": ["openai/m"]}));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.terminate(), Some(0));
    server.launch();
    let outcome = server.wait_for(&id, "interrupted");
    assert_eq!(outcome["usage"]["possibly_billed_twice_calls"], 0, "calls in flight may finish");
    server.post(&format!("/api/v1/debates/{id}/resume"), &json!({})).ok(200);
    server.wait_for(&id, "complete");
}

/// An image has no other program that could ask. No token is needed, and a proxy is not used.
#[test]
fn a_server_is_asked_whether_it_is_ready() {
    let env = [("AGON_TOKEN", "a token of enough characters"), ("HTTP_PROXY", "http://127.0.0.1:1")];
    let mut server = Server::start_with(&env, "");
    let address = server.url().replace("http://", "");
    let check = ["serve", "--check", "--listen", &address];
    let ready = server.command(&check).output().unwrap();
    assert_eq!((ready.status.code(), ready.stdout.as_slice()), (Some(0), b"ready\n".as_slice()));
    server.kill();
    let absent = server.command(&check).output().unwrap();
    assert_eq!((absent.status.code(), absent.stdout.as_slice()), (Some(1), b"".as_slice()));
}

/// A debate that a person stopped stays stopped.
#[test]
fn a_stopped_debate_is_not_continued_by_a_restart() {
    let mock = mock(100);
    let mut server = Server::start_with(&[("OPENAI_BASE_URL", &mock.url())], "");
    let id = server.debate(&json!({"question": "q?", "models": ["openai/m"]}));
    server.post(&format!("/api/v1/debates/{id}/stop"), &json!({})).ok(200);
    server.kill();
    server.launch();
    server.get("/readyz").ok(200);
    assert_eq!(server.wait_for(&id, "interrupted")["state"], "interrupted");
}

/// "what the terminal starts is visible on the page and the other way round"
#[test]
fn the_terminal_and_the_server_see_each_other() {
    let mock = mock(150);
    let server = Server::start_with(&[("OPENAI_BASE_URL", &mock.url())], "");
    let served = server.debate(&json!({"question": "From the server?", "models": ["openai/m"]}));
    assert!(server.agon(&["list"]).contains("running"));
    assert_eq!(server.agon(&["resume", &served]), "", "another process runs it");
    let mut terminal = server.command(&["deep", "From the terminal?", "--models", "openai/m", "--quiet"]);
    let mut terminal = terminal.spawn().unwrap();
    let mut seen = HashSet::new();
    while !seen.contains("complete") {
        let list = server.get("/api/v1/debates").json();
        let debates = list["debates"].as_array().unwrap().clone();
        let theirs = debates.iter().find(|debate| debate["question"] == "From the terminal?");
        seen.extend(theirs.map(|debate| debate["state"].as_str().unwrap().to_owned()));
        if let Some(debate) = theirs.filter(|debate| debate["state"] == "running") {
            let path = format!("/api/v1/debates/{}/stop", debate["id"].as_str().unwrap());
            let stopped = server.post(&path, &json!({}));
            assert!(stopped.status == 409, "only its own process can stop it: {stopped:?}");
        }
    }
    terminal.wait().unwrap();
    server.wait_for(&served, "complete");
}
