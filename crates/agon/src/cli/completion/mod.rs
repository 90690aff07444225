//! Completion in a shell: what can follow on a command line.
//!
//! The script of `agon completions SHELL` runs `agon` with the variable [`VARIABLE`] set to the name of the shell, and with the words up to
//! the cursor behind `--`. The answer has a line for each candidate. Whatever goes wrong, there are just no candidates: a person who
//! presses Tab does not want to read about a broken store.

mod candidates;
mod sources;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::sync::Arc;

use agon_host::clean_line;
use clap::Command;
use clap_complete::Shell;
use clap_complete::engine::{CompletionCandidate, complete};
use clap_complete::env::{EnvCompleter, Shells};

use super::errors::CliError;
pub use sources::CompletionSources;

/// The variable that makes `agon` answer a shell.
pub const VARIABLE: &str = "AGON_COMPLETE";

/// The longest description.
const HELP_CHARS_MAX: usize = 80;

/// Answers a shell on stdout and returns the exit status. `args` begins with the program and `--`.
pub fn answer(shell: &OsStr, args: impl IntoIterator<Item = OsString>) -> u8 {
    std::panic::set_hook(Box::new(|_| {}));
    let shell = shell.to_string_lossy().into_owned();
    let words: Vec<OsString> = args.into_iter().skip_while(|arg| arg != "--").skip(1).collect();
    let answered = std::panic::catch_unwind(|| answer_lines(&shell, words));
    match answered {
        Ok(lines) => u8::from(std::io::stdout().write_all(lines.as_bytes()).is_err()),
        Err(_) => 1,
    }
}

/// The candidates for the last of these words, one per line, as the shell's script reads them.
pub fn answer_lines(shell: &str, words: Vec<OsString>) -> String {
    let Some(last) = words.len().checked_sub(1) else { return String::new() };
    let sources = Arc::new(CompletionSources::of_words(&words));
    let mut command = with_candidates(super::command(), &sources);
    let folder = std::env::current_dir().ok();
    let found = complete(&mut command, words, last, folder.as_deref()).unwrap_or_default();
    found.iter().map(|candidate| candidate_line(shell, candidate)).collect()
}

fn candidate_line(shell: &str, candidate: &CompletionCandidate) -> String {
    let value = candidate.get_value().to_string_lossy();
    let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
    let help: String =
        clean_line(help.lines().next().unwrap_or_default()).chars().take(HELP_CHARS_MAX).collect();
    // A name with a line break would be two candidates, and shells quote no other control character in all places.
    if value.chars().any(char::is_control) {
        return String::new();
    }
    match shell {
        "bash" | "elvish" => format!("{value}\n"),
        "zsh" => {
            let value = value.replace('\\', "\\\\").replace(':', "\\:");
            if help.is_empty() { format!("{value}\n") } else { format!("{value}:{help}\n") }
        }
        _ if help.is_empty() => format!("{value}\n"),
        _ => format!("{value}\t{help}\n"),
    }
}

/// The command with what completes its values.
fn with_candidates(command: Command, sources: &Arc<CompletionSources>) -> Command {
    command.mut_subcommands(|verb| {
        let name = verb.get_name().to_owned();
        let verb = verb.mut_args(|arg| candidates::attach(arg, &name, None, sources));
        verb.mut_subcommands(|inner| {
            let inner_name = inner.get_name().to_owned();
            inner.mut_args(|arg| candidates::attach(arg, &name, Some(&inner_name), sources))
        })
    })
}

/// The script for a shell.
pub fn script(shell: Shell) -> Result<String, CliError> {
    let own = match shell {
        Shell::Bash => Some(include_str!("agon.bash")),
        Shell::Zsh => Some(include_str!("agon.zsh")),
        Shell::Fish => Some(include_str!("agon.fish")),
        _ => None,
    };
    if let Some(script) = own {
        return Ok(script.to_owned());
    }
    let mut script = Vec::new();
    let name = shell.to_string();
    let written = Shells::builtins()
        .completer(&name)
        .ok_or_else(|| std::io::Error::other("it is not known"))
        .and_then(|shell: &dyn EnvCompleter| {
            shell.write_registration(VARIABLE, "agon", "agon", "agon", &mut script)
        });
    written.map_err(|why| CliError::System(format!("the script for {name} cannot be made: {why}")))?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}
