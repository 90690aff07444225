//! What every wire format must do, streamed or not.

use std::time::Duration;

use crate::support::{KEY, WIRES, all_wires, ask, call, message, mock, model_of, ways};
use agon_core::CallUsage;
use agon_engine::{CallFaultKind, FinishReason, MessageRole, ModelCall, ModelSource};
use agon_mock::{ConnectionFault, MockResponse};
use agon_models::ModelCatalogue;
use serde_json::{Value, json};

/// Cached tokens are part of the input tokens.
#[tokio::test]
async fn an_answer_has_its_usage() {
    for (wire, streamed) in ways() {
        // Gemini does not report cache writes.
        let written = if wire == "gemini" { 0 } else { 150 };
        let mock =
            mock(move |_| MockResponse::say("Sell in spring.").tokens(1200, 1000, 4).cache_write(written));
        let (answer, seen) = ask(&*model_of(&mock, wire), &call(), streamed).await;
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), answer.finish), ("Sell in spring.", FinishReason::End), "{wire}");
        assert_eq!(answer.model, format!("{wire}/m"));
        let usage = CallUsage {
            input_tokens: 1200,
            cached_input_tokens: 1000,
            cache_write_tokens: written,
            output_tokens: 4,
            ..CallUsage::default()
        };
        assert_eq!(answer.usage, usage, "{wire}, streamed: {streamed}");
        assert_eq!(seen, if streamed { "Sell in spring." } else { "" }, "{wire}");
        assert_eq!(mock.requests()[0].streams(), streamed, "{wire}: it streams only on request");
    }
}

/// A server may say any number. The sums over a debate must not overflow.
#[tokio::test]
async fn an_absurd_usage_is_no_more_than_a_call_can_have() {
    const ABSURD: u64 = 1 << 62;
    for (wire, streamed) in ways() {
        let mock = mock(move |_| MockResponse::say("Sell.").tokens(ABSURD, ABSURD / 2, ABSURD));
        let (answer, _) = ask(&*model_of(&mock, wire), &call(), streamed).await;
        let CallUsage { input_tokens, cached_input_tokens, output_tokens, .. } = answer.unwrap().usage;
        for count in [input_tokens, cached_input_tokens, output_tokens] {
            assert!(
                (1_000_000_000_000..10_000_000_000_000).contains(&count),
                "{wire}, streamed: {streamed}: {count}"
            );
        }
    }
}

#[tokio::test]
async fn earlier_turns_are_sent_as_turns() {
    let turns = [
        (MessageRole::System, "system", "Rules."),
        (MessageRole::User, "user", "First?"),
        (MessageRole::Assistant, "assistant", "One."),
        (MessageRole::User, "user", "Second?"),
        (MessageRole::Assistant, "assistant", "Two."),
        (MessageRole::User, "user", "Third?"),
    ];
    let asked = ModelCall { messages: turns.map(|(role, _, text)| message(role, text)).to_vec(), ..call() };
    for (wire, streamed) in ways() {
        let mock = mock(|_| MockResponse::say("Three."));
        ask(&*model_of(&mock, wire), &asked, streamed).await.0.unwrap();
        assert_eq!(mock.requests()[0].messages(), turns.map(|(_, role, text)| (role, text)), "{wire}");
    }
}

#[tokio::test]
async fn the_key_is_sent_in_one_header_only() {
    for (wire, header, value) in [
        ("openai", "authorization", format!("Bearer {KEY}")),
        ("anthropic", "x-api-key", KEY.to_owned()),
        ("gemini", "x-goog-api-key", KEY.to_owned()),
    ] {
        for streamed in [false, true] {
            let mock = mock(|_| MockResponse::say("Yes."));
            ask(&*model_of(&mock, wire), &call(), streamed).await.0.unwrap();
            let request = &mock.requests()[0];
            assert_eq!(request.header(header), Some(value.as_str()), "{wire}");
            let with_key = request.headers.iter().filter(|(_, value)| value.contains(KEY)).count();
            assert_eq!(with_key, 1, "{wire}");
            assert!(!request.path.contains(KEY) && !request.body().to_string().contains(KEY), "{wire}");
        }
    }
}

/// "A request that comes from a debate is refused (header)": so every call says that it comes from one.
#[tokio::test]
async fn every_call_says_which_debate_it_belongs_to() {
    for wire in WIRES {
        let mock = mock(|_| MockResponse::say("Yes."));
        for (debate, value) in [("k3v9q2", "k3v9q2"), ("a\nb", "unnamed")] {
            let asked = ModelCall { debate: debate.into(), ..call() };
            ask(&*model_of(&mock, wire), &asked, false).await.0.unwrap();
            let request = mock.requests().pop().unwrap();
            assert_eq!(request.header(agon_models::DEBATE_HEADER), Some(value), "{wire}");
        }
    }
}

