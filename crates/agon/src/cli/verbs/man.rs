//! `agon man`: the manual, in the form that `man -l -` reads.

use clap::{Arg, ArgMatches, Command};
use clap_mangen::Man;

use super::{Group, Verb};
use crate::cli::failure::Failure;
use crate::cli::output;

pub(super) const VERB: Verb = Verb { name: "man", group: Group::Around, command, run };

fn command(command: Command) -> Command {
    let verb = Arg::new("verb").value_name("VERB").help("The page of this verb [default: of agon]");
    command.about("Print the manual page: agon man | man -l -").arg(verb)
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let mut page = Vec::new();
    manual(args.get_one::<String>("verb"))?
        .render(&mut page)
        .map_err(|why| Failure::System(format!("the page cannot be made: {why}")))?;
    output::print(&String::from_utf8_lossy(&page))?;
    Ok(0)
}

fn manual(verb: Option<&String>) -> Result<Man, Failure> {
    let agon = crate::cli::command();
    let Some(name) = verb else { return Ok(Man::new(agon)) };
    let command = agon.find_subcommand(name).cloned();
    let command = command
        .ok_or_else(|| Failure::input(format!("there is no verb {name:?}: `agon --help` lists them")))?;
    Ok(Man::new(command.name(format!("agon-{name}")).bin_name(format!("agon {name}"))))
}
