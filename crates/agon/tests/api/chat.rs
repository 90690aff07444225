//! "Debates as models: `/v1/chat/completions` and `/v1/models` speak OpenAI's format."

use std::io::{BufRead, BufReader};
use std::process::Command;
use std::time::Duration;

use agon_mock::{MockResponse, MockServer, MockSettings, converging_debate};
use serde_json::{Value, json};

use crate::support::{Answer, Server};

const COMPLETIONS: &str = "/v1/chat/completions";
const TOKEN: &str = "a-token-for-the-tests-0123456789";
/// The server's own configuration seats a script.
const SCRIPTED: &str = "models = [\"script/tabs.yaml\"]\n";

fn asked(words: &str) -> Value {
    json!({"model": "agon/deep", "messages": [{"role": "user", "content": words}]})
}

fn with(mut body: Value, more: &Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// The data of every event of a stream.
fn data_of(answer: &Answer) -> Vec<&str> {
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    answer.body.lines().filter_map(|line| line.strip_prefix("data: ")).collect()
}

/// The error of an answer: its message, type and code.
fn error_of(answer: Answer, status: u16) -> (String, String, String) {
    let answer = answer.ok(status);
    assert_eq!(answer.header("content-type"), Some("application/json"), "{answer:?}");
    let error = &answer.json()["error"];
    let text = |key: &str| error[key].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned();
    (text("message"), text("type"), text("code"))
}

#[test]
fn every_protocol_is_a_model() {
    let server = Server::start();
    let models = server.get("/v1/models").ok(200).json();
    assert_eq!(models["object"], "list");
    let ids: Vec<&str> =
        models["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
    let protocols = server.get("/api/v1/protocols").json();
    let names = protocols["protocols"].as_array().unwrap().iter();
    let names: Vec<String> =
        names.map(|protocol| format!("agon/{}", protocol["name"].as_str().unwrap())).collect();
    assert_eq!(ids, names);
    assert!(ids.contains(&"agon/deep") && ids.contains(&"agon/ask"));
}

#[test]
fn the_verdict_is_the_answer_and_leads_to_the_debate_and_its_receipt() {
    let server = Server::start_with(&[], SCRIPTED);
    let answer = server.post(COMPLETIONS, &asked("Tabs or spaces?")).ok(200);
    let whole = answer.json();
    let id = whole["id"].as_str().unwrap();
    assert_eq!(answer.header("x-agon-debate-id"), Some(id));
    assert_eq!((&whole["object"], &whole["model"]), (&json!("chat.completion"), &json!("agon/deep")));
    let choice = &whole["choices"][0];
    assert_eq!((&choice["finish_reason"], &choice["message"]["role"]), (&json!("stop"), &json!("assistant")));
    let outcome = server.get(&format!("/api/v1/debates/{id}")).ok(200).json();
    let content = choice["message"]["content"].as_str().unwrap();
    assert!(content.starts_with(outcome["headline"]["answer"].as_str().unwrap()), "{content}");
    assert_eq!(content.contains("**Dissent**"), outcome["dissent"] != json!([]), "{content}");
    let agon = &whole["agon"];
    assert_eq!((&agon["id"], &agon["state"]), (&json!(id), &json!("complete")));
    assert_eq!((&agon["dissent"], &agon["cost"]["calls"]), (&outcome["dissent"], &outcome["usage"]["calls"]));
    assert_eq!(whole["usage"]["prompt_tokens"], outcome["usage"]["input_tokens"]);
    server.get(agon["receipt"].as_str().unwrap()).ok(200);
}

#[test]
fn a_stream_tells_the_turns_and_ends_with_the_verdict() {
    let server = Server::start_with(&[], SCRIPTED);
    for wants_usage in [false, true] {
        let more = json!({"stream": true, "stream_options": {"include_usage": wants_usage}});
        let answer = server.post(COMPLETIONS, &with(asked("Tabs or spaces?"), &more)).ok(200);
        let mut data = data_of(&answer);
        assert_eq!(data.pop(), Some("[DONE]"));
        let chunks: Vec<Value> = data.iter().map(|chunk| serde_json::from_str(chunk).unwrap()).collect();
        let id = answer.header("x-agon-debate-id").unwrap();
        assert!(chunks.iter().all(|chunk| chunk["id"] == id && chunk["object"] == "chat.completion.chunk"));
        assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
        let delta = |chunk: &Value, key: &str| {
            chunk["choices"][0]["delta"][key].as_str().unwrap_or_default().to_owned()
        };
        let first_content = chunks.iter().position(|chunk| !delta(chunk, "content").is_empty()).unwrap();
        let told: Vec<String> = chunks.iter().map(|chunk| delta(chunk, "reasoning_content")).collect();
        assert!(told[first_content..].iter().all(String::is_empty), "{told:?}");
        let reasoning = told.concat();
        assert!(reasoning.contains("Tabs. Everybody sees the width they like."), "{reasoning}");
        assert!(reasoning.contains("**Round 1 of"), "{reasoning}");
        // One block for each reply.
        let outcome = server.get(&format!("/api/v1/debates/{id}")).json();
        let blocks = reasoning.split("\n\n").filter(|block| !block.is_empty() && !block.starts_with("**"));
        assert!(blocks.count() as u64 >= outcome["usage"]["calls"].as_u64().unwrap());
        let end = chunks.iter().find(|chunk| chunk["choices"][0]["finish_reason"] == "stop").unwrap();
        assert_eq!((&end["agon"]["id"], &end["agon"]["state"]), (&json!(id), &json!("complete")));
        let last = chunks.last().unwrap();
        assert_eq!(last["usage"].is_object(), wants_usage, "{last}");
        assert_eq!(last["agon"]["id"], id);
    }
}

#[test]
fn earlier_turns_are_context_and_instructions_come_with_the_question() {
    let server = Server::start_with(&[], SCRIPTED);
    let messages = json!([
        {"role": "system", "content": "We write Go."},
        {"role": "user", "content": "Which editor?"},
        {"role": "assistant", "content": "Any editor."},
        {"role": "user", "content": [{"type": "text", "text": "Tabs or spaces?"}]},
    ]);
    let whole = server.post(COMPLETIONS, &json!({"model": "agon/deep", "messages": messages})).ok(200).json();
    let id = whole["id"].as_str().unwrap();
    let outcome = server.get(&format!("/api/v1/debates/{id}")).json();
    let question = outcome["question"].as_str().unwrap();
    assert!(question.starts_with("Tabs or spaces?\n\n") && question.ends_with("We write Go."), "{question}");
    let log = server.get(&format!("/api/v1/debates/{id}/export?format=json")).body;
    assert!(log.contains("turn 1, user") && log.contains("turn 2, assistant") && log.contains("Any editor."));
}

/// "The seats' models come from the server's configuration, unless the request says otherwise", with the rights of `/api/v1`.
#[test]
fn a_request_may_name_models_as_far_as_callers_may() {
    let server = Server::start();
    let named = |model: &str| with(asked("Go or Rust?"), &json!({"agon": {"models": [model]}}));
    let whole = server.post(COMPLETIONS, &named("script/demo")).ok(200).json();
    assert_eq!(whole["agon"]["state"], "complete");
    let (why, _, code) = error_of(server.post(COMPLETIONS, &named("script/tabs.yaml")), 400);
    assert!(why.contains("callers may not name") && code == "invalid_request", "{why}");
}

#[test]
fn a_text_is_judged_where_a_protocol_judges_texts() {
    let server = Server::start_with(&[], "");
    for name in ["review", "panel"] {
        let body = json!({"model": format!("agon/{name}"), "agon": {"models": [format!("script/demo-{name}")]},
            "messages": [{"role": "user", "content": "Adopt the queue.\nIt is simple."}]});
        let whole = server.post(COMPLETIONS, &body).ok(200).json();
        let outcome = server.get(&format!("/api/v1/debates/{}", whole["id"].as_str().unwrap())).json();
        assert!(outcome["question"].as_str().unwrap().starts_with("Adopt the queue."), "{outcome}");
        assert!(!whole["choices"][0]["message"]["content"].as_str().unwrap().is_empty());
    }
}

/// "Requests that chat programs send beside the conversation are recognised and answered by one call."
#[test]
fn a_title_takes_one_call() {
    let reply =
        json!({"analysis": "", "why": "", "answer": "{\"title\": \"Tabs\"}", "confidence": 0.9}).to_string();
    let mock = MockServer::start(MockSettings::new(move |_| MockResponse::say(reply.clone()))).unwrap();
    let env = [("OPENAI_BASE_URL", mock.url()), ("OPENAI_API_KEY", "k".to_owned())];
    let env = [(env[0].0, env[0].1.as_str()), (env[1].0, env[1].1.as_str())];
    let server = Server::start_with(
        &env,
        "models = [\"openai/dear\", \"openai/cheap\", \"human/ada\"]\n\
         [prices]\n\"openai/dear\" = { input = 9.0, output = 9.0 }\n\"openai/cheap\" = { input = 1.0, output = 1.0 }\n",
    );
    let task = "### Task:\nGenerate a title.\n### Output:\nJSON format: { \"title\": \"...\" }\n\
                <chat_history>\nUSER: Tabs or spaces?\n</chat_history>";
    let whole = server.post(COMPLETIONS, &asked(task)).ok(200).json();
    assert_eq!(whole["choices"][0]["message"]["content"], r#"{"title":"Tabs"}"#);
    assert_eq!((mock.calls(), &whole["agon"]["cost"]["calls"]), (1, &json!(1)));
    let request = mock.requests().remove(0);
    assert_eq!(request.body()["model"], "cheap");
    // The call is in a log, so it counts in the day's budget, and it says which debate it belongs to.
    assert_eq!(request.header("x-agon-debate"), whole["id"].as_str());
    server.get(&format!("/api/v1/debates/{}", whole["id"].as_str().unwrap())).ok(200);
    let streamed = server.post(COMPLETIONS, &with(asked(task), &json!({"stream": true}))).ok(200);
    assert!(data_of(&streamed).iter().all(|chunk| !chunk.contains("reasoning_content")));
}

/// "A request that comes from a debate is refused (header)."
#[test]
fn a_debate_cannot_call_itself() {
    let server = Server::start_with(&[], SCRIPTED);
    let headers = [("Content-Type", "application/json"), ("X-Agon-Debate", "k3v9q2")];
    let refused = server.send("POST", COMPLETIONS, &headers, &asked("Tabs or spaces?").to_string());
    assert_eq!(refused.header("x-should-retry"), Some("false"));
    assert_eq!(error_of(refused, 508).2, "debate_in_debate");
    // The same from a real debate, whose seats are debates of this server.
    let output = server
        .command(&["deep", "Tabs or spaces?", "--models", "openai/agon/deep", "--json", "--quiet"])
        .env("OPENAI_BASE_URL", format!("{}/v1", server.url()))
        .env("OPENAI_API_KEY", "k")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(outcome["absences"][0]["detail"].as_str().unwrap().contains("comes from a debate"), "{outcome}");
    assert_eq!(server.get("/api/v1/debates").json()["debates"].as_array().unwrap().len(), 1);
}

#[test]
fn every_error_is_in_the_format_of_the_client() {
    let server = Server::start_with(&[("AGON_TOKEN", TOKEN)], "[serve]\nbody_mb = 1\n");
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let post = |body: &str| server.send("POST", COMPLETIONS, &headers, body);
    let (why, kind, code) = error_of(post(&with(asked("q"), &json!({"model": "gpt-9"})).to_string()), 404);
    assert!(why.contains("agon/ask"), "{why}");
    assert_eq!((kind.as_str(), code.as_str()), ("invalid_request_error", "model_not_found"));
    for body in ["", "{", "[]", "{\"model\": \"agon/deep\"}", "{\"model\": \"agon/deep\", \"messages\": []}"]
    {
        assert_eq!(error_of(post(body), 400).2, "invalid_request", "{body}");
    }
    assert_eq!(error_of(post(&asked(&"q".repeat(2 << 20)).to_string()), 413).2, "request_too_large");
    assert_eq!(error_of(server.get("/v1/models"), 401).2, "invalid_api_key");
    assert_eq!(error_of(server.send("GET", "/v1/nothing", &headers, ""), 404).2, "not_found");
    assert_eq!(error_of(server.send("GET", COMPLETIONS, &headers, ""), 405).2, "method_not_allowed");
    let evil = [headers[0], headers[1], ("Host", "evil.example")];
    assert_eq!(error_of(server.send("POST", COMPLETIONS, &evil, "{}"), 403).1, "permission_error");
}

#[test]
fn a_full_server_says_when_to_try_again() {
    let server = Server::start_with(&[], "models = [\"human/ada\"]\n[serve]\ndebates = 1\nqueue = 0\n");
    server.debate(&json!({"question": "q"}));
    let busy = server.post(COMPLETIONS, &asked("q"));
    assert!(busy.header("retry-after").is_some());
    assert_eq!(error_of(busy, 503).2, "overloaded");
}

#[test]
fn the_same_key_is_the_same_debate() {
    let server = Server::start_with(&[], SCRIPTED);
    let headers = [("Content-Type", "application/json"), ("Idempotency-Key", "k1")];
    let id = || {
        let answer =
            server.send("POST", COMPLETIONS, &headers, &asked("Tabs or spaces?").to_string()).ok(200);
        answer.json()["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(id(), id());
}

/// Sends a request for a stream, reads the head of the answer and hangs up. Returns the debate's id.
fn hang_up(server: &Server, body: &Value) -> String {
    let body = with(body.clone(), &json!({"stream": true})).to_string();
    let stream = server.open("POST", COMPLETIONS, &[("Content-Type", "application/json")], &body);
    debate_id(stream)
}

fn debate_id(stream: std::net::TcpStream) -> String {
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let id = lines.find_map(|line| line.strip_prefix("x-agon-debate-id: ").map(str::to_owned));
    id.unwrap()
}

/// The official clients give up after ten minutes and send the request again. That must not pay for another debate.
#[test]
fn a_client_that_tries_again_finds_the_debate_that_goes_on() {
    let server = Server::start_with(&[], "models = [\"human/ada\"]\n");
    let body = with(asked("Tabs or spaces?"), &json!({"stream": true}));
    let id = hang_up(&server, &body);
    let again = |count: &str| {
        let headers = [("Content-Type", "application/json"), ("X-Stainless-Retry-Count", count)];
        let stream = server.open("POST", COMPLETIONS, &headers, &body.to_string());
        debate_id(stream)
    };
    assert_eq!(again("1"), id);
    assert_ne!(again("0"), id);
}

/// "Client disconnects: the debate goes on for `[serve] linger_s` and can be found again by its id."
#[test]
fn a_debate_whose_client_hung_up_goes_on_for_a_while() {
    let server = Server::start();
    let body = with(asked("Go or Rust?"), &json!({"agon": {"models": ["script/demo"]}}));
    let id = hang_up(&server, &body);
    server.wait_for(&id, "complete");
}

#[test]
fn after_that_time_it_is_stopped_and_can_be_resumed() {
    let server = Server::start_with(&[], "models = [\"human/ada\"]\n[serve]\nlinger_s = 0\n");
    let id = hang_up(&server, &asked("Tabs or spaces?"));
    server.wait_for(&id, "interrupted");
    server.post(&format!("/api/v1/debates/{id}/resume"), &json!({})).ok(200);
    server.wait_for(&id, "waiting");
}

#[test]
fn a_debate_that_brings_no_verdict_is_an_error_that_is_not_tried_again() {
    let mock = MockServer::start(MockSettings::new(|_| MockResponse::error(401, "wrong key"))).unwrap();
    let url = mock.url();
    let env = [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "sk-0123456789")];
    let server = Server::start_with(&env, "models = [\"openai/m\"]\n");
    let answer = server.post(COMPLETIONS, &asked("Tabs or spaces?"));
    assert_eq!(answer.header("x-should-retry"), Some("false"));
    let id = answer.header("x-agon-debate-id").unwrap().to_owned();
    let (why, _, code) = error_of(answer, 502);
    assert!(why.contains("OPENAI_API_KEY") && why.contains(&id), "{why}");
    assert_eq!(code, "debate_interrupted");
    let streamed = server.post(COMPLETIONS, &with(asked("Tabs or spaces?"), &json!({"stream": true})));
    let data = data_of(&streamed);
    assert!(data[data.len() - 2].starts_with("{\"error\":") && data[data.len() - 1] == "[DONE]", "{data:?}");
}

/// With the official client of this format, where `AGON_OPENAI_PYTHON` is a Python that has it.
#[test]
fn the_official_client_reads_whole_and_streamed_answers_and_errors() {
    let Some(python) = std::env::var_os("AGON_OPENAI_PYTHON") else {
        println!("skipped: AGON_OPENAI_PYTHON is not set");
        return;
    };
    let responder = converging_debate(Duration::ZERO);
    let mock = MockServer::start(MockSettings::new(move |request| responder(request))).unwrap();
    let url = mock.url();
    let env = [("AGON_TOKEN", TOKEN), ("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "k")];
    let server = Server::start_with(&env, "models = [\"openai/m\"]\n");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/openai_client.py");
    let output =
        Command::new(python).args([script, &format!("{}/v1", server.url()), TOKEN]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
