//! A vocabulary of a few hundred tokens, models with odd preferences, and schemas.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

use agon_core::play::{invent, play};
use agon_core::seed::SeededDraw;
use agon_core::{
    Ask, Brief, BriefFile, Debate, DebateLimits, LOG_VERSION, OptionKind, Protocol, Request, options,
    protocol,
};
use agon_protocols::PROTOCOLS;
use candle_core::quantized::gguf_file::{Content, Value as Field, VersionedMagic};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::EmbeddedError;
use crate::guided_json::json_writer::{WrittenJson, reserved_tokens};
use crate::guided_json::schema_bounds::bounded_schema;
use crate::guided_json::{GrammarCompiler, JsonRequest, write_json};
use crate::vocabulary::TokenVocabulary;

/// Longer tokens. Some end one value and begin the next, some begin or end in the middle of a character.
const LONG_TOKENS: &[&[u8]] = &[
    b"\":",
    b"\",\"",
    b"\":\"",
    b"\"}",
    b"\"]}",
    b"\"],\"",
    b"[\"",
    b"{\"",
    b"\"\"",
    b"null",
    b"true",
    b"0.",
    b"10",
    b"stance",
    b"maintain",
    b" the",
    b" queue",
    b"\\n",
    b"\\\"",
    b"\\",
    b"  ",
    b"\n\n",
    b"<|im_end|",
    b"e\xCC",
    b"\xF0\x9F",
    b"\x98\x80",
    b"\x80\"",
    b"\xA9\",\"",
];
const CONTROL_TOKENS: &[&str] = &["<|im_start|>", "<|im_end|>", "<|endoftext|>"];

/// Every byte, a few longer tokens, and control tokens, as a model's file would define them.
pub(super) fn test_vocabulary() -> TokenVocabulary {
    let bytes = (0..=255_u8).map(|byte| vec![byte]).chain(LONG_TOKENS.iter().map(|word| word.to_vec()));
    let mut seen: Vec<Vec<u8>> = Vec::new();
    bytes.for_each(|token| {
        if !seen.contains(&token) {
            seen.push(token)
        }
    });
    let names = seen.iter().map(|token| token.iter().map(|byte| printable(*byte)).collect::<String>());
    let names: Vec<String> = names.chain(CONTROL_TOKENS.iter().map(|name| (*name).to_owned())).collect();
    let kind = |index: usize| Field::I32(if index < seen.len() { 1 } else { 3 });
    let end = names.iter().position(|name| name == "<|im_end|>").unwrap() as u32;
    let metadata = HashMap::from([
        ("tokenizer.ggml.model".to_owned(), Field::String("gpt2".into())),
        ("tokenizer.ggml.pre".to_owned(), Field::String("gpt-2".into())),
        ("tokenizer.ggml.merges".to_owned(), Field::Array(Vec::new())),
        ("tokenizer.ggml.token_type".to_owned(), Field::Array((0..names.len()).map(kind).collect())),
        ("tokenizer.ggml.tokens".to_owned(), Field::Array(names.into_iter().map(Field::String).collect())),
        ("tokenizer.ggml.eos_token_id".to_owned(), Field::U32(end)),
    ]);
    let content = Content {
        magic: VersionedMagic::GgufV3,
        metadata,
        tensor_infos: HashMap::new(),
        tensor_data_offset: 0,
    };
    TokenVocabulary::of(&content).unwrap()
}

/// A byte as GGUF files write it.
fn printable(byte: u8) -> char {
    let is_printable = |byte: &u8| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    if is_printable(&byte) {
        return char::from(byte);
    }
    let index = (0..byte).filter(|before| !is_printable(before)).count();
    char::from_u32(256 + index as u32).unwrap()
}

/// Which tokens a model prefers.
#[derive(Debug, Clone, Copy)]
pub(super) enum TokenPreference {
    Anything,
    /// It never ends a string.
    EndlessStrings,
    Digits,
    MultibyteCharacters,
    /// Control tokens, and whatever ends a value.
    Endings,
    /// Whatever begins a value: lists, objects, another entry.
    Openings,
}

impl TokenPreference {
    fn bonus(self, token: u32, vocabulary: &TokenVocabulary) -> f32 {
        let bytes = vocabulary.bytes(token);
        let has = |wanted: &[u8]| bytes.iter().any(|byte| wanted.contains(byte));
        let quotes = bytes.iter().filter(|byte| **byte == b'"').count();
        let is_preferred = match self {
            Self::Anything => false,
            Self::EndlessStrings => return -(quotes as f32),
            Self::Digits => bytes.iter().any(u8::is_ascii_digit),
            Self::MultibyteCharacters => bytes.iter().any(|byte| *byte >= 0x80),
            Self::Endings => vocabulary.is_control(token) || has(b"}]\""),
            Self::Openings => has(b"[{,"),
        };
        if is_preferred { 1.0 } else { 0.0 }
    }
}

/// What was written, and how.
#[derive(Debug)]
pub(super) struct TestAnswer {
    pub(super) json: WrittenJson,
    pub(super) streamed: String,
    /// How often the model was computed.
    pub(super) computed: usize,
}

