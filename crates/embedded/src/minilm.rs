//! MiniLM: sentences as vectors, such that like sentences have vectors of like directions.
//!
//! The model is all-MiniLM-L6-v2: a small BERT over word pieces, whose outputs are averaged and brought to length 1. It was made
//! to read at most 256 tokens at once. A longer text is not cut: it is read in parts of about the same length, and the average
//! is taken over the tokens of all of them, so that no word is left out and each counts as much as any other.
//!
//! - `pieces`: text to word pieces, and long texts to parts.
//! - `network`: the network.

mod network;
mod pieces;

use std::fmt;
use std::path::Path;

use crate::Broken;
use network::{Network, Shape};
use pieces::Pieces;

/// The model, read and ready. Nothing in it changes, so it can be shared.
pub struct MiniLm {
    pieces: Pieces,
    network: Network,
}

/// Texts as vectors, and what it took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vectors {
    /// One for each text, in order.
    pub vectors: Vec<Vec<f32>>,
    /// How many tokens were read.
    pub tokens: u64,
}

/// So many parts of texts go through the network at once: the weights are fetched from memory once for all of them. More would
/// gain little and take more room.
const AT_ONCE: usize = 8;

impl MiniLm {
    /// Reads `config.json`, `tokenizer.json` and `model.safetensors` of a folder. Blocks for some tenths of a second.
    pub fn open(folder: &Path) -> Result<Self, Broken> {
        let shape = Shape::read(&folder.join("config.json"))?;
        let pieces = Pieces::read(&folder.join("tokenizer.json"), shape.tokens_max())?;
        let network = Network::read(&folder.join("model.safetensors"), shape)?;
        Ok(Self { pieces, network })
    }

    /// How long each vector is.
    pub fn width(&self) -> usize {
        self.network.width()
    }

    /// A vector of length 1 for each text, in order. A text without words has no direction, and gets noughts. What a text
    /// gets does not depend on the others. Blocks while it computes.
    pub fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Broken> {
        Ok(self.embed_while(texts, &|| true)?.vectors)
    }

    /// The same, with the count of tokens. `go_on` is asked now and then; when it says no, the work is given up.
    pub fn embed_while(&self, texts: &[String], go_on: &dyn Fn() -> bool) -> Result<Vectors, Broken> {
        let mut parts = Vec::new();
        for (place, text) in texts.iter().enumerate() {
            parts.extend(self.pieces.parts(text)?.into_iter().map(|part| (place, part)));
        }
        let mut sums = vec![vec![0.0; self.width()]; texts.len()];
        for pass in parts.chunks(AT_ONCE) {
            if !go_on() {
                return Err(Broken::Abandoned);
            }
            let read: Vec<&[u32]> = pass.iter().map(|(_, part)| part.as_slice()).collect();
            for ((place, _), part) in pass.iter().zip(self.network.sums(&read)?) {
                let sum = sums.get_mut(*place).into_iter().flatten();
                sum.zip(part).for_each(|(sum, more)| *sum += f64::from(more));
            }
        }
        let tokens = parts.iter().map(|(_, part)| part.len() as u64).sum();
        Ok(Vectors { vectors: sums.iter().map(|sum| of_length_one(sum)).collect(), tokens })
    }
}

/// The average over the tokens, brought to length 1. It has the direction of their sum, so there is nothing to divide by first.
fn of_length_one(sum: &[f64]) -> Vec<f32> {
    let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    sum.iter().map(|x| (x * scale) as f32).collect()
}

/// The first line of the reason: candle's errors bring a backtrace along where one is asked for.
fn unusable(path: &Path, why: &dyn fmt::Display) -> Broken {
    let why = why.to_string();
    Broken::File(format!("{} cannot be used: {}", path.display(), why.lines().next().unwrap_or_default()))
}

impl fmt::Debug for MiniLm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MiniLm").field("width", &self.width()).finish_non_exhaustive()
    }
}
