//! The command line: the command, how it is read and how it is run.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ArgMatches, Command};

pub mod after;
pub mod args;
pub mod aside;
pub mod batch;
pub mod chapters;
pub mod checks;
pub mod clock;
pub mod config;
pub mod defaults;
pub mod desk;
pub mod dry_run;
pub mod failure;
pub mod found;
pub mod house;
pub mod id;
pub mod input;
pub mod limits;
pub mod machine;
pub mod minutes;
pub mod ndjson;
pub mod opening;
pub mod output;
pub mod past;
pub mod place;
pub mod post;
pub mod pull;
pub mod receipts;
pub mod records;
pub mod run;
pub mod show;
pub mod signals;
pub mod target;
pub mod trials;
pub mod verbs;
pub mod verify;
pub mod write;

use failure::Failure;
use verbs::{GROUPS, VERBS};

const ABOUT: &str = "Structured debate between language models";
const TEMPLATE: &str = "{about}\n\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}";
const EXAMPLES: &str = "\
Examples:
  agon deep \"Rust or Go?\" --models script/demo
      a scripted debate to watch, no model needed
  agon deep \"Tabs or spaces?\" --models openai/A,openai/B --chair openai/C
      two debaters, the first of which also moderates, and a chair
  agon deep - --models ollama/A --json < question.txt
      one JSON outcome on stdout
  agon panel design.md plan.md --models openai/A,anthropic/B,gemini/C
      three judges with three stances score a plan
  agon council \"Should we rewrite it?\" --models openai/A --focus payments
      councillors with roles cross-examine each other, then vote
  git diff main | agon review --diff - --debate --models openai/A
      PASS, WARN or FAIL for a change; FAIL is exit status 1

A model is provider/model. `agon doctor` shows the providers,
`agon VERB --help` a verb's options.

Exit status: 0 a verdict, 1 a negative one, 2 bad usage or input,
3 could not complete, 130 interrupted.";

/// The whole command, from the tables of protocols and verbs. Help, completions and the man page are made from it.
pub fn command() -> Command {
    let debates = agon_protocols::all().map(verbs::debate::command);
    let others: Vec<Command> = VERBS.iter().map(|verb| (verb.command)(Command::new(verb.name))).collect();
    let listing = listing(&others);
    Command::new("agon")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand_value_name("VERB")
        .override_usage("agon <VERB> [OPTIONS]")
        .help_template(TEMPLATE)
        .subcommands(debates)
        .subcommands(others)
        .before_help(listing)
        .after_help(EXAMPLES)
}

/// The verbs by what they are for; clap would list them in one heap.
fn listing(others: &[Command]) -> String {
    let mut text = String::from("Debates:\n");
    for protocol in agon_protocols::all() {
        text.push_str(&line(protocol.name(), protocol.about()));
    }
    for group in GROUPS {
        text.push_str(&format!("\n{}:\n", group.title()));
        for (verb, command) in VERBS.iter().zip(others).filter(|(verb, _)| verb.group == *group) {
            let about = command.get_about().map(ToString::to_string);
            text.push_str(&line(verb.name, &about.unwrap_or_default()));
        }
    }
    text
}

fn line(name: &str, about: &str) -> String {
    const INDENT: usize = 15;
    format!("  {name:<12} {}\n", output::hang(about, INDENT))
}

/// Reads the command line.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<ArgMatches, Failure> {
    command().try_get_matches_from(args).map_err(|error| match error.kind() {
        ErrorKind::InvalidUtf8 => Failure::input("an argument is not UTF-8 text: convert it, then try again")
            .help("a question can also come from a file or a pipe: agon VERB - < FILE"),
        _ => error.into(),
    })
}

/// Does what the command line asks for, and gives the exit status.
pub fn run(args: ArgMatches) -> Result<u8, Failure> {
    let Some((name, args)) = args.subcommand() else { return Ok(0) };
    if let Some(protocol) = agon_protocols::find(name) {
        return verbs::debate::run(protocol, args);
    }
    match VERBS.iter().find(|verb| verb.name == name) {
        Some(verb) => (verb.run)(args),
        None => Err(Failure::input(format!("there is no verb {name:?}: `agon --help` lists them"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_protocol_and_every_verb_is_in_the_help() {
        let help = command().render_help().to_string();
        let names = agon_protocols::all().map(|protocol| protocol.name());
        for name in names.chain(VERBS.iter().map(|verb| verb.name)) {
            assert!(help.contains(&format!("\n  {name} ")), "{name} is missing in\n{help}");
        }
    }
}