/// What a model with this preference writes.
pub(super) fn write_as(
    compiler: &GrammarCompiler,
    vocabulary: &TokenVocabulary,
    schema: &Value,
    preference: TokenPreference,
    seed: u64,
    tokens_max: usize,
) -> Result<TestAnswer, EmbeddedError> {
    let mut draw = SeededDraw::new(seed, "a model");
    let computed = Cell::new(0);
    let streamed = RefCell::new(String::new());
    // Some files have more rows in their tables than tokens.
    let rows = vocabulary.len() as u32 + 5;
    let json = write_json(
        compiler,
        JsonRequest {
            vocabulary,
            prompt: vec![1, 2, 3],
            schema,
            tokens_max,
            next_logits: &mut |tokens| {
                assert!(
                    tokens.iter().all(|token| !vocabulary.is_control(*token)),
                    "no control token is written"
                );
                computed.set(computed.get() + 1);
                Ok((0..rows).map(|token| preference.bonus(token, vocabulary) + draw.unit() as f32).collect())
            },
            choose: &mut |logits, _| {
                let best = logits.iter().copied().zip(0..).max_by(|one, other| one.0.total_cmp(&other.0));
                best.unwrap().1
            },
            on_delta: &|piece| streamed.borrow_mut().push_str(piece),
        },
    )?;
    Ok(TestAnswer { json, streamed: streamed.into_inner(), computed: computed.get() })
}

/// The answer is JSON that follows the schema, fits into its tokens, and was streamed as it is.
pub(super) fn assert_valid(schema: &Value, answer: &TestAnswer, most: usize, what: &str) {
    let TestAnswer { json: WrittenJson { text, tokens, .. }, streamed, .. } = answer;
    let value: Value = serde_json::from_str(text).unwrap_or_else(|why| panic!("{what}: {why}: {text}"));
    let valid = jsonschema::validate(schema, &value).map_err(|why| why.to_string());
    assert_eq!(valid, Ok(()), "{what}: {value} of {schema}");
    assert!(*tokens <= most as u64, "{what}: {tokens} tokens: {text}");
    assert_eq!(text, streamed, "{what}");
    assert!(!text.contains(|c: char| c.is_ascii_control()), "{what}: {text}");
}

/// The fewest tokens that a request may have.
pub(super) fn fewest_tokens(compiler: &GrammarCompiler, schema: &Value) -> usize {
    let schema = bounded_schema(schema, 100);
    let ending = compiler.start(&schema).unwrap().shortest_ending(10_000).unwrap().unwrap();
    ending.len() + reserved_tokens(&schema)
}

/// The schemas that the protocols use, in every mode.
pub(super) fn protocol_schemas() -> Vec<Value> {
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

/// Schemas of all kinds that a reply can have.
pub(super) fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "boolean", "description": "Whether."})),
        (0_u64..4, 12_u64..5_000)
            .prop_map(|(least, most)| json!({"type": "string", "minLength": least, "maxLength": most})),
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "pattern": "^[a-z]{2,4}-[0-9]+$"})),
        Just(json!({"type": "string", "format": "date", "maxLength": 300})),
        (-5_i64..2, 7_i64..20)
            .prop_map(|(least, most)| json!({"type": "integer", "minimum": least, "maximum": most})),
        Just(json!({"type": "integer"})),
        Just(json!({"type": "integer", "multipleOf": 7})),
        Just(json!({"type": "number"})),
        Just(json!({"type": "number", "minimum": 0.0, "maximum": 1.0})),
        Just(json!({"type": "number", "exclusiveMinimum": 0.5})),
        Just(json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.05})),
        prop::collection::btree_set("[a-zé\"\\\\ ]{1,8}", 1..5)
            .prop_map(|words| json!({"type": "string", "enum": words})),
        Just(json!({"oneOf": [{"const": "a", "type": "string"}, {"const": "ab", "type": "string"}]})),
        Just(json!({"enum": [1, null, "x", 2.5]})),
        Just(json!({"const": {"fixed": true}})),
        Just(json!({"type": "null"})),
        Just(json!({"description": "Anything."})),
        Just(json!(true)),
        Just(json!({"type": ["number", "null"]})),
        Just(json!({"type": "object", "additionalProperties": {"type": "integer"}})),
        Just(json!({"allOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"type": "boolean"}}, "required": ["b"]},
        ]})),
        Just(json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [
            {"properties": {"b": {"type": "string"}}, "required": ["b"]},
            {"properties": {"c": {"type": "string"}}, "required": ["c"]},
        ]})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let fields = prop::collection::btree_map("[a-z]{1,6}", (inner.clone(), any::<bool>()), 0..4);
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            3 => fields.prop_map(object_schema),
            2 => (inner.clone(), 0_u64..2, 1_u64..4, any::<bool>()).prop_map(|(items, least, most, unique)| {
                json!({"type": "array", "items": items, "minItems": least, "maxItems": most, "uniqueItems": unique})
            }),
            1 => pair.prop_map(|(one, other)| json!({"type": "array", "prefixItems": [one, other], "items": false})),
            1 => inner.clone().prop_map(|items| json!({"type": ["array", "null"], "items": items})),
            1 => inner.prop_map(|kind| json!({"anyOf": [kind, {"type": "null"}]})),
        ]
    })
}

/// An object with these fields; the second of each pair says whether it is required.
pub(super) fn object_schema(fields: BTreeMap<String, (Value, bool)>) -> Value {
    let required: Vec<&String> = fields.iter().filter(|(_, (_, must))| *must).map(|(name, _)| name).collect();
    let properties: BTreeMap<&String, &Value> =
        fields.iter().map(|(name, (schema, _))| (name, schema)).collect();
    json!({"type": "object", "properties": properties, "required": required})
}
