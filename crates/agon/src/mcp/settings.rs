//! `[mcp]` of the configuration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cli::errors::CliError;
use crate::hosting::HostSettings;
use crate::hosting::debate_request::CallerRights;

/// How many debates may wait for a place.
const QUEUE: usize = 1_000;

/// What a coding agent may do, and what becomes of its debates when it hangs up.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct McpSettings {
    /// What becomes of running debates when the client closes the connection.
    pub on_close: CloseAction,
    /// Models that the agent may name although they run a program or read a file of this machine, such as `command/critic`, and tools
    /// of debates that it branches or resumes, such as `tool/files`.
    pub allow: Vec<String>,
    /// Whether debates that an earlier process left are continued.
    pub resume: bool,
    /// How many debates run at once. More wait.
    pub debates: usize,
    /// The most US dollars per day (UTC) over all debates. Every model then needs a known price. By default there is no limit.
    pub usd_per_day: Option<f64>,
}

/// What becomes of running debates when the client closes the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CloseAction {
    /// They run to their end, and then the process ends.
    #[default]
    Finish,
    /// They stop in order. The next process continues them.
    Stop,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            on_close: CloseAction::Finish,
            allow: Vec::new(),
            resume: true,
            debates: 16,
            usd_per_day: None,
        }
    }
}

impl McpSettings {
    /// Refuses values that cannot work.
    pub fn check(&self) -> Result<(), CliError> {
        if self.debates == 0 {
            return Err(CliError::input("[mcp] debates is 0, so nothing could happen: raise it"));
        }
        match self.usd_per_day {
            Some(usd) if !(usd > 0.0 && usd.is_finite()) => {
                Err(CliError::input("[mcp] usd_per_day must be more than 0: raise it, or omit it"))
            }
            _ => Ok(()),
        }
    }

    /// What the host of the agent's debates allows.
    pub fn host_settings(&self) -> HostSettings {
        HostSettings {
            debates_at_once: self.debates,
            queue: QUEUE,
            usd_per_day: self.usd_per_day,
            rights: CallerRights {
                allowed_models: self.allow.iter().cloned().collect(),
                section: "mcp",
                caller_seat: true,
            },
        }
    }
}
