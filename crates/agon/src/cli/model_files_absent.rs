//! The files of embedded models in a build without the feature `embedded`: there are none.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::errors::CliError;

/// A model file. In this build there is none, so no value of this type exists.
pub enum EmbeddedModelFiles {}

impl EmbeddedModelFiles {
    /// The model's name without a prefix.
    pub fn name(&self) -> &'static str {
        match *self {}
    }

    /// The name with which it can take a seat.
    pub fn model_name(&self) -> String {
        match *self {}
    }

    /// The folder of its files.
    pub fn folder(&self) -> &Path {
        match *self {}
    }

    /// Whether it can take a seat.
    pub fn is_debater(&self) -> bool {
        match *self {}
    }

    /// What it is good for.
    pub fn purpose(&self) -> &'static str {
        match *self {}
    }

    /// Whether all files are here.
    pub fn is_ready(&self) -> bool {
        match *self {}
    }

    /// Whether none of its files are here.
    pub fn is_missing(&self) -> bool {
        match *self {}
    }

    /// The state in a word or two.
    pub fn state_word(&self) -> &'static str {
        match *self {}
    }

    /// The size of all its files.
    pub fn size_words(&self) -> String {
        match *self {}
    }

    /// What the state means.
    pub fn explanation(&self) -> String {
        match *self {}
    }

    /// The state as JSON.
    pub fn document(&self) -> Value {
        match *self {}
    }
}

/// A model whose files are here after a pull.
pub struct PulledFiles {
    /// The model's name.
    pub name: &'static str,
    /// Where the files came from.
    pub source: Option<String>,
    pub paths: Vec<PathBuf>,
}

/// No models.
pub fn all_model_files() -> Vec<EmbeddedModelFiles> {
    Vec::new()
}

/// Refuses to pull models.
pub fn pull_models(_: &[&str], _: &Path, _: bool) -> Result<Vec<PulledFiles>, CliError> {
    Err(built_without())
}

/// Refuses to pull models.
pub fn ensure_model_files(_: &[&str], _: bool) -> Result<(), CliError> {
    Err(built_without())
}

/// Refuses to verify models.
pub fn verify_models(_: &[&str]) -> Result<Vec<EmbeddedModelFiles>, CliError> {
    Err(built_without())
}

fn built_without() -> CliError {
    CliError::input("this agon was built without embedded models")
        .with_help("name another model with --models")
}
