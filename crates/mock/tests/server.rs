//! The server as a client sees it, over a bare socket.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use agon_mock::{Debate, Mock, MockSettings, Response, Spoilt, debate};
use serde_json::{Value, json};

fn mock(answer: impl Fn(&agon_mock::Request) -> Response + Send + Sync + 'static) -> Mock {
    Mock::start(MockSettings::new(answer)).unwrap()
}

fn connect(mock: &Mock) -> BufReader<TcpStream> {
    let address = mock.url().replace("http://", "").replace("/v1", "");
    BufReader::new(TcpStream::connect(address).unwrap())
}

fn send(to: &mut BufReader<TcpStream>, path: &str, body: &Value) {
    let body = body.to_string();
    let method = if body == "null" { "GET" } else { "POST" };
    let head = format!("{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len());
    to.get_mut().write_all(format!("{head}{body}").as_bytes()).unwrap();
}

/// The status and the body of the next answer.
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

fn ask(mock: &Mock, body: &Value) -> Value {
    let mut connection = connect(mock);
    send(&mut connection, "/v1/chat/completions", body);
    let completion: Value = serde_json::from_str(&receive(&mut connection).1).unwrap();
    let text = completion["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

#[test]
fn a_connection_is_kept_for_the_next_request() {
    let mock = mock(|request| Response::say(request.messages()[0].1));
    let mut connection = connect(&mock);
    for text in ["one", "two"] {
        send(
            &mut connection,
            "/v1/chat/completions",
            &json!({"messages": [{"role": "user", "content": text}]}),
        );
        let (status, body) = receive(&mut connection);
        assert_eq!(status, 200);
        assert!(body.contains(&format!("\"content\":\"{text}\"")), "{body}");
    }
    assert_eq!(mock.calls(), 2);
    assert_eq!(mock.requests()[1].messages(), [("user", "two")]);
    assert_eq!(mock.requests()[1].header("host"), Some("x"));
}

#[test]
fn a_stream_ends_with_usage_where_that_is_asked_for() {
    let mock = mock(|_| Response::say("one two").tokens(7, 3, 2));
    let mut connection = connect(&mock);
    for usage in [true, false] {
        let body = json!({"stream": true, "stream_options": {"include_usage": usage}, "messages": []});
        send(&mut connection, "/v1/chat/completions", &body);
        let (_, body) = receive(&mut connection);
        assert!(body.contains("\"content\":\"one \"") && body.contains("\"content\":\"two\""), "{body}");
        assert!(body.ends_with("data: [DONE]\n\n"), "{body}");
        assert_eq!(body.contains("\"cached_tokens\":3"), usage, "{body}");
    }
}

#[test]
fn models_are_listed_and_other_paths_are_not_there() {
    let mock = mock(|_| Response::empty());
    let mut connection = connect(&mock);
    send(&mut connection, "/v1/models", &Value::Null);
    assert!(receive(&mut connection).1.contains("\"id\":\"mock\""));
    send(&mut connection, "/v2/x", &json!({}));
    assert_eq!(receive(&mut connection).0, 404);
    assert_eq!(mock.calls(), 0, "only chat requests count");
}

#[test]
fn an_answer_waits_for_its_delay() {
    let mock = mock(|_| Response::say("late").after(Duration::from_millis(30)));
    let since = Instant::now();
    assert_eq!(ask(&mock, &json!({"messages": []})), json!("late"));
    assert!(since.elapsed() >= Duration::from_millis(30));
}

#[test]
fn a_spoilt_answer_is_cut_short() {
    for how in [Spoilt::Truncate, Spoilt::Reset] {
        let mock = mock(move |_| Response::spoilt("whole", how));
        let mut connection = connect(&mock);
        send(&mut connection, "/v1/chat/completions", &json!({"messages": []}));
        let mut bytes = Vec::new();
        let end = connection.read_to_end(&mut bytes);
        assert!(bytes.starts_with(b"HTTP/1.1 200") && !String::from_utf8_lossy(&bytes).contains("usage"));
        assert_eq!(end.is_err(), how == Spoilt::Reset, "{how:?} {end:?}");
    }
}

#[test]
fn dropping_the_server_ends_what_hangs_and_what_waits() {
    let mock = mock(|request| match request.model() {
        "hang" => Response::spoilt("never", Spoilt::Hang),
        _ => Response::say("in an hour").after(Duration::from_secs(3600)),
    });
    let mut connections: Vec<_> = ["hang", "wait"].map(|model| (connect(&mock), model)).into();
    for (connection, model) in &mut connections {
        send(connection, "/v1/chat/completions", &json!({"model": model, "messages": []}));
    }
    while mock.calls() < 2 {
        std::thread::yield_now();
    }
    drop(mock);
    for (connection, model) in &mut connections {
        let mut rest = Vec::new();
        // A reset ends it as well as a close does.
        let _ = connection.read_to_end(&mut rest);
        assert!(rest.is_empty(), "{model}");
    }
}

#[test]
fn only_as_many_requests_are_kept_as_wanted() {
    let settings = MockSettings { keep: 1, ..MockSettings::new(|_| Response::say("x")) };
    let mock = Mock::start(settings).unwrap();
    for _ in 0..3 {
        ask(&mock, &json!({"messages": []}));
    }
    assert_eq!((mock.requests().len(), mock.calls()), (1, 3));
}

fn with_schema(schema: Value) -> Value {
    json!({"messages": [], "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}})
}

#[test]
fn the_debate_answers_by_the_property_names_of_the_schema() {
    let mock = Mock::start(MockSettings { responder: debate(Duration::ZERO), keep: 0 }).unwrap();
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
fn the_debate_answers_by_the_fields_that_the_prompt_states() {
    let responder = Debate { agreement_score: 0.2, ..Debate::default() }.responder();
    let mock = Mock::start(MockSettings { responder, keep: 0 }).unwrap();
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
