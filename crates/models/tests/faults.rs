//! Every way in which a call can fail: what the engine is told, and that it is told no secret.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod support;

use std::time::Duration;

use agon_engine::{Fault, FaultKind, Models};
use agon_mock::{Mock, Response, Spoilt};
use serde_json::json;
use support::{KEY, PROMPT, ask, call, catalogue, mock, model};

/// A fault that shows neither key nor prompt, on one line of at most 300 characters.
fn checked(fault: Fault) -> Fault {
    for text in [fault.message.clone(), format!("{fault:?}"), fault.to_string()] {
        assert!(!text.contains(KEY), "{text}");
        assert!(!text.contains("confidential question"), "{text}");
    }
    assert!(fault.message.chars().count() <= 300, "{}", fault.message);
    assert!(!fault.message.contains(char::is_control), "{:?}", fault.message);
    fault
}

async fn fault_of(mock: &Mock, streamed: bool) -> Fault {
    checked(ask(&*model(mock), &call(), streamed).await.0.unwrap_err())
}

#[tokio::test]
async fn each_status_has_its_kind_and_names_what_to_do() {
    let cases = [
        (401, FaultKind::Key, "OPENAI_API_KEY"),
        (403, FaultKind::Key, "openai"),
        (402, FaultKind::Key, "credit"),
        (404, FaultKind::NoSuchModel, "\"m\" at http://127.0.0.1"),
        (429, FaultKind::RateLimited, "429"),
        (500, FaultKind::Unavailable, "500"),
        (503, FaultKind::Unavailable, "503"),
        (529, FaultKind::Unavailable, "529"),
        (408, FaultKind::Unavailable, "408"),
        (400, FaultKind::Rejected, "it says: a short reason"),
        (413, FaultKind::Rejected, "413"),
        (422, FaultKind::Rejected, "422"),
        (302, FaultKind::Rejected, "base URL"),
    ];
    for (status, kind, named) in cases {
        let mock = mock(move |_| Response::error(status, "a short reason"));
        for streamed in [false, true] {
            let fault = fault_of(&mock, streamed).await;
            assert_eq!(fault.kind, kind, "{status}, streamed: {streamed}");
            assert!(fault.message.contains(named), "{status}: {}", fault.message);
            assert_eq!(fault.retry_after, None, "{status}");
        }
        assert_eq!(mock.calls(), 2, "a model never retries");
    }
}

