//! The small model itself. Its file is found in the folder that `AGON_TEST_MODELS` names, where `agon models pull smollm2` has put
//! it; without that variable these tests say that they did not run.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr
)]

use std::sync::Arc;

use agon_core::{Phase, Schema};
use agon_embedded::{Embedded, SMOLLM2, Settings};
use agon_engine::{Call, Message, Model, Role};
use agon_weights::Shelf;
use serde_json::{Value, json};

fn model() -> Option<Embedded> {
    let Some(folder) = std::env::var_os("AGON_TEST_MODELS") else {
        eprintln!("not run: AGON_TEST_MODELS names no folder with the model's file");
        return None;
    };
    Some(Embedded::new(SMOLLM2, Some(Shelf::new(folder)), Settings::default()).unwrap())
}

fn call(question: &str, schema: Option<Value>, seed: u64) -> Call {
    Call {
        debate: "d".into(),
        seat: "debater-1".into(),
        ask: 1,
        attempt: 1,
        phase: Phase::new("answer", 0),
        label: None,
        about: None,
        messages: vec![Message::new(Role::System, "Rules."), Message::new(Role::User, question)],
        schema: schema.map(|json| Arc::new(Schema { name: "x".into(), json })),
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

// "50 of 50 structured replies valid", and "made of sensible sentences" as far as that can be told without reading them: words of English
// that begin and end like a sentence, without control tokens or marks of JSON.
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

// "same seed, same words": after something else has been asked, and in another process's place.
#[tokio::test]
async fn the_same_seed_says_the_same_words() {
    let (Some(one), Some(other)) = (model(), model()) else { return };
    let ask = call("Should children learn chess at school? Answer in two sentences.", None, 5);
    let first = one.call(&ask, None).await.unwrap().text;
    one.call(&call("Is tea better than coffee?", None, 1), None).await.unwrap();
    assert_eq!(one.call(&ask, None).await.unwrap().text, first);
    assert_eq!(other.call(&ask, None).await.unwrap().text, first);
    assert!(first.split_whitespace().count() > 8, "{first}");
}

// "the model's chat template and special tokens handled right": it ends by itself, and knows what it was asked.
#[tokio::test]
async fn it_answers_a_question_and_stops() {
    let Some(model) = model() else { return };
    let said = model
        .call(&call("What is the capital of France? Answer in one sentence.", None, 1), None)
        .await
        .unwrap();
    assert!(said.text.contains("Paris"), "{}", said.text);
    assert!(said.usage.output_tokens < 60, "{:?}", said.usage);
}
