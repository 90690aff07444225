//! The network of a llama model, over quantized weights.
//!
//! Unlike candle's own llama, this one can truncate its cache of keys and values to any length, so that a prompt that begins
//! like the last one is computed only from where it differs. It also reads the whole context that the file allows.

use std::borrow::Cow;
use std::io::{Read, Seek};
use std::sync::Arc;

use candle_core::quantized::gguf_file::{Content, Value};
use candle_core::quantized::{GgmlDType, QMatMul, QStorage, QTensor};
use candle_core::{D, DType, Device, Tensor};
use candle_nn::rotary_emb::rope_i;

use crate::compute_threads::{ComputeThreads, RowHelpers};
use crate::embedded_model::EmbeddedSettings;
use crate::{EmbeddedError, requantize};

/// The most tokens that are computed at once; more would only take memory.
const CHUNK_TOKENS: usize = 256;
/// The cache of keys and values grows by so many tokens.
const CACHE_STEP_TOKENS: usize = 512;
/// The width of a tile of weights in candle's fast kernels.
const TILE_WIDTH: usize = 256;
/// The rows of each part of a split matrix are a multiple of this, as candle's kernels need.
const PART_ROWS: usize = 64;

/// A model's weights, and the keys and values of what it has read.
pub(crate) struct LlamaNetwork {
    shape: LlamaShape,
    embedding: QMatMul,
    layers: Vec<LlamaLayer>,
    norm: RmsNorm,
    output: WeightMatrix,
    /// The cosines and sines of all positions.
    angles: (Tensor, Tensor),
    /// The tokens whose keys and values are in the cache.
    cached: Vec<u32>,
    computed_tokens: u64,
    threads: ComputeThreads,
}

/// The dimensions of a model.
#[derive(Debug, Clone)]
pub(crate) struct LlamaShape {
    heads: usize,
    kv_heads: usize,
    head_width: usize,
    /// The most tokens that it reads and writes.
    pub(crate) context: usize,
    /// The number of its weights.
    pub(crate) weights: u64,
}

struct LlamaLayer {
    attention_norm: RmsNorm,
    query: WeightMatrix,
    key: WeightMatrix,
    value: WeightMatrix,
    out: WeightMatrix,
    ffn_norm: RmsNorm,
    gate: WeightMatrix,
    up: WeightMatrix,
    down: WeightMatrix,
    keys: Tensor,
    values: Tensor,
}

/// A matrix of weights, split by rows for the threads that compute it. It may be wider than its input.
struct WeightMatrix {
    parts: Vec<QMatMul>,
    width: usize,
}

struct RmsNorm {
    weight: Tensor,
    epsilon: f32,
}

