//! MiniLM against reference numbers, and what holds for every text.
//!
//! Some tests need the model's files, in the folder `minilm` of `AGON_TEST_MODELS`, or else of `AGON_HOME/models`. Without the
//! files they are skipped, or fail if `AGON_TEST_MODELS` is set. What holds for every model of this kind is tested with a tiny
//! one that is made here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use agon_embedded::EmbeddedError;
use agon_embedded::minilm::MiniLm;
use candle_core::{Device, Tensor};
use serde_json::{Value, json};

fn files() -> Option<PathBuf> {
    let folder = |variable: &str| std::env::var_os(variable).map(PathBuf::from);
    if let Some(folder) = folder("AGON_TEST_MODELS") {
        let place = folder.join("minilm");
        let weights = place.join("model.safetensors");
        assert!(weights.is_file(), "AGON_TEST_MODELS is set, but there is no {}", weights.display());
        return Some(place);
    }
    let place = folder("AGON_HOME").map(|home| home.join("models/minilm"));
    let found = place.filter(|place| place.join("model.safetensors").is_file());
    if found.is_none() {
        println!("skipped: set AGON_TEST_MODELS to a folder that contains minilm/");
    }
    found
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn one(model: &MiniLm, text: &str) -> Vec<f32> {
    model.embed(&texts(&[text])).unwrap().remove(0)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The reference is the same network and the same word pieces over the same `model.safetensors`, written independently in
/// numpy with 64-bit numbers. The second text has accents and Chinese characters, the third is longer than the model reads at
/// once.
#[test]
fn vectors_match_the_reference() {
    let Some(folder) = files() else { return };
    let model = MiniLm::open(&folder).unwrap();
    assert_eq!(model.width(), 384);
    let long = "The committee finds the evidence thin. ".repeat(90);
    for (text, wanted) in [
        (
            "Rewriting everything at once is too risky.",
            [-0.0531, 0.0444, 0.042, -0.0045, -0.0248, -0.0431, -0.0858, -0.0563],
        ),
        (
            "Größenwahn, naïve café: 東京 is a city!",
            [0.0861, 0.0278, 0.0238, -0.0055, -0.0358, 0.0173, 0.0674, -0.0581],
        ),
        (&long, [-0.0843, 0.0304, -0.0231, 0.026, 0.047, 0.0143, -0.0396, 0.0633]),
    ] {
        let found = one(&model, text);
        // Half of the last decimal, and some tolerance for 32-bit numbers.
        let near =
            found.iter().zip(wanted).all(|(found, wanted): (&f32, f32)| (found - wanted).abs() < 5.5e-5);
        assert!(near, "{text:.40}: {:?} instead of {wanted:?}", &found[..8]);
        assert!((cosine(&found, &found) - 1.0).abs() < 1e-5, "its length is 1");
    }
}

/// The figures are those of the reference.
#[test]
fn sentences_that_mean_the_same_have_similar_vectors() {
    let Some(folder) = files() else { return };
    let model = MiniLm::open(&folder).unwrap();
    for (a, b, wanted) in [
        ("That is a happy person", "That is a very happy person", 0.9429),
        ("That is a happy person", "That is a happy dog", 0.6946),
        ("That is a happy person", "Today is a sunny day", 0.2569),
        ("The price is too high.", "It costs too much.", 0.7039),
        ("The price is too high.", "The mountain is too high.", 0.3903),
        ("cheap", "inexpensive", 0.8628),
        ("Rewriting everything at once is too risky.", "Penguins cannot fly.", 0.1157),
    ] {
        let found = cosine(&one(&model, a), &one(&model, b));
        assert!((found - wanted).abs() < 1e-4, "{a:?} and {b:?}: {found} instead of {wanted}");
    }
}

#[test]
fn the_end_of_a_long_text_counts_too() {
    let Some(folder) = files() else { return };
    let model = MiniLm::open(&folder).unwrap();
    let fish = "Penguins swim in the cold sea and eat fish. ";
    let begin = "We keep the old system. ".repeat(80);
    let whole = format!("{begin}{}", fish.repeat(80));
    let near = |text: &str| cosine(&one(&model, text), &one(&model, fish));
    assert!(near(&whole) > 0.5 && near(&begin) < 0.1, "{} {}", near(&whole), near(&begin));
}

#[test]
fn a_text_gets_the_same_vector_alone_and_among_others() {
    let Some(folder) = files() else { return };
    assert_same_alone_and_among_others(&MiniLm::open(&folder).unwrap());
}

#[test]
fn a_tiny_model_gives_a_text_the_same_vector_alone_and_among_others() {
    let tiny = TinyMiniLm::new();
    assert_same_alone_and_among_others(&tiny.open().unwrap());
}

fn assert_same_alone_and_among_others(model: &MiniLm) {
    let long = "cheap and safe or dear and slow ".repeat(100);
    let mut all =
        texts(&["cheap", "", "safe and slow and dear", &long, "[SEP]", "dear or safe", "cheap", "?"]);
    all.extend((0..20).map(|n| "safe ".repeat(n)));
    let alone: Vec<Vec<f32>> = all.iter().map(|text| one(model, text)).collect();
    let near = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
    let together = model.embed(&all).unwrap();
    all.reverse();
    let mut reversed = model.embed(&all).unwrap();
    reversed.reverse();
    for (place, alone) in alone.iter().enumerate() {
        assert!(near(alone, &together[place]) && near(alone, &reversed[place]), "text {place}");
    }
    assert!(!near(&alone[0], &alone[2]), "different texts have different vectors");
}

#[test]
fn every_text_has_a_vector_of_length_one_unless_it_has_no_words() {
    let tiny = TinyMiniLm::new();
    let model = tiny.open().unwrap();
    assert_eq!(model.width(), 8);
    let long = "dear ".repeat(1000);
    for text in ["cheap", "CHEAP!", "unknown words", "\u{1F600}", &long] {
        let vector = one(&model, text);
        assert_eq!(vector.len(), 8);
        assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5, "{text:.20}");
    }
    for text in ["", " \n\t", "\u{0}"] {
        assert_eq!(one(&model, text), vec![0.0; 8], "{text:?}");
    }
    assert!(model.embed(&[]).unwrap().is_empty());
}

/// A long text is read in parts, each with the two tokens around it, and no token is left out.
#[test]
fn every_token_is_read_and_counted() {
    let tiny = TinyMiniLm::new();
    let model = tiny.open().unwrap();
    // The tiny model has 12 positions, of which 10 are for words.
    for (words, tokens) in [(0, 0), (1, 3), (10, 12), (11, 15), (100, 120)] {
        let read = model.embed_while(&["safe ".repeat(words)], &|| true).unwrap();
        assert_eq!(read.tokens, tokens, "{words} words");
    }
}

#[test]
fn text_never_becomes_a_control_token() {
    let tiny = TinyMiniLm::new();
    let model = tiny.open().unwrap();
    let read = |text: &str| model.embed_while(&texts(&[text]), &|| true).unwrap().tokens;
    // `[`, the word and `]`, each unknown to the tiny model, and the two tokens around them.
    assert_eq!((read("[SEP]"), read("[PAD] cheap")), (5, 6));
    assert_eq!(one(&model, "cheap [SEP] dear"), one(&model, "cheap [any] dear"));
}

#[test]
fn abandoned_work_stops() {
    let tiny = TinyMiniLm::new();
    let model = tiny.open().unwrap();
    let asked = AtomicUsize::new(0);
    let is_wanted = || asked.fetch_add(1, Ordering::Relaxed) < 2;
    let texts = vec!["safe".to_owned(); 1000];
    assert!(matches!(model.embed_while(&texts, &is_wanted), Err(EmbeddedError::Abandoned)));
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}

#[test]
fn the_error_names_an_unusable_file_and_the_reason() {
    let config = |key: &str, value: Value| {
        let mut config = TinyMiniLm::config();
        config[key] = value;
        config.to_string()
    };
    for (file, text, wanted) in [
        ("config.json", None, "os error 2"),
        ("config.json", Some("{".to_owned()), "EOF"),
        (
            "config.json",
            Some(config("model_type", json!("llama"))),
            "its model_type is \"llama\", and only \"bert\"",
        ),
        ("config.json", Some(config("hidden_act", json!("relu"))), "hidden_act"),
        (
            "config.json",
            Some(config("position_embedding_type", json!("relative_key"))),
            "position_embedding_type",
        ),
        ("config.json", Some(config("num_attention_heads", json!(3))), "3 heads cannot share a width of 8"),
        ("config.json", Some(config("num_attention_heads", json!(0))), "0 heads"),
        ("config.json", Some(config("max_position_embeddings", json!(2))), "no positions for words"),
        ("config.json", Some(config("hidden_size", json!("wide"))), "expected usize"),
        ("tokenizer.json", None, "os error 2"),
        ("tokenizer.json", Some("{}".to_owned()), "Model missing"),
        (
            "tokenizer.json",
            Some(TinyMiniLm::tokenizer().to_string().replace("[CLS]", "[XXX]")),
            "it has no [CLS]",
        ),
        ("model.safetensors", None, "os error 2"),
        ("model.safetensors", Some("not weights".to_owned()), "eader"),
    ] {
        let tiny = TinyMiniLm::new();
        let path = tiny.folder().join(file);
        match text {
            Some(text) => std::fs::write(&path, text).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let why = tiny.open().unwrap_err().to_string();
        assert!(why.starts_with(&format!("{} cannot be used: ", path.display())), "{why}");
        assert!(why.contains(wanted), "{wanted}: {why}");
    }
}

#[test]
fn weights_of_another_shape_are_refused() {
    let tiny = TinyMiniLm::new();
    for (key, value, named) in [
        ("num_hidden_layers", 3, "encoder.layer.2."),
        ("intermediate_size", 17, "encoder.layer.0.intermediate.dense"),
        ("vocab_size", 9, "embeddings.word_embeddings"),
    ] {
        let mut config = TinyMiniLm::config();
        config[key] = json!(value);
        std::fs::write(tiny.folder().join("config.json"), config.to_string()).unwrap();
        let why = tiny.open().unwrap_err().to_string();
        assert!(why.contains("model.safetensors cannot be used: "), "{key}: {why}");
        assert!(why.contains(named) && !why.contains('\n'), "{key}: {why}");
    }
}

/// A model of the same kind with two layers over ten word pieces, in its own folder.
struct TinyMiniLm(tempfile::TempDir);

impl TinyMiniLm {
    fn new() -> Self {
        let tiny = Self(tempfile::tempdir().unwrap());
        std::fs::write(tiny.folder().join("config.json"), Self::config().to_string()).unwrap();
        std::fs::write(tiny.folder().join("tokenizer.json"), Self::tokenizer().to_string()).unwrap();
        candle_core::safetensors::save(&Self::weights(), tiny.folder().join("model.safetensors")).unwrap();
        tiny
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }

    fn open(&self) -> Result<MiniLm, EmbeddedError> {
        MiniLm::open(self.folder())
    }

    fn config() -> Value {
        json!({
            "model_type": "bert", "hidden_act": "gelu", "hidden_size": 8, "intermediate_size": 16,
            "num_hidden_layers": 2, "num_attention_heads": 2, "layer_norm_eps": 1e-12,
            "max_position_embeddings": 12, "type_vocab_size": 2, "vocab_size": 10,
        })
    }

    /// With the truncation and padding that MiniLM's own file asks for and the crate switches off.
    fn tokenizer() -> Value {
        let special = |id: u32, content: &str| {
            json!({
                "id": id, "content": content, "special": true, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false,
            })
        };
        let pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cheap", "safe", "dear", "slow", "and", "or"];
        let vocab: serde_json::Map<String, Value> =
            pieces.iter().zip(0..).map(|(piece, id)| ((*piece).to_owned(), json!(id))).collect();
        json!({
            "version": "1.0",
            "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0},
            "padding": {
                "strategy": {"Fixed": 6}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
                "pad_type_id": 0, "pad_token": "[PAD]",
            },
            "added_tokens": [special(0, "[PAD]"), special(1, "[UNK]"), special(2, "[CLS]"), special(3, "[SEP]")],
            "normalizer": {
                "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
                "lowercase": true,
            },
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": null,
            "decoder": null,
            "model": {
                "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100, "vocab": vocab,
            },
        })
    }

    fn weights() -> HashMap<String, Tensor> {
        let mut shapes: Vec<(String, Vec<usize>)> = vec![
            ("embeddings.word_embeddings.weight".into(), vec![10, 8]),
            ("embeddings.position_embeddings.weight".into(), vec![12, 8]),
            ("embeddings.token_type_embeddings.weight".into(), vec![2, 8]),
        ];
        let mut part = |name: String, shape: &[usize]| {
            shapes.push((format!("{name}.weight"), shape.to_vec()));
            shapes.push((format!("{name}.bias"), shape[..1].to_vec()));
        };
        part("embeddings.LayerNorm".into(), &[8]);
        for layer in 0..2 {
            let name = |part: &str| format!("encoder.layer.{layer}.{part}");
            for of in ["query", "key", "value"] {
                part(name(&format!("attention.self.{of}")), &[8, 8]);
            }
            part(name("attention.output.dense"), &[8, 8]);
            part(name("attention.output.LayerNorm"), &[8]);
            part(name("intermediate.dense"), &[16, 8]);
            part(name("output.dense"), &[8, 16]);
            part(name("output.LayerNorm"), &[8]);
        }
        let mut draw = agon_core::seed::SeededDraw::new(7, "weights");
        let mut tensor = |shape: Vec<usize>| {
            let mut number = || (draw.below(2001) as f32 - 1000.0) / 1000.0;
            let values: Vec<f32> = (0..shape.iter().product()).map(|_| number()).collect();
            Tensor::from_vec(values, shape, &Device::Cpu).unwrap()
        };
        shapes.into_iter().map(|(name, shape)| (name, tensor(shape))).collect()
    }
}
