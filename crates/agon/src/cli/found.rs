//! What a configuration may not do that was found and not asked for, beside what its sections refuse themselves.

use std::path::Component;

use agon_core::Kind;

use super::config::Config;

/// Refuses paths of a configuration that only lies here when a link leads them out of this folder, or when they go into a hidden
/// one, where other programs look for things to run.
pub fn check_paths(config: &Config) -> Result<(), String> {
    let here = std::env::current_dir().and_then(std::fs::canonicalize).map_err(|why| why.to_string())?;
    let files = config
        .pulse
        .iter()
        .filter_map(|(name, source)| Some((format!("[pulse.{name}]"), source.file.as_ref()?)));
    let folders = config
        .destinations
        .iter()
        .filter_map(|(name, to)| Some((format!("[destinations.{name}]"), to.dir.as_ref()?)));
    let exports = (1..).zip(&config.hooks).filter_map(|(number, hook)| {
        Some((format!("[[hooks]] number {number}"), &hook.export.as_ref()?.dir))
    });
    for (place, path) in files.chain(folders).chain(exports) {
        let hidden = path
            .components()
            .any(|part| part.as_os_str().to_string_lossy().starts_with('.') && part != Component::CurDir);
        // What is not there yet is made below what is.
        let real = path.ancestors().find_map(|above| std::fs::canonicalize(here.join(above)).ok());
        if hidden || real.is_none_or(|real| !real.starts_with(&here)) {
            return Err(format!(
                "{place} would reach outside of this folder or into a hidden one, and this agon.toml was found and not asked \
                 for: pass `--config agon.toml` if you trust it"
            ));
        }
    }
    Ok(())
}

/// Options that switch a gate off: a change that is to be judged may not bring them along.
const GATE: [&str; 3] = ["mode", "fail_on", "quick"];

/// Refuses options that name files: whoever wrote a configuration that only lies here could have any file of this machine
/// sent to a provider, and quoted in a report. Refuses also what decides whether a change passes.
pub fn check_options(config: &Config) -> Result<(), String> {
    for (name, pairs) in &config.options {
        let protocol = agon_protocols::find(name);
        let table = protocol.map_or(&[][..], |protocol| protocol.options());
        let is_gate = protocol.is_some_and(|protocol| protocol.is_gate());
        if let Some((key, _)) = pairs.iter().find(|(key, _)| is_gate && GATE.contains(&key.as_str())) {
            return Err(format!(
                "[protocols.{name}] {key} decides what passes, and a configuration that is only found here may not: \
                 say --{} on the command line, or name the configuration with --config",
                key.replace('_', "-")
            ));
        }
        let is_file = |key: &str| table.iter().any(|opt| opt.key == key && opt.kind == Kind::File);
        if let Some((key, _)) = pairs.iter().find(|(key, _)| is_file(key)) {
            return Err(format!(
                "[protocols.{name}] {key} names a file, and a configuration that is only found here may not: \
                 say --{} on the command line, or name the configuration with --config",
                key.replace('_', "-")
            ));
        }
    }
    Ok(())
}
