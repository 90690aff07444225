//! Gemini's wire format.

use std::time::Duration;

use crate::support::{KEY, all_wires, ask, call, mock, model_of};
use agon_engine::{CallFaultKind, FinishReason, ModelSource};
use agon_mock::MockResponse;
use agon_models::{ModelCatalogue, ModelsConfig};
use serde_json::json;

fn events(frames: &[serde_json::Value]) -> MockResponse {
    let events: String = frames.iter().map(|frame| format!("data: {frame}\r\n\r\n")).collect();
    MockResponse::raw(200, "text/event-stream", events)
}

#[test]
fn the_key_may_be_in_google_api_key() {
    for (variables, named) in [
        (vec!["GOOGLE_API_KEY"], "GOOGLE_API_KEY"),
        (vec!["GOOGLE_API_KEY", "GEMINI_API_KEY"], "GEMINI_API_KEY"),
        (vec![], "GEMINI_API_KEY"),
    ] {
        let catalogue = ModelCatalogue::new(ModelsConfig::default(), |name| {
            variables.contains(&name).then(|| KEY.into())
        });
        let infos = catalogue.providers();
        let info = infos.iter().find(|info| info.name == "gemini").unwrap();
        assert_eq!(info.key_env.as_deref(), Some(named));
        assert_eq!(catalogue.model("gemini/x").is_ok(), !variables.is_empty());
    }
}

/// A wrong key has status 400, and the time to wait is in the body.
#[tokio::test]
async fn wrong_keys_and_waits_are_read_from_the_body() {
    let wrong_key = json!({"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.",
        "status": "INVALID_ARGUMENT", "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]}});
    let busy = json!({"error": {"code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12s"}]}});
    for streamed in [false, true] {
        let body = wrong_key.clone();
        let mock1 = mock(move |_| MockResponse::json(400, &body));
        let fault = ask(&*model_of(&mock1, "gemini"), &call(), streamed).await.0.unwrap_err();
        assert_eq!(fault.kind, CallFaultKind::Key);
        assert!(
            fault.message.contains("GEMINI_API_KEY") && !fault.message.contains(KEY),
            "{}",
            fault.message
        );
        let body = if streamed { json!([busy]) } else { busy.clone() };
        let mock2 = mock(move |_| MockResponse::json(429, &body));
        let fault = ask(&*model_of(&mock2, "gemini"), &call(), streamed).await.0.unwrap_err();
        assert_eq!(
            (fault.kind, fault.retry_after),
            (CallFaultKind::RateLimited, Some(Duration::from_secs(12)))
        );
    }
}

#[tokio::test]
async fn a_stream_without_a_stop_reason_was_cut_off() {
    let half = json!({"candidates": [{"content": {"parts": [{"text": "Half of"}]}}]});
    let mock = mock(move |_| events(std::slice::from_ref(&half)));
    let model = model_of(&mock, "gemini");
    for _ in 0..2 {
        let fault = ask(&*model, &call(), true).await.0.unwrap_err();
        assert_eq!(fault.kind, CallFaultKind::Garbled);
        assert!(fault.message.contains("was cut off"), "{}", fault.message);
    }
    assert!(mock.requests().iter().all(|request| request.streams()), "streaming stays on");
}

#[tokio::test]
async fn a_frame_that_only_counts_tokens_is_not_an_error() {
    let answer = json!({"candidates": [{"content": {"parts": [{"text": "Sell."}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 2}});
    let mock = mock(move |_| events(&[json!({"usageMetadata": {"promptTokenCount": 7}}), answer.clone()]));
    let answer = ask(&*model_of(&mock, "gemini"), &call(), true).await.0.unwrap();
    assert_eq!(
        (answer.text.as_str(), answer.usage.input_tokens, answer.usage.output_tokens),
        ("Sell.", 7, 2)
    );
}

#[tokio::test]
async fn reasoning_tokens_count_as_output_even_without_text() {
    for (candidates, thoughts, output) in [(Some(5), Some(40), 45), (None, Some(40), 40), (Some(5), None, 5)]
    {
        let body = json!({"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}],
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": candidates, "thoughtsTokenCount": thoughts}});
        let mock = mock(move |request| match request.streams() {
            true => events(std::slice::from_ref(&body)),
            false => MockResponse::json(200, &body),
        });
        for streamed in [false, true] {
            let answer = ask(&*model_of(&mock, "gemini"), &call(), streamed).await.0.unwrap();
            assert_eq!((answer.finish, answer.text.as_str()), (FinishReason::Length, ""));
            assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (9, output));
        }
    }
}

#[tokio::test]
async fn the_path_contains_the_model() {
    let mock = mock(|_| MockResponse::say("Yes."));
    for (name, path) in [
        ("gemini-2.5-flash", "/v1beta/models/gemini-2.5-flash:generateContent"),
        ("models/x", "/v1beta/models/x:generateContent"),
    ] {
        let model = all_wires(&mock).model(&format!("gemini/{name}")).unwrap();
        ask(&*model, &call(), false).await.0.unwrap();
        assert_eq!(mock.requests().last().unwrap().path, path);
    }
}
