//! Calls to an OpenAI-compatible server: the request, and what a model learns from a rejected one.

use crate::support::{KEY, PROMPT, ask, body, call, call_with_schema, catalogue, message, mock, model};
use agon_core::CallUsage;
use agon_engine::{CallFaultKind, FinishReason, MessageRole, ModelCall, ModelSource};
use agon_mock::{ConnectionFault, MockResponse};
use agon_models::{ModelCatalogue, ModelsConfig};
use serde_json::{Value, json};

#[tokio::test]
async fn the_request_contains_what_the_call_says() {
    let mock = mock(|_| MockResponse::say("Yes."));
    let turns = vec![
        message(MessageRole::System, "Rules."),
        message(MessageRole::User, "First?"),
        message(MessageRole::Assistant, "One."),
        message(MessageRole::User, "Second?"),
    ];
    ask(&*model(&mock), &ModelCall { messages: turns, ..call() }, false).await.0.unwrap();
    let request = &mock.requests()[0];
    let order = [("system", "Rules."), ("user", "First?"), ("assistant", "One."), ("user", "Second?")];
    assert_eq!(request.messages(), order, "earlier turns are sent in order");
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!((&request.body()["model"], &request.body()["max_tokens"]), (&json!("m"), &json!(77)));
    assert_eq!(request.body()["seed"], json!(0x7FFF_FFFF), "the seed fits into a signed 32-bit number");
    assert_eq!(request.body().get("reasoning_effort"), None);
    assert_eq!(request.body().get("response_format"), None);
}

#[tokio::test]
async fn a_model_name_is_sent_unchanged() {
    let mock = mock(|_| MockResponse::say("Yes."));
    let catalogue = catalogue(&mock.url(), None);
    let names = ["qwen-high", "meta/llama:8b", "a::b", "gpt-4o-mini", "claude-low"];
    for (index, name) in names.into_iter().enumerate() {
        let model = catalogue.model(&format!("openai/{name}")).unwrap();
        ask(&*model, &call(), false).await.0.unwrap();
        assert_eq!(body(&mock, index)["model"], json!(name));
    }
    assert_eq!(mock.requests()[0].header("authorization"), None, "there is no key to send");
}

#[tokio::test]
async fn a_base_url_keeps_its_path_and_query() {
    let mock = mock(|_| MockResponse::say("Yes."));
    for key in [None, Some(KEY)] {
        let model = catalogue(&format!("{}/?x=1", mock.url()), key).model("openai/m").unwrap();
        // The mock does not know the path with a query, so it answers 404.
        let fault = ask(&*model, &call(), false).await.0.unwrap_err();
        assert_eq!(fault.kind, CallFaultKind::NoSuchModel);
        assert!(fault.message.contains(&mock.url()) && !fault.message.contains("x=1"), "{}", fault.message);
        assert_eq!(mock.requests().last().unwrap().path, "/v1/chat/completions?x=1");
    }
}

#[tokio::test]
async fn a_schema_is_sent_as_response_format() {
    let mock = mock(|_| MockResponse::say("{\"why\": \"so\"}"));
    for streamed in [false, true] {
        ask(&*model(&mock), &call_with_schema(), streamed).await.0.unwrap();
    }
    for request in mock.requests() {
        assert_eq!(request.schema().unwrap()["properties"], json!({"why": {"type": "string"}}));
        assert_eq!(request.body()["response_format"]["json_schema"]["name"], json!("reason"));
    }
}

