//! The network of a llama model: its weights, its shape, and what it has read.
//!
//! The keys and values of a prompt are kept, and truncated to any length, so that a prompt that begins like the last one is
//! computed only from where it differs.

use std::io::{Read, Seek};
use std::sync::RwLock;

use candle_core::Device;
use candle_core::quantized::QTensor;
use candle_core::quantized::gguf_file::{Content, Value};
use fearless_simd::Level;

use crate::EmbeddedError;
use crate::compute_threads::ComputeThreads;
use crate::embedded_model::EmbeddedSettings;
use crate::forward_pass::{ForwardPass, LayerCaches};
use crate::key_value_cache::HeadCache;
use crate::packed_matrix::{PANEL_ROWS, PackedMatrix, PanelKernel};

/// The most tokens that are computed at once; more would only take memory.
const CHUNK_TOKENS: usize = 256;
/// Limits the instructions that are used, to `avx2` or to `baseline`: for tests and measurements on a machine that has more.
const INSTRUCTIONS_VARIABLE: &str = "AGON_EMBEDDED_INSTRUCTIONS";

/// A model's weights, and the keys and values of what it has read.
pub(crate) struct LlamaNetwork {
    shape: LlamaShape,
    weights: NetworkWeights,
    caches: Vec<LayerCaches>,
    /// The tokens whose keys and values are in the caches.
    cached: Vec<u32>,
    computed_tokens: u64,
    threads: ComputeThreads,
    level: Level,
}

/// The dimensions of a model.
#[derive(Debug, Clone)]
pub(crate) struct LlamaShape {
    /// The numbers that go from layer to layer for each token.
    width: usize,
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) head_width: usize,
    /// The most tokens that it reads and writes.
    pub(crate) context: usize,
    /// The number of its weights.
    pub(crate) weights: u64,
}

/// All that a model has learned.
pub(crate) struct NetworkWeights {
    pub(crate) embedding: PackedMatrix,
    pub(crate) layers: Vec<LayerWeights>,
    pub(crate) norm: Vec<f32>,
    pub(crate) epsilon: f32,
    /// `None` if it is the embedding: small models use one table for input and output.
    output: Option<PackedMatrix>,
    /// How fast each pair of numbers turns from position to position.
    turn_rates: Vec<f32>,
}

/// What a layer has learned.
pub(crate) struct LayerWeights {
    pub(crate) attention_norm: Vec<f32>,
    pub(crate) query: PackedMatrix,
    pub(crate) key: PackedMatrix,
    pub(crate) value: PackedMatrix,
    pub(crate) out: PackedMatrix,
    pub(crate) ffn_norm: Vec<f32>,
    pub(crate) gate: PackedMatrix,
    pub(crate) up: PackedMatrix,
    pub(crate) down: PackedMatrix,
}

