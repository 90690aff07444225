//! "Never a lost debate."

use serde_json::json;

use crate::support::{HeldModel, Home, eventually};

fn held_home(more: &str) -> (Home, HeldModel) {
    let (home, model) = (Home::new(), HeldModel::start());
    home.configure(&format!("{}{more}", model.configuration()));
    (home, model)
}

#[test]
fn a_call_returns_in_time_and_the_debate_goes_on() {
    let (home, model) = held_home("");
    let mut client = home.client();
    let told = client.told("debate", json!({"question": "Why?", "wait_s": 0}));
    assert_eq!((told["state"].as_str(), told["answer"].is_null()), (Some("running"), true));
    assert!(told["next"].as_str().unwrap().contains("debate_wait"), "{told}");
    let id = told["id"].clone();
    model.release();
    let told = client.told("debate_wait", json!({"id": id, "wait_s": 60}));
    assert_eq!((told["state"].as_str(), told["id"].clone()), (Some("complete"), id));
}

#[test]
fn a_debate_that_is_stopped_goes_on_when_somebody_waits_for_it() {
    let (home, model) = held_home("");
    let mut client = home.client();
    let id = client.told("debate", json!({"question": "Why?", "wait_s": 0}))["id"].clone();
    let told = client.told("debate_stop", json!({"id": id}));
    assert_eq!(told["state"], "interrupted");
    assert!(told["next"].as_str().unwrap().contains("continues"), "{told}");
    assert_eq!(
        client.told("debate_stop", json!({"id": id}))["state"],
        "interrupted",
        "a second time is no error"
    );
    model.release();
    assert_eq!(client.told("debate_wait", json!({"id": id, "wait_s": 60}))["state"], "complete");
}

/// "When the client closes stdin, running debates are finished."
#[test]
fn a_client_that_hangs_up_gets_its_debates_finished() {
    let (home, model) = held_home("");
    let mut client = home.client();
    let id = client.told("debate", json!({"question": "Why?", "wait_s": 0}))["id"].clone();
    // The call is under way when the client goes.
    client.ask("tools/call", json!({"name": "debate_wait", "arguments": {"id": id, "wait_s": 600}}));
    model.release();
    assert_eq!(client.hang_up(), Some(0));
    let mut next = home.client();
    assert_eq!(next.told("debate_wait", json!({"id": id, "wait_s": 0}))["state"], "complete");
}

/// "... or left resumable (`[mcp] on_close = "stop"`), and the next call finds them."
#[test]
fn debates_that_are_left_are_continued_by_the_next_process() {
    let (home, model) = held_home("[mcp]\non_close = \"stop\"\n");
    let mut client = home.client();
    let id = client.told("debate", json!({"question": "Why?", "wait_s": 0}))["id"].clone();
    assert_eq!(client.hang_up(), Some(0));
    let listed = home.printed(&["list", "--json"]);
    assert!(listed.contains("interrupted"), "{listed}");
    model.release();
    let mut next = home.client();
    assert_eq!(next.told("debate_wait", json!({"id": id, "wait_s": 60}))["state"], "complete");
}

#[test]
fn a_process_that_is_killed_in_the_middle_loses_nothing() {
    let (home, model) = held_home("");
    let mut client = home.client();
    let id = client.told("debate", json!({"question": "Why?", "wait_s": 0}))["id"].clone();
    client.ask("tools/call", json!({"name": "debate_wait", "arguments": {"id": id, "wait_s": 600}}));
    client.kill();
    model.release();
    // Nobody has to ask for it: the next process continues it by itself.
    let mut next = home.client();
    eventually("the debate is over", || {
        let listed = home.printed(&["list", "--json"]);
        listed.contains("\"complete\"")
    });
    assert_eq!(next.told("debate_wait", json!({"id": id, "wait_s": 60}))["state"], "complete");
}

/// Two clients, such as two windows of an editor, share the store.
#[test]
fn another_process_can_wait_for_a_debate_but_not_stop_it() {
    let (home, model) = held_home("");
    let (mut one, mut other) = (home.client(), home.client());
    let id = one.told("debate", json!({"question": "Why?", "wait_s": 0}))["id"].clone();
    assert_eq!(other.told("debate_wait", json!({"id": id, "wait_s": 0}))["state"], "running");
    assert!(other.complaint("debate_stop", json!({"id": id})).contains("another process"));
    model.release();
    assert_eq!(other.told("debate_wait", json!({"id": id, "wait_s": 60}))["state"], "complete");
}
