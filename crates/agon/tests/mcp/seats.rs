//! The calling agent and people take seats.

use serde_json::{Value, json};

use crate::support::{Home, McpClient};

/// Every other seat is played by a script. The seat under test is the first debater.
fn seated(model: &str) -> Value {
    json!({
        "question": "Tabs or spaces?", "protocol": "poll", "wait_s": 60,
        "models": [model, "script/demo-poll", "script/demo-poll"],
    })
}

fn home() -> Home {
    let home = Home::new();
    home.configure("clerk = \"script/demo-poll\"\n");
    home
}

/// An answer that fits the schema of an ask.
fn fitting(schema: &Value) -> Value {
    let mut answer = json!({});
    for (name, field) in schema["properties"].as_object().unwrap() {
        answer[name] = match field["type"].as_str().or_else(|| field["type"][0].as_str()) {
            Some("string") => match field["enum"].as_array() {
                Some(words) => words[0].clone(),
                None => json!("Tabs"),
            },
            Some("integer") => json!(field["minimum"].as_i64().unwrap_or(3)),
            Some("number") => json!(0.5),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            _ => Value::Null,
        };
    }
    answer
}

/// Answers everything that waits until the debate is over. Returns how often that was.
fn answer_all(client: &mut McpClient, mut told: Value) -> (Value, u32) {
    for count in 0..50 {
        let Some(waiting) = told["waiting"].as_array().and_then(|asks| asks.first()).cloned() else {
            return (told, count);
        };
        let value = match waiting["schema"].is_object() {
            true => fitting(&waiting["schema"]),
            false => json!("Tabs"),
        };
        told = client.told("debate_answer", json!({"id": told["id"], "ask": waiting["ask"], "value": value}));
    }
    panic!("too many asks: {told}");
}

/// "`models: ["caller", ...]` makes asks wait for `debate_answer`."
#[test]
fn the_calling_agent_takes_a_seat() {
    let home = home();
    let mut client = home.client();
    let told = client.told("debate", seated("caller"));
    assert_eq!(told["state"], "waiting");
    let waiting = &told["waiting"][0];
    assert_eq!(waiting["who"], "caller");
    assert!(waiting["prompt"].as_str().unwrap().contains("Tabs or spaces?"), "{waiting}");
    let (id, ask) = (told["id"].clone(), waiting["ask"].clone());
    let shown = client.call("debate_show", json!({"id": id, "part": format!("ask:{ask}"), "max_tokens": 20_000}));
    assert!(shown["content"][0]["text"].as_str().unwrap().contains("Tabs or spaces?"));
    let refused = client.complaint("debate_answer", json!({"id": id, "ask": ask, "value": {"no": "such field"}}));
    assert!(!refused.is_empty());
    assert!(client.complaint("debate_answer", json!({"id": id, "ask": 99, "value": "x"})).contains("ask 99"));
    let (over, answers) = answer_all(&mut client, told);
    assert_eq!(over["state"], "complete", "{over}");
    assert!(answers >= 1);
    let said = client.call("debate_show", json!({"id": id, "max_tokens": 20_000}));
    assert!(said["content"][0]["text"].as_str().unwrap().contains("Tabs"), "{said}");
}

#[test]
fn an_ask_waits_for_the_agent_also_in_the_next_process() {
    let home = home();
    let mut client = home.client();
    let told = client.told("debate", seated("caller"));
    // Nobody else can answer, so the process does not wait for an answer when the client has gone.
    assert_eq!(client.hang_up(), Some(0));
    let mut next = home.client();
    let waiting = &told["waiting"][0];
    let value = if waiting["schema"].is_object() { fitting(&waiting["schema"]) } else { json!("Tabs") };
    let told = next.told("debate_answer", json!({"id": told["id"], "ask": waiting["ask"], "value": value}));
    assert_eq!(answer_all(&mut next, told).0["state"], "complete");
}

/// "So can a person through elicitation where the client supports it."
#[test]
fn a_person_answers_in_a_form_of_the_client() {
    let home = home();
    let mut client = home.client_with(json!({"elicitation": {}}));
    let id = client.ask("tools/call", json!({"name": "debate", "arguments": seated("human/anna")}));
    let form = client.heard("elicitation/create");
    let params = &form["params"];
    assert!(params["message"].as_str().unwrap().contains("Tabs or spaces?"), "{params}");
    let fields = params["requestedSchema"]["properties"].as_object().unwrap();
    let flat = fields.values().all(|field| field["type"].is_string() || field["enum"].is_array());
    assert!(flat && !fields.is_empty(), "{params}");
    let content = match fields.keys().eq(["answer"]) {
        true => json!({"answer": "{\"answer\": \"Tabs\"}"}),
        false => fitting(&params["requestedSchema"]),
    };
    let mut filled = form.clone();
    loop {
        client.send(&json!({"jsonrpc": "2.0", "id": filled["id"], "result": {"action": "accept", "content": content}}));
        // An answer that is refused comes back as another form, with the reason.
        match client.heard.iter().position(|message| message["method"] == "elicitation/create") {
            Some(place) => filled = client.heard.remove(place),
            None => break,
        }
    }
    let told = client.answer_to(id)["result"]["structuredContent"].clone();
    assert_eq!(told["state"], "complete", "{told}");
}

/// A client without forms shows the ask to the agent, which passes the person's answer on.
#[test]
fn without_forms_the_agent_passes_a_persons_answer_on() {
    let home = home();
    let mut client = home.client();
    let told = client.told("debate", seated("human/anna"));
    assert_eq!((told["state"].as_str(), told["waiting"][0]["who"].as_str()), (Some("waiting"), Some("human/anna")));
    assert!(told["next"].as_str().unwrap().contains("a person"), "{told}");
    assert_eq!(answer_all(&mut client, told).0["state"], "complete");
}
