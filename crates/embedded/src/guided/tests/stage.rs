//! A vocabulary of a few hundred tokens, models that say anything, and the schemas that they are held to.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

use agon_core::play::{invent, play};
use agon_core::seed::Draw;
use agon_core::{
    Artifact, Ask, Brief, Debate, Kind, LOG_VERSION, Limits, Protocol, Request, options, protocol,
};
use agon_protocols::PROTOCOLS;
use candle_core::quantized::gguf_file::{Content, Value as Field, VersionedMagic};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::Broken;
use crate::guided::bounds::bounded;
use crate::guided::write::{Written, spare_tokens};
use crate::guided::{Guide, Order, write};
use crate::vocabulary::Vocabulary;

/// Longer tokens: some end one thing and begin the next, some end in the middle of a character or begin there.
const WORDS: &[&[u8]] = &[
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
const CONTROL: &[&str] = &["<|im_start|>", "<|im_end|>", "<|endoftext|>"];

/// Every byte, a few words, and control tokens, as a file would have them.
pub(super) fn vocabulary() -> Vocabulary {
    let bytes = (0..=255_u8).map(|byte| vec![byte]).chain(WORDS.iter().map(|word| word.to_vec()));
    let mut seen: Vec<Vec<u8>> = Vec::new();
    bytes.for_each(|token| {
        if !seen.contains(&token) {
            seen.push(token)
        }
    });
    let names = seen.iter().map(|token| token.iter().map(|byte| shown(*byte)).collect::<String>());
    let names: Vec<String> = names.chain(CONTROL.iter().map(|name| (*name).to_owned())).collect();
    let kind = |place: usize| Field::I32(if place < seen.len() { 1 } else { 3 });
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
    Vocabulary::of(&content).unwrap()
}

/// A byte as files write it.
fn shown(byte: u8) -> char {
    let seen = |byte: &u8| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    if seen(&byte) {
        return char::from(byte);
    }
    let place = (0..byte).filter(|before| !seen(before)).count();
    char::from_u32(256 + place as u32).unwrap()
}

/// What a model likes to say.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mood {
    /// Anything.
    Random,
    /// It never ends a text.
    Endless,
    /// Digits.
    Counting,
    /// Bytes of characters that have several.
    Foreign,
    /// Control tokens, and whatever ends something.
    Ending,
    /// Whatever begins something: lists, objects, another entry.
    Opening,
}

impl Mood {
    fn liking(self, token: u32, vocabulary: &Vocabulary) -> f32 {
        let bytes = vocabulary.bytes(token);
        let has = |wanted: &[u8]| bytes.iter().any(|byte| wanted.contains(byte));
        let quotes = bytes.iter().filter(|byte| **byte == b'"').count();
        let likes = match self {
            Self::Random => false,
            Self::Endless => return -(quotes as f32),
            Self::Counting => bytes.iter().any(u8::is_ascii_digit),
            Self::Foreign => bytes.iter().any(|byte| *byte >= 0x80),
            Self::Ending => vocabulary.is_control(token) || has(b"}]\""),
            Self::Opening => has(b"[{,"),
        };
        if likes { 1.0 } else { 0.0 }
    }
}

/// What was said, and how.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) written: Written,
    pub(super) heard: String,
    /// How often the model was asked.
    pub(super) computed: usize,
}

