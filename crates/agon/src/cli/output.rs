//! What goes out: results on stdout, everything else on stderr, and files.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use agon_core::invisible::escaped_json;
use agon_host::{FileAccess, clean_line, write_atomic};
use agon_report::TerminalStyle;
use serde::Serialize;

use super::errors::CliError;
use super::paths::{Environment, process_env};
use super::progress;

/// The width of a report that goes into a file or a pipe.
const PLAIN_WIDTH: usize = 80;

/// Prints a result. It is not an error if the reader has closed the pipe, as `| head` does.
pub fn print(text: &str) -> Result<(), CliError> {
    let written = progress::aside(|| {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    });
    match written {
        Err(why) if why.kind() != ErrorKind::BrokenPipe => {
            Err(CliError::System(format!("stdout cannot be written: {why}")))
        }
        _ => Ok(()),
    }
}

/// Prints one JSON document.
pub fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value)
        .map(escaped_json)
        .map_err(|why| CliError::System(format!("the result cannot be written as JSON: {why}")))?;
    print(&format!("{text}\n"))
}

/// Prints a result as JSON or as text, and returns the exit status 0.
pub fn print_result<D: Serialize>(
    as_json: bool,
    document: impl FnOnce() -> D,
    text: impl FnOnce() -> String,
) -> Result<u8, CliError> {
    if as_json { print_json(&document()) } else { print(&text()) }.map(|()| 0)
}

/// Prints a table without a title. The first row is the head.
pub fn print_table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Result<(), CliError> {
    print(&table(head, rows))
}

/// A table without a title. The first row is the head.
pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let head = head.iter().map(|cell| (*cell).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    agon_report::table("", &rows, &stdout_style())
}

/// Prints a line on stderr. A closed stderr is ignored.
pub fn note(line: &str) {
    progress::aside(|| drop(writeln!(std::io::stderr().lock(), "{line}")));
}

/// Wraps `text` for a narrow terminal. All lines but the first are indented by `indent`, the column of the first.
pub fn hanging_indent(text: &str, indent: usize) -> String {
    let mut lines = String::new();
    let mut column = indent;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column > indent && column + 1 + width > PLAIN_WIDTH {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if column > indent {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += width;
    }
    lines
}

/// Creates a folder and those above it.
pub fn create_folder(folder: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(folder)
        .map_err(|why| CliError::file(folder, format!("the folder cannot be created: {why}")))
}

/// Writes a file whole or not at all, and replaces one that exists.
pub fn write_file(file: &Path, text: &str) -> Result<(), CliError> {
    write_atomic(file, text.as_bytes(), FileAccess::Default)
        .map_err(|why| CliError::file(file, format!("it cannot be written: {}", write_reason(&why))))
}

fn write_reason(why: &std::io::Error) -> String {
    match why.kind() {
        ErrorKind::NotFound => "there is no such folder".to_owned(),
        // The whole error may name the file that is renamed at the end, which tells a user nothing. But some errors have no word.
        kind if kind.to_string() == "uncategorized error" => clean_line(&why.to_string()),
        kind => kind.to_string(),
    }
}

/// Writes a file that must not exist yet.
pub fn write_new_file(file: &Path, text: &str) -> Result<(), CliError> {
    if file.exists() {
        return Err(CliError::file(
            file,
            "it exists already, and nothing is overwritten: choose another name",
        ));
    }
    write_file(file, text)
}

/// Refuses a plot whose name does not end in `.svg`.
pub fn check_svg_name(file: Option<&PathBuf>) -> Result<(), CliError> {
    match file.filter(|file| file.extension().is_none_or(|ending| ending != "svg")) {
        Some(file) => Err(CliError::file(file, "a plot is an SVG picture: choose a name that ends in .svg")),
        None => Ok(()),
    }
}

/// The style for stdout.
pub fn stdout_style() -> TerminalStyle {
    style(&process_env, std::io::stdout().is_terminal())
}

/// The style for stderr.
pub fn stderr_style() -> TerminalStyle {
    style(&process_env, std::io::stderr().is_terminal())
}

/// Whether stderr is a terminal that can move its cursor. Spinners are drawn only there.
pub fn stderr_is_live() -> bool {
    moves_cursor(&process_env, std::io::stderr().is_terminal())
}

fn style(env: Environment, is_terminal: bool) -> TerminalStyle {
    let width = is_terminal.then(terminal_width).flatten().unwrap_or(PLAIN_WIDTH);
    TerminalStyle { color: has_color(env, is_terminal), width, unicode: !is_terminal || has_unicode(env) }
}

/// How many lines the terminal has.
pub fn terminal_height() -> Option<usize> {
    terminal_size::terminal_size().map(|(_, height)| usize::from(height.0)).filter(|height| *height > 0)
}

fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0)
}

