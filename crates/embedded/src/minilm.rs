//! MiniLM: sentences as vectors. Similar sentences have vectors of similar directions.
//!
//! The model is all-MiniLM-L6-v2: a small BERT over word pieces whose outputs are averaged and scaled to length 1. It reads at
//! most 256 tokens at once. A longer text is not truncated: it is read in parts of about equal length, and the average is
//! taken over the tokens of all parts, so that every word counts the same.

use std::path::Path;
use std::{fmt, fs};

use candle_core::{DType, Device, Module, Tensor};
use candle_nn::{LayerNorm, Linear, VarBuilder};
use serde::Deserialize;
use tokenizers::Tokenizer;

use crate::EmbeddedError;

/// The loaded model. It never changes, so it can be shared between threads.
pub struct MiniLm {
    splitter: WordPieceSplitter,
    network: BertNetwork,
}

/// The vectors of texts, and how many tokens were read for them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MinilmVectors {
    /// One vector for each text, in order.
    pub vectors: Vec<Vec<f32>>,
    /// How many tokens were read.
    pub tokens: u64,
}

/// So many parts of texts are computed at once, so that the weights are fetched from memory once for all of them. More
/// would gain little and take more memory.
const PARTS_AT_ONCE: usize = 8;

impl MiniLm {
    /// Reads `config.json`, `tokenizer.json` and `model.safetensors` of a folder. Blocks for some tenths of a second.
    pub fn open(folder: &Path) -> Result<Self, EmbeddedError> {
        let config = BertConfig::read(&folder.join("config.json"))?;
        let splitter = WordPieceSplitter::read(&folder.join("tokenizer.json"), config.tokens_max())?;
        let network = BertNetwork::read(&folder.join("model.safetensors"), &config)?;
        Ok(Self { splitter, network })
    }

    /// The length of each vector.
    pub fn width(&self) -> usize {
        self.network.width()
    }

    /// A vector of length 1 for each text, in order; all zeros for a text without words. The vector of a text does not depend
    /// on the other texts. Blocks while it computes.
    pub fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddedError> {
        Ok(self.embed_while(texts, &|| true)?.vectors)
    }

    /// Like [`Self::embed`], with the number of tokens. `is_wanted` is asked now and then; when it returns false, the work is
    /// abandoned.
    pub fn embed_while(
        &self,
        texts: &[String],
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<MinilmVectors, EmbeddedError> {
        let mut parts = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            parts.extend(self.splitter.parts(text)?.into_iter().map(|part| (index, part)));
        }
        let mut sums = vec![vec![0.0; self.width()]; texts.len()];
        for batch in parts.chunks(PARTS_AT_ONCE) {
            if !is_wanted() {
                return Err(EmbeddedError::Abandoned);
            }
            let tokens: Vec<&[u32]> = batch.iter().map(|(_, part)| part.as_slice()).collect();
            for ((index, _), part) in batch.iter().zip(self.network.output_sums(&tokens)?) {
                let sum = sums.get_mut(*index).into_iter().flatten();
                sum.zip(part).for_each(|(sum, more)| *sum += f64::from(more));
            }
        }
        let tokens = parts.iter().map(|(_, part)| part.len() as u64).sum();
        Ok(MinilmVectors { vectors: sums.iter().map(|sum| scaled_to_length_one(sum)).collect(), tokens })
    }
}

/// The sum over the tokens has the direction of their average, so it need not be divided first.
fn scaled_to_length_one(sum: &[f64]) -> Vec<f32> {
    let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    sum.iter().map(|x| (x * scale) as f32).collect()
}

/// Only the first line of the reason: candle adds a backtrace when one is requested.
fn unusable(path: &Path, why: &dyn fmt::Display) -> EmbeddedError {
    let why = why.to_string();
    let line = why.lines().next().unwrap_or_default();
    EmbeddedError::File(format!("{} cannot be used: {line}", path.display()))
}

impl fmt::Debug for MiniLm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MiniLm").field("width", &self.width()).finish_non_exhaustive()
    }
}

/// Splits texts into BERT's word pieces, and long texts into parts.
struct WordPieceSplitter {
    tokenizer: Tokenizer,
    /// The tokens before and after each part.
    begin: u32,
    end: u32,
    /// The most pieces of a part, without those two.
    pieces_max: usize,
}

impl WordPieceSplitter {
    /// Reads a `tokenizer.json` for a model that reads so many tokens at once.
    fn read(path: &Path, tokens_max: usize) -> Result<Self, EmbeddedError> {
        let mut tokenizer = Tokenizer::from_file(path).map_err(|why| unusable(path, &why))?;
        // The file asks for truncation after 128 tokens and for padding, which callers would not notice.
        tokenizer.with_truncation(None).map_err(|why| unusable(path, &why))?;
        tokenizer.with_padding(None);
        // `[SEP]` in a text is text.
        tokenizer.set_encode_special_tokens(true);
        let special = |name: &str| {
            tokenizer.token_to_id(name).ok_or_else(|| unusable(path, &format!("it has no {name}")))
        };
        let (begin, end) = (special("[CLS]")?, special("[SEP]")?);
        Ok(Self { tokenizer, begin, end, pieces_max: tokens_max.saturating_sub(2) })
    }

