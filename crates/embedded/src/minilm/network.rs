//! The network: BERT's encoder, as `config.json` gives its measures.
//!
//! Texts of different lengths go through it together without padding: their tokens are the rows of one matrix for everything
//! that looks at a token alone, and only where tokens look at each other is each text by itself.

use std::fs;
use std::path::Path;

use candle_core::{DType, Device, Module, Tensor};
use candle_nn::{LayerNorm, Linear, VarBuilder};
use serde::Deserialize;

use super::unusable;
use crate::Broken;

/// What `config.json` says.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Shape {
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

/// The weights.
pub(super) struct Network {
    /// A row for each word piece.
    words: Tensor,
    /// A row for each place in a text. What is added for the first sentence of a pair is in it: there are no pairs here.
    places: Tensor,
    norm: LayerNorm,
    layers: Vec<Layer>,
    heads: usize,
}

struct Layer {
    /// Queries, keys and values, in one product.
    asked: Linear,
    heard: Linear,
    heard_norm: LayerNorm,
    widen: Linear,
    narrow: Linear,
    norm: LayerNorm,
}

/// The network has places for 512 tokens, but whoever made all-MiniLM-L6-v2 lets it read no more than these at once: they stand
/// in its `sentence_bert_config.json`.
const TOKENS_MAX: usize = 256;

impl Shape {
    pub(super) fn read(path: &Path) -> Result<Self, Broken> {
        let text = fs::read_to_string(path).map_err(|why| unusable(path, &why))?;
        let shape: Self = serde_json::from_str(&text).map_err(|why| unusable(path, &why))?;
        let places = shape.position_embedding_type.as_deref().unwrap_or("absolute");
        for (what, is, wanted) in [
            ("model_type", shape.model_type.as_str(), "bert"),
            ("hidden_act", &shape.hidden_act, "gelu"),
            ("position_embedding_type", places, "absolute"),
        ] {
            if is != wanted {
                return Err(unusable(path, &format!("its {what} is {is:?}, and only {wanted:?} runs here")));
            }
        }
        if shape.num_attention_heads == 0 || !shape.hidden_size.is_multiple_of(shape.num_attention_heads) {
            let Self { hidden_size, num_attention_heads, .. } = shape;
            let why = format!("{num_attention_heads} heads cannot share a width of {hidden_size}");
            return Err(unusable(path, &why));
        }
        // Two of them are for the tokens around the words.
        if shape.max_position_embeddings < 3 {
            return Err(unusable(path, &"it has no places for words"));
        }
        Ok(shape)
    }

    /// How many tokens are read at once.
    pub(super) fn tokens_max(&self) -> usize {
        self.max_position_embeddings.min(TOKENS_MAX)
    }
}

impl Network {
    pub(super) fn read(path: &Path, shape: Shape) -> Result<Self, Broken> {
        let bytes = fs::read(path).map_err(|why| unusable(path, &why))?;
        let weights = VarBuilder::from_buffered_safetensors(bytes, DType::F32, &Device::Cpu);
        weights.and_then(|weights| Self::of(&shape, &weights)).map_err(|why| unusable(path, &why))
    }

    fn of(shape: &Shape, weights: &VarBuilder) -> candle_core::Result<Self> {
        let table = |rows, name: &str| {
            weights.get((rows, shape.hidden_size), &format!("embeddings.{name}_embeddings.weight"))
        };
        let first = table(shape.type_vocab_size, "token_type")?.narrow(0, 0, 1)?;
        let layers = weights.pp("encoder.layer");
        Ok(Self {
            words: table(shape.vocab_size, "word")?,
            places: table(shape.max_position_embeddings, "position")?.broadcast_add(&first)?,
            norm: norm(shape, weights.pp("embeddings"))?,
            layers: (0..shape.num_hidden_layers)
                .map(|layer| Layer::of(shape, layers.pp(layer)))
                .collect::<Result<_, _>>()?,
            heads: shape.num_attention_heads,
        })
    }

