//! A llama model of a few thousand random weights. It writes nonsense with the same code as a real one.

use std::fs::File;
use std::path::{Path, PathBuf};

use agon_core::seed::SeededDraw;
use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};

const WIDTH: usize = 64;
const HEADS: usize = 4;
const KV_HEADS: usize = 2;
const FEED: usize = 96;
const LAYERS: usize = 2;
pub(crate) const CONTROL_TOKENS: [&str; 3] = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];

/// What the file contains.
#[derive(Clone, Copy)]
pub(crate) struct TinyModelOptions {
    pub(crate) kind: GgmlDType,
    pub(crate) context: u32,
    pub(crate) architecture: &'static str,
    pub(crate) tokenizer: &'static str,
    pub(crate) template: Option<&'static str>,
}

impl Default for TinyModelOptions {
    fn default() -> Self {
        Self {
            kind: GgmlDType::Q8_0,
            context: 8192,
            architecture: "llama",
            tokenizer: "gpt2",
            template: Some(
                "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}{% endfor %}\
                 {% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
            ),
        }
    }
}

/// Writes the model into `folder`.
pub(crate) fn write(folder: &Path, name: &str, options: TinyModelOptions) -> PathBuf {
    let path = folder.join(name);
    let tokens = tokens();
    let (metadata, tensors) = (metadata(options, &tokens), tensors(options.kind, tokens.len()));
    let metadata: Vec<(&str, &Value)> = metadata.iter().map(|(key, value)| (*key, value)).collect();
    let tensors: Vec<(&str, &QTensor)> =
        tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    gguf_file::write(&mut File::create(&path).unwrap(), &metadata, &tensors).unwrap();
    path
}

/// The control tokens, all bytes, and a few words.
fn tokens() -> Vec<String> {
    let is_printable = |byte: &u32| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let hidden: Vec<u32> = (0..256).filter(|byte| !is_printable(byte)).collect();
    let letter = |byte: u32| match hidden.iter().position(|other| *other == byte) {
        Some(index) => char::from_u32(256 + index as u32).unwrap(),
        None => char::from_u32(byte).unwrap(),
    };
    let control = CONTROL_TOKENS.iter().map(|name| (*name).to_owned());
    control
        .chain((0..256).map(|byte| letter(byte).to_string()))
        .chain(["he", "th", "the"].map(str::to_owned))
        .collect()
}

fn metadata(options: TinyModelOptions, tokens: &[String]) -> Vec<(&'static str, Value)> {
    let texts = |texts: &[String]| Value::Array(texts.iter().cloned().map(Value::String).collect());
    let kinds =
        (0..tokens.len()).map(|id| Value::I32(if id < CONTROL_TOKENS.len() { 3 } else { 1 })).collect();
    let merges = ["h e", "t h", "th e"].map(str::to_owned);
    let mut metadata = vec![
        ("general.architecture", Value::String(options.architecture.into())),
        ("llama.attention.head_count", Value::U32(HEADS as u32)),
        ("llama.attention.head_count_kv", Value::U32(KV_HEADS as u32)),
        ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
        ("llama.block_count", Value::U32(LAYERS as u32)),
        ("llama.context_length", Value::U32(options.context)),
        ("llama.embedding_length", Value::U32(WIDTH as u32)),
        ("llama.rope.freq_base", Value::F32(10_000.0)),
        ("tokenizer.ggml.model", Value::String(options.tokenizer.into())),
        ("tokenizer.ggml.pre", Value::String("smollm".into())),
        ("tokenizer.ggml.tokens", texts(tokens)),
        ("tokenizer.ggml.merges", texts(&merges)),
        ("tokenizer.ggml.token_type", Value::Array(kinds)),
        ("tokenizer.ggml.bos_token_id", Value::U32(1)),
        ("tokenizer.ggml.eos_token_id", Value::U32(2)),
    ];
    metadata
        .extend(options.template.map(|template| ("tokenizer.chat_template", Value::String(template.into()))));
    metadata
}

fn tensors(kind: GgmlDType, tokens: usize) -> Vec<(String, QTensor)> {
    let mut draw = SeededDraw::new(1, "tiny model");
    let mut random = |rows: usize, columns: usize, kind: GgmlDType| {
        let numbers: Vec<f32> = (0..rows * columns).map(|_| (draw.unit() as f32 - 0.5) * 0.6).collect();
        QTensor::quantize(&Tensor::from_vec(numbers, (rows, columns), &Device::Cpu).unwrap(), kind).unwrap()
    };
    let ones = || {
        QTensor::quantize(&Tensor::new(&[1f32; WIDTH][..], &Device::Cpu).unwrap(), GgmlDType::F32).unwrap()
    };
    let narrow = WIDTH / HEADS * KV_HEADS;
    let mut tensors = vec![
        ("token_embd.weight".to_owned(), random(tokens, WIDTH, GgmlDType::Q8_0)),
        ("output_norm.weight".to_owned(), ones()),
    ];
    for layer in 0..LAYERS {
        for (name, rows, columns) in [
            ("attn_q", WIDTH, WIDTH),
            ("attn_k", narrow, WIDTH),
            ("attn_v", narrow, WIDTH),
            ("attn_output", WIDTH, WIDTH),
            ("ffn_gate", FEED, WIDTH),
            ("ffn_up", FEED, WIDTH),
            ("ffn_down", WIDTH, FEED),
        ] {
            tensors.push((format!("blk.{layer}.{name}.weight"), random(rows, columns, kind)));
        }
        for name in ["attn_norm", "ffn_norm"] {
            tensors.push((format!("blk.{layer}.{name}.weight"), ones()));
        }
    }
    tensors
}
