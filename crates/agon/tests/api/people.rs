//! "People as seats: `human/NAME` in a served debate waits on the page and in the API instead of the terminal."

use serde_json::{Value, json};

use crate::support::Server;

fn open(server: &Server) -> String {
    let body = json!({"question": "Tabs or spaces?", "seed": 7,
        "models": ["human/ada", "script/tabs.yaml", "script/tabs.yaml"],
        "roles": {"moderator": "script/tabs.yaml", "chair": "script/tabs.yaml"}});
    server.debate(&body)
}

const ALLOWED: &str = "[serve]\nallow = [\"script/tabs.yaml\"]\n";

/// "the answer is validated like any reply, and a refusal says why"
#[test]
fn a_person_answers_every_ask_of_a_debate() {
    let server = Server::start_with(&[], ALLOWED);
    let id = open(&server);
    let answer = |ask: &Value, value: Value| {
        server.post(&format!("/api/v1/debates/{id}/asks/{ask}"), &json!({"value": value}))
    };
    let first = server.asks(&id, 1).remove(0);
    assert_eq!((&first["model"], &first["schema"]), (&json!("human/ada"), &Value::Null));
    assert!(first["prompt"].as_str().unwrap().contains("Tabs or spaces?"));
    assert_eq!(server.wait_for(&id, "waiting")["status"], "running");
    assert!(answer(&first["ask"], json!({"text": "x"})).problem(422).contains("must be a text"));
    answer(&json!(99), json!("x")).problem(404);
    answer(&first["ask"], json!("Tabs, I say.")).ok(200);
    answer(&first["ask"], json!("Twice.")).problem(404);

    let mut rounds = 0;
    loop {
        let outcome = server.get(&format!("/api/v1/debates/{id}")).json();
        if outcome["state"] == "complete" {
            break;
        }
        let asks = server.get(&format!("/api/v1/debates/{id}/asks")).json();
        let Some(ask) = asks["asks"].as_array().unwrap().first().cloned() else { continue };
        assert!(jsonschema::validator_for(&ask["schema"]).is_ok());
        let why = answer(&ask["ask"], json!({"stance": "shrug"})).problem(422);
        assert!(why.contains("shrug") && why.contains("maintain"), "{why}");
        let argument = json!({"stance": "maintain", "key_points": ["One keystroke is enough."],
            "revision": "no_change", "confidence": 0.9});
        answer(&ask["ask"], argument).ok(200);
        rounds += 1;
    }
    assert!(rounds >= 2);
    let log = server.get(&format!("/api/v1/debates/{id}/export?format=json")).body;
    assert!(log.contains("Tabs, I say.") && log.contains("One keystroke is enough."));
}

/// "with its own timeout": then the person is absent, and so is one who passes.
#[test]
fn a_person_who_passes_or_is_late_is_absent() {
    let server = Server::start_with(&[], &format!("{ALLOWED}[humans.ada]\ntimeout_s = 0.2\n"));
    let id = open(&server);
    let outcome = server.wait_for(&id, "complete");
    assert!(outcome["absences"].as_array().unwrap().iter().all(|absence| absence["why"] == "timed_out"));

    let patient = Server::start_with(&[], ALLOWED);
    let id = open(&patient);
    let ask = patient.asks(&id, 1).remove(0);
    patient.post(&format!("/api/v1/debates/{id}/asks/{}", ask["ask"]), &json!({"value": null})).ok(200);
    let outcome = patient.wait_for(&id, "complete");
    assert_eq!(outcome["absences"][0]["why"], "refused");
}
