//! `agon completions`: a script that completes verbs, options, models and debates in a shell.

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

use super::{CliVerb, VerbGroup};
use crate::cli::errors::CliError;
use crate::cli::{completion, output};

pub(super) const VERB: CliVerb = CliVerb { name: "completions", group: VerbGroup::Setup, command, run };

fn command(command: Command) -> Command {
    let shell = Arg::new("shell")
        .value_name("SHELL")
        .required(true)
        .value_parser(value_parser!(Shell))
        .help("The shell");
    command
        .about("Print a script that completes verbs, options, models and debates in a shell")
        .after_help(
            "bash: put `source <(agon completions bash)` into ~/.bashrc\n\
             zsh:  put `source <(agon completions zsh)` into ~/.zshrc\n\
             fish: put `agon completions fish | source` into ~/.config/fish/config.fish",
        )
        .arg(shell)
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    if let Some(shell) = args.get_one::<Shell>("shell") {
        output::print(&completion::script(*shell)?)?;
    }
    Ok(0)
}
