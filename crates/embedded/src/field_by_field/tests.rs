//! The walk over a schema, with scripted answers.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Gives scripted answers and records the questions.
#[derive(Default)]
struct ScriptedAnswerer {
    asked: Vec<String>,
    answers: Vec<String>,
    scores: Vec<f32>,
}

impl PlainAnswerer for ScriptedAnswerer {
    fn answer(&mut self, question: &str, _: usize) -> Result<String, EmbeddedError> {
        self.asked.push(question.to_owned());
        Ok(self
            .answers
            .get(self.asked.len() - 1)
            .cloned()
            .unwrap_or_else(|| format!("Answer {}.", self.asked.len())))
    }

    fn score(&mut self, question: &str, values: &[String]) -> Result<Vec<f32>, EmbeddedError> {
        self.asked.push(question.to_owned());
        let scripted =
            |index: usize| self.scores.get((index + self.asked.len()) % self.scores.len().max(1)).copied();
        Ok((0..values.len()).map(|index| scripted(index).unwrap_or(-(index as f32))).collect())
    }

    fn last_words_of(&self, who: &str) -> Option<String> {
        ["Debater C", "C1"].contains(&who).then(|| "Spaces.".to_owned())
    }

    fn quote_of(&self, who: &str) -> Option<String> {
        self.last_words_of(who)
    }
}

#[test]
fn each_field_is_a_plain_question_and_a_point_quotes_its_target() {
    let schema = json!({"type": "object", "properties": {
        "key_points": {"description": "What is your reason?", "type": "array", "items": {"type": "string"}},
        "counterpoints": {"type": "array", "items": {"type": "object", "properties": {
            "target": {"description": "Whom do you answer?", "enum": ["Debater C", "Debater B", "C", "B"]},
            "point": {"description": "What is wrong with that?", "type": "string"},
        }}},
        "answer": {"description": "What is your answer?", "type": "string", "maxLength": 16000},
        "sure": {"description": "How sure are you?", "type": "number", "minimum": 0, "maximum": 1},
    }});
    let mut answerer = ScriptedAnswerer::default();
    let value = fill_schema(&schema, &mut answerer).unwrap();
    assert_eq!(
        answerer.asked,
        [
            "What is your reason? Answer in one sentence.",
            "Whom do you answer? Answer with one of: Debater C, Debater B.",
            "Debater C says: Spaces.\nWhat is wrong with that? Answer in one sentence.",
            "What is your answer? Answer in two or three sentences.",
            "How sure are you? Answer with a number from 0.0 to 1.0.",
        ]
    );
    assert_eq!(value["counterpoints"][0], json!({"target": "Debater C", "point": "Answer 3."}));
    assert_eq!(value["key_points"], json!(["Answer 1."]));
}

/// "Small models asked by field still get sensible questions."
#[test]
fn thoughts_are_not_asked_for_and_quotes_are_looked_up() {
    let member = json!({"type": "object", "properties": {
        "debater": {"enum": ["Debater C", "Debater B"]},
        "quote": {"type": "string", "maxLength": 6},
    }});
    let schema = json!({"type": "object", "required": ["answer"], "properties": {
        "analysis": {"type": "string"},
        "pairs": {"type": "array", "minItems": 1, "items": member},
        "positions": {"type": "array", "items": {"type": "object", "properties": {
            "members": {"type": "array", "items": member},
        }}},
        "answers": {"type": "array", "items": {"type": "object", "properties": {
            "id": {"enum": ["C1", "B2"]},
            "response": {"type": "string", "description": "What do you say to it?"},
        }}},
        "answer": {"type": "string"},
    }});
    let mut answerer = ScriptedAnswerer::default();
    let value = fill_schema(&schema, &mut answerer).unwrap();
    assert_eq!(value.get("analysis"), None);
    assert_eq!(value["pairs"], json!([{"debater": "Debater C", "quote": "Spaces"}]));
    assert_eq!(value["positions"], json!([]), "what needs proof and may be left out is left out");
    assert_eq!(value["answers"][0]["id"], "C1");
    assert!(
        answerer.asked.contains(&"Spaces.\nWhat do you say to it? Answer in one sentence.".to_owned()),
        "{:?}",
        answerer.asked
    );
}