impl LlamaNetwork {
    /// Reads the weights of a file. The settings limit the context, and with it the memory, and the threads.
    pub(crate) fn read(
        content: &Content,
        file: &mut (impl Read + Seek),
        settings: &EmbeddedSettings,
    ) -> Result<Self, EmbeddedError> {
        let shape = LlamaShape::of(content, settings.context)?;
        shape.check_heads(content)?;
        let level = instruction_level(std::env::var(INSTRUCTIONS_VARIABLE).ok().as_deref());
        let weights = NetworkWeights::read(content, file, &shape, PanelKernel::of(level))?;
        let caches = || (0..shape.kv_heads).map(|_| RwLock::new(HeadCache::new(shape.head_width))).collect();
        Ok(Self {
            caches: weights.layers.iter().map(|_| caches()).collect(),
            shape,
            weights,
            cached: Vec::new(),
            computed_tokens: 0,
            threads: ComputeThreads::new(settings.threads),
            level,
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
        let mut logits = Vec::new();
        while self.cached.len() < tokens.len() {
            if !is_wanted() {
                return Err(EmbeddedError::Abandoned);
            }
            let begin = self.cached.len();
            let end = tokens.len().min(begin + CHUNK_TOKENS);
            let chunk = tokens.get(begin..end).unwrap_or_default();
            let Self { shape, weights, caches, level, .. } = self;
            let wants_logits = end == tokens.len();
            let pass = ForwardPass { weights, shape, caches, level: *level, chunk, begin, wants_logits };
            logits = self.threads.run(chunk.len(), |threads| pass.run(threads))?;
            self.cached.extend_from_slice(chunk);
            self.computed_tokens += chunk.len() as u64;
        }
        Ok(logits)
    }
}

/// The instructions to use: what the machine has, up to those that are named.
fn instruction_level(named: Option<&str>) -> Level {
    let level = Level::new();
    match named {
        #[cfg(target_arch = "x86_64")]
        Some("avx2") => level.as_avx2().map_or(level, Level::Avx2),
        Some("baseline") => Level::baseline(),
        _ => level,
    }
}

impl NetworkWeights {
    fn read(
        content: &Content,
        file: &mut (impl Read + Seek),
        shape: &LlamaShape,
        kernel: PanelKernel,
    ) -> Result<Self, EmbeddedError> {
        let mut tensors = FileTensors { content, file, kernel };
        let width = shape.width;
        let (queries, keys) = (shape.heads * shape.head_width, shape.kv_heads * shape.head_width);
        let embedding = tensors.matrix("token_embd", None, width)?;
        let output = match tensors.has("output.weight") {
            true => Some(tensors.matrix("output", None, width)?),
            false => None,
        };
        let mut layers = Vec::new();
        for index in 0..metadata_number(content, "llama.block_count")? as usize {
            let name = |name: &str| format!("blk.{index}.{name}");
            let gate = tensors.matrix(&name("ffn_gate"), None, width)?;
            let feed = gate.rows();
            layers.push(LayerWeights {
                attention_norm: tensors.numbers(&name("attn_norm"), width)?,
                query: tensors.matrix(&name("attn_q"), Some(queries), width)?,
                key: tensors.matrix(&name("attn_k"), Some(keys), width)?,
                value: tensors.matrix(&name("attn_v"), Some(keys), width)?,
                out: tensors.matrix(&name("attn_output"), Some(width), queries)?,
                ffn_norm: tensors.numbers(&name("ffn_norm"), width)?,
                gate,
                up: tensors.matrix(&name("ffn_up"), Some(feed), width)?,
                down: tensors.matrix(&name("ffn_down"), Some(width), feed)?,
            });
        }
        let base = optional_number(content, "llama.rope.freq_base").unwrap_or(10_000.0);
        // Models whose context was extended after training slow some rates down, by factors in their file.
        let slowdowns = match tensors.has("rope_freqs.weight") {
            true => tensors.numbers("rope_freqs", shape.head_width / 2)?,
            false => vec![1.0; shape.head_width / 2],
        };
        let rate = |pair: usize| (1.0 / base.powf(2.0 * pair as f64 / shape.head_width as f64)) as f32;
        Ok(Self {
            embedding,
            layers,
            norm: tensors.numbers("output_norm", width)?,
            epsilon: metadata_number(content, "llama.attention.layer_norm_rms_epsilon")? as f32,
            output,
            turn_rates: slowdowns.iter().enumerate().map(|(pair, slowdown)| rate(pair) / slowdown).collect(),
        })
    }

    /// The matrix that computes logits.
    pub(crate) fn output(&self) -> &PackedMatrix {
        self.output.as_ref().unwrap_or(&self.embedding)
    }

    /// The cosines and sines that encode a position.
    pub(crate) fn angles(&self, position: usize) -> Vec<(f32, f32)> {
        let angles = self.turn_rates.iter().map(|rate| position as f32 * rate);
        angles.map(|angle| (angle.cos(), angle.sin())).collect()
    }
}

/// The tensors of a file, which are checked before they are used.
struct FileTensors<'a, F> {
    content: &'a Content,
    file: &'a mut F,
    kernel: PanelKernel,
}

impl<F: Read + Seek> FileTensors<'_, F> {
    fn has(&self, name: &str) -> bool {
        self.content.tensor_infos.contains_key(name)
    }

