//! What a configuration may not do that was found and not asked for.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use agon_core::Invalid;

use crate::deliveries::config::DestinationConfig;
use crate::deliveries::destination::Address;
use crate::deliveries::hooks::HookConfig;
use crate::deliveries::visible::visible;

/// Refuses a configuration that nobody has named, such as an `agon.toml` that lies in the current folder, when it would run a
/// program, send what is debated to a stranger, or write outside of the folder: it may have come with somebody else's files.
pub fn check_found(
    destinations: &BTreeMap<String, DestinationConfig>,
    hooks: &[HookConfig],
) -> Result<(), Invalid> {
    let refuse = |place: String, what: String| {
        Err(Invalid(format!(
            "{place} would {what}, and this agon.toml was found and not asked for: pass `--config agon.toml` if you \
             trust it"
        )))
    };
    for (name, destination) in destinations {
        if let Some(what) = destination.danger() {
            return refuse(format!("[destinations.{}]", visible(name)), what);
        }
    }
    for (number, hook) in (1..).zip(hooks) {
        if let Some(what) = hook.danger() {
            return refuse(format!("[[hooks]] number {number}"), what);
        }
    }
    Ok(())
}

impl DestinationConfig {
    fn danger(&self) -> Option<String> {
        let sends = self.url.as_deref().and_then(sends);
        let elsewhere = || {
            self.url_env.as_ref().map(|variable| format!("send what is debated to the address in {variable}"))
        };
        let runs = || self.command.first().map(|program| runs(program));
        let writes = || self.dir.as_deref().and_then(writes);
        sends.or_else(elsewhere).or_else(runs).or_else(writes)
    }
}

impl HookConfig {
    fn danger(&self) -> Option<String> {
        let runs = || self.command.as_ref().and_then(|command| command.first()).map(|program| runs(program));
        let writes = || self.export.as_ref().and_then(|export| writes(&export.dir));
        self.webhook.as_deref().and_then(sends).or_else(runs).or_else(writes)
    }
}

fn sends(url: &str) -> Option<String> {
    let address = Address::parse(url).ok().filter(|address| !address.is_here())?;
    Some(format!("send what is debated to {address}"))
}

fn runs(program: &str) -> String {
    let shown: String = program.chars().filter(|c| !c.is_control()).collect();
    format!("run the program {shown:?}")
}

fn writes(dir: &Path) -> Option<String> {
    let inside = dir.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    (!inside).then(|| "write files outside of this folder".to_owned())
}