#[tokio::test]
async fn a_model_name_is_sent_unchanged_and_sets_no_option() {
    for wire in WIRES {
        let mock = mock(|_| MockResponse::say("Yes."));
        let catalogue = all_wires(&mock);
        for name in [
            "m-high",
            "m-none",
            "a::b",
            "claude-sonnet-4-5",
            "claude-opus-5",
            "gemini-2.5-pro",
            "gpt-6",
            "gpt-4o",
        ] {
            let model = catalogue.model(&format!("{wire}/{name}")).unwrap();
            ask(&*model, &call(), false).await.0.unwrap();
            let request = mock.requests().pop().unwrap();
            assert_eq!(request.model(), name, "{wire}");
            let body = request.body();
            let thinking = body.pointer("/generationConfig/thinkingConfig");
            let options = [
                "reasoning_effort",
                "thinking",
                "output_config",
                "prompt_cache_options",
                "prompt_cache_retention",
            ];
            assert!(
                thinking.is_none() && options.iter().all(|key| body.get(key).is_none()),
                "{wire} {name}: {body}"
            );
        }
    }
}

#[tokio::test]
async fn the_output_limit_is_sent_and_the_seed_if_the_format_has_one() {
    for (wire, limit, seed) in [
        ("openai", "/max_tokens", Some("/seed")),
        ("anthropic", "/max_tokens", None),
        ("gemini", "/generationConfig/maxOutputTokens", Some("/generationConfig/seed")),
    ] {
        let mock = mock(|_| MockResponse::say("Yes."));
        ask(&*model_of(&mock, wire), &call(), false).await.0.unwrap();
        let request = &mock.requests()[0];
        assert_eq!(request.body().pointer(limit), Some(&json!(77)), "{wire}");
        let sent = seed.and_then(|seed| request.body().pointer(seed));
        assert_eq!(sent, seed.map(|_| json!(0x7FFF_FFFF)).as_ref(), "{wire}");
        assert!(seed.is_some() || !request.body().to_string().contains("seed"), "{wire} has no seed");
    }
}

#[tokio::test]
async fn length_stops_and_refusals_are_recognized() {
    for (wire, streamed) in ways() {
        let refused = "I cannot help with that.";
        let cases = [
            (MockResponse::say("Half of").finish("length"), FinishReason::Length, "Half of"),
            (MockResponse::say("").finish("length"), FinishReason::Length, ""),
            (MockResponse::say("I").finish("content_filter"), FinishReason::Refused, "I"),
            (MockResponse::say("").refusing(refused), FinishReason::Refused, refused),
        ];
        for (answer, finish, text) in cases {
            let mock = mock(move |_| answer.clone());
            let answer = ask(&*model_of(&mock, wire), &call(), streamed).await.0.unwrap();
            assert_eq!(answer.finish, finish, "{wire}, streamed: {streamed}");
            // Gemini gives a reason instead of a text.
            let want = if wire == "gemini" && text == refused {
                "The prompt was blocked: PROHIBITED_CONTENT."
            } else {
                text
            };
            assert_eq!(answer.text, want, "{wire}, streamed: {streamed}");
            assert!(answer.usage.input_tokens == 100 || text == refused, "{wire}: it is charged for");
        }
    }
    for reason in ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII"] {
        let mock = mock(move |_| MockResponse::say("I").finish(reason));
        for streamed in [false, true] {
            let answer = ask(&*model_of(&mock, "gemini"), &call(), streamed).await.0.unwrap();
            assert_eq!(answer.finish, FinishReason::Refused, "{reason}");
        }
    }
}