    /// The tokens of a text, in one part or in as few parts of about equal length as possible. None for a text without words.
    fn parts(&self, text: &str) -> Result<Vec<Vec<u32>>, EmbeddedError> {
        let encoding = self.tokenizer.encode_fast(text, false);
        let encoding =
            encoding.map_err(|why| EmbeddedError::Prompt(format!("a text cannot be split: {why}")))?;
        let framed = |part: &[u32]| [&[self.begin], part, &[self.end]].concat();
        Ok(even_slices(encoding.get_ids(), self.pieces_max).map(framed).collect())
    }
}

/// As few slices of at most `pieces_max` as possible, of about equal length: a last one of a few words would say little.
fn even_slices(pieces: &[u32], pieces_max: usize) -> impl Iterator<Item = &[u32]> {
    let slices = pieces.len().div_ceil(pieces_max).max(1);
    pieces.chunks(pieces.len().div_ceil(slices).max(1))
}

/// What `config.json` says.
#[derive(Debug, Clone, Deserialize)]
struct BertConfig {
    model_type: String,
    hidden_act: String,
    #[serde(default)]
    position_embedding_type: Option<String>,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    layer_norm_eps: f64,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    vocab_size: usize,
}

/// The network has 512 positions, but the `sentence_bert_config.json` of all-MiniLM-L6-v2 limits it to these.
const TOKENS_MAX: usize = 256;

impl BertConfig {
    fn read(path: &Path) -> Result<Self, EmbeddedError> {
        let text = fs::read_to_string(path).map_err(|why| unusable(path, &why))?;
        let config: Self = serde_json::from_str(&text).map_err(|why| unusable(path, &why))?;
        let positions = config.position_embedding_type.as_deref().unwrap_or("absolute");
        for (key, actual, supported) in [
            ("model_type", config.model_type.as_str(), "bert"),
            ("hidden_act", &config.hidden_act, "gelu"),
            ("position_embedding_type", positions, "absolute"),
        ] {
            if actual != supported {
                let why = format!("its {key} is {actual:?}, and only {supported:?} is supported");
                return Err(unusable(path, &why));
            }
        }
        if config.num_attention_heads == 0 || !config.hidden_size.is_multiple_of(config.num_attention_heads) {
            let Self { hidden_size, num_attention_heads, .. } = config;
            let why = format!("{num_attention_heads} heads cannot share a width of {hidden_size}");
            return Err(unusable(path, &why));
        }
        // Two positions are for the tokens around the words.
        if config.max_position_embeddings < 3 {
            return Err(unusable(path, &"it has no positions for words"));
        }
        Ok(config)
    }

    /// How many tokens are read at once.
    fn tokens_max(&self) -> usize {
        self.max_position_embeddings.min(TOKENS_MAX)
    }
}

/// BERT's encoder.
///
/// Texts of different lengths are computed together without padding: their tokens are rows of one matrix, and only
/// attention treats each text by itself.
struct BertNetwork {
    /// A row for each word piece.
    words: Tensor,
    /// A row for each position. The embedding of the first sentence of a pair is already added: there are no pairs here.
    positions: Tensor,
    norm: LayerNorm,
    layers: Vec<BertLayer>,
    heads: usize,
}

struct BertLayer {
    /// Queries, keys and values in one product.
    query_key_value: Linear,
    attention_output: Linear,
    attention_norm: LayerNorm,
    widen: Linear,
    narrow: Linear,
    norm: LayerNorm,
}

impl BertNetwork {
    fn read(path: &Path, config: &BertConfig) -> Result<Self, EmbeddedError> {
        let bytes = fs::read(path).map_err(|why| unusable(path, &why))?;
        let weights = VarBuilder::from_buffered_safetensors(bytes, DType::F32, &Device::Cpu);
        weights.and_then(|weights| Self::of(config, &weights)).map_err(|why| unusable(path, &why))
    }

    fn of(config: &BertConfig, weights: &VarBuilder) -> candle_core::Result<Self> {
        let table = |rows, name: &str| {
            weights.get((rows, config.hidden_size), &format!("embeddings.{name}_embeddings.weight"))
        };
        let first_sentence = table(config.type_vocab_size, "token_type")?.narrow(0, 0, 1)?;
        let layers = weights.pp("encoder.layer");
        Ok(Self {
            words: table(config.vocab_size, "word")?,
            positions: table(config.max_position_embeddings, "position")?.broadcast_add(&first_sentence)?,
            norm: layer_norm(config, weights.pp("embeddings"))?,
            layers: (0..config.num_hidden_layers)
                .map(|layer| BertLayer::of(config, layers.pp(layer)))
                .collect::<Result<_, _>>()?,
            heads: config.num_attention_heads,
        })
    }