impl LlamaNetwork {
    /// Reads the weights of a file. The settings limit the context, and with it the memory, and the threads.
    pub(crate) fn read(
        content: &Content,
        file: &mut (impl Read + Seek),
        settings: &EmbeddedSettings,
    ) -> Result<Self, EmbeddedError> {
        let threads = ComputeThreads::new(settings.threads);
        let shape = LlamaShape::of(content, settings.context)?;
        shape.check_heads(content)?;
        let device = Device::Cpu;
        let mut tensor = |name: &str| -> Result<QTensor, EmbeddedError> {
            content
                .tensor(file, name, &device)
                .map_err(|_| EmbeddedError::File(format!("it has no usable {name}")))
        };
        let epsilon = metadata_number(content, "llama.attention.layer_norm_rms_epsilon")? as f32;
        let embedding = Arc::new(tensor("token_embd.weight")?);
        let layout = MatrixLayout { parts: threads.matrix_parts(), whole_tiles: has_tile_instructions() };
        // Small models use one table for input and output.
        let output = match content.tensor_infos.contains_key("output.weight") {
            true => WeightMatrix::split(Arc::new(tensor("output.weight")?), layout)?,
            false => WeightMatrix::split(embedding.clone(), layout)?,
        };
        let mut layers = Vec::new();
        for index in 0..metadata_number(content, "llama.block_count")? as usize {
            let mut part = |name: &str| tensor(&format!("blk.{index}.{name}.weight"));
            let mut norm = |name| RmsNorm::of(part(name)?, epsilon);
            let (attention_norm, ffn_norm) = (norm("attn_norm")?, norm("ffn_norm")?);
            let mut matrix = |name| WeightMatrix::of(part(name)?, layout);
            let cache = (1, shape.kv_heads, CACHE_STEP_TOKENS, shape.head_width);
            layers.push(LlamaLayer {
                attention_norm,
                query: matrix("attn_q")?,
                key: matrix("attn_k")?,
                value: matrix("attn_v")?,
                out: matrix("attn_output")?,
                ffn_norm,
                gate: matrix("ffn_gate")?,
                up: matrix("ffn_up")?,
                down: matrix("ffn_down")?,
                keys: Tensor::zeros(cache, DType::F32, &device)?,
                values: Tensor::zeros(cache, DType::F32, &device)?,
            });
        }
        let base = optional_number(content, "llama.rope.freq_base").unwrap_or(10_000.0);
        let slowdowns = match content.tensor_infos.contains_key("rope_freqs.weight") {
            true => tensor("rope_freqs.weight")?.dequantize(&device)?.flatten_all()?.to_vec1::<f32>()?,
            false => Vec::new(),
        };
        let angles = position_angles(&shape, base, &slowdowns, &device)?;
        let norm = RmsNorm::of(tensor("output_norm.weight")?, epsilon)?;
        let embedding = QMatMul::from_arc(embedding)?;
        Ok(Self {
            shape,
            embedding,
            layers,
            norm,
            output,
            angles,
            cached: Vec::new(),
            computed_tokens: 0,
            threads,
        })
    }

    pub(crate) fn shape(&self) -> &LlamaShape {
        &self.shape
    }

    /// How many tokens were computed so far.
    pub(crate) fn computed_tokens(&self) -> u64 {
        self.computed_tokens
    }

    /// The logits of every token as the next one after `tokens`. What `tokens` have in common with the last call is not computed
    /// again. `is_wanted` is asked between chunks; when it returns false, the call is abandoned.
    pub(crate) fn next_logits(
        &mut self,
        tokens: &[u32],
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Vec<f32>, EmbeddedError> {
        let Some(last) = tokens.len().checked_sub(1) else {
            return Err(EmbeddedError::Prompt("the prompt is empty".into()));
        };
        if tokens.len() > self.shape.context {
            return Err(EmbeddedError::TooLong { tokens: tokens.len(), context: self.shape.context });
        }
        let same = tokens.iter().zip(&self.cached).take_while(|(new, old)| new == old).count();
        // The last token is always computed, because logits are not kept.
        self.cached.truncate(same.min(last));
        let mut logits = None;
        while self.cached.len() < tokens.len() {
            if !is_wanted() {
                return Err(EmbeddedError::Abandoned);
            }
            let begin = self.cached.len();
            let chunk = tokens.get(begin..tokens.len().min(begin + CHUNK_TOKENS)).unwrap_or_default();
            let Self { threads, cached, computed_tokens, shape, embedding, layers, norm, output, angles } =
                self;
            let mut pass = ForwardPass { shape, embedding, layers, norm, output, angles };
            logits = Some(threads.run(chunk.len(), |helpers| pass.logits(chunk, begin, helpers))?);
            cached.extend_from_slice(chunk);
            *computed_tokens += chunk.len() as u64;
        }
        Ok(logits.unwrap_or_default())
    }
}

/// One pass of a chunk of tokens through the network: everything but the threads that it runs on.
struct ForwardPass<'a> {
    shape: &'a LlamaShape,
    embedding: &'a QMatMul,
    layers: &'a mut [LlamaLayer],
    norm: &'a RmsNorm,
    output: &'a WeightMatrix,
    angles: &'a (Tensor, Tensor),
}

