//! Whatever is typed, the form's answer conforms to the schema.

use std::collections::BTreeMap;

use agon_core::play::{invent, play};
use agon_core::{
    Ask, Brief, BriefFile, Debate, DebateLimits, LOG_VERSION, OptionKind, Protocol, Request, options,
    protocol,
};
use agon_models::human::TerminalInput;
use agon_models::human::form::{FormStep, next_step};
use agon_protocols::PROTOCOLS;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Typed over and over, these lines fill in any form. The empty lines between them end nested lists and skip options.
const HELPFUL: &[&str] = &["1", "y", "0.75", "7", "words here", ".", "[]", "2"];
/// More lines than any form needs.
const LINES_MAX: usize = 800;

/// Types `lines` and then helpful ones until the form is done. `None` if the person passed.
fn fill(schema: &Value, lines: &[TerminalInput]) -> Option<Value> {
    let mut typed: Vec<TerminalInput> = Vec::new();
    let helpful = HELPFUL
        .iter()
        .flat_map(|line| [*line, "", "", "", ""])
        .cycle()
        .map(|line| TerminalInput::Line(line.into()));
    for line in lines.iter().cloned().chain(helpful.take(LINES_MAX)) {
        match next_step(Some(schema), &typed) {
            FormStep::Done(text) => return Some(serde_json::from_str(&text).unwrap()),
            FormStep::Pass => return None,
            FormStep::Ask(text) => assert!(text.ends_with("> "), "{text:?} asks for nothing"),
        }
        typed.push(line);
    }
    panic!("the form does not end: {schema} {lines:?}");
}

fn assert_conforms(schema: &Value, value: &Value) {
    let valid = jsonschema::validate(schema, value).map_err(|why| why.to_string());
    assert_eq!(valid, Ok(()), "{value} of {schema}");
}

/// The schemas of all protocols in all modes.
fn schemas() -> Vec<Value> {
    let mut found = BTreeMap::new();
    for protocol in PROTOCOLS {
        let mut settings = vec![Vec::new()];
        for opt in protocol.info().options {
            if let OptionKind::Choice(words) = opt.kind {
                settings.extend(words.iter().map(|word| vec![(opt.key.to_owned(), (*word).to_owned())]));
            }
        }
        for given in settings {
            let opened = Debate::open(brief(*protocol, given)).unwrap().1;
            let mut answer = |debate: &Debate, ask: &Ask| {
                found
                    .extend(ask.schema.as_ref().map(|schema| (schema.json.to_string(), schema.json.clone())));
                invent(*protocol, debate, ask, 1)
            };
            play(*protocol, vec![opened], &mut answer, &mut |_| {}).unwrap();
        }
    }
    found.into_values().collect()
}

fn brief(protocol: &dyn Protocol, given: Vec<(String, String)>) -> Brief {
    let request = Request {
        question: "Should the team adopt the queue?".into(),
        files: vec![BriefFile { path: "plan.md".into(), text: "Adopt the queue.".into(), part: None }],
        models: ["one/a", "two/b", "three/c"].map(String::from).to_vec(),
        roles: BTreeMap::new(),
        options: options::resolve(protocol.info().options, given).unwrap(),
        seed: 7,
    };
    Brief {
        version: LOG_VERSION,
        id: "test".into(),
        protocol: protocol.info().name.into(),
        seats: protocol.seats(&request).unwrap(),
        question: request.question,
        files: request.files,
        options: request.options,
        seed: 1,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    }
}

fn any_line() -> impl Strategy<Value = TerminalInput> {
    prop_oneof![
        8 => prop::sample::select(&["", "1", "2", "y", "n", "0.75", "7", "words here", "."][..]).prop_map(|line| TerminalInput::Line(line.into())),
        4 => "[ -~]{0,12}".prop_map(TerminalInput::Line),
        2 => any::<String>().prop_map(TerminalInput::Line),
        2 => (-20_i64..20).prop_map(|number| TerminalInput::Line(number.to_string())),
        1 => prop::sample::select(&["maintain", "no_change", "Debater A", "true", "null", "1e400", "nan", "/again"][..])
            .prop_map(|line| TerminalInput::Line(line.into())),
        1 => (3_990_usize..4_010).prop_map(|length| TerminalInput::Line("x".repeat(length))),
        1 => Just(TerminalInput::End),
    ]
}

/// Schemas of all kinds that a reply may have.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "boolean", "description": "Whether."})),
        (0_u64..4, 12_u64..5_000)
            .prop_map(|(least, most)| json!({"type": "string", "minLength": least, "maxLength": most})),
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "maxLength": 16_000})),
        (-5_i64..2, 7_i64..20)
            .prop_map(|(least, most)| json!({"type": "integer", "minimum": least, "maximum": most})),
        Just(json!({"type": "number", "minimum": 0.0, "maximum": 1.0})),
        Just(json!({"type": "number", "exclusiveMinimum": 0.5})),
        prop::collection::btree_set("[a-z_]{1,8}", 1..5)
            .prop_map(|words| json!({"type": "string", "enum": words})),
        Just(json!({"oneOf": [{"const": "a", "type": "string"}, {"const": "b", "type": "string"}]})),
        Just(json!({"enum": [1, null, "x"]})),
        Just(json!({"const": {"fixed": true}})),
        Just(json!({"type": "null"})),
        Just(json!({"type": ["number", "null"]})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let fields = prop::collection::btree_map("[a-z]{1,6}", (inner.clone(), any::<bool>()), 0..4);
        prop_oneof![
            3 => fields.prop_map(object),
            2 => (inner.clone(), 0_u64..2, 1_u64..4, any::<bool>()).prop_map(|(items, least, most, unique)| {
                json!({"type": "array", "items": items, "minItems": least, "maxItems": most, "uniqueItems": unique})
            }),
            1 => inner.clone().prop_map(|items| json!({"type": ["array", "null"], "items": items})),
            1 => inner.prop_map(|kind| json!({"anyOf": [kind, {"type": "null"}]})),
        ]
    })
}

fn object(fields: BTreeMap<String, (Value, bool)>) -> Value {
    let required: Vec<&String> = fields.iter().filter(|(_, (_, must))| *must).map(|(name, _)| name).collect();
    let properties: BTreeMap<&String, &Value> =
        fields.iter().map(|(name, (schema, _))| (name, schema)).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

#[test]
fn every_form_of_every_protocol_can_be_filled_in() {
    let schemas = schemas();
    assert!(schemas.len() >= 4, "the protocols ask with more than {} schemas", schemas.len());
    for schema in schemas {
        let value = fill(&schema, &[]).expect("the person did not pass");
        assert_conforms(&schema, &value);
    }
}

proptest! {
    #[test]
    fn any_lines_give_a_valid_answer_for_a_protocol(
        schema in prop::sample::select(schemas()),
        lines in prop::collection::vec(any_line(), 0..60),
    ) {
        if let Some(value) = fill(&schema, &lines) {
            assert_conforms(&schema, &value);
        }
    }

    #[test]
    fn any_lines_give_a_valid_answer_for_any_schema(
        schema in prop::collection::btree_map("[a-z]{1,6}", (any_schema(), any::<bool>()), 0..4).prop_map(object),
        lines in prop::collection::vec(any_line(), 0..40),
    ) {
        if let Some(value) = fill(&schema, &lines) {
            assert_conforms(&schema, &value);
        }
    }
}
