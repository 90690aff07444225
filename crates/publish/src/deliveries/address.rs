//! What a destination means under a configuration.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_core::Invalid;

use crate::deliveries::config::{DestinationConfig, Kind};
use crate::deliveries::courier::Settings;
use crate::deliveries::destination::{Address, Destination, Format};
use crate::deliveries::hooks::{HookConfig, On};
use crate::deliveries::outbox::Parcel;
use crate::deliveries::policy::TIMEOUT;
use crate::deliveries::signature::CALLBACK_SECRET;

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Task {
    pub(crate) way: Way,
    /// After which debates; after any where no hook says.
    pub(crate) on: On,
    pub(crate) timeout: Duration,
}

/// By which way a result goes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Way {
    File {
        path: PathBuf,
        format: Format,
        /// Whether the folder is ours to make.
        make_folder: bool,
    },
    Callback {
        address: Address,
        secret: Secret,
    },
    Slack(Address),
    Discord(Address),
    Program {
        command: Vec<String>,
        /// Where it is configured.
        section: String,
    },
}

/// What a callback is signed with.
#[derive(Clone, PartialEq)]
pub(crate) enum Secret {
    Known(String),
    /// Nobody has set one: unsigned, and said so.
    None,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if matches!(self, Self::Known(_)) { "Known" } else { "None" })
    }
}

/// Why a destination cannot be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Another run would be the same until somebody does something.
    Wrong(String),
    /// A variable is not set, which it may be in another run.
    NotHere(String),
}

impl From<Invalid> for Trouble {
    fn from(why: Invalid) -> Self {
        Self::Wrong(why.0)
    }
}

impl Destination {
    /// The environment variables that a delivery needs: in a run without them it is better left alone.
    pub fn variables<'a>(&self, settings: &'a Settings) -> Vec<&'a str> {
        let unnamed = || settings.signed.then_some(CALLBACK_SECRET).into_iter().collect();
        let of = |config: &'a DestinationConfig| match (config.kind(), &config.secret_env) {
            (Kind::Callback, None) => [config.variables(), unnamed()].concat(),
            _ => config.variables(),
        };
        let named = |name: &str| settings.destinations.get(name).map(of);
        match self {
            Self::File(_) | Self::Slack(_) | Self::Discord(_) => Vec::new(),
            Self::Callback(_) => unnamed(),
            Self::Command(name) | Self::Named(name) => named(name).unwrap_or_default(),
            Self::Hook(key) => {
                let hook = settings.hooks.iter().find(|hook| hook.key() == *key);
                let webhook = hook.and_then(|hook| hook.webhook.as_ref());
                webhook.map_or_else(Vec::new, |to| named(to).unwrap_or_else(unnamed))
            }
        }
    }
}

/// What a parcel's destination means, or why it cannot be reached.
pub(crate) fn task(parcel: &Parcel, settings: &Settings) -> Result<Task, Trouble> {
    let destination = Destination::read(&parcel.destination)?;
    let plain = |way| Ok(Task { way, on: On::Any, timeout: TIMEOUT });
    match destination {
        Destination::File(path) => {
            let format = Format::of(&path).unwrap_or_default();
            plain(Way::File { path: settings.folder.join(path), format, make_folder: false })
        }
        Destination::Callback(address) => {
            let secret = secret(None, settings)?;
            plain(Way::Callback { address, secret })
        }
        Destination::Slack(address) => plain(Way::Slack(address)),
        Destination::Discord(address) => plain(Way::Discord(address)),
        Destination::Named(name) => configured(&name, parcel, settings),
        Destination::Command(name) => {
            let task = configured(&name, parcel, settings)?;
            match task.way {
                Way::Program { .. } => Ok(task),
                _ => {
                    wrong(format!("[destinations.{name}] has no command: set one, or send to {name} instead"))
                }
            }
        }
        Destination::Hook(key) => hook(&key, parcel, settings),
    }
}

fn wrong<T>(why: impl Into<String>) -> Result<T, Trouble> {
    Err(Trouble::Wrong(why.into()))
}

