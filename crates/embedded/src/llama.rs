//! The network of a llama model, over quantized weights.
//!
//! candle has one too, but this one keeps its keys and values in a buffer that can be cut back to any length, so that a prompt
//! which begins like the last is computed only from where it differs, and reads as long a context as its file says.

use std::borrow::Cow;
use std::io::{Read, Seek};
use std::sync::Arc;

use candle_core::quantized::gguf_file::{Content, Value};
use candle_core::quantized::{GgmlDType, QMatMul, QStorage, QTensor};
use candle_core::{D, DType, Device, Module, Tensor};
use candle_nn::rotary_emb::rope_i;

use crate::pace::Pace;
use crate::{Broken, requantize};

/// So many tokens go through the network at once: more would only take memory.
const CHUNK: usize = 256;
/// The room for keys and values grows by so many tokens.
const ROOM: usize = 512;
/// The width of a tile of weights in candle's fast kernels.
const TILE: usize = 256;

/// A model's weights, and the keys and values of what it has read.
pub(crate) struct Llama {
    shape: Shape,
    embedding: QMatMul,
    layers: Vec<Layer>,
    norm: Norm,
    output: QMatMul,
    angles: (Tensor, Tensor),
    /// What it has read.
    read: Vec<u32>,
    /// How many tokens it has computed in all.
    computed: u64,
    pace: Pace,
}

/// The numbers of a model.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    heads: usize,
    kv_heads: usize,
    head_width: usize,
    /// The most tokens that it reads.
    pub(crate) context: usize,
    /// How many numbers it is made of.
    pub(crate) weights: u64,
}

struct Layer {
    attention_norm: Norm,
    query: Matrix,
    key: Matrix,
    value: Matrix,
    out: Matrix,
    ffn_norm: Norm,
    gate: Matrix,
    up: Matrix,
    down: Matrix,
    keys: Tensor,
    values: Tensor,
}

/// A matrix of weights, perhaps wider than what it is multiplied with.
struct Matrix {
    weights: QMatMul,
    width: usize,
}

struct Norm {
    weight: Tensor,
    epsilon: f32,
}

