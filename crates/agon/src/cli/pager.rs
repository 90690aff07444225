//! Long texts on a terminal: shown page by page, with the program that `PAGER` names.

use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};

use super::errors::CliError;
use super::output;
use super::paths::{Environment, process_env};

const USUAL_PAGER: &str = "less";
/// What `less` does if the user has not set it up: end at once if a screen is enough, keep colours, and leave the text on the screen.
const LESS_OPTIONS: &str = "FRX";

/// Prints a text, page by page if it goes to a terminal and is longer than that.
pub fn print(text: &str) -> Result<(), CliError> {
    let lines = text.lines().count();
    let is_long = output::terminal_height().is_some_and(|height| lines >= height);
    if !std::io::stdout().is_terminal() || !is_long {
        return output::print(text);
    }
    match pager(&process_env) {
        Some(words) if show_with(&words, text) => Ok(()),
        _ => output::print(text),
    }
}

/// The program and its arguments; `None` if the user wants none.
fn pager(env: Environment) -> Option<Vec<String>> {
    let named = env("PAGER").map(|value| value.to_string_lossy().into_owned());
    let words: Vec<String> =
        named.as_deref().unwrap_or(USUAL_PAGER).split_whitespace().map(str::to_owned).collect();
    (!words.is_empty() && words != ["cat"]).then_some(words)
}

/// Lets the program show the text. Returns whether it could be started.
fn show_with(words: &[String], text: &str) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped());
    if process_env("LESS").is_none() {
        command.env("LESS", LESS_OPTIONS);
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // A reader who has seen enough ends the program before it has read everything.
        drop(input.write_all(text.as_bytes()));
    }
    drop(child.wait());
    true
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn the_pager_is_the_users_or_the_usual_one() {
        let words = |value: Option<&str>| pager(&|_| value.map(OsString::from));
        assert_eq!(words(None), Some(vec!["less".to_owned()]));
        assert_eq!(words(Some("most -w")), Some(vec!["most".to_owned(), "-w".to_owned()]));
        assert_eq!((words(Some("")), words(Some(" cat "))), (None, None));
    }

    #[test]
    fn a_program_that_does_not_exist_shows_nothing() {
        assert!(!show_with(&["no-such-pager".to_owned()], "text"));
        assert!(!show_with(&[], "text"));
    }
}
