//! Commands of `agon` that a chapter shows and that are not run must exist, with their options.

use clap::Command;
use clap::error::ErrorKind;
use pulldown_cmark::{Event, Parser};

use crate::chapter::Chapter;
use crate::{CHAPTERS, repository};

/// The tag of blocks that contain no command.
const DRAWING: &str = "text";

#[test]
fn every_command_in_a_block_that_is_not_run_parses() {
    let mut found = 0;
    for path in CHAPTERS {
        let chapter = Chapter::read(&repository().join(path));
        for block in chapter.blocks().iter().filter(|block| !block.is_run() && block.tag != DRAWING) {
            let text = chapter.lines[block.lines.clone()].join("\n").replace("\\\n", " ");
            for words in text.lines().flat_map(simple_commands) {
                found += 1;
                if let Err(error) = agon::cli::command().try_get_matches_from(&words)
                    && !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
                {
                    panic!("{}: {words:?}: {error}", chapter.place(block.lines.start));
                }
            }
        }
    }
    assert!(found > 10, "only {found} commands were found");
}

#[test]
fn every_command_between_backticks_has_a_verb_and_options_that_exist() {
    let mut found = 0;
    for path in CHAPTERS {
        let text = Chapter::read(&repository().join(path)).text();
        for event in Parser::new(&text) {
            if let Event::Code(code) = event
                && let Some(line) = code.strip_prefix("agon ")
            {
                found += 1;
                check_words(line).unwrap_or_else(|error| panic!("{path}: `{code}`: {error}"));
            }
        }
    }
    assert!(found > 10, "only {found} commands were found");
}

fn check_words(line: &str) -> Result<(), String> {
    let command = agon::cli::command();
    let mut words = line.split_whitespace().skip_while(|word| *word == "help");
    // `agon VERB --help` and `agon NAME` are about any verb.
    let Some(name) = words.next().filter(|name| !name.contains(char::is_uppercase) && !name.starts_with('-'))
    else {
        return Ok(());
    };
    if line.starts_with("help ") {
        return Ok(());
    }
    let verb = command.find_subcommand(name).ok_or_else(|| format!("there is no verb {name}"))?;
    for word in words.filter_map(|word| word.trim_start_matches('[').strip_prefix("--")) {
        let option: String =
            word.chars().take_while(|char| char.is_ascii_alphanumeric() || *char == '-').collect();
        if !option.is_empty() && !has_option(verb, &option) {
            return Err(format!("{name} has no option --{option}"));
        }
    }
    Ok(())
}

fn has_option(command: &Command, name: &str) -> bool {
    name == "help"
        || command.get_arguments().any(|option| option.get_long() == Some(name))
        || command.get_subcommands().any(|command| has_option(command, name))
}

/// The words of each command of `agon` in a line of a shell. `cargo run --release --` runs it, too.
fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let line = line.trim_start();
    let line = ["$ ", "> ", "- run: ", "run: "]
        .iter()
        .fold(line, |line, start| line.strip_prefix(start).unwrap_or(line));
    let mut commands = vec![Vec::new()];
    for word in shell_words(line) {
        match word {
            ShellWord::Text(text) => commands.last_mut().unwrap().push(text),
            ShellWord::Operator => commands.push(Vec::new()),
            ShellWord::Redirection => commands.last_mut().unwrap().push(String::new()),
        }
    }
    commands.into_iter().filter_map(agon_words).collect()
}

/// The words from `agon` on, without what is redirected.
fn agon_words(words: Vec<String>) -> Option<Vec<String>> {
    let is_assignment = |word: &&String| word.split_once('=').is_some_and(|(name, _)| is_variable(name));
    let first = words.iter().take_while(is_assignment).count();
    let words = &words[first..];
    let rest = match words {
        [program, rest @ ..] if program == "agon" => rest,
        [cargo, run, release, dashes, rest @ ..]
            if [cargo, run, release, dashes]
                .iter()
                .zip(["cargo", "run", "--release", "--"])
                .all(|(is, want)| *is == want) =>
        {
            rest
        }
        _ => return None,
    };
    let rest = rest.iter().take_while(|word| !word.is_empty()).cloned();
    Some(std::iter::once("agon".to_owned()).chain(rest).collect())
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_')
}

enum ShellWord {
    Text(String),
    /// `|`, `&&`, `;`: the next word begins another command.
    Operator,
    /// `<` or `>`: the next word is a file.
    Redirection,
}

/// Splits a line as a shell does, without expanding anything.
fn shell_words(line: &str) -> Vec<ShellWord> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (Some(open), _) if char == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(char),
            (_, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(_), _) => word.get_or_insert_default().push(char),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(char);
            }
            (None, '#') if word.is_none() => break,
            (None, '|' | '&' | ';') => {
                words.extend(word.take().map(ShellWord::Text));
                words.push(ShellWord::Operator);
            }
            (None, '<' | '>') => {
                words.extend(word.take().map(ShellWord::Text));
                words.push(ShellWord::Redirection);
            }
            (None, _) if char.is_whitespace() => words.extend(word.take().map(ShellWord::Text)),
            (None, _) => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word.map(ShellWord::Text));
    words
}

#[test]
fn commands_are_found_in_lines_of_a_shell() {
    let found = |line: &str| simple_commands(line);
    assert_eq!(found("$ git diff | agon review --diff - > out.txt"), [["agon", "review", "--diff", "-"]]);
    assert_eq!(found("AGON_HOME=/tmp/x agon list  # all of them"), [["agon", "list"]]);
    assert_eq!(found("cargo run --release -- deep \"Is it 'so'?\""), [["agon", "deep", "Is it 'so'?"]]);
    assert_eq!(found("agon list && agon show last"), [vec!["agon", "list"], vec!["agon", "show", "last"]]);
    assert!(found("Agon is a program; the agony is over").is_empty());
}
