//! The command line: the command, how it is parsed and how it is run.

use std::ffi::OsString;
use std::io::IsTerminal;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command};

pub mod app;
pub mod arguments;
pub mod batch_input;
pub mod batch_progress_file;
pub mod book;
pub mod brief_builder;
pub mod clock;
pub mod completion;
pub mod configuration;
pub mod context_files;
pub mod debate_ids;
pub mod debate_reading;
pub mod debate_run;
pub mod deliveries;
pub mod demo_debates;
pub mod doctor_fixes;
pub mod document_sections;
pub mod dry_run;
pub mod errors;
pub mod eval_run;
pub mod file_permissions;
pub mod found_configuration;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod git_range;
pub mod health_check;
pub mod history;
pub mod input;
pub mod key_pause;
pub mod knowledge_index;
pub mod limits;
pub mod local_programs;
pub mod model_directory;
#[cfg_attr(not(feature = "embedded"), path = "model_files_absent.rs")]
pub mod model_files;
pub mod output;
pub mod pager;
pub mod paths;
pub mod progress;
pub mod receipts;
pub mod records;
pub mod result_output;
pub mod runtime;
pub mod seat_models;
pub mod signals;
pub mod start_screen;
pub mod table_tools;
pub mod targets;
pub mod telemetry;
pub mod terminal_pause;
pub mod verbs;
pub mod verification;

use errors::CliError;
use verbs::{VERB_GROUPS, VERBS};

const ABOUT: &str = "Structured debate between language models";
const HELP_TEMPLATE: &str =
    "{about}\n\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}";
const EXAMPLE_INDENT: usize = 6;
const NOTES: &str = "\
A model is provider/model. `agon doctor` shows the providers,
`agon VERB --help` the options of a verb, `agon help topics` the book.

Exit status: 0 a verdict, 1 a negative verdict, 2 bad usage or input,
3 could not complete, 130 interrupted.";

/// The whole command, made from the tables of protocols and verbs. Help, completions and the manual page come from it.
pub fn command() -> Command {
    let chapters = book::chapters();
    let with_chapter = |verb: Command| verbs::help::with_chapter_line(verb, &chapters);
    let debates = agon_protocols::all().map(verbs::debate::command).map(with_chapter);
    let others = VERBS.iter().map(|verb| (verb.command)(Command::new(verb.name))).map(with_chapter);
    let others: Vec<Command> = others.collect();
    let listing = verb_listing(&others);
    Command::new("agon")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .subcommand_required(true)
        .arg_required_else_help(true)
        // `agon help` is a verb, because it also shows chapters of the book.
        .disable_help_subcommand(true)
        .subcommand_value_name("VERB")
        .override_usage("agon <VERB> [OPTIONS]")
        .help_template(HELP_TEMPLATE)
        .subcommands(debates)
        .subcommands(others)
        .before_help(listing)
        .after_help(format!("{}\n{NOTES}", examples()))
}

/// Command lines to start from: one example of each protocol that has one.
fn examples() -> String {
    let infos = || agon_protocols::all().map(|protocol| protocol.info());
    let shown =
        infos().filter_map(|info| info.example.map(|(line, about)| (format!("{} {line}", info.name), about)));
    let example = |(line, about): (String, &str)| {
        let about = output::hanging_indent(about, EXAMPLE_INDENT);
        format!("  agon {line}\n{:EXAMPLE_INDENT$}{about}\n", "")
    };
    std::iter::once("Examples:\n".to_owned()).chain(shown.map(example)).collect()
}

/// The verbs in groups. clap would print one long list.
fn verb_listing(others: &[Command]) -> String {
    let mut text = String::from("Debates:\n");
    for info in agon_protocols::all().map(|protocol| protocol.info()) {
        text.push_str(&listing_line(info.name, info.about));
    }
    for group in VERB_GROUPS {
        text.push_str(&format!("\n{}:\n", group.title()));
        for (verb, command) in VERBS.iter().zip(others).filter(|(verb, _)| verb.group == *group) {
            let about = command.get_about().map(ToString::to_string);
            text.push_str(&listing_line(verb.name, &about.unwrap_or_default()));
        }
    }
    text
}

fn listing_line(name: &str, about: &str) -> String {
    const INDENT: usize = 15;
    format!("  {name:<12} {}\n", output::hanging_indent(about, INDENT))
}

/// Parses and runs a command line, and returns the exit status. Without arguments, a person at a terminal gets a short start.
pub fn run_command_line(args: impl IntoIterator<Item = OsString>) -> Result<u8, CliError> {
    let args: Vec<OsString> = args.into_iter().collect();
    match args.len() < 2 && std::io::stdout().is_terminal() {
        true => start_screen::print(),
        false => parse(args).and_then(run),
    }
}

/// Parses the command line.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<ArgMatches, CliError> {
    let args: Vec<OsString> = args.into_iter().collect();
    let verb = args.get(1).and_then(|verb| verb.to_str()).unwrap_or_default();
    let takes_question = agon_protocols::find(verb).is_some();
    command().try_get_matches_from(args).map_err(|error| match error.kind() {
        ErrorKind::InvalidUtf8 => {
            CliError::input("an argument is not UTF-8 text: convert it, then try again")
                .with_help("a question can also come from a file or a pipe: agon VERB - < FILE")
        }
        _ => with_hint(error, takes_question),
    })
}

/// A question without quotes, or without a verb, gets a line that says so.
fn with_hint(error: clap::Error, takes_question: bool) -> CliError {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let stray = text(ContextKind::InvalidArg).filter(|word| takes_question && !word.starts_with('-'));
    let question = text(ContextKind::InvalidSubcommand).filter(|word| word.contains(char::is_whitespace));
    let example = agon_protocols::all().next().map_or("VERB", |protocol| protocol.info().name);
    match (error.kind(), stray, question) {
        (ErrorKind::UnknownArgument, Some(word), _) => {
            CliError::input(format!("there is one argument too many: {word:?}"))
                .with_help("put a question of several words in quotes")
        }
        (ErrorKind::InvalidSubcommand, _, Some(question)) => {
            let quoted = arguments::shell_quoted(&question);
            CliError::input(format!("there is no verb {question:?}"))
                .with_help(format!("the kind of debate comes first: agon {example} {quoted}"))
        }
        _ => error.into(),
    }
}

/// Runs the verb and returns the exit status.
pub fn run(args: ArgMatches) -> Result<u8, CliError> {
    let Some((name, args)) = args.subcommand() else { return Ok(0) };
    if let Some(protocol) = agon_protocols::find(name) {
        return verbs::debate::run(protocol, args);
    }
    match VERBS.iter().find(|verb| verb.name == name) {
        Some(verb) => (verb.run)(args),
        None => Err(CliError::input(format!("there is no verb {name:?}: `agon --help` lists them"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_accepts_the_command() {
        command().debug_assert();
    }

    #[test]
    fn every_protocol_and_every_verb_is_in_the_help() {
        let help = command().render_help().to_string();
        let names = agon_protocols::all().map(|protocol| protocol.info().name);
        for name in names.chain(VERBS.iter().map(|verb| verb.name)) {
            assert!(help.contains(&format!("\n  {name} ")), "{name} is missing in\n{help}");
        }
    }
}
