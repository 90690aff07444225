//! The outcome as YAML.

use serde_json::Value;

/// A document that YAML cannot hold.
#[derive(Debug, thiserror::Error)]
#[error("this debate cannot be written as YAML ({0}): export it with `--format json`")]
pub struct NotYaml(#[from] serde_norway::Error);

/// The outcome document as YAML, field for field. Nothing is cleaned here: YAML escapes control characters itself,
/// and reading it back gives the same document.
pub fn yaml(document: &Value) -> Result<String, NotYaml> {
    Ok(serde_norway::to_string(document)?)
}
