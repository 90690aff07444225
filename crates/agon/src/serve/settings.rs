//! `[serve]` of the configuration.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::cli::errors::CliError;

/// What a server allows, and how it goes on after a restart.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServeSettings {
    /// Where it listens, unless `--listen` says otherwise.
    pub listen: String,
    /// Names under which browsers and callers may reach the server, besides `localhost` and addresses.
    pub hosts: Vec<String>,
    /// Models that callers may name although they run a program or read a file of this machine, such as `command/critic`, and tools
    /// of debates that they branch or resume, such as `tool/files`.
    pub allow: Vec<String>,
    /// Whether debates that ran are continued after a restart.
    pub resume: bool,
    /// For how many seconds a debate of a chat program goes on after the program hung up.
    pub linger_s: u64,
    /// How many debates run at once.
    pub debates: usize,
    /// How many more may wait.
    pub queue: usize,
    /// The most US dollars per day (UTC) over all debates. Every model then needs a known price. By default there is no limit.
    pub usd_per_day: Option<f64>,
    /// The largest body of a request, in megabytes.
    pub body_mb: usize,
    /// How many connections are open at once.
    pub connections: usize,
}

impl Default for ServeSettings {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:7717".into(),
            hosts: Vec::new(),
            allow: Vec::new(),
            resume: true,
            linger_s: 600,
            debates: 256,
            queue: 10_000,
            usd_per_day: None,
            body_mb: 16,
            connections: 2_000,
        }
    }
}

impl ServeSettings {
    /// Refuses values that cannot work.
    pub fn check(&self) -> Result<(), CliError> {
        let numbers =
            [("debates", self.debates), ("body_mb", self.body_mb), ("connections", self.connections)];
        if let Some((key, _)) = numbers.into_iter().find(|(_, value)| *value == 0) {
            return Err(CliError::input(format!("[serve] {key} is 0, so nothing could happen: raise it")));
        }
        match self.usd_per_day {
            Some(usd) if !(usd > 0.0 && usd.is_finite()) => {
                Err(CliError::input("[serve] usd_per_day must be more than 0: raise it, or omit it"))
            }
            _ => Ok(()),
        }
    }
}