impl ForwardPass<'_> {
    fn logits(
        &mut self,
        chunk: &[u32],
        begin: usize,
        helpers: &RowHelpers,
    ) -> Result<Vec<f32>, EmbeddedError> {
        let (cos, sin) = self.angles;
        let (cos, sin) = (cos.narrow(0, begin, chunk.len())?, sin.narrow(0, begin, chunk.len())?);
        let mask = (chunk.len() > 1).then(|| causal_mask(chunk.len(), begin)).transpose()?;
        let position = ChunkPosition { begin, cos: &cos, sin: &sin, mask: mask.as_ref() };
        let ids = Tensor::new(chunk, &Device::Cpu)?.unsqueeze(0)?;
        let mut x = self.embedding.embedding(&ids)?;
        for layer in &mut *self.layers {
            let y = layer.attention_norm.apply(&x)?;
            x = (&x + layer.attend(&y, self.shape, &position, helpers)?)?;
            let y = layer.ffn_norm.apply(&x)?;
            let gate = candle_nn::ops::silu(&layer.gate.forward(&y, helpers)?)?;
            let gated = (gate * layer.up.forward(&y, helpers)?)?;
            x = (x + layer.down.forward(&gated, helpers)?)?;
        }
        let last = x.narrow(1, chunk.len() - 1, 1)?.contiguous()?;
        let logits = self.output.forward(&self.norm.apply(&last)?, helpers)?;
        Ok(logits.flatten_all()?.to_vec1()?)
    }
}

/// Where a chunk of tokens stands in the conversation.
struct ChunkPosition<'a> {
    begin: usize,
    cos: &'a Tensor,
    sin: &'a Tensor,
    mask: Option<&'a Tensor>,
}

impl LlamaLayer {
    fn attend(
        &mut self,
        x: &Tensor,
        shape: &LlamaShape,
        position: &ChunkPosition<'_>,
        helpers: &RowHelpers,
    ) -> Result<Tensor, EmbeddedError> {
        let ChunkPosition { begin, cos, sin, mask } = *position;
        let (_, len, _) = x.dims3()?;
        let split = |y: Tensor, heads: usize| -> candle_core::Result<Tensor> {
            y.reshape((1, len, heads, shape.head_width))?.transpose(1, 2)?.contiguous()
        };
        let query = rope_i(&split(self.query.forward(x, helpers)?, shape.heads)?, cos, sin)?;
        let key = rope_i(&split(self.key.forward(x, helpers)?, shape.kv_heads)?, cos, sin)?;
        let value = split(self.value.forward(x, helpers)?, shape.kv_heads)?;
        self.grow_cache(begin + len, begin, shape.context)?;
        self.keys.slice_set(&key, 2, begin)?;
        self.values.slice_set(&value, 2, begin)?;
        let keys = self.keys.narrow(2, 0, begin + len)?;
        let values = self.values.narrow(2, 0, begin + len)?;
        // Heads that share their keys become rows of one product.
        let rows = (1, shape.kv_heads, shape.heads / shape.kv_heads * len, shape.head_width);
        let scale = 1.0 / (shape.head_width as f64).sqrt();
        let query = (query.reshape(rows)? * scale)?;
        // A product with few rows is faster with its factors swapped.
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
        let attended = candle_nn::ops::softmax_last_dim(&scores)?.matmul(&values)?;
        let attended = attended.reshape((1, shape.heads, len, shape.head_width))?.transpose(1, 2)?;
        let attended = attended.reshape((1, len, shape.heads * shape.head_width))?;
        Ok(self.out.forward(&attended, helpers)?)
    }

