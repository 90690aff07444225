//! `agon completions`: a script with which the shell completes verbs and options.

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

use super::{Group, Verb};
use crate::cli::failure::Failure;
use crate::cli::output;

pub(super) const VERB: Verb = Verb { name: "completions", group: Group::Around, command, run };

fn command(command: Command) -> Command {
    let shell = Arg::new("shell")
        .value_name("SHELL")
        .required(true)
        .value_parser(value_parser!(Shell))
        .help("The shell");
    command.about("Print a shell's completion script").arg(shell)
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let mut script = Vec::new();
    if let Some(shell) = args.get_one::<Shell>("shell") {
        clap_complete::generate(*shell, &mut crate::cli::command(), "agon", &mut script);
    }
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}
