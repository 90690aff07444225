//! What a destination means under a configuration.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_core::Invalid;

use super::config::{DestinationConfig, DestinationKind, HookConfig, HookTrigger};
use super::destination::{Destination, ReportFormat, WebAddress};
use super::outbox::DueDelivery;
use super::retry_policy::TIMEOUT;
use super::runner::DeliverySettings;
use super::signature::CALLBACK_SECRET;

/// How to make a delivery.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DeliveryPlan {
    pub(super) route: DeliveryRoute,
    /// The endings of a debate for which it is made.
    pub(super) on: HookTrigger,
    pub(super) timeout: Duration,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum DeliveryRoute {
    File {
        path: PathBuf,
        format: ReportFormat,
        create_folder: bool,
    },
    Callback {
        address: WebAddress,
        secret: CallbackSecret,
    },
    Slack(WebAddress),
    Discord(WebAddress),
    Program {
        command: Vec<String>,
        /// The section of the configuration, for messages.
        section: String,
    },
}

/// The secret that signs a callback.
#[derive(Clone, PartialEq)]
pub(super) enum CallbackSecret {
    Known(String),
    /// None is set, so the callback is not signed.
    Unset,
}

/// Does not show the secret.
impl fmt::Debug for CallbackSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Known(_)) { "Known" } else { "Unset" })
    }
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PlanError {
    /// It fails until somebody changes something.
    Permanent(String),
    /// A variable is not set here. It may be set in another run.
    VariableUnset(String),
}

impl From<Invalid> for PlanError {
    fn from(why: Invalid) -> Self {
        Self::Permanent(why.0)
    }
}

impl Destination {
    /// The environment variables that a delivery needs. Do not try it in a run where one of them is not set.
    pub fn variables<'a>(&self, settings: &'a DeliverySettings) -> Vec<&'a str> {
        let callback = || settings.signed.then_some(CALLBACK_SECRET).into_iter().collect();
        let configured = |config: &'a DestinationConfig| match (config.kind(), &config.secret_env) {
            (DestinationKind::Callback, None) => [config.variables(), callback()].concat(),
            _ => config.variables(),
        };
        let named = |name: &str| settings.destinations.get(name).map(configured);
        match self {
            Self::File(_) | Self::Slack(_) | Self::Discord(_) => Vec::new(),
            Self::Callback(_) => callback(),
            Self::Command(name) | Self::Named(name) => named(name).unwrap_or_default(),
            Self::Hook(key) => {
                let hook = settings.hooks.iter().find(|hook| hook.key() == *key);
                let webhook = hook.and_then(|hook| hook.webhook.as_ref());
                webhook.map_or_else(Vec::new, |to| named(to).unwrap_or_else(callback))
            }
        }
    }
}

impl DeliveryPlan {
    /// The plan for a delivery under these settings.
    pub(super) fn new(delivery: &DueDelivery, settings: &DeliverySettings) -> Result<Self, PlanError> {
        match Destination::read(&delivery.destination)? {
            Destination::File(path) => {
                let format = ReportFormat::of_file(&path).unwrap_or_default();
                let path = settings.folder.join(path);
                Ok(DeliveryRoute::File { path, format, create_folder: false }.into())
            }
            Destination::Callback(address) => {
                let secret = callback_secret(None, settings)?;
                Ok(DeliveryRoute::Callback { address, secret }.into())
            }
            Destination::Slack(address) => Ok(DeliveryRoute::Slack(address).into()),
            Destination::Discord(address) => Ok(DeliveryRoute::Discord(address).into()),
            Destination::Named(name) => configured_plan(&name, delivery, settings),
            Destination::Command(name) => {
                let plan = configured_plan(&name, delivery, settings)?;
                match plan.route {
                    DeliveryRoute::Program { .. } => Ok(plan),
                    _ => permanent(format!(
                        "[destinations.{name}] has no command: set one, or send to {name} instead"
                    )),
                }
            }
            Destination::Hook(key) => hook_plan(&key, delivery, settings),
        }
    }
}

impl From<DeliveryRoute> for DeliveryPlan {
    fn from(route: DeliveryRoute) -> Self {
        Self { route, on: HookTrigger::Any, timeout: TIMEOUT }
    }
}

fn permanent<T>(why: impl Into<String>) -> Result<T, PlanError> {
    Err(PlanError::Permanent(why.into()))
}

