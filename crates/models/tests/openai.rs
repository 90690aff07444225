//! Calls of an OpenAI-compatible server that go well, against a server on loopback.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod support;

use agon_core::Usage;
use agon_engine::{Call, FaultKind, Finish, Models, Role};
use agon_mock::{Response, Spoilt};
use serde_json::{Value, json};
use support::{KEY, PROMPT, ask, body, call, call_with_schema, catalogue, message, mock, model};

#[tokio::test]
async fn an_answer_comes_with_its_usage_streamed_or_not() {
    let mock = mock(|_| Response::say("Sell in spring.").tokens(1200, 1000, 4));
    for streamed in [false, true] {
        let (answer, seen) = ask(&*model(&mock), &call(), streamed).await;
        let answer = answer.unwrap();
        assert_eq!(answer.text, "Sell in spring.");
        assert_eq!((answer.model.as_str(), answer.finish), ("openai/m", Finish::End));
        let usage =
            Usage { input_tokens: 1200, cached_input_tokens: 1000, output_tokens: 4, ..Usage::default() };
        assert_eq!(answer.usage, usage);
        assert_eq!(seen, if streamed { "Sell in spring." } else { "" });
        assert_eq!(
            mock.requests().last().unwrap().streams(),
            streamed,
            "streamed only when somebody watches"
        );
    }
}

#[tokio::test]
async fn the_request_is_what_the_call_says() {
    let mock = mock(|_| Response::say("Yes."));
    let turns = vec![
        message(Role::System, "Rules."),
        message(Role::User, "First?"),
        message(Role::Assistant, "One."),
        message(Role::User, "Second?"),
    ];
    ask(&*model(&mock), &Call { messages: turns, ..call() }, false).await.0.unwrap();
    let request = &mock.requests()[0];
    let order = [("system", "Rules."), ("user", "First?"), ("assistant", "One."), ("user", "Second?")];
    assert_eq!(request.messages(), order, "a seat's earlier turns arrive in order");
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!((&request.body()["model"], &request.body()["max_tokens"]), (&json!("m"), &json!(77)));
    assert_eq!(request.body()["seed"], json!(0x7FFF_FFFF), "a seed that 32 bits and a sign can hold");
    assert_eq!(request.body().get("reasoning_effort"), None);
    assert_eq!(request.body().get("response_format"), None);
}

#[tokio::test]
async fn a_models_name_is_sent_as_it_is() {
    let mock = mock(|_| Response::say("Yes."));
    let catalogue = catalogue(&mock.url(), None);
    let names = ["qwen-high", "meta/llama:8b", "a::b", "gpt-4o-mini", "claude-low"];
    for (index, name) in names.into_iter().enumerate() {
        let model = catalogue.model(&format!("openai/{name}")).unwrap();
        ask(&*model, &call(), false).await.0.unwrap();
        assert_eq!(body(&mock, index)["model"], json!(name));
    }
    assert_eq!(mock.requests()[0].header("authorization"), None, "without a key none is sent");
}

#[tokio::test]
async fn a_base_url_keeps_its_path_and_query() {
    let mock = mock(|_| Response::say("Yes."));
    for key in [None, Some(KEY)] {
        let model = catalogue(&format!("{}/?x=1", mock.url()), key).model("openai/m").unwrap();
        // The mock knows no query, so it says that there is no such path, and names none of it.
        let fault = ask(&*model, &call(), false).await.0.unwrap_err();
        assert_eq!(fault.kind, FaultKind::NoSuchModel);
        assert!(fault.message.contains(&mock.url()) && !fault.message.contains("x=1"), "{}", fault.message);
        assert_eq!(mock.requests().last().unwrap().path, "/v1/chat/completions?x=1");
    }
}

#[tokio::test]
async fn a_schema_is_sent_as_response_format() {
    let mock = mock(|_| Response::say("{\"why\": \"so\"}"));
    for streamed in [false, true] {
        ask(&*model(&mock), &call_with_schema(), streamed).await.0.unwrap();
    }
    for request in mock.requests() {
        assert_eq!(request.schema().unwrap()["properties"], json!({"why": {"type": "string"}}));
        assert_eq!(request.body()["response_format"]["json_schema"]["name"], json!("reason"));
    }
}