#[tokio::test]
async fn a_parameter_that_a_server_rejects_by_name_is_omitted_and_the_schema_stays() {
    type ErrorBody = fn(&str) -> Value;
    let in_message = |parameter: &str| json!({"error": {"message": format!("unknown field: `{parameter}`")}});
    let as_param = |parameter: &str| json!({"error": {"message": "not supported", "param": parameter}});
    let as_location =
        |parameter: &str| json!({"detail": [{"loc": ["body", parameter], "msg": "extra field"}]});
    let bodies: [(u16, ErrorBody); 3] = [(400, in_message), (400, as_param), (422, as_location)];
    for (status, body) in bodies {
        for (parameter, other) in [("seed", "stream_options"), ("stream_options", "seed")] {
            let mock = mock(move |request| match request.body().get(parameter) {
                Some(_) => MockResponse::json(status, &body(parameter)),
                None => MockResponse::say("{\"why\": \"so\"}"),
            });
            let model = model(&mock);
            // Two calls run at once. Each is judged by what it sent itself.
            let asked = call_with_schema();
            let both = tokio::join!(ask(&*model, &asked, true), ask(&*model, &asked, true));
            for (answer, _) in [both.0, both.1] {
                assert_eq!(answer.unwrap_err().kind, CallFaultKind::Unsupported, "{parameter}");
            }
            assert_eq!(mock.calls(), 2, "a model never retries");
            for _ in 0..2 {
                let answer = ask(&*model, &call_with_schema(), true).await.0.unwrap();
                assert_eq!(answer.text, "{\"why\": \"so\"}");
            }
            let requests = mock.requests();
            let has =
                |name: &str| requests.iter().map(|request| request.body().get(name).is_some()).collect();
            let (without, with, schema): (Vec<bool>, Vec<bool>, Vec<bool>) =
                (has(parameter), has(other), has("response_format"));
            assert_eq!(
                (without, with, schema),
                (vec![true, true, false, false], vec![true; 4], vec![true; 4])
            );
        }
    }
}

#[tokio::test]
async fn a_server_that_wants_another_name_for_the_output_limit_gets_it() {
    let mock = mock(|request| match request.body().get("max_tokens") {
        Some(_) => MockResponse::error(400, "Unsupported parameter: use 'max_completion_tokens' instead."),
        None => MockResponse::say("Yes."),
    });
    let model = model(&mock);
    assert_eq!(ask(&*model, &call(), false).await.0.unwrap_err().kind, CallFaultKind::Unsupported);
    assert_eq!(ask(&*model, &call(), false).await.0.unwrap().text, "Yes.");
    assert_eq!(body(&mock, 1)["max_completion_tokens"], json!(77));
    // Some models are known to want it, so no call is lost.
    let known = catalogue(&mock.url(), Some(KEY)).model("openai/gpt-5-mini").unwrap();
    assert_eq!(ask(&*known, &call(), false).await.0.unwrap().text, "Yes.");
}

