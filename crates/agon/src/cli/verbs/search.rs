//! `agon search`: the debates in which some words were asked, said or decided.

use agon_store::{HIT_END, HIT_START, Hit};
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::{Group, Verb};
use crate::cli::failure::Failure;
use crate::cli::limits::whole;
use crate::cli::{args, desk, output};

pub(super) const VERB: Verb = Verb { name: "search", group: Group::Kept, command, run };

fn command(command: Command) -> Command {
    let words = Arg::new("words")
        .value_name("WORDS")
        .num_args(1..)
        .required(true)
        .help("Words that must all be there");
    let limit = Arg::new("limit")
        .long("limit")
        .value_name("N")
        .default_value("20")
        .value_parser(whole(1_u64, None))
        .help("The most to find");
    command
        .about("Find debates by what was asked, said or decided")
        .arg(words)
        .arg(limit)
        .arg(args::json())
        .arg(args::db())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let words: Vec<&str> =
        args.get_many::<String>("words").into_iter().flatten().map(String::as_str).collect();
    let words = words.join(" ");
    if !words.chars().any(char::is_alphanumeric) {
        return Err(Failure::input("there is no word to search for: name one or more"));
    }
    let limit =
        args.get_one::<u64>("limit").map_or(usize::MAX, |n| usize::try_from(*n).unwrap_or(usize::MAX));
    let hits = match desk::kept(args)? {
        Some(store) => store.search(&words, limit)?,
        None => Vec::new(),
    };
    if args.get_flag("json") {
        output::print_json(&hits.iter().map(entry).collect())?;
    } else if hits.is_empty() {
        output::note("no debate has these words");
    } else {
        output::print(&hits.iter().map(lines).collect::<String>())?;
    }
    Ok(0)
}

fn entry(hit: &Hit) -> Value {
    let Hit { id, protocol, question, status, created_at, snippet } = hit;
    json!({
        "id": id, "protocol": protocol, "question": question, "status": status, "created_at": created_at,
        "snippet": marked(snippet, "", ""),
    })
}

fn lines(hit: &Hit) -> String {
    let (on, off) = if output::stdout_style().color { ("\u{1b}[1m", "\u{1b}[0m") } else { ("", "") };
    let question = agon_report::clean(hit.question.lines().next().unwrap_or_default());
    let Hit { id, protocol, status, .. } = hit;
    format!("{id}  {protocol}, {status}: {question}\n    {}\n", marked(&hit.snippet, on, off))
}

/// The snippet on one line, with signs of our own around what matched. Cleaned piece by piece, for the store's signs
/// would not survive it.
fn marked(snippet: &str, on: &str, off: &str) -> String {
    let mut text = String::new();
    for piece in snippet.split_inclusive([HIT_START, HIT_END]) {
        let words = agon_report::clean(piece).replace(['\n', '\t'], " ");
        let sign = match piece.chars().next_back() {
            Some(HIT_START) => on,
            Some(HIT_END) => off,
            _ => "",
        };
        text.push_str(&words);
        text.push_str(sign);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matched_is_marked_and_nothing_can_move_the_cursor() {
        let snippet = format!("a{HIT_START}tabs{HIT_END}\nb\u{1b}[2J");
        assert_eq!(marked(&snippet, "<", ">"), "a<tabs> b");
    }
}