/// One request a call: that the schema was turned down is a fault of its own, and the next attempt goes without.
#[tokio::test]
async fn a_server_that_knows_no_schema_is_asked_without_from_then_on() {
    for (status, streamed) in [(400, false), (422, true)] {
        let mock = mock(move |request| match request.schema() {
            Some(_) => Response::error(status, "response_format is not supported"),
            None => Response::say("{\"why\": \"so\"}"),
        });
        let model = model(&mock);
        let fault = ask(&*model, &call_with_schema(), streamed).await.0.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Unsupported);
        assert!(fault.message.contains("response_format is not supported"), "{}", fault.message);
        assert_eq!(mock.calls(), 1, "a model never retries");
        for _ in 0..3 {
            let (answer, seen) = ask(&*model, &call_with_schema(), streamed).await;
            assert_eq!(answer.unwrap().text, "{\"why\": \"so\"}");
            assert_eq!(seen.is_empty(), !streamed);
        }
        let with: Vec<bool> = mock.requests().iter().map(|request| request.schema().is_some()).collect();
        assert_eq!(with, [true, false, false, false]);
    }
}

/// A server that names a parameter which it does not know is asked without it from then on, and keeps its schema.
#[tokio::test]
async fn a_parameter_that_a_server_turns_down_by_name_is_left_out_from_then_on() {
    type Way = fn(&str) -> Value;
    let told = |parameter: &str| json!({"error": {"message": format!("unknown field: `{parameter}`")}});
    let param = |parameter: &str| json!({"error": {"message": "not supported", "param": parameter}});
    let place = |parameter: &str| json!({"detail": [{"loc": ["body", parameter], "msg": "extra field"}]});
    let ways: [(u16, Way); 3] = [(400, told), (400, param), (422, place)];
    for (status, way) in ways {
        for (parameter, other) in [("seed", "stream_options"), ("stream_options", "seed")] {
            let mock = mock(move |request| match request.body().get(parameter) {
                Some(_) => Response::json(status, &way(parameter)),
                None => Response::say("{\"why\": \"so\"}"),
            });
            let model = model(&mock);
            // Seats that share a model ask at the same time: each call is judged by what it was sent with.
            let asked = call_with_schema();
            let both = tokio::join!(ask(&*model, &asked, true), ask(&*model, &asked, true));
            for (answer, _) in [both.0, both.1] {
                assert_eq!(answer.unwrap_err().kind, FaultKind::Unsupported, "{parameter}");
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

/// Only what was sent can be left out: a server that goes on naming it does not like something else.
#[tokio::test]
async fn a_parameter_is_left_out_once_and_no_other_word_is_taken_for_it() {
    for (words, kinds) in [
        ("what a seed is", [FaultKind::Unsupported, FaultKind::Rejected]),
        ("stream_options", [FaultKind::Rejected, FaultKind::Rejected]),
        ("seeds and reseed", [FaultKind::Rejected, FaultKind::Rejected]),
    ] {
        let mock = mock(move |_| Response::error(400, words));
        let model = model(&mock);
        for kind in kinds {
            assert_eq!(ask(&*model, &call(), false).await.0.unwrap_err().kind, kind, "{words}");
        }
    }
}

#[tokio::test]
async fn a_request_that_is_wrong_in_itself_does_not_cost_the_schema() {
    let mock = mock(|request| match request.messages().len() {
        1 => Response::say("{\"why\": \"so\"}"),
        _ => Response::error(400, "the context is too long"),
    });
    let model = model(&mock);
    for kind in [FaultKind::Unsupported, FaultKind::Rejected] {
        let fault = ask(&*model, &call_with_schema(), false).await.0.unwrap_err();
        assert_eq!(fault.kind, kind);
        assert!(fault.message.contains("the context is too long"), "{}", fault.message);
    }
    let short = Call { messages: vec![message(Role::User, "Short?")], ..call_with_schema() };
    ask(&*model, &short, false).await.0.unwrap();
    let with: Vec<bool> = mock.requests().iter().map(|request| request.schema().is_some()).collect();
    assert_eq!(with, [true, false, true]);
}

/// A server that takes `stream: true` for nothing answers with plain JSON.
#[tokio::test]
async fn a_server_that_does_not_stream_is_asked_for_whole_answers_from_then_on() {
    let body = json!({"choices": [{"message": {"role": "assistant", "content": "Yes, sell."}}]});
    let mock = mock(move |_| Response::json(200, &body));
    let model = model(&mock);
    let (fault, seen) = ask(&*model, &call(), true).await;
    assert_eq!((fault.unwrap_err().kind, seen.as_str()), (FaultKind::Garbled, ""));
    for _ in 0..2 {
        let (answer, seen) = ask(&*model, &call(), true).await;
        assert_eq!((answer.unwrap().text.as_str(), seen.as_str()), ("Yes, sell.", "Yes, sell."));
    }
    let streams: Vec<bool> = mock.requests().iter().map(|request| request.streams()).collect();
    assert_eq!(streams, [true, false, false], "one request a call");
}

#[tokio::test]
async fn a_stream_that_breaks_off_or_a_page_in_its_place_does_not_cost_the_streaming() {
    type Answer = fn() -> Response;
    let cases: [(Answer, [bool; 3]); 3] = [
        (|| Response::spoilt("long enough to be cut", Spoilt::Truncate), [true, true, true]),
        (|| Response::raw(200, "text/event-stream", "data: {\"choices\": []}\n\n"), [true, true, true]),
        // A page is no stream, but neither is it a whole answer.
        (Response::html, [true, false, true]),
    ];
    for (answer, expected) in cases {
        let mock = mock(move |_| answer());
        let model = model(&mock);
        for _ in 0..3 {
            let fault = ask(&*model, &call(), true).await.0.unwrap_err();
            assert_eq!(fault.kind, FaultKind::Garbled, "{}", fault.message);
        }
        let streams: Vec<bool> = mock.requests().iter().map(|request| request.streams()).collect();
        assert_eq!(streams, expected);
    }
}

/// An answer without words is the debate's to judge: it is asked for once more as any malformed one is.
#[tokio::test]
async fn an_answer_without_words_is_an_answer() {
    for text in ["", " \n"] {
        let mock = mock(move |_| Response::say(text).tokens(90, 0, 3));
        for streamed in [false, true] {
            let answer = ask(&*model(&mock), &call(), streamed).await.0.unwrap();
            assert_eq!((answer.text.as_str(), answer.finish), ("", Finish::End), "streamed: {streamed}");
            assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (90, 3), "and paid for");
        }
    }
    let body = json!({"choices": [{"message": {"role": "assistant", "content": null}}]});
    let mock = mock(move |_| Response::json(200, &body));
    assert_eq!(ask(&*model(&mock), &call(), false).await.0.unwrap().text, "");
}

#[tokio::test]
async fn length_and_refusals_are_told_apart_from_an_end() {
    type Answer = fn() -> Response;
    let cases: [(Answer, Finish, &str); 4] = [
        (|| Response::say("Half of").finish("length"), Finish::Length, "Half of"),
        (|| Response::say("").finish("length"), Finish::Length, ""),
        (|| Response::say("I").finish("content_filter"), Finish::Refused, "I"),
        (
            || Response::say("").refusing("I cannot help with that."),
            Finish::Refused,
            "I cannot help with that.",
        ),
    ];
    for (answer, finish, text) in cases {
        let mock = mock(move |_| answer());
        for streamed in [false, true] {
            let answer = ask(&*model(&mock), &call(), streamed).await.0.unwrap();
            assert_eq!((answer.finish, answer.text.as_str()), (finish, text), "streamed: {streamed}");
        }
    }
}

#[tokio::test]
async fn words_without_a_usage_have_none() {
    let body = json!({"choices": [{"message": {"role": "assistant", "content": PROMPT}}]});
    let mock = mock(move |_| Response::json(200, &body));
    let answer = ask(&*model(&mock), &call(), false).await.0.unwrap();
    assert_eq!(answer.usage, Usage::default());
}

/// Keys are "never in log, store, error or `--events`", also when a server says back what it was sent.
#[tokio::test]
async fn a_key_that_the_server_says_back_is_taken_out_of_the_answer() {
    let mock = mock(|_| Response::say(format!("You sent {KEY}, thank you.")));
    for streamed in [false, true] {
        let (answer, _) = ask(&*model(&mock), &call(), streamed).await;
        assert_eq!(answer.unwrap().text, "You sent [key removed], thank you.");
    }
}

/// Some compatible servers end a stream without its last mark. An answer whose end was seen is whole.
#[tokio::test]
async fn a_stream_without_its_last_mark_is_an_answer_if_the_model_had_stopped() {
    let frame = |delta: &str, stop: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{stop}}}]}}\n\n")
    };
    let whole = [frame("{\"content\":\"Tabs.\"}", "null"), frame("{}", "\"stop\"")].concat();
    let cut = frame("{\"content\":\"Tabs.\"}", "null");
    let served = mock(move |_| Response::raw(200, "text/event-stream", whole.clone()));
    let said = ask(&*model(&served), &call(), true).await.0.unwrap();
    assert_eq!((said.text.as_str(), said.finish), ("Tabs.", Finish::End));
    let served = mock(move |_| Response::raw(200, "text/event-stream", cut.clone()));
    assert!(ask(&*model(&served), &call(), true).await.0.is_err(), "no end was seen");
}
