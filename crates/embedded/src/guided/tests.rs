//! "so that *every* structured reply is valid": whatever the model would say, and however little it may.

mod real;
mod stage;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::bounds::bounded;
use super::place::Place;
use super::{Guide, write};
use crate::speaker::Stop;
use stage::{Mood, any_schema, keeps, least_tokens, object, schemas, vocabulary, written};

const MOODS: &[Mood] =
    &[Mood::Random, Mood::Endless, Mood::Counting, Mood::Foreign, Mood::Ending, Mood::Opening];

#[test]
fn every_reply_to_the_schemas_of_all_protocols_is_valid() {
    let vocabulary = vocabulary();
    let guide = Guide::new(&vocabulary).unwrap();
    let schemas = schemas();
    assert!(schemas.len() >= 4, "the protocols ask with more than {} schemas", schemas.len());
    for schema in &schemas {
        let least = least_tokens(&guide, schema);
        for (seed, mood) in (0..).zip(MOODS.iter().cycle().take(24)) {
            for most in [least, least + 1, least + 37, 700] {
                let what = format!("{mood:?} {seed} {most}");
                let answer = written(&guide, &vocabulary, schema, *mood, seed, most).unwrap();
                keeps(schema, &answer, most, &what);
            }
        }
    }
}

#[test]
fn too_few_tokens_are_refused_before_the_model_is_asked() {
    let vocabulary = vocabulary();
    let guide = Guide::new(&vocabulary).unwrap();
    for schema in schemas() {
        let least = least_tokens(&guide, &schema);
        let why = written(&guide, &vocabulary, &schema, Mood::Random, 1, least - 1).unwrap_err().to_string();
        assert!(why.contains(&format!("at least {least} tokens")), "{why}");
    }
}

#[test]
fn an_answer_that_is_cut_short_says_so_and_its_numbers_are_the_models() {
    let vocabulary = vocabulary();
    let guide = Guide::new(&vocabulary).unwrap();
    let schema = json!({"type": "object", "properties": {
        "why": {"type": "string"}, "sure": {"type": "number", "minimum": 0, "maximum": 1},
    }, "required": ["why", "sure"]});
    let most = least_tokens(&guide, &schema) + 5;
    let sure = |seed| {
        let answer = written(&guide, &vocabulary, &schema, Mood::Endless, seed, most).unwrap();
        assert_eq!(answer.written.stop, Stop::Length);
        serde_json::from_str::<Value>(&answer.written.text).unwrap()["sure"].to_string()
    };
    let said: std::collections::BTreeSet<String> = (0..20).map(sure).collect();
    assert!(said.len() > 5, "the model's own numbers differ: {said:?}");
    let free = written(&guide, &vocabulary, &schema, Mood::Ending, 1, 700).unwrap();
    assert_eq!(free.written.stop, Stop::Done);
}

#[test]
fn the_same_seed_says_the_same_words() {
    let vocabulary = vocabulary();
    let (one, other) = (Guide::new(&vocabulary).unwrap(), Guide::new(&vocabulary).unwrap());
    for schema in schemas() {
        let say =
            |guide: &Guide| written(guide, &vocabulary, &schema, Mood::Random, 7, 300).unwrap().written.text;
        assert_eq!(say(&one), say(&other));
        // From the kept grammar too.
        assert_eq!(say(&one), say(&one));
    }
}

#[test]
fn what_can_come_in_one_way_only_is_not_computed() {
    let vocabulary = vocabulary();
    let guide = Guide::new(&vocabulary).unwrap();
    let schema = json!({"type": "object", "properties": {"a_long_name_of_a_field": {"type": "boolean"}}});
    let answer = written(&guide, &vocabulary, &schema, Mood::Random, 3, 100).unwrap();
    assert!(answer.computed <= 2, "{} of {} tokens", answer.computed, answer.written.said_tokens);
    assert!(answer.written.said_tokens > 5);
}

