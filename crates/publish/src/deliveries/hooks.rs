//! `[[hooks]]` of `agon.toml`: what happens after debates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::deliveries::config::{DestinationConfig, wrong_program};
use crate::deliveries::destination::{Address, Destination, Format, is_name};

/// One of the `[[hooks]]`: what happens after every debate of a kind.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookConfig {
    /// What it is called where its deliveries are listed.
    #[serde(default)]
    pub name: Option<String>,
    /// After which debates.
    #[serde(default)]
    pub on: On,
    /// Of which protocols; of all when not given.
    #[serde(default)]
    pub protocols: Option<Vec<String>>,
    /// A program and its arguments. No shell reads them.
    #[serde(default)]
    pub command: Option<Vec<String>>,
    /// An address that is called, or the NAME of a `[destinations.NAME]`.
    #[serde(default)]
    pub webhook: Option<String>,
    /// A file that is written.
    #[serde(default)]
    pub export: Option<ExportConfig>,
}

/// How a debate must have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum On {
    /// With a verdict.
    Complete,
    /// Cut short.
    Incomplete,
    /// Without a verdict.
    Failed,
    /// It does not matter.
    #[default]
    Any,
}

/// A file for each debate, under its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportConfig {
    /// What it is written in.
    #[serde(default)]
    pub format: Format,
    /// The folder, which is made where there is none.
    pub dir: PathBuf,
}

/// The deliveries to bind to a debate of this protocol. How it must end is seen when it has.
pub fn hooks_for(hooks: &[HookConfig], protocol: &str) -> Vec<Destination> {
    let meant = |hook: &&HookConfig| match &hook.protocols {
        Some(protocols) => protocols.iter().any(|name| name == protocol),
        None => true,
    };
    let keys: BTreeSet<String> = hooks.iter().filter(meant).map(HookConfig::key).collect();
    keys.into_iter().map(Destination::Hook).collect()
}

impl std::fmt::Debug for HookConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let webhook = self.webhook.as_deref();
        f.debug_struct("HookConfig")
            .field("name", &self.name)
            .field("on", &self.on)
            .field("protocols", &self.protocols)
            .field("command", &self.command)
            .field(
                "webhook",
                &webhook.map(|to| Address::parse(to).map_or_else(|_| "a name".into(), |to| to.to_string())),
            )
            .field("export", &self.export)
            .finish()
    }
}

impl HookConfig {
    /// The environment variables that a delivery of it needs: those of the destination that it names.
    pub fn variables<'a>(&self, destinations: &'a BTreeMap<String, DestinationConfig>) -> Vec<&'a str> {
        let named = self.webhook.as_ref().and_then(|name| destinations.get(name));
        named.map(DestinationConfig::variables).unwrap_or_default()
    }

    /// The same with an `export.dir` that begins at `folder`. Its [key](Self::key) is another, unless it has a name: a delivery
    /// is bound and made with the same of both.
    pub fn anchored(mut self, folder: &Path) -> Self {
        self.export = self.export.map(|export| ExportConfig { dir: folder.join(export.dir), ..export });
        self
    }

    /// Why it cannot work, if it cannot.
    pub(crate) fn wrong(&self, destinations: &BTreeMap<String, DestinationConfig>) -> Option<String> {
        if self.name.as_deref().is_some_and(|name| !is_name(name)) {
            return Some("the name has letters, digits, `-` and `_` only".into());
        }
        match (&self.command, &self.webhook, &self.export) {
            (Some(program), None, None) => wrong_program(program).then(|| {
                "command is the program and its arguments, such as [\"notify\", \"--json\"]".to_owned()
            }),
            (None, Some(name), None) if is_name(name) => {
                (!destinations.contains_key(name)).then(|| format!("there is no [destinations.{name}]"))
            }
            (None, Some(url), None) => {
                Address::parse(url).err().map(|why| format!("webhook is a name of a destination or {why}"))
            }
            (None, None, Some(export)) => {
                export.dir.as_os_str().is_empty().then(|| "export.dir is the folder for the files".to_owned())
            }
            _ => {
                Some("give one of command = [..], webhook = \"URL or NAME\", export = { format, dir }".into())
            }
        }
    }

    /// What a delivery of it is kept under: its name, or a sum of what it says. So a delivery that was bound before the
    /// configuration changed never runs something else, and none can bring a program that is not configured.
    pub fn key(&self) -> String {
        let sum = || {
            let written = serde_json::to_string(self).unwrap_or_default();
            agon_core::event::sha256(&written).chars().take(KEY_CHARS).collect()
        };
        self.name.clone().unwrap_or_else(sum)
    }
}

const KEY_CHARS: usize = 12;

impl On {
    /// Whether a debate with this status is meant.
    pub fn means(self, status: &str) -> bool {
        match self {
            Self::Complete => status == "complete",
            Self::Incomplete => status == "incomplete",
            Self::Failed => status == "failed",
            Self::Any => true,
        }
    }
}
