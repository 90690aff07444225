//! `agon help`: the help of a verb, or a chapter of the book.
//!
//! Where a verb and a chapter have the same name, the verb comes first, because `agon help VERB` is the same as `agon VERB --help` for every
//! verb. The last line of its help names the chapter.

use std::ffi::OsString;

use clap::{Arg, ArgMatches, Command};

use super::{CliVerb, VERBS, VerbGroup};
use crate::cli::book::{self, BookChapter};
use crate::cli::errors::CliError;
use crate::cli::{arguments, output, pager};

pub(super) const VERB: CliVerb = CliVerb { name: "help", group: VerbGroup::Learning, command, run };

/// The topic that lists the others.
const TOPICS: &str = "topics";
/// How many chapters are named that contain an unknown word.
const SUGGESTIONS_MAX: usize = 5;

fn command(command: Command) -> Command {
    let topic = Arg::new("topic")
        .value_name("VERB|TOPIC")
        .num_args(0..)
        .help("A verb, a chapter, or `topics` for the list of chapters [default: the help of agon]");
    command
        .about("Show the help of a verb, or a chapter of the book; `agon help topics` lists the chapters")
        .after_help("A long chapter is shown with the program that PAGER names, else with less.")
        .arg(topic)
        .arg(arguments::switch("chapter", "Show the chapter, also if a verb has the same name"))
}

/// Names the chapter under the help of a verb that has one.
pub fn with_chapter_line(verb: Command, chapters: &[BookChapter]) -> Command {
    let Some(chapter) = chapters.iter().find(|chapter| chapter.name == verb.get_name()) else { return verb };
    let line = format!("The book has a chapter: agon help {} --chapter", chapter.name);
    let text = match verb.get_after_help() {
        Some(before) => format!("{before}\n\n{line}"),
        None => line,
    };
    verb.after_help(text)
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let words: Vec<&str> =
        args.get_many::<String>("topic").into_iter().flatten().map(String::as_str).collect();
    let chapter = match words.as_slice() {
        [name] => book::find_chapter(name),
        _ => None,
    };
    let is_verb = !args.get_flag("chapter") && names_command(&words);
    match (chapter, words.as_slice()) {
        _ if is_verb => verb_help(&words),
        (Some(chapter), _) => pager::print(&chapter_text(&chapter)).map(|()| 0),
        (None, [] | [TOPICS]) => output::print(&topic_list()).map(|()| 0),
        _ => Err(unknown_topic(&words.join(" "))),
    }
}

/// Whether the words name a verb and a subcommand of it. No word names the program itself.
fn names_command(words: &[&str]) -> bool {
    let agon = crate::cli::command();
    let found = words.iter().try_fold(&agon, |command, word| command.find_subcommand(word));
    found.is_some()
}

fn verb_help(words: &[&str]) -> Result<u8, CliError> {
    let line = ["agon"].iter().chain(words).chain(&["--help"]).map(OsString::from);
    crate::cli::parse(line).map(|_| 0)
}

fn chapter_text(chapter: &BookChapter) -> String {
    agon_report::terminal_document(chapter.text, &output::stdout_style(), &link_words)
}

/// What is printed after the text of a link: how to read a chapter, or the address. Links to files of the repository lead nowhere here.
fn link_words(target: &str) -> Option<String> {
    if target.starts_with("http://") || target.starts_with("https://") {
        return Some(target.to_owned());
    }
    let file = target.split('#').next().unwrap_or_default();
    let name = file.strip_prefix("./").unwrap_or(file).strip_suffix(".md")?;
    let chapter = book::find_chapter(name)?;
    Some(reading_command(&chapter))
}

/// The command that shows a chapter.
pub fn reading_command(chapter: &BookChapter) -> String {
    let name = chapter.name;
    let is_verb = agon_protocols::find(name).is_some() || VERBS.iter().any(|verb| verb.name == name);
    if is_verb { format!("agon help {name} --chapter") } else { format!("agon help {name}") }
}

fn topic_list() -> String {
    let chapters = book::chapters();
    let rows = chapters.iter().map(|chapter| vec![reading_command(chapter), chapter.title.to_owned()]);
    output::table(&["chapter", "about"], rows)
}

fn unknown_topic(topic: &str) -> CliError {
    let error = CliError::input(format!("there is no verb and no chapter {topic:?}"))
        .with_help("`agon help topics` lists the chapters, `agon --help` the verbs");
    let wanted = topic.to_lowercase();
    let is_about =
        |chapter: &BookChapter| !wanted.is_empty() && chapter.text.to_lowercase().contains(&wanted);
    let chapters = book::chapters();
    let found =
        chapters.iter().filter(|chapter| is_about(chapter)).take(SUGGESTIONS_MAX).map(reading_command);
    match found.collect::<Vec<_>>().as_slice() {
        [] => error,
        found => error.with_help(format!("these chapters speak of it: {}", found.join(", "))),
    }
}