    fn width(&self) -> usize {
        self.words.dims().last().copied().unwrap_or_default()
    }

    /// For each text, the sum of the network's outputs for its tokens.
    fn output_sums(&self, texts: &[&[u32]]) -> candle_core::Result<Vec<Vec<f32>>> {
        let lengths: Vec<usize> = texts.iter().map(|text| text.len()).collect();
        let positions = lengths.iter().map(|length| self.positions.narrow(0, 0, *length));
        let positions = Tensor::cat(&positions.collect::<Result<Vec<_>, _>>()?, 0)?;
        let tokens = Tensor::new(texts.concat(), &Device::Cpu)?;
        let mut rows = self.norm.forward(&(self.words.index_select(&tokens, 0)? + positions)?)?;
        for layer in &self.layers {
            rows = layer.forward(&rows, &lengths, self.heads)?;
        }
        rows_by_text(&rows, &lengths)?.iter().map(|text| text.sum(0)?.to_vec1()).collect()
    }
}

impl BertLayer {
    fn of(config: &BertConfig, weights: VarBuilder) -> candle_core::Result<Self> {
        let BertConfig { hidden_size: width, intermediate_size: wide, .. } = *config;
        let parts = ["query", "key", "value"].map(|name| {
            let part = weights.pp("attention.self").pp(name);
            Ok((part.get((width, width), "weight")?, part.get(width, "bias")?))
        });
        let (matrices, biases): (Vec<_>, Vec<_>) =
            parts.into_iter().collect::<candle_core::Result<Vec<_>>>()?.into_iter().unzip();
        Ok(Self {
            query_key_value: Linear::new(Tensor::cat(&matrices, 0)?, Some(Tensor::cat(&biases, 0)?)),
            attention_output: candle_nn::linear(width, width, weights.pp("attention.output.dense"))?,
            attention_norm: layer_norm(config, weights.pp("attention.output"))?,
            widen: candle_nn::linear(width, wide, weights.pp("intermediate.dense"))?,
            narrow: candle_nn::linear(wide, width, weights.pp("output.dense"))?,
            norm: layer_norm(config, weights.pp("output"))?,
        })
    }

    fn forward(&self, rows: &Tensor, lengths: &[usize], heads: usize) -> candle_core::Result<Tensor> {
        let projected = self.query_key_value.forward(rows)?;
        let texts = rows_by_text(&projected, lengths)?;
        let attended = texts.iter().map(|text| attend(text, heads)).collect::<Result<Vec<_>, _>>()?;
        let rows = (rows + self.attention_output.forward(&Tensor::cat(&attended, 0)?)?)?;
        let rows = self.attention_norm.forward(&rows)?;
        let transformed = self.narrow.forward(&self.widen.forward(&rows)?.gelu_erf()?)?;
        self.norm.forward(&(rows + transformed)?)
    }
}

/// Attention among the tokens of one text.
fn attend(projected: &Tensor, heads: usize) -> candle_core::Result<Tensor> {
    let (length, three_widths) = projected.dims2()?;
    let width = three_widths / 3 / heads;
    let by_head = projected.reshape((length, 3, heads, width))?.permute((1, 2, 0, 3))?.contiguous()?;
    let (query, key, value) = (by_head.get(0)?, by_head.get(1)?, by_head.get(2)?);
    let scores = (query / (width as f64).sqrt())?.matmul(&key.t()?)?;
    let attended = candle_nn::ops::softmax_last_dim(&scores)?.matmul(&value)?;
    attended.transpose(0, 1)?.reshape((length, heads * width))
}

fn rows_by_text(rows: &Tensor, lengths: &[usize]) -> candle_core::Result<Vec<Tensor>> {
    let begins = lengths.iter().scan(0, |next, length| Some(std::mem::replace(next, *next + length)));
    begins.zip(lengths).map(|(begin, length)| rows.narrow(0, begin, *length)).collect()
}

fn layer_norm(config: &BertConfig, weights: VarBuilder) -> candle_core::Result<LayerNorm> {
    candle_nn::layer_norm(config.hidden_size, config.layer_norm_eps, weights.pp("LayerNorm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_read_completely_in_parts_of_about_equal_length() {
        for (pieces, lengths) in [
            (0, &[][..]),
            (1, &[1]),
            (10, &[10]),
            (11, &[6, 5]),
            (20, &[10, 10]),
            (21, &[7, 7, 7]),
            (95, &[10, 10, 10, 10, 10, 10, 10, 10, 10, 5]),
        ] {
            let text: Vec<u32> = (0..pieces).collect();
            let parts: Vec<&[u32]> = even_slices(&text, 10).collect();
            assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), lengths);
            assert_eq!(parts.concat(), text);
        }
    }
}