#[tokio::test]
async fn habits_of_well_known_providers_are_kept() {
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 40}});
    let answer =
        json!({"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}], "usage": usage});
    let mock = mock(move |_| MockResponse::json(200, &answer));
    let url = mock.url();
    let catalogue = ModelCatalogue::new(ModelsConfig::default(), |name: &str| {
        name.ends_with("_BASE_URL").then(|| url.clone())
    });
    for (index, (provider, seed, output)) in
        [("openai", "seed", 5), ("mistral", "random_seed", 5), ("xai", "seed", 45)].into_iter().enumerate()
    {
        let model = catalogue.model(&format!("{provider}/m")).unwrap();
        let answer = ask(&*model, &call(), false).await.0.unwrap();
        assert_eq!(answer.usage.output_tokens, output, "{provider}");
        assert_eq!(body(&mock, index)[seed], json!(0x7FFF_FFFF), "{provider}");
    }
}

#[tokio::test]
async fn a_parameter_is_omitted_only_if_it_was_sent_and_named_exactly() {
    for (words, kinds) in [
        ("what a seed is", [CallFaultKind::Unsupported, CallFaultKind::Rejected]),
        ("stream_options", [CallFaultKind::Rejected, CallFaultKind::Rejected]),
        ("seeds and reseed", [CallFaultKind::Rejected, CallFaultKind::Rejected]),
    ] {
        let mock = mock(move |_| MockResponse::error(400, words));
        let model = model(&mock);
        for kind in kinds {
            assert_eq!(ask(&*model, &call(), false).await.0.unwrap_err().kind, kind, "{words}");
        }
    }
}

#[tokio::test]
async fn a_request_that_fails_without_its_schema_too_keeps_the_schema() {
    let mock = mock(|request| match request.messages().len() {
        1 => MockResponse::say("{\"why\": \"so\"}"),
        _ => MockResponse::error(400, "the context is too long"),
    });
    let model = model(&mock);
    for kind in [CallFaultKind::Unsupported, CallFaultKind::Rejected] {
        let fault = ask(&*model, &call_with_schema(), false).await.0.unwrap_err();
        assert_eq!(fault.kind, kind);
        assert!(fault.message.contains("the context is too long"), "{}", fault.message);
    }
    let short = ModelCall { messages: vec![message(MessageRole::User, "Short?")], ..call_with_schema() };
    ask(&*model, &short, false).await.0.unwrap();
    let with: Vec<bool> = mock.requests().iter().map(|request| request.schema().is_some()).collect();
    assert_eq!(with, [true, false, true]);
}

#[tokio::test]
async fn a_broken_stream_does_not_switch_streaming_off() {
    type Answer = fn() -> MockResponse;
    let cases: [Answer; 3] = [
        || MockResponse::broken("long enough to be cut", ConnectionFault::Truncate),
        || MockResponse::raw(200, "text/event-stream", "data: {\"choices\": []}\n\n"),
        MockResponse::html,
    ];
    for answer in cases {
        let mock = mock(move |_| answer());
        let model = model(&mock);
        for _ in 0..3 {
            let fault = ask(&*model, &call(), true).await.0.unwrap_err();
            assert_eq!(fault.kind, CallFaultKind::Garbled, "{}", fault.message);
        }
        assert!(mock.requests().iter().all(|request| request.streams()));
    }
}

/// The engine treats an empty answer like any malformed one.
#[tokio::test]
async fn an_empty_answer_is_an_answer() {
    for text in ["", " \n"] {
        let mock = mock(move |_| MockResponse::say(text).tokens(90, 0, 3));
        for streamed in [false, true] {
            let answer = ask(&*model(&mock), &call(), streamed).await.0.unwrap();
            assert_eq!(
                (answer.text.as_str(), answer.finish),
                ("", FinishReason::End),
                "streamed: {streamed}"
            );
            assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (90, 3), "it is charged for");
        }
    }
    let body = json!({"choices": [{"message": {"role": "assistant", "content": null}}]});
    let mock = mock(move |_| MockResponse::json(200, &body));
    assert_eq!(ask(&*model(&mock), &call(), false).await.0.unwrap().text, "");
}

#[tokio::test]
async fn an_answer_without_usage_has_none() {
    let body = json!({"choices": [{"message": {"role": "assistant", "content": PROMPT}}]});
    let mock = mock(move |_| MockResponse::json(200, &body));
    let answer = ask(&*model(&mock), &call(), false).await.0.unwrap();
    assert_eq!(answer.usage, CallUsage::default());
}

/// Some servers omit the end mark of a stream.
#[tokio::test]
async fn a_stream_without_end_mark_is_complete_if_the_model_stopped() {
    let frame = |delta: &str, stop: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{stop}}}]}}\n\n")
    };
    let whole = [frame("{\"content\":\"Tabs.\"}", "null"), frame("{}", "\"stop\"")].concat();
    let cut = frame("{\"content\":\"Tabs.\"}", "null");
    let served = mock(move |_| MockResponse::raw(200, "text/event-stream", whole.clone()));
    let answer = ask(&*model(&served), &call(), true).await.0.unwrap();
    assert_eq!((answer.text.as_str(), answer.finish), ("Tabs.", FinishReason::End));
    let served = mock(move |_| MockResponse::raw(200, "text/event-stream", cut.clone()));
    assert!(ask(&*model(&served), &call(), true).await.0.is_err(), "the model had not stopped");
}