    fn grow_cache(&mut self, wanted: usize, used: usize, context: usize) -> Result<(), EmbeddedError> {
        let (_, heads, room, width) = self.keys.dims4()?;
        if wanted <= room {
            return Ok(());
        }
        let room = wanted.next_multiple_of(CACHE_STEP_TOKENS).min(context.max(wanted));
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

impl WeightMatrix {
    /// A matrix of a layer, in the format that computes fastest.
    fn of(tensor: QTensor, layout: MatrixLayout) -> Result<Self, EmbeddedError> {
        let tensor = requantize::to_fast_format(tensor)?;
        let (rows, width) = tensor.shape().dims2()?;
        let wider = width.next_multiple_of(TILE_WIDTH);
        if !layout.whole_tiles || wider == width || tensor.dtype() != GgmlDType::Q8_0 {
            return Self::split(Arc::new(tensor), layout);
        }
        // Zeros at the end of each row change no product, and let the fast instructions take the matrix.
        let data = tensor.data()?;
        let mut widened = Vec::with_capacity(rows * row_bytes(GgmlDType::Q8_0, wider));
        for row in data.chunks_exact(row_bytes(GgmlDType::Q8_0, width)) {
            widened.extend_from_slice(row);
            widened.resize(widened.len().next_multiple_of(row_bytes(GgmlDType::Q8_0, wider)), 0);
        }
        let storage = QStorage::from_data(Cow::Owned(widened), &Device::Cpu, GgmlDType::Q8_0)?;
        Self::split(Arc::new(QTensor::new(storage, (rows, wider))?), layout)
    }

    /// The matrix as it is, split for the threads.
    fn split(tensor: Arc<QTensor>, layout: MatrixLayout) -> Result<Self, EmbeddedError> {
        let (rows, width) = tensor.shape().dims2()?;
        if layout.parts < 2 {
            return Ok(Self { parts: vec![QMatMul::from_arc(tensor)?], width });
        }
        let part_rows = rows.div_ceil(layout.parts).next_multiple_of(PART_ROWS);
        let (kind, data) = (tensor.dtype(), tensor.data()?);
        let row_bytes = row_bytes(kind, width);
        let mut parts = Vec::with_capacity(layout.parts);
        for part in data.chunks(part_rows * row_bytes) {
            let storage = QStorage::from_data(Cow::Owned(part.to_vec()), &Device::Cpu, kind)?;
            let part = QTensor::new(storage, (part.len() / row_bytes, width))?;
            parts.push(QMatMul::from_qtensor(part)?);
        }
        Ok(Self { parts, width })
    }

    fn forward(&self, x: &Tensor, helpers: &RowHelpers) -> candle_core::Result<Tensor> {
        match self.width.saturating_sub(x.dim(D::Minus1)?) {
            0 => helpers.multiply(&self.parts, x),
            missing => helpers.multiply(&self.parts, &x.pad_with_zeros(D::Minus1, 0, missing)?),
        }
    }
}

fn row_bytes(kind: GgmlDType, width: usize) -> usize {
    width / kind.block_size() * kind.type_size()
}

/// How matrices are stored for this machine.
#[derive(Debug, Clone, Copy)]
struct MatrixLayout {
    /// The number of threads that share the rows of a matrix.
    parts: usize,
    /// Whether rows are padded to whole tiles.
    whole_tiles: bool,
}

/// Whether this machine multiplies whole tiles faster than single rows: candle has kernels for these instructions.
fn has_tile_instructions() -> bool {
    #[cfg(target_arch = "x86_64")]
    let tiles = is_x86_feature_detected!("avx512vnni") || is_x86_feature_detected!("avxvnni");
    #[cfg(not(target_arch = "x86_64"))]
    let tiles = false;
    tiles
}

impl RmsNorm {
    fn of(weight: QTensor, epsilon: f32) -> Result<Self, EmbeddedError> {
        Ok(Self { weight: weight.dequantize(&Device::Cpu)?, epsilon })
    }

    fn apply(&self, x: &Tensor) -> Result<Tensor, EmbeddedError> {
        Ok(candle_nn::ops::rms_norm(x, &self.weight, self.epsilon)?)
    }
}

impl LlamaShape {
    fn of(content: &Content, context_max: usize) -> Result<Self, EmbeddedError> {
        let architecture =
            content.metadata.get("general.architecture").and_then(|name| name.to_string().ok());
        match architecture.map(String::as_str) {
            Some("llama") => {}
            Some(other) => {
                return Err(EmbeddedError::File(format!(
                    "it is a {other} model; only llama models are supported"
                )));
            }
            None => return Err(EmbeddedError::File("it does not say what kind of model it is".into())),
        }
        let whole = |key: &str| metadata_number(content, key).map(|n| n as usize);
        let (heads, width) = (whole("llama.attention.head_count")?, whole("llama.embedding_length")?);
        let head_width = optional_number(content, "llama.attention.key_length").map(|n| n as usize);
        let head_width = head_width.or_else(|| width.checked_div(heads)).filter(|width| *width > 0);
        let kv_heads =
            optional_number(content, "llama.attention.head_count_kv").map_or(heads, |n| n as usize);
        if heads == 0 || kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
            return Err(EmbeddedError::File(format!(
                "its {heads} attention heads cannot share {kv_heads} key heads evenly"
            )));
        }
        let scaling = content.metadata.get("llama.rope.scaling.type").and_then(|kind| kind.to_string().ok());
        if let Some(kind) = scaling.filter(|kind| *kind != "none") {
            return Err(EmbeddedError::File(format!(
                "it uses {kind:?} scaling of positions, which is not supported"
            )));
        }
        Ok(Self {
            heads,
            kv_heads,
            head_width: head_width
                .ok_or_else(|| EmbeddedError::File("its attention heads have no width".into()))?,
            context: whole("llama.context_length")?.min(context_max),
            weights: content
                .tensor_infos
                .values()
                .fold(0_u64, |sum, info| sum.saturating_add(info.shape.elem_count() as u64)),
        })
    }

    /// Compares the heads with the matrices that compute them, which are as large as the file. The numbers alone could claim any size.
    fn check_heads(&self, content: &Content) -> Result<(), EmbeddedError> {
        for (name, heads) in [("blk.0.attn_q.weight", self.heads), ("blk.0.attn_k.weight", self.kv_heads)] {
            let rows = content.tensor_infos.get(name).and_then(|info| info.shape.dims().first().copied());
            if rows.is_none() || rows != heads.checked_mul(self.head_width) {
                return Err(EmbeddedError::File(format!("its attention heads do not fit {name}")));
            }
        }
        Ok(())
    }
}

/// Keeps a token from attending to those after it.
fn causal_mask(len: usize, begin: usize) -> Result<Tensor, EmbeddedError> {
    let row = |index: usize| {
        (0..begin + len).map(move |seen| if seen > begin + index { f32::NEG_INFINITY } else { 0.0 })
    };
    let mask: Vec<f32> = (0..len).flat_map(row).collect();
    Ok(Tensor::from_vec(mask, (1, len, begin + len), &Device::Cpu)?)
}

/// The cosines and sines that encode positions.
///
/// Models whose context was extended after training slow some rates down, by factors in their file.
fn position_angles(
    shape: &LlamaShape,
    base: f64,
    slowdowns: &[f32],
    device: &Device,
) -> Result<(Tensor, Tensor), EmbeddedError> {
    let width = shape.head_width;
    let rate = |pair: usize| (1.0 / base.powf(2.0 * pair as f64 / width as f64)) as f32;
    let rates = (0..width / 2).map(|pair| rate(pair) / slowdowns.get(pair).copied().unwrap_or(1.0));
    let rates = Tensor::from_iter(rates, device)?.unsqueeze(0)?;
    let positions =
        Tensor::arange(0, shape.context as u32, device)?.to_dtype(DType::F32)?.unsqueeze(D::Minus1)?;
    let angles = positions.matmul(&rates)?;
    Ok((angles.cos()?, angles.sin()?))
}

fn metadata_number(content: &Content, key: &str) -> Result<f64, EmbeddedError> {
    optional_number(content, key).ok_or_else(|| EmbeddedError::File(format!("it does not have {key}")))
}

fn optional_number(content: &Content, key: &str) -> Option<f64> {
    match content.metadata.get(key)? {
        Value::F32(n) => Some(f64::from(*n)),
        Value::F64(n) => Some(*n),
        other => other.to_u64().ok().map(|n| n as f64),
    }
}
