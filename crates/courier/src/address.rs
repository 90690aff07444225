//! What a destination means under a configuration.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::{DestinationConfig, Kind};
use crate::courier::Settings;
use crate::destination::{Address, Destination, Format};
use crate::hooks::{HookConfig, On};
use crate::outbox::Parcel;
use crate::policy::TIMEOUT;
use crate::signature::CALLBACK_SECRET;

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

/// What a parcel's destination means, or why it can never be reached.
pub(crate) fn task(parcel: &Parcel, settings: &Settings) -> Result<Task, String> {
    let destination = Destination::read(&parcel.destination).map_err(|why| why.0)?;
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
                _ => Err(format!("[destinations.{name}] has no command: set one, or send to {name} instead")),
            }
        }
        Destination::Hook(key) => hook(&key, parcel, settings),
    }
}

fn configured(name: &str, parcel: &Parcel, settings: &Settings) -> Result<Task, String> {
    let config = settings.destinations.get(name);
    let config = config.ok_or_else(|| format!("there is no [destinations.{name}] in agon.toml: add it"))?;
    config.check(name).map_err(|why| why.0)?;
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

fn hook(key: &str, parcel: &Parcel, settings: &Settings) -> Result<Task, String> {
    let found = settings.hooks.iter().enumerate().find(|(_, hook)| hook.key() == key);
    let (place, hook) =
        found.ok_or("agon.toml has no such [[hooks]] any more: put it back, or leave this delivery dead")?;
    let section = format!("[[hooks]] number {}", place + 1);
    if let Some(why) = hook.wrong(&settings.destinations) {
        return Err(format!("{section}: {why}"));
    }
    let HookConfig { on, command, webhook, export, .. } = hook;
    let plain = |way| Task { way, on: *on, timeout: TIMEOUT };
    match (command, webhook, export) {
        (Some(command), ..) => Ok(plain(Way::Program { command: command.clone(), section })),
        (_, Some(name), _) if settings.destinations.contains_key(name) => {
            Ok(Task { on: *on, ..configured(name, parcel, settings)? })
        }
        (_, Some(url), _) => {
            let address = Address::parse(url).map_err(|why| why.0)?;
            Ok(plain(Way::Callback { address, secret: secret(None, settings)? }))
        }
        (.., Some(export)) => Ok(plain(file(&export.dir, export.format, parcel, settings)?)),
        (None, None, None) => {
            Err(format!("{section} does nothing: give it a command, a webhook or an export"))
        }
    }
}

fn file(dir: &Path, format: Format, parcel: &Parcel, settings: &Settings) -> Result<Way, String> {
    // An id is ours; still, one that is none must not lead out of the folder.
    if parcel.debate.is_empty() || parcel.debate.starts_with('.') || parcel.debate.contains(['/', '\\', '\0'])
    {
        return Err("the id of the debate is no name for a file".into());
    }
    let name = format!("{}.{}", parcel.debate, format.ending());
    Ok(Way::File { path: settings.folder.join(dir).join(name), format, make_folder: true })
}

fn address(config: &DestinationConfig, section: &str, settings: &Settings) -> Result<Address, String> {
    let url = match (&config.url, &config.url_env) {
        (Some(url), _) => url.clone(),
        (None, Some(variable)) => settings
            .read(variable)
            .ok_or_else(|| format!("{section} has its address in {variable}: set that in the environment"))?,
        (None, None) => return Err(format!("{section} has no address: set url or url_env")),
    };
    Address::parse(&url).map_err(|why| format!("{section}: {why}"))
}

/// A secret that is asked for by name must be there: what goes unsigned where a signature is expected is no use.
fn secret(named: Option<&str>, settings: &Settings) -> Result<Secret, String> {
    match (settings.read(named.unwrap_or(CALLBACK_SECRET)), named) {
        (Some(secret), _) => Ok(Secret::Known(secret)),
        (None, None) => Ok(Secret::None),
        (None, Some(variable)) => {
            Err(format!("the callback is signed with the secret in {variable}: set that in the environment"))
        }
    }
}
