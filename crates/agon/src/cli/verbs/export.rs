//! `agon export`: a debate as a file to keep or to pass on.

use std::path::{Path, PathBuf};

use agon_core::Debate;
use agon_core::event::open_all;
use agon_report::Gate;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};

use super::{Group, Verb, id};
use crate::cli::desk::{self, Kept};
use crate::cli::failure::Failure;
use crate::cli::show::outcome;
use crate::cli::{args, output, receipts, write};

pub(super) const VERB: Verb = Verb { name: "export", group: Group::Kept, command, run };

const FORMATS: [&str; 7] = ["md", "html", "json", "yaml", "github", "sarif", "junit"];

fn command(command: Command) -> Command {
    let format = Arg::new("format")
        .long("format")
        .value_name("FORMAT")
        .value_parser(PossibleValuesParser::new(FORMATS))
        .help("The format [default: by FILE's ending, else md]");
    let out = Arg::new("output")
        .short('o')
        .long("output")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("Write here; never overwrites [default: stdout]");
    command
        .about("Write a debate as Markdown, HTML, JSON or YAML; a review also for a pipeline")
        .after_help(
            "json holds the outcome and the whole log with its hashes; --receipt holds both signed: `agon verify FILE` checks either,\n\
             a receipt also on another machine, without network.",
        )
        .arg(id())
        .arg(format)
        .arg(args::switch("receipt", "Write a signed receipt instead, with the log").conflicts_with("format"))
        .arg(args::switch("no-log", "Leave the log out of the receipt: its texts may be private").requires("receipt"))
        .arg(out)
        .arg(args::config())
        .arg(args::db())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let out = args.get_one::<PathBuf>("output");
    let format = match args.get_one::<String>("format") {
        Some(format) => format.as_str(),
        None => out.and_then(|file| by_ending(file)).unwrap_or("md"),
    };
    let kept = Kept::find(args)?;
    let text = match args.get_flag("receipt") {
        true => receipts::of(&kept, &desk::models(&desk::config(args)?), !args.get_flag("no-log"))?,
        false => render(&kept, format)?,
    };
    match out {
        Some(file) => write::fresh(file, &text)?,
        None => output::print(&text)?,
    }
    Ok(0)
}

fn by_ending(file: &Path) -> Option<&'static str> {
    let ending = file.extension()?.to_str()?;
    let ending = match ending {
        "htm" => "html",
        "yml" => "yaml",
        other => other,
    };
    FORMATS.into_iter().find(|format| *format == ending)
}

fn render(kept: &Kept, format: &str) -> Result<String, Failure> {
    let raw = kept.store.raw(&kept.id)?;
    let records =
        open_all(raw.iter().cloned()).map_err(|broken| Failure::Broken { id: kept.id.clone(), broken })?;
    let debate = Debate::from_records(&records).map_err(|why| Failure::Log { id: kept.id.clone(), why })?;
    let outcome = outcome(&debate);
    Ok(match format {
        gate if let Some(gate) = Gate::from_name(gate) => agon_report::gate(&outcome, gate)?,
        "html" => agon_report::html(&outcome, &debate),
        "json" => format!("{:#}\n", document(outcome, raw)),
        "yaml" => agon_report::yaml(&outcome).map_err(|why| Failure::System(why.to_string()))?,
        _ => agon_report::markdown(&outcome, &debate),
    })
}

/// The bodies are strings, not objects: the hashes are over their exact bytes.
fn document(outcome: Value, raw: Vec<(String, String)>) -> Value {
    let log: Vec<Value> = raw.into_iter().map(|(body, hash)| json!({"hash": hash, "body": body})).collect();
    json!({"outcome": outcome, "log": log})
}
