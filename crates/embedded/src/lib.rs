//! Models that run in this process: no key, no server, nothing to install.
//!
//! `embedded/smollm2` is SmolLM2-135M-Instruct, which is small enough for every machine; `embedded/PATH.gguf` is any llama
//! model in a GGUF file. The engine calls them as an [`EmbeddedModel`].
//!
//! A tour, in reading order:
//!
//! - [`embedded_model`]: the model as the engine sees it, and its settings.
//! - `model_thread`: the thread that a model runs on, and how its file is loaded.
//! - `completion`: how a call is answered: in plain words, field by field, or as guided JSON.
//! - `context_window`: the prompt, rephrased in plain words or shortened to fit.
//! - `field_by_field`: a structured answer, asked for one field at a time.
//! - `guided_json`: a structured answer, written as JSON that must follow its schema.
//! - `conversation`: the model in one conversation; `sentences`: where its answer ends; `token_sampling`: the next token.
//! - `chat_template` and `vocabulary`: text to tokens, as the model's file defines it.
//! - `llama`: the network; `forward_pass`: how tokens pass through it; `compute_threads`: on how many threads.
//! - `packed_matrix`: its products, for each set of instructions; `key_value_cache`: attention; `vector_math`: the rest.
//! - `requantize`: a copy of the small model's file in 8 bits.
//! - [`minilm`]: sentences as vectors, to measure how similar they are.
//! - [`model_files`]: where the files of the models come from, and where they are kept.

#![warn(missing_docs)]

mod chat_template;
mod completion;
mod compute_threads;
mod context_window;
mod conversation;
mod embedded_error;
pub mod embedded_model;
mod field_by_field;
mod forward_pass;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod gguf_header;
mod guided_json;
mod key_value_cache;
mod llama;
pub mod minilm;
pub mod model_files;
mod model_thread;
mod packed_matrix;
mod requantize;
mod sentences;
mod token_sampling;
mod vector_math;
mod vocabulary;

pub use embedded_error::EmbeddedError;
pub use embedded_model::{EmbeddedModel, EmbeddedSettings, SMOLLM2, StructuredStrategy};
pub use model_files::{
    KNOWN_MODELS, KnownModel, ModelFileState, ModelFileStore, PullError, PullProgress, PullSettings,
    PullSource, PulledModel, SpeedMeter, TransferSpeed, known_model,
};
pub use model_thread::prepare_small_model;
