//! Tests of all models: servers on loopback, real programs, scripted terminals.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod anthropic;
mod catalogue;
#[cfg(unix)]
mod command;
mod embeddings;
mod errors;
mod fault_debate;
mod fault_table;
mod form;
mod gemini;
mod human;
mod minilm;
mod openai;
mod probe;
mod readme;
mod schemas;
mod script;
mod support;
mod wire_formats;
