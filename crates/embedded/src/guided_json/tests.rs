//! Every answer is valid, whatever the model prefers to write and however few tokens it may use.

mod fixtures;
mod real_model;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::schema_bounds::bounded_schema;
use super::{GrammarCompiler, JsonPosition, write_json};
use crate::conversation::StopReason;
use fixtures::{
    TokenPreference, any_schema, assert_valid, fewest_tokens, object_schema, protocol_schemas,
    test_vocabulary, write_as,
};

const PREFERENCES: &[TokenPreference] = &[
    TokenPreference::Anything,
    TokenPreference::EndlessStrings,
    TokenPreference::Digits,
    TokenPreference::MultibyteCharacters,
    TokenPreference::Endings,
    TokenPreference::Openings,
];

#[test]
fn every_reply_to_the_schemas_of_all_protocols_is_valid() {
    let vocabulary = test_vocabulary();
    let compiler = GrammarCompiler::new(&vocabulary).unwrap();
    let schemas = protocol_schemas();
    assert!(schemas.len() >= 4, "the protocols ask with more than {} schemas", schemas.len());
    for schema in &schemas {
        let least = fewest_tokens(&compiler, schema);
        for (seed, preference) in (0..).zip(PREFERENCES.iter().cycle().take(24)) {
            for most in [least, least + 1, least + 37, 700] {
                let what = format!("{preference:?} {seed} {most}");
                let answer = write_as(&compiler, &vocabulary, schema, *preference, seed, most).unwrap();
                assert_valid(schema, &answer, most, &what);
            }
        }
    }
}

#[test]
fn too_few_tokens_are_refused_before_the_model_is_computed() {
    let vocabulary = test_vocabulary();
    let compiler = GrammarCompiler::new(&vocabulary).unwrap();
    for schema in protocol_schemas() {
        let least = fewest_tokens(&compiler, &schema);
        let why = write_as(&compiler, &vocabulary, &schema, TokenPreference::Anything, 1, least - 1)
            .unwrap_err()
            .to_string();
        assert!(why.contains(&format!("at least {least} tokens")), "{why}");
    }
}

#[test]
fn a_shortened_answer_says_so_and_still_has_the_models_own_numbers() {
    let vocabulary = test_vocabulary();
    let compiler = GrammarCompiler::new(&vocabulary).unwrap();
    let schema = json!({"type": "object", "properties": {
        "why": {"type": "string"}, "sure": {"type": "number", "minimum": 0, "maximum": 1},
    }, "required": ["why", "sure"]});
    let most = fewest_tokens(&compiler, &schema) + 5;
    let sure = |seed| {
        let answer =
            write_as(&compiler, &vocabulary, &schema, TokenPreference::EndlessStrings, seed, most).unwrap();
        assert_eq!(answer.json.stop, StopReason::Length);
        serde_json::from_str::<Value>(&answer.json.text).unwrap()["sure"].to_string()
    };
    let numbers: std::collections::BTreeSet<String> = (0..20).map(sure).collect();
    assert!(numbers.len() > 5, "the model's own numbers differ: {numbers:?}");
    let free = write_as(&compiler, &vocabulary, &schema, TokenPreference::Endings, 1, 700).unwrap();
    assert_eq!(free.json.stop, StopReason::Done);
}

#[test]
fn the_same_seed_writes_the_same_text() {
    let vocabulary = test_vocabulary();
    let (one, other) =
        (GrammarCompiler::new(&vocabulary).unwrap(), GrammarCompiler::new(&vocabulary).unwrap());
    for schema in protocol_schemas() {
        let say = |compiler: &GrammarCompiler| {
            write_as(compiler, &vocabulary, &schema, TokenPreference::Anything, 7, 1000).unwrap().json.text
        };
        assert_eq!(say(&one), say(&other));
        // The stored grammar gives the same text.
        assert_eq!(say(&one), say(&one));
    }
}

#[test]
fn forced_tokens_are_not_computed() {
    let vocabulary = test_vocabulary();
    let compiler = GrammarCompiler::new(&vocabulary).unwrap();
    let schema = json!({"type": "object", "properties": {"a_long_name_of_a_field": {"type": "boolean"}}});
    let answer = write_as(&compiler, &vocabulary, &schema, TokenPreference::Anything, 3, 100).unwrap();
    assert!(answer.computed <= 2, "{} of {} tokens", answer.computed, answer.json.tokens);
    assert!(answer.json.tokens > 5);
}

#[test]
fn a_schema_that_no_value_follows_is_refused() {
    let vocabulary = test_vocabulary();
    let compiler = GrammarCompiler::new(&vocabulary).unwrap();
    let schema = json!({"type": "string", "minLength": 5, "maxLength": 3});
    let why =
        write_as(&compiler, &vocabulary, &schema, TokenPreference::Anything, 3, 100).unwrap_err().to_string();
    assert!(why.contains("cannot be guided by its schema"), "{why}");
}

