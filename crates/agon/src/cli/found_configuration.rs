//! What an `agon.toml` found in the working directory may not do.
//!
//! Such a file may have come with somebody else's repository. It may not spend the user's keys, read or write files
//! elsewhere, or decide whether a change passes a review. A file that the user names with `--config` may do all of that.

use std::path::Component;

use agon_core::OptionKind;

use super::configuration::Configuration;

/// Refuses a configuration that does what only the user's own may do.
pub fn check(configuration: &Configuration) -> Result<(), String> {
    configuration.models_config.check_found().map_err(|why| why.to_string())?;
    agon_context::check_found_sources(&configuration.pulse).map_err(|why| why.to_string())?;
    agon_publish::deliveries::check_found(&configuration.destinations, &configuration.hooks)
        .map_err(|why| why.to_string())?;
    check_paths(configuration)?;
    check_options(configuration)
}

/// Refuses judges whose answers the found configuration decides: a change could otherwise bring its own verdict along.
/// `named` are the models that the user named.
pub fn check_judges<'a>(
    configuration: &Configuration,
    named: impl IntoIterator<Item = &'a str>,
) -> Result<(), String> {
    if !configuration.is_found {
        return Ok(());
    }
    let links = |name: &'a str| name.split('|').map(str::trim);
    let named: Vec<&str> = named.into_iter().flat_map(links).collect();
    // The configuration decides what an agent says, whoever names it. A script that the user names is the user's choice.
    let is_decided =
        |link: &&str| link.starts_with("agent/") || (named.is_empty() && link.starts_with("script/"));
    let configured = configuration.models.iter().flat_map(|name| name.split('|')).map(str::trim);
    let judge = match named.is_empty() {
        true => configured.into_iter().find(is_decided),
        false => named.iter().copied().find(is_decided),
    };
    judge.map_or(Ok(()), |judge| {
        Err(format!(
            "the agon.toml found in this directory decides what {judge} answers: name another model with --models, or \
             name the configuration with --config"
        ))
    })
}

/// Refuses paths that leave the working directory through a link, or that go into a hidden folder, where other programs
/// look for things to run.
fn check_paths(configuration: &Configuration) -> Result<(), String> {
    let here = std::env::current_dir().and_then(std::fs::canonicalize).map_err(|why| why.to_string())?;
    let files = configuration
        .pulse
        .iter()
        .filter_map(|(name, source)| Some((format!("[pulse.{name}]"), source.file.as_ref()?)));
    let folders = configuration.destinations.iter().filter_map(|(name, destination)| {
        Some((format!("[destinations.{name}]"), destination.dir.as_ref()?))
    });
    let exports = (1..).zip(&configuration.hooks).filter_map(|(number, hook)| {
        Some((format!("[[hooks]] number {number}"), &hook.export.as_ref()?.dir))
    });
    for (section, path) in files.chain(folders).chain(exports) {
        let is_hidden = path
            .components()
            .any(|part| part.as_os_str().to_string_lossy().starts_with('.') && part != Component::CurDir);
        // A path that does not exist yet will be created below its first folder that does.
        let real = path.ancestors().find_map(|above| std::fs::canonicalize(here.join(above)).ok());
        if is_hidden || real.is_none_or(|real| !real.starts_with(&here)) {
            return Err(format!(
                "{section} leads outside of this directory or into a hidden folder, and this agon.toml was found here, not \
                 named by you: pass `--config agon.toml` if you trust it"
            ));
        }
    }
    Ok(())
}

/// Refuses options that name a file, which would be sent to a provider and quoted in the report.
fn check_options(configuration: &Configuration) -> Result<(), String> {
    for (name, pairs) in &configuration.options {
        let Some(info) = agon_protocols::find(name).map(|protocol| protocol.info()) else { continue };
        let is_file = |key: &str| {
            info.options.iter().any(|option| option.key == key && option.kind == OptionKind::File)
        };
        if let Some((key, _)) = pairs.iter().find(|(key, _)| is_file(key)) {
            return Err(format!(
                "[protocols.{name}] {key} names a file, which a configuration found in the working directory may not do: \
                 pass --{} on the command line, or name the configuration with --config",
                key.replace('_', "-")
            ));
        }
    }
    Ok(())
}
