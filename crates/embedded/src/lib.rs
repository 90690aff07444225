//! Models that run in this program: no key, no server, nothing to install.
//!
//! `embedded/smollm2` is SmolLM2-135M-Instruct, small enough to be there for everybody; `embedded/PATH.gguf` is any llama model in a
//! GGUF file. [`Embedded`] is what the engine calls.
//!
//! A tour, in reading order:
//!
//! - [`model`]: the model as the engine sees it, and what can be set.
//! - `worker`: the thread that it lives on, and how its file is opened.
//! - `answer`: what it answers to a call: in plain words, field by field, or held to a schema.
//! - `script`: a prompt in its pieces, told plainly or shortened.
//! - `fields`: a structured answer, one field at a time; `guided`: one that is held to its schema while it is written.
//! - `speaker`: the model in a conversation; `sentence`: where what it says ends; `sample`: which token comes next.
//! - `chat` and `vocabulary`: text to tokens, as the file says.
//! - `llama`: the network; `pace`: whether many threads are faster than one; `requantize`: weights in the form that is computed
//!   fastest.
//! - [`minilm`]: sentences as vectors, to tell how much they have in common.

#![warn(missing_docs)]

mod answer;
mod broken;
mod chat;
mod fields;
mod guided;
mod llama;
pub mod minilm;
pub mod model;
mod pace;
mod requantize;
mod sample;
mod script;
mod sentence;
mod speaker;
mod vocabulary;
mod worker;

pub use broken::Broken;
pub use model::{Embedded, SMOLLM2, Settings, Structured};