#[test]
fn a_repeated_point_is_dropped() {
    let schema = json!({"type": "array", "items": {"type": "string"}});
    let mut answerer = ScriptedAnswerer {
        answers: vec!["My reason is that tabs are wide.".into(), "Your reason is that tabs are wide.".into()],
        ..ScriptedAnswerer::default()
    };
    assert_eq!(fill_schema(&schema, &mut answerer).unwrap(), json!(["My reason is that tabs are wide."]));
}

/// A judge scores every proposal once and ranks them all, even one that would always name the same first.
#[test]
fn required_entries_of_a_list_are_distinct() {
    let labels = json!(["Agent B", "Agent A", "Agent C", "A", "B", "C"]);
    let score = json!({"type": "object", "properties": {
        "label": {"description": "Which?", "enum": labels},
        "score": {"description": "How good?", "type": "integer", "minimum": 0, "maximum": 10},
    }});
    let schema = json!({"type": "object", "properties": {
        "scores": {"type": "array", "items": score, "minItems": 3, "maxItems": 3},
        "ranking": {"type": "array", "items": {"description": "Who is next?", "enum": labels}, "minItems": 3, "maxItems": 3},
    }});
    let value = fill_schema(&schema, &mut ScriptedAnswerer::default()).unwrap();
    let scored: Vec<&str> =
        value["scores"].as_array().unwrap().iter().map(|score| score["label"].as_str().unwrap()).collect();
    assert_eq!(scored, ["Agent B", "Agent A", "Agent C"]);
    assert_eq!(value["ranking"], json!(["Agent B", "Agent A", "Agent C"]));
}

/// An empty list declares nothing, so that what nobody can know stays unknown.
#[test]
fn an_optional_list_of_choices_stays_empty() {
    let schema = json!({"type": "object", "properties": {
        "conflicts_with": {"type": "array", "items": {"description": "Whom do you contradict?", "enum": ["Agent B", "Agent C"]}},
    }});
    let mut answerer = ScriptedAnswerer::default();
    assert_eq!(fill_schema(&schema, &mut answerer).unwrap(), json!({"conflicts_with": []}));
    assert_eq!(answerer.asked, [""; 0]);
}

#[test]
fn a_number_is_the_mean_of_the_likely_answers() {
    let schema = json!({"type": "number", "minimum": 0, "maximum": 1});
    let mut undecided = ScriptedAnswerer { scores: vec![-9.0; 11], ..ScriptedAnswerer::default() };
    assert_eq!(fill_schema(&schema, &mut undecided).unwrap(), json!(0.5), "when all are equally likely");
    assert_eq!(weighted_mean(&[0.0, 1.0], &[0.0, f32::NEG_INFINITY]), 0.0);
    assert_eq!(nearest(&[1.0, 2.0, 3.0], 2.4), Some(2.0));
}

/// The kinds of schemas that protocols use.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (0u64..40, 0u64..20_000).prop_map(
            |(least, more)| json!({"type": "string", "minLength": least, "maxLength": least + more})
        ),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "null"})),
        Just(json!({"const": "fixed"})),
        (-5i64..5, 0i64..300)
            .prop_map(|(least, more)| json!({"type": "integer", "minimum": least, "maximum": least + more})),
        (-2.0..2.0f64, 0.1..30.0f64)
            .prop_map(|(least, more)| json!({"type": "number", "minimum": least, "maximum": least + more})),
        Just(json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"anyOf": [{"type": "null"}, {"type": "string", "enum": ["a_b", "c"]}]})),
        proptest::collection::btree_set("[a-z_]{1,8}", 1..5)
            .prop_map(|values| json!({"type": "string", "enum": values})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0u64..3, 0u64..5).prop_map(|(items, least, more)| json!({
                "type": "array", "items": items, "minItems": least, "maxItems": least + more
            })),
            proptest::collection::btree_map("[a-z]{1,6}", inner, 0..4).prop_map(|properties| {
                let required: Vec<&String> = properties.keys().collect();
                json!({"type": "object", "required": required, "properties": properties, "additionalProperties": false})
            }),
        ]
    })
}

proptest! {
    #[test]
    fn the_result_follows_the_schema_whatever_the_answers_are(
        schema in schemas(),
        answers in proptest::collection::vec(".{0,60}", 0..20),
        scores in proptest::collection::vec(-30.0f32..0.0, 1..9),
    ) {
        let mut answerer = ScriptedAnswerer { answers, scores, ..ScriptedAnswerer::default() };
        let value = fill_schema(&schema, &mut answerer).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let wrong: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        prop_assert!(wrong.is_empty(), "{wrong:?} in {value} for {schema}");
    }
}
