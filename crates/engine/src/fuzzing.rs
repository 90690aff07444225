//! What must hold for any text that a model answers. The tests and the fuzz target `answers` call it.

#![allow(clippy::expect_used, clippy::panic)]

use std::sync::{Arc, LazyLock};

use agon_core::ReplySchema;
use agon_core::reply::without_thinking;
use serde_json::{Value, json};

use crate::FinishReason;
use crate::answer_parsing::{complete_objects, parse_answer};
use crate::prepared_schema::PreparedSchema;

const BYTES_MAX: usize = 4096;

static SCHEMA: LazyLock<Arc<PreparedSchema>> = LazyLock::new(|| {
    let point = json!({"type": "object", "properties": {"quote": {"type": "string"}}, "required": ["quote"]});
    let json = json!({
        "type": "object",
        "properties": {
            "stance": {"enum": ["agree", "disagree"]},
            "why": {"type": "string", "maxLength": 40},
            "score": {"type": "number", "minimum": 0, "maximum": 10},
            "points": {"type": "array", "items": point, "maxItems": 3},
        },
        "required": ["stance"],
        "additionalProperties": false,
    });
    PreparedSchema::of(&Arc::new(ReplySchema { name: "stance".into(), json }))
});

/// An answer that counts conforms to its schema, and a repair neither completes what was cut off, nor chooses between two answers, nor
/// adds a word. The first byte says whether the answer was cut off.
pub fn answers(bytes: &[u8]) {
    let (first, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let text = String::from_utf8_lossy(bytes);
    let finish = if first % 2 == 0 { FinishReason::End } else { FinishReason::Length };
    match parse_answer(Some(&SCHEMA), &text, finish, BYTES_MAX) {
        Ok(value) => check_answer(&value.expect("a schema asks for a value"), &text, finish),
        Err(why) => assert!(!why.trim().is_empty()),
    }
    let plain = parse_answer(None, &text, finish, BYTES_MAX);
    assert!(plain.is_err() || !without_thinking(&text).trim().is_empty());
}

fn check_answer(value: &Value, text: &str, finish: FinishReason) {
    let is_valid = |value: &Value| SCHEMA.validator().expect("it is a JSON Schema").is_valid(value);
    assert!(text.len() <= BYTES_MAX && is_valid(value), "{value} from {text:?}");
    if serde_json::from_str::<Value>(text).is_ok_and(|literal| literal == *value) {
        return;
    }
    let said = without_thinking(text);
    let mut complete: Vec<Value> = complete_objects(said.trim()).into_iter().filter(is_valid).collect();
    complete.dedup();
    let is_literal = complete.contains(value) || serde_json::from_str::<Value>(said.trim()).is_ok();
    assert!(is_literal || finish == FinishReason::End, "{value} was completed from {text:?}");
    assert!(
        serde_json::from_str::<Value>(said.trim()).is_ok() || complete.len() <= 1,
        "{value} was chosen from {text:?}"
    );
    // An escape may stand for any letter.
    if !is_literal && !said.contains('\\') {
        assert_words_are_in(value, &said);
    }
}

/// Every word of every string stands in the text.
fn assert_words_are_in(value: &Value, text: &str) {
    match value {
        Value::String(said) => {
            for word in said.split(|c: char| !c.is_alphanumeric()) {
                assert!(text.contains(word), "{word:?} of {value} is not in {text:?}");
            }
        }
        Value::Array(values) => values.iter().for_each(|value| assert_words_are_in(value, text)),
        Value::Object(fields) => fields.values().for_each(|value| assert_words_are_in(value, text)),
        _ => {}
    }
}

#[test]
fn no_answer_at_all_counts_that_its_seat_did_not_give() {
    const PIECES: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        ":",
        ",",
        "\n",
        " ",
        "\\",
        "stance",
        "\"stance\"",
        "\"agree\"",
        "agree",
        "disagree",
        "\"why\"",
        "\"because",
        "score",
        "7",
        "-1e9",
        "\"points\"",
        "\"quote\"",
        "```json\n",
        "```",
        "<think>",
        "</think>",
        "null",
        "true",
        "//",
        "/*",
        "*/",
        "{\"stance\": \"agree\"}",
        "{\"stance\": \"disagree\", \"why\": \"x",
        "\u{1f600}",
        "\\ud83d",
        "\u{201c}",
    ];
    agon_fuzzing::check("answers", PIECES, answers);
}
