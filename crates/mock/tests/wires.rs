//! The same answers in each wire format, over a bare socket.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use agon_mock::{Mock, MockSettings, Response, Wire, debate};
use serde_json::{Value, json};

fn mock(answer: impl Fn(&agon_mock::Request) -> Response + Send + Sync + 'static) -> Mock {
    Mock::start(MockSettings::new(answer)).unwrap()
}

/// The status and body of the answer to one request. Of a stream the events, without what HTTP puts between them.
fn ask(mock: &Mock, method: &str, path: &str, headers: &str, body: &Value) -> (u16, String) {
    let mut stream = TcpStream::connect(mock.root().replace("http://", "")).unwrap();
    let body = body.to_string();
    let head =
        format!("{method} {path} HTTP/1.1\r\nHost: x\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head[9..12].parse().unwrap();
    let is_size = |line: &&str| u64::from_str_radix(line.trim(), 16).is_err();
    let body = if head.contains("chunked") {
        body.lines().filter(is_size).collect::<Vec<_>>().join("\n")
    } else {
        body.into()
    };
    (status, body)
}

fn post(mock: &Mock, path: &str, body: &Value) -> Value {
    serde_json::from_str(&ask(mock, "POST", path, "", body).1).unwrap()
}

const GEMINI: &str = "/v1beta/models/x:generateContent";
const GEMINI_STREAM: &str = "/v1beta/models/x:streamGenerateContent?alt=sse";

#[test]
fn the_path_tells_the_wire() {
    let mock = mock(|request| Response::say(format!("{:?} {}", request.wire(), request.model())));
    assert_eq!(
        post(&mock, "/v1/messages", &json!({"model": "x"}))["content"][0]["text"],
        "Some(Anthropic) x"
    );
    assert_eq!(
        post(&mock, GEMINI, &json!({}))["candidates"][0]["content"]["parts"][0]["text"],
        "Some(Gemini) x"
    );
    let openai = post(&mock, "/v1/chat/completions", &json!({"model": "x"}));
    assert_eq!(openai["choices"][0]["message"]["content"], "Some(OpenAi) x");
    assert_eq!(mock.requests().iter().filter_map(|request| request.wire()).count(), 3);
    assert_eq!(ask(&mock, "GET", "/v1/messages", "", &Value::Null).0, 404);
    assert_eq!((mock.calls(), mock.requests()[1].wire()), (3, Some(Wire::Gemini)));
}

#[test]
fn tokens_are_counted_as_each_wire_counts_them() {
    let mock = mock(|_| Response::say("one two").tokens(100, 60, 2).cache_write(30));
    let usage = &post(&mock, "/v1/messages", &json!({}))["usage"];
    assert_eq!(
        usage,
        &json!({"input_tokens": 10, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30, "output_tokens": 2})
    );
    let usage = &post(&mock, GEMINI, &json!({}))["usageMetadata"];
    assert_eq!((&usage["promptTokenCount"], &usage["cachedContentTokenCount"]), (&json!(100), &json!(60)));
    let usage = &post(&mock, "/v1/chat/completions", &json!({}))["usage"];
    assert_eq!(usage["prompt_tokens_details"], json!({"cached_tokens": 60, "cache_write_tokens": 30}));
}

#[test]
fn streams_have_the_events_of_their_wire() {
    let mock = mock(|_| Response::say("one two").finish("length"));
    let (_, events) = ask(&mock, "POST", "/v1/messages", "", &json!({"stream": true}));
    let names: Vec<&str> = events.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    let around = ["message_start", "content_block_start", "ping"];
    assert_eq!(names[..3], around);
    assert_eq!(
        names[3..],
        ["content_block_delta", "content_block_delta", "content_block_stop", "message_delta", "message_stop"]
    );
    assert!(
        events.contains("\"text\":\"one \"") && events.contains("\"stop_reason\":\"max_tokens\""),
        "{events}"
    );
    let (_, events) = ask(&mock, "POST", GEMINI_STREAM, "", &json!({}));
    let frames: Vec<Value> =
        events.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
    assert_eq!(frames.len(), 3);
    assert_eq!(frames[0]["candidates"][0]["content"]["parts"][0]["text"], "one ");
    assert_eq!(frames[0]["candidates"][0].get("finishReason"), None);
    assert_eq!(frames[2]["candidates"][0]["finishReason"], "MAX_TOKENS");
}

#[test]
fn errors_and_refusals_have_the_shape_of_their_wire() {
    let errors = mock(|_| Response::error(529, "busy"));
    let (status, body) = ask(&errors, "POST", "/v1/messages", "", &json!({}));
    assert_eq!(status, 529);
    assert!(body.contains("\"overloaded_error\"") && body.contains("\"busy\""), "{body}");
    assert_eq!(post(&errors, GEMINI, &json!({}))["error"]["code"], 529);
    assert_eq!(post(&errors, "/v1/chat/completions", &json!({}))["error"]["message"], "busy");
    let refusals = mock(|_| Response::say("").refusing("No."));
    let answer = post(&refusals, "/v1/messages", &json!({}));
    assert_eq!((&answer["stop_reason"], &answer["content"][0]["text"]), (&json!("refusal"), &json!("No.")));
    let answer = post(&refusals, GEMINI, &json!({}));
    assert_eq!(
        (answer.get("candidates"), &answer["promptFeedback"]["blockReason"]),
        (None, &json!("PROHIBITED_CONTENT"))
    );
}

#[test]
fn a_conversation_is_read_from_blocks_and_parts() {
    let mock = mock(|_| Response::say("x"));
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
fn the_debate_finds_the_schema_on_every_wire() {
    let mock = Mock::start(MockSettings { responder: debate(Duration::ZERO), keep: 0 }).unwrap();
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
fn texts_have_vectors() {
    let mock = mock(|_| Response::say("").tokens(9, 0, 0));
    let answer =
        post(&mock, "/v1/embeddings", &json!({"model": "x", "input": ["sell it", "sell it", "keep"]}));
    let vector = |place: usize| answer["data"][place]["embedding"].as_array().unwrap();
    assert_eq!((vector(0), vector(0).len()), (vector(1), vector(2).len()));
    assert_ne!(vector(0), vector(2));
    assert_eq!((&answer["usage"]["prompt_tokens"], &answer["data"][2]["index"]), (&json!(9), &json!(2)));
}

#[test]
fn models_are_listed_as_each_wire_lists_them() {
    let mock = mock(|_| Response::empty());
    let list = |path: &str, headers: &str| ask(&mock, "GET", path, headers, &Value::Null);
    assert!(
        list("/v1/models?limit=1000", "anthropic-version: 2023-06-01\r\n").1.contains("\"has_more\":false")
    );
    assert!(list("/v1/models", "").1.contains("\"object\":\"list\""));
    assert!(list("/v1beta/models?pageSize=1000", "").1.contains("\"models/mock\""));
    mock.list(|_| Response::error(401, "who?"));
    assert_eq!(list("/v1/models", "").0, 401);
    assert_eq!(mock.calls(), 0);
}
