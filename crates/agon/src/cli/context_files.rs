//! `--context`: files and texts that a person attaches to a debate of any protocol.

use std::path::{Path, PathBuf};

use agon_core::BriefFile;
use agon_protocols::attached_context::CONTEXT_PART;
use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::errors::CliError;
use super::input;

/// `--context`.
pub fn argument() -> Arg {
    Arg::new(CONTEXT_PART)
        .long(CONTEXT_PART)
        .value_name("FILE")
        .action(ArgAction::Append)
        .value_parser(value_parser!(PathBuf))
        .help("A text that the seats may use and cite; `-` is stdin; may be repeated")
}

/// Reads what is attached. Call it before the subject is read: that also reads stdin.
pub fn read(args: &ArgMatches) -> Result<Vec<BriefFile>, CliError> {
    let paths: Vec<&PathBuf> = args.get_many::<PathBuf>(CONTEXT_PART).into_iter().flatten().collect();
    let is_stdin = |path: &&PathBuf| path.as_path() == Path::new("-");
    let subjects = args.try_get_raw("subject").ok().flatten().into_iter().flatten();
    let stdin_readers =
        subjects.filter(|subject| *subject == "-").count() + paths.iter().copied().filter(is_stdin).count();
    if stdin_readers > 1 && paths.iter().any(is_stdin) {
        return Err(CliError::input("stdin can be read only once: name a file for all but one of them"));
    }
    let attached = paths.into_iter().map(|path| {
        let file = input::debate_file(path, Some(CONTEXT_PART))?;
        // Prompts name the file.
        let name = if is_stdin(&path) { "stdin".to_owned() } else { file.path.clone() };
        Ok(BriefFile { path: name, ..file })
    });
    attached.collect()
}