#[tokio::test]
async fn each_status_has_its_fault_kind() {
    let cases = [
        (400, CallFaultKind::Rejected, "it says: a short reason"),
        (401, CallFaultKind::Key, "_API_KEY"),
        (402, CallFaultKind::Key, "credit"),
        (403, CallFaultKind::Key, "_API_KEY"),
        (404, CallFaultKind::NoSuchModel, "\"m\" at http://127.0.0.1"),
        (302, CallFaultKind::Rejected, "base URL"),
        (408, CallFaultKind::Unavailable, "408"),
        (413, CallFaultKind::Rejected, "413"),
        (422, CallFaultKind::Rejected, "422"),
        (429, CallFaultKind::RateLimited, "429"),
        (500, CallFaultKind::Unavailable, "500"),
        (503, CallFaultKind::Unavailable, "503"),
        (529, CallFaultKind::Unavailable, "529"),
    ];
    for (wire, streamed) in ways() {
        for (status, kind, named) in cases {
            let mock =
                mock(move |_| MockResponse::error(status, "a short reason").header("Retry-After", "3"));
            let fault = ask(&*model_of(&mock, wire), &call(), streamed).await.0.unwrap_err();
            assert_eq!(fault.kind, kind, "{wire} {status}, streamed: {streamed}: {}", fault.message);
            assert!(
                fault.message.contains(named) && fault.message.contains(wire),
                "{status}: {}",
                fault.message
            );
            assert_eq!(fault.retry_after, Some(Duration::from_secs(3)), "{wire} {status}");
            assert_eq!(mock.calls(), 1, "a model never retries");
        }
    }
}

#[tokio::test]
async fn an_unusable_answer_is_garbled() {
    type Answer = fn() -> MockResponse;
    let cases: [(&str, Answer); 9] = [
        ("html", MockResponse::html),
        ("html as JSON", || MockResponse::raw(200, "application/json", "\n<html></html>")),
        ("many values", || {
            MockResponse::raw(200, "application/json", format!("[{}]", "{},".repeat(600_000)))
        }),
        ("empty", MockResponse::empty),
        ("malformed", MockResponse::malformed),
        ("half an event", || {
            MockResponse::raw(200, "text/event-stream", "event: message_start\ndata: {\"choi\n\n")
        }),
        ("other JSON", || MockResponse::json(200, &json!({"hello": "world"}))),
        ("truncated", || MockResponse::broken("long enough to be cut", ConnectionFault::Truncate)),
        ("reset", || MockResponse::broken("long enough to be cut", ConnectionFault::Reset)),
    ];
    for (wire, streamed) in ways() {
        for (what, answer) in cases {
            let mock = mock(move |_| answer());
            let fault = ask(&*model_of(&mock, wire), &call(), streamed).await.0.unwrap_err();
            assert_eq!(
                fault.kind,
                CallFaultKind::Garbled,
                "{wire}, {what}, streamed: {streamed}: {}",
                fault.message
            );
            assert!(!fault.message.contains('<'), "{}", fault.message);
            assert_eq!(
                fault.message.contains("500000 JSON values"),
                what == "many values",
                "{}",
                fault.message
            );
            assert_eq!(fault.message.contains("an HTML page"), what.starts_with("html"), "{}", fault.message);
        }
    }
}

/// Whatever a server sends, only so much of it is read.
#[tokio::test]
async fn an_answer_without_an_end_is_not_read_to_the_end() {
    const JSON: &str = "application/json";
    const STREAM: &str = "text/event-stream";
    let delta = json!({"choices": [{"delta": {"content": "word ".repeat(10_000)}}], "delta": {"text": "x".repeat(50_000)},
        "candidates": [{"content": {"parts": [{"text": "y".repeat(50_000)}]}}]});
    let deltas = format!("data: {delta}\n\n").into_bytes();
    let cases: [(&str, u16, &str, Vec<u8>, CallFaultKind); 5] = [
        ("a body", 200, JSON, vec![b'{'; 64 << 10], CallFaultKind::Garbled),
        ("a page", 200, "text/html", vec![b'<'; 64 << 10], CallFaultKind::Garbled),
        ("one frame", 200, STREAM, vec![b'a'; 64 << 10], CallFaultKind::Garbled),
        ("many frames", 200, STREAM, deltas, CallFaultKind::Garbled),
        ("an error", 500, JSON, vec![b' '; 64 << 10], CallFaultKind::Unavailable),
    ];
    for (wire, streamed) in ways() {
        for (what, status, kind, bytes, expected) in cases.clone() {
            let mock = mock(move |_| MockResponse::endless(status, kind, bytes.clone()));
            let fault = ask(&*model_of(&mock, wire), &call(), streamed).await.0.unwrap_err();
            assert_eq!(fault.kind, expected, "{wire}, {what}, streamed: {streamed}: {}", fault.message);
            assert_eq!(
                fault.message.contains("longer than 16 MB"),
                status == 200 && kind != "text/html",
                "{what}: {}",
                fault.message
            );
        }
    }
}