fn configured(name: &str, parcel: &Parcel, settings: &Settings) -> Result<Task, Trouble> {
    let Some(config) = settings.destinations.get(name) else {
        return wrong(format!("there is no [destinations.{name}] in agon.toml: add it"));
    };
    config.check(name)?;
    let section = format!("[destinations.{name}]");
    let way = match config.kind() {
        Kind::File => {
            let dir = config.dir.clone().unwrap_or_default();
            file(&dir, config.format.unwrap_or_default(), parcel, settings)?
        }
        Kind::Command => Way::Program { command: config.command.clone(), section },
        Kind::Slack => Way::Slack(address(config, &section, settings)?),
        Kind::Discord => Way::Discord(address(config, &section, settings)?),
        Kind::Callback => {
            let address = address(config, &section, settings)?;
            Way::Callback { address, secret: secret(config.secret_env.as_deref(), settings)? }
        }
    };
    Ok(Task { way, on: On::Any, timeout: config.timeout().unwrap_or(TIMEOUT) })
}

fn hook(key: &str, parcel: &Parcel, settings: &Settings) -> Result<Task, Trouble> {
    let found = settings.hooks.iter().enumerate().find(|(_, hook)| hook.key() == key);
    let Some((place, hook)) = found else {
        return wrong("agon.toml has no such [[hooks]] any more: put it back, or leave this delivery dead");
    };
    let section = format!("[[hooks]] number {}", place + 1);
    if let Some(why) = hook.wrong(&settings.destinations) {
        return wrong(format!("{section}: {why}"));
    }
    let HookConfig { on, command, webhook, export, .. } = hook;
    let plain = |way| Task { way, on: *on, timeout: TIMEOUT };
    match (command, webhook, export) {
        (Some(command), ..) => Ok(plain(Way::Program { command: command.clone(), section })),
        (_, Some(name), _) if settings.destinations.contains_key(name) => {
            Ok(Task { on: *on, ..configured(name, parcel, settings)? })
        }
        (_, Some(url), _) => {
            let address = Address::parse(url)?;
            Ok(plain(Way::Callback { address, secret: secret(None, settings)? }))
        }
        (.., Some(export)) => Ok(plain(file(&export.dir, export.format, parcel, settings)?)),
        (None, None, None) => {
            wrong(format!("{section} does nothing: give it a command, a webhook or an export"))
        }
    }
}

fn file(dir: &Path, format: Format, parcel: &Parcel, settings: &Settings) -> Result<Way, Trouble> {
    // An id is ours; still, one that is none must not lead out of the folder.
    if parcel.debate.is_empty() || parcel.debate.starts_with('.') || parcel.debate.contains(['/', '\\', '\0'])
    {
        return wrong("the id of the debate is no name for a file");
    }
    let name = format!("{}.{}", parcel.debate, format.ending());
    Ok(Way::File { path: settings.folder.join(dir).join(name), format, make_folder: true })
}

fn address(config: &DestinationConfig, section: &str, settings: &Settings) -> Result<Address, Trouble> {
    let url = match (&config.url, &config.url_env) {
        (Some(url), _) => url.clone(),
        (None, Some(variable)) => settings.read(variable).ok_or_else(|| {
            Trouble::NotHere(format!(
                "{section} has its address in {variable}, which is not set here: set it"
            ))
        })?,
        (None, None) => return wrong(format!("{section} has no address: set url or url_env")),
    };
    Address::parse(&url).or_else(|why| wrong(format!("{section}: {why}")))
}

/// A secret that is asked for by name must be there, and so must any that was promised: what goes unsigned where a signature is
/// expected is no use.
fn secret(named: Option<&str>, settings: &Settings) -> Result<Secret, Trouble> {
    let variable = named.unwrap_or(CALLBACK_SECRET);
    match settings.read(variable) {
        Some(secret) => Ok(Secret::Known(secret)),
        None if named.is_none() && !settings.signed => Ok(Secret::None),
        None => Err(Trouble::NotHere(format!(
            "the secret in {variable} is not set here: set it, for this callback is signed"
        ))),
    }
}