#[tokio::test]
async fn retry_after_is_handed_on() {
    for (name, value, wait) in [
        ("Retry-After", "3", Some(Duration::from_secs(3))),
        ("retry-after-ms", "1500", Some(Duration::from_millis(1500))),
        ("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT", Some(Duration::ZERO)),
        ("Retry-After", "soon", None),
    ] {
        let mock = mock(move |_| Response::error(429, "slow down").header(name, value));
        for streamed in [false, true] {
            let fault = fault_of(&mock, streamed).await;
            assert_eq!((fault.kind, fault.retry_after), (FaultKind::RateLimited, wait), "{name}: {value}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_none_is_garbled_or_unavailable() {
    type Answer = fn() -> Response;
    let cases: [(&str, Answer, FaultKind); 8] = [
        ("html", Response::html, FaultKind::Garbled),
        ("empty", Response::empty, FaultKind::Garbled),
        ("malformed", Response::malformed, FaultKind::Garbled),
        (
            "half an event",
            || Response::raw(200, "text/event-stream", "data: {\"choi\n\n"),
            FaultKind::Garbled,
        ),
        ("other JSON", || Response::json(200, &json!({"hello": "world"})), FaultKind::Garbled),
        ("truncated", || Response::spoilt("long enough to be cut", Spoilt::Truncate), FaultKind::Garbled),
        ("reset", || Response::spoilt("long enough to be cut", Spoilt::Reset), FaultKind::Garbled),
        ("error page", || Response::raw(502, "text/html", "<h1>Bad gateway</h1>"), FaultKind::Unavailable),
    ];
    for (what, answer, kind) in cases {
        let mock = mock(move |_| answer());
        for streamed in [false, true] {
            let fault = fault_of(&mock, streamed).await;
            assert_eq!(fault.kind, kind, "{what}, streamed: {streamed}: {}", fault.message);
            assert!(!fault.message.contains('<'), "{}", fault.message);
        }
    }
}

#[tokio::test]
async fn an_error_in_a_body_that_claims_success_is_an_error() {
    let cases = [
        (json!(503), FaultKind::Unavailable),
        (json!(429), FaultKind::RateLimited),
        (json!("x"), FaultKind::Unavailable),
    ];
    for (code, kind) in cases {
        let error = json!({"error": {"message": "upstream is down", "code": code}});
        let events = format!("data: {error}\n\n");
        let mock = mock(move |request| match request.streams() {
            true => Response::raw(200, "text/event-stream", events.clone()),
            false => Response::json(200, &error),
        });
        for streamed in [false, true] {
            let fault = fault_of(&mock, streamed).await;
            assert_eq!(fault.kind, kind);
            assert!(fault.message.contains("upstream is down"), "{}", fault.message);
        }
    }
}

/// What came of an answer before its server failed may be charged for.
#[tokio::test]
async fn an_error_in_the_middle_of_an_answer_has_garbled_it() {
    let begun = json!({"choices": [{"index": 0, "delta": {"content": "Sell"}}]});
    for code in [503, 429] {
        let error = json!({"error": {"message": "upstream is down", "code": code}});
        let events = format!("data: {begun}\n\ndata: {error}\n\n");
        let mock = mock(move |_| Response::raw(200, "text/event-stream", events.clone()));
        let fault = fault_of(&mock, true).await;
        assert_eq!(fault.kind, FaultKind::Garbled);
        assert!(fault.message.contains("upstream is down"), "{}", fault.message);
    }
}

#[tokio::test]
async fn a_code_may_say_more_than_its_status() {
    for (status, code, kind) in [
        (400, "model_not_found", FaultKind::NoSuchModel),
        (429, "insufficient_quota", FaultKind::Key),
        (429, "rate_limit_exceeded", FaultKind::RateLimited),
    ] {
        let mock = mock(move |_| Response::json(status, &json!({"error": {"message": "no", "code": code}})));
        assert_eq!(fault_of(&mock, false).await.kind, kind, "{status} {code}");
    }
}

#[tokio::test]
async fn dropping_the_call_abandons_it() {
    for how in [Spoilt::Hang, Spoilt::Stall] {
        let mock = mock(move |_| Response::spoilt("one two three four", how));
        for streamed in [false, true] {
            let before = mock.abandoned();
            let (model, call) = (model(&mock), call());
            {
                let asked = mock.calls();
                let mut pending = Box::pin(ask(&*model, &call, streamed));
                // The call is polled until the server has it, and then dropped.
                while mock.calls() == asked {
                    let step = tokio::time::timeout(Duration::from_millis(5), &mut pending).await;
                    assert!(step.is_err(), "{how:?} must not answer");
                }
            }
            while mock.abandoned() == before {
                tokio::task::yield_now().await;
            }
        }
    }
}

#[tokio::test]
async fn a_stalled_stream_gives_what_came_before() {
    let mock = mock(|_| Response::spoilt("one two three four five six seven eight", Spoilt::Stall));
    let (model, call) = (model(&mock), call());
    let (sender, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let push = move |piece: &str| sender.send(piece.to_owned()).unwrap();
    tokio::select! {
        answer = model.call(&call, Some(&push)) => panic!("{answer:?}"),
        first = seen.recv() => assert_eq!(first.as_deref(), Some("one ")),
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let url = mock(|_| Response::empty()).url();
    for streamed in [false, true] {
        let model = catalogue(&url, Some(KEY)).model("openai/m").unwrap();
        let fault = checked(ask(&*model, &call(), streamed).await.0.unwrap_err());
        assert_eq!(fault.kind, FaultKind::Unavailable);
        assert!(fault.message.contains(&url) && fault.message.contains("running"), "{}", fault.message);
    }
}

#[tokio::test]
async fn what_a_server_sends_back_of_key_prompt_and_control_characters_is_not_shown() {
    let echoes = [
        format!("Incorrect API key provided: {KEY}"),
        format!("cannot parse {PROMPT}"),
        format!("field messages.1.content: \"{PROMPT}\""),
        format!("\u{1b}[31mred\u{7} and {}", "long ".repeat(500)),
        "one\r\ntwo".to_owned(),
    ];
    for echo in echoes {
        for status in [400, 401, 403, 404, 422, 429, 500] {
            let (in_error, in_detail) =
                (json!({"error": {"message": echo}}), json!({"detail": [{"msg": echo, "input": PROMPT}]}));
            for body in [in_error, in_detail, json!({"error": echo}), json!({"message": echo})] {
                let mock = mock(move |_| Response::json(status, &body));
                fault_of(&mock, false).await;
                fault_of(&mock, true).await;
            }
        }
        let text = echo.clone();
        let mock = mock(move |_| Response::raw(200, "text/plain", text.clone()));
        fault_of(&mock, false).await;
        fault_of(&mock, true).await;
    }
}

/// "a wrong key or model stops at once": also where a provider says it with a status of 400 and in words alone, as OpenRouter, Mistral,
/// DeepSeek and xAI do.
#[tokio::test]
async fn a_wrong_key_or_model_is_known_by_its_words_too() {
    for (body, kind) in [
        (json!({"error": {"message": "m is not a valid model ID", "code": 400}}), FaultKind::NoSuchModel),
        (
            json!({"message": "Invalid model: m", "type": "invalid_model", "code": "1500"}),
            FaultKind::NoSuchModel,
        ),
        (
            json!({"error": {"message": "Model Not Exist", "type": "invalid_request_error"}}),
            FaultKind::NoSuchModel,
        ),
        (
            json!({"code": "Client specified an invalid argument", "error": "Incorrect API key provided: x***y."}),
            FaultKind::Key,
        ),
        (json!({"error": {"message": "the model took too long a prompt"}}), FaultKind::Rejected),
    ] {
        let sent = body.clone();
        let mock = mock(move |_| Response::json(400, &sent));
        for streamed in [false, true] {
            assert_eq!(fault_of(&mock, streamed).await.kind, kind, "{body}");
        }
    }
}