fn configured_plan(
    name: &str,
    delivery: &DueDelivery,
    settings: &DeliverySettings,
) -> Result<DeliveryPlan, PlanError> {
    let Some(config) = settings.destinations.get(name) else {
        return permanent(format!("there is no [destinations.{name}] in agon.toml: add it"));
    };
    config.check(name)?;
    let section = format!("[destinations.{name}]");
    let route = match config.kind() {
        DestinationKind::File => {
            let dir = config.dir.clone().unwrap_or_default();
            file_in_folder(&dir, config.format.unwrap_or_default(), delivery, settings)?
        }
        DestinationKind::Command => DeliveryRoute::Program { command: config.command.clone(), section },
        DestinationKind::Slack => DeliveryRoute::Slack(address(config, &section, settings)?),
        DestinationKind::Discord => DeliveryRoute::Discord(address(config, &section, settings)?),
        DestinationKind::Callback => {
            let address = address(config, &section, settings)?;
            DeliveryRoute::Callback {
                address,
                secret: callback_secret(config.secret_env.as_deref(), settings)?,
            }
        }
    };
    Ok(DeliveryPlan { timeout: config.timeout().unwrap_or(TIMEOUT), ..route.into() })
}

fn hook_plan(
    key: &str,
    delivery: &DueDelivery,
    settings: &DeliverySettings,
) -> Result<DeliveryPlan, PlanError> {
    let found = settings.hooks.iter().enumerate().find(|(_, hook)| hook.key() == key);
    let Some((index, hook)) = found else {
        return permanent("agon.toml no longer has these [[hooks]]: put them back, or ignore this delivery");
    };
    let section = format!("[[hooks]] number {}", index + 1);
    if let Some(why) = hook.problem(&settings.destinations) {
        return permanent(format!("{section}: {why}"));
    }
    let HookConfig { on, command, webhook, export, .. } = hook;
    let plan = match (command, webhook, export) {
        (Some(command), ..) => DeliveryRoute::Program { command: command.clone(), section }.into(),
        (_, Some(name), _) if settings.destinations.contains_key(name) => {
            configured_plan(name, delivery, settings)?
        }
        (_, Some(url), _) => {
            let address = WebAddress::parse(url)?;
            DeliveryRoute::Callback { address, secret: callback_secret(None, settings)? }.into()
        }
        (.., Some(export)) => file_in_folder(&export.dir, export.format, delivery, settings)?.into(),
        (None, None, None) => {
            return permanent(format!("{section} does nothing: set a command, a webhook or an export"));
        }
    };
    Ok(DeliveryPlan { on: *on, ..plan })
}

fn file_in_folder(
    dir: &Path,
    format: ReportFormat,
    delivery: &DueDelivery,
    settings: &DeliverySettings,
) -> Result<DeliveryRoute, PlanError> {
    let id = &delivery.debate;
    // Ids are made by Agon, but a wrong one must not lead out of the folder.
    if id.is_empty() || id.starts_with('.') || id.contains(['/', '\\', '\0']) {
        return permanent("the id of the debate cannot be the name of a file");
    }
    let path = settings.folder.join(dir).join(format!("{id}.{}", format.extension()));
    Ok(DeliveryRoute::File { path, format, create_folder: true })
}

fn address(
    config: &DestinationConfig,
    section: &str,
    settings: &DeliverySettings,
) -> Result<WebAddress, PlanError> {
    let url = match (&config.url, &config.url_env) {
        (Some(url), _) => url.clone(),
        (None, Some(variable)) => settings.variable(variable).ok_or_else(|| {
            PlanError::VariableUnset(format!(
                "{section} has its address in {variable}, which is not set here: set it"
            ))
        })?,
        (None, None) => return permanent(format!("{section} has no address: set url or url_env")),
    };
    WebAddress::parse(&url).or_else(|why| permanent(format!("{section}: {why}")))
}

/// The secret in a variable. A callback that names a variable, or was bound when a secret was set, is never sent without
/// a signature.
fn callback_secret(named: Option<&str>, settings: &DeliverySettings) -> Result<CallbackSecret, PlanError> {
    let variable = named.unwrap_or(CALLBACK_SECRET);
    match settings.variable(variable) {
        Some(secret) => Ok(CallbackSecret::Known(secret)),
        None if named.is_none() && !settings.signed => Ok(CallbackSecret::Unset),
        None => Err(PlanError::VariableUnset(format!(
            "the secret in {variable} is not set here: set it, because this callback must be signed"
        ))),
    }
}
