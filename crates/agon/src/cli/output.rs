//! What goes out: stdout for results, stderr for everything else.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use agon_report::Style;
use serde_json::Value;

use super::failure::Failure;
use super::place::{self, Env};

/// The width of a report that goes into a file or a pipe.
const PLAIN_WIDTH: usize = 80;

/// Prints a result. A reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    settled(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Prints one JSON document.
pub fn print_json(value: &Value) -> Result<(), Failure> {
    print(&format!("{value:#}\n"))
}

/// What a write to stdout came to, where a reader that has gone away is no error.
pub fn settled(written: std::io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(why) if why.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::System(format!("stdout cannot be written: {why}")))
        }
        _ => Ok(()),
    }
}

/// Tells the person something, aside from the result. When nobody can hear it, that is that.
pub fn note(line: &str) {
    drop(writeln!(std::io::stderr().lock(), "{line}"));
}

/// `text` in lines that fit a narrow terminal, all but the first indented by `indent`, where the first one begins.
pub fn hang(text: &str, indent: usize) -> String {
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

/// How stdout wants to be written to.
pub fn stdout_style() -> Style {
    style(&place::env, std::io::stdout().is_terminal())
}

/// How stderr wants to be written to.
pub fn stderr_style() -> Style {
    style(&place::env, std::io::stderr().is_terminal())
}

/// Refuses a picture under a name that is not one.
pub fn check_svg(file: Option<&PathBuf>) -> Result<(), Failure> {
    match file.filter(|file| file.extension().is_none_or(|ending| ending != "svg")) {
        Some(file) => Err(Failure::file(file, "a plot is an SVG picture: name a file that ends in .svg")),
        None => Ok(()),
    }
}

/// Writes a picture, in the place of one that is there.
pub fn picture(file: &Path, svg: &str) -> Result<(), Failure> {
    agon_publish::deliveries::write_to_path(file, svg.as_bytes())
        .map_err(|why| Failure::file(file, why.to_string()))
}

/// Whether somebody sits before stderr, on a terminal that can move its cursor: only there are spinners.
pub fn watched() -> bool {
    moves(&place::env, std::io::stderr().is_terminal())
}

fn style(env: Env, terminal: bool) -> Style {
    let width = terminal.then(terminal_width).flatten().unwrap_or(PLAIN_WIDTH);
    Style { color: color(env, terminal), width, unicode: !terminal || speaks_unicode(env) }
}

fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0)
}

fn moves(env: Env, terminal: bool) -> bool {
    terminal && !is(env, "TERM", "dumb")
}

fn color(env: Env, terminal: bool) -> bool {
    if set(env, "NO_COLOR") {
        return false;
    }
    let forced = set(env, "CLICOLOR_FORCE") && !is(env, "CLICOLOR_FORCE", "0");
    forced || moves(env, terminal)
}

fn set(env: Env, name: &str) -> bool {
    env(name).is_some_and(|value| !value.is_empty())
}

fn is(env: Env, name: &str, value: &str) -> bool {
    env(name).is_some_and(|found| found == value)
}

/// By the locale, the first of its variables that is set.
fn speaks_unicode(env: Env) -> bool {
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

    fn colored(pairs: &[(&str, &str)], terminal: bool) -> bool {
        color(&environment(pairs), terminal)
    }

    #[test]
    fn text_hangs_under_its_beginning() {
        assert_eq!(hang("one two", 4), "one two");
        let long = hang(&"word ".repeat(20), 10);
        assert!(long.lines().count() == 2 && long.lines().all(|line| line.len() <= PLAIN_WIDTH), "{long}");
        assert!(long.lines().nth(1).unwrap().starts_with("          word"));
    }

    #[test]
    fn spinners_only_on_a_terminal_that_can_move_its_cursor() {
        let spins = |pairs: &[(&str, &str)], terminal| moves(&environment(pairs), terminal);
        assert!(spins(&[("TERM", "xterm")], true));
        assert!(spins(&[], true), "no TERM, as on Windows");
        assert!(spins(&[("TERM", "xterm"), ("NO_COLOR", "1")], true), "a spinner is no colour");
        assert!(!spins(&[("TERM", "dumb")], true));
        assert!(!spins(&[("TERM", "xterm")], false));
        assert!(
            !spins(&[("CLICOLOR_FORCE", "1")], false),
            "colour can be forced into a pipe, spinners cannot"
        );
    }

    #[test]
    fn outside_a_terminal_a_report_has_one_width_and_all_signs() {
        let plain = style(&environment(&[("LANG", "C"), ("TERM", "xterm")]), false);
        assert_eq!(plain, Style { color: false, width: PLAIN_WIDTH, unicode: true });
        for (locale, unicode) in [("C", false), ("de_DE.UTF-8", true), ("en_US.utf8", true), ("", false)] {
            assert_eq!(
                style(&environment(&[("LC_ALL", locale)]), true).unicode,
                unicode || cfg!(any(windows, target_os = "macos"))
            );
        }
    }

    #[test]
    fn colour_only_on_a_terminal_and_never_with_no_color() {
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
