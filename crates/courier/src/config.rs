//! `[destinations.NAME]` of `agon.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use agon_core::Invalid;
use serde::{Deserialize, Serialize};

use crate::destination::{Address, Format, is_name};
use crate::hooks::HookConfig;
use crate::policy::TIMEOUT_S_MAX;

/// One `[destinations.NAME]`.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DestinationConfig {
    /// What it is; when not given, a program where there is a `command`, a file where there is a `dir`, else a callback.
    pub kind: Option<Kind>,
    /// Its address. One with a secret in it, as chats have them, is better kept in a variable.
    pub url: Option<String>,
    /// The environment variable that holds its address.
    pub url_env: Option<String>,
    /// The environment variable with the secret that a callback is signed with;
    /// [`CALLBACK_SECRET`](crate::signature::CALLBACK_SECRET), where that is set, when not given.
    pub secret_env: Option<String>,
    /// The program and its arguments. No shell reads them.
    pub command: Vec<String>,
    /// The folder that files are put into, each under the name of its debate.
    pub dir: Option<PathBuf>,
    /// What a file is written in.
    pub format: Option<Format>,
    /// How long an attempt may take.
    pub timeout_s: Option<f64>,
}

/// What a destination is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A server that is called with the outcome.
    Callback,
    /// A Slack channel.
    Slack,
    /// A Discord channel.
    Discord,
    /// A program.
    Command,
    /// A file in a folder.
    File,
}

impl DestinationConfig {
    /// What it is.
    pub fn kind(&self) -> Kind {
        let seen = if !self.command.is_empty() {
            Kind::Command
        } else if self.dir.is_some() {
            Kind::File
        } else {
            Kind::Callback
        };
        self.kind.unwrap_or(seen)
    }

    /// Refuses what cannot work in `[destinations.NAME]`, and says where it stands.
    pub fn check(&self, name: &str) -> Result<(), Invalid> {
        self.wrong(name).map_or(Ok(()), |why| Err(Invalid(format!("[destinations.{name}]: {why}"))))
    }

    fn wrong(&self, name: &str) -> Option<String> {
        if !is_name(name) {
            return Some("the name has letters, digits, `-` and `_` only".into());
        }
        let kind = self.kind();
        let posted = matches!(kind, Kind::Callback | Kind::Slack | Kind::Discord);
        if let Some(extra) = self.out_of_place(kind, posted) {
            return Some(format!("{extra} has no meaning for this kind of destination: leave it away"));
        }
        match (&self.url, &self.url_env) {
            (Some(url), None) => {
                if let Err(why) = Address::parse(url) {
                    return Some(format!("url: {why}"));
                }
            }
            (None, Some(_)) => {}
            _ if posted => {
                return Some("give either url = \"https://...\" or url_env = \"A_VARIABLE\"".into());
            }
            _ => {}
        }
        if kind == Kind::Command && wrong_program(&self.command) {
            return Some("command is the program and its arguments, such as [\"notify\", \"--json\"]".into());
        }
        if kind == Kind::File && self.dir.as_ref().is_none_or(|dir| dir.as_os_str().is_empty()) {
            return Some("dir is the folder that the files are put into".into());
        }
        let variables = [("url_env", &self.url_env), ("secret_env", &self.secret_env)];
        for (field, variable) in variables {
            if variable.as_deref().is_some_and(|variable| !is_variable(variable)) {
                return Some(format!("{field} is the name of an environment variable, not what it holds"));
            }
        }
        let sane = |seconds: f64| seconds > 0.0 && seconds <= TIMEOUT_S_MAX;
        (!self.timeout_s.is_none_or(sane))
            .then(|| format!("timeout_s is a number of seconds over 0, at most {TIMEOUT_S_MAX}"))
    }

    fn out_of_place(&self, kind: Kind, posted: bool) -> Option<&'static str> {
        let fields = [
            ("url", self.url.is_some() && !posted),
            ("url_env", self.url_env.is_some() && !posted),
            ("secret_env", self.secret_env.is_some() && kind != Kind::Callback),
            ("command", !self.command.is_empty() && kind != Kind::Command),
            ("dir", self.dir.is_some() && kind != Kind::File),
            ("format", self.format.is_some() && kind != Kind::File),
        ];
        fields.into_iter().find(|(_, wrong)| *wrong).map(|(field, _)| field)
    }

    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout_s.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }
}

// An address may hold a secret, and a configuration is printed by whoever looks for a mistake in it.
impl std::fmt::Debug for DestinationConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DestinationConfig")
            .field("kind", &self.kind())
            .field("url", &self.url.as_deref().map(Address::parse))
            .field("url_env", &self.url_env)
            .field("secret_env", &self.secret_env)
            .field("command", &self.command)
            .field("dir", &self.dir)
            .field("format", &self.format)
            .field("timeout_s", &self.timeout_s)
            .finish()
    }
}

/// Refuses what cannot work, and says where it stands.
pub fn check(
    destinations: &BTreeMap<String, DestinationConfig>,
    hooks: &[HookConfig],
) -> Result<(), Invalid> {
    destinations.iter().try_for_each(|(name, destination)| destination.check(name))?;
    let mut names = BTreeSet::new();
    for (number, hook) in (1..).zip(hooks) {
        let twice = hook.name.as_ref().filter(|name| !names.insert(name.as_str()));
        let twice = twice.map(|name| format!("there is another hook of the name {name}"));
        if let Some(why) = hook.wrong(destinations).or(twice) {
            return Err(Invalid(format!("[[hooks]] number {number}: {why}")));
        }
    }
    Ok(())
}

/// Whether this is no program with its arguments.
pub(crate) fn wrong_program(program: &[String]) -> bool {
    let blank = program.first().is_none_or(|program| program.trim().is_empty());
    blank || program.iter().any(|word| word.contains('\0'))
}

fn is_variable(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    starts && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