#[test]
fn a_number_never_has_an_exponent() {
    let vocabulary = test_vocabulary();
    let compiler = GrammarCompiler::new(&vocabulary).unwrap();
    let mut guided = compiler.start(&json!({"type": "number"})).unwrap();
    let token = |text: &str| vocabulary.encode(text).unwrap()[0];
    guided.append(token("4")).unwrap();
    let mut logits = vec![0.0; vocabulary.len()];
    guided.mask(&mut logits).unwrap();
    let is_allowed = |text: &str| logits[token(text) as usize] == 0.0;
    assert!(is_allowed("2") && !is_allowed("E") && !is_allowed("e"));
}

#[test]
fn every_string_and_list_gets_a_limit_and_none_exceeds_the_given_one() {
    let given = json!({"type": "object", "properties": {
        "free": {"type": "string"},
        "short": {"type": "string", "maxLength": 5},
        "long": {"type": "string", "maxLength": 32_000},
        "exact": {"type": "string", "minLength": 60, "maxLength": 60},
        "list": {"type": "array", "items": {"type": "string"}, "minItems": 3},
        "number": {"type": "number"},
        "none": false,
    }});
    let schema = bounded_schema(&given, 100);
    let at = |pointer: &str| schema.pointer(pointer).and_then(Value::as_f64).unwrap();
    assert!(at("/properties/free/maxLength") < 400.0);
    assert_eq!(at("/properties/short/maxLength"), 5.0);
    assert!(at("/properties/long/maxLength") < 400.0);
    assert_eq!(at("/properties/exact/maxLength"), 60.0);
    assert_eq!(at("/properties/list/maxItems"), 3.0);
    assert!(at("/properties/list/items/maxLength") < 400.0);
    assert!(at("/properties/number/maximum") < 1e15 && at("/properties/number/minimum") > -1e15);
    assert_eq!(schema["required"], json!(["free", "short", "long", "exact", "list", "number"]));
    let roomy = bounded_schema(&given, 10_000);
    assert!(
        roomy["properties"]["free"]["maxLength"].as_i64()
            > schema["properties"]["free"]["maxLength"].as_i64()
    );
}

#[test]
fn the_position_in_the_json_is_tracked() {
    let after = |text: &str| {
        let mut position = JsonPosition::default();
        position.advance(text.as_bytes());
        position
    };
    assert_eq!(after(r#"{"a":"#), JsonPosition::Between);
    assert_eq!(after(r#"{"a":"b"#), JsonPosition::String { escaped: false });
    assert_eq!(after(r#"{"a":"b\"#), JsonPosition::String { escaped: true });
    assert_eq!(after(r#"{"a":"b\""#), JsonPosition::String { escaped: false });
    assert_eq!(after(r#"{"a":"b\\""#), JsonPosition::Between);
    assert_eq!(after(r#"{"a":-0.5e"#), JsonPosition::Number { length: 5 });
    assert_eq!(after(r#"{"a":true"#), JsonPosition::Between);
    assert_eq!(after(r#"[12,"#), JsonPosition::Between);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]
    #[test]
    fn every_reply_to_any_schema_is_valid(
        schema in prop::collection::btree_map("[a-z]{1,6}", (any_schema(), any::<bool>()), 0..4).prop_map(object_schema),
        preference in prop::sample::select(PREFERENCES),
        seed in any::<u64>(),
        more in 0_usize..200,
    ) {
        thread_local! {
            static FIXTURE: (crate::vocabulary::TokenVocabulary, GrammarCompiler) = {
                let vocabulary = test_vocabulary();
                let compiler = GrammarCompiler::new(&vocabulary).unwrap();
                (vocabulary, compiler)
            };
        }
        FIXTURE.with(|(vocabulary, compiler)| {
            let most = fewest_tokens(compiler, &schema) + more;
            let answer = write_as(compiler, vocabulary, &schema, preference, seed, most).unwrap();
            assert_valid(&schema, &answer, most, &format!("{preference:?}"));
        });
    }
}

/// A model is created on one thread and used on another.
#[test]
fn a_compiler_and_its_texts_are_send() {
    fn assert_send<T: Send>(_: &T) {}
    let vocabulary = test_vocabulary();
    let compiler = GrammarCompiler::new(&vocabulary).unwrap();
    assert_send(&compiler);
    assert_send(&compiler.start(&json!({"type": "null"})).unwrap());
    let _: fn(&GrammarCompiler, super::JsonRequest<'_>) -> _ = write_json;
}