fn moves_cursor(env: Environment, is_terminal: bool) -> bool {
    is_terminal && !equals(env, "TERM", "dumb")
}

fn has_color(env: Environment, is_terminal: bool) -> bool {
    if is_set(env, "NO_COLOR") {
        return false;
    }
    let is_forced = is_set(env, "CLICOLOR_FORCE") && !equals(env, "CLICOLOR_FORCE", "0");
    is_forced || moves_cursor(env, is_terminal)
}

fn is_set(env: Environment, name: &str) -> bool {
    env(name).is_some_and(|value| !value.is_empty())
}

fn equals(env: Environment, name: &str, value: &str) -> bool {
    env(name).is_some_and(|found| found == value)
}

/// Whether the locale uses UTF-8. The first of its variables that is set decides.
fn has_unicode(env: Environment) -> bool {
    if cfg!(any(windows, target_os = "macos")) {
        return true;
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(env).find(|value| !value.is_empty());
    locale.is_some_and(|value| {
        let value = value.to_string_lossy().to_lowercase();
        value.contains("utf-8") || value.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn environment<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
    }

    #[test]
    fn long_text_is_indented_under_its_first_line() {
        assert_eq!(hanging_indent("one two", 4), "one two");
        let long = hanging_indent(&"word ".repeat(20), 10);
        assert!(long.lines().count() == 2 && long.lines().all(|line| line.len() <= PLAIN_WIDTH), "{long}");
        assert!(long.lines().nth(1).unwrap().starts_with("          word"));
    }

    #[test]
    #[cfg(unix)]
    fn why_a_file_cannot_be_written_is_said_in_words() {
        for (number, words) in
            [(13, "permission denied"), (2, "there is no such folder"), (5, "Input/output error")]
        {
            let why = std::io::Error::from_raw_os_error(number);
            assert!(write_reason(&why).starts_with(words), "{why}");
        }
    }

    #[test]
    fn a_new_file_overwrites_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.md");
        write_new_file(&file, "one").unwrap();
        assert!(write_new_file(&file, "two").unwrap_err().to_string().contains("nothing is overwritten"));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one");
    }

    #[test]
    fn spinners_need_a_terminal_that_can_move_its_cursor() {
        let moves = |pairs: &[(&str, &str)], terminal| moves_cursor(&environment(pairs), terminal);
        assert!(moves(&[("TERM", "xterm")], true));
        assert!(moves(&[], true), "no TERM, as on Windows");
        assert!(moves(&[("TERM", "xterm"), ("NO_COLOR", "1")], true), "a spinner is not a colour");
        assert!(!moves(&[("TERM", "dumb")], true));
        assert!(!moves(&[("TERM", "xterm")], false));
        assert!(!moves(&[("CLICOLOR_FORCE", "1")], false), "only colour can be forced into a pipe");
    }

    #[test]
    fn a_report_outside_a_terminal_has_a_fixed_width_and_unicode() {
        let plain = style(&environment(&[("LANG", "C"), ("TERM", "xterm")]), false);
        assert_eq!(plain, TerminalStyle { color: false, width: PLAIN_WIDTH, unicode: true });
        for (locale, unicode) in [("C", false), ("de_DE.UTF-8", true), ("en_US.utf8", true), ("", false)] {
            let expected = unicode || cfg!(any(windows, target_os = "macos"));
            assert_eq!(style(&environment(&[("LC_ALL", locale)]), true).unicode, expected);
        }
    }

    #[test]
    fn colour_needs_a_terminal_and_no_color_switches_it_off() {
        let colored = |pairs: &[(&str, &str)], terminal| has_color(&environment(pairs), terminal);
        assert!(colored(&[("TERM", "xterm")], true));
        assert!(colored(&[("NO_COLOR", "")], true));
        assert!(!colored(&[("TERM", "xterm")], false));
        assert!(!colored(&[("TERM", "dumb")], true));
        assert!(!colored(&[("NO_COLOR", "1")], true));
        assert!(colored(&[("CLICOLOR_FORCE", "1")], false));
        assert!(!colored(&[("CLICOLOR_FORCE", "0")], false));
        assert!(!colored(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], true));
    }
}