impl Llama {
    /// Reads the weights of a file. `context_max` bounds the memory that a long conversation may take.
    pub(crate) fn read(
        content: &Content,
        file: &mut (impl Read + Seek),
        context_max: usize,
    ) -> Result<Self, Broken> {
        let shape = Shape::of(content, context_max)?;
        let device = Device::Cpu;
        let mut tensor = |name: &str| -> Result<QTensor, Broken> {
            content.tensor(file, name, &device).map_err(|_| Broken::File(format!("it has no usable {name}")))
        };
        let epsilon = number(content, "llama.attention.layer_norm_rms_epsilon")? as f32;
        let embedding = Arc::new(tensor("token_embd.weight")?);
        // Small models write with the same table that they read with.
        let output = match content.tensor_infos.contains_key("output.weight") {
            true => QMatMul::from_qtensor(tensor("output.weight")?)?,
            false => QMatMul::from_arc(embedding.clone())?,
        };
        let wide = multiplies_tiles();
        let mut layers = Vec::new();
        for index in 0..number(content, "llama.block_count")? as usize {
            let mut part = |name: &str| tensor(&format!("blk.{index}.{name}.weight"));
            let mut norm = |name| Norm::of(part(name)?, epsilon);
            let (attention_norm, ffn_norm) = (norm("attn_norm")?, norm("ffn_norm")?);
            let mut matrix = |name| Matrix::of(part(name)?, wide);
            let room = (1, shape.kv_heads, ROOM, shape.head_width);
            layers.push(Layer {
                attention_norm,
                query: matrix("attn_q")?,
                key: matrix("attn_k")?,
                value: matrix("attn_v")?,
                out: matrix("attn_output")?,
                ffn_norm,
                gate: matrix("ffn_gate")?,
                up: matrix("ffn_up")?,
                down: matrix("ffn_down")?,
                keys: Tensor::zeros(room, DType::F32, &device)?,
                values: Tensor::zeros(room, DType::F32, &device)?,
            });
        }
        let base = optional(content, "llama.rope.freq_base").unwrap_or(10_000.0);
        let slower = match content.tensor_infos.contains_key("rope_freqs.weight") {
            true => tensor("rope_freqs.weight")?.dequantize(&device)?.flatten_all()?.to_vec1::<f32>()?,
            false => Vec::new(),
        };
        let angles = angles(&shape, base, &slower, &device)?;
        let norm = Norm::of(tensor("output_norm.weight")?, epsilon)?;
        let embedding = QMatMul::from_arc(embedding)?;
        Ok(Self {
            shape,
            embedding,
            layers,
            norm,
            output,
            angles,
            read: Vec::new(),
            computed: 0,
            pace: Pace::default(),
        })
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// How many tokens have gone through the network so far.
    pub(crate) fn computed(&self) -> u64 {
        self.computed
    }

    /// How likely each token is to come after `tokens`, as logits. Only what differs from what was read last is computed.
    /// `go_on` is asked now and then; when it says no, the reading is given up.
    pub(crate) fn after(&mut self, tokens: &[u32], go_on: &dyn Fn() -> bool) -> Result<Vec<f32>, Broken> {
        let Some(last) = tokens.len().checked_sub(1) else {
            return Err(Broken::Prompt("there is nothing to answer".into()));
        };
        if tokens.len() > self.shape.context {
            return Err(Broken::TooLong { tokens: tokens.len(), context: self.shape.context });
        }
        let same = tokens.iter().zip(&self.read).take_while(|(new, old)| new == old).count();
        // The last token goes through again, for its logits are not kept.
        self.read.truncate(same.min(last));
        let mut logits = None;
        while self.read.len() < tokens.len() {
            if !go_on() {
                return Err(Broken::Abandoned);
            }
            let begin = self.read.len();
            let chunk = tokens.get(begin..tokens.len().min(begin + CHUNK)).unwrap_or_default();
            let mut pace = std::mem::take(&mut self.pace);
            let computed = pace.run(chunk.len(), || self.forward(chunk, begin));
            self.pace = pace;
            logits = Some(computed?);
            self.read.extend_from_slice(chunk);
            self.computed += chunk.len() as u64;
        }
        Ok(logits.unwrap_or_default())
    }

    fn forward(&mut self, chunk: &[u32], begin: usize) -> Result<Vec<f32>, Broken> {
        let (angles, shape) = (&self.angles, &self.shape);
        let (cos, sin) = (angles.0.narrow(0, begin, chunk.len())?, angles.1.narrow(0, begin, chunk.len())?);
        let mask = (chunk.len() > 1).then(|| mask(chunk.len(), begin)).transpose()?;
        let ids = Tensor::new(chunk, &Device::Cpu)?.unsqueeze(0)?;
        let mut x = self.embedding.embedding(&ids)?;
        for layer in &mut self.layers {
            x = (&x
                + layer.attend(
                    &layer.attention_norm.apply(&x)?,
                    shape,
                    (&cos, &sin),
                    mask.as_ref(),
                    begin,
                )?)?;
            let y = layer.ffn_norm.apply(&x)?;
            let gated = (candle_nn::ops::silu(&layer.gate.forward(&y)?)? * layer.up.forward(&y)?)?;
            x = (x + layer.down.forward(&gated)?)?;
        }
        let last = x.narrow(1, chunk.len() - 1, 1)?.contiguous()?;
        let logits = self.output.forward(&self.norm.apply(&last)?)?;
        Ok(logits.flatten_all()?.to_vec1()?)
    }
}

impl Layer {
    fn attend(
        &mut self,
        x: &Tensor,
        shape: &Shape,
        (cos, sin): (&Tensor, &Tensor),
        mask: Option<&Tensor>,
        begin: usize,
    ) -> Result<Tensor, Broken> {
        let (_, len, _) = x.dims3()?;
        let split = |y: Tensor, heads: usize| -> candle_core::Result<Tensor> {
            y.reshape((1, len, heads, shape.head_width))?.transpose(1, 2)?.contiguous()
        };
        let query = rope_i(&split(self.query.forward(x)?, shape.heads)?, cos, sin)?;
        let key = rope_i(&split(self.key.forward(x)?, shape.kv_heads)?, cos, sin)?;
        let value = split(self.value.forward(x)?, shape.kv_heads)?;
        self.make_room(begin + len, begin, shape.context)?;
        self.keys.slice_set(&key, 2, begin)?;
        self.values.slice_set(&value, 2, begin)?;
        let keys = self.keys.narrow(2, 0, begin + len)?;
        let values = self.values.narrow(2, 0, begin + len)?;
        // The heads that share keys are rows of one product.
        let rows = (1, shape.kv_heads, shape.heads / shape.kv_heads * len, shape.head_width);
        let scale = 1.0 / (shape.head_width as f64).sqrt();
        let query = (query.reshape(rows)? * scale)?;
        // Few rows are multiplied faster as columns.
        let scores = match len {
            1 => keys.matmul(&query.t()?.contiguous()?)?.t()?.contiguous()?,
            _ => query.matmul(&keys.t()?)?,
        };
        let scores = match mask {
            Some(mask) => {
                let by_head = (shape.heads, len, begin + len);
                scores.reshape(by_head)?.broadcast_add(mask)?.reshape(scores.shape())?
            }
            None => scores,
        };
        let heard = candle_nn::ops::softmax_last_dim(&scores)?.matmul(&values)?;
        let heard = heard.reshape((1, shape.heads, len, shape.head_width))?.transpose(1, 2)?;
        Ok(self.out.forward(&heard.reshape((1, len, shape.heads * shape.head_width))?)?)
    }

