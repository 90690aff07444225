//! `agon search`: the debates in which some words were asked, said or decided.

use agon_host::clean_text;
use agon_store::{HIT_END, HIT_START, SearchHit};
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::{CliVerb, VerbGroup};
use crate::cli::app::App;
use crate::cli::arguments::{count_limit, joined_words, limit_value};
use crate::cli::errors::CliError;
use crate::cli::progress::TaskProgress;
use crate::cli::{arguments, output};

pub(super) const VERB: CliVerb = CliVerb { name: "search", group: VerbGroup::StoredDebates, command, run };

fn command(command: Command) -> Command {
    let words =
        Arg::new("words").value_name("WORDS").num_args(1..).required(true).help("Words that must all occur");
    command
        .about("Find debates by what was asked, said or decided")
        .arg(words)
        .arg(count_limit("20", "The most debates to find"))
        .arg(arguments::json())
        .arg(arguments::store())
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let words = joined_words(args, "words");
    if !words.chars().any(char::is_alphanumeric) {
        return Err(CliError::input("there is no word to search for: name one or more"));
    }
    let hits = match app.store_to_read()? {
        Some(store) => {
            // The first search of a store that an older agon wrote indexes it.
            let _progress = TaskProgress::start("searching", false);
            store.search_debates(&words, limit_value(args))?
        }
        None => Vec::new(),
    };
    if app.flag("json") {
        output::print_json(&hits.iter().map(hit_document).collect::<Vec<_>>())?;
    } else if hits.is_empty() {
        output::note("no debate has these words");
    } else {
        output::print(&hits.iter().map(hit_lines).collect::<String>())?;
    }
    Ok(0)
}

fn hit_document(hit: &SearchHit) -> Value {
    let SearchHit { id, protocol, question, status, created_at, snippet } = hit;
    json!({
        "id": id, "protocol": protocol, "question": question, "status": status, "created_at": created_at,
        "snippet": marked_snippet(snippet, "", ""),
    })
}

fn hit_lines(hit: &SearchHit) -> String {
    let (on, off) = if output::stdout_style().color { ("\u{1b}[1m", "\u{1b}[0m") } else { ("", "") };
    let question = clean_text(hit.question.lines().next().unwrap_or_default());
    let SearchHit { id, protocol, status, .. } = hit;
    format!("{id}  {protocol}, {status}: {question}\n    {}\n", marked_snippet(&hit.snippet, on, off))
}

/// The snippet on one line, with `on` and `off` around what matched. It is cleaned piece by piece, because cleaning removes
/// the store's own marks.
fn marked_snippet(snippet: &str, on: &str, off: &str) -> String {
    let mut text = String::new();
    for piece in snippet.split_inclusive([HIT_START, HIT_END]) {
        text.push_str(&clean_text(piece).replace(['\n', '\t'], " "));
        text.push_str(match piece.chars().next_back() {
            Some(HIT_START) => on,
            Some(HIT_END) => off,
            _ => "",
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_marks_what_matched_and_has_no_control_sequences() {
        let snippet = format!("a{HIT_START}tabs{HIT_END}\nb\u{1b}[2J");
        assert_eq!(marked_snippet(&snippet, "<", ">"), "a<tabs> b");
    }
}