    fn tensor(&mut self, name: &str) -> Result<QTensor, EmbeddedError> {
        self.content.tensor(self.file, name, &Device::Cpu).map_err(|_| unusable(name))
    }

    /// A matrix with so many rows, if they are known, and columns.
    fn matrix(
        &mut self,
        name: &str,
        rows: Option<usize>,
        columns: usize,
    ) -> Result<PackedMatrix, EmbeddedError> {
        let name = format!("{name}.weight");
        let matrix = PackedMatrix::of(self.tensor(&name)?, self.kernel)?;
        match matrix.width() == columns && rows.is_none_or(|rows| matrix.rows() == rows) {
            true => Ok(matrix),
            false => Err(unusable(&name)),
        }
    }

    /// A list of so many numbers.
    fn numbers(&mut self, name: &str, count: usize) -> Result<Vec<f32>, EmbeddedError> {
        let name = format!("{name}.weight");
        let numbers = self.tensor(&name)?.dequantize(&Device::Cpu)?.flatten_all()?.to_vec1::<f32>()?;
        if numbers.len() == count { Ok(numbers) } else { Err(unusable(&name)) }
    }
}

fn unusable(name: &str) -> EmbeddedError {
    EmbeddedError::File(format!("it has no usable {name}"))
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
        let head_width =
            head_width.ok_or_else(|| EmbeddedError::File("its attention heads have no width".into()))?;
        if !head_width.is_multiple_of(PANEL_ROWS) {
            return Err(EmbeddedError::File(format!(
                "its attention heads have a width of {head_width}; only multiples of {PANEL_ROWS} are supported"
            )));
        }
        Ok(Self {
            width,
            heads,
            kv_heads,
            head_width,
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

#[cfg(test)]
#[allow(dead_code, clippy::unwrap_used)]
#[path = "../tests/tiny/mod.rs"]
mod tiny_model;

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::gguf_header::read_header;

    fn network() -> LlamaNetwork {
        let folder = tempfile::tempdir().unwrap();
        let path = tiny_model::write(folder.path(), "tiny.gguf", tiny_model::TinyModelOptions::default());
        let mut file = File::open(path).unwrap();
        let content = read_header(&mut file).unwrap();
        LlamaNetwork::read(&content, &mut file, &EmbeddedSettings::default()).unwrap()
    }

    fn prompt() -> Vec<u32> {
        (0..300).map(|index| index * 7 % 250).collect()
    }

    #[test]
    fn a_prompt_gives_the_same_logits_at_once_and_in_parts() {
        let prompt = prompt();
        let at_once = network().next_logits(&prompt, &|| true).unwrap();
        let mut network = network();
        for end in [1, 2, 9, 10, 40, 41, 43, 299] {
            network.next_logits(&prompt[..end], &|| true).unwrap();
        }
        // Another ending is forgotten.
        network.next_logits(&[&prompt[..200], &[5; 70]].concat(), &|| true).unwrap();
        assert_eq!(network.next_logits(&prompt, &|| true).unwrap(), at_once);
        assert_eq!(network.computed_tokens(), 299 + 70 + 100);
    }

    #[test]
    fn any_number_of_threads_computes_the_same_logits() {
        let prompt = prompt();
        for tokens in [1, 2, 17, 100] {
            let logits = |threads: usize| {
                let LlamaNetwork { shape, weights, caches, level, .. } = &network();
                let chunk = &prompt[..tokens];
                let pass = ForwardPass {
                    weights,
                    shape,
                    caches,
                    level: *level,
                    chunk,
                    begin: 0,
                    wants_logits: true,
                };
                pass.run(threads).unwrap()
            };
            let on_one = logits(1);
            assert!(on_one.iter().all(|logit| logit.is_finite()) && on_one[0] != on_one[1]);
            for threads in [2, 3, 5, 8] {
                assert_eq!(logits(threads), on_one, "{tokens} tokens, {threads} threads");
            }
        }
    }
}