#[test]
fn a_schema_that_nothing_keeps_is_refused() {
    let vocabulary = vocabulary();
    let guide = Guide::new(&vocabulary).unwrap();
    let schema = json!({"type": "string", "minLength": 5, "maxLength": 3});
    let why = written(&guide, &vocabulary, &schema, Mood::Random, 3, 100).unwrap_err().to_string();
    assert!(why.contains("cannot be held to its schema"), "{why}");
}

#[test]
fn every_text_and_list_is_bounded_and_no_bound_is_wider_than_the_given() {
    let given = json!({"type": "object", "properties": {
        "free": {"type": "string"},
        "short": {"type": "string", "maxLength": 5},
        "long": {"type": "string", "maxLength": 32_000},
        "exact": {"type": "string", "minLength": 60, "maxLength": 60},
        "list": {"type": "array", "items": {"type": "string"}, "minItems": 3},
        "number": {"type": "number"},
        "none": false,
    }});
    let schema = bounded(&given, 100);
    let at = |pointer: &str| schema.pointer(pointer).and_then(Value::as_f64).unwrap();
    assert!(at("/properties/free/maxLength") < 400.0);
    assert_eq!(at("/properties/short/maxLength"), 5.0);
    assert!(at("/properties/long/maxLength") < 400.0);
    assert_eq!(at("/properties/exact/maxLength"), 60.0);
    assert_eq!(at("/properties/list/maxItems"), 3.0);
    assert!(at("/properties/list/items/maxLength") < 400.0);
    assert!(at("/properties/number/maximum") < 1e15 && at("/properties/number/minimum") > -1e15);
    assert_eq!(schema["required"], json!(["free", "short", "long", "exact", "list", "number"]));
    let roomy = bounded(&given, 10_000);
    assert!(
        roomy["properties"]["free"]["maxLength"].as_i64()
            > schema["properties"]["free"]["maxLength"].as_i64()
    );
}

#[test]
fn the_place_in_the_text_is_known() {
    let after = |text: &str| {
        let mut place = Place::default();
        place.pass(text.as_bytes());
        place
    };
    assert_eq!(after(r#"{"a":"#), Place::Between);
    assert_eq!(after(r#"{"a":"b"#), Place::Text { escaped: false });
    assert_eq!(after(r#"{"a":"b\"#), Place::Text { escaped: true });
    assert_eq!(after(r#"{"a":"b\""#), Place::Text { escaped: false });
    assert_eq!(after(r#"{"a":"b\\""#), Place::Between);
    assert_eq!(after(r#"{"a":-0.5e"#), Place::Number { length: 5 });
    assert_eq!(after(r#"{"a":true"#), Place::Between);
    assert_eq!(after(r#"[12,"#), Place::Between);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]
    #[test]
    fn every_reply_to_any_schema_is_valid(
        schema in prop::collection::btree_map("[a-z]{1,6}", (any_schema(), any::<bool>()), 0..4).prop_map(object),
        mood in prop::sample::select(MOODS),
        seed in any::<u64>(),
        more in 0_usize..200,
    ) {
        thread_local! {
            static STAGE: (crate::vocabulary::Vocabulary, Guide) = {
                let vocabulary = vocabulary();
                let guide = Guide::new(&vocabulary).unwrap();
                (vocabulary, guide)
            };
        }
        STAGE.with(|(vocabulary, guide)| {
            let most = least_tokens(guide, &schema) + more;
            let answer = written(guide, vocabulary, &schema, mood, seed, most).unwrap();
            keeps(&schema, &answer, most, &format!("{mood:?}"));
        });
    }
}

/// A model lives on one thread and is sent there.
#[test]
fn a_guide_can_be_sent() {
    fn sent<T: Send>(_: &T) {}
    let vocabulary = vocabulary();
    let guide = Guide::new(&vocabulary).unwrap();
    sent(&guide);
    sent(&guide.start(&json!({"type": "null"})).unwrap());
    let _: fn(&Guide, super::Order<'_>) -> _ = write;
}
