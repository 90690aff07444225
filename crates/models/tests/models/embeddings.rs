//! `embeddings/...`: how similar texts are, by a server's embeddings and by shared words.

use crate::support::{KEY, PROMPT, all_wires, ask, call, message, mock};
use agon_core::CallUsage;
use agon_engine::{CallFaultKind, FinishReason, MessageRole, ModelCall, ModelPrice, ModelSource};
use agon_mock::{ConnectionFault, MockResponse};
use agon_models::{ModelCatalogue, ModelsConfig};
use serde_json::{Value, json};

fn asking(texts: &Value) -> ModelCall {
    ModelCall {
        messages: vec![
            message(MessageRole::System, "ignored"),
            message(MessageRole::User, &texts.to_string()),
        ],
        ..call()
    }
}

#[tokio::test]
async fn a_servers_embeddings_become_a_similarity_matrix() {
    let mock = mock(|_| MockResponse::say("").tokens(12, 0, 0));
    for (provider, path, key) in [
        ("openai", "/v1/embeddings", "authorization"),
        ("gemini", "/v1beta/openai/embeddings", "authorization"),
    ] {
        let model = all_wires(&mock).model(&format!("embeddings/{provider}/small")).unwrap();
        assert_eq!(
            (model.name(), model.provider()),
            (format!("embeddings/{provider}/small").as_str(), provider)
        );
        for streamed in [false, true] {
            let texts = json!(["sell now", "sell now", "keep it"]);
            let (answer, seen) = ask(&*model, &asking(&texts), streamed).await;
            let answer = answer.unwrap();
            let want = json!({"similarity": [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]});
            assert_eq!(serde_json::from_str::<Value>(&answer.text).unwrap(), want);
            assert_eq!(answer.usage, CallUsage { input_tokens: 12, ..CallUsage::default() });
            assert_eq!(
                (answer.finish, seen),
                (FinishReason::End, if streamed { answer.text } else { String::new() })
            );
        }
        let request = mock.requests().pop().unwrap();
        assert_eq!((request.path.as_str(), request.model()), (path, "small"));
        assert_eq!(request.inputs(), ["sell now", "sell now", "keep it"]);
        assert_eq!(request.header(key), Some(format!("Bearer {KEY}").as_str()));
    }
    assert_eq!(mock.calls(), 4);
}

/// Servers omit fields, and may change the order.
#[tokio::test]
async fn an_answer_may_be_minimal_and_in_any_order() {
    let minimal = json!({"data": [{"embedding": [1, 0]}, {"embedding": [3, 4]}]});
    let reversed = json!({"data": [{"index": 1, "embedding": [3, 4]}, {"index": 0, "embedding": [1, 0]}]});
    for body in [minimal, reversed] {
        let mock = mock(move |_| MockResponse::json(200, &body));
        let model = all_wires(&mock).model("embeddings/openai/m").unwrap();
        let answer = ask(&*model, &asking(&json!(["a", "b"])), false).await.0.unwrap();
        assert_eq!(answer.text, r#"{"similarity":[[1.0,0.6],[0.6,1.0]]}"#);
    }
}

#[tokio::test]
async fn each_failure_has_its_fault_kind() {
    type Answer = fn() -> MockResponse;
    let cases: [(Answer, CallFaultKind, &str); 9] = [
        (|| MockResponse::error(401, "no"), CallFaultKind::Key, "OPENAI_API_KEY"),
        (|| MockResponse::error(404, "no"), CallFaultKind::NoSuchModel, "\"m\""),
        (|| MockResponse::error(429, "slow down"), CallFaultKind::RateLimited, "429"),
        (|| MockResponse::error(400, "too long"), CallFaultKind::Rejected, "too long"),
        (|| MockResponse::error(400, PROMPT), CallFaultKind::Rejected, "400"),
        (MockResponse::html, CallFaultKind::Garbled, "no embeddings"),
        (|| MockResponse::broken("x", ConnectionFault::Truncate), CallFaultKind::Garbled, "was cut off"),
        (
            || MockResponse::json(200, &json!({"data": [{"embedding": [1.0]}]})),
            CallFaultKind::Garbled,
            "each text",
        ),
        (
            || MockResponse::json(200, &json!({"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]})),
            CallFaultKind::Garbled,
            "same length",
        ),
    ];
    for (answer, kind, named) in cases {
        let mock = mock(move |_| answer());
        let model = all_wires(&mock).model("embeddings/openai/m").unwrap();
        let fault = ask(&*model, &asking(&json!([PROMPT, "b"])), false).await.0.unwrap_err();
        assert_eq!(fault.kind, kind, "{}", fault.message);
        assert!(fault.message.contains(named), "{}", fault.message);
        assert!(!fault.message.contains("confidential") && !fault.message.contains(KEY), "{}", fault.message);
    }
}

#[tokio::test]
async fn an_ask_that_is_not_a_list_is_rejected_before_any_call() {
    let mock = mock(|_| panic!("a call"));
    for model in ["embeddings/openai/m", "embeddings/lexical"] {
        let model = all_wires(&mock).model(model).unwrap();
        let fault = ask(&*model, &asking(&json!({"a": 1})), false).await.0.unwrap_err();
        assert_eq!(fault.kind, CallFaultKind::Rejected);
        let none = ask(&*model, &asking(&json!([])), false).await.0.unwrap();
        assert_eq!(none.text, r#"{"similarity":[]}"#, "no texts, no call");
    }
}

#[tokio::test]
async fn lexical_embeddings_need_no_configuration() {
    let catalogue = ModelCatalogue::new(ModelsConfig::default(), |_| None);
    let model = catalogue.model("embeddings/lexical").unwrap();
    assert_eq!((model.price(), model.provider()), (ModelPrice::Free, "lexical"));
    let texts = json!(["Measure first.", "First, measure twice!", "Ship it."]);
    let answer = ask(&*model, &asking(&texts), false).await.0.unwrap();
    assert_eq!(answer.text, r#"{"similarity":[[1.0,0.8165,0.0],[0.8165,1.0,0.0],[0.0,0.0,1.0]]}"#);
    assert_eq!(answer.usage, CallUsage::default());
}

#[test]
fn an_unknown_name_lists_the_embeddings() {
    let catalogue = ModelCatalogue::new(ModelsConfig::default(), |_| Some(KEY.into()));
    for name in ["embeddings/nothing", "embeddings/openai/", "embeddings/nobody/m", "embeddings/anthropic/m"]
    {
        let why = catalogue.model(name).err().unwrap().0;
        assert!(why.contains("embeddings/lexical") && why.contains("embeddings/openai/"), "{name}: {why}");
    }
}
