//! `agon init`: writes a configuration to start from.

use std::path::Path;

use clap::{ArgMatches, Command};

use super::{CliVerb, VerbGroup};
use crate::cli::errors::CliError;
use crate::cli::paths::CONFIGURATION_FILE;
use crate::cli::{arguments, output};

pub(super) const VERB: CliVerb = CliVerb { name: "init", group: VerbGroup::Setup, command, run };

const TEMPLATE: &str = include_str!("agon.toml");

fn command(command: Command) -> Command {
    command
        .about("Write a commented agon.toml into this directory")
        .arg(arguments::switch("force", "Overwrite an existing one"))
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let file = Path::new(CONFIGURATION_FILE);
    if file.exists() && !args.get_flag("force") {
        return Err(CliError::input(
            "agon.toml exists already: edit it, or overwrite it with `agon init --force`",
        ));
    }
    output::write_file(file, TEMPLATE)?;
    output::note("wrote agon.toml; every line in it is a comment until you remove the #");
    Ok(0)
}

#[cfg(test)]
mod tests {
    use crate::cli::configuration::Configuration;

    #[test]
    fn the_template_is_valid_as_it_is_and_with_every_setting_uncommented() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agon.toml");
        let load = |text: String| {
            std::fs::write(&file, &text).unwrap();
            Configuration::load(Some(&file), &|_| None).unwrap_or_else(|why| panic!("{why}\n{text}"))
        };
        assert!(load(super::TEMPLATE.to_owned()).models.is_empty());
        // A line that begins with `#` and no space is a setting; with a space it is a comment.
        let uncommented = super::TEMPLATE.lines().map(|line| match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') => format!("{setting}\n"),
            _ => format!("{line}\n"),
        });
        let configuration = load(uncommented.collect());
        assert!(!configuration.models.is_empty() && configuration.roles.len() == 3);
        assert!(!configuration.options.is_empty() && configuration.engine.warm_up);
        assert!(configuration.limits.timeout_ms.is_some() && configuration.limits.output_tokens.is_some());
        let models = &configuration.models_config;
        assert!(!models.providers.is_empty() && !models.prices.is_empty());
        assert!(models.providers["local"].kind.is_some());
        assert!(models.commands["critic"].free && models.humans["anna"].timeout_s.is_some());
        assert!(models.embedded.threads.is_some() && models.embeddings.model.is_some());
    }
}
