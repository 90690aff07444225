//! `agon init`: writes a configuration to start from.

use std::path::Path;

use clap::{ArgMatches, Command};

use super::{Group, Verb};
use crate::cli::failure::Failure;
use crate::cli::{args, output, place, write};

pub(super) const VERB: Verb = Verb { name: "init", group: Group::Around, command, run };

const TEMPLATE: &str = include_str!("agon.toml");

fn command(command: Command) -> Command {
    command
        .about("Write a commented agon.toml into this folder")
        .arg(args::switch("force", "Overwrite the one that is there"))
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let file = Path::new(place::CONFIG);
    if file.exists() && !args.get_flag("force") {
        return Err(Failure::input(
            "agon.toml is there already: edit it, or overwrite it with `agon init --force`",
        ));
    }
    write::whole(file, TEMPLATE)?;
    output::note("wrote agon.toml; every line of it is a comment until you take the # away");
    Ok(0)
}

#[cfg(test)]
mod tests {
    use crate::cli::config;

    #[test]
    fn the_example_parses_as_it_is_and_with_every_line_uncommented() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agon.toml");
        let check = |text: String| {
            std::fs::write(&file, &text).unwrap();
            config::load(Some(&file), &|_| None).unwrap_or_else(|why| panic!("{why}\n{text}"))
        };
        assert!(check(super::TEMPLATE.to_owned()).models.is_empty());
        // A line that begins with `#` and no space is a setting; with a space it is prose.
        let uncommented = super::TEMPLATE.lines().map(|line| match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') => format!("{setting}\n"),
            _ => format!("{line}\n"),
        });
        let config = check(uncommented.collect());
        assert!(!config.models.is_empty() && config.roles.len() == 3 && !config.options.is_empty());
        assert!(config.limits.timeout_ms.is_some() && config.limits.output_tokens.is_some());
        let models = &config.providers;
        assert!(!models.providers.is_empty() && !models.prices.is_empty());
        assert!(models.providers["local"].kind.is_some() && config.settings.warm_up);
        assert!(models.commands["critic"].free && models.humans["anna"].timeout_s.is_some());
        assert!(models.embedded.threads.is_some() && models.embeddings.model.is_some());
    }
}