    /// How long the vectors are.
    pub(super) fn width(&self) -> usize {
        self.words.dims().last().copied().unwrap_or_default()
    }

    /// For each text the sum of what the network makes of its tokens.
    pub(super) fn sums(&self, texts: &[&[u32]]) -> candle_core::Result<Vec<Vec<f32>>> {
        let lengths: Vec<usize> = texts.iter().map(|text| text.len()).collect();
        let places = lengths.iter().map(|length| self.places.narrow(0, 0, *length));
        let places = Tensor::cat(&places.collect::<Result<Vec<_>, _>>()?, 0)?;
        let tokens = Tensor::new(texts.concat(), &Device::Cpu)?;
        let mut rows = self.norm.forward(&(self.words.index_select(&tokens, 0)? + places)?)?;
        for layer in &self.layers {
            rows = layer.forward(&rows, &lengths, self.heads)?;
        }
        each(&rows, &lengths)?.iter().map(|text| text.sum(0)?.to_vec1()).collect()
    }
}

impl Layer {
    fn of(shape: &Shape, weights: VarBuilder) -> candle_core::Result<Self> {
        let Shape { hidden_size: width, intermediate_size: wide, .. } = *shape;
        let asked = ["query", "key", "value"].map(|name| {
            let part = weights.pp("attention.self").pp(name);
            Ok((part.get((width, width), "weight")?, part.get(width, "bias")?))
        });
        let (matrices, biases): (Vec<_>, Vec<_>) =
            asked.into_iter().collect::<candle_core::Result<Vec<_>>>()?.into_iter().unzip();
        Ok(Self {
            asked: Linear::new(Tensor::cat(&matrices, 0)?, Some(Tensor::cat(&biases, 0)?)),
            heard: candle_nn::linear(width, width, weights.pp("attention.output.dense"))?,
            heard_norm: norm(shape, weights.pp("attention.output"))?,
            widen: candle_nn::linear(width, wide, weights.pp("intermediate.dense"))?,
            narrow: candle_nn::linear(wide, width, weights.pp("output.dense"))?,
            norm: norm(shape, weights.pp("output"))?,
        })
    }

    fn forward(&self, rows: &Tensor, lengths: &[usize], heads: usize) -> candle_core::Result<Tensor> {
        let asked = self.asked.forward(rows)?;
        let heard =
            each(&asked, lengths)?.iter().map(|text| attend(text, heads)).collect::<Result<Vec<_>, _>>()?;
        let rows = (rows + self.heard.forward(&Tensor::cat(&heard, 0)?)?)?;
        let rows = self.heard_norm.forward(&rows)?;
        let thought = self.narrow.forward(&self.widen.forward(&rows)?.gelu_erf()?)?;
        self.norm.forward(&(rows + thought)?)
    }
}

/// What each token of one text hears from the others.
fn attend(asked: &Tensor, heads: usize) -> candle_core::Result<Tensor> {
    let (length, three) = asked.dims2()?;
    let width = three / 3 / heads;
    let by_head = asked.reshape((length, 3, heads, width))?.permute((1, 2, 0, 3))?.contiguous()?;
    let (query, key, value) = (by_head.get(0)?, by_head.get(1)?, by_head.get(2)?);
    let scores = (query / (width as f64).sqrt())?.matmul(&key.t()?)?;
    let heard = candle_nn::ops::softmax_last_dim(&scores)?.matmul(&value)?;
    heard.transpose(0, 1)?.reshape((length, heads * width))
}

/// The rows of each text by themselves.
fn each(rows: &Tensor, lengths: &[usize]) -> candle_core::Result<Vec<Tensor>> {
    let begins = lengths.iter().scan(0, |next, length| Some(std::mem::replace(next, *next + length)));
    begins.zip(lengths).map(|(begin, length)| rows.narrow(0, begin, *length)).collect()
}

fn norm(shape: &Shape, weights: VarBuilder) -> candle_core::Result<LayerNorm> {
    candle_nn::layer_norm(shape.hidden_size, shape.layer_norm_eps, weights.pp("LayerNorm"))
}