    fn make_room(&mut self, wanted: usize, used: usize, context: usize) -> Result<(), Broken> {
        let (_, heads, room, width) = self.keys.dims4()?;
        if wanted <= room {
            return Ok(());
        }
        let room = wanted.next_multiple_of(ROOM).min(context.max(wanted));
        for cache in [&mut self.keys, &mut self.values] {
            let wider = Tensor::zeros((1, heads, room, width), DType::F32, cache.device())?;
            if used > 0 {
                wider.slice_set(&cache.narrow(2, 0, used)?.contiguous()?, 2, 0)?;
            }
            *cache = wider;
        }
        Ok(())
    }
}

impl Matrix {
    /// The matrix, widened with noughts to whole tiles if that lets the fast instructions take it.
    fn of(tensor: QTensor, wide: bool) -> Result<Self, Broken> {
        let tensor = requantize::fast(tensor)?;
        let (rows, width) = tensor.shape().dims2()?;
        let wider = width.next_multiple_of(TILE);
        if !wide || wider == width || tensor.dtype() != GgmlDType::Q8_0 {
            return Ok(Self { weights: QMatMul::from_qtensor(tensor)?, width });
        }
        let bytes = |width: usize| width / GgmlDType::Q8_0.block_size() * GgmlDType::Q8_0.type_size();
        let data = tensor.data()?;
        let mut widened = Vec::with_capacity(rows * bytes(wider));
        for row in data.chunks_exact(bytes(width)) {
            widened.extend_from_slice(row);
            widened.resize(widened.len() + bytes(wider) - bytes(width), 0);
        }
        let storage = QStorage::from_data(Cow::Owned(widened), &Device::Cpu, GgmlDType::Q8_0)?;
        let tensor = QTensor::new(storage, (rows, wider))?;
        Ok(Self { weights: QMatMul::from_qtensor(tensor)?, width: wider })
    }

    fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        match self.width.saturating_sub(x.dim(D::Minus1)?) {
            0 => self.weights.forward(x),
            missing => self.weights.forward(&x.pad_with_zeros(D::Minus1, 0, missing)?),
        }
    }
}

/// Whether this machine multiplies whole tiles faster than single rows: candle has kernels for these instructions.
fn multiplies_tiles() -> bool {
    #[cfg(target_arch = "x86_64")]
    let tiles = is_x86_feature_detected!("avx512vnni") || is_x86_feature_detected!("avxvnni");
    #[cfg(not(target_arch = "x86_64"))]
    let tiles = false;
    tiles
}

