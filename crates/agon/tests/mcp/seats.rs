//! The calling agent and people take seats.

use serde_json::{Value, json};

use crate::support::{Home, McpClient};

/// Every voter is the agent, or the person.
fn seated(model: &str) -> Value {
    json!({"question": "Tabs or spaces?", "protocol": "poll", "wait_s": 60, "models": [model]})
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
    let home = Home::new();
    let mut client = home.client();
    let told = client.told("debate", seated("caller"));
    assert_eq!(told["state"], "waiting");
    let waiting = &told["waiting"][0];
    assert_eq!(waiting["who"], "caller");
    assert!(waiting["prompt"].as_str().unwrap().contains("Tabs or spaces?"), "{waiting}");
    let (id, ask) = (told["id"].clone(), waiting["ask"].clone());
    let shown =
        client.call("debate_show", json!({"id": id, "part": format!("ask:{ask}"), "max_tokens": 20_000}));
    assert!(shown["content"][0]["text"].as_str().unwrap().contains("Tabs or spaces?"));
    let refused =
        client.complaint("debate_answer", json!({"id": id, "ask": ask, "value": {"no": "such field"}}));
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
    let home = Home::new();
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

/// A debate that waits for somebody takes a moment to end, and all of them the same one.
#[test]
fn many_debates_that_wait_end_together() {
    let home = Home::new();
    let mut client = home.client();
    for _ in 0..8 {
        assert_eq!(client.told("debate", seated("caller"))["state"], "waiting");
    }
    let begun = std::time::Instant::now();
    assert_eq!(client.hang_up(), Some(0));
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
}

/// What a person writes into a form.
fn filled(form: &Value) -> Value {
    assert!(form["message"].as_str().unwrap().contains("Tabs or spaces?"), "{form}");
    let fields = form["requestedSchema"]["properties"].as_object().unwrap();
    assert!(fields.values().all(|field| field["type"].is_string()) && !fields.is_empty(), "{form}");
    fitting(&form["requestedSchema"])
}

/// "So can a person through elicitation where the client supports it."
#[test]
fn a_person_answers_in_a_form_of_the_client() {
    let home = Home::new();
    let mut client = home.client_with(json!({"elicitation": {}}));
    let id = client.ask("tools/call", json!({"name": "debate", "arguments": seated("human/anna")}));
    let told = client.answer_with_forms(id, filled)["structuredContent"].clone();
    assert_eq!((told["state"].as_str(), told["answer"].as_str()), (Some("complete"), Some("Tabs")), "{told}");
}

/// Since revision 2026-07-28, a call returns the forms and the client calls again.
#[test]
fn a_person_answers_in_forms_that_a_call_returns() {
    let home = Home::new();
    let mut client = home.silent_client();
    client.speak_modern(json!({"elicitation": {"form": {}}}));
    let mut call = json!({"name": "debate", "arguments": seated("human/anna")});
    let result = client.request("tools/call", call.clone());
    assert_eq!(result["resultType"], "input_required");
    let mut answers = json!({});
    for (key, request) in result["inputRequests"].as_object().unwrap() {
        answers[key] = json!({"action": "accept", "content": filled(&request["params"])});
    }
    call["requestState"] = result["requestState"].clone();
    call["inputResponses"] = answers;
    let told = client.request("tools/call", call)["structuredContent"].clone();
    assert_eq!((told["state"].as_str(), told["answer"].as_str()), (Some("complete"), Some("Tabs")), "{told}");
    assert_eq!(
        client.request("resources/list", json!({}))["resources"].as_array().unwrap().len(),
        1,
        "one debate"
    );
}

/// A client without forms shows the ask to the agent, which passes the person's answer on.
#[test]
fn without_forms_the_agent_passes_a_persons_answer_on() {
    let home = Home::new();
    let mut client = home.client();
    let told = client.told("debate", seated("human/anna"));
    assert_eq!(
        (told["state"].as_str(), told["waiting"][0]["who"].as_str()),
        (Some("waiting"), Some("human/anna"))
    );
    assert!(told["next"].as_str().unwrap().contains("a person"), "{told}");
    assert_eq!(answer_all(&mut client, told).0["state"], "complete");
}
