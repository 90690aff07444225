//! The real small model. `AGON_TEST_MODELS` names the folder that `agon models pull smollm2` has put it into; without that
//! variable these tests are skipped.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr
)]

use std::sync::Arc;

use agon_core::{Phase, ReplySchema};
use agon_embedded::model_files::ModelFileStore;
use agon_embedded::{EmbeddedModel, EmbeddedSettings, SMOLLM2};
use agon_engine::{CallMessage, MessageRole, Model, ModelCall};
use serde_json::{Value, json};

fn model() -> Option<EmbeddedModel> {
    let Some(folder) = std::env::var_os("AGON_TEST_MODELS") else {
        eprintln!("skipped: AGON_TEST_MODELS is not set");
        return None;
    };
    Some(EmbeddedModel::new(SMOLLM2, Some(ModelFileStore::new(folder)), EmbeddedSettings::default()).unwrap())
}

fn call(question: &str, schema: Option<Value>, seed: u64) -> ModelCall {
    ModelCall {
        debate: "d".into(),
        seat: "debater-1".into(),
        ask: 1,
        attempt: 1,
        is_again: false,
        is_repair: false,
        phase: Phase::new("answer", 0),
        label: None,
        about: None,
        question: String::new(),
        messages: vec![
            CallMessage::new(MessageRole::System, "Rules."),
            CallMessage::new(MessageRole::User, question),
        ],
        schema: schema.map(|json| Arc::new(ReplySchema { name: "x".into(), json })),
        max_output_tokens: 2_000,
        seed,
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "side": {"description": "Are you for it?", "type": "string", "enum": ["for", "against"]},
            "why": {"description": "What is the strongest reason for your answer?", "type": "string", "maxLength": 400},
            "sure": {"description": "How sure are you, from 0 to 1?", "type": "number", "minimum": 0, "maximum": 1},
        },
        "required": ["side", "why", "sure"],
        "additionalProperties": false,
    })
}

// As far as a test can judge: the text begins and ends like a sentence, without control tokens or JSON punctuation.
#[tokio::test]
async fn fifty_of_fifty_structured_replies_are_valid_sentences() {
    let Some(model) = model() else { return };
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for seed in 0..50 {
        let text = model
            .call(&call("Should children learn chess at school?", Some(schema()), seed), None)
            .await
            .unwrap()
            .text;
        let value: Value = serde_json::from_str(&text).expect(&text);
        assert!(validator.is_valid(&value), "seed {seed}: {value}");
        let why = value["why"].as_str().unwrap();
        assert!(
            why.split_whitespace().count() >= 3 && why.starts_with(char::is_uppercase),
            "seed {seed}: {why}"
        );
        assert!(why.ends_with(['.', '!', '?', '\u{2026}']), "seed {seed}: {why}");
        assert!(!why.contains(['{', '}', '<', '|']), "seed {seed}: {why}");
    }
}

#[tokio::test]
async fn the_same_seed_gives_the_same_answer() {
    let (Some(one), Some(other)) = (model(), model()) else { return };
    let ask = call("Should children learn chess at school? Answer in two sentences.", None, 5);
    let first = one.call(&ask, None).await.unwrap().text;
    one.call(&call("Is tea better than coffee?", None, 1), None).await.unwrap();
    assert_eq!(one.call(&ask, None).await.unwrap().text, first);
    assert_eq!(other.call(&ask, None).await.unwrap().text, first);
    assert!(first.split_whitespace().count() > 8, "{first}");
}

// The chat template and the special tokens are right: the model understands the question and ends by itself.
#[tokio::test]
async fn it_answers_a_question_and_stops() {
    let Some(model) = model() else { return };
    let answer = model
        .call(&call("What is the capital of France? Answer in one sentence.", None, 1), None)
        .await
        .unwrap();
    assert!(answer.text.contains("Paris"), "{}", answer.text);
    assert!(answer.usage.output_tokens < 60, "{:?}", answer.usage);
}