impl Norm {
    fn of(weight: QTensor, epsilon: f32) -> Result<Self, Broken> {
        Ok(Self { weight: weight.dequantize(&Device::Cpu)?, epsilon })
    }

    fn apply(&self, x: &Tensor) -> Result<Tensor, Broken> {
        Ok(candle_nn::ops::rms_norm(x, &self.weight, self.epsilon)?)
    }
}

impl Shape {
    pub(crate) fn of(content: &Content, context_max: usize) -> Result<Self, Broken> {
        let architecture =
            content.metadata.get("general.architecture").and_then(|name| name.to_string().ok());
        match architecture.map(String::as_str) {
            Some("llama") => {}
            Some(other) => {
                return Err(Broken::File(format!("it is a {other} model, and only llama models run here")));
            }
            None => return Err(Broken::File("it does not say what kind of model it is".into())),
        }
        let whole = |key: &str| number(content, key).map(|n| n as usize);
        let (heads, width) = (whole("llama.attention.head_count")?, whole("llama.embedding_length")?);
        let head_width = optional(content, "llama.attention.key_length").map(|n| n as usize);
        let head_width = head_width.or_else(|| width.checked_div(heads)).filter(|width| *width > 0);
        let kv_heads = optional(content, "llama.attention.head_count_kv").map_or(heads, |n| n as usize);
        if heads == 0 || kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
            return Err(Broken::File(format!(
                "it has {heads} heads over {kv_heads}, which cannot be shared out"
            )));
        }
        let scaling = content.metadata.get("llama.rope.scaling.type").and_then(|kind| kind.to_string().ok());
        if let Some(kind) = scaling.filter(|kind| *kind != "none") {
            return Err(Broken::File(format!(
                "it tells positions by {kind:?} scaling, which is not known here"
            )));
        }
        Ok(Self {
            heads,
            kv_heads,
            head_width: head_width.ok_or_else(|| Broken::File("its heads have no width".into()))?,
            context: whole("llama.context_length")?.min(context_max),
            weights: content.tensor_infos.values().map(|info| info.shape.elem_count() as u64).sum(),
        })
    }
}

/// What keeps a token from looking at those after it.
fn mask(len: usize, begin: usize) -> Result<Tensor, Broken> {
    let row = |place: usize| {
        (0..begin + len).map(move |seen| if seen > begin + place { f32::NEG_INFINITY } else { 0.0 })
    };
    let mask: Vec<f32> = (0..len).flat_map(row).collect();
    Ok(Tensor::from_vec(mask, (1, len, begin + len), &Device::Cpu)?)
}

/// The cosines and sines by which positions are told.
///
/// Models that were taught long contexts late have some rates made slower, by factors in their file.
fn angles(shape: &Shape, base: f64, slower: &[f32], device: &Device) -> Result<(Tensor, Tensor), Broken> {
    let width = shape.head_width;
    let rate = |pair: usize| (1.0 / base.powf(2.0 * pair as f64 / width as f64)) as f32;
    let rates = (0..width / 2).map(|pair| rate(pair) / slower.get(pair).copied().unwrap_or(1.0));
    let rates = Tensor::from_iter(rates, device)?.unsqueeze(0)?;
    let places =
        Tensor::arange(0, shape.context as u32, device)?.to_dtype(DType::F32)?.unsqueeze(D::Minus1)?;
    let angles = places.matmul(&rates)?;
    Ok((angles.cos()?, angles.sin()?))
}

fn number(content: &Content, key: &str) -> Result<f64, Broken> {
    optional(content, key).ok_or_else(|| Broken::File(format!("it does not say its {key}")))
}

fn optional(content: &Content, key: &str) -> Option<f64> {
    match content.metadata.get(key)? {
        Value::F32(n) => Some(f64::from(*n)),
        Value::F64(n) => Some(*n),
        other => other.to_u64().ok().map(|n| n as f64),
    }
}
