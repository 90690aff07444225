//! `agon init`: writes a configuration to start from.

use std::path::Path;

use agon_core::{OptionKind, OptionSpec, ProtocolInfo};
use clap::{ArgMatches, Command};

use super::{CliVerb, VerbGroup};
use crate::cli::errors::CliError;
use crate::cli::paths::{self, CONFIGURATION_FILE};
use crate::cli::{arguments, output};

pub(super) const VERB: CliVerb = CliVerb { name: "init", group: VerbGroup::Setup, command, run };

const TEMPLATE: &str = include_str!("agon.toml");

/// How many options of each protocol the template shows. `agon protocols` lists all.
const OPTIONS_SHOWN: usize = 2;

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
    output::write_file(file, &configuration_template())?;
    let own = paths::own_configuration(&paths::process_env);
    let own = own.map_or_else(|| "your configuration folder".to_owned(), |own| own.display().to_string());
    output::note(&format!(
        "wrote agon.toml; every line in it is a comment until you remove the #. Name it with --config agon.toml, or move it to {own}"
    ));
    Ok(0)
}

/// The template with the protocols' names and options filled in. All settings in it are comments.
pub(crate) fn configuration_template() -> String {
    let infos = || agon_protocols::PROTOCOLS.iter().map(|protocol| protocol.info());
    let first = infos().next().map_or("", |info| info.name);
    let role_model = |role: &&str| format!("#{role} = \"openai/MODEL-A|openai/MODEL-B\"\n");
    let role_models: String = arguments::all_roles().iter().map(role_model).collect();
    TEMPLATE
        .replace("{first_protocol}", first)
        .replace("{role_models}", &role_models)
        .replace("{protocol_options}", &infos().map(protocol_section).collect::<String>())
}

/// The section of a protocol with its first options and their defaults, as comments.
fn protocol_section(info: &ProtocolInfo) -> String {
    let shown = info.options.iter().filter(|option| !option.default.is_empty() && !option.key.contains('.'));
    let setting = |option: &OptionSpec| {
        let default = match option.kind {
            OptionKind::Int(..) | OptionKind::Float(..) | OptionKind::Flag => option.default.to_owned(),
            _ => format!("{:?}", option.default),
        };
        format!("#{:<25} # {}\n", format!("{} = {default}", option.key), option.help)
    };
    let settings: String = shown.take(OPTIONS_SHOWN).map(setting).collect();
    format!("#[protocols.{}]\n{settings}", info.name)
}

/// The template with every setting uncommented.
#[cfg(test)]
pub(crate) fn every_setting() -> String {
    // A line that begins with `#` and no space is a setting; with a space it is a comment.
    let template = configuration_template();
    let lines = template.lines().map(|line| match line.strip_prefix('#') {
        Some(setting) if !setting.starts_with(' ') => format!("{setting}\n"),
        _ => format!("{line}\n"),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use crate::cli::arguments;
    use crate::cli::configuration::{Configuration, ConfigurationSource};

    #[test]
    fn the_template_is_valid_as_it_is_and_with_every_setting_uncommented() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agon.toml");
        let load = |text: String| {
            std::fs::write(&file, &text).unwrap();
            Configuration::load(ConfigurationSource::Named(&file), &|_| None)
                .unwrap_or_else(|why| panic!("{why}\n{text}"))
        };
        assert!(load(super::configuration_template()).models.is_empty());
        let configuration = load(super::every_setting());
        assert!(
            !configuration.models.is_empty() && configuration.roles.len() == arguments::all_roles().len()
        );
        assert!(!configuration.options.is_empty() && configuration.engine.warm_up);
        assert!(configuration.limits.timeout_ms.is_some() && configuration.limits.output_tokens.is_some());
        let models = &configuration.models_config;
        assert!(!models.providers.is_empty() && !models.prices.is_empty());
        assert!(models.providers["local"].kind.is_some());
        assert!(models.commands["critic"].free && models.humans["anna"].timeout_s.is_some());
        assert!(models.embedded.threads.is_some() && models.embeddings.model.is_some());
    }
}
