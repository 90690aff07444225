//! Failed calls: what kind of fault each is, and that no message contains a secret.

use std::time::Duration;

use crate::support::{KEY, PROMPT, ask, call, catalogue, mock, model};
use agon_engine::{CallFault, CallFaultKind, ModelSource};
use agon_mock::{ConnectionFault, MockResponse, MockServer};
use serde_json::json;

/// Checks that the message has neither key nor prompt, and is one line of at most 300 characters.
fn checked(fault: CallFault) -> CallFault {
    for text in [fault.message.clone(), format!("{fault:?}"), fault.to_string()] {
        assert!(!text.contains(KEY), "{text}");
        assert!(!text.contains("confidential question"), "{text}");
    }
    assert!(fault.message.chars().count() <= 300, "{}", fault.message);
    assert!(!fault.message.contains(char::is_control), "{:?}", fault.message);
    fault
}

async fn fault_of(mock: &MockServer, streamed: bool) -> CallFault {
    checked(ask(&*model(mock), &call(), streamed).await.0.unwrap_err())
}

#[tokio::test]
async fn retry_after_is_passed_on() {
    for (name, value, wait) in [
        ("Retry-After", "3", Some(Duration::from_secs(3))),
        ("retry-after-ms", "1500", Some(Duration::from_millis(1500))),
        ("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT", Some(Duration::ZERO)),
        ("Retry-After", "soon", None),
    ] {
        let mock = mock(move |_| MockResponse::error(429, "slow down").header(name, value));
        for streamed in [false, true] {
            let fault = fault_of(&mock, streamed).await;
            assert_eq!(
                (fault.kind, fault.retry_after),
                (CallFaultKind::RateLimited, wait),
                "{name}: {value}"
            );
        }
    }
}

/// The server accepted the request, so a failure of its own may be charged for.
#[tokio::test]
async fn an_error_in_a_body_with_status_200_is_an_error() {
    let cases = [
        (json!(503), CallFaultKind::Garbled),
        (json!(429), CallFaultKind::RateLimited),
        (json!("x"), CallFaultKind::Garbled),
    ];
    for (code, kind) in cases {
        let error = json!({"error": {"message": "upstream is down", "code": code}});
        let events = format!("data: {error}\n\n");
        let mock = mock(move |request| match request.streams() {
            true => MockResponse::raw(200, "text/event-stream", events.clone()),
            false => MockResponse::json(200, &error),
        });
        for streamed in [false, true] {
            let fault = fault_of(&mock, streamed).await;
            assert_eq!(fault.kind, kind);
            assert!(fault.message.contains("upstream is down"), "{}", fault.message);
        }
    }
}

/// The text before the error may be charged for.
#[tokio::test]
async fn an_error_in_the_middle_of_an_answer_makes_it_garbled() {
    let begun = json!({"choices": [{"index": 0, "delta": {"content": "Sell"}}]});
    for code in [503, 429] {
        let error = json!({"error": {"message": "upstream is down", "code": code}});
        let events = format!("data: {begun}\n\ndata: {error}\n\n");
        let mock = mock(move |_| MockResponse::raw(200, "text/event-stream", events.clone()));
        let fault = fault_of(&mock, true).await;
        assert_eq!(fault.kind, CallFaultKind::Garbled);
        assert!(fault.message.contains("upstream is down"), "{}", fault.message);
    }
}

#[tokio::test]
async fn an_error_code_may_say_more_than_the_status() {
    for (status, code, kind) in [
        (400, "model_not_found", CallFaultKind::NoSuchModel),
        (429, "insufficient_quota", CallFaultKind::Key),
        (429, "rate_limit_exceeded", CallFaultKind::RateLimited),
    ] {
        let mock =
            mock(move |_| MockResponse::json(status, &json!({"error": {"message": "no", "code": code}})));
        assert_eq!(fault_of(&mock, false).await.kind, kind, "{status} {code}");
    }
}

#[tokio::test]
async fn dropping_a_call_closes_its_connection() {
    for how in [ConnectionFault::Hang, ConnectionFault::Stall] {
        let mock = mock(move |_| MockResponse::broken("one two three four", how));
        for streamed in [false, true] {
            let before = mock.abandoned();
            let (model, call) = (model(&mock), call());
            {
                let asked = mock.calls();
                let mut pending = Box::pin(ask(&*model, &call, streamed));
                // Poll until the server has the request, then drop the call.
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
async fn a_stalled_stream_still_delivers_what_came_before() {
    let mock =
        mock(|_| MockResponse::broken("one two three four five six seven eight", ConnectionFault::Stall));
    let (model, call) = (model(&mock), call());
    let (sender, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let push = move |piece: &str| sender.send(piece.to_owned()).unwrap();
    tokio::select! {
        answer = model.call(&call, Some(&push)) => panic!("{answer:?}"),
        first = seen.recv() => assert_eq!(first.as_deref(), Some("one ")),
    }
}

#[tokio::test]
async fn an_unreachable_server_is_unavailable() {
    let url = mock(|_| MockResponse::empty()).url();
    for streamed in [false, true] {
        let model = catalogue(&url, Some(KEY)).model("openai/m").unwrap();
        let fault = checked(ask(&*model, &call(), streamed).await.0.unwrap_err());
        assert_eq!(fault.kind, CallFaultKind::Unavailable);
        assert!(fault.message.contains(&url) && fault.message.contains("running"), "{}", fault.message);
    }
}

#[tokio::test]
async fn keys_prompts_and_control_characters_that_a_server_echoes_are_not_shown() {
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
                let mock = mock(move |_| MockResponse::json(status, &body));
                fault_of(&mock, false).await;
                fault_of(&mock, true).await;
            }
        }
        let text = echo.clone();
        let mock = mock(move |_| MockResponse::raw(200, "text/plain", text.clone()));
        fault_of(&mock, false).await;
        fault_of(&mock, true).await;
    }
}

/// OpenRouter, Mistral, DeepSeek and xAI report a wrong key or model with status 400.
#[tokio::test]
async fn a_wrong_key_or_model_is_recognized_by_the_message() {
    for (body, kind) in [
        (json!({"error": {"message": "m is not a valid model ID", "code": 400}}), CallFaultKind::NoSuchModel),
        (
            json!({"message": "Invalid model: m", "type": "invalid_model", "code": "1500"}),
            CallFaultKind::NoSuchModel,
        ),
        (
            json!({"error": {"message": "Model Not Exist", "type": "invalid_request_error"}}),
            CallFaultKind::NoSuchModel,
        ),
        (
            json!({"code": "Client specified an invalid argument", "error": "Incorrect API key provided: x***y."}),
            CallFaultKind::Key,
        ),
        (json!({"error": {"message": "the model took too long a prompt"}}), CallFaultKind::Rejected),
    ] {
        let sent = body.clone();
        let mock = mock(move |_| MockResponse::json(400, &sent));
        for streamed in [false, true] {
            assert_eq!(fault_of(&mock, streamed).await.kind, kind, "{body}");
        }
    }
}
