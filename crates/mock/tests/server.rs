//! The server as a client sees it, over a plain socket.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use agon_mock::{
    ConnectionFault, MockDebate, MockFormat, MockRequest, MockResponse, MockServer, MockSettings,
    converging_debate,
};
use serde_json::{Value, json};

const CHAT: &str = "/v1/chat/completions";
const GEMINI: &str = "/v1beta/models/x:generateContent";
const GEMINI_STREAM: &str = "/v1beta/models/x:streamGenerateContent?alt=sse";

fn start(answer: impl Fn(&MockRequest) -> MockResponse + Send + Sync + 'static) -> MockServer {
    MockServer::start(MockSettings::new(answer)).unwrap()
}

fn connect(mock: &MockServer) -> BufReader<TcpStream> {
    BufReader::new(TcpStream::connect(mock.root().replace("http://", "")).unwrap())
}

fn send(to: &mut BufReader<TcpStream>, method: &str, path: &str, headers: &str, body: &Value) {
    let body = body.to_string();
    let head =
        format!("{method} {path} HTTP/1.1\r\nHost: x\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    to.get_mut().write_all(format!("{head}{body}").as_bytes()).unwrap();
}

/// The status and the body of the next response.
fn receive(from: &mut BufReader<TcpStream>) -> (u16, String) {
    let (mut status, mut length, mut chunked) = (0, 0, false);
    loop {
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().unwrap(),
            Some(("Transfer-Encoding", _)) => chunked = true,
            Some(_) => {}
            None if line.starts_with("HTTP/1.1 ") => status = line[9..12].parse().unwrap(),
            None => break,
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).unwrap();
    let mut body = String::from_utf8(body).unwrap();
    while chunked {
        let mut size = String::new();
        from.read_line(&mut size).unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        let mut piece = vec![0; size + 2];
        from.read_exact(&mut piece).unwrap();
        body.push_str(std::str::from_utf8(&piece[..size]).unwrap());
        chunked = size > 0;
    }
    (status, body)
}

/// The response to one request on a new connection.
fn request(mock: &MockServer, method: &str, path: &str, headers: &str, body: &Value) -> (u16, String) {
    let mut connection = connect(mock);
    send(&mut connection, method, path, headers, body);
    receive(&mut connection)
}

fn post(mock: &MockServer, path: &str, body: &Value) -> Value {
    serde_json::from_str(&request(mock, "POST", path, "", body).1).unwrap()
}

/// The text of a chat completion, parsed if it is JSON.
fn ask(mock: &MockServer, body: &Value) -> Value {
    let completion = post(mock, CHAT, body);
    let text = completion["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

#[test]
fn a_connection_serves_several_requests() {
    let mock = start(|request| MockResponse::say(request.messages()[0].1));
    let mut connection = connect(&mock);
    for text in ["one", "two"] {
        send(&mut connection, "POST", CHAT, "", &json!({"messages": [{"role": "user", "content": text}]}));
        let (status, body) = receive(&mut connection);
        assert_eq!(status, 200);
        assert!(body.contains(&format!("\"content\":\"{text}\"")), "{body}");
    }
    assert_eq!(mock.calls(), 2);
    assert_eq!(mock.requests()[1].messages(), [("user", "two")]);
    assert_eq!(mock.requests()[1].header("host"), Some("x"));
}

#[test]
fn a_stream_ends_with_usage_if_the_client_asks_for_it() {
    let mock = start(|_| MockResponse::say("one two").tokens(7, 3, 2));
    let mut connection = connect(&mock);
    for usage in [true, false] {
        let body = json!({"stream": true, "stream_options": {"include_usage": usage}, "messages": []});
        send(&mut connection, "POST", CHAT, "", &body);
        let (_, body) = receive(&mut connection);
        assert!(body.contains("\"content\":\"one \"") && body.contains("\"content\":\"two\""), "{body}");
        assert!(body.ends_with("data: [DONE]\n\n"), "{body}");
        assert_eq!(body.contains("\"cached_tokens\":3"), usage, "{body}");
    }
}

#[test]
fn models_are_listed_and_unknown_paths_are_not_found() {
    let mock = start(|_| MockResponse::empty());
    let mut connection = connect(&mock);
    send(&mut connection, "GET", "/v1/models", "", &Value::Null);
    assert!(receive(&mut connection).1.contains("\"id\":\"mock\""));
    send(&mut connection, "POST", "/v2/x", "", &json!({}));
    assert_eq!(receive(&mut connection).0, 404);
    assert_eq!(mock.calls(), 0, "only chat requests count");
}

#[test]
fn an_answer_is_delayed() {
    let mock = start(|_| MockResponse::say("late").after(Duration::from_millis(30)));
    let since = Instant::now();
    assert_eq!(ask(&mock, &json!({"messages": []})), json!("late"));
    assert!(since.elapsed() >= Duration::from_millis(30));
}

#[test]
fn a_broken_answer_is_cut_short() {
    for fault in [ConnectionFault::Truncate, ConnectionFault::Reset] {
        let mock = start(move |_| MockResponse::broken("whole", fault));
        let mut connection = connect(&mock);
        send(&mut connection, "POST", CHAT, "", &json!({"messages": []}));
        let mut bytes = Vec::new();
        let end = connection.read_to_end(&mut bytes);
        assert!(bytes.starts_with(b"HTTP/1.1 200") && !String::from_utf8_lossy(&bytes).contains("usage"));
        assert_eq!(end.is_err(), fault == ConnectionFault::Reset, "{fault:?} {end:?}");
    }
}

#[test]
fn dropping_the_server_ends_hanging_and_delayed_answers() {
    let mock = start(|request| match request.model() {
        "hang" => MockResponse::broken("never", ConnectionFault::Hang),
        _ => MockResponse::say("in an hour").after(Duration::from_secs(3600)),
    });
    let mut connections: Vec<_> = ["hang", "wait"].map(|model| (connect(&mock), model)).into();
    for (connection, model) in &mut connections {
        send(connection, "POST", CHAT, "", &json!({"model": model, "messages": []}));
    }
    while mock.calls() < 2 {
        std::thread::yield_now();
    }
    drop(mock);
    for (connection, model) in &mut connections {
        let mut rest = Vec::new();
        // The connection may end with a reset or a close.
        let _ = connection.read_to_end(&mut rest);
        assert!(rest.is_empty(), "{model}");
    }
}

#[test]
fn only_the_configured_number_of_requests_is_kept() {
    let settings = MockSettings { keep: 1, ..MockSettings::new(|_| MockResponse::say("x")) };
    let mock = MockServer::start(settings).unwrap();
    for _ in 0..3 {
        ask(&mock, &json!({"messages": []}));
    }
    assert_eq!((mock.requests().len(), mock.calls()), (1, 3));
}

fn with_schema(schema: Value) -> Value {
    json!({"messages": [], "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}})
}

#[test]
fn the_debate_answers_by_the_properties_of_the_schema() {
    let mock =
        MockServer::start(MockSettings { responder: converging_debate(Duration::ZERO), keep: 0 }).unwrap();
    let debater = json!({
        "type": "object",
        "properties": {
            "stance": {"$ref": "#/$defs/Stance"}, "key_points": {"type": "array", "items": {"type": "string"}},
            "counterpoints": {"type": "array"}, "revision": {"type": "string"}, "revised_position": {"type": ["string", "null"]},
            "confidence": {"type": "number"}, "note": {"type": "string", "enum": ["a", "b"]},
        },
        "$defs": {"Stance": {"type": "string", "enum": ["concede", "maintain"]}},
    });
    let said = ask(&mock, &with_schema(debater));
    assert_eq!(
        (&said["stance"], &said["revision"], &said["note"]),
        (&json!("maintain"), &json!("no_change"), &json!("a"))
    );
    let moderator = json!({"type": "object", "properties": {
        "should_stop": {"type": "boolean"}, "agreement_score": {"type": "number"}, "new_points_ratio": {"type": "number"},
    }});
    let said = ask(&mock, &with_schema(moderator));
    assert_eq!(said, json!({"should_stop": true, "agreement_score": 0.9, "new_points_ratio": 0.1}));
    assert!(ask(&mock, &json!({"messages": [{"role": "user", "content": "Why?"}]})).is_string());
}

#[test]
fn the_debate_answers_by_the_fields_in_the_prompt() {
    let responder = MockDebate { agreement_score: 0.2, ..MockDebate::default() }.responder();
    let mock = MockServer::start(MockSettings { responder, keep: 0 }).unwrap();
    let prompt = r#"{"should_stop": true|false, "agreement_score": 0.0-1.0, "new_points_ratio": 0.0-1.0,
        "consensus_answer": "", "remaining_disagreements": [], "next_round_focus": ""}"#;
    let said = ask(&mock, &json!({"messages": [{"role": "user", "content": prompt}]}));
    assert_eq!((&said["agreement_score"], &said["should_stop"]), (&json!(0.2), &json!(false)));
    let said = ask(
        &mock,
        &json!({"messages": [{"role": "user", "content": r#"{"answer": "", "why": "", "contested": []}"#}]}),
    );
    assert!(said["contested"].is_array());
}

#[test]
fn the_path_determines_the_wire_format() {
    let mock = start(|request| MockResponse::say(format!("{:?} {}", request.wire(), request.model())));
    assert_eq!(
        post(&mock, "/v1/messages", &json!({"model": "x"}))["content"][0]["text"],
        "Some(Anthropic) x"
    );
    assert_eq!(
        post(&mock, GEMINI, &json!({}))["candidates"][0]["content"]["parts"][0]["text"],
        "Some(Gemini) x"
    );
    let openai = post(&mock, CHAT, &json!({"model": "x"}));
    assert_eq!(openai["choices"][0]["message"]["content"], "Some(OpenAi) x");
    assert_eq!(mock.requests().iter().filter_map(|request| request.wire()).count(), 3);
    assert_eq!(request(&mock, "GET", "/v1/messages", "", &Value::Null).0, 404);
    assert_eq!((mock.calls(), mock.requests()[1].wire()), (3, Some(MockFormat::Gemini)));
}

#[test]
fn each_wire_format_counts_tokens_in_its_own_way() {
    let mock = start(|_| MockResponse::say("one two").tokens(100, 60, 2).cache_write(30));
    let usage = &post(&mock, "/v1/messages", &json!({}))["usage"];
    assert_eq!(
        usage,
        &json!({"input_tokens": 10, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30, "output_tokens": 2})
    );
    let usage = &post(&mock, GEMINI, &json!({}))["usageMetadata"];
    assert_eq!((&usage["promptTokenCount"], &usage["cachedContentTokenCount"]), (&json!(100), &json!(60)));
    let usage = &post(&mock, CHAT, &json!({}))["usage"];
    assert_eq!(usage["prompt_tokens_details"], json!({"cached_tokens": 60, "cache_write_tokens": 30}));
}

#[test]
fn each_wire_format_has_its_own_stream_events() {
    let mock = start(|_| MockResponse::say("one two").finish("length"));
    let (_, events) = request(&mock, "POST", "/v1/messages", "", &json!({"stream": true}));
    let names: Vec<&str> = events.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(names[..3], ["message_start", "content_block_start", "ping"]);
    assert_eq!(
        names[3..],
        ["content_block_delta", "content_block_delta", "content_block_stop", "message_delta", "message_stop"]
    );
    assert!(
        events.contains("\"text\":\"one \"") && events.contains("\"stop_reason\":\"max_tokens\""),
        "{events}"
    );
    let (_, events) = request(&mock, "POST", GEMINI_STREAM, "", &json!({}));
    let frames: Vec<Value> =
        events.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
    assert_eq!(frames.len(), 3);
    assert_eq!(frames[0]["candidates"][0]["content"]["parts"][0]["text"], "one ");
    assert_eq!(frames[0]["candidates"][0].get("finishReason"), None);
    assert_eq!(frames[2]["candidates"][0]["finishReason"], "MAX_TOKENS");
}

#[test]
fn each_wire_format_has_its_own_errors_and_refusals() {
    let errors = start(|_| MockResponse::error(529, "busy"));
    let (status, body) = request(&errors, "POST", "/v1/messages", "", &json!({}));
    assert_eq!(status, 529);
    assert!(body.contains("\"overloaded_error\"") && body.contains("\"busy\""), "{body}");
    assert_eq!(post(&errors, GEMINI, &json!({}))["error"]["code"], 529);
    assert_eq!(post(&errors, CHAT, &json!({}))["error"]["message"], "busy");
    let refusals = start(|_| MockResponse::say("").refusing("No."));
    let answer = post(&refusals, "/v1/messages", &json!({}));
    assert_eq!((&answer["stop_reason"], &answer["content"][0]["text"]), (&json!("refusal"), &json!("No.")));
    let answer = post(&refusals, GEMINI, &json!({}));
    assert_eq!(
        (answer.get("candidates"), &answer["promptFeedback"]["blockReason"]),
        (None, &json!("PROHIBITED_CONTENT"))
    );
}

#[test]
fn messages_are_joined_from_blocks_and_parts() {
    let mock = start(|_| MockResponse::say("x"));
    let blocks = json!([{"type": "text", "text": "Why"}, {"type": "text", "text": "?"}]);
    let turns = json!([{"role": "user", "content": blocks}, {"role": "assistant", "content": "So."}]);
    post(&mock, "/v1/messages", &json!({"system": [{"type": "text", "text": "Rules."}], "messages": turns}));
    let parts = json!([{"text": "Why"}, {"text": "?"}]);
    let turns = json!([{"role": "user", "parts": parts}, {"role": "model", "parts": [{"text": "So."}]}]);
    post(&mock, GEMINI, &json!({"systemInstruction": {"parts": [{"text": "Rules."}]}, "contents": turns}));
    for request in mock.requests() {
        assert_eq!(request.messages(), [("system", "Rules."), ("user", "Why?"), ("assistant", "So.")]);
    }
}

#[test]
fn the_debate_finds_the_schema_in_every_wire_format() {
    let mock =
        MockServer::start(MockSettings { responder: converging_debate(Duration::ZERO), keep: 0 }).unwrap();
    let schema = json!({"type": "object", "properties": {"confidence": {"type": "number"}}});
    let answer = post(
        &mock,
        "/v1/messages",
        &json!({"output_config": {"format": {"type": "json_schema", "schema": schema}}}),
    );
    assert_eq!(answer["content"][0]["text"], "{\"confidence\":0.8}");
    let answer = post(&mock, GEMINI, &json!({"generationConfig": {"responseJsonSchema": schema}}));
    assert_eq!(answer["candidates"][0]["content"]["parts"][0]["text"], "{\"confidence\":0.8}");
}

#[test]
fn equal_texts_have_equal_embeddings() {
    let mock = start(|_| MockResponse::say("").tokens(9, 0, 0));
    let answer =
        post(&mock, "/v1/embeddings", &json!({"model": "x", "input": ["sell it", "sell it", "keep"]}));
    let vector = |index: usize| answer["data"][index]["embedding"].as_array().unwrap();
    assert_eq!((vector(0), vector(0).len()), (vector(1), vector(2).len()));
    assert_ne!(vector(0), vector(2));
    assert_eq!((&answer["usage"]["prompt_tokens"], &answer["data"][2]["index"]), (&json!(9), &json!(2)));
}

#[test]
fn each_wire_format_has_its_own_list_of_models() {
    let mock = start(|_| MockResponse::empty());
    let list = |path: &str, headers: &str| request(&mock, "GET", path, headers, &Value::Null);
    assert!(
        list("/v1/models?limit=1000", "anthropic-version: 2023-06-01\r\n").1.contains("\"has_more\":false")
    );
    assert!(list("/v1/models", "").1.contains("\"object\":\"list\""));
    assert!(list("/v1beta/models?pageSize=1000", "").1.contains("\"models/mock\""));
    mock.list(|_| MockResponse::error(401, "who?"));
    assert_eq!(list("/v1/models", "").0, 401);
    assert_eq!(mock.calls(), 0);
}
