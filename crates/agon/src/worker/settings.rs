//! `[worker]` of the configuration.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::cli::errors::CliError;

/// What a worker does at once.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkerSettings {
    /// Where it listens for Restate, unless `--listen` says otherwise.
    pub listen: String,
    /// How many debates run at once. More wait.
    pub debates: usize,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self { listen: "127.0.0.1:9080".into(), debates: 1_000 }
    }
}

impl WorkerSettings {
    /// Refuses values that cannot work.
    pub fn check(&self) -> Result<(), CliError> {
        match self.debates {
            0 => Err(CliError::input("[worker] debates is 0, so nothing could happen: raise it")),
            _ => Ok(()),
        }
    }
}
