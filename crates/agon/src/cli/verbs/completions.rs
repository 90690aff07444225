//! `agon completions`: a script that completes verbs and options in a shell.

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

use super::{CliVerb, VerbGroup};
use crate::cli::errors::CliError;
use crate::cli::output;

pub(super) const VERB: CliVerb = CliVerb { name: "completions", group: VerbGroup::Setup, command, run };

fn command(command: Command) -> Command {
    let shell = Arg::new("shell")
        .value_name("SHELL")
        .required(true)
        .value_parser(value_parser!(Shell))
        .help("The shell");
    command.about("Print a completion script for a shell").arg(shell)
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let mut script = Vec::new();
    if let Some(shell) = args.get_one::<Shell>("shell") {
        clap_complete::generate(*shell, &mut crate::cli::command(), "agon", &mut script);
    }
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}