#[tokio::test]
async fn a_whole_answer_is_read_although_a_stream_was_requested() {
    for wire in WIRES {
        let body = match wire {
            "openai" => json!({"choices": [{"message": {"content": "Yes, sell."}}]}),
            "anthropic" => {
                json!({"content": [{"type": "text", "text": "Yes, "}, {"type": "text", "text": "sell."}]})
            }
            _ => json!({"candidates": [{"content": {"parts": [{"text": "Yes, "}, {"text": "sell."}]}}]}),
        };
        for kind in ["application/json", "text/html; charset=utf-8"] {
            let body = body.to_string();
            let mock = mock(move |_| MockResponse::raw(200, kind, body.clone()));
            let model = model_of(&mock, wire);
            let (answer, seen) = ask(&*model, &call(), true).await;
            let want = ("Yes, sell.", "Yes, sell.");
            assert_eq!((answer.unwrap().text.as_str(), seen.as_str()), want, "{wire} as {kind}");
            assert_eq!(mock.calls(), 1, "{wire}");
        }
    }
}

/// A small server may call all that it sends a page.
#[tokio::test]
async fn a_stream_is_read_whatever_its_type_is() {
    for kind in ["text/event-stream", "text/html; charset=utf-8", "application/json"] {
        let stream =
            "\n: hello\n\ndata: {\"choices\": [{\"delta\": {\"content\": \"Yes.\"}}]}\n\ndata: [DONE]\n\n";
        let mock = mock(move |_| MockResponse::raw(200, kind, stream));
        let (answer, seen) = ask(&*model_of(&mock, "openai"), &call(), true).await;
        assert_eq!((answer.unwrap().text.as_str(), seen.as_str()), ("Yes.", "Yes."), "{kind}");
    }
}

#[tokio::test]
async fn a_key_that_a_server_echoes_is_removed() {
    for (wire, streamed) in ways() {
        let mock = mock(|request| match request.model() {
            "m" => MockResponse::say(format!("You sent {KEY}, thank you.")),
            _ => MockResponse::error(400, &format!("bad key {KEY}")),
        });
        let answer = ask(&*model_of(&mock, wire), &call(), streamed).await.0.unwrap();
        assert_eq!(answer.text, "You sent [key removed], thank you.", "{wire}");
        let other = all_wires(&mock).model(&format!("{wire}/n")).unwrap();
        let fault = ask(&*other, &call(), streamed).await.0.unwrap_err();
        assert!(!format!("{fault:?}").contains(KEY), "{wire}: {fault:?}");
    }
}

#[tokio::test]
async fn a_server_of_any_wire_format_can_be_configured() {
    let mock = mock(|request| MockResponse::say(format!("{:?}", request.wire().unwrap())));
    let kinds = [("a", "openai", mock.url()), ("b", "anthropic", mock.root()), ("c", "gemini", mock.root())];
    let sections = kinds.iter().map(|(name, kind, url)| {
        format!("[providers.{name}]\nkind = \"{kind}\"\nbase_url = \"{url}\"\nkey_env = \"MY_KEY\"\n")
    });
    // A well-known provider keeps its wire format.
    let own = format!("[providers.anthropic]\nbase_url = \"{}\"\n", mock.url());
    let config = toml::from_str(&(sections.collect::<String>() + &own)).unwrap();
    let catalogue = ModelCatalogue::new(config, |name| (name == "MY_KEY").then(|| KEY.into()));
    for (name, spoken) in
        [("a/m", "OpenAi"), ("b/m", "Anthropic"), ("c/m", "Gemini"), ("anthropic/m", "Anthropic")]
    {
        let answer = ask(&*catalogue.model(name).unwrap(), &call(), false).await.0.unwrap();
        assert_eq!(answer.text, spoken, "{name}");
    }
    let keys = ["authorization", "x-api-key", "x-goog-api-key", "x-api-key"];
    let has = mock
        .requests()
        .iter()
        .zip(keys)
        .map(|(request, key)| request.header(key).is_some())
        .collect::<Vec<_>>();
    assert_eq!(has, [true, true, true, false], "there is no key to send");
}

#[tokio::test]
async fn reasoning_is_not_part_of_the_answer() {
    let whole: [(&str, Value); 2] = [
        (
            "anthropic",
            json!({"content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "Sell."}],
                "stop_reason": "end_turn"}),
        ),
        (
            "gemini",
            json!({"candidates": [{"content": {"parts": [{"text": "Hm.", "thought": true}, {"text": "Sell."}]},
                "finishReason": "STOP"}]}),
        ),
    ];
    for (wire, body) in whole {
        let mock = mock(move |_| MockResponse::json(200, &body));
        assert_eq!(ask(&*model_of(&mock, wire), &call(), false).await.0.unwrap().text, "Sell.", "{wire}");
    }
}