/// What a model of this mood writes.
pub(super) fn written(
    guide: &Guide,
    vocabulary: &Vocabulary,
    schema: &Value,
    mood: Mood,
    seed: u64,
    most_tokens: usize,
) -> Result<Answer, Broken> {
    let mut draw = Draw::new(seed, "a model");
    let computed = Cell::new(0);
    let heard = RefCell::new(String::new());
    // Some files have more places in their tables than tokens.
    let places = vocabulary.len() as u32 + 5;
    let written = write(
        guide,
        Order {
            vocabulary,
            prompt: vec![1, 2, 3],
            schema,
            most_tokens,
            network: &mut |tokens| {
                assert!(
                    tokens.iter().all(|token| !vocabulary.is_control(*token)),
                    "nothing steers but the prompt"
                );
                computed.set(computed.get() + 1);
                Ok((0..places).map(|token| mood.liking(token, vocabulary) + draw.unit() as f32).collect())
            },
            sampler: &mut |logits, _| {
                let best = logits.iter().copied().zip(0..).max_by(|one, other| one.0.total_cmp(&other.0));
                best.unwrap().1
            },
            heard: &|piece| heard.borrow_mut().push_str(piece),
        },
    )?;
    Ok(Answer { written, heard: heard.into_inner(), computed: computed.get() })
}

/// The answer is JSON that keeps the schema, has no more tokens than it may, and was heard as it is.
pub(super) fn keeps(schema: &Value, answer: &Answer, most: usize, what: &str) {
    let Answer { written: Written { text, said_tokens, .. }, heard, .. } = answer;
    let value: Value = serde_json::from_str(text).unwrap_or_else(|why| panic!("{what}: {why}: {text}"));
    let valid = jsonschema::validate(schema, &value).map_err(|why| why.to_string());
    assert_eq!(valid, Ok(()), "{what}: {value} of {schema}");
    assert!(*said_tokens <= most as u64, "{what}: {said_tokens} tokens: {text}");
    assert_eq!(text, heard, "{what}");
    assert!(!text.contains(|c: char| c.is_ascii_control()), "{what}: {text}");
}

/// The fewest tokens that an answer is begun with.
pub(super) fn least_tokens(guide: &Guide, schema: &Value) -> usize {
    let schema = bounded(schema, 100);
    let way = guide.start(&schema).unwrap().way_out(10_000).unwrap().unwrap();
    way.len() + spare_tokens(&schema)
}

/// The schemas that the protocols really ask with, in every mode.
pub(super) fn schemas() -> Vec<Value> {
    let mut found = BTreeMap::new();
    for protocol in PROTOCOLS {
        let mut settings = vec![Vec::new()];
        for opt in protocol.options() {
            if let Kind::Choice(words) = opt.kind {
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
        files: vec![Artifact { path: "plan.md".into(), text: "Adopt the queue.".into(), part: None }],
        models: ["one/a", "two/b", "three/c"].map(String::from).to_vec(),
        roles: BTreeMap::new(),
        options: options::resolve(protocol.options(), given).unwrap(),
        seed: 7,
    };
    Brief {
        version: LOG_VERSION,
        id: "test".into(),
        protocol: protocol.name().into(),
        seats: protocol.seats(&request).unwrap(),
        question: request.question,
        files: request.files,
        options: request.options,
        seed: 1,
        limits: Limits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    }
}

/// Schemas of all kinds that a reply's type can have.
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
            3 => fields.prop_map(object),
            2 => (inner.clone(), 0_u64..2, 1_u64..4, any::<bool>()).prop_map(|(items, least, most, unique)| {
                json!({"type": "array", "items": items, "minItems": least, "maxItems": most, "uniqueItems": unique})
            }),
            1 => pair.prop_map(|(one, other)| json!({"type": "array", "prefixItems": [one, other], "items": false})),
            1 => inner.clone().prop_map(|items| json!({"type": ["array", "null"], "items": items})),
            1 => inner.prop_map(|kind| json!({"anyOf": [kind, {"type": "null"}]})),
        ]
    })
}

/// An object with these fields; the second of each pair tells whether it must be there.
pub(super) fn object(fields: BTreeMap<String, (Value, bool)>) -> Value {
    let required: Vec<&String> = fields.iter().filter(|(_, (_, must))| *must).map(|(name, _)| name).collect();
    let properties: BTreeMap<&String, &Value> =
        fields.iter().map(|(name, (schema, _))| (name, schema)).collect();
    json!({"type": "object", "properties": properties, "required": required})
}
